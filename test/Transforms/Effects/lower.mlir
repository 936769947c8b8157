// RUN: kina-opt --kina-lower-effects %s | FileCheck %s

// Parts that the surface language does not reach by itself.

kina.effect @Exit {
  kina.operation @Stop : (f64) -> f64
}

// A condition that may fail is not evaluated again when the loop has been left.
// CHECK-LABEL: kina.func @condition
// CHECK: kina.while ({{.*}}, %[[LEFT:[^ ]*]] = %{{.*}}, {{.*}}) : i32, i1, f64
// CHECK: %[[C:.*]] = kina.if %[[LEFT]] -> (i1) {
// CHECK-NEXT: %[[NO:.*]] = kina.constant false
// CHECK-NEXT: kina.yield %[[NO]] : i1
// CHECK-NEXT: } else {
// CHECK: kina.slice
// CHECK: kina.condition(%[[C]])
kina.func @condition(%x: !kina.tensor<f64, [4]>, %limit: f64) -> f64 {
  %zero = kina.constant 0 : i32
  %r = kina.handle -> (f64) {
    %l = kina.while (%i = %zero) : i32 {
      %at = kina.cast %i : i32 to index
      %v = kina.slice %x[%at] sizes [#kina.dim<1>] dropped [0] : <f64, [4]> to f64
      %c = kina.cmp lt, %v, %limit : f64
      kina.condition(%c)
    } do {
    ^bb0(%i: i32):
      %one = kina.constant 1 : i32
      %s = kina.perform @Exit::@Stop(%limit : f64) -> (f64)
      %next = kina.add %i, %one : i32
      kina.yield %next : i32
    }
    kina.yield %limit : f64
  } return {
  ^bb0(%y: f64):
    kina.yield %y : f64
  } cases [@Exit::@Stop] {
  ^bb0(%v: f64, %k: !kina.cont<f64 -> (f64)>):
    %c = kina.cmp lt, %v, %limit : f64
    %w = kina.if %c -> (f64) {
      %t = kina.resume %k(%v : f64) : <f64 -> (f64)> -> f64
      kina.yield %t : f64
    } else {
      kina.yield %v : f64
    }
    kina.yield %w : f64
  }
  kina.return %r : f64
}

// Variables in branches and loops, and one that is local to a loop's body.
// CHECK-LABEL: kina.func @variables
// CHECK-SAME: %[[X:.*]]: f64, %[[N:.*]]: i32
// CHECK-NOT: kina.ref
// CHECK: %[[R:.*]]:2 = kina.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[X]]) : i32, f64
// CHECK: ^bb0(%[[I:.*]]: i32, %[[V:.*]]: f64):
// CHECK: %[[NEW:.*]] = kina.if %{{.*}} -> (f64) {
// CHECK-NEXT: %[[SUM:.*]] = kina.add %[[V]], %[[V]] : f64
// CHECK-NEXT: kina.yield %[[SUM]] : f64
// CHECK-NEXT: } else {
// CHECK-NEXT: kina.yield %[[V]] : f64
// CHECK: kina.yield %{{.*}}, %[[NEW]] : i32, f64
// CHECK: kina.return %[[R]]#1 : f64
kina.func @variables(%x: f64, %n: i32) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %r = kina.ref %x : f64
  %l = kina.while (%i = %zero) : i32 {
    %c = kina.cmp lt, %i, %n : i32
    kina.condition(%c)
  } do {
  ^bb0(%i: i32):
    %local = kina.ref %i : i32
    %c = kina.cmp lt, %i, %one : i32
    kina.if %c {
      %v = kina.deref %r : f64
      %s = kina.add %v, %v : f64
      kina.assign %r, %s : f64
      kina.yield
    }
    %next = kina.add %i, %one : i32
    kina.assign %local, %next : i32
    %again = kina.deref %local : i32
    kina.yield %again : i32
  }
  %v = kina.deref %r : f64
  kina.return %v : f64
}
