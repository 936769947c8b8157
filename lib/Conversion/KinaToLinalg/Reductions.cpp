//===- Reductions.cpp - Reductions and running sums -----------------------===//
//
// Terms are combined in row-major order of the reduced axes, from the neutral element on.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// The axes that a reduction keeps, as loops of the operand and as a shape.
struct Kept {
  SmallVector<AffineExpr> exprs;
  SmallVector<DimAttr> shape;
  SmallVector<utils::IteratorType> iterators;

  Kept(Type operand, ArrayRef<int64_t> axes) {
    for (auto [axis, dim] : llvm::enumerate(getShape(operand))) {
      bool reduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
      iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (reduced)
        continue;
      exprs.push_back(getAffineDimExpr(axis, operand.getContext()));
      shape.push_back(dim);
    }
  }
};

/// A reduced tensor (without the axes) as the result of the operation: a scalar, the tensor
/// itself, or with axes of size 1 where `keepdims` asks for them.
Value finishReduction(OpBuilder &builder, Location loc, Value reduced, Type type, bool keepdims,
                      ArrayRef<int64_t> axes, unsigned rank) {
  if (getRank(type) == 0)
    return tensor::ExtractOp::create(builder, loc, reduced, ValueRange());
  if (!keepdims)
    return reduced;
  // Every kept axis takes the reduced ones before it into its group; the last kept one also
  // those behind it. No kept axis: all sizes are 1, and the groups are none.
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (unsigned axis = 0; axis < rank; ++axis) {
    pending.push_back(axis);
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis))) {
      groups.push_back(pending);
      pending.clear();
    }
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), pending);
  ArrayRef<DimAttr> shape = getShape(type);
  auto expanded = RankedTensorType::get(getStaticSizes(shape), getElementTypeOrSelf(reduced.getType()));
  return tensor::ExpandShapeOp::create(builder, loc, expanded, reduced, groups,
                                       getDimSizes(builder, loc, shape));
}

/// The smallest (or largest) value of the type, neutral for max (min).
Value createExtreme(OpBuilder &builder, Location loc, Type element, bool smallest) {
  Type storage = getStorageType(element);
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return createScalar(builder, loc, storage, smallest ? -infinity : infinity);
  }
  unsigned width = isa<IndexType>(storage) ? 64 : storage.getIntOrFloatBitWidth();
  APInt value = element.isUnsignedInteger()
                    ? (smallest ? APInt::getMinValue(width) : APInt::getMaxValue(width))
                    : (smallest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(storage, value));
}

/// The neutral element and the combination of each reduction.
struct Rule {
  OpBuilder &builder;
  Location loc;
  Type element;

  bool isFloat() const { return isa<FloatType>(element); }
  Value number(double value) const { return createScalar(builder, loc, getStorageType(element), value); }

  Value neutral(SumOp) const { return number(0); }
  Value combine(SumOp, OpBuilder &b, Location at, Value x, Value sum) const { return emitAdd(b, at, sum, x); }

  Value neutral(ProdOp) const { return number(1); }
  Value combine(ProdOp, OpBuilder &b, Location at, Value x, Value product) const {
    if (isFloat())
      return arith::MulFOp::create(b, at, product, x);
    return arith::MulIOp::create(b, at, product, x);
  }

  Value neutral(ReduceMaxOp) const { return createExtreme(builder, loc, element, /*smallest=*/true); }
  Value combine(ReduceMaxOp, OpBuilder &b, Location at, Value x, Value most) const {
    if (isFloat())
      return arith::MaximumFOp::create(b, at, most, x);
    if (element.isUnsignedInteger())
      return arith::MaxUIOp::create(b, at, most, x);
    return arith::MaxSIOp::create(b, at, most, x);
  }

  Value neutral(ReduceMinOp) const { return createExtreme(builder, loc, element, /*smallest=*/false); }
  Value combine(ReduceMinOp, OpBuilder &b, Location at, Value x, Value least) const {
    if (isFloat())
      return arith::MinimumFOp::create(b, at, least, x);
    if (element.isUnsignedInteger())
      return arith::MinUIOp::create(b, at, least, x);
    return arith::MinSIOp::create(b, at, least, x);
  }

