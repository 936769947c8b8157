//===- LinalgToLoops.cpp - Loop nests with contiguous inner loops ---------===//
//
// The order in which a sum of f32, f16 or bf16 sees its terms is part of its meaning: numbered in
// row-major order of the reduced axes, term t goes to partial sum t mod 64; then the upper half
// of the partial sums is added to the lower half until one is left. The partial sums are f64, and
// the total is rounded once. Nothing of this depends on the shape or on the loops chosen here.
//

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

/// The addition in the body of `op` if `op` is a sum that interleaves its terms: what it yields
/// is its accumulator, not used elsewhere, plus a term. Named contractions are one chain.
static arith::AddFOp getInterleavedSum(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp, linalg::ReduceOp>(op) || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInits() != 1)
    return nullptr;
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  if (!sum || sum.getType().isF64() || !accumulator.hasOneUse() ||
      (sum.getLhs() != accumulator && sum.getRhs() != accumulator))
    return nullptr;
  return sum;
}

namespace {

constexpr int64_t kNumPartialSums = 64;
/// As many neighbouring sums are computed at a time where their terms lie in rows.
constexpr int64_t kSumsInARow = 32;

/// Room for the partial sums of one operation after the other, one for each function: a stack
/// slot inside a loop would grow the stack with every iteration.
class PartialSums {
public:
  Value get(OpBuilder &builder, func::FuncOp function) {
    Value &buffer = buffers[function];
    if (!buffer) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().front());
      buffer = memref::AllocaOp::create(
          builder, function.getLoc(),
          MemRefType::get({kNumPartialSums * kSumsInARow}, builder.getF64Type()));
    }
    return buffer;
  }

private:
  DenseMap<Operation *, Value> buffers;
};

/// Emits the nest of one operation.
class NestEmitter {
public:
  NestEmitter(RewriterBase &rewriter, linalg::LinalgOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()), block(op.getBlock()),
        ivs(op.getNumLoops()) {}

