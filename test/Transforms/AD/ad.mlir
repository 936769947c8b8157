// RUN: kina-opt %s --kina-ad --split-input-file | FileCheck %s

// One MLP with two layers of one function: the weights' gradients are matmuls that read
// their operands transposed, the bias' a sum over the batch.
// CHECK-LABEL: kina.func private @layer(
kina.func private @layer(%x: !kina.tensor<f64, [B, I]>, %w: !kina.tensor<f64, [I, O]>, %b: !kina.tensor<f64, [O]>)
    -> !kina.tensor<f64, [B, O]> attributes {shape_vars = [#kina.var<"B">, #kina.var<"I">, #kina.var<"O">]} {
  %0 = kina.matmul %x, %w : !kina.tensor<f64, [B, I]>, !kina.tensor<f64, [I, O]>
  %1 = kina.broadcast %b : !kina.tensor<f64, [O]> to !kina.tensor<f64, [B, O]>
  %2 = kina.add %0, %1 : !kina.tensor<f64, [B, O]>
  kina.return %2 : !kina.tensor<f64, [B, O]>
}
// The second layer's input varies, the first one's does not: two pairs.
// CHECK-LABEL: kina.func private @layer.fwd.1(
// CHECK-LABEL: kina.func private @layer.rev.1(
// CHECK-SAME:    %[[W:.*]]: !kina.tensor<f64, [I, O]>, %[[X:.*]]: !kina.tensor<f64, [B, I]>, %[[D:.*]]: !kina.tensor<f64, [B, O]>)
// CHECK:         %[[DB:.*]] = kina.sum %[[D]] axes [0]
// CHECK:         %[[DX:.*]] = kina.matmul %[[D]], %[[W]] transpose_b :
// CHECK:         %[[DW:.*]] = kina.matmul %[[X]], %[[D]] transpose_a :
// CHECK:         kina.return %[[DX]], %[[DW]], %[[DB]]
// CHECK-LABEL: kina.func private @layer.fwd.0(
// CHECK-LABEL: kina.func private @layer.rev.0(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f64, [B, I]>, %[[D:.*]]: !kina.tensor<f64, [B, O]>)
// CHECK:         kina.sum %[[D]] axes [0]
// CHECK:         kina.matmul %[[X]], %[[D]] transpose_a :
// CHECK-NOT:     kina.matmul
// CHECK-LABEL: kina.func public @loss(
kina.func public @loss(%w1: !kina.tensor<f64, [I, H]>, %b1: !kina.tensor<f64, [H]>, %w2: !kina.tensor<f64, [H, C]>,
                       %b2: !kina.tensor<f64, [C]>, %x: !kina.tensor<f64, [B, I]>, %y: !kina.tensor<i32, [B]>) -> f64
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"I">, #kina.var<"H">, #kina.var<"C">]} {
  %0 = kina.call @layer(%x, %w1, %b1) subst {B = #kina.dim<B>, I = #kina.dim<I>, O = #kina.dim<H>}
      : (!kina.tensor<f64, [B, I]>, !kina.tensor<f64, [I, H]>, !kina.tensor<f64, [H]>) -> !kina.tensor<f64, [B, H]>
  %1 = kina.relu %0 : !kina.tensor<f64, [B, H]>
  %2 = kina.call @layer(%1, %w2, %b2) subst {B = #kina.dim<B>, I = #kina.dim<H>, O = #kina.dim<C>}
      : (!kina.tensor<f64, [B, H]>, !kina.tensor<f64, [H, C]>, !kina.tensor<f64, [C]>) -> !kina.tensor<f64, [B, C]>
  %3 = kina.logsumexp %2 axes [1] : !kina.tensor<f64, [B, C]>
  %4 = kina.one_hot %y : !kina.tensor<i32, [B]> to !kina.tensor<f64, [B, C]>
  %5 = kina.mul %2, %4 : !kina.tensor<f64, [B, C]>
  %6 = kina.sum %5 axes [1] : !kina.tensor<f64, [B, C]>
  %7 = kina.sub %3, %6 : !kina.tensor<f64, [B]>
  %8 = kina.mean %7 axes [0] : !kina.tensor<f64, [B]>
  kina.return %8 : f64
}
// CHECK-LABEL: kina.func private @loss.fwd.0(
// CHECK-LABEL: kina.func private @loss.rev.0(
// CHECK:         kina.call @layer.rev.1(
// CHECK:         kina.call @layer.rev.0(
// CHECK-LABEL: kina.func public @loss_and_grad(
// CHECK:         kina.call @loss.fwd.0(
// CHECK:         kina.call @loss.rev.0(
// CHECK-NOT:     kina.watch
// CHECK-NOT:     ReverseModeAD
kina.func public @loss_and_grad(%w1: !kina.tensor<f64, [I, H]>, %b1: !kina.tensor<f64, [H]>,
    %w2: !kina.tensor<f64, [H, C]>, %b2: !kina.tensor<f64, [C]>, %x: !kina.tensor<f64, [B, I]>, %y: !kina.tensor<i32, [B]>)
    -> (f64, !kina.tensor<f64, [I, H]>, !kina.tensor<f64, [H]>, !kina.tensor<f64, [H, C]>, !kina.tensor<f64, [C]>)
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"I">, #kina.var<"H">, #kina.var<"C">]} {
  %r:5 = kina.grad @loss(%w1, %b1, %w2, %b2, %x, %y)
      subst {B = #kina.dim<B>, I = #kina.dim<I>, H = #kina.dim<H>, C = #kina.dim<C>} wrt [0, 1, 2, 3] value
      : (!kina.tensor<f64, [I, H]>, !kina.tensor<f64, [H]>, !kina.tensor<f64, [H, C]>, !kina.tensor<f64, [C]>,
         !kina.tensor<f64, [B, I]>, !kina.tensor<i32, [B]>)
      -> (f64, !kina.tensor<f64, [I, H]>, !kina.tensor<f64, [H]>, !kina.tensor<f64, [H, C]>, !kina.tensor<f64, [C]>)
  kina.return %r#0, %r#1, %r#2, %r#3, %r#4
      : f64, !kina.tensor<f64, [I, H]>, !kina.tensor<f64, [H]>, !kina.tensor<f64, [H, C]>, !kina.tensor<f64, [C]>
}

// -----

// Second order: the halves of the inner derivative are differentiated in their turn.
kina.func private @f(%x: f64) -> f64 {
  %0 = kina.exp %x : f64
  kina.return %0 : f64
}
kina.func private @df(%x: f64) -> f64 {
  %d = kina.grad @f(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}
// CHECK-LABEL: kina.func public @ddf(
// CHECK:         kina.call @df.fwd.0(
// CHECK:         kina.call @df.rev.0(
kina.func public @ddf(%x: f64) -> f64 {
  %d = kina.grad @df(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %d : f64
}

// -----

// f(x, x) has a cotangent for each; an unused parameter's is zeros of its type; an
// argument that is a result too gets the seed.
kina.func private @g(%a: f64, %b: f64, %u: !kina.tensor<f32, [N]>) -> (f64, f64) attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.sub %a, %b : f64
  kina.return %0, %a : f64, f64
}
// CHECK-LABEL: kina.func private @g.rev.0(
// CHECK-SAME:    %[[D0:.*]]: f64, %[[D1:.*]]: f64) -> (f64, f64)
// CHECK:         %[[A:.*]] = kina.add %[[D1]], %[[D0]]
// CHECK:         %[[B:.*]] = kina.neg %[[D0]]
// CHECK:         kina.return %[[A]], %[[B]]
// CHECK-LABEL: kina.func public @corner(
// CHECK-SAME:    %[[X:.*]]: f64, %{{.*}}: !kina.tensor<f32, [N]>, %[[C0:.*]]: f64, %[[C1:.*]]: f64)
// CHECK-NEXT:    %[[D:.*]]:2 = kina.call @g.rev.0(%[[C0]], %[[C1]])
// CHECK:         %[[ZERO:.*]] = kina.constant 0.0{{.*}} : f32
// CHECK:         %[[ZEROS:.*]] = kina.broadcast %[[ZERO]] : f32 to {{.*}}<f32, [N]>
// CHECK:         kina.return %[[D]]#0, %[[D]]#1, %[[ZEROS]]
kina.func public @corner(%x: f64, %u: !kina.tensor<f32, [N]>, %c0: f64, %c1: f64) -> (f64, f64, !kina.tensor<f32, [N]>)
    attributes {shape_vars = [#kina.var<"N">]} {
  %r:3 = kina.vjp @g(%x, %x, %u : f64, f64, !kina.tensor<f32, [N]>) of (%c0, %c1 : f64, f64)
      subst {N = #kina.dim<N>} wrt [0, 1, 2] -> f64, f64, !kina.tensor<f32, [N]>
  kina.return %r#0, %r#1, %r#2 : f64, f64, !kina.tensor<f32, [N]>
}

// -----

// Without derivatives nothing changes, dead code and private functions included.
// CHECK-LABEL: kina.func private @plain(
// CHECK-NEXT:    kina.constant 1.0
// CHECK-NEXT:    kina.constant 1.0
// CHECK-NEXT:    kina.return
kina.func private @plain(%x: f64) -> f64 {
  %0 = kina.constant 1.0 : f64
  %1 = kina.constant 1.0 : f64
  kina.return %x : f64
}

// -----

// A slice changes its accumulator inside the box only.
kina.func private @window(%x: !kina.tensor<f64, [4]>) -> f64 {
  %c0 = kina.constant 0 : index
  %c1 = kina.constant 1 : index
  %0 = kina.slice %x[%c0] sizes [#kina.dim<3>] dropped [] in_bounds : !kina.tensor<f64, [4]> to !kina.tensor<f64, [3]>
  %1 = kina.slice %x[%c1] sizes [#kina.dim<3>] dropped [] in_bounds : !kina.tensor<f64, [4]> to !kina.tensor<f64, [3]>
  %2 = kina.mul %0, %1 : !kina.tensor<f64, [3]>
  %3 = kina.sum %2 axes [0] : !kina.tensor<f64, [3]>
  kina.return %3 : f64
}
// CHECK-LABEL: kina.func private @window.rev.0(
// CHECK:         %[[ZEROS:.*]] = kina.broadcast %{{.*}} : f64 to {{.*}}<f64, [4]>
// CHECK:         %[[FIRST:.*]] = kina.update %{{.*}} into %[[ZEROS]][%[[ONE:.*]]] sizes [#kina.dim<3>]
// CHECK:         %[[BOX:.*]] = kina.slice %[[FIRST]][%[[NIL:.*]]] sizes [#kina.dim<3>]
// CHECK:         %[[SUM:.*]] = kina.add %[[BOX]],
// CHECK:         %[[SECOND:.*]] = kina.update %[[SUM]] into %[[FIRST]][%[[NIL]]]
// CHECK:         kina.return %[[SECOND]]
kina.func public @window_grad(%x: !kina.tensor<f64, [4]>) -> !kina.tensor<f64, [4]> {
  %d = kina.grad @window(%x) subst {} wrt [0] : (!kina.tensor<f64, [4]>) -> !kina.tensor<f64, [4]>
  kina.return %d : !kina.tensor<f64, [4]>
}

// -----

// A copy's derivative is the opposite copy.
kina.func private @there(%x: !kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.copy_to_device %x : !kina.tensor<f64, [N]> to !kina.tensor<f64, [N], @cuda:global(0)>
  %1 = kina.square %0 : !kina.tensor<f64, [N], @cuda:global(0)>
  %2 = kina.sum %1 axes [0] : !kina.tensor<f64, [N], @cuda:global(0)>
  %3 = kina.copy_to_host %2 : !kina.tensor<f64, [], @cuda:global(0)> to f64
  kina.return %3 : f64
}
// CHECK-LABEL: kina.func private @there.rev.0(
// CHECK-SAME:    %[[X:.*]]: !kina.tensor<f64, [N], @cuda:global(0)>, %[[D:.*]]: f64)
// CHECK:         %[[ON:.*]] = kina.copy_to_device %[[D]] : f64 to !kina.tensor<f64, [], @cuda:global(0)>
// CHECK:         kina.broadcast %[[ON]] :
// CHECK:         %[[DX:.*]] = kina.mul
// CHECK:         %[[BACK:.*]] = kina.copy_to_host %{{.*}} : !kina.tensor<f64, [N], @cuda:global(0)> to !kina.tensor<f64, [N]>
// CHECK:         kina.return %[[BACK]]
kina.func public @slope(%x: !kina.tensor<f64, [N]>) -> !kina.tensor<f64, [N]> attributes {shape_vars = [#kina.var<"N">]} {
  %0 = kina.grad @there(%x) subst {N = #kina.dim<N>} wrt [0] : (!kina.tensor<f64, [N]>) -> !kina.tensor<f64, [N]>
  kina.return %0 : !kina.tensor<f64, [N]>
}

// -----

// The derivatives of a convolution are the convolution's other two roles, and theirs again.
kina.func private @once(%x: !kina.tensor<f64, [B, C, 6, 6]>, %w: !kina.tensor<f64, [O, C, 3, 3]>) -> f64
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"C">, #kina.var<"O">]} {
  %0 = kina.conv2d %x, %w stride [2, 1] padding [1, 0] dilation [1, 2] groups 1 : !kina.tensor<f64, [B, C, 6, 6]>, !kina.tensor<f64, [O, C, 3, 3]> to !kina.tensor<f64, [B, O, 3, 2]>
  %1 = kina.sum %0 axes [0, 1, 2, 3] : !kina.tensor<f64, [B, O, 3, 2]>
  kina.return %1 : f64
}
// CHECK-LABEL: kina.func private @once.rev.0(
// CHECK-SAME:    %[[W:.*]]: !kina.tensor<f64, [O, C, 3, 3]>, %[[X:.*]]: !kina.tensor<f64, [B, C, 6, 6]>, %[[D:.*]]: f64)
// CHECK:         %[[DY:.*]] = kina.broadcast %[[D]]
// CHECK:         %[[DX:.*]] = kina.conv2d_input_grad %[[W]], %[[DY]] stride [2, 1] padding [1, 0] dilation [1, 2] groups 1
// CHECK:         %[[DW:.*]] = kina.conv2d_kernel_grad %[[X]], %[[DY]] stride [2, 1] padding [1, 0] dilation [1, 2] groups 1
// CHECK:         kina.return %[[DX]], %[[DW]]
kina.func public @both(%x: !kina.tensor<f64, [B, C, 6, 6]>, %w: !kina.tensor<f64, [O, C, 3, 3]>) -> (!kina.tensor<f64, [B, C, 6, 6]>, !kina.tensor<f64, [O, C, 3, 3]>)
    attributes {shape_vars = [#kina.var<"B">, #kina.var<"C">, #kina.var<"O">]} {
  %0:2 = kina.grad @once(%x, %w) subst {B = #kina.dim<B>, C = #kina.dim<C>, O = #kina.dim<O>} wrt [0, 1]
      : (!kina.tensor<f64, [B, C, 6, 6]>, !kina.tensor<f64, [O, C, 3, 3]>) -> (!kina.tensor<f64, [B, C, 6, 6]>, !kina.tensor<f64, [O, C, 3, 3]>)
  kina.return %0#0, %0#1 : !kina.tensor<f64, [B, C, 6, 6]>, !kina.tensor<f64, [O, C, 3, 3]>
}
