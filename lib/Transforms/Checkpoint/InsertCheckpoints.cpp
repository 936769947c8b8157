//===- InsertCheckpoints.cpp - Strip-mining of checkpointed loops ---------===//
//
// A loop in segments of k iterations, each segment marked `kina.remat`, keeps the state
// at the beginning of each segment and the residuals of one: that is all that
// checkpointing is, and differentiation needs no rule for it but that of `kina.remat`.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Loops.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/Passes.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_INSERTCHECKPOINTSPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

/// The largest integer r >= 1 with r^degree <= max(number, 1). By search among integers,
/// since a root in floating point can be one too small; it takes as many steps as the
/// loop has segments.
Value emitRoot(OpBuilder &builder, Location loc, Value number, int64_t degree) {
  RuleBuilder k(builder, loc);
  auto search = WhileOp::create(builder, loc, k.index(1), TypeRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(search.getBeforeBody());
  // r^d <= n is r <= n / r^(d-1), and the division is exact enough in integers; the power
  // might overflow.
  Value next = k.add(search.getBeforeBody()->getArgument(0), k.index(1)), quotient = number;
  for (int64_t i = 1; i < degree; ++i)
    quotient = k.div(quotient, next);
  ConditionOp::create(builder, loc, k.cmp(CmpPredicate::le, next, quotient), ValueRange());
  builder.setInsertionPointToEnd(search.getAfterBody());
  YieldOp::create(builder, loc, k.add(search.getAfterBody()->getArgument(0), k.index(1)));
  return search.getResult(0);
}

/// Emits at the insertion point what the condition region of `loop` says of these values.
Value cloneCondition(OpBuilder &builder, WhileOp loop, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getBeforeBody()->getArguments(), carried);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(loop.getConditionOp().getCondition());
}

/// `counter < limit`, and then also the condition of the loop.
Value emitBoth(RuleBuilder &k, Value counter, Value limit, WhileOp loop, ValueRange carried) {
  OpBuilder &builder = k.builder;
  auto both = IfOp::create(builder, k.loc, TypeRange{builder.getI1Type()}, k.cmp(CmpPredicate::lt, counter, limit));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&both.getThenRegion());
  Value more = cloneCondition(builder, loop, carried);
  YieldOp::create(builder, k.loc, more);
  builder.createBlock(&both.getElseRegion());
  YieldOp::create(builder, k.loc, k.make<ConstantOp>(builder.getBoolAttr(false)));
  return both.getResult(0);
}

/// Cuts the loop into segments of `interval` iterations. Returns the loop of a segment.
WhileOp stripMine(WhileOp loop, Value interval, std::optional<int64_t> constant, const TripBound &bound) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  RuleBuilder k(builder, loc);
  unsigned carried = loop.getNumCarried();
  // The last segment is short. Where the number of iterations is known, the segments are
  // counted, and the condition is not asked at all. A number that is not proven, since the
  // counter may wrap round, bounds nothing.
  SmallVector<Value> inits(loop.getInits());
  Value segments;
  bool isBounded = bound.count && bound.isProven, isCounted = isBounded && bound.isExact;
  if (isBounded) {
    segments = k.div(k.sub(k.add(bound.count, interval), k.index(1)), interval);
    inits.push_back(k.index(0));
  }
  auto outer = WhileOp::create(builder, loc, inits, TypeRange());
  builder.setInsertionPointToEnd(outer.getBeforeBody());
  ValueRange states = outer.getBeforeBody()->getArguments().take_front(carried);
  Value more;
  if (isCounted)
    more = k.cmp(CmpPredicate::lt, outer.getBeforeBody()->getArgument(carried), segments);
  else if (isBounded)
    more = emitBoth(k, outer.getBeforeBody()->getArgument(carried), segments, loop, states);
  else
    more = cloneCondition(builder, loop, states);
  ConditionOp::create(builder, loc, more, ValueRange());

  Block *block = outer.getAfterBody();
  builder.setInsertionPointToEnd(block);
  states = block->getArguments().take_front(carried);
  Value length = interval;
  if (isCounted)
    length = k.make<MinOp>(interval, k.sub(bound.count, k.mul(block->getArgument(carried), interval)));
  auto remat = RematOp::create(builder, loc, states.getTypes());
  SmallVector<Value> next(remat.getResults());
  if (isBounded)
    next.push_back(k.add(block->getArgument(carried), k.index(1)));
  YieldOp::create(builder, loc, next);

  builder.createBlock(&remat.getBody());
  inits.assign(states.begin(), states.end());
  inits.push_back(k.index(0));
  auto inner = WhileOp::create(builder, loc, inits, TypeRange());
  YieldOp::create(builder, loc, inner.getResults().take_front(carried));
  if (constant)
    inner.setTripBoundAttr(DimAttr::getConstant(loop.getContext(), *constant));
  builder.setInsertionPointToEnd(inner.getBeforeBody());
  Value count = inner.getBeforeBody()->getArgument(carried);
  more = isCounted ? k.cmp(CmpPredicate::lt, count, length)
                   : emitBoth(k, count, length, loop, inner.getBeforeBody()->getArguments().take_front(carried));
  ConditionOp::create(builder, loc, more, ValueRange());
  inner.getAfter().takeBody(loop.getAfter());
  count = inner.getAfterBody()->addArgument(builder.getIndexType(), loc);
  Operation *end = inner.getAfterBody()->getTerminator();
  builder.setInsertionPoint(end);
  end->insertOperands(carried, k.add(count, k.index(1)));
  loop.replaceAllUsesWith(outer.getResults().take_front(carried));
  loop.erase();
  return inner;
}

