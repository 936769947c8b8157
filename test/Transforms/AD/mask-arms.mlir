// RUN: kina-opt %s --kina-mask-arms | FileCheck %s

// What enters the element-wise operations of an arm is detached where it is not chosen;
// once, also where a function of each element takes it. What nobody differentiates stays.
kina.func private @root(%x: !kina.tensor<f64, [N]>, %s: f64) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.sqrt %x : !kina.tensor<f64, [N]>
  %1 = kina.broadcast %s : f64 to <f64, [N]>
  %2 = kina.mul %0, %1 : !kina.tensor<f64, [N]>
  kina.return %2 : !kina.tensor<f64, [N]>
}
// CHECK-LABEL: kina.func private @each(
kina.func private @each(%m: !kina.tensor<i1, [N]>, %x: !kina.tensor<f64, [N]>, %s: f64) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: %[[D:.+]] = kina.detach %arg1
  // CHECK: %[[X:.+]] = kina.select %arg0, %arg1, %[[D]] :
  // CHECK: %[[A:.+]] = kina.call @root(%[[X]], %arg2)
  // CHECK: %[[B:.+]] = kina.mul %[[A]], %[[X]]
  // CHECK: %[[LOG:.+]] = kina.log
  // CHECK: kina.select %arg0, %[[B]], %[[LOG]] : !kina.tensor<i1, [N]>
  %a = kina.call @root(%x, %s) subst {N = #kina.dim<N>} : (!kina.tensor<f64, [N]>, f64) -> !kina.tensor<f64, [N]>
  %b = kina.mul %a, %x : !kina.tensor<f64, [N]>
  %c = kina.log %x : !kina.tensor<f64, [N]>
  %r = kina.select %m, %b, %c {kina.arms} : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
  kina.return %r : !kina.tensor<f64, [N]>
}

// Behind a sum an element counts for all of them, and so does one that leads elsewhere too.
// CHECK-LABEL: kina.func private @mixing(
kina.func private @mixing(%m: !kina.tensor<i1, [N]>, %x: !kina.tensor<f64, [N]>) -> (!kina.tensor<f64, [N]>, f64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: %[[SIN:.+]] = kina.sin %arg1
  // CHECK: %[[SUM:.+]] = kina.sum %[[SIN]]
  // CHECK: %[[WIDE:.+]] = kina.broadcast %[[SUM]]
  // CHECK-DAG: %[[D1:.+]] = kina.detach %[[WIDE]]
  // CHECK-DAG: %[[W:.+]] = kina.select %arg0, %[[D1]], %[[WIDE]] :
  // CHECK-DAG: %[[D2:.+]] = kina.detach %[[SIN]]
  // CHECK-DAG: %[[S:.+]] = kina.select %arg0, %[[D2]], %[[SIN]] :
  // CHECK: kina.div %[[S]], %[[W]]
  %zero = kina.constant 0.0 : f64
  %none = kina.broadcast %zero : f64 to <f64, [N]>
  %sin = kina.sin %x : !kina.tensor<f64, [N]>
  %sum = kina.sum %sin axes [0] : !kina.tensor<f64, [N]>
  %wide = kina.broadcast %sum : f64 to <f64, [N]>
  %c = kina.div %sin, %wide : !kina.tensor<f64, [N]>
  %r = kina.select %m, %none, %c {kina.arms} : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
  kina.return %r, %sum : !kina.tensor<f64, [N]>, f64
}

// CHECK-LABEL: kina.func private @plain(
kina.func private @plain(%m: !kina.tensor<i1, [N]>, %x: !kina.tensor<f64, [N]>) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK-NOT: kina.detach
  // CHECK: {kina.arms}
  %c = kina.log %x : !kina.tensor<f64, [N]>
  %r = kina.select %m, %c, %x {kina.arms} : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
  kina.return %r : !kina.tensor<f64, [N]>
}

kina.func public @pull(%m: !kina.tensor<i1, [N]>, %x: !kina.tensor<f64, [N]>, %s: f64, %d: !kina.tensor<f64, [N]>) -> (!kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.vjp @each(%m, %x, %s : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>, f64) of (%d : !kina.tensor<f64, [N]>)
      subst {N = #kina.dim<N>} wrt [1] -> !kina.tensor<f64, [N]>
  %one = kina.constant 1.0 : f64
  %1 = kina.vjp @mixing(%m, %x : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>) of (%d, %one : !kina.tensor<f64, [N]>, f64)
      subst {N = #kina.dim<N>} wrt [1] -> !kina.tensor<f64, [N]>
  kina.return %0, %1 : !kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>
}
