//===- Decompose.cpp - Composite operations in simpler ones ---------------===//
//
// From kina to kina. Maxima are subtracted before exponentials, so that none overflows.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// Builds Kina operations at the location of the one that is replaced.
struct Composer {
  PatternRewriter &rewriter;
  Location loc;

  Composer(PatternRewriter &rewriter, Operation *op) : rewriter(rewriter), loc(op->getLoc()) {}

  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(rewriter, loc, std::forward<Args>(args)...);
  }

  template <typename Op>
  Value reduce(Value operand, ArrayRef<int64_t> axes, bool keepdims) {
    return make<Op>(operand, rewriter.getDenseI64ArrayAttr(axes),
                    keepdims ? rewriter.getUnitAttr() : UnitAttr());
  }

  Value broadcast(Value value, Type type) {
    return value.getType() == type ? value : make<BroadcastOp>(type, value);
  }

  /// The number, in the shape and element type of `type`.
  Value fill(Type type, double number) {
    Type element = getElementType(type);
    return broadcast(make<ConstantOp>(rewriter.getFloatAttr(element, number)), type);
  }
};

/// The product of the axes' sizes; null on overflow.
DimAttr countOf(Type type, ArrayRef<int64_t> axes) {
  DimAttr count = DimAttr::getConstant(type.getContext(), 1);
  for (int64_t axis : axes)
    count = mulDims(count, getShape(type)[axis]);
  return count;
}

struct DecomposeMean : OpRewritePattern<MeanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MeanOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    DimAttr count = countOf(op.getOperand().getType(), op.getAxes());
    if (!count)
      return rewriter.notifyMatchFailure(op, "element count overflows");
    Value sum = c.reduce<SumOp>(op.getOperand(), op.getAxes(), op.getKeepdims());
    Value size = c.make<DimOp>(getElementType(op.getType()), count);
    rewriter.replaceOp(op, c.make<DivOp>(sum, c.broadcast(size, op.getType())));
    return success();
  }
};

/// In two passes: the mean of squared distances from the mean.
struct DecomposeVar : OpRewritePattern<VarOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(VarOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    Value x = op.getOperand();
    Value mean = c.reduce<MeanOp>(x, op.getAxes(), /*keepdims=*/true);
    Value distance = c.make<SubOp>(x, c.broadcast(mean, x.getType()));
    rewriter.replaceOp(op, c.reduce<MeanOp>(c.make<SquareOp>(distance), op.getAxes(), op.getKeepdims()));
    return success();
  }
};

/// Where the largest element is so large or so small that a square would overflow or lose
/// digits, the elements are scaled by a power of two, which rounds nothing.
struct DecomposeNorm : OpRewritePattern<NormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    Value x = op.getOperand();
    // Exponents such that 2^38 squares fit between the ends of the range, scaled or not.
    struct Range {
      int large, down, small, up;
    } range = getElementType(x.getType()).isF64() ? Range{480, -560, -400, 600} : Range{44, -84, -50, 90};
    Value most = c.reduce<ReduceMaxOp>(c.make<AbsOp>(x), op.getAxes(), /*keepdims=*/true);
    auto power = [&](int exponent) { return c.fill(most.getType(), std::ldexp(1.0, exponent)); };
    Value isLarge = c.make<CmpOp>(CmpPredicate::gt, most, power(range.large));
    Value isSmall = c.make<CmpOp>(CmpPredicate::lt, most, power(range.small));
    Value scale = c.make<SelectOp>(isLarge, power(range.down), c.make<SelectOp>(isSmall, power(range.up), power(0)));
    Value squares = c.make<SquareOp>(c.make<MulOp>(x, c.broadcast(scale, x.getType())));
    Value root = c.make<SqrtOp>(c.reduce<SumOp>(squares, op.getAxes(), op.getKeepdims()));
    if (scale.getType() != op.getType())
      scale = c.make<ReshapeOp>(op.getType(), scale, UnitAttr());
    rewriter.replaceOp(op, c.make<DivOp>(root, scale));
    return success();
  }
};

