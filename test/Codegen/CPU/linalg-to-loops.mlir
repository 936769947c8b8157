// RUN: kina-opt %s --kina-linalg-to-loops | FileCheck %s

// i-k-j: the rows of B and C are walked in order.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<8x16xf32>, %[[C:.*]]: memref<4x16xf32>
func.func @matmul(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %c4
  // CHECK: scf.for %[[K:.*]] = %{{.*}} to %c8
  // CHECK: scf.for %[[J:.*]] = %{{.*}} to %c16
  // CHECK-DAG: memref.load %[[A]][%[[I]], %[[K]]]
  // CHECK-DAG: memref.load %[[B]][%[[K]], %[[J]]]
  // CHECK-DAG: memref.load %[[C]][%[[I]], %[[J]]]
  // CHECK: memref.store %{{.*}}, %[[C]][%[[I]], %[[J]]]
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// B is transposed: the contraction is innermost, its sum in a register.
// CHECK-LABEL: func.func @matmul_nt(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<16x8xf32>, %[[C:.*]]: memref<4x16xf32>
func.func @matmul_nt(%a: memref<4x8xf32>, %b: memref<16x8xf32>, %c: memref<4x16xf32>) {
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %c4
  // CHECK: scf.for %[[J:.*]] = %{{.*}} to %c16
  // CHECK: %[[INIT:.*]] = memref.load %[[C]][%[[I]], %[[J]]]
  // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %c8 {{.*}} iter_args(%[[ACC:.*]] = %[[INIT]])
  // CHECK-NOT: memref.store
  // CHECK: scf.yield
  // CHECK: memref.store %[[SUM]], %[[C]][%[[I]], %[[J]]]
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                 affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<4x8xf32>, memref<16x8xf32>) outs(%c : memref<4x16xf32>)
  return
}

// CHECK-LABEL: func.func @sum_all
func.func @sum_all(%x: memref<4x8xf64>, %r: memref<f64>) {
  // CHECK: %[[INIT:.*]] = memref.load %{{.*}}[] : memref<f64>
  // CHECK: %[[S:.*]] = scf.for %{{.*}} = %{{.*}} to %c4 {{.*}} iter_args(%[[A:.*]] = %[[INIT]])
  // CHECK: %[[T:.*]] = scf.for %{{.*}} = %{{.*}} to %c8 {{.*}} iter_args(%{{.*}} = %[[A]])
  // CHECK: scf.yield %[[T]]
  // CHECK: memref.store %[[S]]
  linalg.reduce { arith.addf } ins(%x : memref<4x8xf64>) outs(%r : memref<f64>) dimensions = [0, 1]
  return
}

// A strided copy becomes loops, a compact one stays.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: memref<4xf32, strided<[2]>>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // CHECK: scf.for
  memref.copy %x, %y : memref<4xf32, strided<[2]>> to memref<4xf32>
  // CHECK: memref.copy
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  return
}

// Sums of f32 go to 64 partial sums in turn, which are then added in halves. Along rows the inner
// loop runs over partial sums; the second row goes on where the first one ended.
// CHECK-LABEL: func.func @sum_f32(
// CHECK-SAME: %[[X:.*]]: memref<4x8xf32>, %[[R:.*]]: memref<f32>
func.func @sum_f32(%x: memref<4x8xf32>, %r: memref<f32>) {
  // CHECK: %[[P:.*]] = memref.alloca() : memref<2048xf64>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %c4{{.*}} iter_args(%[[LANE:.*]] = %{{.*}}) -> (index)
  // CHECK: scf.for %[[FIRST:.*]] =
  // CHECK: scf.for %[[PLACE:.*]] =
  // CHECK: %[[K:.*]] = arith.addi %[[FIRST]], %[[PLACE]]
  // CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]], %[[K]]]
  // CHECK: %[[T:.*]] = arith.extf %[[V]] : f32 to f64
  // CHECK: %[[OLD:.*]] = memref.load %[[P]][%[[PLACE]]]
  // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[T]] : f64
  // CHECK: memref.store %[[NEW]], %[[P]][%[[PLACE]]]
  // CHECK: scf.for %[[LEVEL:.*]] = %{{.*}} to %c6
  // CHECK: %[[HALF:.*]] = arith.shrui %c32{{.*}}, %[[LEVEL]]
  // CHECK: scf.for
  // CHECK: %[[TOTAL:.*]] = arith.truncf %{{.*}} : f64 to f32
  // CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[TOTAL]] : f32
  // CHECK: memref.store %[[SUM]], %[[R]][] : memref<f32>
  linalg.reduce { arith.addf } ins(%x : memref<4x8xf32>) outs(%r : memref<f32>) dimensions = [0, 1]
  return
}

// Along columns the inner loop runs over 32 neighbouring sums.
// CHECK-LABEL: func.func @sum_f32_columns(
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32>
func.func @sum_f32_columns(%x: memref<?x?xf32>, %r: memref<?xf32>) {
  // CHECK: memref.alloca() : memref<2048xf64>
  // CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %c32
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[LANE:.*]] =
  // CHECK: scf.for %[[C:.*]] =
  // CHECK: %[[J:.*]] = arith.addi %[[FIRST]], %[[C]]
  // CHECK: memref.load %[[X]][%[[K]], %[[J]]]
  linalg.reduce { arith.addf } ins(%x : memref<?x?xf32>) outs(%r : memref<?xf32>) dimensions = [0]
  return
}
