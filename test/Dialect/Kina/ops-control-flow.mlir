// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Branches, loops, rematerialised regions.

// CHECK-LABEL: kina.func @branch
kina.func @branch(%c: i1, %a: f64, %b: f64) -> f64 {
  // CHECK: kina.if %{{.*}} -> (f64, f64) {
  // CHECK: kina.yield %{{.*}}, %{{.*}} : f64, f64
  // CHECK: } else {
  // CHECK: kina.yield %{{.*}}, %{{.*}} : f64, f64
  %r:2 = kina.if %c -> (f64, f64) {
    kina.yield %a, %b : f64, f64
  } else {
    kina.yield %b, %a : f64, f64
  }
  // CHECK: kina.if %{{.*}} {
  // CHECK-NEXT: kina.drop
  // CHECK-NEXT: kina.yield
  // CHECK-NEXT: }
  // CHECK-NOT: else
  kina.if %c {
    kina.drop %a : f64
    kina.yield
  }
  // CHECK: kina.return
  kina.return %r#0 : f64
}

// CHECK-LABEL: kina.func @loop
kina.func @loop(%x0: !kina.tensor<f64, [N]>, %n: i32) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  // CHECK: %{{.*}}:2 = kina.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : !kina.tensor<f64, [N]>, i32 {
  // CHECK: kina.condition(%{{.*}})
  // CHECK: } do {
  // CHECK: ^bb0(%{{.*}}: !kina.tensor<f64, [N]>, %{{.*}}: i32):
  // CHECK: kina.yield %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>, i32
  // CHECK: } {checkpoint = #kina.checkpoint<"sqrt">, trip_bound = #kina.dim<2*N>}
  %r:2 = kina.while (%x = %x0, %i = %zero) : !kina.tensor<f64, [N]>, i32 {
    %c = kina.cmp lt, %i, %n : i32
    kina.condition(%c)
  } do {
  ^bb0(%x: !kina.tensor<f64, [N]>, %i: i32):
    %x1 = kina.sin %x : !kina.tensor<f64, [N]>
    %i1 = kina.add %i, %one : i32
    kina.yield %x1, %i1 : !kina.tensor<f64, [N]>, i32
  } {checkpoint = #kina.checkpoint<"sqrt">, trip_bound = #kina.dim<2*N>}
  kina.return %r#0 : !kina.tensor<f64, [N]>
}

// CHECK-LABEL: kina.func @extras
kina.func @extras(%x0: f64) -> f64 {
  // CHECK: %{{.*}}:2 = kina.while (%{{.*}} = %{{.*}}) : f64 -> (f64) {
  // CHECK: kina.condition(%{{.*}}) %{{.*}} : f64
  // CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: f64):
  %r:2 = kina.while (%x = %x0) : f64 -> (f64) {
    %e = kina.exp %x : f64
    %c = kina.cmp lt, %e, %x0 : f64
    kina.condition(%c) %e : f64
  } do {
  ^bb0(%x: f64, %e: f64):
    kina.yield %e : f64
  }
  // CHECK: kina.while () {
  kina.while () {
    %f = kina.constant false
    kina.condition(%f)
  } do {
    kina.yield
  }
  kina.return %r#1 : f64
}

// CHECK-LABEL: kina.func @remat
kina.func @remat(%x: f64) -> f64 {
  // CHECK: kina.remat -> (f64) {
  // CHECK: kina.yield %{{.*}} : f64
  %0 = kina.remat -> (f64) {
    %e = kina.exp %x : f64
    kina.yield %e : f64
  }
  kina.return %0 : f64
}