  Value neutral(AnyOp) const { return number(0); }
  Value combine(AnyOp, OpBuilder &b, Location at, Value x, Value any) const {
    return arith::OrIOp::create(b, at, any, x);
  }

  Value neutral(AllOp) const { return number(1); }
  Value combine(AllOp, OpBuilder &b, Location at, Value x, Value all) const {
    return arith::AndIOp::create(b, at, all, x);
  }
};

template <typename OpTy>
struct ReductionLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type operand = op.getOperand().getType();
    if (op.getAxes().empty()) {
      rewriter.replaceOp(op, adaptor.getOperand());
      return success();
    }
    Rule rule{rewriter, loc, getElementType(operand)};
    Kept kept(operand, op.getAxes());
    unsigned rank = getRank(operand);
    Value init = createFilled(rewriter, loc, kept.shape, rule.neutral(op));
    AffineMap maps[] = {rewriter.getMultiDimIdentityMap(rank),
                        AffineMap::get(rank, 0, kept.exprs, rewriter.getContext())};
    Value reduced = createGeneric(rewriter, loc, adaptor.getOperand(), init, maps, kept.iterators,
                                  [&](OpBuilder &inner, Location at, ValueRange v) {
                                    return rule.combine(op, inner, at, v[0], v[1]);
                                  });
    rewriter.replaceOp(op, finishReduction(rewriter, loc, reduced, op.getType(), op.getKeepdims(), op.getAxes(),
                                           rank));
    return success();
  }
};

/// Carries the best element and its position, -1 before the first. A later element wins only
/// if it is strictly better; a NaN wins once.
template <typename OpTy>
struct ArgReductionLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr bool isMax = std::is_same_v<OpTy, ArgMaxOp>;
    Location loc = op.getLoc();
    Type operand = op.getOperand().getType(), element = getElementType(operand);
    int64_t axis = op.getAxis();
    unsigned rank = getRank(operand);
    Kept kept(operand, axis);
    Type i32 = rewriter.getI32Type();
    Value best = createFilled(rewriter, loc, kept.shape, createExtreme(rewriter, loc, element, isMax));
    Value position = createFilled(rewriter, loc, kept.shape, createScalar(rewriter, loc, i32, -1));
    AffineMap keptMap = AffineMap::get(rank, 0, kept.exprs, rewriter.getContext());
    AffineMap maps[] = {rewriter.getMultiDimIdentityMap(rank), keptMap, keptMap};
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{best.getType(), position.getType()}, adaptor.getOperand(),
        ValueRange{best, position}, maps, kept.iterators, [&](OpBuilder &inner, Location at, ValueRange v) {
          Value here = arith::IndexCastOp::create(inner, at, i32, linalg::IndexOp::create(inner, at, axis));
          Value none = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::slt, v[2],
                                             createScalar(inner, at, i32, 0));
          Value better;
          if (isa<FloatType>(element)) {
            // Ordered or unordered: true for a NaN too, which then must meet no NaN.
            auto predicate = isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
            Value wins = arith::CmpFOp::create(inner, at, predicate, v[0], v[1]);
            Value number = arith::CmpFOp::create(inner, at, arith::CmpFPredicate::ORD, v[1], v[1]);
            better = arith::AndIOp::create(inner, at, wins, number);
          } else {
            using P = arith::CmpIPredicate;
            P predicate = element.isUnsignedInteger() ? (isMax ? P::ugt : P::ult) : (isMax ? P::sgt : P::slt);
            better = arith::CmpIOp::create(inner, at, predicate, v[0], v[1]);
          }
          better = arith::OrIOp::create(inner, at, none, better);
          Value value = arith::SelectOp::create(inner, at, better, v[0], v[1]);
          Value index = arith::SelectOp::create(inner, at, better, here, v[2]);
          linalg::YieldOp::create(inner, at, ValueRange{value, index});
        });
    rewriter.replaceOp(op, finishReduction(rewriter, loc, generic.getResult(1), op.getType(), op.getKeepdims(),
                                           axis, rank));
    return success();
  }
};

/// How a state goes along an axis.
struct Scan {
  int64_t axis;
  double start;
  /// From the last element to the first.
  bool reverse;
  /// Whether element j of the result is the state behind element j, or before it.
  bool inclusive;
};

