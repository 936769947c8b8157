// RUN: kina-opt %s --kina-bound-inlining=limit=10 | FileCheck %s

// A chain that doubles: small enough at its start, then cut.
// CHECK: func.func private @f0(%{{.*}}: f64) -> f64 {
func.func private @f0(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  return %0 : f64
}
// CHECK: func.func private @f1(%{{.*}}: f64) -> f64 attributes {no_inline} {
func.func private @f1(%x: f64) -> f64 {
  %0 = call @f0(%x) : (f64) -> f64
  %1 = call @f0(%x) : (f64) -> f64
  %2 = arith.addf %0, %1 : f64
  return %2 : f64
}
// A callee that is cut counts as one operation.
// CHECK: func.func private @f2(%{{.*}}: f64) -> f64 {
func.func private @f2(%x: f64) -> f64 {
  %0 = call @f1(%x) : (f64) -> f64
  %1 = call @f1(%x) : (f64) -> f64
  %2 = arith.addf %0, %1 : f64
  return %2 : f64
}
