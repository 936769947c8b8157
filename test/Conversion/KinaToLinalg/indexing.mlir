// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// A box is checked axis by axis, unless it is known to lie inside or takes the whole axis.

// CHECK-LABEL: func.func private @slice(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf64>, %[[I:.*]]: index
// CHECK:         kina_rt.check %{{.*}}, 803, "index {0} is out of range for axis 0 (0-based) of size {1}"(%[[I]], %{{.*}})
// CHECK-NOT:     kina_rt.check
// CHECK:         tensor.extract_slice %[[X]][%[[I]], %{{.*}}] [1, %{{.*}}] [1, 1] : tensor<?x?xf64> to tensor<?xf64>
kina.func private @slice(%x: !kina.tensor<f64, [M, N]>, %i: index) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %z = kina.constant 0 : index
  %0 = kina.slice %x[%i, %z] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [N]>
  kina.return %0 : !kina.tensor<f64, [N]>
}

// CHECK-LABEL: func.func private @element(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf64>, %[[I:.*]]: index
// CHECK-NEXT:    tensor.extract %[[X]][%[[I]]]
kina.func private @element(%x: !kina.tensor<f64, [M]>, %i: index) -> f64 attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.slice %x[%i] sizes [#kina.dim<1>] dropped [0] in_bounds : !kina.tensor<f64, [M]> to f64
  kina.return %0 : f64
}

// CHECK-LABEL: func.func private @update(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf64>, %[[V:.*]]: tensor<2xf64>, %[[I:.*]]: index
// CHECK:         kina_rt.check %{{.*}}, 803, "slice of size {1} at offset {0} leaves axis 0 (0-based) of size {2}"
// CHECK:         tensor.insert_slice %[[V]] into %[[X]][%[[I]]] [2] [1]
kina.func private @update(%x: !kina.tensor<f64, [M]>, %v: !kina.tensor<f64, [2]>, %i: index) -> !kina.tensor<f64, [M]> attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.update %v into %x[%i] sizes [#kina.dim<2>] dropped [] : !kina.tensor<f64, [2]> into !kina.tensor<f64, [M]>
  kina.return %0 : !kina.tensor<f64, [M]>
}

// CHECK-LABEL: func.func private @gather(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf64>, %[[I:.*]]: tensor<?xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[I]] : tensor<?xi32>)
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           kina_rt.check %{{.*}}, 803
// CHECK:           tensor.extract %[[X]][%{{.*}}, %[[J]]]
kina.func private @gather(%x: !kina.tensor<f64, [V, R]>, %i: !kina.tensor<i32, [I]>) -> !kina.tensor<f64, [I, R]> attributes {shape_vars = [#kina.var<"V">, #kina.var<"R">, #kina.var<"I">]} {
  %0 = kina.gather %x at %i axis 0 : !kina.tensor<f64, [V, R]>, !kina.tensor<i32, [I]>
  kina.return %0 : !kina.tensor<f64, [I, R]>
}

// In index order, in place.

// CHECK-LABEL: func.func private @scatter_add(
// CHECK:         scf.for {{.*}} iter_args(%[[D:.*]] = %{{.*}})
// CHECK:           kina_rt.check %{{.*}}, 803
// CHECK:           %[[OLD:.*]] = tensor.extract_slice %[[D]]
// CHECK:           %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[OLD]] : tensor<?xf64>)
// CHECK:           tensor.insert_slice %[[NEW]] into %[[D]]
kina.func private @scatter_add(%x: !kina.tensor<f64, [V, R]>, %i: !kina.tensor<i32, [I]>, %v: !kina.tensor<f64, [I, R]>) -> !kina.tensor<f64, [V, R]> attributes {shape_vars = [#kina.var<"V">, #kina.var<"R">, #kina.var<"I">]} {
  %0 = kina.scatter_add %v into %x at %i axis 0 : !kina.tensor<f64, [I, R]> into !kina.tensor<f64, [V, R]>, !kina.tensor<i32, [I]>
  kina.return %0 : !kina.tensor<f64, [V, R]>
}

// CHECK-LABEL: func.func private @take_along(
// CHECK:         kina_rt.check %{{.*}}, 803
// CHECK:         tensor.extract
kina.func private @take_along(%x: !kina.tensor<f64, [A, B]>, %i: !kina.tensor<i32, [A, J]>) -> !kina.tensor<f64, [A, J]> attributes {shape_vars = [#kina.var<"A">, #kina.var<"B">, #kina.var<"J">]} {
  %0 = kina.take_along %x at %i axis 1 : !kina.tensor<f64, [A, B]>, !kina.tensor<i32, [A, J]>
  kina.return %0 : !kina.tensor<f64, [A, J]>
}

// One loop over all positions.

// CHECK-LABEL: func.func private @put_along_add(
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK:           tensor.insert
kina.func private @put_along_add(%x: !kina.tensor<f64, [A, B]>, %i: !kina.tensor<i32, [A, J]>, %v: !kina.tensor<f64, [A, J]>) -> !kina.tensor<f64, [A, B]> attributes {shape_vars = [#kina.var<"A">, #kina.var<"B">, #kina.var<"J">]} {
  %0 = kina.put_along_add %v into %x at %i axis 1 : !kina.tensor<f64, [A, J]> into !kina.tensor<f64, [A, B]>, !kina.tensor<i32, [A, J]>
  kina.return %0 : !kina.tensor<f64, [A, B]>
}
