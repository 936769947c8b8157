// RUN: kina-opt %s --kina-bufferize | FileCheck %s

// An argument of a public function is copied before it is written.
// CHECK-LABEL: func.func @public(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[F:.*]]: f32) -> memref<4xf32>
func.func @public(%x: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: memref.copy %[[X]], %[[A]]
  // CHECK: memref.store %[[F]], %[[A]]
  %c0 = arith.constant 0 : index
  %r = tensor.insert %f into %x[%c0] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @copy
func.func @copy(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: memref.copy
  // CHECK-NOT: linalg.copy
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