  void emit(PartialSums &partialSums) {
    SmallVector<unsigned> order = chooseLoopOrder(op);
    SmallVector<Range> ranges = op.createLoopRanges(rewriter, loc);
    if (arith::AddFOp sum = getInterleavedSum(op))
      return emitInterleavedSum(
          sum, partialSums.get(rewriter, op->getParentOfType<func::FuncOp>()), order, ranges);
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
    SmallVector<Value> results = emitBody(accumulators, block->getTerminator()->getOperands());
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

  /// The body's values `wanted`; `leftOut` is not computed.
  SmallVector<Value> emitBody(ArrayRef<Value> accumulators, ValueRange wanted,
                              Operation *leftOut = nullptr) {
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
      else if (&inner != leftOut)
        rewriter.clone(inner, mapping);
    }
    return llvm::map_to_vector(wanted,
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  //===--------------------------------------------------------------------===//
  // Interleaved sums
  //===--------------------------------------------------------------------===//

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(rewriter, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(rewriter, loc, a, b); }
  Value multiply(Value a, Value b) { return arith::MulIOp::create(rewriter, loc, a, b); }
  Value minimum(Value a, Value b) { return arith::MinSIOp::create(rewriter, loc, a, b); }
  Value maximum(Value a, Value b) { return arith::MaxSIOp::create(rewriter, loc, a, b); }
  Value laneOf(Value term) {
    return arith::RemUIOp::create(rewriter, loc, term, constant(kNumPartialSums));
  }

  /// A loop around `body`, which gets its counter.
  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    auto op = scf::ForOp::create(rewriter, loc, from, to, constant(step));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
  }

  void addTo(Value partials, Value place, Value term) {
    Value old = memref::LoadOp::create(rewriter, loc, partials, place);
    memref::StoreOp::create(rewriter, loc, arith::AddFOp::create(rewriter, loc, old, term),
                            partials, place);
  }

  void addTerm(arith::AddFOp sum, Value partials, Value place) {
    BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    Value term = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
    Value value = emitBody(/*accumulators=*/Value(), term, /*leftOut=*/sum).front();
    addTo(partials, place, arith::ExtFOp::create(rewriter, loc, rewriter.getF64Type(), value));
  }

  /// Loops over all reduced dimensions but those handled by `body`, which gets the partial sum
  /// that the next term goes to and returns the one after its terms.
  Value forEachTerm(ArrayRef<unsigned> dims, ArrayRef<Value> sizes, Value lane,
                    llvm::function_ref<Value(Value)> body) {
    if (dims.empty())
      return body(lane);
    auto op = scf::ForOp::create(rewriter, loc, constant(0), sizes[dims.front()], constant(1),
                                 lane);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(op.getBody());
    ivs[dims.front()] = op.getInductionVar();
    Value next = forEachTerm(dims.drop_front(), sizes, op.getRegionIterArg(0), body);
    scf::YieldOp::create(rewriter, loc, next);
    return op.getResult(0);
  }

  void emitInterleavedSum(arith::AddFOp sum, Value partials, ArrayRef<unsigned> order,
                          ArrayRef<Range> ranges) {
    SmallVector<Value> sizes;
    for (const Range &range : ranges)
      sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    auto isReduction = [&](unsigned dim) {
      return kinds[dim] == utils::IteratorType::reduction;
    };
    ArrayRef<unsigned> outer = order.take_until(isReduction);
    ArrayRef<unsigned> reductions = order.drop_front(outer.size());
    std::optional<unsigned> row;
    if (!isReduction(order.back())) {
      row = order.back();
      reductions = reductions.drop_back();
    }
    Value zero = constant(0), numTerms = constant(1);
    for (unsigned dim : reductions)
      numTerms = multiply(numTerms, sizes[dim]);
    // Partial sums without terms stay out, they would add zeros; but there is always a total.
    Value numUsed = maximum(constant(1), minimum(numTerms, constant(kNumPartialSums)));

    for (unsigned dim : outer) {
      auto op = scf::ForOp::create(rewriter, loc, zero, sizes[dim], constant(1));
      ivs[dim] = op.getInductionVar();
      rewriter.setInsertionPointToStart(op.getBody());
    }
    if (!row) {
      emitPartialSums(partials, numUsed, /*width=*/1, [&] {
        unsigned last = reductions.back();
        forEachTerm(reductions.drop_back(), sizes, zero, [&](Value lane) {
          // Blocks of terms that start with partial sum 0: their inner loop is a row.
          loop(subtract(zero, lane), sizes[last], kNumPartialSums, [&](Value first) {
            loop(maximum(zero, subtract(zero, first)),
                 minimum(constant(kNumPartialSums), subtract(sizes[last], first)), 1,
                 [&](Value place) {
                   ivs[last] = add(first, place);
                   addTerm(sum, partials, place);
                 });
          });
          return laneOf(add(lane, sizes[last]));
        });
      });
      emitTotal(partials, zero);
      return;
    }
    loop(zero, sizes[*row], kSumsInARow, [&](Value first) {
      Value width = minimum(constant(kSumsInARow), subtract(sizes[*row], first));
      emitPartialSums(partials, numUsed, kSumsInARow, [&] {
        forEachTerm(reductions, sizes, zero, [&](Value lane) {
          Value place = multiply(lane, constant(kSumsInARow));
          loop(zero, width, 1, [&](Value column) {
            ivs[*row] = add(first, column);
            addTerm(sum, partials, add(place, column));
          });
          return laneOf(add(lane, constant(1)));
        });
      });
      loop(zero, width, 1, [&](Value column) {
        ivs[*row] = add(first, column);
        emitTotal(partials, column);
      });
    });
  }

  /// Clears the partial sums of `width` neighbours, adds their terms, and adds them up.
  void emitPartialSums(Value partials, Value numUsed, int64_t width,
                       llvm::function_ref<void()> addTerms) {
    Value nothing = arith::ConstantOp::create(rewriter, loc, rewriter.getF64FloatAttr(0));
    loop(constant(0), multiply(numUsed, constant(width)), 1, [&](Value place) {
      memref::StoreOp::create(rewriter, loc, nothing, partials, place);
    });
    addTerms();
    // A loop over the levels of the tree: six copies of its body would cost LLVM more time than
    // all the rest of the sum.
    loop(constant(0), constant(llvm::Log2_64(kNumPartialSums)), 1, [&](Value level) {
      Value half =
          arith::ShRUIOp::create(rewriter, loc, constant(kNumPartialSums / 2), level);
      Value count = minimum(half, subtract(numUsed, half));
      Value distance = multiply(half, constant(width));
      loop(constant(0), multiply(count, constant(width)), 1, [&](Value place) {
        addTo(partials, place,
              memref::LoadOp::create(rewriter, loc, partials, add(place, distance)));
      });
    });
  }

  void emitTotal(Value partials, Value place) {
    OpOperand &init = *op.getDpsInitOperand(0);
    Type type = getElementTypeOrSelf(init.get().getType());
    Value total = memref::LoadOp::create(rewriter, loc, partials, place);
    total = arith::TruncFOp::create(rewriter, loc, rewriter.getF32Type(), total);
    if (!type.isF32())
      total = arith::TruncFOp::create(rewriter, loc, type, total);
    store(arith::AddFOp::create(rewriter, loc, load(init, /*always=*/true), total), init);
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

    PartialSums partialSums;
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics()) {
        op.emitError("works on tensors: bufferise first");
        return signalPassFailure();
      }
      // Its accumulators could not be kept in registers.
      SmallVector<unsigned> reduced;
      op.getReductionDims(reduced);
      for (OpOperand &init : op.getDpsInitsMutable())
        if (llvm::any_of(reduced, [&](unsigned dim) { return op.getMatchingIndexingMap(&init).isFunctionOfDim(dim); })) {
          op.emitError("has an output that moves with a loop that reduces");
          return signalPassFailure();
        }
      rewriter.setInsertionPoint(op);
      NestEmitter(rewriter, op).emit(partialSums);
      rewriter.eraseOp(op);
    }
  }
};

} // namespace
