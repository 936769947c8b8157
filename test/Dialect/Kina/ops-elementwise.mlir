// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Every element-wise operation, on tensors and on scalars.

// CHECK-LABEL: kina.func @unary_numbers
kina.func @unary_numbers(%x: !kina.tensor<i32, [N]>, %s: i64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.neg %{{.*}} : !kina.tensor<i32, [N]>
  %0 = kina.neg %x : !kina.tensor<i32, [N]>
  // CHECK: kina.neg %{{.*}} : i64
  %s0 = kina.neg %s : i64
  // CHECK: kina.abs %{{.*}} : !kina.tensor<i32, [N]>
  %1 = kina.abs %x : !kina.tensor<i32, [N]>
  // CHECK: kina.abs %{{.*}} : i64
  %s1 = kina.abs %s : i64
  // CHECK: kina.sign %{{.*}} : !kina.tensor<i32, [N]>
  %2 = kina.sign %x : !kina.tensor<i32, [N]>
  // CHECK: kina.sign %{{.*}} : i64
  %s2 = kina.sign %s : i64
  // CHECK: kina.square %{{.*}} : !kina.tensor<i32, [N]>
  %3 = kina.square %x : !kina.tensor<i32, [N]>
  // CHECK: kina.square %{{.*}} : i64
  %s3 = kina.square %s : i64
  kina.return
}

// CHECK-LABEL: kina.func @unary_floats
kina.func @unary_floats(%x: !kina.tensor<f32, [N, 3]>, %s: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.sqrt %{{.*}} : !kina.tensor<f32, [N, 3]>
  %0 = kina.sqrt %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.sqrt %{{.*}} : f64
  %s0 = kina.sqrt %s : f64
  // CHECK: kina.rsqrt %{{.*}} : !kina.tensor<f32, [N, 3]>
  %1 = kina.rsqrt %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.rsqrt %{{.*}} : f64
  %s1 = kina.rsqrt %s : f64
  // CHECK: kina.exp %{{.*}} : !kina.tensor<f32, [N, 3]>
  %2 = kina.exp %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.exp %{{.*}} : f64
  %s2 = kina.exp %s : f64
  // CHECK: kina.expm1 %{{.*}} : !kina.tensor<f32, [N, 3]>
  %3 = kina.expm1 %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.expm1 %{{.*}} : f64
  %s3 = kina.expm1 %s : f64
  // CHECK: kina.log %{{.*}} : !kina.tensor<f32, [N, 3]>
  %4 = kina.log %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.log %{{.*}} : f64
  %s4 = kina.log %s : f64
  // CHECK: kina.log1p %{{.*}} : !kina.tensor<f32, [N, 3]>
  %5 = kina.log1p %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.log1p %{{.*}} : f64
  %s5 = kina.log1p %s : f64
  // CHECK: kina.sin %{{.*}} : !kina.tensor<f32, [N, 3]>
  %6 = kina.sin %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.sin %{{.*}} : f64
  %s6 = kina.sin %s : f64
  // CHECK: kina.cos %{{.*}} : !kina.tensor<f32, [N, 3]>
  %7 = kina.cos %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.cos %{{.*}} : f64
  %s7 = kina.cos %s : f64
  // CHECK: kina.tan %{{.*}} : !kina.tensor<f32, [N, 3]>
  %8 = kina.tan %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.tan %{{.*}} : f64
  %s8 = kina.tan %s : f64
  // CHECK: kina.asin %{{.*}} : !kina.tensor<f32, [N, 3]>
  %9 = kina.asin %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.asin %{{.*}} : f64
  %s9 = kina.asin %s : f64
  // CHECK: kina.acos %{{.*}} : !kina.tensor<f32, [N, 3]>
  %10 = kina.acos %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.acos %{{.*}} : f64
  %s10 = kina.acos %s : f64
  // CHECK: kina.atan %{{.*}} : !kina.tensor<f32, [N, 3]>
  %11 = kina.atan %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.atan %{{.*}} : f64
  %s11 = kina.atan %s : f64
  // CHECK: kina.sinh %{{.*}} : !kina.tensor<f32, [N, 3]>
  %12 = kina.sinh %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.sinh %{{.*}} : f64
  %s12 = kina.sinh %s : f64
  // CHECK: kina.cosh %{{.*}} : !kina.tensor<f32, [N, 3]>
  %13 = kina.cosh %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.cosh %{{.*}} : f64
  %s13 = kina.cosh %s : f64
  // CHECK: kina.tanh %{{.*}} : !kina.tensor<f32, [N, 3]>
  %14 = kina.tanh %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.tanh %{{.*}} : f64
  %s14 = kina.tanh %s : f64
  // CHECK: kina.sigmoid %{{.*}} : !kina.tensor<f32, [N, 3]>
  %15 = kina.sigmoid %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.sigmoid %{{.*}} : f64
  %s15 = kina.sigmoid %s : f64
  // CHECK: kina.log_sigmoid %{{.*}} : !kina.tensor<f32, [N, 3]>
  %16 = kina.log_sigmoid %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.log_sigmoid %{{.*}} : f64
  %s16 = kina.log_sigmoid %s : f64
  // CHECK: kina.softplus %{{.*}} : !kina.tensor<f32, [N, 3]>
  %17 = kina.softplus %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.softplus %{{.*}} : f64
  %s17 = kina.softplus %s : f64
  // CHECK: kina.silu %{{.*}} : !kina.tensor<f32, [N, 3]>
  %18 = kina.silu %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.silu %{{.*}} : f64
  %s18 = kina.silu %s : f64
  // CHECK: kina.relu %{{.*}} : !kina.tensor<f32, [N, 3]>
  %19 = kina.relu %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.relu %{{.*}} : f64
  %s19 = kina.relu %s : f64
  // CHECK: kina.erf %{{.*}} : !kina.tensor<f32, [N, 3]>
  %20 = kina.erf %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.erf %{{.*}} : f64
  %s20 = kina.erf %s : f64
  // CHECK: kina.floor %{{.*}} : !kina.tensor<f32, [N, 3]>
  %21 = kina.floor %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.floor %{{.*}} : f64
  %s21 = kina.floor %s : f64
  // CHECK: kina.ceil %{{.*}} : !kina.tensor<f32, [N, 3]>
  %22 = kina.ceil %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.ceil %{{.*}} : f64
  %s22 = kina.ceil %s : f64
  // CHECK: kina.round %{{.*}} : !kina.tensor<f32, [N, 3]>
  %23 = kina.round %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.round %{{.*}} : f64
  %s23 = kina.round %s : f64
  // CHECK: kina.gelu %{{.*}} erf : f64
  %g0 = kina.gelu %s erf : f64
  // CHECK: kina.gelu %{{.*}} tanh : !kina.tensor<f32, [N, 3]>
  %g1 = kina.gelu %x tanh : !kina.tensor<f32, [N, 3]>
  // CHECK: [[B:%.*]] = kina.isnan %{{.*}} : !kina.tensor<f32, [N, 3]>
  %b0 = kina.isnan %x : !kina.tensor<f32, [N, 3]>
  // CHECK: kina.not [[B]] : !kina.tensor<i1, [N, 3]>
  %b1 = kina.not %b0 : !kina.tensor<i1, [N, 3]>
  // CHECK: [[F:%.*]] = kina.isfinite %{{.*}} : f64
  %b2 = kina.isfinite %s : f64
  // CHECK: kina.not [[F]] : i1
  %b3 = kina.not %b2 : i1
  kina.return
}

