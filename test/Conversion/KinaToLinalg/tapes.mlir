// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// A bounded tape is a tensor of its frames.
// CHECK-LABEL: func.func @bounded(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[I:.*]]: index)
// CHECK:         %[[T:.*]] = tensor.empty(%[[I]], %[[N:.*]]) : tensor<?x?xf32>
// CHECK:         %[[U:.*]] = tensor.insert_slice %[[X]] into %[[T]][%[[I]], 0] [1, %[[N]]] [1, 1]
// CHECK:         tensor.extract_slice %[[U]][%[[I]], 0] [1, %[[N]]] [1, 1]
kina.func @bounded(%x: !kina.tensor<f32, [N]>, %i: index) -> !kina.tensor<f32, [N]>
    attributes {shape_vars = [#kina.var<"N">]} {
  %t = kina.tape_new bound %i : !kina.tape<!kina.tensor<f32, [N]>, bounded>
  %u = kina.tape_push %t at %i, %x : !kina.tape<!kina.tensor<f32, [N]>, bounded>
  %r = kina.tape_read %u at %i : !kina.tape<!kina.tensor<f32, [N]>, bounded>
  kina.return %r : !kina.tensor<f32, [N]>
}

// A growable one is a tape of the run time, which goes through functions and branches.
// CHECK-LABEL: func.func private @tensors(
// CHECK-SAME:    %[[T:.*]]: memref<i8>, %[[X:.*]]: tensor<?x4xi8>, %[[I:.*]]: index, %[[C:.*]]: i1) -> (memref<i8>, tensor<?x4xi8>)
// CHECK:         %[[F:.*]] = kina_rt.tape_frame %[[T]][%[[I]]] (%[[N:.*]]) : memref<?x4xi8>
// CHECK:         bufferization.materialize_in_destination %[[X]] in writable %[[F]]
// CHECK:         %[[G:.*]] = kina_rt.tape_frame %[[T]][%[[I]]] (%[[N]]) : memref<?x4xi8>
// CHECK:         %[[S:.*]] = bufferization.to_tensor %[[G]] restrict : memref<?x4xi8> to tensor<?x4xi8>
// CHECK:         %[[R:.*]] = bufferization.alloc_tensor() copy(%[[S]]) : tensor<?x4xi8>
// CHECK:         %[[B:.*]] = scf.if %[[C]] -> (memref<i8>) {
// CHECK:           scf.yield %[[T]]
// CHECK:         } else {
// CHECK:           %[[NEW:.*]] = kina_rt.tape_new(%[[N]]) of memref<?x4xi8>
// CHECK:           scf.yield %[[NEW]]
// CHECK:         return %[[B]], %[[R]]
kina.func private @tensors(%t: !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>, %x: !kina.tensor<ui8, [N, 4]>,
                           %i: index, %c: i1)
    -> (!kina.tape<!kina.tensor<ui8, [N, 4]>, growable>, !kina.tensor<ui8, [N, 4]>)
    attributes {shape_vars = [#kina.var<"N">]} {
  %u = kina.tape_push %t at %i, %x : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>
  %r = kina.tape_read %u at %i : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>
  %b = kina.if %c -> (!kina.tape<!kina.tensor<ui8, [N, 4]>, growable>) {
    kina.yield %u : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>
  } else {
    %new = kina.tape_new : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>
    kina.yield %new : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>
  }
  kina.return %b, %r : !kina.tape<!kina.tensor<ui8, [N, 4]>, growable>, !kina.tensor<ui8, [N, 4]>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    %[[X:.*]]: i1, %[[I:.*]]: index) -> i1
// CHECK:         %[[T:.*]] = kina_rt.tape_new of memref<i1>
// CHECK:         %[[F:.*]] = kina_rt.tape_frame %[[T]][%[[I]]] : memref<i1>
// CHECK:         memref.store %[[X]], %[[F]][]
// CHECK:         %[[G:.*]] = kina_rt.tape_frame %[[T]][%[[I]]] : memref<i1>
// CHECK:         memref.load %[[G]][]
kina.func @scalars(%x: i1, %i: index) -> i1 {
  %t = kina.tape_new : !kina.tape<i1, growable>
  %u = kina.tape_push %t at %i, %x : !kina.tape<i1, growable>
  %r = kina.tape_read %u at %i : !kina.tape<i1, growable>
  kina.return %r : i1
}
