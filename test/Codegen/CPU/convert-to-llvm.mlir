// RUN: kina-opt %s --kina-convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// Functions, branches, scalars of `arith`, `math` and `index`, and buffers, with the allocation that
// --kina-finalize-llvm binds; no cast is left.

// CHECK-DAG: llvm.func @_mlir_memref_to_llvm_aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK-DAG: llvm.func @_mlir_memref_to_llvm_free(!llvm.ptr)

// CHECK-LABEL: llvm.func @roots(
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.call @_mlir_memref_to_llvm_aligned_alloc
// CHECK: llvm.br ^[[TEST:.*]](%{{.*}} : i64)
// CHECK: ^[[TEST]](%[[I:.*]]: i64):
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %{{.*}} : i64
// CHECK: llvm.cond_br %[[MORE]]
// CHECK: llvm.load {{.*}} -> f64
// CHECK: llvm.intr.sqrt
// CHECK: llvm.store {{.*}} : f64, !llvm.ptr
// CHECK: llvm.call @_mlir_memref_to_llvm_free
// CHECK: llvm.return %{{.*}} : f64
func.func @roots(%x: memref<?xf64>) -> f64 {
  %zero = arith.constant 0 : index
  %one = index.constant 1
  %n = memref.dim %x, %zero : memref<?xf64>
  %y = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf64>
  cf.br ^test(%zero : index)
^test(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %a = memref.load %x[%i] : memref<?xf64>
  %b = math.sqrt %a : f64
  memref.store %b, %y[%i] : memref<?xf64>
  %next = index.add %i, %one
  cf.br ^test(%next : index)
^end:
  %r = memref.load %y[%zero] : memref<?xf64>
  memref.dealloc %y : memref<?xf64>
  return %r : f64
}

// A call of a converted function in what is LLVM already, as entries are. The size of a buffer is read from its
// descriptor, without a detour through memory.
// CHECK-LABEL: llvm.func @size(
// CHECK-NOT: llvm.alloca
// CHECK: llvm.extractvalue %{{.*}}[3, 0]
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return
func.func @size(%x: memref<?xf64>) -> index {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf64>
  return %n : index
}

// CHECK-LABEL: llvm.func @_kina_body_next(
// CHECK: %[[NEXT:.*]] = llvm.call @next(%{{.*}}) : (i64) -> i64
// CHECK-NEXT: llvm.return %[[NEXT]] : i64
func.func @next(%i: index) -> index {
  %one = index.constant 1
  %r = index.add %i, %one
  return %r : index
}
llvm.func @_kina_body_next(%i: i64) -> i64 {
  %0 = builtin.unrealized_conversion_cast %i : i64 to index
  %1 = func.call @next(%0) : (index) -> index
  %2 = builtin.unrealized_conversion_cast %1 : index to i64
  llvm.return %2 : i64
}