// CHECK-LABEL: kina.func @binary
kina.func @binary(%x: !kina.tensor<f64, [N]>, %y: !kina.tensor<f64, [N]>, %a: i32, %b: i32, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.add %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %0 = kina.add %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.add %{{.*}}, %{{.*}} : i32
  %s0 = kina.add %a, %b : i32
  // CHECK: kina.sub %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %1 = kina.sub %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.sub %{{.*}}, %{{.*}} : i32
  %s1 = kina.sub %a, %b : i32
  // CHECK: kina.mul %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %2 = kina.mul %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.mul %{{.*}}, %{{.*}} : i32
  %s2 = kina.mul %a, %b : i32
  // CHECK: kina.div %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %3 = kina.div %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.div %{{.*}}, %{{.*}} : i32
  %s3 = kina.div %a, %b : i32
  // CHECK: kina.mod %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %4 = kina.mod %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.mod %{{.*}}, %{{.*}} : i32
  %s4 = kina.mod %a, %b : i32
  // CHECK: kina.pow %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %5 = kina.pow %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.pow %{{.*}}, %{{.*}} : i32
  %s5 = kina.pow %a, %b : i32
  // CHECK: kina.min %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %6 = kina.min %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.min %{{.*}}, %{{.*}} : i32
  %s6 = kina.min %a, %b : i32
  // CHECK: kina.max %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %7 = kina.max %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.max %{{.*}}, %{{.*}} : i32
  %s7 = kina.max %a, %b : i32
  // CHECK: kina.add %{{.*}}, %{{.*}} : index
  %idx = kina.add %i, %i : index
  // CHECK: kina.atan2 %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %t = kina.atan2 %x, %y : !kina.tensor<f64, [N]>
  kina.return
}

