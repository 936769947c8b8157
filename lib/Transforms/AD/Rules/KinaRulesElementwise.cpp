//===- KinaRulesElementwise.cpp - Derivatives, element by element ---------===//
//
// The Jacobian of an element-wise operation is diagonal, so one equation an operand
// serves both modes: `times` is the derivative in operand `i` times `t`, a cotangent
// of the result or a tangent of the operand. A null value is a derivative that is 0
// everywhere. Conventions at kinks and ties are those of the language: 0 at a kink of
// relu, abs and sign, halves at a tie of min and max.
//
//===----------------------------------------------------------------------===//

#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/AD/Rules.h"

#include <numbers>

using namespace mlir;

namespace kina {
namespace {

using enum CmpPredicate;
constexpr double kInvSqrtPi = std::numbers::inv_sqrtpi;
constexpr double kSqrt2 = std::numbers::sqrt2;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Value times(RuleBuilder &k, NegOp op, unsigned, Value t) { return k.neg(t); }
Value times(RuleBuilder &k, AbsOp op, unsigned, Value t) { return k.mul(t, k.make<SignOp>(op.getOperand())); }
Value times(RuleBuilder &, SignOp, unsigned, Value) { return {}; }
Value times(RuleBuilder &, FloorOp, unsigned, Value) { return {}; }
Value times(RuleBuilder &, CeilOp, unsigned, Value) { return {}; }
Value times(RuleBuilder &, RoundOp, unsigned, Value) { return {}; }
Value times(RuleBuilder &, DetachOp, unsigned, Value) { return {}; }
Value times(RuleBuilder &, CopyOp, unsigned, Value t) { return t; }
Value times(RuleBuilder &k, SquareOp op, unsigned, Value t) { return k.mul(t, k.mul(op.getOperand(), 2.0)); }
Value times(RuleBuilder &k, SqrtOp op, unsigned, Value t) { return k.div(k.mul(t, 0.5), op.getResult()); }
Value times(RuleBuilder &k, RsqrtOp op, unsigned, Value t) {
  return k.mul(t, k.div(k.mul(op.getResult(), -0.5), op.getOperand()));
}
Value times(RuleBuilder &k, ExpOp op, unsigned, Value t) { return k.mul(t, op.getResult()); }
// Not result + 1, which cancels where x is far below 0.
Value times(RuleBuilder &k, Expm1Op op, unsigned, Value t) { return k.mul(t, k.exp(op.getOperand())); }
Value times(RuleBuilder &k, LogOp op, unsigned, Value t) { return k.div(t, op.getOperand()); }
Value times(RuleBuilder &k, Log1pOp op, unsigned, Value t) { return k.div(t, k.add(op.getOperand(), 1.0)); }
Value times(RuleBuilder &k, SinOp op, unsigned, Value t) { return k.mul(t, k.make<CosOp>(op.getOperand())); }
Value times(RuleBuilder &k, CosOp op, unsigned, Value t) {
  return k.neg(k.mul(t, k.make<SinOp>(op.getOperand())));
}
Value times(RuleBuilder &k, TanOp op, unsigned, Value t) {
  return k.mul(t, k.add(k.square(op.getResult()), 1.0));
}
/// 1/sqrt(1 - x^2), the factors apart because 1 - x*x cancels near 1.
Value inverseSine(RuleBuilder &k, Value x) {
  return k.make<RsqrtOp>(k.mul(k.sub(1.0, x), k.add(x, 1.0)));
}
Value times(RuleBuilder &k, AsinOp op, unsigned, Value t) { return k.mul(t, inverseSine(k, op.getOperand())); }
Value times(RuleBuilder &k, AcosOp op, unsigned, Value t) {
  return k.neg(k.mul(t, inverseSine(k, op.getOperand())));
}
Value times(RuleBuilder &k, AtanOp op, unsigned, Value t) {
  return k.div(t, k.add(k.square(op.getOperand()), 1.0));
}
Value times(RuleBuilder &k, SinhOp op, unsigned, Value t) { return k.mul(t, k.make<CoshOp>(op.getOperand())); }
Value times(RuleBuilder &k, CoshOp op, unsigned, Value t) { return k.mul(t, k.make<SinhOp>(op.getOperand())); }
// (1 - y)(1 + y), accurate to an ulp of 1.
Value times(RuleBuilder &k, TanhOp op, unsigned, Value t) {
  Value y = op.getResult();
  return k.mul(t, k.mul(k.sub(1.0, y), k.add(y, 1.0)));
}
// 1 - sigmoid(x) is sigmoid(-x), without the cancellation for large x.
Value times(RuleBuilder &k, SigmoidOp op, unsigned, Value t) {
  return k.mul(t, k.mul(op.getResult(), k.sigmoid(k.neg(op.getOperand()))));
}
Value times(RuleBuilder &k, LogSigmoidOp op, unsigned, Value t) {
  return k.mul(t, k.sigmoid(k.neg(op.getOperand())));
}
Value times(RuleBuilder &k, SoftplusOp op, unsigned, Value t) { return k.mul(t, k.sigmoid(op.getOperand())); }
/// d/dx x*s(u(x)) for the logistic s, given u and its derivative du:
/// s(u) + x*s(u)*s(-u)*du.
Value gatedDerivative(RuleBuilder &k, Value x, Value u, Value du) {
  Value s = k.sigmoid(u);
  Value slope = k.mul(k.mul(x, s), k.sigmoid(k.neg(u)));
  return k.add(s, du ? k.mul(slope, du) : slope);
}
Value times(RuleBuilder &k, SiluOp op, unsigned, Value t) {
  return k.mul(t, gatedDerivative(k, op.getOperand(), op.getOperand(), {}));
}
Value times(RuleBuilder &k, GeluOp op, unsigned, Value t) {
  Value x = op.getOperand();
  if (op.getForm() == GeluForm::erf) {
    Value distribution = k.mul(k.add(k.make<ErfOp>(k.mul(x, 1.0 / kSqrt2)), 1.0), 0.5);
    Value density = k.mul(k.exp(k.mul(k.square(x), -0.5)), kInvSqrtPi / kSqrt2);
    return k.mul(t, k.add(distribution, k.mul(x, density)));
  }
  // (1 + tanh(v))/2 is the logistic function of u = 2v, v = c*(x + 0.044715*x^3).
  double c = 2.0 * kSqrt2 * kInvSqrtPi;
  Value cubic = k.mul(k.square(x), 0.044715);
  Value u = k.mul(k.mul(x, k.add(cubic, 1.0)), c);
  Value du = k.mul(k.add(k.mul(cubic, 3.0), 1.0), c);
  return k.mul(t, gatedDerivative(k, x, u, du));
}
// The result is positive where the operand is; of the two it is the one that is kept
// anyway, for what follows.
Value times(RuleBuilder &k, ReluOp op, unsigned, Value t) {
  return k.select(k.cmp(gt, op.getResult(), 0.0), t, 0.0);
}
Value times(RuleBuilder &k, ErfOp op, unsigned, Value t) {
  return k.mul(t, k.mul(k.exp(k.neg(k.square(op.getOperand()))), 2.0 * kInvSqrtPi));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Value times(RuleBuilder &, AddOp, unsigned, Value t) { return t; }
Value times(RuleBuilder &k, SubOp, unsigned i, Value t) { return i == 0 ? t : k.neg(t); }
Value times(RuleBuilder &k, MulOp op, unsigned i, Value t) { return k.mul(t, op->getOperand(1 - i)); }
// a/b^2 as (a/b)/b, so that b^2 cannot overflow.
Value times(RuleBuilder &k, DivOp op, unsigned i, Value t) {
  Value scaled = k.div(t, op.getRhs());
  return i == 0 ? scaled : k.neg(k.mul(scaled, op.getResult()));
}
Value times(RuleBuilder &k, ModOp op, unsigned i, Value t) {
  if (i == 0)
    return t;
  // floor(a/b) as (a - a%b)/b, which is an integer but for rounding; a/b may round up to the next one.
  Value multiple = k.div(k.sub(op.getLhs(), op.getResult()), op.getRhs());
  return k.neg(k.mul(t, k.make<RoundOp>(multiple)));
}
Value times(RuleBuilder &k, PowOp op, unsigned i, Value t) {
  Value a = op.getLhs(), b = op.getRhs();
  if (i == 0) {
    // At b = 0 the derivative is 0 for every a; a^(b - 1) would be infinite at a = 0.
    Value exponent = k.select(k.cmp(eq, b, 0.0), 1.0, k.add(b, -1.0));
    return k.mul(t, k.mul(b, k.make<PowOp>(a, exponent)));
  }
  // At a = 0 the limit of a^b*log(a) is 0 where a^b is; log(1) in its place gives that.
  Value base = k.select(k.cmp(eq, a, 0.0), 1.0, a);
  return k.mul(t, k.mul(k.make<LogOp>(base), op.getResult()));
}
/// `t` where operand i alone is the result, half of it at a tie.
Value chosen(RuleBuilder &k, Operation *op, unsigned i, CmpPredicate wins, Value t) {
  Value mine = op->getOperand(i), other = op->getOperand(1 - i);
  Value tied = k.select(k.cmp(eq, mine, other), k.mul(t, 0.5), 0.0);
  return k.select(k.cmp(wins, mine, other), t, tied);
}
Value times(RuleBuilder &k, MinOp op, unsigned i, Value t) { return chosen(k, op, i, lt, t); }
Value times(RuleBuilder &k, MaxOp op, unsigned i, Value t) { return chosen(k, op, i, gt, t); }
Value times(RuleBuilder &k, Atan2Op op, unsigned i, Value t) {
  Value a = op.getLhs(), b = op.getRhs();
  Value scaled = k.div(t, k.add(k.square(a), k.square(b)));
  return i == 0 ? k.mul(scaled, b) : k.neg(k.mul(scaled, a));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

// Operand 0 is the mask. A derivative is masked, not multiplied, so that what the other
// arm makes of it cannot become a NaN by 0*inf here.
struct SelectRule {
  static Value pull(RuleBuilder &k, SelectOp op, unsigned i, Value dy, Value acc) {
    return k.accumulate(acc, i == 1 ? k.select(op.getMask(), dy, 0.0) : k.select(op.getMask(), 0.0, dy));
  }
  static Value pushAll(RuleBuilder &k, SelectOp op, ValueRange tangents) {
    return k.select(op.getMask(), k.orZeros(tangents[1], op.getType()), k.orZeros(tangents[2], op.getType()));
  }
};

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

/// Whether the derivative is 0 everywhere.
template <typename OpTy>
constexpr bool isFlat = llvm::is_one_of<OpTy, SignOp, FloorOp, CeilOp, RoundOp, DetachOp>::value;

template <typename OpTy>
struct ElementwiseModel : DifferentiableOpInterface::ExternalModel<ElementwiseModel<OpTy>, OpTy> {
  FailureOr<SmallVector<Value>> emitVJP(Operation *op, OpBuilder &builder, ValueRange cotangents,
                                        ValueRange accumulators, const BitVector &wanted) const {
    RuleBuilder k(builder, op->getLoc());
    SmallVector<Value> results(op->getNumOperands());
    for (unsigned i : wanted.set_bits())
      results[i] = k.accumulate(accumulators[i], times(k, cast<OpTy>(op), i, cotangents[0]));
    return results;
  }
  FailureOr<SmallVector<Value>> emitJVP(Operation *op, OpBuilder &builder, ValueRange tangents) const {
    RuleBuilder k(builder, op->getLoc());
    Value sum;
    for (auto [i, tangent] : llvm::enumerate(tangents))
      if (tangent)
        sum = k.accumulate(sum, times(k, cast<OpTy>(op), i, tangent));
    return SmallVector<Value>{sum};
  }
  bool isDifferentiableIn(Operation *op, unsigned operand) const {
    return !isFlat<OpTy> && hasTangent(op->getOperand(operand).getType());
  }
};

struct CastModel : DifferentiableOpInterface::ExternalModel<CastModel, CastOp> {
  FailureOr<SmallVector<Value>> emitVJP(Operation *op, OpBuilder &builder, ValueRange cotangents,
                                        ValueRange accumulators, const BitVector &wanted) const {
    if (!wanted[0])
      return SmallVector<Value>{Value()};
    RuleBuilder k(builder, op->getLoc());
    return SmallVector<Value>{
        k.accumulate(accumulators[0], k.cast(cotangents[0], op->getOperand(0).getType()))};
  }
  FailureOr<SmallVector<Value>> emitJVP(Operation *op, OpBuilder &builder, ValueRange tangents) const {
    RuleBuilder k(builder, op->getLoc());
    return SmallVector<Value>{k.cast(tangents[0], op->getResult(0).getType())};
  }
  // A detour through integers has derivative 0.
  bool isDifferentiableIn(Operation *op, unsigned) const {
    return hasTangent(op->getOperand(0).getType()) && hasTangent(op->getResult(0).getType());
  }
};

template <typename... OpTys>
void attach(MLIRContext &context) {
  (OpTys::template attachInterface<ElementwiseModel<OpTys>>(context), ...);
}

} // namespace

void attachElementwiseRules(MLIRContext &context) {
  attach<NegOp, AbsOp, SignOp, SquareOp, SqrtOp, RsqrtOp, ExpOp, Expm1Op, LogOp, Log1pOp, SinOp, CosOp, TanOp, AsinOp,
         AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, SigmoidOp, LogSigmoidOp, SoftplusOp, SiluOp, GeluOp, ReluOp, ErfOp,
         FloorOp, CeilOp, RoundOp, AddOp, SubOp, MulOp, DivOp, ModOp, PowOp, MinOp, MaxOp, Atan2Op, CopyOp, DetachOp>(
      context);
  SelectOp::attachInterface<RuleModel<SelectRule, SelectOp>>(context);
  CastOp::attachInterface<CastModel>(context);
}

} // namespace kina
