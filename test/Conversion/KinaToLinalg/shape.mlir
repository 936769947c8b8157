// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// CHECK-DAG: #[[$REPEAT:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func private @broadcast(
// CHECK:         linalg.generic {indexing_maps = [#[[$REPEAT]], #[[$ALL]]]
kina.func private @broadcast(%x: !kina.tensor<f64, [M, 1]>, %y: !kina.tensor<f64, [N]>) -> !kina.tensor<f64, [2, M, N]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.broadcast %x : !kina.tensor<f64, [M, 1]> to !kina.tensor<f64, [2, M, N]>
  kina.return %0 : !kina.tensor<f64, [2, M, N]>
}

// CHECK-LABEL: func.func private @fill(
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK:         linalg.fill ins(%[[X]] : f64)
kina.func private @fill(%x: f64) -> !kina.tensor<f64, [2]> {
  %0 = kina.broadcast %x : f64 to !kina.tensor<f64, [2]>
  kina.return %0 : !kina.tensor<f64, [2]>
}

// CHECK-LABEL: func.func private @transpose(
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0]
kina.func private @transpose(%x: !kina.tensor<f64, [M, N]>) -> !kina.tensor<f64, [N, M]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.transpose %x perm [1, 0] : !kina.tensor<f64, [M, N]>
  kina.return %0 : !kina.tensor<f64, [N, M]>
}

// Each input goes to its offset in one tensor; one that has no element goes nowhere.

// CHECK-LABEL: func.func private @concat(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf64>, %[[Y:.*]]: tensor<?x2xf64>, %{{.*}}: tensor<?x0xf64>
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[M]], %{{.*}})
// CHECK:         %[[FIRST:.*]] = tensor.insert_slice %[[X]] into %[[EMPTY]][0, 0] [%[[M]], %[[N]]] [1, 1]
// CHECK:         %[[LAST:.*]] = tensor.insert_slice %[[Y]] into %[[FIRST]][0, %[[N]]] [%[[M]], 2] [1, 1]
// CHECK-NEXT:    return %[[LAST]]
kina.func private @concat(%x: !kina.tensor<f64, [M, N]>, %y: !kina.tensor<f64, [M, 2]>, %z: !kina.tensor<f64, [M, 0]>) -> !kina.tensor<f64, [M, N + 2]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.concat %x, %z, %y axis 1 : !kina.tensor<f64, [M, N]>, !kina.tensor<f64, [M, 0]>, !kina.tensor<f64, [M, 2]>
  kina.return %0 : !kina.tensor<f64, [M, N + 2]>
}

// CHECK-LABEL: func.func private @flip(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xi8>
// CHECK:         linalg.generic
// CHECK-DAG:     %[[I:.*]] = linalg.index 0
// CHECK-DAG:     %[[J:.*]] = linalg.index 1
// CHECK:         %[[BACK:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:         tensor.extract %[[X]][%[[BACK]], %[[J]]]
kina.func private @flip(%x: !kina.tensor<ui8, [N, 3]>) -> !kina.tensor<ui8, [N, 3]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.flip %x axis 0 : !kina.tensor<ui8, [N, 3]>
  kina.return %0 : !kina.tensor<ui8, [N, 3]>
}

// Axes with equal products by normal form make a group.

// CHECK-LABEL: func.func private @groups(
// CHECK:         %[[C:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<?x?x6xf64> into tensor<?x6xf64>
// CHECK:         tensor.expand_shape %[[C]] {{\[}}[0], [1, 2]] output_shape [%{{.*}}, 2, 3] : tensor<?x6xf64> into tensor<?x2x3xf64>
kina.func private @groups(%x: !kina.tensor<f64, [A, B, 6]>) -> !kina.tensor<f64, [B*A, 2, 3]> attributes {shape_vars = [#kina.var<"A">, #kina.var<"B">]} {
  %0 = kina.reshape %x : !kina.tensor<f64, [A, B, 6]> to !kina.tensor<f64, [B*A, 2, 3]>
  kina.return %0 : !kina.tensor<f64, [B*A, 2, 3]>
}

// CHECK-LABEL: func.func private @checked(
// CHECK:         %[[OK:.*]] = arith.cmpi eq, %{{.*}} : index
// CHECK:         kina_rt.check %[[OK]], 801, "reshape changes the element count from {0} (A) to {1} (2*B)"
// CHECK:         tensor.expand_shape
kina.func private @checked(%x: !kina.tensor<f64, [A]>, %y: !kina.tensor<f64, [B]>) -> !kina.tensor<f64, [B, 2]> attributes {shape_vars = [#kina.var<"A">, #kina.var<"B">]} {
  %0 = kina.reshape %x checked : !kina.tensor<f64, [A]> to !kina.tensor<f64, [B, 2]>
  kina.return %0 : !kina.tensor<f64, [B, 2]>
}

// Several open sizes in a group: the shape is a tensor.

// CHECK-LABEL: func.func private @open(
// CHECK:         %[[SHAPE:.*]] = tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xindex>
// CHECK:         tensor.reshape %{{.*}}(%[[SHAPE]])
kina.func private @open(%x: !kina.tensor<f64, [A*B]>, %y: !kina.tensor<f64, [A, B]>) -> !kina.tensor<f64, [A, B]> attributes {shape_vars = [#kina.var<"A">, #kina.var<"B">]} {
  %0 = kina.reshape %x : !kina.tensor<f64, [A*B]> to !kina.tensor<f64, [A, B]>
  kina.return %0 : !kina.tensor<f64, [A, B]>
}

// CHECK-LABEL: func.func private @to_tensor(
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK-NEXT:    tensor.from_elements %[[X]] : tensor<1x1xf64>
kina.func private @to_tensor(%x: f64) -> !kina.tensor<f64, [1, 1]> {
  %0 = kina.reshape %x : f64 to !kina.tensor<f64, [1, 1]>
  kina.return %0 : !kina.tensor<f64, [1, 1]>
}

// CHECK-LABEL: func.func private @to_scalar(
// CHECK-SAME:    %[[X:.*]]: tensor<1x1xf64>
// CHECK:         tensor.extract %[[X]]
kina.func private @to_scalar(%x: !kina.tensor<f64, [1, 1]>) -> f64 {
  %0 = kina.reshape %x : !kina.tensor<f64, [1, 1]> to f64
  kina.return %0 : f64
}
