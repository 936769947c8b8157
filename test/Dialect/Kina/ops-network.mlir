// RUN: kina-opt %s | kina-opt | FileCheck %s

// Convolutions in their three roles, layernorm, draws, copies between host and device: print and read back.

// CHECK-LABEL: kina.func @convolutions
kina.func @convolutions(%x: !kina.tensor<f32, [B, 2*C, H, 9]>, %w: !kina.tensor<f32, [2*O, C, 3, K]>)
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"C">, #kina.var<"H">, #kina.var<"O">, #kina.var<"K">]} {
  // CHECK: kina.conv2d %arg0, %arg1 stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : <f32, [B, 2*C, H, 9]>, <f32, [2*O, C, 3, K]> to <f32, [B, 2*O, (H + 1) floordiv 2 - 1, 12 - K]>
  %0 = kina.conv2d %x, %w stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : !kina.tensor<f32, [B, 2*C, H, 9]>, !kina.tensor<f32, [2*O, C, 3, K]> to !kina.tensor<f32, [B, 2*O, (H - 1) floordiv 2, 12 - K]>
  // CHECK: kina.conv2d_input_grad %arg1, %{{.*}} stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : <f32, [2*O, C, 3, K]>, <f32, [B, 2*O, (H + 1) floordiv 2 - 1, 12 - K]> to <f32, [B, 2*C, H, 9]>
  %1 = kina.conv2d_input_grad %w, %0 stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : !kina.tensor<f32, [2*O, C, 3, K]>, !kina.tensor<f32, [B, 2*O, (H - 1) floordiv 2, 12 - K]> to !kina.tensor<f32, [B, 2*C, H, 9]>
  // CHECK: kina.conv2d_kernel_grad %arg0, %{{.*}} stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : <f32, [B, 2*C, H, 9]>, <f32, [B, 2*O, (H + 1) floordiv 2 - 1, 12 - K]> to <f32, [2*O, C, 3, K]>
  %2 = kina.conv2d_kernel_grad %x, %0 stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : !kina.tensor<f32, [B, 2*C, H, 9]>, !kina.tensor<f32, [B, 2*O, (H - 1) floordiv 2, 12 - K]> to !kina.tensor<f32, [2*O, C, 3, K]>
  kina.return
}

// CHECK-LABEL: kina.func @normalised
kina.func @normalised(%x: !kina.tensor<bf16, [B, D]>, %g: !kina.tensor<bf16, [D]>) attributes {shape_vars = [#kina.var<"B">, #kina.var<"D">]} {
  // CHECK: kina.layernorm %arg0, %arg1, %arg1 eps 1.000000e-05 : <bf16, [B, D]>, <bf16, [D]>
  %0 = kina.layernorm %x, %g, %g eps 1.0e-5 : !kina.tensor<bf16, [B, D]>, !kina.tensor<bf16, [D]>
  kina.return
}

// CHECK-LABEL: kina.func @draws
kina.func @draws(%key: i64, %counter: i64) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.random_bits %arg0, %arg1 : !kina.tensor<i64, [N, 2]>
  %0 = kina.random_bits %key, %counter : !kina.tensor<i64, [N, 2]>
  // CHECK: kina.uniform %arg0, %arg1 : !kina.tensor<f16, [N]>
  %1 = kina.uniform %key, %counter : !kina.tensor<f16, [N]>
  // CHECK: kina.normal %arg0, %arg1 : f64
  %2 = kina.normal %key, %counter : f64
  kina.return
}

// CHECK-LABEL: kina.func @copies
kina.func @copies(%x: !kina.tensor<i32, [N]>, %s: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // CHECK: kina.copy_to_device %arg0 : !kina.tensor<i32, [N]> to !kina.tensor<i32, [N], @cuda:global(1)>
  %0 = kina.copy_to_device %x : !kina.tensor<i32, [N]> to !kina.tensor<i32, [N], @cuda:global(1)>
  // CHECK: kina.copy_to_device %arg1 : f32 to !kina.tensor<f32, [], @cuda:global(0)>
  %1 = kina.copy_to_device %s : f32 to !kina.tensor<f32, [], @cuda:global(0)>
  // CHECK: kina.copy_to_host %{{.*}} : !kina.tensor<f32, [], @cuda:global(0)> to f32
  %2 = kina.copy_to_host %1 : !kina.tensor<f32, [], @cuda:global(0)> to f32
  // CHECK: kina.copy_to_device %arg0 : !kina.tensor<i32, [N]> to !kina.tensor<i32, [N], @P>
  %3 = kina.copy_to_device %x : !kina.tensor<i32, [N]> to !kina.tensor<i32, [N], @P>
  kina.return
}
