//===- Tapes.cpp - Tapes as tensors ---------------------------------------===//
//
// A bounded tape is a tensor of its frames. It becomes one here and not before, because
// the number of its frames is a run-time value that no type of Kina can name.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// The box of frame `at`.
struct Frame {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Frame(OpBuilder &builder, Location loc, Value at, Type element)
      : offsets{at}, sizes{builder.getIndexAttr(1)}, strides{builder.getIndexAttr(1)} {
    llvm::append_range(sizes, getDimSizes(builder, loc, getShape(element)));
    offsets.resize(sizes.size(), builder.getIndexAttr(0));
    strides.resize(sizes.size(), builder.getIndexAttr(1));
  }
};

/// A box of nothing at an offset does not verify; there is nothing to move either.
bool isEmpty(Type element) {
  return llvm::any_of(getShape(element), [](DimAttr dim) { return dim.isConstant(0); });
}

/// Room for the frames, with zeros in them or without.
template <typename OpTy>
struct TapeNewLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "type does not convert");
    SmallVector<Value> sizes{adaptor.getBound()};
    for (DimAttr dim : getShape(op.getTape().getType().getElement()))
      if (!dim.isConstant())
        sizes.push_back(getDimValue(rewriter, op.getLoc(), dim));
    Value frames = tensor::EmptyOp::create(rewriter, op.getLoc(), type, sizes);
    if constexpr (std::is_same_v<OpTy, TapeZerosOp>) {
      Value zero = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getZeroAttr(type.getElementType()));
      frames = linalg::FillOp::create(rewriter, op.getLoc(), zero, frames).getResult(0);
    }
    rewriter.replaceOp(op, frames);
    return success();
  }
};

struct TapeLengthLowering : OpConversionPattern<TapeLengthOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TapeLengthOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<tensor::DimOp>(op, adaptor.getTape(), 0);
    return success();
  }
};

struct TapeAddLowering : OpConversionPattern<TapeAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TapeAddOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, createPointwise(rewriter, op.getLoc(), {adaptor.getRhs()}, adaptor.getLhs(),
                                           [](OpBuilder &b, Location loc, ValueRange v) {
                                             return emitAdd(b, loc, v[1], v[0]);
                                           }));
    return success();
  }
};

struct TapePushLowering : OpConversionPattern<TapePushOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TapePushOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getValue().getType();
    if (getRank(element) == 0) {
      rewriter.replaceOpWithNewOp<tensor::InsertOp>(op, adaptor.getValue(), adaptor.getTape(), adaptor.getAt());
      return success();
    }
    if (isEmpty(element)) {
      rewriter.replaceOp(op, adaptor.getTape());
      return success();
    }
    Frame frame(rewriter, op.getLoc(), adaptor.getAt(), element);
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, adaptor.getValue(), adaptor.getTape(), frame.offsets,
                                                       frame.sizes, frame.strides);
    return success();
  }
};

struct TapeReadLowering : OpConversionPattern<TapeReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TapeReadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getValue().getType();
    if (getRank(element) == 0) {
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, adaptor.getTape(), adaptor.getAt());
      return success();
    }
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(element));
    if (isEmpty(element)) {
      SmallVector<OpFoldResult> sizes = getDimSizes(rewriter, op.getLoc(), getShape(element));
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, sizes, type.getElementType());
      return success();
    }
    Frame frame(rewriter, op.getLoc(), adaptor.getAt(), element);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, adaptor.getTape(), frame.offsets, frame.sizes,
                                                        frame.strides);
    return success();
  }
};

} // namespace

void populateKinaTapesToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<TapeNewLowering<TapeNewOp>, TapeNewLowering<TapeZerosOp>, TapePushLowering, TapeReadLowering,
               TapeLengthLowering, TapeAddLowering>(converter, patterns.getContext());
}

} // namespace kina
