// RUN: kina-opt %s --kina-widen-small-floats --canonicalize --cse | FileCheck %s

// Each operation rounds, so that no pair of conversions may fold.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[A:.*]]: bf16
func.func @chain(%a: bf16) -> bf16 {
  // CHECK: %[[W:.*]] = arith.extf %[[A]] : bf16 to f32
  // CHECK: %[[S:.*]] = arith.mulf %[[W]], %[[W]] : f32
  // CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
  // CHECK: %[[W2:.*]] = arith.extf %[[R]] : bf16 to f32
  // CHECK: math.exp %[[W2]] : f32
  %0 = arith.mulf %a, %a : bf16
  %1 = math.exp %0 : bf16
  return %1 : bf16
}

// CHECK-LABEL: func.func @compare
func.func @compare(%a: f16, %b: f16) -> f16 {
  // CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f16
  %0 = arith.cmpf olt, %a, %b : f16
  %1 = arith.select %0, %a, %b : f16
  return %1 : f16
}
