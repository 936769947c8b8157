//===- RecordControlFlow.cpp - Pullbacks of structured control flow -------===//
//
// The closures that a region leaves pending are defunctionalised: a branch hands out the
// residuals of the arm that ran, and its pullback is a branch over the same predicate; a
// region marked `kina.remat` hands out nothing, and its pullback runs it again first.
// Loops are in RecordLoops.cpp.
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "Kina/Support/Diagnostics.h"

using namespace mlir;

namespace kina {

/// A value of the type that nobody reads.
static Value createFiller(RuleBuilder &k, Type type) {
  if (auto tape = dyn_cast<TapeType>(type))
    return TapeNewOp::create(k.builder, k.loc, tape, tape.getForm() == TapeForm::Bounded ? k.index(0) : Value());
  return k.zeros(type);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace {
/// An arm of a branch, and where among the results its residuals are.
struct Arm {
  Block *block;
  SmallVector<PerformOp> performs;
  SmallVector<Value> kept, free;
  SmallVector<unsigned> slots;
};
} // namespace

FailureOr<PerformOp> Recorder::recordIf(IfOp op, Place place) {
  Location loc = op.getLoc();
  Arm arms[] = {{&op.getThenRegion().front(), {}, {}, {}, {}}, {&op.getElseRegion().front(), {}, {}, {}, {}}};
  bool ok = true;
  for (Arm &arm : arms) {
    if (bindsSizes(*arm.block))
      rematerialize(*arm.block);
    ok &= succeeded(recordBlock(*arm.block, place, arm.performs));
  }
  if (!ok)
    return failure();
  Performs all;
  for (Arm &arm : arms)
    llvm::append_range(all, arm.performs);
  llvm::SetVector<Value> targets = getCapturedTargets(op, {arms[0].block, arms[1].block}, all);

  // One slot serves a residual of each arm. A tape has its own, so that in the other arm it
  // is the filler, whose size is known.
  SmallVector<Type> slots;
  for (Arm &arm : arms) {
    BitVector taken(slots.size());
    for (Value value : getCaptured(arm.performs)) {
      if (!op->isAncestor(value.getParentBlock()->getParentOp()))
        continue;
      if (isFree(value)) {
        arm.free.push_back(value);
        continue;
      }
      unsigned slot = 0;
      while (slot < slots.size() && (taken[slot] || slots[slot] != value.getType() || isa<TapeType>(slots[slot])))
        ++slot;
      if (slot == slots.size()) {
        slots.push_back(value.getType());
        taken.push_back(false);
      }
      taken.set(slot);
      arm.kept.push_back(value);
      arm.slots.push_back(slot);
    }
  }

  OpBuilder builder(op);
  SmallVector<Type> types(op.getResultTypes());
  llvm::append_range(types, slots);
  auto forward = IfOp::create(builder, loc, types, op.getCondition());
  forward->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  forward.getThenRegion().takeBody(op.getThenRegion());
  forward.getElseRegion().takeBody(op.getElseRegion());
  unsigned first = op.getNumResults();
  SmallVector<SmallVector<Value>> yields;
  for (Arm &arm : arms) {
    Operation *end = arm.block->getTerminator();
    yields.emplace_back(end->getOperands());
    SmallVector<Value> filled(slots.size());
    for (auto [value, slot] : llvm::zip(arm.kept, arm.slots))
      filled[slot] = value;
    builder.setInsertionPoint(end);
    RuleBuilder k(builder, loc);
    for (auto [value, type] : llvm::zip(filled, slots))
      if (!value)
        value = createFiller(k, type);
    end->insertOperands(first, filled);
  }
  SmallVector<unsigned> active;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isActive(result))
      active.push_back(i);
    replaceValue(result, forward.getResult(i));
  }
  eraseOp(op);

