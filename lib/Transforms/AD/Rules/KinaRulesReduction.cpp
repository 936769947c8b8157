//===- KinaRulesReduction.cpp - Derivatives of reductions, row functions --===//

#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/AD/Rules.h"

using namespace mlir;

namespace kina {
namespace {

/// A value of the result's shape repeated over the reduced axes.
template <typename OpTy>
Value expandLike(RuleBuilder &k, OpTy op, Value reduced) {
  Type operand = op.getOperand().getType();
  return k.expand(reduced, withElementType(operand, getElementType(reduced.getType())), op.getAxes());
}
template <typename OpTy>
Value sumLike(RuleBuilder &k, OpTy op, Value full) {
  return k.sum(full, op.getAxes(), op.getKeepdims());
}

/// `t` times `factor` over the number of reduced elements. In 16 bits the count may not
/// be representable, so the quotient is taken in f32.
template <typename OpTy>
Value overCount(RuleBuilder &k, OpTy op, Value t, double factor = 1.0) {
  SmallVector<DimAttr> reduced;
  for (int64_t axis : op.getAxes())
    reduced.push_back(getShape(op.getOperand().getType())[axis]);
  DimAttr count = productOf(op.getContext(), reduced);
  bool narrow = getElementType(t.getType()).getIntOrFloatBitWidth() < 32;
  Value wide = narrow ? k.cast(t, k.builder.getF32Type()) : t;
  if (factor != 1.0)
    wide = k.mul(wide, factor);
  return k.cast(k.div(wide, k.dimension(wide.getType(), count)), t.getType());
}

//===----------------------------------------------------------------------===//
// Reductions: the derivative in an element is a factor of the element (`scale`, which
// may mask instead of multiply) times a factor of the result (`share`).
//===----------------------------------------------------------------------===//

template <typename Slope>
struct SlopeRule {
  template <typename OpTy>
  static Value pull(RuleBuilder &k, OpTy op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, Slope::scale(k, op, expandLike(k, op, Slope::share(k, op, dy))));
  }
  template <typename OpTy>
  static Value push(RuleBuilder &k, OpTy op, unsigned, Value t, Value) {
    return Slope::share(k, op, sumLike(k, op, Slope::scale(k, op, t)));
  }
};

struct SumSlope {
  static Value scale(RuleBuilder &, SumOp, Value t) { return t; }
  static Value share(RuleBuilder &, SumOp, Value t) { return t; }
};
struct MeanSlope {
  static Value scale(RuleBuilder &, MeanOp, Value t) { return t; }
  static Value share(RuleBuilder &k, MeanOp op, Value t) { return overCount(k, op, t); }
};
struct VarSlope {
  static Value scale(RuleBuilder &k, VarOp op, Value t) {
    Value mean = k.make<MeanOp>(op.getOperand(), op.getAxes(), op.getKeepdims());
    return k.mul(t, k.sub(op.getOperand(), expandLike(k, op, mean)));
  }
  static Value share(RuleBuilder &k, VarOp op, Value t) { return overCount(k, op, t, 2.0); }
};
// The product of the others is that of all before times that of all behind, which needs no
// division and so is right, and can be differentiated again, at zeros. Axis by axis: the
// others along the first, times the others among the products along it, and so on.
struct ProdSlope {
  static Value scale(RuleBuilder &k, ProdOp op, Value t) {
    Value x = op.getOperand();
    for (int64_t axis : op.getAxes()) {
      Value zeros = k.zeros(x.getType());
      Value before = k.make<RecurrenceOp>(x, zeros, /*start=*/1, axis, /*reverse=*/false);
      Value behind = k.make<RecurrenceOp>(x, zeros, /*start=*/1, axis, /*reverse=*/true);
      t = k.mul(t, k.broadcast(k.mul(before, behind), t.getType()));
      x = k.make<ProdOp>(x, axis, /*keepdims=*/true);
    }
    return t;
  }
  static Value share(RuleBuilder &, ProdOp, Value t) { return t; }
};
/// Largest or smallest: the elements equal to it share the derivative.
struct ExtremeSlope {
  template <typename OpTy>
  static Value isExtreme(RuleBuilder &k, OpTy op) {
    return k.cmp(CmpPredicate::eq, op.getOperand(), expandLike(k, op, op.getResult()));
  }
  template <typename OpTy>
  static Value scale(RuleBuilder &k, OpTy op, Value t) {
    return k.select(isExtreme(k, op), t, 0.0);
  }
  template <typename OpTy>
  static Value share(RuleBuilder &k, OpTy op, Value t) {
    return k.div(t, k.cast(sumLike(k, op, k.cast(isExtreme(k, op), k.builder.getI64Type())), t.getType()));
  }
};
// exp(x - m) over its sum, m the largest x: exp(x - y) would see the rounding of y. Where m is
// -infinity all x are, and the derivative is 0.
struct LogSumExpSlope {
  static Value scale(RuleBuilder &k, LogSumExpOp op, Value t) {
    Value most = k.make<DetachOp>(
        k.make<ReduceMaxOp>(op.getOperand(), op.getAxes(), op.getKeepdims()));
    Value finite = k.select(k.make<IsFiniteOp>(most), most, 0.0);
    Value power = k.exp(k.sub(op.getOperand(), expandLike(k, op, finite)));
    Value total = sumLike(k, op, power);
    total = k.select(k.cmp(CmpPredicate::eq, total, 0.0), 1.0, total);
    return k.mul(t, k.div(power, expandLike(k, op, total)));
  }
  static Value share(RuleBuilder &, LogSumExpOp, Value t) { return t; }
};
// x/y, which is at most 1 (t/y may overflow), and 0 at y = 0, to any order.
struct NormSlope {
  static Value scale(RuleBuilder &k, NormOp op, Value t) {
    Value atZero = k.cmp(CmpPredicate::eq, op.getResult(), 0.0);
    Value quotient = k.div(op.getOperand(), expandLike(k, op, k.select(atZero, 1.0, op.getResult())));
    return k.mul(t, k.select(expandLike(k, op, atZero), 0.0, quotient));
  }
  static Value share(RuleBuilder &, NormOp, Value t) { return t; }
};

//===----------------------------------------------------------------------===//
// Row functions
//===----------------------------------------------------------------------===//

template <typename OpTy>
Value rowSum(RuleBuilder &k, OpTy op, Value x) {
  int64_t axis = op.getAxis();
  return k.expand(k.sum(x, axis, /*keepdims=*/true), x.getType(), axis);
}

// The transposed running sum runs from the end: reversed, summed, reversed.
struct CumsumRule {
  static Value pull(RuleBuilder &k, CumsumOp op, unsigned, Value dy, Value acc) {
    auto reverse = [&](Value x) { return k.make<FlipOp>(x, op.getAxis()); };
    return k.accumulate(acc, reverse(k.make<CumsumOp>(reverse(dy), op.getAxis())));
  }
  static Value push(RuleBuilder &k, CumsumOp op, unsigned, Value t, Value) {
    return k.make<CumsumOp>(t, op.getAxis());
  }
};

struct FlipRule {
  static Value pull(RuleBuilder &k, FlipOp op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, k.make<FlipOp>(dy, op.getAxis()));
  }
  static Value push(RuleBuilder &k, FlipOp op, unsigned, Value t, Value) { return k.make<FlipOp>(t, op.getAxis()); }
};

