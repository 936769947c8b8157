// RUN: kina-opt %s --kina-expand-grad --kina-record-vjps --split-input-file | FileCheck %s
// RUN: kina-opt %s --kina-expand-grad --kina-record-vjps="tape=replay" --split-input-file | FileCheck %s --check-prefix=REPLAY
// RUN: kina-opt %s --kina-expand-grad --kina-record-vjps="tape=stride slots=4" --split-input-file | FileCheck %s --check-prefix=STRIDE

// A branch hands out the residuals of the arm that ran, one slot for both arms where the
// types agree; its pullback is a branch over the same predicate. The value of an arm that
// is no operation's is passed on.
// CHECK-LABEL: kina.func private @branch.fwd.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[C:.*]]: i1) -> (f64, f64)
// CHECK:         %[[R:.*]]:2 = kina.if %[[C]] -> (f64, f64) {
// CHECK:           %[[E:.*]] = kina.exp %[[X]]
// CHECK:           kina.yield %[[E]], %[[E]] : f64, f64
// CHECK:         } else {
// CHECK:           kina.yield %[[X]], %{{.*}} : f64, f64
// CHECK:         kina.return %[[R]]#0, %[[R]]#1
// CHECK-LABEL: kina.func private @branch.rev.0(
// CHECK-SAME:    %[[E:.*]]: f64, %[[C:.*]]: i1, %[[D:.*]]: f64, %[[ACC:.*]]: f64) -> f64
// CHECK:         %[[R:.*]] = kina.if %[[C]] -> (f64) {
// CHECK:           %[[P:.*]] = kina.mul %[[D]], %[[E]]
// CHECK:           %[[S:.*]] = kina.accumulate %[[ACC]], %[[P]]
// CHECK:           kina.yield %[[S]]
// CHECK:         } else {
// CHECK:           %[[S:.*]] = kina.accumulate %[[ACC]], %[[D]]
// CHECK:           kina.yield %[[S]]
// CHECK:         kina.return %[[R]]
kina.func private @branch(%x: f64, %c: i1) -> f64 {
  %0 = kina.if %c -> (f64) {
    %1 = kina.exp %x : f64
    kina.yield %1 : f64
  } else {
    kina.yield %x : f64
  }
  kina.return %0 : f64
}
kina.func public @branch_grad(%x: f64, %c: i1) -> f64 {
  %d = kina.grad @branch(%x, %c) subst {} wrt [0] : (f64, i1) -> f64
  kina.return %d : f64
}

// -----

// A counted loop: a tape of as many frames as iterations. The counter is not kept, and
// the captured value has an accumulator, which the reverse loop carries.
// CHECK-LABEL: kina.func private @power.fwd.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[N:.*]]: i32) -> (f64, !kina.tape<f64, bounded>, index)
// CHECK:         %[[T0:.*]] = kina.tape_new bound
// CHECK:         kina.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[T0]]) : f64, i32, index, !kina.tape<f64, bounded> {
// CHECK:         ^bb0(%[[A:.*]]: f64, %{{.*}}: i32, %[[COUNT:.*]]: index, %[[T:.*]]: !kina.tape<f64, bounded>):
// CHECK-NEXT:      %[[T1:.*]] = kina.tape_push %[[T]] at %[[COUNT]], %[[A]]
// CHECK-NEXT:      kina.mul %[[A]], %[[X]]
// CHECK-LABEL: kina.func private @power.rev.0(
// CHECK-SAME:    %[[T:.*]]: !kina.tape<f64, bounded>, %[[X:.*]]: f64, %[[N:.*]]: index, %[[D:.*]]: f64, %[[ACC:.*]]: f64) -> f64
// CHECK:         %[[R:.*]]:3 = kina.while (%{{.*}} = %[[N]], %{{.*}} = %[[D]], %{{.*}} = %[[ACC]]) : index, f64, f64 {
// CHECK:         ^bb0(%[[J:.*]]: index, %[[DA:.*]]: f64, %[[SUM:.*]]: f64):
// CHECK:           %[[AT:.*]] = kina.sub %[[J]]
// CHECK:           %[[A:.*]] = kina.tape_read %[[T]] at %[[AT]]
// CHECK:           %[[NEXT:.*]] = kina.mul %[[DA]], %[[X]]
// CHECK:           %[[P:.*]] = kina.mul %[[DA]], %[[A]]
// CHECK:           %[[MORE:.*]] = kina.accumulate %[[SUM]], %[[P]]
// CHECK:           kina.yield %[[AT]], %[[NEXT]], %[[MORE]]
// CHECK:         kina.return %[[R]]#2

