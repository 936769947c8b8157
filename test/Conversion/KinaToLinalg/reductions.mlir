// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func private @rows(
// CHECK:         %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f64)
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:      outs(%[[ZERO]] : tensor<?xf64>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f64, %[[ACC:.*]]: f64):
// CHECK-NEXT:      arith.addf %[[ACC]], %[[X]] : f64
// CHECK:         tensor.expand_shape %[[SUM]] {{\[}}[0, 1]] output_shape [%{{.*}}, 1]
kina.func private @rows(%x: !kina.tensor<f64, [M, N]>) -> !kina.tensor<f64, [M, 1]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.sum %x axes [1] keepdims : !kina.tensor<f64, [M, N]>
  kina.return %0 : !kina.tensor<f64, [M, 1]>
}

// Of everything it is a scalar.

// CHECK-LABEL: func.func private @everything(
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:         arith.maximumf
// CHECK:         %[[MAX:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK:         return %[[MAX]] : f32
kina.func private @everything(%x: !kina.tensor<f32, [M, N]>) -> f32 attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.reduce_max %x axes [0, 1] : !kina.tensor<f32, [M, N]>
  kina.return %0 : f32
}

// The mean divides by the number of elements; 16-bit floats sum in f32.

// CHECK-LABEL: func.func private @mean(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf16>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.addf %{{.*}} : f32
// CHECK:         %[[SUM:.*]] = tensor.extract
// CHECK:         %[[I:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK:         %[[COUNT:.*]] = arith.sitofp %[[I]] : i64 to f32
// CHECK:         %[[MEAN:.*]] = arith.divf %[[SUM]], %[[COUNT]] : f32
// CHECK:         arith.truncf %[[MEAN]] : f32 to f16
kina.func private @mean(%x: !kina.tensor<f16, [N]>) -> f16 attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.mean %x axes [0] : !kina.tensor<f16, [N]>
  kina.return %0 : f16
}

// CHECK-LABEL: func.func private @argmax(
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}}, %{{.*}} : tensor<?xi8>, tensor<?xi32>)
// CHECK:         linalg.index 1
// CHECK:         arith.cmpi ugt
kina.func private @argmax(%x: !kina.tensor<ui8, [M, N]>) -> !kina.tensor<i32, [M]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.argmax %x axis 1 : !kina.tensor<ui8, [M, N]>
  kina.return %0 : !kina.tensor<i32, [M]>
}

// A running sum is one loop that carries result and sum in place.

// CHECK-LABEL: func.func private @cumsum(
// CHECK:         scf.for %[[I:.*]] = {{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK:           tensor.extract_slice %{{.*}}[%[[I]], 0] [1, %{{.*}}] [1, 1]
// CHECK:           %[[NEXT:.*]] = linalg.generic {{.*}} outs(%[[SUM]] : tensor<?xf64>)
// CHECK:           tensor.insert_slice %[[NEXT]] into %[[OUT]][%[[I]], 0]
kina.func private @cumsum(%x: !kina.tensor<f64, [M, N]>) -> !kina.tensor<f64, [M, N]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.cumsum %x axis 0 : !kina.tensor<f64, [M, N]>
  kina.return %0 : !kina.tensor<f64, [M, N]>
}

// The state before an element is written, and then overwritten by the next.

// CHECK-LABEL: func.func private @recurrence(
// CHECK:         scf.for %[[J:.*]] = {{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %[[STATE:.*]] = %{{.*}})
// CHECK:           %[[I:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK:           tensor.insert_slice %[[STATE]] into %[[OUT]][%[[I]], 0]
// CHECK:           linalg.generic {{.*}} outs(%[[STATE]] : tensor<?xf64>)
// CHECK:             arith.mulf
// CHECK:             arith.addf
kina.func private @recurrence(%x: !kina.tensor<f64, [M, N]>, %y: !kina.tensor<f64, [M, N]>) -> !kina.tensor<f64, [M, N]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.recurrence %x, %y from 1 axis 0 reverse : !kina.tensor<f64, [M, N]>
  kina.return %0 : !kina.tensor<f64, [M, N]>
}

// CHECK-LABEL: func.func private @softmax(
// CHECK:         arith.maximumf
// CHECK:         arith.subf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
kina.func private @softmax(%x: !kina.tensor<f64, [M, N]>) -> !kina.tensor<f64, [M, N]> attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  %0 = kina.softmax %x axis 1 : !kina.tensor<f64, [M, N]>
  kina.return %0 : !kina.tensor<f64, [M, N]>
}
