// RUN: kina-opt %s --kina-expand-grad --split-input-file --verify-diagnostics

kina.func public @itself(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through recursion: 'itself' is differentiated inside itself}}
  %d = kina.grad @itself(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

// Forward mode is no way out.
kina.func private @inner(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through recursion: 'outer' is differentiated inside itself}}
  %d = kina.jvp @outer(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}
kina.func private @outer(%x: f64) -> f64 {
  %d = kina.jvp @inner(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}

// -----

// expected-error @+1 {{K0604: 'ReverseModeAD' is the effect of reverse mode here; give this another name}}
kina.func private @ReverseModeAD(%x: f64) -> f64 {
  kina.return %x : f64
}
kina.func public @g(%x: f64) -> f64 {
  %d = kina.grad @ReverseModeAD(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
