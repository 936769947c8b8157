//===- KinaRulesNetwork.cpp - Derivatives of convolution, normalisation ---===//

#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/AD/Rules.h"

using namespace mlir;

namespace kina {
namespace {

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

// Input, kernel and output are the arguments of one trilinear form, and the operations are its
// derivatives in one of them: the pullback to an operand is the derivative in that one.
struct ConvolutionRule {
  /// The derivative in `role` at the other two values.
  template <typename OpTy>
  static Value derivative(RuleBuilder &k, OpTy op, unsigned role, ArrayRef<Value> values) {
    Value a = values[role == 0 ? 1 : 0], b = values[role == 2 ? 1 : 2];
    auto make = [&]<typename Result>() {
      return k.make<Result>(op.getRoleType(role), a, b, op.getStride(), op.getPadding(), op.getDilation(),
                            op.getGroups());
    };
    switch (role) {
    case Conv2dInputGradOp::kRole:
      return make.template operator()<Conv2dInputGradOp>();
    case Conv2dKernelGradOp::kRole:
      return make.template operator()<Conv2dKernelGradOp>();
    default:
      return make.template operator()<Conv2dOp>();
    }
  }

  template <typename OpTy>
  static unsigned roleOf(unsigned operand) {
    return operand < OpTy::kRole ? operand : operand + 1;
  }

  template <typename OpTy>
  static SmallVector<Value> valuesOf(OpTy op) {
    return {op.getRole(0), op.getRole(1), op.getRole(2)};
  }

  template <typename OpTy>
  static Value pull(RuleBuilder &k, OpTy op, unsigned i, Value dy, Value acc) {
    SmallVector<Value> values = valuesOf(op);
    values[OpTy::kRole] = dy;
    return k.accumulate(acc, derivative(k, op, roleOf<OpTy>(i), values));
  }

  template <typename OpTy>
  static Value push(RuleBuilder &k, OpTy op, unsigned i, Value t, Value acc) {
    SmallVector<Value> values = valuesOf(op);
    values[roleOf<OpTy>(i)] = t;
    return k.accumulate(acc, derivative(k, op, OpTy::kRole, values));
  }
};

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

// y = n*scale + bias, n = (x - mean)*s, s = 1/sqrt(var + eps). The Jacobian of n is
// s*(I - 1 1^T/D - n n^T/D), which is symmetric. 16-bit floats are computed with in f32.
struct LayerNormRule {
  RuleBuilder &k;
  LayerNormOp op;
  int64_t last;
  Type type, element;

  LayerNormRule(RuleBuilder &k, LayerNormOp op)
      : k(k), op(op), last(getRank(op.getType()) - 1), type(op.getType()), element(getElementType(type)) {
    if (element.getIntOrFloatBitWidth() < 32)
      element = k.builder.getF32Type();
    type = withElementType(type, element);
  }

  Value wide(Value a) { return k.cast(a, element); }
  Value scale() { return k.broadcast(wide(op.getScale()), type); }
  Value rowMean(Value a) { return k.expand(k.make<MeanOp>(a, last, /*keepdims=*/true), type, last); }

  /// n and s.
  std::pair<Value, Value> normal() {
    Value x = wide(op.getOperand());
    Value distance = k.sub(x, rowMean(x));
    Value variance = k.make<MeanOp>(k.square(distance), last, /*keepdims=*/true);
    Value s = k.expand(k.make<RsqrtOp>(k.add(variance, op.getEps().convertToDouble())), type, last);
    return {k.mul(distance, s), s};
  }

  /// The Jacobian of n times `t`.
  Value times(Value t) {
    auto [n, s] = normal();
    Value centred = k.sub(t, rowMean(t));
    return k.mul(s, k.sub(centred, k.mul(n, rowMean(k.mul(t, n)))));
  }

  static Value pull(RuleBuilder &k, LayerNormOp op, unsigned i, Value dy, Value acc) {
    LayerNormRule rule(k, op);
    dy = rule.wide(dy);
    Value result = i == 0   ? rule.times(k.mul(dy, rule.scale()))
                   : i == 1 ? k.reduceTo(k.mul(dy, rule.normal().first), withElementType(op.getScale().getType(), rule.element))
                            : k.reduceTo(dy, withElementType(op.getBias().getType(), rule.element));
    return k.accumulate(acc, k.cast(result, op.getType()));
  }

  static Value push(RuleBuilder &k, LayerNormOp op, unsigned i, Value t, Value acc) {
    LayerNormRule rule(k, op);
    t = rule.wide(t);
    Value result = i == 0   ? k.mul(rule.times(t), rule.scale())
                   : i == 1 ? k.mul(rule.normal().first, k.broadcast(t, rule.type))
                            : k.broadcast(t, rule.type);
    return k.accumulate(acc, k.cast(result, op.getType()));
  }
};

} // namespace

void attachNetworkRules(MLIRContext &context) {
  Conv2dOp::attachInterface<RuleModel<ConvolutionRule, Conv2dOp>>(context);
  Conv2dInputGradOp::attachInterface<RuleModel<ConvolutionRule, Conv2dInputGradOp>>(context);
  Conv2dKernelGradOp::attachInterface<RuleModel<ConvolutionRule, Conv2dKernelGradOp>>(context);
  LayerNormOp::attachInterface<RuleModel<LayerNormRule, LayerNormOp>>(context);
}

} // namespace kina
