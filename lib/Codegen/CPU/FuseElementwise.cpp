//===- FuseElementwise.cpp - Fusion that repeats no work ------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

namespace kina {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

/// Whether the consumer looks at each element of `operand` once, or the producer costs nothing.
static bool repeatsNoWork(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  // A body that computes nothing only chooses what is read: a broadcast, a transposition.
  bool copiesOnly = producer.getBlock()->getOperations().size() == 1;
  if (!producer->hasOneUse() && !copiesOnly)
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return copiesOnly || (map.isPermutation() && map.getNumDims() == map.getNumResults());
}

namespace {
struct FuseElementwisePass : public kina::impl::FuseElementwiseBase<FuseElementwisePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
      return repeatsNoWork(operand);
    });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    // What gets an axis of size 1 only to go into a box of another tensor is computed there.
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
