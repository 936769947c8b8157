// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$BATCH_A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[$BATCH_B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$TURNED_B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$BATCH_C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// CHECK-LABEL: func.func private @plain(
// CHECK:         %[[ZERO:.*]] = linalg.fill
// CHECK:         linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      outs(%[[ZERO]] : tensor<?x?xf64>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f64, %[[Y:.*]]: f64, %[[ACC:.*]]: f64):
// CHECK-NEXT:      math.fma %[[X]], %[[Y]], %[[ACC]] : f64
kina.func private @plain(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [K, N]>) -> !kina.tensor<f64, [M, N]>
    attributes {shape_vars = [#kina.var<"M">, #kina.var<"K">, #kina.var<"N">]} {
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, N]>
  kina.return %0 : !kina.tensor<f64, [M, N]>
}

// The chain starts at the accumulator. A transposed right operand is copied into rows of results.

// CHECK-LABEL: func.func private @accumulate(
// CHECK-SAME:    %{{.*}}: tensor<2x4x3xf32>, %{{.*}}: tensor<2x5x4xf32>, %[[OUT:.*]]: tensor<2x3x5xf32>)
// CHECK-NOT:     linalg.fill
// CHECK:         %[[TURNED:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x5x4xf32>) outs(%{{.*}} : tensor<2x4x5xf32>) permutation = [0, 2, 1]
// CHECK:         linalg.generic {indexing_maps = [#[[$BATCH_A]], #[[$BATCH_B]], #[[$BATCH_C]]]
// CHECK-SAME:      outs(%[[OUT]] : tensor<2x3x5xf32>)
kina.func private @accumulate(%a: !kina.tensor<f32, [2, 4, 3]>, %b: !kina.tensor<f32, [2, 5, 4]>, %c: !kina.tensor<f32, [2, 3, 5]>) -> !kina.tensor<f32, [2, 3, 5]> {
  %0 = kina.matmul %a, %b transpose_a transpose_b outs %c : !kina.tensor<f32, [2, 3, 5]> : !kina.tensor<f32, [2, 4, 3]>, !kina.tensor<f32, [2, 5, 4]>
  kina.return %0 : !kina.tensor<f32, [2, 3, 5]>
}

// The copy would take as long as this product.

// CHECK-LABEL: func.func private @one_row(
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[$A]], #[[$TURNED_B]], #[[$C]]]
kina.func private @one_row(%a: !kina.tensor<f32, [1, K]>, %b: !kina.tensor<f32, [N, K]>) -> !kina.tensor<f32, [1, N]>
    attributes {shape_vars = [#kina.var<"K">, #kina.var<"N">]} {
  %0 = kina.matmul %a, %b transpose_b : !kina.tensor<f32, [1, K]>, !kina.tensor<f32, [N, K]>
  kina.return %0 : !kina.tensor<f32, [1, N]>
}

// bf16 accumulates in f32 to the end.

// CHECK-LABEL: func.func private @narrow(
// CHECK:         linalg.fill ins(%{{.*}} : f32)
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT:    math.fma {{.*}} : f32
// CHECK:         linalg.generic
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
kina.func private @narrow(%a: !kina.tensor<bf16, [2, 2]>) -> !kina.tensor<bf16, [2, 2]> {
  %0 = kina.matmul %a, %a : !kina.tensor<bf16, [2, 2]>, !kina.tensor<bf16, [2, 2]>
  kina.return %0 : !kina.tensor<bf16, [2, 2]>
}

// CHECK-LABEL: func.func private @integers(
// CHECK:         %[[P:.*]] = arith.muli
// CHECK-NEXT:    arith.addi %{{.*}}, %[[P]] : i32
kina.func private @integers(%a: !kina.tensor<i32, [2, 2]>) -> !kina.tensor<i32, [2, 2]> {
  %0 = kina.matmul %a, %a : !kina.tensor<i32, [2, 2]>, !kina.tensor<i32, [2, 2]>
  kina.return %0 : !kina.tensor<i32, [2, 2]>
}
