//===- Shape.cpp - Broadcast, transpose, concat, flip, reshape ------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

struct BroadcastLowering : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    if (!isa<RankedTensorType>(adaptor.getOperand().getType())) {
      rewriter.replaceOp(op, createFilled(rewriter, loc, type.getShape(), adaptor.getOperand()));
      return success();
    }
    ArrayRef<DimAttr> source = getShape(op.getOperand().getType());
    unsigned rank = type.getRank(), missing = rank - source.size();
    SmallVector<AffineExpr> read;
    for (auto [axis, dim] : llvm::enumerate(source)) {
      bool repeated = dim != type.getDim(missing + axis);
      read.push_back(repeated ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(missing + axis));
    }
    AffineMap maps[] = {AffineMap::get(rank, 0, read, rewriter.getContext()),
                        rewriter.getMultiDimIdentityMap(rank)};
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(op, createGeneric(rewriter, loc, adaptor.getOperand(), empty, maps, iterators,
                                         [](OpBuilder &, Location, ValueRange v) { return v[0]; }));
    return success();
  }
};

struct TransposeLowering : OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    auto transpose = linalg::TransposeOp::create(rewriter, loc, adaptor.getOperand(), empty, op.getPerm());
    rewriter.replaceOp(op, transpose->getResult(0));
    return success();
  }
};

