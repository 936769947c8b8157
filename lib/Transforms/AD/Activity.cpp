//===- Activity.cpp - Which values a derivative goes through --------------===//

#include "Kina/Transforms/AD/Activity.h"
#include "Kina/Support/Diagnostics.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace kina {

bool isDifferentiableIn(Operation *op, unsigned operand) {
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
    return differentiable.isDifferentiableIn(operand);
  return hasTangent(op->getOperand(operand).getType());
}

std::string toKey(const BitVector &bits) {
  std::string key;
  for (unsigned i = 0; i < bits.size(); ++i)
    key += bits[i] ? '1' : '0';
  return key;
}

FuncOp ActivityAnalysis::getCallee(CallOp call) {
  auto function = symbols.lookupNearestSymbolFrom<FuncOp>(call, call.getCalleeAttr());
  return function && !function.isExternal() ? function : FuncOp();
}

/// Marks the value if it can vary; says whether that is news.
static bool mark(Value value, ActivityAnalysis::ValueSet &set) {
  return hasTangent(value.getType()) && set.insert(value).second;
}

/// Marks the values at the positions where `from` has marked ones; says whether one is new.
static bool followIn(ValueRange from, ValueRange to, ActivityAnalysis::ValueSet &set) {
  bool changed = false;
  for (auto [source, target] : llvm::zip(from, to))
    if (set.contains(source))
      changed |= mark(target, set);
  return changed;
}

static std::vector<bool> bitsOf(const BitVector &bits) {
  std::vector<bool> key(bits.size());
  for (unsigned i : bits.set_bits())
    key[i] = true;
  return key;
}

FailureOr<BitVector> ActivityAnalysis::summarize(CallOp call, const BitVector &given, bool forward) {
  unsigned size = forward ? call.getNumResults() : call.getNumOperands();
  TypeRange types = forward ? TypeRange(call.getResultTypes()) : TypeRange(call.getOperandTypes());
  BitVector answer(size);
  if (given.none())
    return answer;
  FuncOp callee = getCallee(call);
  // Behind a declaration, or a pullback that the user wrote, everything depends on
  // everything.
  if (!callee || callee.getCustomVjp()) {
    for (unsigned i = 0; i < size; ++i)
      answer[i] = hasTangent(types[i]);
    return answer;
  }
  auto &memo = forward ? varied : useful;
  Key key{callee, bitsOf(given)};
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  if (llvm::is_contained(stack, callee)) {
    emitError(call.getLoc(), DiagCode::K0604, "no derivative through recursion: '")
        << callee.getSymName() << "' calls itself";
    return failure();
  }
  stack.push_back(callee);
  llvm::scope_exit pop([&] { stack.pop_back(); });
  ValueSet set;
  Block &body = callee.getBody().front();
  ValueRange ends = body.getTerminator()->getOperands();
  ValueRange from = forward ? ValueRange(body.getArguments()) : ends;
  ValueRange to = forward ? ends : ValueRange(body.getArguments());
  for (unsigned i : given.set_bits())
    mark(from[i], set);
  if (failed(forward ? propagateVaried(body, set) : propagateUseful(body, set)))
    return failure();
  for (unsigned i = 0; i < size; ++i)
    answer[i] = set.contains(to[i]);
  memo.emplace(std::move(key), answer);
  return answer;
}

FailureOr<BitVector> ActivityAnalysis::getVariedResults(CallOp call, const BitVector &variedArgs) {
  return summarize(call, variedArgs, /*forward=*/true);
}

FailureOr<BitVector> ActivityAnalysis::getUsefulArgs(CallOp call, const BitVector &usefulResults) {
  return summarize(call, usefulResults, /*forward=*/false);
}