struct DecomposeLogSumExp : OpRewritePattern<LogSumExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LogSumExpOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    Value x = op.getOperand();
    Value most = c.reduce<ReduceMaxOp>(x, op.getAxes(), /*keepdims=*/true);
    // inf - inf would be a NaN; without a shift the exponentials of such a row give inf, 0
    // or NaN as they should.
    Value shift = c.make<SelectOp>(most.getType(), c.make<IsFiniteOp>(most), most, c.fill(most.getType(), 0));
    Value terms = c.make<ExpOp>(c.make<SubOp>(x, c.broadcast(shift, x.getType())));
    Value logarithm = c.make<LogOp>(c.reduce<SumOp>(terms, op.getAxes(), op.getKeepdims()));
    if (shift.getType() != op.getType())
      shift = c.make<ReshapeOp>(op.getType(), shift, UnitAttr());
    rewriter.replaceOp(op, c.make<AddOp>(logarithm, shift));
    return success();
  }
};

/// x minus the largest element along the axis.
Value shiftByMax(Composer &c, Value x, int64_t axis) {
  return c.make<SubOp>(x, c.broadcast(c.reduce<ReduceMaxOp>(x, axis, /*keepdims=*/true), x.getType()));
}

struct DecomposeSoftmax : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    int64_t axis = op.getAxis();
    Value terms = c.make<ExpOp>(shiftByMax(c, op.getOperand(), axis));
    Value sum = c.reduce<SumOp>(terms, axis, /*keepdims=*/true);
    rewriter.replaceOp(op, c.make<DivOp>(terms, c.broadcast(sum, op.getType())));
    return success();
  }
};

struct DecomposeLogSoftmax : OpRewritePattern<LogSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LogSoftmaxOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    int64_t axis = op.getAxis();
    Value shifted = shiftByMax(c, op.getOperand(), axis);
    Value sum = c.reduce<SumOp>(c.make<ExpOp>(shifted), axis, /*keepdims=*/true);
    rewriter.replaceOp(op, c.make<SubOp>(shifted, c.broadcast(c.make<LogOp>(sum), op.getType())));
    return success();
  }
};

struct DecomposeLayerNorm : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    Composer c(rewriter, op);
    Value x = op.getOperand();
    int64_t last = getRank(x.getType()) - 1;
    Value distance = c.make<SubOp>(x, c.broadcast(c.reduce<MeanOp>(x, last, /*keepdims=*/true), x.getType()));
    Value variance = c.reduce<MeanOp>(c.make<SquareOp>(distance), last, /*keepdims=*/true);
    Value spread = c.make<AddOp>(variance, c.fill(variance.getType(), op.getEps().convertToDouble()));
    Value normal = c.make<MulOp>(distance, c.broadcast(c.make<RsqrtOp>(spread), x.getType()));
    rewriter.replaceOp(op, c.make<AddOp>(c.make<MulOp>(normal, c.broadcast(op.getScale(), x.getType())),
                                         c.broadcast(op.getBias(), x.getType())));
    return success();
  }
};

/// An accumulator that is there: an addition.
struct DecomposeAccumulate : OpRewritePattern<AccumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AccumulateOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getAccumulator(), op.getContribution());
    return success();
  }
};

/// f16 and bf16 stay in f32 from the first element to the last and round once.
template <typename OpTy>
struct WidenAccumulation : OpRewritePattern<OpTy> {
  // Before the operation is decomposed or lowered as it stands.
  WidenAccumulation(MLIRContext *context) : OpRewritePattern<OpTy>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementType(type);
    if (!element.isF16() && !element.isBF16())
      return failure();
    Composer c(rewriter, op);
    Type f32 = rewriter.getF32Type();
    OperationState state(op.getLoc(), op->getName());
    for (Value x : op->getOperands())
      state.addOperands(c.make<CastOp>(withElementType(x.getType(), f32), x));
    state.addTypes(withElementType(type, f32));
    state.addAttributes(op->getAttrs());
    rewriter.replaceOp(op, c.make<CastOp>(type, rewriter.create(state)->getResult(0)));
    return success();
  }
};

} // namespace

void populateKinaDecompositionPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMean, DecomposeVar, DecomposeNorm, DecomposeLogSumExp, DecomposeSoftmax,
               DecomposeLogSoftmax, DecomposeLayerNorm, DecomposeAccumulate, WidenAccumulation<SumOp>, WidenAccumulation<ProdOp>,
               WidenAccumulation<MeanOp>, WidenAccumulation<VarOp>, WidenAccumulation<NormOp>,
               WidenAccumulation<LogSumExpOp>, WidenAccumulation<CumsumOp>, WidenAccumulation<RecurrenceOp>,
               WidenAccumulation<SoftmaxOp>, WidenAccumulation<LogSoftmaxOp>,
               WidenAccumulation<LayerNormOp>>(patterns.getContext());
}

} // namespace kina
