// RUN: kina-opt %s --kina-forward-mode --split-input-file --verify-diagnostics

kina.effect @Ask {
  kina.operation @Value : (f64) -> f64
}
// All that is wrong is reported, whatever it is nested in.
kina.func private @asks(%x: f64, %c: i1) -> f64 {
  %0 = kina.if %c -> (f64) {
    // expected-error @+1 {{K0604: no derivative for 'kina.perform'}}
    %1 = kina.perform @Ask::@Value(%x : f64) -> (f64)
    kina.yield %1 : f64
  } else {
    kina.yield %x : f64
  }
  // expected-error @+1 {{K0604: no derivative for 'kina.perform'}}
  %2 = kina.perform @Ask::@Value(%0 : f64) -> (f64)
  kina.return %2 : f64
}
kina.func public @d_asks(%x: f64, %c: i1) -> f64 {
  %d = kina.jvp @asks(%x, %c : f64, i1) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}

// -----

kina.func private @elsewhere(%x: f64) -> f64
kina.func private @there(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative for 'elsewhere', which is declared without a body}}
  %0 = kina.call @elsewhere(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func public @d_there(%x: f64) -> f64 {
  %d = kina.jvp @there(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}

// -----

kina.func private @again(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through recursion: 'mutual' calls itself}}
  %0 = kina.call @mutual(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func private @mutual(%x: f64) -> f64 {
  %0 = kina.call @again(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func public @d_again(%x: f64) -> f64 {
  %d = kina.jvp @again(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}

// -----

// A pullback of its own hides the recursion from activity, not from forward mode.
kina.func private @pullback(%x: f64, %y: f64, %d: f64) -> f64 {
  kina.return %d : f64
}
kina.func private @custom(%x: f64) -> f64 attributes {custom_vjp = @pullback} {
  // expected-error @+1 {{K0604: no derivative through recursion: 'custom' calls itself}}
  %0 = kina.call @custom(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func public @d_custom(%x: f64) -> f64 {
  %d = kina.jvp @custom(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %d : f64
}
