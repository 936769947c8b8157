// RUN: kina-opt %s --kina-codegen-cpu --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// An update in place: nothing is allocated and nothing copied in the loop.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[G:.*]]: memref<?xf64>
func.func @step(%x: tensor<?xf64>, %g: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = tensor.dim %x, %c0 : tensor<?xf64>
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: memref.copy %[[X]], %[[A]]
  // CHECK: scf.while
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<?xf64>) -> (index, tensor<?xf64>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %a : index, tensor<?xf64>
  } do {
  ^bb0(%i: index, %a: tensor<?xf64>):
    // CHECK-NOT: memref.alloc
    // CHECK-NOT: memref.copy
    // CHECK: memref.store %{{.*}}, %[[A]]
    // CHECK-NOT: memref.alloc
    // CHECK-NOT: memref.copy
    %e = tensor.empty(%size) : tensor<?xf64>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a, %g : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) {
    ^bb0(%p: f64, %q: f64, %o: f64):
      %t = arith.subf %p, %q : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %s : index, tensor<?xf64>
  }
  // CHECK: return %[[A]]
  return %r#1 : tensor<?xf64>
}

// -----

// A matmul can't overwrite its operand: one scratch buffer, allocated before the loop.
// CHECK-LABEL: func.func @power
func.func @power(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>, %n: index) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  // CHECK-COUNT-2: memref.alloc
  // CHECK: scf.for
  // CHECK-NOT: memref.alloc
  // CHECK: math.fma
  // CHECK: memref.copy
  // CHECK: memref.dealloc
  // CHECK: return
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x?xf64> {
    %m = tensor.dim %a, %c0 : tensor<?x?xf64>
    %k = tensor.dim %a, %c1 : tensor<?x?xf64>
    %e = tensor.empty(%m, %k) : tensor<?x?xf64>
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
    %p = linalg.matmul ins(%a, %w : tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
    scf.yield %p : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}
