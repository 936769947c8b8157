// RUN: kina-opt %s --kina-fuse-elementwise | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A chain of element-wise operations and the sum of its rows: one loop nest.
// CHECK-LABEL: func.func @into_reduction
func.func @into_reduction(%x: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A contraction reads each element many times: computing it there would repeat it.
// CHECK-LABEL: func.func @not_into_contraction
func.func @not_into_contraction(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %z: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK-NEXT: linalg.yield
  // CHECK: linalg.generic
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%z : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = math.fma %a, %b, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// Two users would compute it twice.
// CHECK-LABEL: func.func @two_users
func.func @two_users(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-1: math.exp
  // CHECK-NOT: math.exp
  // CHECK: return
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// What only gets an axis of size 1 goes into the box as it is, and is computed there later.
// CHECK-LABEL: func.func @into_box
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<2x?xf32>
func.func @into_box(%x: tensor<?xf32>, %y: tensor<2x?xf32>, %n: index) -> tensor<2x?xf32> {
  // CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %[[X]] into %[[Y]][1, 0] [1, %{{.*}}] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [1, %n] : tensor<?xf32> into tensor<1x?xf32>
  %1 = tensor.insert_slice %0 into %y[1, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<2x?xf32>
  return %1 : tensor<2x?xf32>
}
