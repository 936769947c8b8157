// RUN: kina-opt %s --kina-check-allocations | FileCheck %s

// CHECK-LABEL: func.func @open(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index)
func.func @open(%n: index, %m: index) {
  // 3 sizes of 8 bytes are known.
  // CHECK-DAG: %[[KNOWN:.*]] = arith.constant 24 : i64
  // CHECK: %[[A:.*]] = arith.index_cast %[[N]]
  // CHECK: %[[A1:.*]] = arith.maxui %[[A]]
  // CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[KNOWN]], %[[A1]]
  // CHECK: %[[B:.*]] = arith.index_cast %[[M]]
  // CHECK: %[[B1:.*]] = arith.maxui %[[B]]
  // CHECK: %[[BYTES:.*]], %[[HIGH1:.*]] = arith.mului_extended %[[LOW]], %[[B1]]
  // CHECK: %[[OVERFLOW:.*]] = arith.ori %[[HIGH]], %[[HIGH1]]
  // CHECK: %[[EXACT:.*]] = arith.cmpi eq, %[[OVERFLOW]]
  // CHECK: %[[SMALL:.*]] = arith.cmpi ule, %[[BYTES]]
  // CHECK: %[[OK:.*]] = arith.andi %[[EXACT]], %[[SMALL]]
  // CHECK: kina_rt.check %[[OK]], 806, "out of memory: a tensor of shape [{0}, 3, {1}] with 8-byte elements is wanted"(%[[N]], %[[M]])
  // CHECK-NEXT: memref.alloc(%[[N]], %[[M]])
  %0 = memref.alloc(%n, %m) : memref<?x3x?xf64>
  // The same sizes once more.
  // CHECK-NEXT: memref.alloc
  %1 = memref.alloc(%n, %m) : memref<?x3x?xf64>
  // CHECK: kina_rt.check
  %2 = memref.alloc(%m, %n) : memref<?x3x?xf64>
  return
}

// CHECK-LABEL: func.func @known
func.func @known() {
  // CHECK-NEXT: memref.alloc
  %0 = memref.alloc() : memref<4x0xf32>
  // CHECK: %[[NO:.*]] = arith.constant false
  // CHECK-NEXT: kina_rt.check %[[NO]], 806
  %1 = memref.alloc() : memref<4294967296x4294967296xi8>
  return
}

// A frame of a tape is a buffer as well.
// CHECK-LABEL: func.func @tape
func.func @tape(%n: index) {
  // CHECK: kina_rt.check %{{.*}}, 806, "out of memory: a tensor of shape [{0}, 3] with 4-byte elements is wanted"
  // CHECK-NEXT: kina_rt.tape_new
  %0 = kina_rt.tape_new(%n) of memref<?x3xf32>
  // CHECK-NEXT: kina_rt.tape_new of memref<3xf32>
  %1 = kina_rt.tape_new of memref<3xf32>
  return
}
