// RUN: kina-opt %s --kina-narrow-locations --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: kina-opt %s --kina-codegen-cpu --kina-lower-to-llvm=line-tables=true --mlir-print-debuginfo | FileCheck %s --check-prefix=SCOPES

// SCOPES: #llvm.di_compile_unit<{{.*}}emissionKind = LineTablesOnly
// SCOPES: #llvm.di_subprogram<{{.*}}"_kina_function_f"

// CHECK-LABEL: func.func @f
func.func @f(%x: f64) -> f64 {
  // CHECK: arith.addf {{.*}} loc("f.kina":3:4)
  %0 = arith.addf %x, %x : f64 loc("f.kina":3:4 to :9)
  // The callee's place.
  // CHECK: arith.mulf {{.*}} loc("g.kina":1:2)
  %1 = arith.mulf %0, %x : f64 loc(callsite("g.kina":1:2 to 3:4 at "f.kina":5:6))
  // CHECK: arith.subf {{.*}} loc("f.kina":7:1)
  %2 = arith.subf %1, %x : f64 loc(fused["named"("f.kina":7:1), "f.kina":8:1])
  // CHECK: arith.divf {{.*}} loc(unknown)
  %3 = arith.divf %2, %x : f64 loc(callsite(unknown at unknown))
  // CHECK: return {{.*}} loc("f.kina":9:1)
  return %3 : f64 loc(callsite(unknown at "f.kina":9:1))
// CHECK: loc("f.kina":2:1)
} loc("f.kina":2:1 to 10:1)
