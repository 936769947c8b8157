// RUN: kina-opt --kina-lower-to-linalg %s | FileCheck %s

// An update comes behind what reads the tensor that it replaces a part of.

// CHECK-LABEL: func.func public @waits
// CHECK-COUNT-2: tensor.extract %arg0
// CHECK: tensor.insert %arg1 into %arg0
kina.func public @waits(%a: !kina.tensor<f64, [3]>, %v: f64) -> (!kina.tensor<f64, [3]>, f64) {
  %zero = kina.dim <0> : index
  %one = kina.dim <1> : index
  %x = kina.slice %a[%zero] sizes [#kina.dim<1>] dropped [0] in_bounds : !kina.tensor<f64, [3]> to f64
  %b = kina.update %v into %a[%zero] sizes [#kina.dim<1>] dropped [0] in_bounds : f64 into !kina.tensor<f64, [3]>
  %y = kina.slice %a[%one] sizes [#kina.dim<1>] dropped [0] in_bounds : !kina.tensor<f64, [3]> to f64
  %s = kina.add %x, %y : f64
  kina.return %b, %s : !kina.tensor<f64, [3]>, f64
}

// What depends on the update cannot come before it.

// CHECK-LABEL: func.func public @depends
// CHECK: %[[NEXT:.+]] = tensor.insert %arg1 into %arg0
// CHECK: tensor.extract %[[NEXT]]
// CHECK: tensor.extract %arg0
kina.func public @depends(%a: !kina.tensor<f64, [3]>, %v: f64) -> (!kina.tensor<f64, [3]>, f64) {
  %zero = kina.dim <0> : index
  %one = kina.dim <1> : index
  %b = kina.update %v into %a[%zero] sizes [#kina.dim<1>] dropped [0] in_bounds : f64 into !kina.tensor<f64, [3]>
  %x = kina.slice %b[%zero] sizes [#kina.dim<1>] dropped [0] in_bounds : !kina.tensor<f64, [3]> to f64
  %y = kina.slice %a[%one] sizes [#kina.dim<1>] dropped [0] in_bounds : !kina.tensor<f64, [3]> to f64
  %s = kina.add %x, %y : f64
  kina.return %b, %s : !kina.tensor<f64, [3]>, f64
}
