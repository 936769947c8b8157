// RUN: kina-opt %s --kina-resolve-carried-copies --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A swap needs one scratch tensor, which the loop carries.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>
func.func @swap(%x: tensor<?xf64>, %y: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[SIZE:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[SIZE]])
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]], %[[S:.*]] = %[[EMPTY]])
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y)
      -> (tensor<?xf64>, tensor<?xf64>) {
    // CHECK-NEXT: %[[SAVED:.*]] = linalg.copy ins(%[[B]] : {{.*}}) outs(%[[S]] :
    // CHECK-NEXT: %[[NEWB:.*]] = linalg.copy ins(%[[A]] : {{.*}}) outs(%[[B]] :
    // CHECK-NEXT: %[[NEWA:.*]] = linalg.copy ins(%[[SAVED]] : {{.*}}) outs(%[[A]] :
    // CHECK-NEXT: scf.yield %[[NEWA]], %[[NEWB]], %[[SAVED]]
    scf.yield %b, %a : tensor<?xf64>, tensor<?xf64>
  }
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Fibonacci is no cycle: the old value is moved before it is overwritten. The sum would like to
// be computed in place.
// CHECK-LABEL: func.func @fibonacci
func.func @fibonacci(%x: tensor<8xf64>, %y: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: tensor.empty
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y)
      -> (tensor<8xf64>, tensor<8xf64>) {
    // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[B]] :
    // CHECK: %[[NEWA:.*]] = linalg.copy ins(%[[B]] : {{.*}}) outs(%[[A]] :
    // CHECK: %[[NEWB:.*]] = linalg.copy ins(%[[SUM]] : {{.*}}) outs(%[[B]] :
    // CHECK: scf.yield %[[NEWA]], %[[NEWB]]
    %e = tensor.empty() : tensor<8xf64>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) {
    ^bb0(%p: f64, %q: f64, %o: f64):
      %t = arith.addf %p, %q : f64
      linalg.yield %t : f64
    } -> tensor<8xf64>
    scf.yield %b, %s : tensor<8xf64>, tensor<8xf64>
  }
  return %r#1 : tensor<8xf64>
}

// -----

// What doesn't change needs nothing, nor does a loop of scalars.
// CHECK-LABEL: func.func @unchanged
func.func @unchanged(%x: tensor<8xf64>, %n: index) -> (tensor<8xf64>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: linalg.copy
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<8xf64>) -> (index, tensor<8xf64>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %a : index, tensor<8xf64>
  } do {
  ^bb0(%i: index, %a: tensor<8xf64>):
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %a : index, tensor<8xf64>
  }
  // CHECK: return
  return %r#1, %r#0 : tensor<8xf64>, index
}

// -----

// A tensor that the condition computes gets a slot; carried values come first.
// CHECK-LABEL: func.func @condition_computes
// CHECK-SAME: %[[X:.*]]: tensor<8xf64>
func.func @condition_computes(%x: tensor<8xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 9.0 : f64
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8xf64>
  // CHECK: scf.while (%[[A:.*]] = %[[X]], %[[S:.*]] = %[[EMPTY]])
  %r:2 = scf.while (%a = %x) : (tensor<8xf64>) -> (f64, tensor<8xf64>) {
    %v = tensor.extract %a[%c0] : tensor<8xf64>
    %c = arith.cmpf olt, %v, %limit : f64
    // CHECK: %[[D:.*]] = tensor.insert
    %d = tensor.insert %limit into %a[%c0] : tensor<8xf64>
    // CHECK: %[[D2:.*]] = linalg.copy ins(%[[D]] : {{.*}}) outs(%[[S]] :
    // CHECK: scf.condition(%{{.*}}) %[[A]], %[[D2]], %{{.*}} : tensor<8xf64>, tensor<8xf64>, f64
    scf.condition(%c) %v, %d : f64, tensor<8xf64>
  } do {
  // CHECK: ^bb0(%[[A3:.*]]: tensor<8xf64>, %[[S3:.*]]: tensor<8xf64>, %{{.*}}: f64)
  ^bb0(%v: f64, %d: tensor<8xf64>):
    // CHECK: %[[NEW:.*]] = linalg.copy ins(%[[S3]] : {{.*}}) outs(%{{.*}} :
    // CHECK: scf.yield %{{.*}}, %[[S3]]
    scf.yield %d : tensor<8xf64>
  }
  return %r#0 : f64
}

// -----

// A branch writes the carried value at its end; the other one leaves it.
// CHECK-LABEL: func.func @branch
func.func @branch(%x: tensor<8xf64>, %c: i1, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f64
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] =
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf64> {
    // CHECK: scf.if
    %s = scf.if %c -> tensor<8xf64> {
      // CHECK: %[[W:.*]] = tensor.insert
      // CHECK: %[[W2:.*]] = linalg.copy ins(%[[W]] : {{.*}}) outs(%[[A]] :
      // CHECK: scf.yield %[[W2]]
      %w = tensor.insert %f into %a[%i] : tensor<8xf64>
      scf.yield %w : tensor<8xf64>
    } else {
      // CHECK: else
      // CHECK-NEXT: scf.yield %[[A]]
      scf.yield %a : tensor<8xf64>
    }
    scf.yield %s : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}

// -----

// Here the old value is still needed after the branch, so that it gets a scratch tensor.
// CHECK-LABEL: func.func @branch_read_later
func.func @branch_read_later(%x: tensor<8xf64>, %c: i1, %n: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f64
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] =
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x)
      -> (tensor<8xf64>, tensor<8xf64>) {
    // CHECK: %[[E:.*]] = tensor.empty
    // CHECK: scf.if
    // CHECK: linalg.copy ins(%{{.*}} : {{.*}}) outs(%[[E]] :
    // CHECK: else
    // CHECK: linalg.copy ins(%[[A]] : {{.*}}) outs(%[[E]] :
    %s = scf.if %c -> tensor<8xf64> {
      %w = tensor.insert %f into %a[%i] : tensor<8xf64>
      scf.yield %w : tensor<8xf64>
    } else {
      scf.yield %a : tensor<8xf64>
    }
    // CHECK: tensor.extract %[[A]]
    %v = tensor.extract %a[%c0] : tensor<8xf64>
    %d = tensor.insert %v into %b[%c1] : tensor<8xf64>
    scf.yield %s, %d : tensor<8xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<8xf64>, tensor<8xf64>
}
