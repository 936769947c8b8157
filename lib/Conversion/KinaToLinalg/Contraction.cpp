//===- Contraction.cpp - Matrix products ----------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// One `linalg.generic` with a loop per batch axis, rows, columns and the contracted axis.
/// Each element is a single chain over k that starts at the accumulator: fused
/// multiply-adds on f32 and f64. 16-bit floats accumulate in f32.
struct MatmulLowering : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    Type element = type.getElementType(), storage = getStorageType(element);
    bool isNarrow = element.isF16() || element.isBF16();
    Type sumType = isNarrow ? rewriter.getF32Type() : storage;

    Value init = adaptor.getOuts();
    if (!init) {
      init = createFilled(rewriter, loc, type.getShape(), createScalar(rewriter, loc, sumType, 0));
    } else if (isNarrow) {
      Value wide = createEmpty(rewriter, loc, type.getShape(), sumType);
      init = createPointwise(rewriter, loc, init, wide, [&](OpBuilder &inner, Location at, ValueRange v) {
        return emitCast(inner, at, v[0], element, sumType);
      });
    }

    unsigned batch = type.getRank() - 2, loops = batch + 3;
    AffineExpr row = rewriter.getAffineDimExpr(batch), column = rewriter.getAffineDimExpr(batch + 1),
               depth = rewriter.getAffineDimExpr(batch + 2);
    auto mapOf = [&](AffineExpr a, AffineExpr b) {
      SmallVector<AffineExpr> results;
      for (unsigned i = 0; i < batch; ++i)
        results.push_back(rewriter.getAffineDimExpr(i));
      results.append({a, b});
      return AffineMap::get(loops, 0, results, rewriter.getContext());
    };
    AffineMap maps[] = {op.getTransposeA() ? mapOf(depth, row) : mapOf(row, depth),
                        op.getTransposeB() ? mapOf(column, depth) : mapOf(depth, column), mapOf(row, column)};
    SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;
    Value result = createGeneric(
        rewriter, loc, {adaptor.getLhs(), adaptor.getRhs()}, init, maps, iterators,
        [&](OpBuilder &inner, Location at, ValueRange v) -> Value {
          if (isa<FloatType>(sumType)) {
            Value a = emitCast(inner, at, v[0], element, sumType), b = emitCast(inner, at, v[1], element, sumType);
            return math::FmaOp::create(inner, at, a, b, v[2]);
          }
          return arith::AddIOp::create(inner, at, v[2], arith::MulIOp::create(inner, at, v[0], v[1]));
        });
    if (isNarrow) {
      Value narrow = createEmpty(rewriter, loc, type.getShape(), element);
      result = createPointwise(rewriter, loc, result, narrow, [&](OpBuilder &inner, Location at, ValueRange v) {
        return emitCast(inner, at, v[0], sumType, element);
      });
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateKinaContractionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MatmulLowering>(converter, patterns.getContext());
}

} // namespace kina
