//===- Contraction.cpp - Matrix products ----------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// A loop per batch axis, rows, columns and the contracted axis.
struct MatmulLowering : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<TensorType>(op.getType());
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
    rewriter.replaceOp(op, createProductSum(rewriter, op.getLoc(), adaptor.getLhs(), adaptor.getRhs(),
                                            adaptor.getOuts(), type.getShape(), type.getElementType(), maps,
                                            iterators));
    return success();
  }
};

} // namespace

void populateKinaContractionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MatmulLowering>(converter, patterns.getContext());
}

} // namespace kina
