// RUN: kina-opt %s --kina-codegen-cpu --kina-lower-to-llvm | FileCheck %s

// The target is set, whatever it is on this machine.
// CHECK: module attributes {{.*}}llvm.data_layout{{.*}}llvm.target_triple

// Texts and places become constants; the function keeps no public name of its own.
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("index {0}\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("f.kina\00")
// CHECK-DAG: llvm.func @kina_rt_fail(i32, !llvm.ptr, !llvm.ptr, i32, i32, i32, ...) attributes {passthrough = ["cold", "noreturn"]}

// CHECK: llvm.func internal @_kina_function_exp
// CHECK: llvm.call @kina_rt_fail
// CHECK: llvm.call @kina_rt_alloc
// CHECK: llvm.func internal @_kina_body_exp(%[[ARGS:.*]]: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
// CHECK: llvm.call @kina_rt_argument(%[[ARGS]]
// CHECK: llvm.call @_kina_function_exp
// CHECK: llvm.call @kina_rt_result(%[[RESULTS]]
// CHECK: llvm.func @_kina_entry_exp(%[[C:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[R:.*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[VERSION:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG: %[[BODY:.*]] = llvm.mlir.addressof @_kina_body_exp
// CHECK: llvm.call @kina_rt_call(%[[C]], %[[VERSION]], %[[BODY]], %[[A]], %[[R]])
func.func @exp(%x: tensor<?xf64>, %i: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %ok = arith.cmpi ult, %i, %n : index
  kina_rt.check %ok, 803, "index {0}" (%i) : index loc("f.kina":3:4)
  %r = tensor.insert %one into %x[%i] : tensor<?xf64>
  return %r : tensor<?xf64>
}
