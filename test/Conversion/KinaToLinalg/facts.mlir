// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s
// RUN: kina-opt %s --kina-lower-to-linalg --kina-codegen-cpu --kina-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// What was proved of a size alone is told to the optimiser; what would have to be computed, and could wrap, is not.

// CHECK-LABEL: func.func private @facts
// CHECK-SAME:    %[[X:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>
// CHECK:         %[[EIGHT:.*]] = arith.constant 8
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         %[[ATLEAST:.*]] = arith.cmpi sge, %[[N]], %[[EIGHT]]
// CHECK:         kina_rt.assume %[[ATLEAST]]
// CHECK:         arith.floordivsi %[[N]]
// CHECK:         %[[MULTIPLE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}}
// CHECK:         kina_rt.assume %[[MULTIPLE]]
// CHECK:         %[[M:.*]] = tensor.dim %[[Y]]
// CHECK:         %[[BELOW:.*]] = arith.cmpi sle, %[[N]], %[[M]]
// CHECK:         kina_rt.assume %[[BELOW]]
// CHECK-NOT:     kina_rt.assume
// LLVM-COUNT-2: llvm.intr.assume
// LLVM-NOT:     llvm.intr.assume
kina.func private @facts(%x: !kina.tensor<f64, [N]>, %y: !kina.tensor<f64, [M]>) -> f64 attributes {
    shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  kina.assume <8 le N and N mod 8 = 0>
  kina.assume <N le M>
  kina.assume <N*M le 100>
  kina.assume <N le M or M le 5>
  %0 = kina.sum %x axes [0] : !kina.tensor<f64, [N]>
  kina.return %0 : f64
}
kina.func @entry(%x: !kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.call @facts(%x, %x) subst {N = #kina.dim<N>, M = #kina.dim<N>} : (!kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>) -> f64
  kina.return %0 : f64
}
