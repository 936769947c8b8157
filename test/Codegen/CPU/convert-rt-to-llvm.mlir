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
