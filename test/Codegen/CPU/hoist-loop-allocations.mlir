// RUN: kina-opt %s --kina-hoist-loop-allocations | FileCheck %s

func.func private @use(memref<?xf32>)

// Out of both loops and the branch, with its size.
// CHECK-LABEL: func.func @scratch(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>
func.func @scratch(%x: memref<?xf32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[DIM:.*]] = memref.dim %[[X]]
  // CHECK: %[[SIZE:.*]] = arith.addi %[[DIM]]
  // CHECK: memref.alloc(%[[SIZE]])
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.if %c {
        // CHECK-NOT: memref.alloc
        %dim = memref.dim %x, %c0 : memref<?xf32>
        %size = arith.addi %dim, %c1 : index
        %a = memref.alloc(%size) : memref<?xf32>
        func.call @use(%a) : (memref<?xf32>) -> ()
      }
      scf.yield
    }
  }
  return
}

// A size that changes keeps it in the loop.
// CHECK-LABEL: func.func @size_changes
func.func @size_changes(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: memref.alloc
    %a = memref.alloc(%i) : memref<?xf32>
    func.call @use(%a) : (memref<?xf32>) -> ()
  }
  return
}

// What is carried to the next iteration is another buffer each time.
// CHECK-LABEL: func.func @carried
func.func @carried(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> memref<4xf32> {
    // CHECK: memref.alloc
    %b = memref.alloc() : memref<4xf32>
    %d = memref.cast %b : memref<4xf32> to memref<?xf32>
    %e = memref.cast %d : memref<?xf32> to memref<4xf32>
    scf.yield %e : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// The size of what a branch yields comes from before it.
// CHECK-LABEL: func @size_of_branch
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %{{.*}}: i1, %{{.*}}: index)
// CHECK: %[[N:.*]] = memref.dim %[[A]]
// CHECK: memref.alloc(%[[N]])
// CHECK: scf.for
// CHECK-NOT: memref.alloc(
// CHECK: return
func.func @size_of_branch(%a: memref<?xf32>, %c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %a, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = scf.if %c -> memref<?xf32> {
      %d = memref.alloc(%size) : memref<?xf32>
      func.call @use(%d) : (memref<?xf32>) -> ()
      scf.yield %d : memref<?xf32>
    } else {
      scf.yield %a : memref<?xf32>
    }
    %k = memref.dim %b, %c0 : memref<?xf32>
    %e = memref.alloc(%k) : memref<?xf32>
    memref.copy %b, %e : memref<?xf32> to memref<?xf32>
    func.call @use(%e) : (memref<?xf32>) -> ()
  }
  return
}

// The same through a selection and a cast.
// CHECK-LABEL: func.func @size_of_selection
// CHECK: memref.alloc(
// CHECK: scf.for
// CHECK-NOT: memref.alloc(
// CHECK: return
func.func @size_of_selection(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.if %c -> memref<?xf32, strided<[?], offset: ?>> {
      %d = arith.select %c, %a, %b : memref<?xf32>
      %v = memref.cast %d : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
      scf.yield %v : memref<?xf32, strided<[?], offset: ?>>
    } else {
      %v = memref.cast %a : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
      scf.yield %v : memref<?xf32, strided<[?], offset: ?>>
    }
    %k = memref.dim %s, %c0 : memref<?xf32, strided<[?], offset: ?>>
    %e = memref.alloc(%k) : memref<?xf32>
    memref.copy %s, %e : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32>
    func.call @use(%e) : (memref<?xf32>) -> ()
  }
  return
}

// A tape has frames in one arm only: its size is that of the arm that ran.
// CHECK-LABEL: func.func @size_of_tape
// CHECK: scf.for
// CHECK:   %[[T:.*]] = scf.if
// CHECK:   %[[N:.*]] = memref.dim %[[T]]
// CHECK:   memref.alloc(%[[N]])
func.func @size_of_tape(%c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = scf.if %c -> memref<?xf32> {
      %none = memref.alloc() : memref<0xf32>
      %a = memref.cast %none : memref<0xf32> to memref<?xf32>
      scf.yield %a : memref<?xf32>
    } else {
      %b = memref.alloc(%n) : memref<?xf32>
      func.call @use(%b) : (memref<?xf32>) -> ()
      scf.yield %b : memref<?xf32>
    }
    %k = memref.dim %t, %c0 : memref<?xf32>
    %e = memref.alloc(%k) : memref<?xf32>
    memref.copy %t, %e : memref<?xf32> to memref<?xf32>
    func.call @use(%e) : (memref<?xf32>) -> ()
  }
  return
}
