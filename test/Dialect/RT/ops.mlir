// RUN: kina-opt %s | kina-opt | FileCheck %s

// CHECK-LABEL: func.func @check(
// CHECK-SAME: %[[OK:.*]]: i1, %[[I:.*]]: index, %[[N:.*]]: i32)
func.func @check(%ok: i1, %i: index, %n: i32) {
  // CHECK: kina_rt.check %[[OK]], 804, "division by zero"
  kina_rt.check %ok, 804, "division by zero"
  // CHECK: kina_rt.check %[[OK]], 803, "index {0} is outside of [0, {1})"(%[[I]], %[[N]]) : index, i32
  kina_rt.check %ok, 803, "index {0} is outside of [0, {1})" (%i, %n) : index, i32
  return
}

// CHECK-LABEL: func.func @poll
func.func @poll() {
  // CHECK: kina_rt.poll
  kina_rt.poll
  return
}

// CHECK-LABEL: func.func @in_generic
func.func @in_generic(%x: tensor<?xi32>, %init: tensor<?xi32>) -> tensor<?xi32> {
  // CHECK: linalg.generic
  // CHECK: kina_rt.check
  %c0 = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%init : tensor<?xi32>) {
  ^bb0(%a: i32, %out: i32):
    %ok = arith.cmpi ne, %a, %c0 : i32
    kina_rt.check %ok, 804, "division by zero"
    %q = arith.floordivsi %out, %a : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// CHECK-LABEL: func.func @tape(
// CHECK-SAME: %[[I:.*]]: index, %[[N:.*]]: index)
func.func @tape(%i: index, %n: index) {
  // CHECK: %[[A:.*]] = kina_rt.tape_new of memref<f32>
  %a = kina_rt.tape_new of memref<f32>
  // CHECK: kina_rt.tape_frame %[[A]][%[[I]]] : memref<f32>
  %f = kina_rt.tape_frame %a[%i] : memref<f32>
  // CHECK: %[[B:.*]] = kina_rt.tape_new(%[[N]]) of memref<?x4xf32>
  %b = kina_rt.tape_new(%n) of memref<?x4xf32>
  // CHECK: kina_rt.tape_frame %[[B]][%[[I]]] (%[[N]]) : memref<?x4xf32>
  %g = kina_rt.tape_frame %b[%i](%n) : memref<?x4xf32>
  return
}
