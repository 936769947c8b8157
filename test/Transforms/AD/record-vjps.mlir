// RUN: kina-opt %s --kina-expand-grad --kina-record-vjps --split-input-file | FileCheck %s

// A call is split in two halves. The forward half returns what the reverse half reads
// and the caller does not have: here exp(x*y), but not x and y; the cosine is not read.
// CHECK-LABEL: kina.func private @f.fwd.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f64) -> (f64, f64)
// CHECK:         %[[P:.*]] = kina.mul %[[X]], %[[Y]]
// CHECK:         %[[E:.*]] = kina.exp %[[P]]
// CHECK:         %[[C:.*]] = kina.cos %[[Y]]
// CHECK:         %[[R:.*]] = kina.add %[[E]], %[[C]]
// CHECK:         kina.return %[[R]], %[[E]] : f64, f64

// The reverse half: residuals, then the cotangent of the result, then an accumulator.
// CHECK-LABEL: kina.func private @f.rev.0(
// CHECK-SAME:    %[[Y:.*]]: f64, %[[E:.*]]: f64, %[[DR:.*]]: f64, %[[ACC:.*]]: f64) -> f64
// CHECK:         %[[DP:.*]] = kina.mul %[[DR]], %[[E]]
// CHECK:         %[[DX:.*]] = kina.mul %[[DP]], %[[Y]]
// CHECK:         %[[SUM:.*]] = kina.accumulate %[[ACC]], %[[DX]]
// CHECK:         kina.return %[[SUM]] : f64
kina.func private @f(%x: f64, %y: f64) -> f64 {
  %0 = kina.mul %x, %y : f64
  %1 = kina.exp %0 : f64
  %2 = kina.cos %y : f64
  %3 = kina.add %1, %2 : f64
  kina.return %3 : f64
}

// CHECK-LABEL: kina.func public @one(
// CHECK-SAME:    %{{.*}}: f64, %[[Y:.*]]: f64)
// CHECK:         %[[W:.*]] = kina.watch
// CHECK:         kina.handle tag <0>
// CHECK:           %[[CALL:.*]]:2 = kina.call @f.fwd.0(%[[W]], %[[Y]])
// CHECK:           kina.perform @ReverseModeAD::@RecordVJP tag <0> of(%[[CALL]]#0 : f64) to(%[[W]] : f64) {
// CHECK:           ^bb0(%[[DR:.*]]: f64, %[[ACC:.*]]: f64):
// CHECK:             %[[DX:.*]] = kina.call @f.rev.0(%[[Y]], %[[CALL]]#1, %[[DR]], %[[ACC]])
// CHECK:             kina.yield %[[DX]] : f64
// CHECK:           kina.yield %[[CALL]]#0 : f64
kina.func public @one(%x: f64, %y: f64) -> f64 {
  %d = kina.grad @f(%x, %y) subst {} wrt [0] : (f64, f64) -> f64
  kina.return %d : f64
}

// -----

