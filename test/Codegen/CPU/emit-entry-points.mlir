// RUN: kina-opt %s --kina-emit-entry-points | FileCheck %s
// RUN: kina-opt %s --kina-emit-entry-points=module=net | FileCheck %s --check-prefix=NAMED

// A module with a name has its version as well, and nothing under the general name.
// NAMED-NOT: _kina_entry
// NAMED: llvm.func @net_f
// NAMED-NOT: _kina_entry
// NAMED: llvm.mlir.global external constant @net_kina_abi_version(1 : i32)

// The static sizes of a parameter are checked, the others are left open.
// CHECK: llvm.mlir.global internal constant @{{.*}}(dense<[4, -9223372036854775808]>

// Private functions get no entry, and every function loses its name.
// CHECK-NOT: @_kina_entry_helper
// CHECK: func.func private @_kina_function_helper
func.func private @helper() {
  return
}

// CHECK: func.func private @_kina_function_f(
// CHECK-NOT: kina.
// CHECK: return
// CHECK: llvm.func internal @_kina_body_f(%[[ARGS:.*]]: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
// An f32 matrix: kDLFloat * 256 + 32, rank 2.
// CHECK: %[[DTYPE:.*]] = llvm.mlir.constant(544 : i32)
// CHECK: llvm.call @kina_rt_argument(%[[ARGS]], %{{.*}}, %[[DTYPE]],
// Bytes that the typed signature calls unsigned: kDLUInt * 256 + 8.
// CHECK: %[[UNSIGNED:.*]] = llvm.mlir.constant(264 : i32)
// CHECK: llvm.call @kina_rt_argument(%[[ARGS]], %{{.*}}, %[[UNSIGNED]],
// A boolean is a byte that is not 0: kDLBool * 256 + 8.
// CHECK: %[[BOOL:.*]] = llvm.mlir.constant(1544 : i32)
// CHECK: llvm.call @kina_rt_argument(%[[ARGS]], %{{.*}}, %[[BOOL]],
// CHECK: llvm.icmp "ne"
// CHECK: call @_kina_function_f
// CHECK: llvm.call @kina_rt_result(%[[RESULTS]]
// CHECK: llvm.func @_kina_entry_f
func.func @f(%x: memref<4x?xf32> {kina.name = "x"}, %b: memref<?xi8>, %c: i1) -> memref<4x?xf32>
    attributes {kina.function_type = (!kina.tensor<f32, [4, N]>, !kina.tensor<ui8, [N]>, i1)
                                     -> (!kina.tensor<f32, [4, N]>)} {
  return %x : memref<4x?xf32>
}
