// RUN: kina-opt %s --kina-ad="tape=growable" | FileCheck %s

// Nobody knows how often this runs: its tape grows.
// CHECK-LABEL: kina.func private @unknown.fwd.0(
// CHECK-SAME:    -> (!kina.tape<f64, growable>, index)
// CHECK:         kina.tape_new : <f64, growable>
// CHECK:         kina.while
// CHECK:           kina.tape_push
// CHECK-LABEL: kina.func private @unknown.rev.0(
// CHECK:         kina.while
// CHECK:           kina.tape_read
kina.func private @unknown(%x: f64) -> f64 {
  %most = kina.constant 100.0 : f64
  %r = kina.while (%v = %x) : f64 {
    %c = kina.cmp lt, %v, %most : f64
    kina.condition(%c)
  } do {
  ^bb0(%v: f64):
    %s = kina.mul %v, %v : f64
    kina.yield %s : f64
  }
  kina.return %r : f64
}
kina.func public @unknown_grad(%x: f64) -> f64 {
  %d = kina.grad @unknown(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// A loop that has another way to end than its counter has not so many frames perhaps.
// CHECK-LABEL: kina.func private @atmost.fwd.0(
// CHECK-NOT:     bounded
// CHECK:         kina.tape_new : <f64, growable>
kina.func private @atmost(%x: f64, %n: i32) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %most = kina.constant 100.0 : f64
  %r:2 = kina.while (%v = %x, %i = %zero) : f64, i32 {
    %c = kina.cmp lt, %v, %most : f64
    %d = kina.cmp lt, %i, %n : i32
    %e = kina.and %c, %d : i1
    kina.condition(%e)
  } do {
  ^bb0(%v: f64, %i: i32):
    %s = kina.mul %v, %v : f64
    %j = kina.add %i, %one : i32
    kina.yield %s, %j : f64, i32
  }
  kina.return %r#0 : f64
}
kina.func public @atmost_grad(%x: f64, %n: i32) -> f64 {
  %d = kina.grad @atmost(%x, %n) subst {} wrt [0] : (f64, i32) -> f64
  kina.return %d : f64
}

// The trip count is known when it starts.
// CHECK-LABEL: kina.func private @counted.fwd.0(
// CHECK-NOT:     growable
// CHECK:         kina.tape_new bound
// CHECK-LABEL: kina.func private @counted.rev.0(
kina.func private @counted(%x: f64, %n: i32) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %r:2 = kina.while (%v = %x, %i = %zero) : f64, i32 {
    %d = kina.cmp lt, %i, %n : i32
    kina.condition(%d)
  } do {
  ^bb0(%v: f64, %i: i32):
    %s = kina.mul %v, %v : f64
    %j = kina.add %i, %one : i32
    kina.yield %s, %j : f64, i32
  }
  kina.return %r#0 : f64
}
kina.func public @counted_grad(%x: f64, %n: i32) -> f64 {
  %d = kina.grad @counted(%x, %n) subst {} wrt [0] : (f64, i32) -> f64
  kina.return %d : f64
}