// One pair for two calls of the same pattern; the second pattern, in which x is fixed,
// is another. A matmul continues the chain of its accumulator.
// CHECK:     kina.func private @layer.fwd.1(
// CHECK-NOT: @layer.fwd.2
// CHECK:     kina.func private @layer.rev.1(
// CHECK-SAME:    %[[W:.*]]: !kina.tensor<f64, [N, N]>, %[[X:.*]]: !kina.tensor<f64, [N, N]>, %[[DY:.*]]: !kina.tensor<f64, [N, N]>, %[[AX:.*]]: !kina.tensor<f64, [N, N]>, %[[AW:.*]]: !kina.tensor<f64, [N, N]>)
// CHECK-DAG:   kina.matmul %[[DY]], %[[W]] transpose_b outs %[[AX]]
// CHECK-DAG:   kina.matmul %[[X]], %[[DY]] transpose_a outs %[[AW]]
// CHECK:     kina.func private @layer.fwd.0(
// CHECK:     kina.func private @layer.rev.0(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f64, [N, N]>, %[[DY:.*]]: !kina.tensor<f64, [N, N]>, %[[AW:.*]]: !kina.tensor<f64, [N, N]>)
// CHECK-NEXT:  kina.matmul %[[X]], %[[DY]] transpose_a outs %[[AW]]
kina.func private @layer(%x: !kina.tensor<f64, [N, N]>, %w: !kina.tensor<f64, [N, N]>) -> !kina.tensor<f64, [N, N]>
    attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.matmul %x, %w : !kina.tensor<f64, [N, N]>, !kina.tensor<f64, [N, N]>
  kina.return %0 : !kina.tensor<f64, [N, N]>
}
// CHECK-LABEL: kina.func private @net.fwd.0(
// CHECK:         kina.call @layer.fwd.0(
// CHECK:         kina.call @layer.fwd.1(
// CHECK:         kina.call @layer.fwd.1(
kina.func private @net(%w: !kina.tensor<f64, [M, M]>, %x: !kina.tensor<f64, [M, M]>) -> f64
    attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.call @layer(%x, %w) subst {N = #kina.dim<M>} : (!kina.tensor<f64, [M, M]>, !kina.tensor<f64, [M, M]>) -> !kina.tensor<f64, [M, M]>
  %1 = kina.call @layer(%0, %w) subst {N = #kina.dim<M>} : (!kina.tensor<f64, [M, M]>, !kina.tensor<f64, [M, M]>) -> !kina.tensor<f64, [M, M]>
  %2 = kina.call @layer(%1, %w) subst {N = #kina.dim<M>} : (!kina.tensor<f64, [M, M]>, !kina.tensor<f64, [M, M]>) -> !kina.tensor<f64, [M, M]>
  %3 = kina.sum %2 axes [0, 1] : !kina.tensor<f64, [M, M]>
  kina.return %3 : f64
}
kina.func public @net_grad(%w: !kina.tensor<f64, [M, M]>, %x: !kina.tensor<f64, [M, M]>) -> !kina.tensor<f64, [M, M]>
    attributes {shape_vars = [#kina.var<"M">]} {
  %d = kina.grad @net(%w, %x) subst {M = #kina.dim<M>} wrt [0] : (!kina.tensor<f64, [M, M]>, !kina.tensor<f64, [M, M]>) -> !kina.tensor<f64, [M, M]>
  kina.return %d : !kina.tensor<f64, [M, M]>
}

// -----

// A value that is both operands has one accumulator and one chain.
// CHECK-LABEL: kina.func public @square(
// CHECK:         kina.perform {{.*}} of(%{{.*}} : f64) to(%[[X:.*]] : f64) {
// CHECK:         ^bb0(%[[D:.*]]: f64, %[[ACC:.*]]: f64):
// CHECK:           %[[A:.*]] = kina.mul %[[D]], %[[X]]
// CHECK:           %[[S:.*]] = kina.accumulate %[[ACC]], %[[A]]
// CHECK:           %[[B:.*]] = kina.mul %[[D]], %[[X]]
// CHECK:           %[[T:.*]] = kina.accumulate %[[S]], %[[B]]
// CHECK:           kina.yield %[[T]] : f64
kina.func public @square(%x: f64) -> f64 {
  %w = kina.watch %x : f64
  %h:2 = kina.handle tag <0> -> (f64, !kina.cotangents) {
    %y = kina.mul %w, %w : f64
    kina.yield %y : f64
  } return {
  ^bb0(%r: f64):
    %one = kina.constant 1.0 : f64
    %s = kina.seed %r with %one : f64
    kina.yield %r, %s : f64, !kina.cotangents
  } cases [@ReverseModeAD::@RecordVJP] {
  ^bb0(%vjp: (!kina.cotangents) -> !kina.cotangents, %k: !kina.cont<none -> (f64, !kina.cotangents)>):
    %a:2 = kina.resume %k() : !kina.cont<none -> (f64, !kina.cotangents)> -> f64, !kina.cotangents
    %p = kina.pull %vjp(%a#1) : (!kina.cotangents) -> !kina.cotangents
    kina.yield %a#0, %p : f64, !kina.cotangents
  }
  %d = kina.cotangent_of %w in %h#1 : f64
  kina.return %d : f64
}

// -----

// Detached values, integers and what only they depend on are not active: the loop is
// left alone, and nothing is recorded for it.
// CHECK-LABEL: kina.func private @inactive.fwd.0(
// CHECK:         kina.while
// CHECK:         kina.return
// CHECK-LABEL: kina.func private @inactive.rev.0(
// CHECK-NOT:     kina.while
// CHECK:         kina.return
kina.func private @inactive(%x: f64, %n: i32) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %start = kina.detach %x : f64
  %r:2 = kina.while (%i = %zero, %v = %start) : i32, f64 {
    %c = kina.cmp lt, %i, %n : i32
    kina.condition(%c)
  } do {
  ^bb0(%i: i32, %v: f64):
    %i1 = kina.add %i, %one : i32
    %v1 = kina.add %v, %x : f64
    %v2 = kina.detach %v1 : f64
    kina.yield %i1, %v2 : i32, f64
  }
  %f = kina.cast %r#0 : i32 to f64
  %0 = kina.mul %x, %f : f64
  %1 = kina.mul %0, %r#1 : f64
  kina.return %1 : f64
}
kina.func public @inactive_grad(%x: f64, %n: i32) -> f64 {
  %d = kina.grad @inactive(%x, %n) subst {} wrt [0] : (f64, i32) -> f64
  kina.return %d : f64
}

// -----

// The sizes that the residuals do not determine are arguments of the reverse half.
// CHECK-LABEL: kina.func private @total.rev.0(
// CHECK-SAME:    %{{.*}}: index {kina.dim = "N"}, %[[D:.*]]: f64, %[[ACC:.*]]: !kina.tensor<f64, [2*N]>)
kina.func private @total(%x: !kina.tensor<f64, [2*N]>, %n: index {kina.dim = "N"}) -> f64
    attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.sum %x axes [0] : !kina.tensor<f64, [2*N]>
  kina.return %0 : f64
}
// CHECK-LABEL: kina.func public @total_grad(
// CHECK:         kina.perform
// CHECK:           %[[N:.*]] = kina.dim <3*M> : index
// CHECK:           kina.call @total.rev.0(%[[N]],
kina.func public @total_grad(%x: !kina.tensor<f64, [6*M]>, %n: index, %m: !kina.tensor<f64, [M]>)
    -> !kina.tensor<f64, [6*M]> attributes {shape_vars = [#kina.var<"M">]} {
  %d = kina.grad @total(%x, %n) subst {N = #kina.dim<3*M>} wrt [0] : (!kina.tensor<f64, [6*M]>, index) -> !kina.tensor<f64, [6*M]>
  kina.return %d : !kina.tensor<f64, [6*M]>
}

// -----

// A pullback that the user gave takes the place of the callee's own.
// CHECK-NOT: @clip.fwd
kina.func private @clip(%x: !kina.tensor<f64, [N]>, %n: i32) -> !kina.tensor<f64, [N]>
    attributes {shape_vars = [#kina.var<"N">], custom_vjp = @clip_vjp} {
  kina.return %x : !kina.tensor<f64, [N]>
}
kina.func private @clip_vjp(%x: !kina.tensor<f64, [K]>, %n: i32, %y: !kina.tensor<f64, [K]>, %dy: !kina.tensor<f64, [K]>)
    -> !kina.tensor<f64, [K]> attributes {shape_vars = [#kina.var<"K">]} {
  kina.return %dy : !kina.tensor<f64, [K]>
}
// CHECK-LABEL: kina.func public @clip_grad(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f64, [3]>, %[[N:.*]]: i32, %[[C:.*]]: !kina.tensor<f64, [3]>)
// CHECK:         %[[W:.*]] = kina.watch %[[X]]
// CHECK:           %[[Y:.*]] = kina.call @clip(%[[W]], %[[N]])
// CHECK:           kina.perform {{.*}} {
// CHECK:           ^bb0(%[[DY:.*]]: !kina.tensor<f64, [3]>, %[[ACC:.*]]: !kina.tensor<f64, [3]>):
// CHECK:             %[[D:.*]] = kina.call @clip_vjp(%[[W]], %[[N]], %[[Y]], %[[DY]]) subst {K = #kina.dim<3>}
// CHECK:             kina.accumulate %[[ACC]], %[[D]]
kina.func public @clip_grad(%x: !kina.tensor<f64, [3]>, %n: i32, %c: !kina.tensor<f64, [3]>) -> !kina.tensor<f64, [3]> {
  %d = kina.vjp @clip(%x, %n : !kina.tensor<f64, [3]>, i32) of (%c : !kina.tensor<f64, [3]>)
      subst {N = #kina.dim<3>} wrt [0] -> !kina.tensor<f64, [3]>
  kina.return %d : !kina.tensor<f64, [3]>
}