class InsertCheckpointsPass : public impl::InsertCheckpointsPassBase<InsertCheckpointsPass> {
public:
  using InsertCheckpointsPassBase::InsertCheckpointsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<CallOp> calls;
    SmallVector<WhileOp> loops;
    getOperation().walk([&](Operation *op) {
      if (auto call = dyn_cast<CallOp>(op)) {
        auto callee = symbols.lookup<FuncOp>(call.getCallee());
        if (callee && callee.getCheckpointAttr() && !isa<RematOp>(op->getParentOp()))
          calls.push_back(call);
      } else if (auto loop = dyn_cast<WhileOp>(op); loop && loop.getCheckpointAttr()) {
        loops.push_back(loop);
      }
    });
    for (CallOp call : calls)
      wrap(call);
    // Inner loops come first; so an outer one is cut with its inner ones cut already.
    llvm::SetVector<FuncOp> functions;
    for (WhileOp loop : loops)
      if (loop.getNumResults() > loop.getNumCarried())
        functions.insert(loop->getParentOfType<FuncOp>());
    for (FuncOp function : functions)
      sinkConditionExtras(function.getBody().front());
    if (!functions.empty()) {
      loops.clear();
      getOperation().walk([&](WhileOp loop) {
        if (loop.getCheckpointAttr())
          loops.push_back(loop);
      });
    }
    for (WhileOp loop : loops)
      insert(loop);
  }

private:
  static void wrap(CallOp call) {
    OpBuilder builder(call);
    auto remat = RematOp::create(builder, call.getLoc(), call.getResultTypes());
    call.replaceAllUsesWith(remat.getResults());
    builder.createBlock(&remat.getBody());
    call->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    YieldOp::create(builder, call.getLoc(), call.getResults());
  }

  void insert(WhileOp loop) {
    CheckpointAttr checkpoint = loop.getCheckpointAttr();
    StringRef kind = checkpoint.getKind();
    // The number of states is the business of the tape.
    if (kind == "slots")
      return;
    loop.removeCheckpointAttr();
    OpBuilder builder(loop);
    RuleBuilder k(builder, loop.getLoc());
    TripBound bound = emitTripBound(builder, loop);
    int64_t value = checkpoint.getValue();
    if (kind == "k") {
      // A segment longer than any loop is as good as a longer one, and does not overflow.
      value = std::min(value, int64_t(1) << 40);
      stripMine(loop, k.index(value), value, bound);
      return;
    }
    if (kind == "budget")
      emitWarning(loop.getLoc(), DiagCode::K0606,
                  "a budget does not choose the schedule in this version of Kina: this loop is checkpointed as by a "
                  "bare '@checkpoint'");
    // Every level doubles the code of the derivative, and the root of a large number in more
    // levels is hardly smaller.
    constexpr int64_t kMostLevels = 8;
    if (kind == "levels" && value > kMostLevels)
      emitWarning(loop.getLoc(), DiagCode::K0607)
          << "more than " << kMostLevels << " levels of checkpoints are taken as " << kMostLevels;
    int64_t levels = kind == "levels" ? std::min(value, kMostLevels) : 2;
    if (levels <= 1)
      return;
    // States at a stride that doubles do not ask for the number of iterations.
    if (!bound.count) {
      if (kind == "levels" || kind == "sqrt")
        emitWarning(loop.getLoc(), DiagCode::K0608,
                    "the number of iterations is not known before this loop, so no root of it is: states are kept at "
                    "a stride that doubles");
      return;
    }
    // N iterations in d levels: segments of r^(d-1), of r^(d-2), ..., r being the d-th
    // root of N, rounded up.
    Value root = emitRoot(builder, loop.getLoc(), bound.count, levels), power = root;
    for (int64_t i = 1; i < levels; ++i)
      power = k.mul(power, root);
    root = k.select(k.cmp(CmpPredicate::lt, power, bound.count), k.add(root, k.index(1)), root);
    SmallVector<Value> intervals{root};
    for (int64_t i = 2; i < levels; ++i)
      intervals.push_back(k.mul(intervals.back(), root));
    for (Value interval : llvm::reverse(intervals)) {
      loop = stripMine(loop, interval, std::nullopt, bound);
      builder.setInsertionPoint(loop);
      bound = emitTripBound(builder, loop);
    }
  }
};

} // namespace
} // namespace kina
