// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Contraction, shape, making and indexing, and the types they infer.

// CHECK-LABEL: kina.func @matmul
kina.func @matmul(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [K, N]>, %bt: !kina.tensor<f64, [N, K]>,
                  %at: !kina.tensor<f64, [K, M]>, %c: !kina.tensor<f64, [M, N]>, %p: !kina.tensor<f32, [B, H, M, K]>,
                  %q: !kina.tensor<f32, [B, H, K, N]>)
    attributes {shape_vars = [#kina.var<"M">, #kina.var<"K">, #kina.var<"N">, #kina.var<"B">, #kina.var<"H">]} {
  // CHECK: [[R:%.*]] = kina.matmul %{{.*}}, %{{.*}} : <f64, [M, K]>, <f64, [K, N]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [M, N]>
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, N]>
  %n0 = kina.neg %0 : !kina.tensor<f64, [M, N]>
  // CHECK: kina.matmul %{{.*}}, %{{.*}} transpose_a transpose_b : <f64, [K, M]>, <f64, [N, K]>
  %1 = kina.matmul %at, %bt transpose_a transpose_b : !kina.tensor<f64, [K, M]>, !kina.tensor<f64, [N, K]>
  // CHECK: kina.matmul %{{.*}}, %{{.*}} transpose_b outs %{{.*}} : !kina.tensor<f64, [M, N]> : <f64, [M, K]>, <f64, [N, K]>
  %2 = kina.matmul %a, %bt transpose_b outs %c : !kina.tensor<f64, [M, N]> : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [N, K]>
  // CHECK: [[R:%.*]] = kina.matmul %{{.*}}, %{{.*}} : <f32, [B, H, M, K]>, <f32, [B, H, K, N]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f32, [B, H, M, N]>
  %3 = kina.matmul %p, %q : !kina.tensor<f32, [B, H, M, K]>, !kina.tensor<f32, [B, H, K, N]>
  %n3 = kina.neg %3 : !kina.tensor<f32, [B, H, M, N]>
  kina.return
}

