// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Derivatives, cotangents, tapes.

// CHECK-LABEL: kina.func @loss
kina.func @loss(%w: !kina.tensor<f64, [N]>, %n: i32, %x: !kina.tensor<f64, [N]>) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.mul %w, %x : !kina.tensor<f64, [N]>
  %1 = kina.sum %0 axes [0] : !kina.tensor<f64, [N]>
  kina.return %1, %n : f64, i32
}

// CHECK-LABEL: kina.func @derivatives
kina.func @derivatives(%w: !kina.tensor<f64, [2*M]>, %n: i32) attributes {shape_vars = [#kina.var<"M">]} {
  // CHECK: kina.grad @loss(%{{.*}}, %{{.*}}, %{{.*}}) subst {N = #kina.dim<2*M>} wrt [0] : (!kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) -> !kina.tensor<f64, [2*M]>
  %0 = kina.grad @loss(%w, %n, %w) subst {N = #kina.dim<2*M>} wrt [0]
      : (!kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) -> !kina.tensor<f64, [2*M]>
  // CHECK: kina.grad @loss(%{{.*}}) subst {N = #kina.dim<2*M>} wrt [0, 2] value : (!kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) -> (f64, i32, !kina.tensor<f64, [2*M]>, !kina.tensor<f64, [2*M]>)
  %1:4 = kina.grad @loss(%w, %n, %w) subst {N = #kina.dim<2*M>} wrt [0, 2] value
      : (!kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) -> (f64, i32, !kina.tensor<f64, [2*M]>, !kina.tensor<f64, [2*M]>)
  // CHECK: kina.vjp @loss(%{{.*}} : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) of(%{{.*}} : f64) subst {N = #kina.dim<2*M>} wrt [2] -> !kina.tensor<f64, [2*M]>
  %2 = kina.vjp @loss(%w, %n, %w : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) of (%1#0 : f64) subst {N = #kina.dim<2*M>} wrt [2] -> !kina.tensor<f64, [2*M]>
  // CHECK: kina.vjp @loss({{.*}}) of({{.*}}) subst {N = #kina.dim<2*M>} wrt [0] value -> f64, i32, !kina.tensor<f64, [2*M]>
  %3:3 = kina.vjp @loss(%w, %n, %w : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) of (%1#0 : f64) subst {N = #kina.dim<2*M>} wrt [0] value -> f64, i32, !kina.tensor<f64, [2*M]>
  // CHECK: kina.jvp @loss(%{{.*}} : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) along(%{{.*}} : !kina.tensor<f64, [2*M]>) subst {N = #kina.dim<2*M>} wrt [0] -> f64
  %4 = kina.jvp @loss(%w, %n, %w : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) along (%w : !kina.tensor<f64, [2*M]>) subst {N = #kina.dim<2*M>} wrt [0] -> f64
  // CHECK: kina.jvp @loss({{.*}}) along({{.*}}) subst {N = #kina.dim<2*M>} wrt [0, 2] value -> f64, i32, f64
  %5:3 = kina.jvp @loss(%w, %n, %w : !kina.tensor<f64, [2*M]>, i32, !kina.tensor<f64, [2*M]>) along (%w, %w : !kina.tensor<f64, [2*M]>, !kina.tensor<f64, [2*M]>) subst {N = #kina.dim<2*M>} wrt [0, 2] value -> f64, i32, f64
  kina.return
}

// The handler that the description of kina.handle shows.
// CHECK-LABEL: kina.func @handler
kina.func @handler(%x: f64) -> f64 {
  %one = kina.constant 1.0 : f64
  // CHECK: kina.handle tag <0> -> (f64, !kina.cotangents) {
  %y, %cts = kina.handle tag <0> -> (f64, !kina.cotangents) {
    // CHECK: kina.watch %{{.*}} : f64
    %w = kina.watch %x : f64
    kina.yield %w : f64
  } return {
  ^bb0(%r: f64):
    // CHECK: kina.seed %{{.*}} with %{{.*}} : f64{{$}}
    %seeded = kina.seed %r with %one : f64
    kina.yield %r, %seeded : f64, !kina.cotangents
  } cases [@ReverseModeAD::@RecordVJP] {
  ^bb0(%vjp: (!kina.cotangents) -> !kina.cotangents, %k: !kina.cont<none -> (f64, !kina.cotangents)>):
    // CHECK: kina.resume %{{.*}}() : <none -> (f64, !kina.cotangents)> -> f64, !kina.cotangents
    %r, %c = kina.resume %k () : !kina.cont<none -> (f64, !kina.cotangents)> -> f64, !kina.cotangents
    // CHECK: kina.pull %{{.*}}(%{{.*}}) : (!kina.cotangents) -> !kina.cotangents
    %c1 = kina.pull %vjp(%c) : (!kina.cotangents) -> !kina.cotangents
    kina.yield %r, %c1 : f64, !kina.cotangents
  }
  // CHECK: kina.cotangent_of %{{.*}} in %{{.*}} : f64
  %dx = kina.cotangent_of %x in %cts : f64
  kina.return %dx : f64
}

// CHECK-LABEL: kina.func @zeros
kina.func @zeros(%x: f64) -> f64 {
  // CHECK: [[Z:%.*]] = kina.absent : f64
  %z = kina.absent : f64
  // CHECK: kina.accumulate [[Z]], %{{.*}} : f64
  %0 = kina.accumulate %z, %x : f64
  kina.return %0 : f64
}

// CHECK-LABEL: kina.func @tapes
kina.func @tapes(%n: index, %x: f64, %i: i32) {
  // CHECK: kina.tape_new : <i32, growable>
  %0 = kina.tape_new : !kina.tape<i32, growable>
  // CHECK: kina.tape_new bound %{{.*}} : <f64, bounded>
  %1 = kina.tape_new bound %n : !kina.tape<f64, bounded>
  // CHECK: kina.tape_push %{{.*}} at %{{.*}}, %{{.*}} : <f64, bounded>
  %2 = kina.tape_push %1 at %n, %x : !kina.tape<f64, bounded>
  // CHECK: kina.tape_read %{{.*}} at %{{.*}} : <f64, bounded>
  %3 = kina.tape_read %2 at %n : !kina.tape<f64, bounded>
  kina.return
}
