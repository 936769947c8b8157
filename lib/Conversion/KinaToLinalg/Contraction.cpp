//===- Contraction.cpp - Matrix products ----------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

/// Whether the right operand is copied first, its matrices turned. Where its rows are read along the contracted axis,
/// an element's chain of FMAs would be all there is in the innermost loop, and nothing could go beside it. The copy
/// takes as long as the product of one row.
bool turnsRhs(MatmulOp op) {
  return op.getTransposeB() && getShape(op.getType()).drop_back().back().getConstantValue() != 1;
}

Value turn(OpBuilder &builder, Location loc, TensorType type, Value value) {
  SmallVector<DimAttr> shape(type.getShape());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(shape.end()[-1], shape.end()[-2]);
  std::swap(order.end()[-1], order.end()[-2]);
  Value empty = createEmpty(builder, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, value, empty, order)->getResult(0);
}

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
    bool turns = turnsRhs(op);
    Value rhs = adaptor.getRhs();
    if (turns)
      rhs = turn(rewriter, op.getLoc(), cast<TensorType>(op.getRhs().getType()), rhs);
    AffineMap maps[] = {op.getTransposeA() ? mapOf(depth, row) : mapOf(row, depth),
                        op.getTransposeB() && !turns ? mapOf(column, depth) : mapOf(depth, column), mapOf(row, column)};
    SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;
    rewriter.replaceOp(op, createProductSum(rewriter, op.getLoc(), adaptor.getLhs(), rhs, adaptor.getOuts(),
                                            type.getShape(), type.getElementType(), maps, iterators));
    return success();
  }
};

} // namespace

void populateKinaContractionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MatmulLowering>(converter, patterns.getContext());
}

} // namespace kina
