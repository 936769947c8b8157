// RUN: kina-opt %s --kina-finalize-llvm | FileCheck %s

// CHECK: module attributes {{.*}}llvm.data_layout = "{{.+}}"{{.*}}llvm.target_triple = "{{.+}}"
// CHECK: llvm.func @kina_rt_alloc(i64, i64) -> (!llvm.ptr {llvm.noalias})
llvm.func @_mlir_memref_to_llvm_aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK: llvm.func @kina_rt_free(!llvm.ptr)
llvm.func @_mlir_memref_to_llvm_free(!llvm.ptr)

llvm.func @f(%n: i64) {
  // CHECK: llvm.call @kina_rt_alloc
  // CHECK: llvm.call @kina_rt_free
  %0 = llvm.call @_mlir_memref_to_llvm_aligned_alloc(%n, %n) : (i64, i64) -> !llvm.ptr
  llvm.call @_mlir_memref_to_llvm_free(%0) : (!llvm.ptr) -> ()
  llvm.return
}

// Other calls, and calls of a pointer, are not the allocation's.
// CHECK-LABEL: llvm.func @g
// CHECK-NEXT: llvm.call @f
// CHECK-NEXT: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (i64) -> ()
llvm.func @g(%n: i64, %p: !llvm.ptr) {
  llvm.call @f(%n) : (i64) -> ()
  llvm.call %p(%n) : !llvm.ptr, (i64) -> ()
  llvm.return
}
