// RUN: kina-opt %s --kina-convert-rt-to-llvm | FileCheck %s

// Equal texts are one constant.
// CHECK-COUNT-2: llvm.mlir.global internal constant
// CHECK-NOT: llvm.mlir.global

// CHECK-LABEL: func.func @check(
// CHECK-SAME: %[[OK:.*]]: i1, %[[I:.*]]: index, %[[B:.*]]: i1, %[[N:.*]]: i32)
func.func @check(%ok: i1, %i: index, %b: i1, %n: i32) {
  // CHECK: %[[FAILED:.*]] = arith.xori %[[OK]]
  // CHECK: scf.if %[[FAILED]]
  // CHECK-DAG: %[[V0:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK-DAG: %[[V1:.*]] = arith.extui %[[B]] : i1 to i64
  // CHECK-DAG: %[[V2:.*]] = arith.extsi %[[N]] : i32 to i64
  // CHECK: llvm.call @kina_rt_fail({{.*}}, %[[V0]], %[[V1]], %[[V2]]) vararg
  kina_rt.check %ok, 803, "text" (%i, %b, %n) : index, i1, i32 loc("f.kina":3:4)
  kina_rt.check %ok, 803, "text" loc("f.kina":5:4)
  return
}

// CHECK-LABEL: func.func @poll
func.func @poll() {
  // CHECK-DAG: %[[LINE:.*]] = llvm.mlir.constant(9 : i32)
  // CHECK-DAG: %[[COLUMN:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @kina_rt_poll(%{{.*}}, %[[LINE]], %[[COLUMN]])
  kina_rt.poll loc("f.kina":9:2)
  return
}

// CHECK-LABEL: func.func @tape(
// CHECK-SAME: %[[I:.*]]: index, %[[N:.*]]: index)
func.func @tape(%i: index, %n: index) -> memref<?x4xf16> {
  // CHECK: %[[WIDTH:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: %[[N64:.*]] = arith.index_cast %[[N]] : index to i64
  // CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
  // CHECK: %[[P:.*]] = llvm.mul %[[WIDTH]], %[[N64]]
  // CHECK: %[[BYTES:.*]] = llvm.mul %[[P]], %[[FOUR]]
  // CHECK: llvm.call @kina_rt_tape_new(%[[BYTES]]) : (i64) -> !llvm.ptr
  // CHECK: %[[TAPE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<i8>
  %tape = kina_rt.tape_new(%n) of memref<?x4xf16>
  // CHECK: memref.extract_aligned_pointer_as_index %[[TAPE]]
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr
  // CHECK: %[[AT:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK: llvm.call @kina_rt_tape_frame(%[[POINTER]], %[[AT]]) : (!llvm.ptr, i64) -> !llvm.ptr
  // CHECK: %[[FRAME:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x4xf16>
  // CHECK: return %[[FRAME]]
  %frame = kina_rt.tape_frame %tape[%i](%n) : memref<?x4xf16>
  return %frame : memref<?x4xf16>
}