/// Every input goes into its box of one tensor, in which it can be computed at once.
struct ConcatLowering : OpConversionPattern<ConcatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConcatOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
        strides(type.getRank(), rewriter.getIndexAttr(1));
    DimAttr offset = DimAttr::getConstant(getContext(), 0);
    Value result = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    for (auto [input, value] : llvm::zip(op.getInputs(), adaptor.getInputs())) {
      ArrayRef<DimAttr> shape = getShape(input.getType());
      if (isEmpty(shape))
        continue;
      offsets[op.getAxis()] = getDimSize(rewriter, loc, offset);
      result = tensor::InsertSliceOp::create(rewriter, loc, value, result, offsets, getDimSizes(rewriter, loc, shape),
                                             strides);
      offset = addDims(offset, shape[op.getAxis()]);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct FlipLowering : OpConversionPattern<FlipOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(FlipOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    int64_t axis = op.getAxis();
    Value last = arith::SubIOp::create(rewriter, loc, getDimValue(rewriter, loc, type.getDim(axis)),
                                       createIndex(rewriter, loc, 1));
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(op, createPointwise(rewriter, loc, {}, empty, [&](OpBuilder &inner, Location at, ValueRange) {
                         SmallVector<Value> positions;
                         for (unsigned i = 0; i < type.getRank(); ++i)
                           positions.push_back(linalg::IndexOp::create(inner, at, i));
                         positions[axis] = arith::SubIOp::create(inner, at, last, positions[axis]);
                         return tensor::ExtractOp::create(inner, at, adaptor.getOperand(), positions).getResult();
                       }));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Axes of the source and axes of the target that hold the same elements.
struct Group {
  ReassociationIndices source, target;
};

/// Cuts both shapes into the smallest groups with equal products in normal form. Every group
/// has axes on both sides; axes of size 1 left over on one side join a neighbour. The
/// products of the whole shapes are equal, so this always ends with every axis in a group.
SmallVector<Group> matchGroups(ArrayRef<DimAttr> source, ArrayRef<DimAttr> target) {
  SmallVector<Group> groups;
  MLIRContext *context = source.front().getContext();
  auto append = [](ReassociationIndices &indices, unsigned from, unsigned to) {
    for (unsigned axis = from; axis < to; ++axis)
      indices.push_back(axis);
  };
  unsigned i = 0, j = 0;
  while (i < source.size() && j < target.size()) {
    // The pair of ends with the fewest axes; the whole rest is one.
    auto findEnds = [&]() -> std::pair<unsigned, unsigned> {
      for (unsigned count = 2; count <= source.size() - i + target.size() - j; ++count)
        for (unsigned m = 1; m < count; ++m) {
          unsigned n = count - m;
          if (i + m > source.size() || j + n > target.size())
            continue;
          DimAttr a = productOf(context, source.slice(i, m)), b = productOf(context, target.slice(j, n));
          if (a && a == b)
            return {i + m, j + n};
        }
      return {source.size(), target.size()};
    };
    auto [nextI, nextJ] = findEnds();
    Group &group = groups.emplace_back();
    append(group.source, i, nextI);
    append(group.target, j, nextJ);
    i = nextI;
    j = nextJ;
  }
  append(groups.back().source, i, source.size());
  append(groups.back().target, j, target.size());
  return groups;
}

struct ReshapeLowering : OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayRef<DimAttr> source = getShape(op.getOperand().getType()), target = getShape(op.getType());
    Value value = adaptor.getOperand();
    DimAttr from = productOf(getContext(), source), to = productOf(getContext(), target);
    if (from != to)
      checkCounts(op, from, to, rewriter);

    if (source.empty() && target.empty()) {
      rewriter.replaceOp(op, value);
      return success();
    }
    if (source.empty()) {
      // One element: a target of symbolic sizes has them all 1.
      Value one = tensor::FromElementsOp::create(
          rewriter, loc, RankedTensorType::get(SmallVector<int64_t>(target.size(), 1), value.getType()), value);
      rewriter.replaceOp(op, castTo(rewriter, loc, one, getStaticSizes(target)));
      return success();
    }
    if (target.empty()) {
      SmallVector<Value> zeros(source.size(), createIndex(rewriter, loc, 0));
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, value, zeros);
      return success();
    }

    SmallVector<Group> groups;
    if (from == to)
      groups = matchGroups(source, target);
    else
      groups.push_back(Group{llvm::to_vector<2>(llvm::seq<int64_t>(0, source.size())),
                             llvm::to_vector<2>(llvm::seq<int64_t>(0, target.size()))});
    SmallVector<ReassociationIndices> collapse, expand;
    for (const Group &group : groups) {
      collapse.push_back(group.source);
      expand.push_back(group.target);
    }
    // Where several sizes of a group are known only when executed, its strides are not a
    // function of the collapsed size: the shape is handed over as a tensor.
    auto isOpen = [&](const Group &group) {
      return llvm::count_if(group.target, [&](int64_t axis) { return !target[axis].isConstant(); }) > 1;
    };
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (llvm::any_of(groups, isOpen)) {
      SmallVector<Value> sizes =
          llvm::map_to_vector(target, [&](DimAttr dim) { return getDimValue(rewriter, loc, dim); });
      Value shape = tensor::FromElementsOp::create(rewriter, loc, sizes);
      rewriter.replaceOpWithNewOp<tensor::ReshapeOp>(op, type, value, shape);
      return success();
    }
    if (collapse.size() < source.size())
      value = tensor::CollapseShapeOp::create(rewriter, loc, value, collapse);
    // A group whose count is a constant on one side only.
    SmallVector<int64_t> middle;
    for (const Group &group : groups) {
      int64_t size = 1;
      for (int64_t axis : group.target) {
        int64_t axisSize = getStaticSize(target[axis]);
        if (ShapedType::isDynamic(axisSize)) {
          size = ShapedType::kDynamic;
          break;
        }
        size *= axisSize;
      }
      middle.push_back(size);
    }
    value = castTo(rewriter, loc, value, middle);
    if (expand.size() < target.size())
      value = tensor::ExpandShapeOp::create(rewriter, loc, type, value, expand, getDimSizes(rewriter, loc, target));
    rewriter.replaceOp(op, value);
    return success();
  }

  static Value castTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> sizes) {
    auto type = RankedTensorType::get(sizes, getElementTypeOrSelf(value.getType()));
    return value.getType() == type ? value : tensor::CastOp::create(builder, loc, type, value);
  }

  static void checkCounts(ReshapeOp op, DimAttr from, DimAttr to, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value a = getDimValue(builder, loc, from), b = getDimValue(builder, loc, to);
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
    Spellings spellings(op);
    createCheck(builder, loc, equal, kRequiresCode,
                "reshape changes the element count from {0} (" + spellings.spell(from) + ") to {1} (" +
                    spellings.spell(to) + ")",
                {a, b});
  }
};

} // namespace

void populateKinaShapeToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BroadcastLowering, TransposeLowering, ConcatLowering, FlipLowering, ReshapeLowering>(
      converter, patterns.getContext());
}

} // namespace kina
