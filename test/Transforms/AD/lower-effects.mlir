// RUN: kina-opt %s --kina-lower-effects --split-input-file | FileCheck %s

// Pullbacks run in reverse order. The first accumulator of %w is absent, the second is
// what the later use gave; nothing is added to a zero that was never made.
// CHECK-NOT:   kina.effect
// CHECK-LABEL: kina.func public @chain(
// CHECK-SAME:    %[[X:.*]]: f64)
// CHECK-NEXT:    %[[E:.*]] = kina.exp %[[X]] : f64
// CHECK-NEXT:    %[[Y:.*]] = kina.mul %[[E]], %[[X]] : f64
// CHECK-NEXT:    %[[ONE:.*]] = kina.constant 1.0{{.*}} : f64
// CHECK-NEXT:    %[[DE:.*]] = kina.mul %[[ONE]], %[[X]] : f64
// CHECK-NEXT:    %[[DX:.*]] = kina.mul %[[ONE]], %[[E]] : f64
// CHECK-NEXT:    %[[DE2:.*]] = kina.mul %[[DE]], %[[E]] : f64
// CHECK-NEXT:    %[[SUM:.*]] = kina.add %[[DX]], %[[DE2]] : f64
// CHECK-NEXT:    kina.return %[[Y]], %[[SUM]] : f64, f64
kina.effect @ReverseModeAD {
  kina.operation @RecordVJP : ((!kina.cotangents) -> !kina.cotangents) -> ()
}
kina.func public @chain(%x: f64) -> (f64, f64) {
  %w = kina.watch %x : f64
  %h:2 = kina.handle tag <0> -> (f64, !kina.cotangents) {
    %e = kina.exp %w : f64
    kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%e : f64) to (%w : f64) {
    ^bb0(%de: f64, %acc: f64):
      %0 = kina.mul %de, %e : f64
      %1 = kina.accumulate %acc, %0 : f64
      kina.yield %1 : f64
    }
    %y = kina.mul %e, %w : f64
    kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%y : f64) to (%e, %w : f64, f64) {
    ^bb0(%dy: f64, %ae: f64, %aw: f64):
      %0 = kina.mul %dy, %w : f64
      %1 = kina.accumulate %ae, %0 : f64
      %2 = kina.mul %dy, %e : f64
      %3 = kina.accumulate %aw, %2 : f64
      kina.yield %1, %3 : f64, f64
    }
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
  kina.return %h#0, %d : f64, f64
}

// -----

// A perform whose cotangents are all absent is skipped (the exp); of one with two
// results and one cotangent (the call) the absent parameter is cut out of the callee; a
// gradient that nothing contributed to is zeros; a matmul without accumulator is plain.
// CHECK-LABEL: kina.func private @pull.absent_2(
// CHECK-SAME:    %[[A:.*]]: !kina.tensor<f64, [2, 2]>, %[[D:.*]]: !kina.tensor<f64, [2, 2]>) -> !kina.tensor<f64, [2, 2]>
// CHECK-NEXT:    %[[P:.*]] = kina.matmul %[[A]], %[[D]] :
// CHECK-NEXT:    kina.return %[[P]]
kina.func private @two(%x: !kina.tensor<f64, [2, 2]>) -> (!kina.tensor<f64, [2, 2]>, f64) {
  %0 = kina.sum %x axes [0, 1] : !kina.tensor<f64, [2, 2]>
  kina.return %x, %0 : !kina.tensor<f64, [2, 2]>, f64
}
kina.func private @pull(%a: !kina.tensor<f64, [2, 2]>, %d: !kina.tensor<f64, [2, 2]>, %acc: !kina.tensor<f64, [2, 2]>)
    -> !kina.tensor<f64, [2, 2]> {
  %0 = kina.matmul %a, %d outs %acc : !kina.tensor<f64, [2, 2]> : !kina.tensor<f64, [2, 2]>, !kina.tensor<f64, [2, 2]>
  kina.return %0 : !kina.tensor<f64, [2, 2]>
}
// CHECK-LABEL: kina.func public @absent(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f64, [2, 2]>, %[[U:.*]]: f64, %[[C:.*]]: !kina.tensor<f64, [2, 2]>)
// CHECK-NEXT:    kina.exp %[[U]]
// CHECK-NEXT:    kina.call @two(%[[X]])
// CHECK-NEXT:    %[[DX:.*]] = kina.call @pull.absent_2(%[[X]], %[[C]])
// CHECK-NEXT:    %[[DU:.*]] = kina.constant 0.0{{.*}} : f64
// CHECK-NEXT:    kina.return %[[DX]], %[[DU]]
kina.func public @absent(%x: !kina.tensor<f64, [2, 2]>, %u: f64, %c: !kina.tensor<f64, [2, 2]>)
    -> (!kina.tensor<f64, [2, 2]>, f64) {
  %wx = kina.watch %x : !kina.tensor<f64, [2, 2]>
  %wu = kina.watch %u : f64
  %h:2 = kina.handle tag <3> -> (!kina.tensor<f64, [2, 2]>, !kina.cotangents) {
    %e = kina.exp %wu : f64
    kina.perform @ReverseModeAD::@RecordVJP tag <3> of (%e : f64) to (%wu : f64) {
    ^bb0(%de: f64, %acc: f64):
      %0 = kina.mul %de, %e : f64
      %1 = kina.accumulate %acc, %0 : f64
      kina.yield %1 : f64
    }
    %y:2 = kina.call @two(%wx) subst {} : (!kina.tensor<f64, [2, 2]>) -> (!kina.tensor<f64, [2, 2]>, f64)
    kina.perform @ReverseModeAD::@RecordVJP tag <3> of (%y#0, %y#1 : !kina.tensor<f64, [2, 2]>, f64) to (%wx : !kina.tensor<f64, [2, 2]>) {
    ^bb0(%d0: !kina.tensor<f64, [2, 2]>, %d1: f64, %acc: !kina.tensor<f64, [2, 2]>):
      %0 = kina.call @pull(%wx, %d0, %acc) subst {} : (!kina.tensor<f64, [2, 2]>, !kina.tensor<f64, [2, 2]>, !kina.tensor<f64, [2, 2]>) -> !kina.tensor<f64, [2, 2]>
      kina.yield %0 : !kina.tensor<f64, [2, 2]>
    }
    kina.yield %y#0 : !kina.tensor<f64, [2, 2]>
  } return {
  ^bb0(%r: !kina.tensor<f64, [2, 2]>):
    %s = kina.seed %r with %c : !kina.tensor<f64, [2, 2]>
    kina.yield %r, %s : !kina.tensor<f64, [2, 2]>, !kina.cotangents
  } cases [@ReverseModeAD::@RecordVJP] {
  ^bb0(%vjp: (!kina.cotangents) -> !kina.cotangents, %k: !kina.cont<none -> (!kina.tensor<f64, [2, 2]>, !kina.cotangents)>):
    %a:2 = kina.resume %k() : !kina.cont<none -> (!kina.tensor<f64, [2, 2]>, !kina.cotangents)> -> !kina.tensor<f64, [2, 2]>, !kina.cotangents
    %p = kina.pull %vjp(%a#1) : (!kina.cotangents) -> !kina.cotangents
    kina.yield %a#0, %p : !kina.tensor<f64, [2, 2]>, !kina.cotangents
  }
  %dx = kina.cotangent_of %wx in %h#1 : !kina.tensor<f64, [2, 2]>
  %du = kina.cotangent_of %wu in %h#1 : f64
  kina.return %dx, %du : !kina.tensor<f64, [2, 2]>, f64
}
