// RUN: kina-opt %s --kina-expand-grad --split-input-file --verify-diagnostics

kina.func private @f(%x: f64) -> f64 {
  kina.return %x : f64
}
kina.func public @forward(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no forward-mode derivative of 'f': this version of Kina has reverse mode (grad, value_and_grad, vjp) only}}
  %d = kina.jvp @f(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}

// -----

kina.func public @itself(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through recursion: 'itself' is differentiated inside itself}}
  %d = kina.grad @itself(%x) subst {} wrt [0] : (f64) -> f64
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
