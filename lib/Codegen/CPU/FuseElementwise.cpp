//===- FuseElementwise.cpp - Fusion that repeats no work ------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

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

/// Where nothing else tells how far a loop goes, upstream keeps the result of what was fused as one more output, even of
/// a reduction, which then writes it in loops that reduce. Such an output becomes an input that is not read; what uses
/// it gets an operation of its own.
static void dropMovingOutputs(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  auto moves = [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return llvm::any_of(reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  };
  if (llvm::none_of(op.getDpsInitsMutable(), moves))
    return;
  rewriter.setInsertionPoint(op);
  Operation *yield = op.getBlock()->getTerminator();
  SmallVector<AffineMap> inputMaps, outputMaps;
  SmallVector<Value> inputs(op.getInputs()), outputs, yielded;
  for (OpOperand *input : op.getDpsInputOperands())
    inputMaps.push_back(op.getMatchingIndexingMap(input));
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumDpsInputs()));
  SmallVector<unsigned> kept;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    unsigned number = init.getOperandNumber() - op.getNumDpsInputs();
    if (!moves(init)) {
      kept.push_back(number);
      continue;
    }
    inputs.push_back(init.get());
    inputMaps.push_back(op.getMatchingIndexingMap(&init));
    order.push_back(init.getOperandNumber());
    OpResult result = op.getTiedOpResult(&init);
    if (result.use_empty())
      continue;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    maps.push_back(op.getMatchingIndexingMap(&init));
    SmallVector<utils::IteratorType> parallel(op.getNumLoops(), utils::IteratorType::parallel);
    auto apart = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange{result.getType()}, op.getInputs(), ValueRange{init.get()}, maps, parallel,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          IRMapping mapping;
          for (auto [from, to] : llvm::zip(op.getBlock()->getArguments(), arguments.drop_back()))
            mapping.map(from, to);
          mapping.map(op.getMatchingBlockArgument(&init), arguments.back());
          // What the other outputs are computed of is not needed.
          llvm::SetVector<Operation *> needed;
          auto collect = [&](auto &&self, Value value) -> void {
            Operation *inner = value.getDefiningOp();
            if (inner && inner->getBlock() == op.getBlock() && !needed.contains(inner)) {
              for (Value operand : inner->getOperands())
                self(self, operand);
              needed.insert(inner);
            }
          };
          collect(collect, yield->getOperand(number));
          for (Operation *inner : needed)
            builder.clone(*inner, mapping);
          linalg::YieldOp::create(builder, loc, mapping.lookupOrDefault(yield->getOperand(number)));
        });
    rewriter.replaceAllUsesWith(result, apart.getResult(0));
  }
  SmallVector<Type> types;
  for (unsigned number : kept) {
    OpOperand *init = op.getDpsInitOperand(number);
    outputs.push_back(init->get());
    outputMaps.push_back(op.getMatchingIndexingMap(init));
    order.push_back(init->getOperandNumber());
    yielded.push_back(yield->getOperand(number));
    types.push_back(op.getResult(number).getType());
  }
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, outputMaps);
  auto fused = linalg::GenericOp::create(rewriter, op.getLoc(), types, inputs, outputs, maps, op.getIteratorTypesArray(),
                                         [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                           IRMapping mapping;
                                           for (auto [from, to] : llvm::zip(order, arguments))
                                             mapping.map(op.getBlock()->getArgument(from), to);
                                           for (Operation &inner : op.getBlock()->without_terminator())
                                             builder.clone(inner, mapping);
                                           linalg::YieldOp::create(
                                               builder, loc, llvm::map_to_vector(yielded, [&](Value value) {
                                                 return mapping.lookupOrDefault(value);
                                               }));
                                         });
  for (auto [number, result] : llvm::zip(kept, fused.getResults()))
    rewriter.replaceAllUsesWith(op.getResult(number), result);
  rewriter.eraseOp(op);
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
      return signalPassFailure();
    IRRewriter rewriter(context);
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      dropMovingOutputs(rewriter, op);
  }
};
} // namespace
