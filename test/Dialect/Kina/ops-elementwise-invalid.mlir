// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What element-wise operations refuse.

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.neg' op operand #0 must be number tensor or scalar, but got 'i1'}}
  %0 = kina.neg %x : i1
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.exp' op operand #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.exp %x : i32
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.not' op operand #0 must be integer or boolean tensor or scalar, but got 'f64'}}
  %0 = kina.not %x : f64
  kina.return
}

// -----

kina.func @f(%x: i17) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.neg' op operand #0 must be number tensor or scalar, but got 'i17'}}
  %0 = kina.neg %x : i17
  kina.return
}

// -----

kina.func @f(%x: none) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.neg' op operand #0 must be number tensor or scalar, but got 'none'}}
  %0 = kina.neg %x : none
  kina.return
}

// -----

kina.func @f(%x: tensor<3xf64>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.neg' op operand #0 must be number tensor or scalar, but got 'tensor<3xf64>'}}
  %0 = kina.neg %x : tensor<3xf64>
  kina.return
}

// -----

kina.func @f(%x: f128) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sin' op operand #0 must be float tensor or scalar, but got 'f128'}}
  %0 = kina.sin %x : f128
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.gelu' op operand #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.gelu %x erf : i32
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.gelu' expected string or keyword containing one of the following enum values for attribute 'form' [erf, tanh]}}
  %0 = kina.gelu %x sigmoid : f64
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.isnan' op operand #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.isnan %x : i32
  kina.return
}

// -----

kina.func @f(%x: none) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.isfinite' op operand #0 must be float tensor or scalar, but got 'none'}}
  %0 = kina.isfinite %x : none
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %y: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.add' op requires the same type for all operands and results}}
  %0 = "kina.add"(%x, %y) : (!kina.tensor<f64, [N]>, f64) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.neg' op requires the same type for all operands and results}}
  %0 = "kina.neg"(%x) : (!kina.tensor<f64, [N]>) -> !kina.tensor<f32, [N]>
  kina.return
}

// -----

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.add' op operand #0 must be number tensor or scalar, but got 'i1'}}
  %0 = kina.add %x, %x : i1
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.atan2' op operand #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.atan2 %x, %x : i32
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.xor' op operand #0 must be integer or boolean tensor or scalar, but got 'f64'}}
  %0 = kina.xor %x, %x : f64
  kina.return
}

// -----

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.shift_left' op operand #0 must be integer tensor or scalar, but got 'i1'}}
  %0 = kina.shift_left %x, %x : i1
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.cmp' expected string or keyword containing one of the following enum values for attribute 'predicate' [eq, ne, lt, le, gt, ge]}}
  %0 = kina.cmp near, %x, %x : f64
  kina.return
}

// -----

kina.func @f(%x: f64, %y: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cmp' op requires all operands to have the same type}}
  %0 = "kina.cmp"(%x, %y) <{predicate = 0 : i64}> : (f64, f32) -> i1
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cmp' op result #0 must be boolean tensor or scalar, but got 'f64'}}
  %0 = "kina.cmp"(%x, %x) <{predicate = 0 : i64}> : (f64, f64) -> f64
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{invalid properties {predicate = 9 : i64} for op kina.cmp: Invalid attribute `predicate` in property conversion: 9 : i64}}
  %0 = "kina.cmp"(%x, %x) <{predicate = 9 : i64}> : (f64, f64) -> i1
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cmp' op requires attribute 'predicate'}}
  %0 = "kina.cmp"(%x, %x) : (f64, f64) -> i1
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+2 {{'kina.isnan' op failed to infer returned types}}
  // expected-error @+1 {{'kina.isnan' op inferred type(s) '!kina.tensor<i1, [N]>' are incompatible with return type(s) of operation 'i1'}}
  %0 = "kina.isnan"(%x) : (!kina.tensor<f64, [N]>) -> i1
  kina.return
}

// -----

kina.func @f(%m: !kina.tensor<i1, [M]>, %x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.select' op needs a scalar mask or one of the arms' shape, not '!kina.tensor<i1, [M]>' for '!kina.tensor<f64, [N]>'}}
  %0 = kina.select %m, %x, %x : !kina.tensor<i1, [M]>, !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%m: i32, %x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.select' op operand #0 must be boolean tensor or scalar, but got 'i32'}}
  %0 = kina.select %m, %x, %x : i32, f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cast' op must keep shape and place, not go from '!kina.tensor<f64, [N]>' to 'f32'}}
  %0 = kina.cast %x : !kina.tensor<f64, [N]> to f32
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cast' op must keep shape and place, not go from '!kina.tensor<f64, [N]>' to '!kina.tensor<f32, [N], @cuda:global(0)>'}}
  %0 = kina.cast %x : !kina.tensor<f64, [N]> to !kina.tensor<f32, [N], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%x: vector<2xf64>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.drop' op operand #0 must be Kina tensor or scalar, but got 'vector<2xf64>'}}
  kina.drop %x : vector<2xf64>
  kina.return
}