// Replay keeps the number of iterations only, and runs the loop again, taped.
// REPLAY-LABEL: kina.func private @power.fwd.0(
// REPLAY-SAME:    -> (f64, index)
// REPLAY-NOT:     kina.tape_new
// REPLAY-LABEL: kina.func private @power.rev.0(
// REPLAY-SAME:    %[[N:arg[0-9]+]]: index,
// REPLAY:         kina.tape_new bound %[[N]]
// REPLAY:         kina.while
// REPLAY:           kina.tape_push
// REPLAY:         kina.while (%{{.*}} = %[[N]]
// REPLAY:           kina.tape_read

// A doubling stride keeps four states, and the reverse goes segment by segment.
// STRIDE-LABEL: kina.func private @power.fwd.0(
// STRIDE-SAME:    -> (f64, index, index, index, !kina.tape<f64, bounded>
// STRIDE:         %[[K:.*]] = kina.constant 4 : index
// STRIDE:         kina.tape_new bound %[[K]]
// STRIDE:         kina.while
// STRIDE:           kina.if
// STRIDE:             kina.tape_push
// STRIDE-LABEL: kina.func private @power.rev.0(
// STRIDE:         kina.while
// STRIDE:           kina.tape_read
// STRIDE:           kina.while
// STRIDE:             kina.tape_push
// STRIDE:           kina.while
// STRIDE:             kina.tape_read
kina.func private @power(%x: f64, %n: i32) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %start = kina.constant 1.0 : f64
  %r:2 = kina.while (%a = %start, %i = %zero) : f64, i32 {
    %c = kina.cmp lt, %i, %n : i32
    kina.condition(%c)
  } do {
  ^bb0(%a: f64, %i: i32):
    %a1 = kina.mul %a, %x : f64
    %i1 = kina.add %i, %one : i32
    kina.yield %a1, %i1 : f64, i32
  }
  kina.return %r#0 : f64
}
kina.func public @power_grad(%x: f64, %n: i32) -> f64 {
  %d = kina.grad @power(%x, %n) subst {} wrt [0] : (f64, i32) -> f64
  kina.return %d : f64
}

// -----

// A value that the condition computes is computed by the body and behind the loop: the
// condition is a test and nothing else.
// CHECK-LABEL: kina.func private @computed.fwd.0(
// CHECK:         kina.while
// CHECK:           kina.condition(%{{.*}}){{$}}
// CHECK:         ^bb0(%[[V:.*]]: f64, %{{.*}}: index, %{{.*}}):
// CHECK:           %[[S:.*]] = kina.mul %[[V]], %[[V]]
// CHECK:           kina.add %[[S]]
kina.func private @computed(%x: f64) -> f64 {
  %one = kina.constant 1.0 : f64
  %most = kina.constant 100.0 : f64
  %r:2 = kina.while (%v = %x) : f64 -> (f64) {
    %s = kina.mul %v, %v : f64
    %c = kina.cmp lt, %s, %most : f64
    kina.condition(%c) %s : f64
  } do {
  ^bb0(%v: f64, %s: f64):
    %v1 = kina.add %s, %one : f64
    kina.yield %v1 : f64
  }
  kina.return %r#1 : f64
}
kina.func public @computed_grad(%x: f64) -> f64 {
  %d = kina.grad @computed(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

// What is to be run again keeps nothing: its pullback contains it.
// CHECK-LABEL: kina.func private @again.fwd.0(
// CHECK-SAME:    -> f64
// CHECK:         kina.remat -> (f64) {
// CHECK-LABEL: kina.func private @again.rev.0(
// CHECK:         kina.remat -> (f64) {
// CHECK:           %[[E:.*]] = kina.exp
// CHECK:           %[[E2:.*]] = kina.exp %[[E]]
// CHECK:           kina.mul %{{.*}}, %[[E2]]
// CHECK:           kina.yield
kina.func private @again(%x: f64) -> f64 {
  %0 = kina.remat -> (f64) {
    %1 = kina.exp %x : f64
    %2 = kina.exp %1 : f64
    kina.yield %2 : f64
  }
  kina.return %0 : f64
}
kina.func public @again_grad(%x: f64) -> f64 {
  %d = kina.grad @again(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
