// RUN: kina-opt %s --kina-lower-to-linalg --split-input-file | FileCheck %s

// A scalar is computed directly, a tensor by a generic with the same body.

// CHECK-LABEL: func.func private @scalar(
// CHECK-SAME:    %[[X:.*]]: f64, %[[Y:.*]]: f64) -> f64
// CHECK:         %[[SUM:.*]] = arith.addf %[[X]], %[[Y]] : f64
// CHECK-NEXT:    %[[EXP:.*]] = math.exp %[[SUM]] : f64
// CHECK-NEXT:    return %[[EXP]] : f64
kina.func private @scalar(%x: f64, %y: f64) -> f64 {
  %0 = kina.add %x, %y : f64
  %1 = kina.exp %0 : f64
  kina.return %1 : f64
}

// CHECK-LABEL: func.func private @tensor(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xf64>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<?x3xf64>
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      ins(%[[X]], %[[X]] : tensor<?x3xf64>, tensor<?x3xf64>) outs(%[[EMPTY]] : tensor<?x3xf64>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f64
// CHECK-NEXT:      linalg.yield %[[SUM]]
kina.func private @tensor(%x: !kina.tensor<f64, [N, 3]>) -> !kina.tensor<f64, [N, 3]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.add %x, %x : !kina.tensor<f64, [N, 3]>
  kina.return %0 : !kina.tensor<f64, [N, 3]>
}

// 16-bit floats compute in f32 and round once.

// CHECK-LABEL: func.func private @narrow(
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[RESULT:.*]] = math.tanh %[[WIDE]] : f32
// CHECK:         arith.truncf %[[RESULT]] : f32 to f16
kina.func private @narrow(%x: f16) -> f16 {
  %0 = kina.tanh %x : f16
  kina.return %0 : f16
}

// ui8 is i8 with unsigned arithmetic.

// CHECK-LABEL: func.func private @unsigned(
// CHECK-SAME:    %[[X:.*]]: i8, %[[Y:.*]]: i8) -> (i8, i1, f32)
// CHECK:         arith.maxui %[[X]], %[[Y]] : i8
// CHECK:         arith.cmpi ult, %[[X]], %[[Y]] : i8
// CHECK:         arith.uitofp %[[X]] : i8 to f32
kina.func private @unsigned(%x: ui8, %y: ui8) -> (ui8, i1, f32) {
  %0 = kina.max %x, %y : ui8
  %1 = kina.cmp lt, %x, %y : ui8
  %2 = kina.cast %x : ui8 to f32
  kina.return %0, %1, %2 : ui8, i1, f32
}

// Integer division checks its divisor, and neither 0 nor -1 reaches the machine's division.

// CHECK-LABEL: func.func private @divide(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK:         %[[OK:.*]] = arith.cmpi ne, %[[Y]], %{{.*}} : i32
// CHECK:         kina_rt.check %[[OK]], 804, "division of {0} by zero"(%[[X]]) : i32
// CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]] : i32
// CHECK:         arith.divsi %[[X]], %[[SAFE]] : i32
kina.func private @divide(%x: i32, %y: i32) -> i32 {
  %0 = kina.div %x, %y : i32
  kina.return %0 : i32
}

// Copies, names and drops leave nothing.

// CHECK-LABEL: func.func private @identities(
// CHECK-SAME:    %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT:    return %[[X]] : tensor<2xf32>
kina.func private @identities(%x: !kina.tensor<f32, [2]>) -> !kina.tensor<f32, [2]> {
  %0 = kina.copy %x : !kina.tensor<f32, [2]>
  %1 = kina.detach %0 : !kina.tensor<f32, [2]>
  %2 = kina.watch %1 : !kina.tensor<f32, [2]>
  kina.drop %x : !kina.tensor<f32, [2]>
  kina.return %2 : !kina.tensor<f32, [2]>
}

// A scalar mask is captured.

// CHECK-LABEL: func.func private @choose(
// CHECK-SAME:    %[[MASK:.*]]: i1,
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.select %[[MASK]], %[[A]], %[[B]] : f32
kina.func private @choose(%m: i1, %x: !kina.tensor<f32, [2]>, %y: !kina.tensor<f32, [2]>) -> !kina.tensor<f32, [2]> {
  %0 = kina.select %m, %x, %y : i1, !kina.tensor<f32, [2]>
  kina.return %0 : !kina.tensor<f32, [2]>
}
