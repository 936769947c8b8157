// RUN: kina-opt %s --kina-lower-expand-shape | FileCheck %s
// RUN: kina-opt %s --kina-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// Two open sizes in one group, which upstream's expansion of metadata doesn't support.
// CHECK-LABEL: func.func @two_open
// CHECK-SAME: (%[[A:.*]]: memref<?x?xf64>, %[[M:.*]]: index, %[[N:.*]]: index, %[[K:.*]]: index)
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK: %[[ROW:.*]] = arith.muli %[[S]]#0, %[[N]]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[M]], %[[N]], %[[K]]],
// CHECK-SAME: strides: [%[[ROW]], %[[S]]#0, 1] : memref<f64> to memref<?x?x?xf64>
// LLVM-LABEL: llvm.func internal @_kina_function_two_open
// LLVM-NOT: memref
func.func @two_open(%a: memref<?x?xf64>, %m: index, %n: index, %k: index) -> memref<?x?x?xf64> {
  %e = memref.expand_shape %a [[0, 1], [2]] output_shape [%m, %n, %k]
      : memref<?x?xf64> into memref<?x?x?xf64>
  return %e : memref<?x?x?xf64>
}

// Strides and offset of the source count; what the type knows stays a number.
// CHECK-LABEL: func.func private @strided
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[S:.*]] = memref.extract_strided_metadata
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%{{.*}}, 4],
// CHECK-SAME: strides: [%{{.*}}, %[[S]]]
func.func private @strided(%a: memref<?xf32, strided<[?], offset: ?>>, %m: index)
    -> memref<?x4xf32, strided<[?, ?], offset: ?>> {
  %e = memref.expand_shape %a [[0, 1]] output_shape [%m, 4]
      : memref<?xf32, strided<[?], offset: ?>> into memref<?x4xf32, strided<[?, ?], offset: ?>>
  return %e : memref<?x4xf32, strided<[?, ?], offset: ?>>
}

// CHECK-LABEL: func.func @rank_0
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1, 1], strides: [1, 1]
// LLVM-LABEL: llvm.func internal @_kina_function_rank_0
func.func @rank_0(%a: memref<f32>) -> memref<1x1xf32> {
  %e = memref.expand_shape %a [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  return %e : memref<1x1xf32>
}