// For s_{j+1} = a_j s_j + b_j the cotangent z_j of s_{j+1} is the state of the same recurrence
// from the other end, z_{j-1} = a_j z_j + ds_j, and db_j = z_j, da_j = z_j s_j.
struct RecurrenceRule {
  static Value run(RuleBuilder &k, RecurrenceOp op, Value terms, bool reverse) {
    return k.make<RecurrenceOp>(op.getFactors(), terms, /*start=*/0, op.getAxis(), reverse);
  }
  static Value pull(RuleBuilder &k, RecurrenceOp op, unsigned i, Value dy, Value acc) {
    Value z = run(k, op, dy, !op.getReverse());
    return k.accumulate(acc, i == 0 ? k.mul(z, op.getResult()) : z);
  }
  static Value push(RuleBuilder &k, RecurrenceOp op, unsigned i, Value t, Value acc) {
    return k.accumulate(acc, run(k, op, i == 0 ? k.mul(t, op.getResult()) : t, op.getReverse()));
  }
};

// The Jacobian diag(y) - y y^T is symmetric.
struct SoftmaxRule {
  static Value times(RuleBuilder &k, SoftmaxOp op, Value t) {
    Value y = op.getResult();
    return k.mul(y, k.sub(t, rowSum(k, op, k.mul(t, y))));
  }
  static Value pull(RuleBuilder &k, SoftmaxOp op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, times(k, op, dy));
  }
  static Value push(RuleBuilder &k, SoftmaxOp op, unsigned, Value t, Value) { return times(k, op, t); }
};

// The Jacobian is I - 1 exp(y)^T.
struct LogSoftmaxRule {
  static Value pull(RuleBuilder &k, LogSoftmaxOp op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, k.sub(dy, k.mul(k.exp(op.getResult()), rowSum(k, op, dy))));
  }
  static Value push(RuleBuilder &k, LogSoftmaxOp op, unsigned, Value t, Value) {
    return k.sub(t, rowSum(k, op, k.mul(k.exp(op.getResult()), t)));
  }
};

} // namespace

void attachReductionRules(MLIRContext &context) {
  SumOp::attachInterface<RuleModel<SlopeRule<SumSlope>, SumOp>>(context);
  MeanOp::attachInterface<RuleModel<SlopeRule<MeanSlope>, MeanOp>>(context);
  VarOp::attachInterface<RuleModel<SlopeRule<VarSlope>, VarOp>>(context);
  ProdOp::attachInterface<RuleModel<SlopeRule<ProdSlope>, ProdOp>>(context);
  ReduceMaxOp::attachInterface<RuleModel<SlopeRule<ExtremeSlope>, ReduceMaxOp>>(context);
  ReduceMinOp::attachInterface<RuleModel<SlopeRule<ExtremeSlope>, ReduceMinOp>>(context);
  LogSumExpOp::attachInterface<RuleModel<SlopeRule<LogSumExpSlope>, LogSumExpOp>>(context);
  NormOp::attachInterface<RuleModel<SlopeRule<NormSlope>, NormOp>>(context);
  CumsumOp::attachInterface<RuleModel<CumsumRule, CumsumOp>>(context);
  FlipOp::attachInterface<RuleModel<FlipRule, FlipOp>>(context);
  RecurrenceOp::attachInterface<RuleModel<RecurrenceRule, RecurrenceOp>>(context);
  SoftmaxOp::attachInterface<RuleModel<SoftmaxRule, SoftmaxOp>>(context);
  LogSoftmaxOp::attachInterface<RuleModel<LogSoftmaxRule, LogSoftmaxOp>>(context);
}

} // namespace kina
