// RUN: kina-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @holds
func.func @holds() {
  // CHECK-NOT: kina_rt.check
  // CHECK: return
  %true = arith.constant true
  kina_rt.check %true, 803, "never"
  return
}

// Neither an unused check nor a repeated poll may disappear.
// CHECK-LABEL: func.func @stays
func.func @stays(%ok: i1) {
  // CHECK: kina_rt.check
  // CHECK-NEXT: kina_rt.poll
  // CHECK-NEXT: kina_rt.poll
  // CHECK-NEXT: return
  kina_rt.check %ok, 803, "index"
  kina_rt.poll
  kina_rt.poll
  return
}

// A frame that nobody uses is not asked for, nor a tape; no two tapes are the same.
// CHECK-LABEL: func.func @tapes
func.func @tapes(%i: index, %x: f32) -> (memref<i8>, memref<i8>) {
  // CHECK-NEXT: %[[A:.*]] = kina_rt.tape_new of memref<f32>
  // CHECK-NEXT: %[[B:.*]] = kina_rt.tape_new of memref<f32>
  // CHECK-NEXT: %[[F:.*]] = kina_rt.tape_frame %[[A]]
  // CHECK-NEXT: memref.store %{{.*}}, %[[F]]
  // CHECK-NEXT: return %[[A]], %[[B]]
  %a = kina_rt.tape_new of memref<f32>
  %b = kina_rt.tape_new of memref<f32>
  %c = kina_rt.tape_new of memref<f32>
  %f = kina_rt.tape_frame %a[%i] : memref<f32>
  memref.store %x, %f[] : memref<f32>
  %g = kina_rt.tape_frame %b[%i] : memref<f32>
  return %a, %b : memref<i8>, memref<i8>
}

// CHECK-LABEL: func.func @size_of_frame(
// CHECK-SAME: %{{.*}}: memref<i8>, %{{.*}}: index, %[[N:.*]]: index, %[[M:.*]]: index)
func.func @size_of_frame(%tape: memref<i8>, %i: index, %n: index, %m: index) -> index {
  // CHECK-NEXT: return %[[M]]
  %c2 = arith.constant 2 : index
  %frame = kina_rt.tape_frame %tape[%i](%n, %m) : memref<?x4x?xf32>
  %size = memref.dim %frame, %c2 : memref<?x4x?xf32>
  return %size : index
}
