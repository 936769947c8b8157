// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What reductions and row functions refuse.

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.sum %x axes [1] : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op axes must be increasing and not negative}}
  %0 = kina.sum %x axes [-1] : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op axes must be increasing and not negative}}
  %0 = kina.sum %x axes [1, 0] : !kina.tensor<f64, [N, N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op axes must be increasing and not negative}}
  %0 = kina.sum %x axes [0, 0] : !kina.tensor<f64, [N, N]>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op axis 0 (0-based) is out of range for rank 0}}
  %0 = kina.sum %x axes [0] : f64
  kina.return
}

// -----

kina.func @f(%x: none) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{reduces a tensor or a scalar, not 'none'}}
  %0 = kina.sum %x axes [0] : none
  kina.return
}

// -----

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op operand #0 must be number tensor or scalar, but got 'i1'}}
  %0 = kina.sum %x axes [] : i1
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.mean' op operand #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.mean %x axes [] : i32
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.any' op operand #0 must be boolean tensor or scalar, but got '!kina.tensor<f64, [N]>'}}
  %0 = kina.any %x axes [0] : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+2 {{'kina.sum' op failed to infer returned types}}
  // expected-error @+1 {{'kina.sum' op inferred type(s) 'f64' are incompatible with return type(s) of operation '!kina.tensor<f64, [N]>'}}
  %0 = "kina.sum"(%x) <{axes = array<i64: 0>}> : (!kina.tensor<f64, [N]>) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.sum' op requires attribute 'axes'}}
  %0 = "kina.sum"(%x) : (!kina.tensor<f64, [N]>) -> f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{invalid properties {axes = [0]} for op kina.sum: Invalid attribute `axes` in property conversion: [0]}}
  %0 = "kina.sum"(%x) <{axes = [0]}> : (!kina.tensor<f64, [N]>) -> f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.argmax' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.argmax %x axis 1 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.argmax' op axes must be increasing and not negative}}
  %0 = kina.argmax %x axis -1 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.argmin' op axis 9223372036854775807 (0-based) is out of range for rank 1}}
  %0 = kina.argmin %x axis 9223372036854775807 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.argmax' op axis 0 (0-based) is out of range for rank 0}}
  %0 = kina.argmax %x axis 0 : f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<i1, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.argmax' op operand #0 must be number tensor or scalar, but got '!kina.tensor<i1, [N]>'}}
  %0 = kina.argmax %x axis 0 : !kina.tensor<i1, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.softmax' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.softmax %x axis 1 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.softmax' op axis 0 (0-based) is out of range for rank 0}}
  %0 = kina.softmax %x axis 0 : f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<i32, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.log_softmax' op operand #0 must be float tensor or scalar, but got '!kina.tensor<i32, [N]>'}}
  %0 = kina.log_softmax %x axis 0 : !kina.tensor<i32, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cumsum' op axes must be increasing and not negative}}
  %0 = kina.cumsum %x axis -2 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.flip' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.flip %x axis 1 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: f64) {
  // expected-error @+1 {{'kina.flip' op axis 0 (0-based) is out of range for rank 0}}
  %0 = kina.flip %x axis 0 : f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.recurrence' op axis 2 (0-based) is out of range for rank 1}}
  %0 = kina.recurrence %x, %x from 1 axis 2 : !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<i32, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.recurrence' op operand #0 must be float tensor or scalar, but got '!kina.tensor<i32, [N]>'}}
  %0 = kina.recurrence %x, %x from 1 axis 0 : !kina.tensor<i32, [N]>
  kina.return
}
