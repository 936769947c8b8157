// RUN: kina-opt %s --canonicalize | FileCheck %s

// A concatenation of one tensor is it.

// CHECK-LABEL: kina.func @concat_of_one(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !kina.tensor
// CHECK-NEXT:    kina.return %[[X]]
kina.func @concat_of_one(%x: !kina.tensor<f64, [N]>) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.concat %x axis 0 : !kina.tensor<f64, [N]>
  kina.return %0 : !kina.tensor<f64, [N]>
}

// Twice reversed along one axis, or along an axis of one element, nothing is.

// CHECK-LABEL: kina.func @flips(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !kina.tensor
// CHECK-NEXT:    %[[F:.*]] = kina.flip %[[X]] axis 0
// CHECK-NEXT:    %[[G:.*]] = kina.flip %[[F]] axis 1
// CHECK-NEXT:    kina.return %[[X]], %[[X]], %[[G]]
kina.func @flips(%x: !kina.tensor<f64, [N, M, 1]>) -> (!kina.tensor<f64, [N, M, 1]>, !kina.tensor<f64, [N, M, 1]>, !kina.tensor<f64, [N, M, 1]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  %0 = kina.flip %x axis 0 : !kina.tensor<f64, [N, M, 1]>
  %1 = kina.flip %0 axis 0 : !kina.tensor<f64, [N, M, 1]>
  %2 = kina.flip %x axis 2 : !kina.tensor<f64, [N, M, 1]>
  %3 = kina.flip %0 axis 1 : !kina.tensor<f64, [N, M, 1]>
  kina.return %1, %2, %3 : !kina.tensor<f64, [N, M, 1]>, !kina.tensor<f64, [N, M, 1]>, !kina.tensor<f64, [N, M, 1]>
}
