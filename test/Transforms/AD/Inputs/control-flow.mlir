// A value computed in the condition is the result.
kina.func private @condition(%i0: f64, %j0: f64) -> f64 {
  %zero = kina.constant 0.0 : f64
  %one = kina.constant 1.0 : f64
  %r:4 = kina.while (%c = %zero, %i = %i0, %j = %j0) : f64, f64, f64 -> (f64) {
    %res = kina.mul %i, %j : f64
    %more = kina.cmp lt, %c, %one : f64
    kina.condition(%more) %res : f64
  } do {
  ^bb0(%c: f64, %i: f64, %j: f64, %res: f64):
    %c1 = kina.add %c, %one : f64
    kina.yield %c1, %i, %j : f64, f64, f64
  }
  kina.return %r#3 : f64
}
kina.func public @d_condition(%i: f64 {kina.name = "i"}, %j: f64 {kina.name = "j"}, %ti: f64 {kina.name = "ti"}, %tj: f64 {kina.name = "tj"}) -> (f64, f64) {
  %r:2 = kina.jvp @condition(%i, %j : f64, f64) along (%ti, %tj : f64, f64) subst {} wrt [0, 1] value -> f64, f64
  kina.return %r#0, %r#1 : f64, f64
}
