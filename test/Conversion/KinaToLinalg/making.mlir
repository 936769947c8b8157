// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// CHECK-LABEL: func.func private @constants(
// CHECK:         arith.constant -56 : i8
// CHECK:         arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf64>
// CHECK:         tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xf64>
kina.func private @constants(%x: f64) -> (ui8, !kina.tensor<f64, [1, 2]>, !kina.tensor<f64, [2]>) {
  %0 = kina.constant 200 : ui8
  %1 = kina.constant 1.0 : f64
  %2 = kina.constant 2.0 : f64
  %3 = kina.from_elements %1, %2 : (f64, f64) -> !kina.tensor<f64, [1, 2]>
  %4 = kina.from_elements %1, %x : (f64, f64) -> !kina.tensor<f64, [2]>
  kina.return %0, %3, %4 : ui8, !kina.tensor<f64, [1, 2]>, !kina.tensor<f64, [2]>
}

// CHECK-LABEL: func.func private @iota(
// CHECK:         %[[I:.*]] = linalg.index 1
// CHECK:         %[[J:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:         arith.sitofp %[[J]] : i64 to f32
kina.func private @iota() -> !kina.tensor<f32, [2, 3]> {
  %0 = kina.iota 1 : !kina.tensor<f32, [2, 3]>
  kina.return %0 : !kina.tensor<f32, [2, 3]>
}

// CHECK-LABEL: func.func private @one_hot(
// CHECK:         ^bb0(%[[I:.*]]: i32, %{{.*}}: f32):
// CHECK:         %[[AT:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK:         %[[C:.*]] = linalg.index 1
// CHECK:         %[[HOT:.*]] = arith.cmpi eq, %[[AT]], %[[C]]
// CHECK:         arith.select %[[HOT]]
kina.func private @one_hot(%i: !kina.tensor<i32, [N]>) -> !kina.tensor<f32, [N, 10]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.one_hot %i : !kina.tensor<i32, [N]> to !kina.tensor<f32, [N, 10]>
  kina.return %0 : !kina.tensor<f32, [N, 10]>
}
