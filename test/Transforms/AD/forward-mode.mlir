// RUN: kina-opt %s --kina-forward-mode --split-input-file | FileCheck %s

// Each operation is followed by its pushforward; what does not depend on an active
// argument has no tangent. One function for a pattern of active arguments and of results
// whose tangents are read.
kina.func private @f(%x: f64, %y: f64) -> (f64, f64) {
  %0 = kina.sin %x : f64
  %1 = kina.exp %y : f64
  %2 = kina.mul %0, %1 : f64
  kina.return %2, %1 : f64, f64
}
// CHECK-LABEL: kina.func private @f(
// CHECK-LABEL: kina.func private @f.jvp.1(
// CHECK-NOT:     kina.cos
// CHECK-LABEL: kina.func private @f.jvp.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f64, %[[T:.*]]: f64) -> (f64, f64, f64) {
// CHECK-NEXT:    %[[S:.*]] = kina.sin %[[X]]
// CHECK-NEXT:    %[[C:.*]] = kina.cos %[[X]]
// CHECK-NEXT:    %[[TS:.*]] = kina.mul %[[T]], %[[C]]
// CHECK-NEXT:    %[[E:.*]] = kina.exp %[[Y]]
// CHECK-NEXT:    %[[P:.*]] = kina.mul %[[S]], %[[E]]
// CHECK-NEXT:    %[[TP:.*]] = kina.mul %[[TS]], %[[E]]
// CHECK-NEXT:    kina.return %[[P]], %[[E]], %[[TP]]
// CHECK-LABEL: kina.func public @along(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f64, %[[T:.*]]: f64)
// CHECK-NEXT:    %[[R:.*]]:3 = kina.call @f.jvp.0(%[[X]], %[[Y]], %[[T]])
// CHECK-NEXT:    %[[ZERO:.*]] = kina.constant 0.0{{.*}} : f64
// CHECK-NEXT:    %[[Q:.*]]:3 = kina.call @f.jvp.0(%[[Y]], %[[X]], %[[T]])
// CHECK:         %[[B:.*]]:3 = kina.call @f.jvp.1(%[[X]], %[[Y]], %[[T]], %[[T]])
// CHECK:         kina.return %[[R]]#2, %[[ZERO]], %[[Q]]#0, %[[Q]]#1, %[[Q]]#2, %{{.*}}, %[[B]]#2
kina.func public @along(%x: f64, %y: f64, %t: f64) -> (f64, f64, f64, f64, f64, f64, f64) {
  %r:2 = kina.jvp @f(%x, %y : f64, f64) along (%t : f64) subst {} wrt [0] -> f64, f64
  %q:4 = kina.jvp @f(%y, %x : f64, f64) along (%t : f64) subst {} wrt [0] value -> f64, f64, f64, f64
  %b:2 = kina.jvp @f(%x, %y : f64, f64) along (%t, %t : f64, f64) subst {} wrt [0, 1] -> f64, f64
  kina.return %r#0, %r#1, %q#0, %q#1, %q#2, %q#3, %b#1 : f64, f64, f64, f64, f64, f64, f64
}

// -----

