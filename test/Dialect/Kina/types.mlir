// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Every type.

// CHECK-LABEL: kina.func private @tensors
// CHECK-SAME: (!kina.tensor<f64, [2, 3]>
// CHECK-SAME: !kina.tensor<f32, [N]>
// CHECK-SAME: !kina.tensor<f16, [N], @P>
// CHECK-SAME: !kina.tensor<bf16, [], @cuda:global(1)>
// CHECK-SAME: !kina.tensor<i64, [N, 0], @cuda:managed(0)>
// CHECK-SAME: !kina.tensor<i32, [D*H, 2*N + 1]>
// CHECK-SAME: !kina.tensor<i8, [1]>
// CHECK-SAME: !kina.tensor<ui8, [1]>
// CHECK-SAME: !kina.tensor<i1, [9223372036854775807]>
kina.func private @tensors(!kina.tensor<f64, [2, 3], @host>, !kina.tensor<f32, [N]>, !kina.tensor<f16, [N], @P>,
                           !kina.tensor<bf16, [], @cuda:global(1)>, !kina.tensor<i64, [N, 0], @cuda:managed(0)>,
                           !kina.tensor<i32, [H*D, 1 + N + N]>, !kina.tensor<i8, [1]>, !kina.tensor<ui8, [1]>,
                           !kina.tensor<i1, [9223372036854775807]>)
    attributes {shape_vars = [#kina.var<"N">, #kina.var<"H">, #kina.var<"D">]}

// CHECK-LABEL: kina.func private @others
// CHECK-SAME: (!kina.cont<none -> ()>, !kina.cont<tuple<f64, i32> -> (f64, !kina.cotangents)>, !kina.cotangents
// CHECK-SAME: !kina.tape<f64, bounded>
// CHECK-SAME: !kina.tape<!kina.tensor<f64, [3]>, growable>
kina.func private @others(!kina.cont<none -> ()>, !kina.cont<tuple<f64, i32> -> (f64, !kina.cotangents)>, !kina.cotangents,
                          !kina.tape<f64, bounded>, !kina.tape<!kina.tensor<f64, [3]>, growable>)
