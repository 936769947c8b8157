// RUN: kina-opt %s --kina-expand-grad --split-input-file | FileCheck %s

// The effect is declared once, in front.
// CHECK: kina.effect @ReverseModeAD {
// CHECK-NEXT: kina.operation @RecordVJP : ((!kina.cotangents) -> !kina.cotangents) -> ()

kina.func private @f(%x: f64, %y: f64) -> f64 {
  %0 = kina.mul %x, %y : f64
  kina.return %0 : f64
}

// CHECK-LABEL: kina.func public @one(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f64)
// CHECK:         %[[W:.*]] = kina.watch %[[X]] : f64
// CHECK:         %[[H:.*]]:2 = kina.handle tag <0> -> (f64, !kina.cotangents) {
// CHECK:           %[[V:.*]] = kina.call @f(%[[W]], %[[Y]])
// CHECK:           kina.yield %[[V]] : f64
// CHECK:         } return {
// CHECK:         ^bb0(%[[R:.*]]: f64):
// CHECK:           %[[ONE:.*]] = kina.constant 1.0{{.*}} : f64
// CHECK:           %[[SEED:.*]] = kina.seed %[[R]] with %[[ONE]]
// CHECK:           kina.yield %[[R]], %[[SEED]] : f64, !kina.cotangents
// CHECK:         } cases [@ReverseModeAD::@RecordVJP] {
// CHECK:         ^bb0(%[[VJP:.*]]: (!kina.cotangents) -> !kina.cotangents, %[[K:.*]]: !kina.cont<none -> (f64, !kina.cotangents)>):
// CHECK:           %[[AFTER:.*]]:2 = kina.resume %[[K]]()
// CHECK:           %[[PULLED:.*]] = kina.pull %[[VJP]](%[[AFTER]]#1)
// CHECK:           kina.yield %[[AFTER]]#0, %[[PULLED]] : f64, !kina.cotangents
// CHECK:         %[[D:.*]] = kina.cotangent_of %[[W]] in %[[H]]#1 : f64
// CHECK:         kina.return %[[D]] : f64
kina.func public @one(%x: f64, %y: f64) -> f64 {
  %d = kina.grad @f(%x, %y) subst {} wrt [0] : (f64, f64) -> f64
  kina.return %d : f64
}

// Two operands that are one value get a name each.
// CHECK-LABEL: kina.func public @twice(
// CHECK-SAME:    %[[X:.*]]: f64)
// CHECK:         %[[A:.*]] = kina.watch %[[X]]
// CHECK:         %[[B:.*]] = kina.watch %[[X]]
// CHECK:         %[[H:.*]]:2 = kina.handle tag <1>
// CHECK:           kina.call @f(%[[A]], %[[B]])
// CHECK:         %[[DA:.*]] = kina.cotangent_of %[[A]] in %[[H]]#1
// CHECK:         %[[DB:.*]] = kina.cotangent_of %[[B]] in %[[H]]#1
// CHECK:         kina.return %[[H]]#0, %[[DA]], %[[DB]]
kina.func public @twice(%x: f64) -> (f64, f64, f64) {
  %r:3 = kina.grad @f(%x, %x) subst {} wrt [0, 1] value : (f64, f64) -> (f64, f64, f64)
  kina.return %r#0, %r#1, %r#2 : f64, f64, f64
}

// -----

// A vjp seeds every float result with its cotangent; the integer has none.
kina.func private @g(%x: !kina.tensor<f32, [N]>, %n: i32) -> (!kina.tensor<f32, [N]>, i32, f32)
    attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.sum %x axes [0] : !kina.tensor<f32, [N]>
  kina.return %x, %n, %0 : !kina.tensor<f32, [N]>, i32, f32
}

// CHECK-LABEL: kina.func public @pull(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f32, [4]>, %[[N:.*]]: i32, %[[C0:.*]]: !kina.tensor<f32, [4]>, %[[C1:.*]]: f32)
// CHECK:         kina.handle tag <0> -> (!kina.tensor<f32, [4]>, i32, f32, !kina.cotangents)
// CHECK:           kina.call @g({{.*}}) subst {N = #kina.dim<4>}
// CHECK:         ^bb0(%[[R0:.*]]: !kina.tensor<f32, [4]>, %[[R1:.*]]: i32, %[[R2:.*]]: f32):
// CHECK:           kina.seed %[[R0]], %[[R2]] with %[[C0]], %[[C1]]
kina.func public @pull(%x: !kina.tensor<f32, [4]>, %n: i32, %c0: !kina.tensor<f32, [4]>, %c1: f32)
    -> !kina.tensor<f32, [4]> {
  %d = kina.vjp @g(%x, %n : !kina.tensor<f32, [4]>, i32) of (%c0, %c1 : !kina.tensor<f32, [4]>, f32)
      subst {N = #kina.dim<4>} wrt [0] -> !kina.tensor<f32, [4]>
  kina.return %d : !kina.tensor<f32, [4]>
}

// -----

// The outer derivative waits for the inner one.
kina.func private @h(%x: f64) -> f64 {
  %0 = kina.exp %x : f64
  kina.return %0 : f64
}
// CHECK-LABEL: kina.func private @dh(
// CHECK:         kina.handle tag <0>
kina.func private @dh(%x: f64) -> f64 {
  %d = kina.grad @h(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
// CHECK-LABEL: kina.func public @ddh(
// CHECK:         kina.grad @dh(
kina.func public @ddh(%x: f64) -> f64 {
  %d = kina.grad @dh(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
