// RUN: kina-opt --kina-report-copies --split-input-file %s 2>&1 >/dev/null | FileCheck %s --implicit-check-not=remark: --implicit-check-not=note:

// One element of the copy is written, and the old values are read behind it.
func.func @read_after(%x: memref<?xf64>, %n: index, %v: f64) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = memref.dim %x, %zero : memref<?xf64>
  %y = memref.alloc(%size) : memref<?xf64>
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %v) -> (f64) {
    // CHECK: f.kina:1:1: remark: K0701: every iteration copies a whole tensor here
    memref.copy %x, %y : memref<?xf64> to memref<?xf64> loc("f.kina":1:1 to :9)
    memref.store %v, %y[%zero] : memref<?xf64> loc("f.kina":1:1 to :9)
    %a = memref.load %y[%one] : memref<?xf64>
    // CHECK: f.kina:1:12: note: what the tensor was before is read here
    %b = memref.load %x[%zero] : memref<?xf64> loc("f.kina":1:12 to :20)
    %t = arith.addf %a, %b : f64
    scf.yield %t : f64
  }
  return %r : f64
}

// -----

// All of the copy is written, and nothing of one that is not in a loop is worth a word.
func.func @whole(%x: memref<?xf64>, %y: memref<?xf64>, %n: index, %v: f64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  memref.copy %x, %y : memref<?xf64> to memref<?xf64> loc("f.kina":1:1 to :9)
  memref.store %v, %y[%zero] : memref<?xf64> loc("f.kina":1:1 to :9)
  scf.for %i = %zero to %n step %one {
    memref.copy %x, %y : memref<?xf64> to memref<?xf64> loc("f.kina":2:1 to :9)
    scf.for %j = %zero to %n step %one {
      memref.store %v, %y[%j] : memref<?xf64> loc("f.kina":2:1 to :9)
    }
  }
  return
}

// -----

// A part that is written through a view; a single element is not worth a word.
func.func @part(%x: memref<?xf64>, %y: memref<?xf64>, %s: memref<f64>, %t: memref<f64>, %n: index, %v: f64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = memref.subview %y[0] [2] [1] : memref<?xf64> to memref<2xf64, strided<[1]>>
  scf.for %i = %zero to %n step %one {
    // CHECK: f.kina:3:1: remark: K0701: every iteration copies a whole tensor here
    memref.copy %x, %y : memref<?xf64> to memref<?xf64> loc("f.kina":3:1 to :9)
    scf.for %j = %zero to %n step %one {
      memref.store %v, %two[%j] : memref<2xf64, strided<[1]>> loc("f.kina":3:1 to :9)
    }
    // CHECK: f.kina:4:1: note: what the tensor was before is read here
    %a = memref.load %x[%zero] : memref<?xf64> loc("f.kina":4:1 to :9)
    memref.store %a, %x[%one] : memref<?xf64> loc("f.kina":4:1 to :9)
    memref.copy %s, %t : memref<f64> to memref<f64> loc("f.kina":5:1 to :9)
    memref.store %v, %t[] : memref<f64> loc("f.kina":5:1 to :9)
  }
  return
}

// -----

// What the loops have to say of the states.
func.func @states(%x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    // CHECK: f.kina:5:1: remark: K0701: every iteration copies a whole tensor here
    // CHECK: f.kina:5:1: note: the tensor of 'b' goes on as 'a'
    memref.copy %x, %y : memref<?xf64> to memref<?xf64> loc(fused<{from = "b", to = "a"}>["f.kina":5:1 to :9])
  }
  return
}