// CHECK-LABEL: kina.func @shape
kina.func @shape(%s: f64, %x: !kina.tensor<f64, [1, N]>, %y: !kina.tensor<f64, [B, H*D]>)
    attributes {shape_vars = [#kina.var<"N">, #kina.var<"B">, #kina.var<"H">, #kina.var<"D">]} {
  // CHECK: kina.broadcast %{{.*}} : f64 to <f64, [N, 3]>
  %0 = kina.broadcast %s : f64 to !kina.tensor<f64, [N, 3]>
  // CHECK: kina.broadcast %{{.*}} : !kina.tensor<f64, [1, N]> to <f64, [2, 4, N]>
  %1 = kina.broadcast %x : !kina.tensor<f64, [1, N]> to !kina.tensor<f64, [2, 4, N]>
  // The normal form makes the counts one.
  // CHECK: kina.reshape %{{.*}} : !kina.tensor<f64, [B, D*H]> to !kina.tensor<f64, [D, B*H]>
  %2 = kina.reshape %y : !kina.tensor<f64, [B, H*D]> to !kina.tensor<f64, [D, H*B]>
  // CHECK: kina.reshape %{{.*}} checked : !kina.tensor<f64, [B, D*H]> to !kina.tensor<f64, [N]>
  %3 = kina.reshape %y checked : !kina.tensor<f64, [B, H*D]> to !kina.tensor<f64, [N]>
  // CHECK: [[E:%.*]] = kina.reshape %{{.*}} : f64 to !kina.tensor<f64, [1, 1]>
  %4 = kina.reshape %s : f64 to !kina.tensor<f64, [1, 1]>
  // CHECK: kina.reshape [[E]] : !kina.tensor<f64, [1, 1]> to f64
  %5 = kina.reshape %4 : !kina.tensor<f64, [1, 1]> to f64
  // CHECK: [[T:%.*]] = kina.transpose %{{.*}} perm [2, 0, 1] : <f64, [2, 4, N]>
  // CHECK-NEXT: kina.neg [[T]] : !kina.tensor<f64, [N, 2, 4]>
  %6 = kina.transpose %1 perm [2, 0, 1] : !kina.tensor<f64, [2, 4, N]>
  %7 = kina.neg %6 : !kina.tensor<f64, [N, 2, 4]>
  // CHECK: [[C:%.*]] = kina.concat %{{.*}}, %{{.*}} axis 1 : !kina.tensor<f64, [N, 2, 4]>, !kina.tensor<f64, [N, B, 4]>
  // CHECK-NEXT: kina.neg [[C]] : !kina.tensor<f64, [N, B + 2, 4]>
  %8 = kina.broadcast %s : f64 to !kina.tensor<f64, [N, B, 4]>
  %9 = kina.concat %6, %8 axis 1 : !kina.tensor<f64, [N, 2, 4]>, !kina.tensor<f64, [N, B, 4]>
  %10 = kina.neg %9 : !kina.tensor<f64, [N, B + 2, 4]>
  kina.return
}

// CHECK-LABEL: kina.func @making
kina.func @making(%a: f32, %i: !kina.tensor<i32, [N]>, %j: i64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.constant 1.500000e+00 : f32
  %0 = kina.constant 1.5 : f32
  // CHECK: kina.constant 7 : index
  %1 = kina.constant 7 : index
  // CHECK: kina.constant 200 : ui8
  %2 = kina.constant 200 : ui8
  // CHECK: kina.constant true
  %3 = kina.constant true
  // CHECK: kina.constant 0x7FC00000 : f32
  %4 = kina.constant 0x7FC00000 : f32
  // CHECK: kina.from_elements %{{.*}}, %{{.*}} : (f32, f32) -> !kina.tensor<f32, [1, 2]>
  %5 = kina.from_elements %0, %a : (f32, f32) -> !kina.tensor<f32, [1, 2]>
  // CHECK: kina.from_elements  : () -> !kina.tensor<f32, [0]>
  %6 = "kina.from_elements"() : () -> !kina.tensor<f32, [0]>
  // CHECK: kina.iota 1 : <i32, [N, 2*N + 1]>
  %7 = kina.iota 1 : !kina.tensor<i32, [N, 2*N + 1]>
  // CHECK: kina.one_hot %{{.*}} : !kina.tensor<i32, [N]> to <f32, [N, 10]>
  %8 = kina.one_hot %i : !kina.tensor<i32, [N]> to !kina.tensor<f32, [N, 10]>
  // CHECK: kina.one_hot %{{.*}} : i64 to <i1, [10]>
  %9 = kina.one_hot %j : i64 to !kina.tensor<i1, [10]>
  kina.return
}

// CHECK-LABEL: kina.func @indexing
kina.func @indexing(%x: !kina.tensor<f64, [M, N]>, %i: index, %r: !kina.tensor<i32, [P]>, %s: i64, %v: !kina.tensor<f64, [N]>,
                    %e: f64, %t: !kina.tensor<i64, [M, 3]>, %w: !kina.tensor<f64, [M, 3]>, %p: !kina.tensor<f64, [M, P]>)
    attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"P">]} {
  // CHECK: kina.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : <f64, [M, N]> to !kina.tensor<f64, [N]>
  %0 = kina.slice %x[%i, %i] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [N]>
  // CHECK: kina.slice %{{.*}} sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] in_bounds : <f64, [M, N]> to f64
  %1 = kina.slice %x[%i, %i] sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] in_bounds : !kina.tensor<f64, [M, N]> to f64
  // CHECK: kina.slice %{{.*}} sizes [#kina.dim<2>, #kina.dim<3>] dropped [] : <f64, [M, N]> to !kina.tensor<f64, [2, 3]>
  %2 = kina.slice %x[%i, %i] sizes [#kina.dim<2>, #kina.dim<3>] dropped [] : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [2, 3]>
  // CHECK: kina.update %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [N]> into <f64, [M, N]>
  %3 = kina.update %v into %x[%i, %i] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [N]> into !kina.tensor<f64, [M, N]>
  // CHECK: kina.update %{{.*}} sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] in_bounds : f64 into <f64, [M, N]>
  %4 = kina.update %e into %x[%i, %i] sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] in_bounds : f64 into !kina.tensor<f64, [M, N]>
  // CHECK: [[G:%.*]] = kina.gather %{{.*}} at %{{.*}} axis 1 : <f64, [M, N]>, !kina.tensor<i32, [P]>
  // CHECK-NEXT: kina.neg [[G]] : !kina.tensor<f64, [M, P]>
  %5 = kina.gather %x at %r axis 1 : !kina.tensor<f64, [M, N]>, !kina.tensor<i32, [P]>
  %n5 = kina.neg %5 : !kina.tensor<f64, [M, P]>
  // CHECK: [[G:%.*]] = kina.gather %{{.*}} at %{{.*}} axis 0 : <f64, [M, N]>, i64
  // CHECK-NEXT: kina.neg [[G]] : !kina.tensor<f64, [N]>
  %6 = kina.gather %x at %s axis 0 : !kina.tensor<f64, [M, N]>, i64
  %n6 = kina.neg %6 : !kina.tensor<f64, [N]>
  // CHECK: kina.scatter_add %{{.*}} into %{{.*}} at %{{.*}} axis 1 : !kina.tensor<f64, [M, P]> into <f64, [M, N]>, !kina.tensor<i32, [P]>
  %7 = kina.scatter_add %p into %x at %r axis 1 : !kina.tensor<f64, [M, P]> into !kina.tensor<f64, [M, N]>, !kina.tensor<i32, [P]>
  // CHECK: [[A:%.*]] = kina.take_along %{{.*}} at %{{.*}} axis 1 : <f64, [M, N]>, <i64, [M, 3]>
  // CHECK-NEXT: kina.neg [[A]] : !kina.tensor<f64, [M, 3]>
  %8 = kina.take_along %x at %t axis 1 : !kina.tensor<f64, [M, N]>, !kina.tensor<i64, [M, 3]>
  %n8 = kina.neg %8 : !kina.tensor<f64, [M, 3]>
  // CHECK: kina.put_along_add %{{.*}} into %{{.*}} at %{{.*}} axis 1 : <f64, [M, 3]> into <f64, [M, N]>, <i64, [M, 3]>
  %9 = kina.put_along_add %w into %x at %t axis 1 : !kina.tensor<f64, [M, 3]> into !kina.tensor<f64, [M, N]>, !kina.tensor<i64, [M, 3]>
  kina.return
}
