// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What convolutions, layernorm, draws and copies between host and device refuse.

kina.func @f(%a: !kina.tensor<f64, [4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs tensors of rank 4, not '!kina.tensor<f64, [4, 5, 6]>'}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [2, 3, 4]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d_kernel_grad' op needs tensors of rank 4, not '!kina.tensor<f64, [2, 3, 4]>'}}
  %0 = kina.conv2d_kernel_grad %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [2, 3, 4]> to !kina.tensor<f64, [3, 4, 2, 2]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f32, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op element types differ: 'f64' and 'f32'}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f32, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op tensors are placed differently}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2], @cuda:global(0)> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<i32, [2, 4, 5, 6]>, %b: !kina.tensor<i32, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs floats, not 'i32'}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<i32, [2, 4, 5, 6]>, !kina.tensor<i32, [3, 4, 2, 2]> to !kina.tensor<i32, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs two strides and dilations of at least 1, two paddings of at least 0, each at most 2147483647}}
  %0 = kina.conv2d %a, %b stride [1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs two strides and dilations of at least 1, two paddings of at least 0, each at most 2147483647}}
  %0 = kina.conv2d %a, %b stride [0, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs two strides and dilations of at least 1, two paddings of at least 0, each at most 2147483647}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, -1] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs two strides and dilations of at least 1, two paddings of at least 0, each at most 2147483647}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 0] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs two strides and dilations of at least 1, two paddings of at least 0, each at most 2147483647}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [2147483648, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op needs a number of groups from 1 to 2147483647, not 0}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 0 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op batch sizes differ: 2 and 1}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [1, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 3, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op the input has 4 channels, but 1 times 3 are needed}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 3, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, C, 5, 6]>, %b: !kina.tensor<f64, [2, C floordiv 2, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op the input has C channels, but 2 times C floordiv 2 are needed}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 2 : !kina.tensor<f64, [2, C, 5, 6]>, !kina.tensor<f64, [2, C floordiv 2, 2, 2]> to !kina.tensor<f64, [2, 2, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [3, 4, 2, 2]>, %b: !kina.tensor<f64, [2, 4, 4, 5]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d_input_grad' op output channels differ: 3 in the kernel and 4 in the output}}
  %0 = kina.conv2d_input_grad %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [3, 4, 2, 2]>, !kina.tensor<f64, [2, 4, 4, 5]> to !kina.tensor<f64, [2, 4, 5, 6]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 2, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op 3 output channels do not divide into 2 groups}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 2 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 2, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 0]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op the kernel is empty along axis 3 (0-based)}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 0]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 5, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op axis 2 (0-based) of the output has size 5, but the kernel has 4 positions}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 5, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 5, 5]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [3, 4, 2, 2]>, %b: !kina.tensor<f64, [2, 3, 4, 5]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d_input_grad' op axis 3 (0-based) of the output has size 5, but the kernel has N - 1 positions}}
  %0 = kina.conv2d_input_grad %a, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [3, 4, 2, 2]>, !kina.tensor<f64, [2, 3, 4, 5]> to !kina.tensor<f64, [2, 4, 5, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [2, 4, 9223372036854775807, 6]>, %b: !kina.tensor<f64, [3, 4, 2, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.conv2d' op the size of axis 2 (0-based) leaves 64 bits}}
  %0 = kina.conv2d %a, %b stride [1, 1] padding [1, 0] dilation [1, 1] groups 1 : !kina.tensor<f64, [2, 4, 9223372036854775807, 6]>, !kina.tensor<f64, [3, 4, 2, 2]> to !kina.tensor<f64, [2, 3, 4, 5]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<i32, [N, 3]>, %g: !kina.tensor<i32, [3]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.layernorm' op needs floats, not 'i32'}}
  %0 = kina.layernorm %x, %g, %g eps 1.0e-5 : !kina.tensor<i32, [N, 3]>, !kina.tensor<i32, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 3]>, %g: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.layernorm' op scale and bias have type '!kina.tensor<f64, [N]>', not '!kina.tensor<f64, [3]>'}}
  %0 = kina.layernorm %x, %g, %g eps 1.0e-5 : !kina.tensor<f64, [N, 3]>, !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 3]>, %g: !kina.tensor<f32, [3]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.layernorm' op scale and bias have type '!kina.tensor<f32, [3]>', not '!kina.tensor<f64, [3]>'}}
  %0 = kina.layernorm %x, %g, %g eps 1.0e-5 : !kina.tensor<f64, [N, 3]>, !kina.tensor<f32, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [], @cuda:global(0)>, %g: !kina.tensor<f64, [1], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.layernorm' op needs an axis to normalise over}}
  %0 = kina.layernorm %x, %g, %g eps 1.0e-5 : !kina.tensor<f64, [], @cuda:global(0)>, !kina.tensor<f64, [1], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%k: i64) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.random_bits' op result #0 must be i32 or i64 tensor or scalar, but got 'f64'}}
  %0 = kina.random_bits %k, %k : f64
  kina.return
}

// -----

kina.func @f(%k: i64) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.uniform' op result #0 must be float tensor or scalar, but got 'i32'}}
  %0 = kina.uniform %k, %k : i32
  kina.return
}

// -----

kina.func @f(%k: i64) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.normal' op draws on the host, not '!kina.tensor<f64, [3], @cuda:global(0)>'}}
  %0 = kina.normal %k, %k : !kina.tensor<f64, [3], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%k: i64) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.normal' op element count overflows}}
  %0 = kina.normal %k, %k : !kina.tensor<f64, [4294967296, 4294967296]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_device' op copies between the host and a device, but '!kina.tensor<f64, [N], @cuda:global(0)>' is not on the host}}
  %0 = kina.copy_to_device %x : !kina.tensor<f64, [N], @cuda:global(0)> to !kina.tensor<f64, [N], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_device' op copies between the host and a device, but '!kina.tensor<f64, [N]>' is not on a device}}
  %0 = kina.copy_to_device %x : !kina.tensor<f64, [N]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_device' op changes the shape or the element type, from '!kina.tensor<f64, [N]>' to '!kina.tensor<f32, [N], @cuda:global(0)>'}}
  %0 = kina.copy_to_device %x : !kina.tensor<f64, [N]> to !kina.tensor<f32, [N], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_host' op copies between the host and a device, but '!kina.tensor<f64, [N]>' is not on a device}}
  %0 = kina.copy_to_host %x : !kina.tensor<f64, [N]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_host' op copies between the host and a device, but '!kina.tensor<f64, [N], @P>' is not on the host}}
  %0 = kina.copy_to_host %x : !kina.tensor<f64, [N], @cuda:global(0)> to !kina.tensor<f64, [N], @P>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"C">]} {
  // expected-error @+1 {{'kina.copy_to_host' op changes the shape or the element type, from '!kina.tensor<f64, [N], @cuda:global(0)>' to '!kina.tensor<f64, [C]>'}}
  %0 = kina.copy_to_host %x : !kina.tensor<f64, [N], @cuda:global(0)> to !kina.tensor<f64, [C]>
  kina.return
}
