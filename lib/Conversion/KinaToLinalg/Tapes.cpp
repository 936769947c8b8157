//===- Tapes.cpp - Tapes as tensors and as tapes of the run time ----------===//
//
// A bounded tape is a tensor of its frames. It becomes one here and not before, because
// the number of its frames is a run-time value that no type of Kina can name.
//
// A growable tape is one of the run time, whose frames are buffers. It is not threaded as
// tensors are: pushes and reads keep the order that they have here, for they act on memory.
// Deallocation takes a frame for a name of its tape, so no frame may get into a tensor that
// is passed on.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

bool isGrowable(Value tape) { return cast<TapeType>(tape.getType()).getForm() == TapeForm::Growable; }

/// The buffer of a frame of a growable tape, by the element of the tape.
MemRefType getFrameType(Type element) {
  return MemRefType::get(getStaticSizes(getShape(element)), getStorageType(getElementType(element)));
}

SmallVector<Value> getOpenSizes(OpBuilder &builder, Location loc, Type element) {
  SmallVector<Value> sizes;
  for (DimAttr dim : getShape(element))
    if (!dim.isConstant())
      sizes.push_back(getDimValue(builder, loc, dim));
  return sizes;
}

Value createFrame(OpBuilder &builder, Location loc, Value tape, Value at, Type element) {
  return rt::TapeFrameOp::create(builder, loc, getFrameType(element), tape, at,
                                 getOpenSizes(builder, loc, element));
}

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
    Type element = op.getTape().getType().getElement();
    SmallVector<Value> sizes = getOpenSizes(rewriter, op.getLoc(), element);
    // Its frames come with zeros in them.
    if (isGrowable(op.getTape())) {
      rewriter.replaceOpWithNewOp<rt::TapeNewOp>(op, rt::getTapeType(op.getContext()), sizes, getFrameType(element));
      return success();
    }
    auto type = dyn_cast_or_null<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "type does not convert");
    sizes.insert(sizes.begin(), adaptor.getBound());
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
    if (isGrowable(op.getTape())) {
      Value frame = createFrame(rewriter, op.getLoc(), adaptor.getTape(), adaptor.getAt(), element);
      if (getRank(element) == 0)
        memref::StoreOp::create(rewriter, op.getLoc(), adaptor.getValue(), frame);
      else
        bufferization::MaterializeInDestinationOp::create(rewriter, op.getLoc(), /*result=*/Type(), adaptor.getValue(),
                                                          frame, /*restrict=*/false, /*writable=*/true);
      rewriter.replaceOp(op, adaptor.getTape());
      return success();
    }
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
    if (isGrowable(op.getTape())) {
      Value frame = createFrame(rewriter, op.getLoc(), adaptor.getTape(), adaptor.getAt(), element);
      if (getRank(element) == 0) {
        rewriter.replaceOpWithNewOp<memref::LoadOp>(op, frame, ValueRange());
        return success();
      }
      // A copy: the tape is freed when its last frame was read, and the value may live on.
      auto type = cast<RankedTensorType>(getTypeConverter()->convertType(element));
      Value shown = bufferization::ToTensorOp::create(rewriter, op.getLoc(), type, frame, /*restrict=*/true);
      rewriter.replaceOpWithNewOp<bufferization::AllocTensorOp>(op, type, /*dynamicSizes=*/ValueRange(), shown);
      return success();
    }
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
