// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Every reduction and row function, and the type it infers.

// CHECK-LABEL: kina.func @reductions
kina.func @reductions(%x: !kina.tensor<f64, [B, S, 8*q]>, %n: !kina.tensor<i32, [B, S]>, %m: !kina.tensor<i1, [B]>, %s: f32,
                      %d: !kina.tensor<f32, [B], @cuda:global(0)>)
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"S">, #kina.var<"q">]} {
  // CHECK: [[R:%.*]] = kina.sum %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %sum0 = kina.sum %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %sumn0 = kina.neg %sum0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.sum %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %sum1 = kina.sum %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %sumn1 = kina.neg %sum1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.sum %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %sum2 = kina.sum %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %sumn2 = kina.neg %sum2 : f64
  // CHECK: [[R:%.*]] = kina.prod %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %prod0 = kina.prod %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %prodn0 = kina.neg %prod0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.prod %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %prod1 = kina.prod %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %prodn1 = kina.neg %prod1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.prod %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %prod2 = kina.prod %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %prodn2 = kina.neg %prod2 : f64
  // CHECK: [[R:%.*]] = kina.mean %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %mean0 = kina.mean %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %meann0 = kina.neg %mean0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.mean %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %mean1 = kina.mean %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %meann1 = kina.neg %mean1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.mean %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %mean2 = kina.mean %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %meann2 = kina.neg %mean2 : f64
  // CHECK: [[R:%.*]] = kina.var %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %var0 = kina.var %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %varn0 = kina.neg %var0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.var %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %var1 = kina.var %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %varn1 = kina.neg %var1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.var %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %var2 = kina.var %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %varn2 = kina.neg %var2 : f64
  // CHECK: [[R:%.*]] = kina.reduce_max %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %reduce_max0 = kina.reduce_max %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_maxn0 = kina.neg %reduce_max0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.reduce_max %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %reduce_max1 = kina.reduce_max %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_maxn1 = kina.neg %reduce_max1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.reduce_max %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %reduce_max2 = kina.reduce_max %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_maxn2 = kina.neg %reduce_max2 : f64
  // CHECK: [[R:%.*]] = kina.reduce_min %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %reduce_min0 = kina.reduce_min %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_minn0 = kina.neg %reduce_min0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.reduce_min %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %reduce_min1 = kina.reduce_min %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_minn1 = kina.neg %reduce_min1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.reduce_min %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %reduce_min2 = kina.reduce_min %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %reduce_minn2 = kina.neg %reduce_min2 : f64
  // CHECK: [[R:%.*]] = kina.logsumexp %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %logsumexp0 = kina.logsumexp %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %logsumexpn0 = kina.neg %logsumexp0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.logsumexp %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %logsumexp1 = kina.logsumexp %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %logsumexpn1 = kina.neg %logsumexp1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.logsumexp %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %logsumexp2 = kina.logsumexp %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %logsumexpn2 = kina.neg %logsumexp2 : f64
  // CHECK: [[R:%.*]] = kina.norm %{{.*}} axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [S]>
  %norm0 = kina.norm %x axes [0, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %normn0 = kina.neg %norm0 : !kina.tensor<f64, [S]>
  // CHECK: [[R:%.*]] = kina.norm %{{.*}} axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f64, [B, 1, 8*q]>
  %norm1 = kina.norm %x axes [1] keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %normn1 = kina.neg %norm1 : !kina.tensor<f64, [B, 1, 8*q]>
  // CHECK: [[R:%.*]] = kina.norm %{{.*}} axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : f64
  %norm2 = kina.norm %x axes [0, 1, 2] : !kina.tensor<f64, [B, S, 8*q]>
  %normn2 = kina.neg %norm2 : f64
  // CHECK: [[R:%.*]] = kina.any %{{.*}} axes [0] : !kina.tensor<i1, [B]>
  // CHECK-NEXT: kina.not [[R]] : i1
  %any = kina.any %m axes [0] : !kina.tensor<i1, [B]>
  %anyn = kina.not %any : i1
  // CHECK: [[R:%.*]] = kina.all %{{.*}} axes [0] : !kina.tensor<i1, [B]>
  // CHECK-NEXT: kina.not [[R]] : i1
  %all = kina.all %m axes [0] : !kina.tensor<i1, [B]>
  %alln = kina.not %all : i1
  // CHECK: [[R:%.*]] = kina.argmax %{{.*}} axis 1 : !kina.tensor<i32, [B, S]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<i32, [B]>
  %argmax = kina.argmax %n axis 1 : !kina.tensor<i32, [B, S]>
  %argmaxn = kina.neg %argmax : !kina.tensor<i32, [B]>
  // CHECK: [[R:%.*]] = kina.argmax %{{.*}} axis 2 keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<i32, [B, S, 1]>
  %argmax1 = kina.argmax %x axis 2 keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %argmaxn1 = kina.neg %argmax1 : !kina.tensor<i32, [B, S, 1]>
  // CHECK: [[R:%.*]] = kina.argmin %{{.*}} axis 1 : !kina.tensor<i32, [B, S]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<i32, [B]>
  %argmin = kina.argmin %n axis 1 : !kina.tensor<i32, [B, S]>
  %argminn = kina.neg %argmin : !kina.tensor<i32, [B]>
  // CHECK: [[R:%.*]] = kina.argmin %{{.*}} axis 2 keepdims : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<i32, [B, S, 1]>
  %argmin1 = kina.argmin %x axis 2 keepdims : !kina.tensor<f64, [B, S, 8*q]>
  %argminn1 = kina.neg %argmin1 : !kina.tensor<i32, [B, S, 1]>
  // CHECK: kina.cumsum %{{.*}} axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  %cumsum = kina.cumsum %x axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK: kina.flip %{{.*}} axis 1 : !kina.tensor<i32, [B, S]>
  %flip = kina.flip %n axis 1 : !kina.tensor<i32, [B, S]>
  // CHECK: kina.recurrence %{{.*}}, %{{.*}} from 0 axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  %recurrence = kina.recurrence %x, %cumsum from 0 axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK: kina.recurrence %{{.*}}, %{{.*}} from 1 axis 0 reverse : !kina.tensor<f64, [B, S, 8*q]>
  %recurrence1 = kina.recurrence %x, %cumsum from 1 axis 0 reverse : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK: kina.softmax %{{.*}} axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  %softmax = kina.softmax %x axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK: kina.log_softmax %{{.*}} axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  %log_softmax = kina.log_softmax %x axis 2 : !kina.tensor<f64, [B, S, 8*q]>
  // CHECK: kina.sum %{{.*}} axes [0] : !kina.tensor<i32, [B, S]>
  %i = kina.sum %n axes [0] : !kina.tensor<i32, [B, S]>
  // No axes at all: the operand.
  // CHECK: [[R:%.*]] = kina.sum %{{.*}} axes [] : f32
  // CHECK-NEXT: kina.neg [[R]] : f32
  %e = kina.sum %s axes [] : f32
  %en = kina.neg %e : f32
  // On a device a full reduction stays there, as a tensor of rank 0.
  // CHECK: [[R:%.*]] = kina.sum %{{.*}} axes [0] : !kina.tensor<f32, [B], @cuda:global(0)>
  // CHECK-NEXT: kina.neg [[R]] : !kina.tensor<f32, [], @cuda:global(0)>
  %d0 = kina.sum %d axes [0] : !kina.tensor<f32, [B], @cuda:global(0)>
  %dn = kina.neg %d0 : !kina.tensor<f32, [], @cuda:global(0)>
  kina.return
}
