//===- LinalgToLoops.cpp - Loop nests with contiguous inner loops ---------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace kina {
#define GEN_PASS_DEF_LINALGTOLOOPS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

/// The number of operands that a loop over `dim`, if innermost, would walk with a stride other
/// than 0 and 1: those that use `dim` elsewhere than alone in their last axis.
static unsigned countStrided(linalg::LinalgOp op, unsigned dim) {
  unsigned strided = 0;
  for (AffineMap map : op.getIndexingMapsArray()) {
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(dim) &&
          (axis + 1 != map.getNumResults() || !isa<AffineDimExpr>(expr))) {
        ++strided;
        break;
      }
  }
  return strided;
}

/// The loops from the outside in. Reduction loops keep their order among themselves, which is
/// the order in which an element sees its terms; parallel loops follow the first result.
static SmallVector<unsigned> chooseLoopOrder(linalg::LinalgOp op) {
  llvm::SmallSetVector<unsigned, 6> parallel;
  SmallVector<unsigned> allParallel, reductions;
  op.getParallelDims(allParallel);
  op.getReductionDims(reductions);
  if (op.getNumDpsInits() != 0)
    for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (llvm::is_contained(allParallel, dim.getPosition()))
          parallel.insert(dim.getPosition());
  parallel.insert(allParallel.begin(), allParallel.end());

  SmallVector<unsigned> order(parallel.begin(), parallel.end());
  if (reductions.empty() || order.empty()) {
    order.append(reductions);
    return order;
  }
  // A reduction goes innermost, its accumulator in a register, where that walks memory in
  // order; otherwise the last parallel loop does, and the accumulators form a row.
  unsigned row = order.back();
  unsigned strideOfRow = countStrided(op, row);
  unsigned strideOfReduction = countStrided(op, reductions.back());
  if (strideOfReduction < strideOfRow) {
    order.append(reductions);
    return order;
  }
  order.pop_back();
  order.append(reductions);
  order.push_back(row);
  return order;
}

namespace {

/// Emits the nest of one operation.
class NestEmitter {
public:
  NestEmitter(RewriterBase &rewriter, linalg::LinalgOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()), block(op.getBlock()),
        ivs(op.getNumLoops()) {}

  void emit() {
    SmallVector<unsigned> order = chooseLoopOrder(op);
    SmallVector<Range> ranges = op.createLoopRanges(rewriter, loc);
    // The innermost loops that all reduce share accumulators in registers.
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    unsigned numOuter = order.size();
    while (numOuter > 0 && kinds[order[numOuter - 1]] == utils::IteratorType::reduction)
      --numOuter;

    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto sizeOf = [&](unsigned dim) {
      return getValueOrCreateConstantIndexOp(rewriter, loc, ranges[dim].size);
    };
    for (unsigned dim : ArrayRef(order).take_front(numOuter)) {
      auto loop = scf::ForOp::create(rewriter, loc, zero, sizeOf(dim), one);
      ivs[dim] = loop.getInductionVar();
      rewriter.setInsertionPointToStart(loop.getBody());
    }
    bool reduces = numOuter != order.size();
    SmallVector<Value> accumulators;
    for (OpOperand &init : op.getDpsInitsMutable())
      accumulators.push_back(load(init, /*always=*/reduces));
    for (unsigned dim : ArrayRef(order).drop_front(numOuter)) {
      auto loop = scf::ForOp::create(rewriter, loc, zero, sizeOf(dim), one, accumulators);
      ivs[dim] = loop.getInductionVar();
      if (outermost)
        scf::YieldOp::create(rewriter, loc, loop.getResults());
      else
        outermost = loop;
      accumulators.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
      rewriter.setInsertionPointToStart(loop.getBody());
    }
    SmallVector<Value> results = emitBody(accumulators);
    if (outermost) {
      scf::YieldOp::create(rewriter, loc, results);
      rewriter.setInsertionPointAfter(outermost);
      results.assign(outermost.result_begin(), outermost.result_end());
    }
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), results))
      store(value, init);
  }

private:
  SmallVector<Value> indicesOf(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Value> indices;
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        indices.push_back(ivs[dim.getPosition()]);
        continue;
      }
      // Only dimensions whose loops exist: an init's map never names a loop inside it.
      SmallVector<Value> operands(ivs.begin(), ivs.end());
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      for (Value &value : operands)
        if (!value)
          value = zero;
      indices.push_back(affine::AffineApplyOp::create(
          rewriter, loc, AffineMap::get(map.getNumDims(), 0, expr), operands));
    }
    return indices;
  }

  Value load(OpOperand &operand, bool always = false) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    if (!always && !op.payloadUsesValueFromOperand(&operand))
      return nullptr;
    return memref::LoadOp::create(rewriter, loc, operand.get(), indicesOf(operand));
  }

  void store(Value value, OpOperand &operand) {
    memref::StoreOp::create(rewriter, loc, value, operand.get(), indicesOf(operand));
  }

  SmallVector<Value> emitBody(ArrayRef<Value> accumulators) {
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands())
      if (Value value = load(*input))
        mapping.map(op.getMatchingBlockArgument(input), value);
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), accumulators))
      if (value)
        mapping.map(op.getMatchingBlockArgument(&init), value);
    for (Operation &inner : block->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), ivs[index.getDim()]);
      else
        rewriter.clone(inner, mapping);
    }
    return llvm::map_to_vector(block->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  Location loc;
  Block *block;
  SmallVector<Value> ivs;
  scf::ForOp outermost;
};

struct LinalgToLoopsPass : public kina::impl::LinalgToLoopsBase<LinalgToLoopsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      auto isCompact = [](Value buffer) {
        auto type = dyn_cast<MemRefType>(buffer.getType());
        return type && type.getLayout().isIdentity();
      };
      if ((isCompact(copy.getSource()) && isCompact(copy.getTarget())) ||
          !isa<MemRefType>(copy.getSource().getType()) ||
          !isa<MemRefType>(copy.getTarget().getType()))
        continue;
      rewriter.setInsertionPoint(copy);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget());
    }

    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics()) {
        op.emitError("works on tensors: bufferise first");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(op);
      NestEmitter(rewriter, op).emit();
      rewriter.eraseOp(op);
    }
  }
};

} // namespace
