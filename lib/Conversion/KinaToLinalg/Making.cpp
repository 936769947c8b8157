//===- Making.cpp - Constants, ranges, one-hot rows -----------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// The attribute in the signless type that it is stored in.
TypedAttr getStorageAttr(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return IntegerAttr::get(getStorageType(integer.getType()), integer.getValue());
  return value;
}

struct ConstantLowering : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, getStorageAttr(op.getValue()));
    return success();
  }
};

struct FromElementsLowering : OpConversionPattern<FromElementsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(FromElementsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    SmallVector<Attribute> constants;
    for (Value element : op.getElements())
      if (auto constant = element.getDefiningOp<ConstantOp>())
        constants.push_back(getStorageAttr(constant.getValue()));
    if (constants.size() == op.getElements().size())
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(type, constants));
    else
      rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(op, type, adaptor.getElements());
    return success();
  }
};

struct IotaLowering : OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(IotaOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<TensorType>(op.getType());
    Value empty = createEmpty(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOp(op, createPointwise(rewriter, op.getLoc(), {}, empty,
                                           [&](OpBuilder &inner, Location at, ValueRange) {
                                             Value here = linalg::IndexOp::create(inner, at, op.getAxis());
                                             return emitCast(inner, at, here, inner.getIndexType(),
                                                             type.getElementType());
                                           }));
    return success();
  }
};

struct OneHotLowering : OpConversionPattern<OneHotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(OneHotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    unsigned rank = type.getRank();
    Type storage = getStorageType(type.getElementType());
    Type position = getElementType(op.getIndices().getType());
    Value empty = createEmpty(rewriter, loc, type.getShape(), storage);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    if (rank > 1) {
      inputs.push_back(adaptor.getIndices());
      maps.push_back(rewriter.getMultiDimIdentityMap(rank).getMajorSubMap(rank - 1));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    rewriter.replaceOp(
        op, createGeneric(rewriter, loc, inputs, empty, maps, iterators,
                          [&](OpBuilder &inner, Location at, ValueRange v) -> Value {
                            Value wanted = rank > 1 ? v[0] : adaptor.getIndices();
                            Value hot = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq,
                                                              emitPosition(inner, at, wanted, position),
                                                              linalg::IndexOp::create(inner, at, rank - 1));
                            return arith::SelectOp::create(inner, at, hot, createScalar(inner, at, storage, 1),
                                                           createScalar(inner, at, storage, 0));
                          }));
    return success();
  }
};

} // namespace

void populateKinaMakingToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConstantLowering, FromElementsLowering, IotaLowering, OneHotLowering>(converter,
                                                                                     patterns.getContext());
}

} // namespace kina