/// A loop over the axis that carries the result and the state, both in place. `step` computes
/// the next state from the elements of the operands and the state.
Value createScan(OpBuilder &builder, Location loc, TensorType type, Scan scan, ValueRange operands,
                 BodyBuilder step) {
  Kept kept(type, scan.axis);
  Type element = getStorageType(type.getElementType());
  Value start = createScalar(builder, loc, element, scan.start);
  bool isVector = type.getRank() == 1;
  SmallVector<Value> inits = {createEmpty(builder, loc, type.getShape(), type.getElementType()),
                              isVector ? start : createFilled(builder, loc, kept.shape, start)};
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)), sizes = getDimSizes(builder, loc, type.getShape());
  sizes[scan.axis] = builder.getIndexAttr(1);
  auto row = RankedTensorType::get(getStaticSizes(kept.shape), element);
  Value size = getDimValue(builder, loc, type.getDim(scan.axis)), one = createIndex(builder, loc, 1), last;
  if (scan.reverse)
    last = arith::SubIOp::create(builder, loc, size, one);
  auto loop = scf::ForOp::create(
      builder, loc, createIndex(builder, loc, 0), size, one, inits,
      [&](OpBuilder &b, Location at, Value i, ValueRange carried) {
        if (scan.reverse)
          i = arith::SubIOp::create(b, at, last, i);
        offsets[scan.axis] = i;
        auto read = [&](Value x) -> Value {
          if (isVector)
            return tensor::ExtractOp::create(b, at, x, i);
          return tensor::ExtractSliceOp::create(b, at, row, x, offsets, sizes, strides);
        };
        auto write = [&](Value state) -> Value {
          if (isVector)
            return tensor::InsertOp::create(b, at, state, carried[0], i);
          return tensor::InsertSliceOp::create(b, at, state, carried[0], offsets, sizes, strides);
        };
        SmallVector<Value> terms = llvm::map_to_vector(operands, read);
        Value out, state = carried[1];
        // The state is overwritten by the next one, so it is copied first.
        if (!scan.inclusive)
          out = write(state);
        if (isVector) {
          terms.push_back(state);
          state = step(b, at, terms);
        } else {
          state = createPointwise(b, at, terms, state, step);
        }
        if (scan.inclusive)
          out = write(state);
        scf::YieldOp::create(b, at, ValueRange{out, state});
      });
  return loop.getResult(0);
}

struct CumsumLowering : OpConversionPattern<CumsumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CumsumOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Scan scan{static_cast<int64_t>(op.getAxis()), /*start=*/0, /*reverse=*/false, /*inclusive=*/true};
    rewriter.replaceOp(op, createScan(rewriter, op.getLoc(), cast<TensorType>(op.getType()), scan,
                                      adaptor.getOperand(), [](OpBuilder &b, Location at, ValueRange v) {
                                        return emitAdd(b, at, v[1], v[0]);
                                      }));
    return success();
  }
};

struct RecurrenceLowering : OpConversionPattern<RecurrenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(RecurrenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Scan scan{static_cast<int64_t>(op.getAxis()), static_cast<double>(static_cast<int64_t>(op.getStart())),
              op.getReverse(), /*inclusive=*/false};
    rewriter.replaceOp(op, createScan(rewriter, op.getLoc(), cast<TensorType>(op.getType()), scan,
                                      adaptor.getOperands(), [](OpBuilder &b, Location at, ValueRange v) {
                                        return emitAdd(b, at, arith::MulFOp::create(b, at, v[0], v[2]), v[1]);
                                      }));
    return success();
  }
};

} // namespace

void populateKinaReductionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReductionLowering<SumOp>, ReductionLowering<ProdOp>, ReductionLowering<ReduceMaxOp>,
               ReductionLowering<ReduceMinOp>, ReductionLowering<AnyOp>, ReductionLowering<AllOp>,
               ArgReductionLowering<ArgMaxOp>, ArgReductionLowering<ArgMinOp>, CumsumLowering,
               RecurrenceLowering>(
      converter, patterns.getContext());
}

} // namespace kina
