// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Functions, calls, module-level values.

// CHECK-LABEL: kina.func @nothing() {
// CHECK-NEXT: kina.return
kina.func @nothing() {
  kina.return
}

// CHECK: kina.func private @declared(!kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N", 0>]}
kina.func private @declared(!kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N", 0>]}

// CHECK-LABEL: kina.func public @everything
// CHECK-SAME: (%{{.*}}: !kina.tensor<f64, [M, K]> {kina.borrow, kina.name = "x"}, %{{.*}}: index {kina.dim = "M"}) -> (f64, index)
// CHECK-SAME: checkpoint = #kina.checkpoint<"k", 4>
// CHECK-SAME: custom_vjp = @declared
// CHECK-SAME: effects = [@Exit]
// CHECK-SAME: preconditions = [#kina.clause<<K mod 8 = 0 and 2 le M>, prove, "8 | K and M >= 2", #loc{{[0-9]*}}>]
// CHECK-SAME: shape_vars = [#kina.var<"M">, #kina.var<"K">]
kina.func public @everything(%x: !kina.tensor<f64, [M, K]> {kina.borrow, kina.name = "x"}, %m: index {kina.dim = "M"}) -> (f64, index)
    attributes {shape_vars = [#kina.var<"M">, #kina.var<"K">], effects = [@Exit], custom_vjp = @declared,
                checkpoint = #kina.checkpoint<"k", 4>,
                preconditions = [#kina.clause<<K mod 8 = 0 and 2 le M>, prove, "8 | K and M >= 2", loc("f.kina":3:7)>]} {
  // CHECK: kina.return %{{.*}}, %{{.*}} : f64, index
  %0 = kina.sum %x axes [0, 1] : !kina.tensor<f64, [M, K]>
  kina.return %0, %m : f64, index
}

// CHECK-LABEL: kina.func @calls
kina.func @calls(%x: !kina.tensor<f64, [2*L]>) -> f64 attributes {shape_vars = [#kina.var<"L">]} {
  // CHECK: kina.call @nothing() subst {} : () -> ()
  kina.call @nothing() subst {} : () -> ()
  // CHECK: kina.call @declared(%{{.*}}) subst {N = #kina.dim<2*L>} : (!kina.tensor<f64, [2*L]>) -> f64
  %0 = kina.call @declared(%x) subst {N = #kina.dim<2*L>} : (!kina.tensor<f64, [2*L]>) -> f64
  kina.return %0 : f64
}

// CHECK-LABEL: kina.global @pi : f64 {
kina.global @pi : f64 {
  %0 = kina.constant 3.14159 : f64
  // CHECK: kina.yield %{{.*}} : f64
  kina.yield %0 : f64
}
// CHECK: kina.global @weight : !kina.tensor<f64, [4, 4]>{{$}}
kina.global @weight : !kina.tensor<f64, [4, 4]>

// CHECK-LABEL: kina.func @globals
kina.func @globals() -> f64 {
  // CHECK: kina.get_global @weight : !kina.tensor<f64, [4, 4]>
  %0 = kina.get_global @weight : !kina.tensor<f64, [4, 4]>
  // CHECK: kina.get_global @pi : f64
  %1 = kina.get_global @pi : f64
  kina.return %1 : f64
}
