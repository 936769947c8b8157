// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Dimensions as values, obligations, facts.

// CHECK-LABEL: kina.func @refinements
kina.func @refinements(%x: !kina.tensor<f64, [N, M]>, %n: index, %k: i32, %c: i1) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // CHECK: kina.dim <4*N> : index
  %0 = kina.dim <4*N> : index
  // CHECK: kina.dim <M + N> : f64
  %1 = kina.dim <N + M> : f64
  // CHECK: kina.bind_dim "K" = %{{.*}} : index
  kina.bind_dim "K" = %n : index
  // CHECK: kina.bind_dim "L" = %{{.*}} : i32
  kina.bind_dim "L" = %k : i32
  // CHECK: kina.obligation shapes_equal <N = M>, "operands of +"
  kina.obligation shapes_equal <N = M>, "operands of +"
  // CHECK: kina.obligation contraction <K = M>, "a"
  kina.obligation contraction <K = M>, "a"
  // CHECK: kina.obligation element_count <M*N = 4>, "a"
  kina.obligation element_count <N*M = 4>, "a"
  // CHECK: kina.obligation precondition <2 le N>, "a"
  kina.obligation precondition <2 le N>, "a"
  // CHECK: kina.obligation divisor <1 le N>, "a"
  kina.obligation divisor <1 le N>, "a"
  // CHECK: kina.obligation bounds <N lt M>, "a"
  kina.obligation bounds <N lt M>, "a"
  // CHECK: kina.obligation nonempty <0 lt N>, "a"
  kina.obligation nonempty <0 lt N>, "a"
  // CHECK: kina.obligation check <N ne 3>, "a"
  kina.obligation check <N ne 3>, "a"
  // CHECK: kina.assume <N = 3 or M = 4>
  kina.assume <N = 3 or M = 4>
  // CHECK: kina.assume trusted <not (N = 3)>
  kina.assume trusted <not (N = 3)>
  // CHECK: kina.check %{{.*}}, "must hold"
  kina.check %c, "must hold"
  kina.return
}