LogicalResult ActivityAnalysis::propagateVaried(Block &block, ValueSet &varied) {
  auto markAll = [&](ValueRange values) {
    for (Value value : values)
      mark(value, varied);
  };
  auto follow = [&](ValueRange from, ValueRange to) { return followIn(from, to, varied); };
  for (Operation &op : block) {
    if (auto call = dyn_cast<CallOp>(op)) {
      BitVector args(call.getNumOperands());
      for (auto [i, operand] : llvm::enumerate(call.getOperands()))
        args[i] = varied.contains(operand);
      FailureOr<BitVector> results = getVariedResults(call, args);
      if (failed(results))
        return failure();
      for (unsigned i : results->set_bits())
        mark(call.getResult(i), varied);
      continue;
    }
    if (isa<IfOp, RematOp>(op)) {
      for (Region &region : op.getRegions())
        if (!region.empty()) {
          if (failed(propagateVaried(region.front(), varied)))
            return failure();
          follow(region.front().getTerminator()->getOperands(), op.getResults());
        }
      continue;
    }
    if (auto loop = dyn_cast<WhileOp>(op)) {
      unsigned carried = loop.getNumCarried();
      follow(loop.getInits(), loop.getBeforeBody()->getArguments());
      // What a carried value depends on may come round the loop.
      do {
        if (failed(propagateVaried(*loop.getBeforeBody(), varied)))
          return failure();
        follow(loop.getBeforeBody()->getArguments(), loop.getAfterBody()->getArguments().take_front(carried));
        follow(loop.getConditionOp().getExtras(), loop.getAfterBody()->getArguments().drop_front(carried));
        if (failed(propagateVaried(*loop.getAfterBody(), varied)))
          return failure();
      } while (follow(loop.getYieldOp().getOperands(), loop.getBeforeBody()->getArguments()));
      follow(loop.getAfterBody()->getArguments(), loop.getResults());
      continue;
    }
    bool any = false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      any |= varied.contains(operand) && isDifferentiableIn(&op, i);
    for (Region &region : op.getRegions())
      visitUsedValuesDefinedAbove(region, [&](OpOperand *use) { any |= varied.contains(use->get()); });
    if (any)
      markAll(op.getResults());
  }
  return success();
}

LogicalResult ActivityAnalysis::propagateUseful(Block &block, ValueSet &useful) {
  auto follow = [&](ValueRange from, ValueRange to) { return followIn(from, to, useful); };
  for (Operation &op : llvm::reverse(block)) {
    if (llvm::none_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      continue;
    if (auto call = dyn_cast<CallOp>(op)) {
      BitVector results(call.getNumResults());
      for (auto [i, result] : llvm::enumerate(call.getResults()))
        results[i] = useful.contains(result);
      FailureOr<BitVector> args = getUsefulArgs(call, results);
      if (failed(args))
        return failure();
      for (unsigned i : args->set_bits())
        mark(call.getOperand(i), useful);
      continue;
    }
    if (isa<IfOp, RematOp>(op)) {
      for (Region &region : op.getRegions())
        if (!region.empty()) {
          follow(op.getResults(), region.front().getTerminator()->getOperands());
          if (failed(propagateUseful(region.front(), useful)))
            return failure();
        }
      continue;
    }
    if (auto loop = dyn_cast<WhileOp>(op)) {
      Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
      unsigned carried = loop.getNumCarried();
      auto extras = loop.getConditionOp().getExtras();
      follow(loop.getResults().take_front(carried), before->getArguments());
      follow(loop.getResults().drop_front(carried), extras);
      // What an iteration needs, the one before it gives.
      bool changed;
      do {
        changed = follow(before->getArguments(), loop.getYieldOp().getOperands());
        if (failed(propagateUseful(*after, useful)))
          return failure();
        changed |= follow(after->getArguments().drop_front(carried), extras);
        if (failed(propagateUseful(*before, useful)))
          return failure();
        changed |= follow(after->getArguments().take_front(carried), before->getArguments());
      } while (changed);
      follow(before->getArguments(), loop.getInits());
      continue;
    }
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (isDifferentiableIn(&op, i))
        mark(operand, useful);
    for (Region &region : op.getRegions())
      visitUsedValuesDefinedAbove(region, [&](OpOperand *use) { mark(use->get(), useful); });
  }
  return success();
}

} // namespace kina
