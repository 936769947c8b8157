// RUN: kina-opt --split-input-file --kina-check-ownership --verify-diagnostics %s

// The same rules on IR, with and without names.

kina.func public @unnamed(%x: !kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N">]} {
  // expected-note @below {{this value is consumed here: it is dropped}}
  kina.drop %x : !kina.tensor<f64, [N]>
  // expected-error @below {{K0501: this value is used after it was consumed}}
  // expected-note @below {{help: consume a copy there, copy(..)}}
  %s = kina.sum %x axes [0] : !kina.tensor<f64, [N]>
  kina.return %s : f64
}

// -----

// expected-note @below {{it is borrowed here}}
kina.func public @named(%x: !kina.tensor<f64, [N]> {kina.borrow, kina.name = "x"}) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @below {{K0505: 'x' is borrowed and cannot be consumed, but here it is returned}}
  // expected-note @below {{help: consume a copy, 'copy(x)'}}
  kina.return %x : !kina.tensor<f64, [N]>
}

// -----

// A copy is another tensor; scalars belong to nobody.
kina.func public @copies(%x: !kina.tensor<f64, [N]>, %s: f64) -> (!kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>, f64, f64) attributes {shape_vars = [#kina.var<"N">]} {
  %y = kina.copy %x : !kina.tensor<f64, [N]>
  kina.return %y, %x, %s, %s : !kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>, f64, f64
}

// -----

// Functions that call each other are looked at together.
kina.func private @even(%x: !kina.tensor<f64, [3]>, %n: i1) -> f64 {
  %r = kina.call @odd(%x, %n) subst {} : (!kina.tensor<f64, [3]>, i1) -> f64
  kina.return %r : f64
}
kina.func private @odd(%x: !kina.tensor<f64, [3]>, %n: i1) -> f64 {
  %r = kina.if %n -> (f64) {
    %0 = kina.call @even(%x, %n) subst {} : (!kina.tensor<f64, [3]>, i1) -> f64
    kina.yield %0 : f64
  } else {
    %0 = kina.sum %x axes [0] : !kina.tensor<f64, [3]>
    // expected-note @below {{there it is dropped}}
    kina.drop %x : !kina.tensor<f64, [3]>
    kina.yield %0 : f64
  }
  kina.return %r : f64
}
kina.func public @twice(%x: !kina.tensor<f64, [3]>, %n: i1) -> f64 {
  // expected-note @below {{this value is consumed here: it goes to 'odd', which consumes it}}
  %a = kina.call @odd(%x, %n) subst {} : (!kina.tensor<f64, [3]>, i1) -> f64
  // expected-error @below {{K0501: this value is consumed a second time: here it goes to 'even', which consumes it}}
  // expected-note @below {{help: consume a copy there, copy(..)}}
  %b = kina.call @even(%x, %n) subst {} : (!kina.tensor<f64, [3]>, i1) -> f64
  %c = kina.add %a, %b : f64
  kina.return %c : f64
}

// -----

// After differentiation tensors are values.
module attributes {kina.value_semantics} {
  kina.func public @values(%x: !kina.tensor<f64, [3]>) -> (!kina.tensor<f64, [3]>, !kina.tensor<f64, [3]>) {
    kina.return %x, %x : !kina.tensor<f64, [3]>, !kina.tensor<f64, [3]>
  }
}