// A call becomes one of the callee's function with tangents, under the same
// substitution; a sum of two contributions is an addition.
kina.func private @scale(%x: !kina.tensor<f64, [N]>, %s: f64) -> !kina.tensor<f64, [N]>
    attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.broadcast %s : f64 to !kina.tensor<f64, [N]>
  %1 = kina.mul %x, %0 : !kina.tensor<f64, [N]>
  kina.return %1 : !kina.tensor<f64, [N]>
}
// CHECK-LABEL: kina.func private @scale.jvp.0(
// CHECK-SAME:    %{{.*}}: !kina.tensor<f64, [N]>, %{{.*}}: f64, %{{.*}}: !kina.tensor<f64, [N]>, %{{.*}}: f64)
// CHECK-SAME:    -> (!kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]}
// CHECK:         kina.mul
// CHECK:         kina.mul
// CHECK:         kina.mul
// CHECK:         kina.add
kina.func private @twice(%x: !kina.tensor<f64, [M, 2]>) -> f64 attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.reshape %x : !kina.tensor<f64, [M, 2]> to !kina.tensor<f64, [2*M]>
  %1 = kina.sum %0 axes [0] : !kina.tensor<f64, [2*M]>
  %2 = kina.call @scale(%0, %1) subst {N = #kina.dim<2*M>} : (!kina.tensor<f64, [2*M]>, f64) -> !kina.tensor<f64, [2*M]>
  %3 = kina.sum %2 axes [0] : !kina.tensor<f64, [2*M]>
  kina.return %3 : f64
}
// CHECK-LABEL: kina.func private @twice.jvp.0(
// CHECK:         kina.call @scale.jvp.0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) subst {N = #kina.dim<2*M>}
kina.func public @d(%x: !kina.tensor<f64, [M, 2]>) -> f64 attributes {shape_vars = [#kina.var<"M">]} {
  %t = kina.jvp @twice(%x : !kina.tensor<f64, [M, 2]>) along (%x : !kina.tensor<f64, [M, 2]>) subst {M = #kina.dim<M>} wrt [0] -> f64
  kina.return %t : f64
}

// -----

// %v is active from the second iteration on only, the extra value because of %v; the
// counter and %w are not.
kina.func private @loop(%x: f64, %n: i32) -> (f64, f64) {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %start = kina.constant 2.0 : f64
  %r:5 = kina.while (%i = %zero, %u = %start, %v = %start, %w = %start) : i32, f64, f64, f64 -> (f64) {
    %e = kina.sin %v : f64
    %c = kina.cmp lt, %i, %n : i32
    kina.condition(%c) %e : f64
  } do {
  ^bb0(%i: i32, %u: f64, %v: f64, %w: f64, %e: f64):
    %i1 = kina.add %i, %one : i32
    %u1 = kina.add %u, %x : f64
    %w1 = kina.neg %w : f64
    kina.yield %i1, %u1, %u, %w1 : i32, f64, f64, f64
  }
  kina.return %r#4, %r#3 : f64, f64
}
// CHECK-LABEL: kina.func private @loop.jvp.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[N:.*]]: i32, %[[T:.*]]: f64) -> (f64, f64, f64)
// CHECK:         %[[R:.*]]:8 = kina.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[S:.*]], %[[V:.*]] = %[[S]], %{{.*}} = %[[S]], %[[TU:.*]] = %[[Z0:.*]], %[[TV:.*]] = %[[Z1:.*]]) : i32, f64, f64, f64, f64, f64 -> (f64, f64)
// CHECK:           %[[E:.*]] = kina.sin %[[V]]
// CHECK:           %[[C:.*]] = kina.cos %[[V]]
// CHECK:           %[[TE:.*]] = kina.mul %[[TV]], %[[C]]
// CHECK:           kina.condition(%{{.*}}) %[[E]], %[[TE]]
// CHECK:         } do {
// CHECK:         ^bb0(%{{.*}}: i32, %[[U:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64, %[[TU:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64):
// CHECK:           %[[U1:.*]] = kina.add %[[U]], %[[X]]
// CHECK:           %[[TU1:.*]] = kina.add %[[TU]], %[[T]]
// CHECK:           %[[W1:.*]] = kina.neg
// CHECK-NEXT:      kina.yield %{{.*}}, %[[U1]], %[[U]], %[[W1]], %[[TU1]], %[[TU]]
// CHECK:         kina.return %[[R]]#6, %[[R]]#3, %[[R]]#7
kina.func public @d_loop(%x: f64, %n: i32, %t: f64) -> (f64, f64) {
  %r:2 = kina.jvp @loop(%x, %n : f64, i32) along (%t : f64) subst {} wrt [0] -> f64, f64
  kina.return %r#0, %r#1 : f64, f64
}

// -----

// The arm that does not depend on %x yields a zero tangent; a region that only checks
// stays as it is, and so do the loop's attributes.
kina.func private @arms(%x: f64, %c: i1) -> (f64, i32) {
  %n = kina.constant 7 : i32
  %one = kina.constant 1.0 : f64
  kina.if %c {
    kina.check %c, "holds"
    kina.yield
  }
  %r:2 = kina.if %c -> (f64, i32) {
    %0 = kina.square %x : f64
    kina.yield %0, %n : f64, i32
  } else {
    kina.yield %one, %n : f64, i32
  }
  %m = kina.remat -> (f64) {
    %0 = kina.exp %r#0 : f64
    kina.yield %0 : f64
  }
  %w = kina.while (%a = %m) : f64 {
    kina.condition(%c)
  } do {
  ^bb0(%a: f64):
    kina.yield %a : f64
  } {checkpoint = #kina.checkpoint<"k", 3>, trip_bound = #kina.dim<5>}
  kina.return %w, %r#1 : f64, i32
}
// CHECK-LABEL: kina.func private @arms.jvp.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[C:.*]]: i1, %[[T:.*]]: f64) -> (f64, i32, f64)
// CHECK:         kina.if %[[C]] {
// CHECK-NEXT:      kina.check %[[C]], "holds"
// CHECK-NEXT:      kina.yield
// CHECK-NEXT:    }
// CHECK:         %[[R:.*]]:3 = kina.if %[[C]] -> (f64, i32, f64) {
// CHECK:           %[[TT:.*]] = kina.mul %[[T]],
// CHECK:           kina.yield %{{.*}}, %{{.*}}, %[[TT]]
// CHECK:         } else {
// CHECK:           %[[ZERO:.*]] = kina.constant 0.0
// CHECK:           kina.yield %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK:         %[[M:.*]]:2 = kina.remat -> (f64, f64) {
// CHECK:           kina.mul %[[R]]#2,
// CHECK:         kina.while (%{{.*}} = %[[M]]#0, %{{.*}} = %[[M]]#1) : f64, f64
// CHECK:         } {checkpoint = #kina.checkpoint<"k", 3>, trip_bound = #kina.dim<5>}
kina.func public @d_arms(%x: f64, %c: i1) -> f64 {
  %r = kina.jvp @arms(%x, %c : f64, i1) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %r : f64
}

// -----

// A function with a pullback of its own is differentiated itself. A detached value has
// no tangent: one addition is left.
kina.func private @pullback(%x: f64, %y: f64, %d: f64) -> f64 {
  kina.return %d : f64
}
kina.func private @custom(%x: f64) -> f64 attributes {custom_vjp = @pullback} {
  %0 = kina.detach %x : f64
  %1 = kina.mul %0, %x : f64
  kina.return %1 : f64
}
// CHECK-LABEL: kina.func private @custom.jvp.0(
// CHECK-SAME:    %[[X:.*]]: f64, %[[T:.*]]: f64) -> (f64, f64){{ +}}{
// CHECK-NEXT:    %[[D:.*]] = kina.detach %[[X]]
// CHECK-NEXT:    %[[Y:.*]] = kina.mul %[[D]], %[[X]]
// CHECK-NEXT:    %[[TY:.*]] = kina.mul %[[T]], %[[D]]
// CHECK-NEXT:    kina.return %[[Y]], %[[TY]]
kina.func public @d_custom(%x: f64) -> f64 {
  %r = kina.jvp @custom(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %r : f64
}

// -----

// Outer derivatives wait until the inner ones are lowered.
kina.func private @g(%x: f64) -> f64 {
  kina.return %x : f64
}
kina.func private @dg(%x: f64) -> f64 {
  %r = kina.grad @g(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %r : f64
}
// CHECK-LABEL: kina.func public @ddg(
// CHECK:         kina.jvp @dg
kina.func public @ddg(%x: f64) -> f64 {
  %r = kina.jvp @dg(%x : f64) along (%x : f64) subst {} wrt [0] -> f64
  kina.return %r : f64
}