  SmallVector<Value> primals;
  for (unsigned i : active)
    primals.push_back(forward.getResult(i));
  PerformOp perform = createPerform(forward, primals, targets.getArrayRef(), place.tag, builder);
  SmallVector<Value> given = getCotangents(perform, builder);
  auto reverse = IfOp::create(builder, loc, ValueRange(targets.getArrayRef()).getTypes(), forward.getCondition());
  Region *regions[] = {&reverse.getThenRegion(), &reverse.getElseRegion()};
  PullbackEmitter emitter(symbols);
  for (auto [arm, yielded, region] : llvm::zip(arms, yields, regions)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(region);
    IRMapping mapping;
    for (auto [value, slot] : llvm::zip(arm.kept, arm.slots))
      mapping.map(value, forward.getResult(first + slot));
    for (Value value : arm.free)
      recompute(builder, value, mapping);
    CotangentMap cotangents;
    for (auto [target, accumulator] : llvm::zip(targets, llvm::drop_begin(given, active.size())))
      cotangents.set(target, accumulator);
    for (auto [n, i] : llvm::enumerate(active))
      if (isActive(yielded[i]))
        cotangents.add(builder, loc, yielded[i], given[n]);
    emitter.emitReverse(builder, arm.performs, cotangents, mapping);
    YieldOp::create(builder, loc, cotangents.lookupAll(targets.getArrayRef()));
  }
  YieldOp::create(builder, loc, reverse.getResults());
  for (PerformOp inner : all)
    eraseOp(inner);
  return perform;
}

//===----------------------------------------------------------------------===//
// Rematerialisation
//===----------------------------------------------------------------------===//

bool Recorder::bindsSizes(Block &block) const {
  return !block.getOps<BindDimOp>().empty() && llvm::any_of(block, [&](Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value result) { return isActive(result); });
  });
}

RematOp Recorder::rematerialize(Block &block) {
  Operation *end = block.getTerminator();
  SmallVector<Value> inside;
  for (Value value : end->getOperands())
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == &block && !llvm::is_contained(inside, value))
      inside.push_back(value);
  OpBuilder builder(end);
  auto remat = RematOp::create(builder, end->getLoc(), ValueRange(inside).getTypes());
  Block *body = builder.createBlock(&remat.getBody());
  body->getOperations().splice(body->end(), block.getOperations(), block.begin(), remat->getIterator());
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, end->getLoc(), inside);
  for (auto [value, result] : llvm::zip(inside, remat.getResults())) {
    if (varied.contains(value))
      varied.insert(result);
    if (useful.contains(value))
      useful.insert(result);
    end->replaceUsesOfWith(value, result);
  }
  return remat;
}

FailureOr<PerformOp> Recorder::recordRemat(RematOp op, Place place) {
  Location loc = op.getLoc();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  IRMapping clones;
  auto replay = cast<RematOp>(builder.clone(*op, clones));
  copyActivity(op, clones);
  Block *body = &replay.getBody().front();
  Performs performs;
  // What it keeps lives in the pullback only.
  if (failed(recordBlock(*body, Place{place.tag}, performs)))
    return failure();
  llvm::SetVector<Value> targets = getCapturedTargets(replay, {body}, performs);
  SmallVector<Value> yielded(body->getTerminator()->getOperands());

  SmallVector<Value> primals;
  SmallVector<unsigned> active;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (isActive(result)) {
      active.push_back(i);
      primals.push_back(result);
    }
  PerformOp perform = createPerform(op, primals, targets.getArrayRef(), place.tag, builder);
  SmallVector<Value> given = getCotangents(perform, builder);
  // Run again, and then reversed at once: what the run keeps does not leave the region, so
  // a derivative of this derivative runs all of it again.
  auto again = RematOp::create(builder, loc, ValueRange(targets.getArrayRef()).getTypes());
  YieldOp::create(builder, loc, again.getResults());
  again.getBody().takeBody(replay.getBody());
  eraseOp(replay);
  Operation *end = body->getTerminator();
  builder.setInsertionPoint(end);
  CotangentMap cotangents;
  for (auto [target, accumulator] : llvm::zip(targets, llvm::drop_begin(given, active.size())))
    cotangents.set(target, accumulator);
  for (auto [n, i] : llvm::enumerate(active))
    if (isActive(yielded[i]))
      cotangents.add(builder, loc, yielded[i], given[n]);
  PullbackEmitter(symbols).emitReverse(builder, performs, cotangents, IRMapping());
  end->setOperands(cotangents.lookupAll(targets.getArrayRef()));
  for (PerformOp inner : performs)
    eraseOp(inner);
  return perform;
}

} // namespace kina