// CHECK-LABEL: kina.func @bitwise
kina.func @bitwise(%m: !kina.tensor<i1, [N]>, %x: !kina.tensor<ui8, [N]>, %s: i64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.and %{{.*}}, %{{.*}} : !kina.tensor<i1, [N]>
  %0 = kina.and %m, %m : !kina.tensor<i1, [N]>
  // CHECK: kina.or %{{.*}}, %{{.*}} : !kina.tensor<i1, [N]>
  %1 = kina.or %m, %m : !kina.tensor<i1, [N]>
  // CHECK: kina.xor %{{.*}}, %{{.*}} : !kina.tensor<i1, [N]>
  %2 = kina.xor %m, %m : !kina.tensor<i1, [N]>
  // CHECK: kina.and %{{.*}}, %{{.*}} : !kina.tensor<ui8, [N]>
  %u0 = kina.and %x, %x : !kina.tensor<ui8, [N]>
  // CHECK: kina.and %{{.*}}, %{{.*}} : i64
  %s0 = kina.and %s, %s : i64
  // CHECK: kina.or %{{.*}}, %{{.*}} : !kina.tensor<ui8, [N]>
  %u1 = kina.or %x, %x : !kina.tensor<ui8, [N]>
  // CHECK: kina.or %{{.*}}, %{{.*}} : i64
  %s1 = kina.or %s, %s : i64
  // CHECK: kina.xor %{{.*}}, %{{.*}} : !kina.tensor<ui8, [N]>
  %u2 = kina.xor %x, %x : !kina.tensor<ui8, [N]>
  // CHECK: kina.xor %{{.*}}, %{{.*}} : i64
  %s2 = kina.xor %s, %s : i64
  // CHECK: kina.shift_left %{{.*}}, %{{.*}} : !kina.tensor<ui8, [N]>
  %u3 = kina.shift_left %x, %x : !kina.tensor<ui8, [N]>
  // CHECK: kina.shift_left %{{.*}}, %{{.*}} : i64
  %s3 = kina.shift_left %s, %s : i64
  // CHECK: kina.shift_right %{{.*}}, %{{.*}} : !kina.tensor<ui8, [N]>
  %u4 = kina.shift_right %x, %x : !kina.tensor<ui8, [N]>
  // CHECK: kina.shift_right %{{.*}}, %{{.*}} : i64
  %s4 = kina.shift_right %s, %s : i64
  kina.return
}

// CHECK-LABEL: kina.func @compare_and_choose
kina.func @compare_and_choose(%x: !kina.tensor<f64, [N]>, %y: !kina.tensor<f64, [N]>, %i: index, %c: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.cmp eq, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %eq = kina.cmp eq, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp ne, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %ne = kina.cmp ne, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp lt, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %lt = kina.cmp lt, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp le, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %le = kina.cmp le, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp gt, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %gt = kina.cmp gt, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp ge, %{{.*}}, %{{.*}} : !kina.tensor<f64, [N]>
  %ge = kina.cmp ge, %x, %y : !kina.tensor<f64, [N]>
  // CHECK: kina.cmp lt, %{{.*}}, %{{.*}} : index
  %lti = kina.cmp lt, %i, %i : index
  // CHECK: kina.select %{{.*}}, %{{.*}}, %{{.*}} : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
  %s0 = kina.select %lt, %x, %y : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
  // CHECK: kina.select %{{.*}}, %{{.*}}, %{{.*}} : i1, !kina.tensor<f64, [N]>
  %s1 = kina.select %c, %x, %y : i1, !kina.tensor<f64, [N]>
  // CHECK: kina.select %{{.*}}, %{{.*}}, %{{.*}} : i1, index
  %s2 = kina.select %c, %i, %i : i1, index
  // CHECK: kina.cast %{{.*}} : !kina.tensor<f64, [N]> to !kina.tensor<bf16, [N]>
  %c0 = kina.cast %x : !kina.tensor<f64, [N]> to !kina.tensor<bf16, [N]>
  // CHECK: kina.cast %{{.*}} : index to f32
  %c1 = kina.cast %i : index to f32
  // CHECK: kina.copy %{{.*}} : !kina.tensor<f64, [N]>
  %c2 = kina.copy %x : !kina.tensor<f64, [N]>
  // CHECK: kina.detach %{{.*}} : !kina.tensor<f64, [N]>
  %c3 = kina.detach %c2 : !kina.tensor<f64, [N]>
  // CHECK: kina.drop %{{.*}} : !kina.tensor<f64, [N]>
  kina.drop %c2 : !kina.tensor<f64, [N]>
  kina.return
}
