// RUN: kina-opt %s --kina-math-to-libm | FileCheck %s

// CHECK-LABEL: func.func @functions
func.func @functions(%x: f64, %y: f32) -> (f64, f64, f32, f64) {
  // CHECK: call @log1p
  // CHECK: call @exp
  // CHECK: call @tanhf
  // CHECK: math.sqrt
  %0 = math.log1p %x : f64
  %1 = math.exp %x : f64
  %2 = math.tanh %y : f32
  %3 = math.sqrt %x : f64
  return %0, %1, %2, %3 : f64, f64, f32, f64
}
