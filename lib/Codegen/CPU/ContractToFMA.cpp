//===- ContractToFMA.cpp - Contractions as FMA chains ---------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace kina {
#define GEN_PASS_DEF_CONTRACTTOFMA
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

/// The product that `block`, of the form `yield acc + a * b`, adds to its accumulator; null if
/// it has another form.
static arith::MulFOp getAccumulatedProduct(Block *block, arith::AddFOp &sum) {
  sum = block->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !(sum.getType().isF32() || sum.getType().isF64()))
    return nullptr;
  Value accumulator = block->getArguments().back();
  Value term = sum.getLhs() == accumulator   ? sum.getRhs()
               : sum.getRhs() == accumulator ? sum.getLhs()
                                             : Value();
  auto product = term ? term.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return product && product->hasOneUse() ? product : arith::MulFOp();
}

namespace {
struct ContractToFMAPass : public kina::impl::ContractToFMABase<ContractToFMAPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> contractions;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (linalg::isaContractionOpInterface(op))
        contractions.push_back(op);
    });
    for (linalg::LinalgOp op : contractions) {
      arith::AddFOp sum;
      if (!getAccumulatedProduct(op.getBlock(), sum))
        continue;
      rewriter.setInsertionPoint(op);
      if (!isa<linalg::GenericOp>(op)) {
        FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
        if (failed(generic))
          return signalPassFailure();
        op = *generic;
      }
      arith::MulFOp product = getAccumulatedProduct(op.getBlock(), sum);
      rewriter.setInsertionPoint(sum);
      rewriter.replaceOpWithNewOp<math::FmaOp>(sum, product.getLhs(), product.getRhs(),
                                               op.getBlock()->getArguments().back());
      rewriter.eraseOp(product);
    }
  }
};
} // namespace
