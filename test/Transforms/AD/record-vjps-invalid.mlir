// RUN: kina-opt %s --kina-expand-grad --kina-record-vjps --split-input-file --verify-diagnostics

kina.func private @again(%x: f64) -> f64 {
  %0 = kina.call @mutual(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func private @mutual(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through recursion: 'again' calls itself}}
  %0 = kina.call @again(%x) subst {} : (f64) -> f64
  kina.return %0 : f64
}
kina.func public @again_grad(%x: f64) -> f64 {
  %d = kina.grad @again(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

kina.func private @elsewhere(%x: f64) -> f64
kina.func public @elsewhere_grad(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative for 'elsewhere', which is declared without a body}}
  %d = kina.grad @elsewhere(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

kina.effect @Ask {
  kina.operation @Value : (f64) -> f64
}
kina.func private @asks(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative through effect 'Ask': its handler stands outside of what is differentiated, or is differentiated twice}}
  %0 = kina.perform @Ask::@Value(%x : f64) -> (f64)
  kina.return %0 : f64
}
kina.func public @asks_grad(%x: f64) -> f64 {
  %d = kina.grad @asks(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

// expected-note @+1 {{the pullback is here}}
kina.func private @wrong(%x: f64, %d: f64) -> f64 {
  kina.return %d : f64
}
kina.func private @custom(%x: f64) -> f64 attributes {custom_vjp = @wrong} {
  kina.return %x : f64
}
kina.func public @custom_grad(%x: f64) -> f64 {
  // expected-error @+1 {{K0604: no derivative for 'custom': its pullback 'wrong' must take the parameters, the results and the cotangents of the float results, and return the cotangents of the float parameters}}
  %d = kina.grad @custom(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
