// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Effects, handlers, continuations.

// CHECK-LABEL: kina.effect @Exit {
// CHECK-NEXT: kina.operation @Stop : (f64) -> ()
// CHECK-NEXT: kina.operation @Ask : (!kina.tensor<f64, [N]>) -> f64 {shape_vars = [#kina.var<"N">]}
kina.effect @Exit {
  kina.operation @Stop : (f64) -> ()
  kina.operation @Ask : (!kina.tensor<f64, [N]>) -> f64 {shape_vars = [#kina.var<"N">]}
}

// CHECK-LABEL: kina.func @performs
kina.func @performs(%x: f64, %t: !kina.tensor<f64, [3]>) -> f64 attributes {effects = [@Exit]} {
  // CHECK: kina.perform @Exit::@Stop(%{{.*}} : f64){{$}}
  kina.perform @Exit::@Stop (%x : f64)
  // CHECK: kina.perform @Exit::@Ask(%{{.*}} : !kina.tensor<f64, [3]>) -> (f64)
  %0 = kina.perform @Exit::@Ask (%t : !kina.tensor<f64, [3]>) -> (f64)
  kina.return %0 : f64
}

// CHECK-LABEL: kina.func @records
kina.func @records(%a: f64, %b: f64) -> f64 {
  %y = kina.mul %a, %b : f64
  // CHECK: kina.perform @ReverseModeAD::@RecordVJP tag <0> of(%{{.*}} : f64) to(%{{.*}}, %{{.*}} : f64, f64) {
  // CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64):
  // CHECK: kina.yield %{{.*}}, %{{.*}} : f64, f64
  kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%y : f64) to (%a, %b : f64, f64) {
  ^bb0(%dy: f64, %da: f64, %db: f64):
    %ca = kina.mul %dy, %b : f64
    %cb = kina.mul %dy, %a : f64
    %da1 = kina.accumulate %da, %ca : f64
    %db1 = kina.accumulate %db, %cb : f64
    kina.yield %da1, %db1 : f64, f64
  }
  kina.return %y : f64
}

// CHECK-LABEL: kina.func @handles
kina.func @handles(%x: f64) -> f64 {
  // CHECK: kina.handle -> (f64) {
  // CHECK: } return {
  // CHECK: ^bb0(%{{.*}}: f64):
  // CHECK: } cases [@Exit::@Stop, @Exit::@Ask] {
  // CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: !kina.cont<none -> (f64)>):
  // CHECK: kina.resume %{{.*}}() : <none -> (f64)> -> f64
  // CHECK: ^bb0(%{{.*}}: !kina.tensor<f64, [3]>, %{{.*}}: !kina.cont<f64 -> (f64)>):
  // CHECK: kina.resume %{{.*}}(%{{.*}} : f64) : <f64 -> (f64)> -> f64
  %0 = kina.handle -> (f64) {
    kina.perform @Exit::@Stop (%x : f64)
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@Exit::@Stop, @Exit::@Ask] {
  ^bb0(%v: f64, %k: !kina.cont<none -> (f64)>):
    %1 = kina.resume %k () : !kina.cont<none -> (f64)> -> f64
    kina.yield %1 : f64
  }, {
  ^bb0(%v: !kina.tensor<f64, [3]>, %k: !kina.cont<f64 -> (f64)>):
    %1 = kina.resume %k (%x : f64) : !kina.cont<f64 -> (f64)> -> f64
    kina.yield %1 : f64
  }
  // No result, no case; a tuple is resumed with its members.
  // CHECK: kina.handle {
  // CHECK: } return {
  // CHECK: } cases []
  kina.handle {
    kina.yield
  } return {
    kina.yield
  } cases []
  kina.return %0 : f64
}

// CHECK-LABEL: kina.func @tuple_resume
kina.func @tuple_resume(%x: f64) {
  // CHECK: kina.resume %{{.*}}(%{{.*}}, %{{.*}} : f64, f64) : <tuple<f64, f64> -> ()>
  kina.handle {
    kina.yield
  } return {
    kina.yield
  } cases [@Exit::@Stop] {
  ^bb0(%k: !kina.cont<tuple<f64, f64> -> ()>):
    kina.resume %k (%x, %x : f64, f64) : !kina.cont<tuple<f64, f64> -> ()>
    kina.yield
  }
  kina.return
}

// CHECK-LABEL: kina.func @variables
kina.func @variables(%x: f64) -> f64 {
  // CHECK: %[[R:.*]] = kina.ref %{{.*}} : f64
  %r = kina.ref %x : f64
  // CHECK: %[[V:.*]] = kina.deref %[[R]] : f64
  %v = kina.deref %r : f64
  // CHECK: kina.assign %[[R]], %[[V]] : f64
  kina.assign %r, %v : f64
  kina.return %v : f64
}
