//===- KinaNetworkOps.td - Convolution, normalisation ----*- tablegen -*-===//

#ifndef KINA_NETWORK_OPS_TD
#define KINA_NETWORK_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

// Input x, kernel w and output y of a convolution are the three arguments of one trilinear
// form, and each operation is its derivative in one of them, a function of the other two.
// So the derivatives of each are the other two, at every order.
//
// `role` is what the operation computes: 0 is x, 1 is w, 2 is y.
class Kina_Convolution<string mnemonic, int role, string what, string more>
    : Kina_Op<mnemonic, [Pure, Kina_Differentiable]> {
  let summary = what;
  let description = more # [{
    The form is the sum over all indices of
    `y[b, o, i, j] * x[b, c, i*stride + k*dilation - padding, ..] * w[o, c - first(o), k, l]`,
    c running over the channels of o's group, which are the `C/groups` from `first(o)` on;
    what would be read outside x is left out.
    Each element is one FMA chain that starts at +0; 16-bit floats accumulate in f32.

    `x: [B, C, H, W]`, `w: [O, C/groups, KH, KW]`, `y: [B, O, OH, OW]`, where `OH` is
    `(H + 2*padding - dilation*(KH - 1) - 1) floordiv stride + 1`.
  }];
  let arguments = (ins Kina_Tensor:$lhs, Kina_Tensor:$rhs, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, I64Attr:$groups);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `stride` $stride `padding` $padding `dilation` $dilation `groups` $groups attr-dict
    `:` type($lhs) `,` type($rhs) `to` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr unsigned kRole = }] # role # [{;
    /// Input (0), kernel (1) or output (2) of the convolution.
    ::mlir::Value getRole(unsigned role) {
      return role == kRole ? ::mlir::Value(getResult()) : (*this)->getOperand(role < kRole ? role : role - 1);
    }
    ::kina::TensorType getRoleType(unsigned role) {
      return ::llvm::cast<::kina::TensorType>(getRole(role).getType());
    }
  }];
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::kina::verifyConvolution(*this, getRoleType(0), getRoleType(1), getRoleType(2), getStride(),
                                       getPadding(), getDilation(), getGroups());
    }
  }];
}

def Kina_Conv2dOp : Kina_Convolution<"conv2d", 2, "convolution of images with kernels",
    "The output of a convolution, from its input and its kernel.">;
def Kina_Conv2dInputGradOp : Kina_Convolution<"conv2d_input_grad", 0, "cotangent of a convolution's input",
    "The derivative in the input of a convolution, from its kernel and the output's cotangent.">;
def Kina_Conv2dKernelGradOp : Kina_Convolution<"conv2d_kernel_grad", 1, "cotangent of a convolution's kernel",
    "The derivative in the kernel of a convolution, from its input and the output's cotangent.">;

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

def Kina_LayerNormOp : Kina_Op<"layernorm", [Pure, Kina_Differentiable, AllTypesMatch<["operand", "result"]>,
                                             AllTypesMatch<["scale", "bias"]>]> {
  let summary = "rows with mean 0 and variance 1, scaled and shifted";
  let description = [{
    `(x - mean(x)) * rsqrt(var(x) + eps) * scale + bias` over the last axis, which is not
    empty; scale and bias have its size.
  }];
  let arguments = (ins Kina_Tensor:$operand, Kina_Tensor:$scale, Kina_Tensor:$bias, F64Attr:$eps);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $bias `eps` $eps attr-dict `:` type($operand) `,` type($scale)";
  let hasVerifier = 1;
}

#endif
