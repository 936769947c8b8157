//===- ResolveCarriedCopies.cpp - Yields as parallel copies ---------------===//
//
// After this pass a loop yields, for each tensor that it carries, either the carried value
// itself or the result of a linalg.copy into it. One-Shot Bufferize decides from the bottom
// up, so these copies are in place before anything else is considered; whatever conflicts
// with them (say a matmul that reads the old value and was to write the new one over it) gets
// a scratch buffer instead. Copies of a buffer onto itself fold after bufferisation.
//
// linalg.copy and not bufferization.materialize_in_destination: the latter must be in place
// together with its source, so that One-Shot Bufferize gives up where it could have copied.
//
//===----------------------------------------------------------------------===//

#include "CopyReasons.h"
#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Dialect/Kina/IR/SourceNames.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Dominance.h"

namespace kina {
#define GEN_PASS_DEF_RESOLVECARRIEDCOPIES
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

#define DEBUG_TYPE "kina-resolve-carried-copies"

using namespace mlir;
using namespace kina;

//===----------------------------------------------------------------------===//
// Values that may share a buffer by name
//===----------------------------------------------------------------------===//

/// The operand whose buffer `op`'s result shows, if `op` is a view of a tensor.
static Value getViewSource(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tensor::CastOp>([](auto view) { return view.getSource(); })
      .Case<tensor::ExtractSliceOp>([](auto view) { return view.getSource(); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [](auto view) { return view.getSrc(); })
      .Case<tensor::ReshapeOp>([](auto view) { return view.getSource(); })
      .Default([](Operation *) { return Value(); });
}

/// The value that the slot of a loop's `result` starts from; null if no slot is passed on as it.
static Value getTiedInit(OpResult result) {
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return loop.getTiedLoopInit(result)->get();
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner())) {
    auto argument =
        dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[result.getResultNumber()]);
    if (argument && argument.getOwner() == loop.getBeforeBody())
      return loop.getInits()[argument.getArgNumber()];
  }
  return nullptr;
}

/// Collects in `roots` the values whose buffer `value` may show unchanged: itself if nothing is
/// known about it, else what lies behind views, branches and loops.
static void collectRoots(Value value, llvm::SmallSetVector<Value, 4> &roots) {
  auto result = dyn_cast<OpResult>(value);
  if (!result) {
    roots.insert(value);
    return;
  }
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (Value source = getViewSource(op))
    return collectRoots(source, roots);
  if (auto copy = dyn_cast<linalg::CopyOp>(op))
    return collectRoots(copy.getOutputs()[0], roots);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    collectRoots(branch.thenYield().getOperand(index), roots);
    return collectRoots(branch.elseYield().getOperand(index), roots);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    collectRoots(select.getTrueValue(), roots);
    return collectRoots(select.getFalseValue(), roots);
  }
  if (Value init = getTiedInit(result))
    return collectRoots(init, roots);
  roots.insert(value);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Whether `value`, which dominates something in or at `op`, is defined outside of it.
static bool isDefinedOutside(Value value, Operation *op) {
  return !op->isAncestor(value.getParentBlock()->getParentOp()) && value.getDefiningOp() != op;
}

/// The size of `value` along `axis`, from values that exist before `before`, where `builder`
/// stands. Fails if it is only known later.
static FailureOr<OpFoldResult> getSizeBefore(OpBuilder &builder, Value value, int64_t axis,
                                             Operation *before) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(axis))
    return OpFoldResult(builder.getIndexAttr(type.getDimSize(axis)));
  if (isDefinedOutside(value, before))
    return OpFoldResult(
        tensor::DimOp::create(builder, value.getLoc(), value, axis).getResult());
  auto sameAs = [&](Value other) { return getSizeBefore(builder, other, axis, before); };

  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned index = argument.getArgNumber();
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return sameAs(loop.getTiedLoopInit(argument)->get());
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return sameAs(argument.getOwner() == loop.getBeforeBody()
                        ? loop.getInits()[index]
                        : loop.getConditionOp().getArgs()[index]);
    return failure();
  }
  auto result = cast<OpResult>(value);
  unsigned index = result.getResultNumber();
  auto fromSizes = [&](ArrayRef<OpFoldResult> sizes) -> FailureOr<OpFoldResult> {
    auto size = dyn_cast<Value>(sizes[axis]);
    if (!size || isDefinedOutside(size, before))
      return sizes[axis];
    auto dim = size.getDefiningOp<tensor::DimOp>();
    if (!dim || !dim.getConstantIndex() || !isa<RankedTensorType>(dim.getSource().getType()))
      return failure();
    return getSizeBefore(builder, dim.getSource(), *dim.getConstantIndex(), before);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<OpFoldResult>>(result.getOwner())
      .Case<tensor::EmptyOp>([&](auto op) { return fromSizes(op.getMixedSizes()); })
      .Case<tensor::ExtractSliceOp>([&](auto op) -> FailureOr<OpFoldResult> {
        if (!op.getDroppedDims().none())
          return failure();
        return fromSizes(op.getMixedSizes());
      })
      .Case<tensor::CastOp>([&](auto op) -> FailureOr<OpFoldResult> {
        if (!isa<RankedTensorType>(op.getSource().getType()))
          return failure();
        return sameAs(op.getSource());
      })
      .Case<scf::IfOp>([&](auto op) { return sameAs(op.thenYield().getOperand(index)); })
      .Case<scf::ForOp>([&](auto op) { return sameAs(op.getInitArgs()[index]); })
      .Case<scf::WhileOp>([&](auto op) { return sameAs(op.getConditionOp().getArgs()[index]); })
      .Case<DestinationStyleOpInterface>(
          [&](auto op) { return sameAs(op.getTiedOpOperand(result)->get()); })
      .Default([](Operation *) { return FailureOr<OpFoldResult>(); });
}

/// An empty tensor of the type and sizes of `value`, before `before`; null if the sizes are
/// not known there.
static Value createScratch(OpBuilder &builder, Value value, Operation *before) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(before);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    FailureOr<OpFoldResult> size = getSizeBefore(builder, value, axis, before);
    if (failed(size))
      return nullptr;
    sizes.push_back(*size);
  }
  SmallVector<Value> dynamicSizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dynamicSizes.push_back(
          getValueOrCreateConstantIndexOp(builder, value.getLoc(), sizes[axis]));
  return tensor::EmptyOp::create(builder, value.getLoc(), type, dynamicSizes);
}

/// Lets the operation that makes `value` out of nothing write it to `destination` at once.
/// Whether that is possible in place is for One-Shot Bufferize to see: an output that isn't
/// read costs nothing if it is not.
static void redirect(Value value, Value destination) {
  DominanceInfo dominance;
  while (auto op = value.getDefiningOp<DestinationStyleOpInterface>()) {
    OpOperand *init = op.getTiedOpOperand(cast<OpResult>(value));
    auto empty = init->get().getDefiningOp<tensor::EmptyOp>();
    if (!empty) {
      if (!init->get().hasOneUse())
        return;
      value = init->get();
      continue;
    }
    if (init->get().getType() == destination.getType() &&
        dominance.properlyDominates(destination, op))
      init->set(destination);
    return;
  }
}

static Value createCopy(OpBuilder &builder, Location loc, Value source, Value destination) {
  redirect(source, destination);
  return linalg::CopyOp::create(builder, loc, source, destination).getResult(0);
}

static Value createCopy(OpBuilder &builder, Value source, Value destination) {
  return createCopy(builder, source.getLoc(), source, destination);
}

//===----------------------------------------------------------------------===//
// Parallel copies
//===----------------------------------------------------------------------===//

namespace {

/// One step of a parallel copy: `save` reads slot's source into its scratch tensor, otherwise
/// the source, or the scratch tensor if it was saved, is written into the slot.
struct Step {
  unsigned slot;
  bool save;
};

/// A parallel copy into numbered slots.
struct ParallelCopy {
  /// For each slot: the slots that its source may show; a slot that keeps its value isn't
  /// in `assigned`.
  SmallVector<llvm::SmallSetVector<unsigned, 2>> reads;
  llvm::SmallSetVector<unsigned, 4> assigned;
  /// For each slot: what its copy's location says, if it takes over another one's tensor.
  SmallVector<std::optional<TakenOver>> takenOver;

  /// The order in which no slot is written while a source still shows it; where there is
  /// none, the first slot is saved and so reads nothing any more.
  SmallVector<Step> schedule() const {
    SmallVector<Step> steps;
    SmallVector<llvm::SmallSetVector<unsigned, 2>> open(reads);
    SmallVector<unsigned> pending(assigned.begin(), assigned.end());
    while (!pending.empty()) {
      auto isFree = [&](unsigned slot) {
        return llvm::none_of(pending, [&](unsigned other) {
          return other != slot && open[other].contains(slot);
        });
      };
      auto it = llvm::find_if(pending, isFree);
      if (it == pending.end()) {
        steps.push_back({pending.front(), /*save=*/true});
        open[pending.front()].clear();
        continue;
      }
      steps.push_back({*it, /*save=*/false});
      pending.erase(it);
    }
    return steps;
  }
};

} // namespace

/// Emits `steps`. `values` holds the sources and receives the slots' new values; `scratch` maps
/// a saved slot to its scratch tensor and receives its new value.
static void emitSteps(OpBuilder &builder, const ParallelCopy &copy, ArrayRef<Step> steps, Operation *yield,
                      ValueRange slots, MutableArrayRef<Value> values, DenseMap<unsigned, Value> &scratch) {
  for (auto [slot, save] : steps) {
    // A state that goes on unchanged is found where it is yielded.
    Location loc = values[slot].getDefiningOp() ? values[slot].getLoc() : yield->getLoc();
    if (copy.takenOver[slot])
      loc = setTakenOver(loc, *copy.takenOver[slot]);
    if (save)
      values[slot] = scratch[slot] = createCopy(builder, loc, values[slot], scratch[slot]);
    else
      values[slot] = createCopy(builder, loc, values[slot], slots[slot]);
  }
}

/// The value in whose place `value` would be if everything on the way were updated in place.
static Value getUpdated(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Value before = getViewSource(op);
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      before = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      before = insert.getDest();
    else if (!before)
      before = getTiedInit(cast<OpResult>(value));
    if (!before)
      return value;
    value = before;
  }
  return value;
}

/// Whether `source` is what an inner loop makes of `carried` and nothing looks at the old value
/// from there on. Inner loops come first, so this one works in place already.
static bool isUpdatedByInnerLoop(Value source, Value carried) {
  auto result = dyn_cast<OpResult>(source);
  if (!result || !source.hasOneUse() || getTiedInit(result) != carried)
    return false;
  Operation *inner = result.getOwner();
  unsigned initUses = 0;
  for (OpOperand &use : carried.getUses()) {
    Operation *ancestor = inner->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (use.getOwner() == inner)
      ++initUses;
    else if (getViewSource(use.getOwner()) || !ancestor || ancestor == inner ||
             !ancestor->isBeforeInBlock(inner) ||
             use.getOwner()->hasTrait<OpTrait::IsTerminator>())
      return false;
  }
  return initUses == 1;
}

static ParallelCopy analyzeYield(ArrayRef<Value> slots, OperandRange sources,
                                 llvm::function_ref<std::optional<unsigned>(Value)> getSlot) {
  ParallelCopy copy;
  copy.reads.resize(sources.size());
  copy.takenOver.resize(sources.size());
  auto getName = [&](unsigned slot) -> std::string {
    SmallVector<StringRef> names = slots[slot] ? getSourceNames(slots[slot]) : SmallVector<StringRef>();
    return names.empty() ? "" : names.front().str();
  };
  for (auto [slot, source] : llvm::enumerate(sources)) {
    if (!isa<RankedTensorType>(source.getType()) || getSlot(source) == slot ||
        (slots[slot] && isUpdatedByInnerLoop(source, slots[slot])))
      continue;
    copy.assigned.insert(slot);
    if (std::optional<unsigned> from = getSlot(getUpdated(source)); from && *from != slot)
      copy.takenOver[slot] = TakenOver{getName(*from), getName(slot)};
    llvm::SmallSetVector<Value, 4> roots;
    collectRoots(source, roots);
    for (Value root : roots)
      if (std::optional<unsigned> read = getSlot(root))
        copy.reads[slot].insert(*read);
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static LogicalResult resolveFor(RewriterBase &rewriter, scf::ForOp loop) {
  auto getSlot = [&](Value value) -> std::optional<unsigned> {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBody() || argument.getArgNumber() == 0)
      return std::nullopt;
    return argument.getArgNumber() - 1;
  };
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  ParallelCopy copy = analyzeYield(carried, yield.getOperands(), getSlot);
  SmallVector<Step> steps = copy.schedule();
  if (steps.empty())
    return success();

  SmallVector<unsigned> saved;
  SmallVector<Value> scratchInits;
  for (Step step : steps) {
    if (!step.save)
      continue;
    Value scratch = createScratch(rewriter, loop.getInitArgs()[step.slot], loop);
    if (!scratch)
      return loop.emitError("the sizes of a carried tensor are not known before the loop");
    saved.push_back(step.slot);
    scratchInits.push_back(scratch);
  }
  auto newYields = [](OpBuilder &, Location, ArrayRef<BlockArgument> scratchArgs) {
    return SmallVector<Value>(scratchArgs.begin(), scratchArgs.end());
  };
  unsigned numSlots = loop.getInitArgs().size();
  if (!saved.empty()) {
    rewriter.setInsertionPoint(loop);
    auto replaced = loop.replaceWithAdditionalYields(
        rewriter, scratchInits, /*replaceInitOperandUsesInLoop=*/false, newYields);
    if (failed(replaced))
      return failure();
    loop = cast<scf::ForOp>(replaced->getOperation());
    yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  }
  DenseMap<unsigned, Value> scratch;
  for (auto [i, slot] : llvm::enumerate(saved))
    scratch[slot] = loop.getRegionIterArg(numSlots + i);
  SmallVector<Value> values(yield.getOperands());
  SmallVector<Value> slots(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  rewriter.setInsertionPoint(yield);
  emitSteps(rewriter, copy, steps, yield, slots, values, scratch);
  for (auto [i, slot] : llvm::enumerate(saved))
    values[numSlots + i] = scratch[slot];
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(values); });
  return success();
}

/// Brings the loop into the form in which the i-th value passed on by the condition is the
/// i-th carried value wherever it is a tensor, as One-Shot Bufferize wants it: carried values
/// first, then a scratch slot for every tensor that the condition region computes, then a
/// slot for every saved value, then the other values.
static LogicalResult resolveWhile(RewriterBase &rewriter, scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  unsigned numCarried = before->getNumArguments();

  // What the condition passes on, by what becomes of it.
  SmallVector<std::optional<unsigned>> forwarded;
  SmallVector<unsigned> computedTensors, computedScalars;
  for (auto [k, value] : llvm::enumerate(condition.getArgs())) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isForwarded = argument && argument.getOwner() == before;
    forwarded.push_back(isForwarded ? std::optional<unsigned>(argument.getArgNumber())
                                    : std::nullopt);
    if (!isForwarded)
      (isa<RankedTensorType>(value.getType()) ? computedTensors : computedScalars).push_back(k);
  }
  auto getSlot = [&](Value value) -> std::optional<unsigned> {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != after)
      return std::nullopt;
    return forwarded[argument.getArgNumber()];
  };
  // A carried value that the condition doesn't pass on has no name in the body.
  SmallVector<Value> carried(numCarried);
  for (auto [k, slot] : llvm::enumerate(forwarded))
    if (slot)
      carried[*slot] = after->getArgument(k);
  ParallelCopy copy = analyzeYield(carried, yield.getOperands(), getSlot);
  SmallVector<Step> steps = copy.schedule();
  auto hasTensor = [](TypeRange types) {
    return llvm::any_of(types, llvm::IsaPred<RankedTensorType>);
  };
  if (!hasTensor(before->getArgumentTypes()) && !hasTensor(after->getArgumentTypes()))
    return success();

  SmallVector<Value> inits(loop.getInits());
  auto addScratch = [&](Value like) {
    Value scratch = createScratch(rewriter, like, loop);
    if (scratch)
      inits.push_back(scratch);
    return scratch != nullptr;
  };
  SmallVector<unsigned> saved;
  bool known = llvm::all_of(computedTensors,
                            [&](unsigned k) { return addScratch(condition.getArgs()[k]); });
  for (Step step : steps)
    if (step.save) {
      saved.push_back(step.slot);
      known = known && addScratch(loop.getInits()[step.slot]);
    }
  if (!known)
    return loop.emitError("the sizes of a tensor that the loop computes are not known before it");

  SmallVector<Type> beforeTypes = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Type> resultTypes = beforeTypes;
  for (unsigned k : computedScalars)
    resultTypes.push_back(condition.getArgs()[k].getType());
  rewriter.setInsertionPoint(loop);
  auto newLoop = scf::WhileOp::create(rewriter, loop.getLoc(), resultTypes, inits);
  newLoop->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Location loc = loop.getLoc();
  Block *newBefore = rewriter.createBlock(&newLoop.getBefore(), {}, beforeTypes,
                                          SmallVector<Location>(beforeTypes.size(), loc));
  Block *newAfter = rewriter.createBlock(&newLoop.getAfter(), {}, resultTypes,
                                         SmallVector<Location>(resultTypes.size(), loc));

  // Where the old k-th value passed on is found among the new ones.
  SmallVector<unsigned> position(forwarded.size());
  for (auto [k, slot] : llvm::enumerate(forwarded))
    if (slot)
      position[k] = *slot;
  for (auto [i, k] : llvm::enumerate(computedTensors))
    position[k] = numCarried + i;
  for (auto [i, k] : llvm::enumerate(computedScalars))
    position[k] = beforeTypes.size() + i;

  SmallVector<Value> passedOn(newBefore->getArguments());
  rewriter.mergeBlocks(before, newBefore, newBefore->getArguments().take_front(numCarried));
  rewriter.setInsertionPoint(condition);
  for (auto [i, k] : llvm::enumerate(computedTensors))
    passedOn[numCarried + i] =
        createCopy(rewriter, condition.getArgs()[k], newBefore->getArgument(numCarried + i));
  for (unsigned k : computedScalars)
    passedOn.push_back(condition.getArgs()[k]);
  rewriter.replaceOpWithNewOp<scf::ConditionOp>(condition, condition.getCondition(), passedOn);

  SmallVector<Value> afterReplacements, results;
  for (unsigned index : position) {
    afterReplacements.push_back(newAfter->getArgument(index));
    results.push_back(newLoop.getResult(index));
  }
  rewriter.mergeBlocks(after, newAfter, afterReplacements);
  SmallVector<Value> values(yield.getOperands());
  DenseMap<unsigned, Value> scratch;
  for (auto [i, slot] : llvm::enumerate(saved))
    scratch[slot] = newAfter->getArgument(numCarried + computedTensors.size() + i);
  rewriter.setInsertionPoint(yield);
  emitSteps(rewriter, copy, steps, yield, newAfter->getArguments(), values, scratch);
  for (unsigned i = 0; i < computedTensors.size(); ++i)
    values.push_back(newAfter->getArgument(numCarried + i));
  for (unsigned slot : saved)
    values.push_back(scratch[slot]);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(values); });
  rewriter.replaceOp(loop, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Branches in loops
//===----------------------------------------------------------------------===//

/// The value that a loop carries in the slot that `yielded` operand `index` of its body's
/// terminator goes to.
static BlockArgument getCarriedArgument(scf::YieldOp yield, unsigned index) {
  if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
    return loop.getRegionIterArg(index);
  if (auto loop = dyn_cast<scf::WhileOp>(yield->getParentOp()))
    if (yield->getBlock() == loop.getAfterBody())
      for (auto [k, value] : llvm::enumerate(loop.getConditionOp().getArgs()))
        if (value == loop.getBeforeArguments()[index])
          return loop.getAfterArguments()[k];
  return nullptr;
}

/// Follows the only use of `result` through the branches around it to the loop that carries
/// it. `branches` receives the operations passed, innermost first.
static BlockArgument followToLoop(OpResult result, SmallVectorImpl<OpResult> &branches) {
  branches.push_back(result);
  if (!result.hasOneUse())
    return nullptr;
  OpOperand &use = *result.getUses().begin();
  auto yield = dyn_cast<scf::YieldOp>(use.getOwner());
  // A loop further in that yields an invariant value carries nothing that exists here.
  if (!yield || yield->getBlock() != result.getOwner()->getBlock())
    return nullptr;
  if (auto branch = dyn_cast<scf::IfOp>(yield->getParentOp()))
    return followToLoop(branch->getResult(use.getOperandNumber()), branches);
  return getCarriedArgument(yield, use.getOperandNumber());
}

/// Whether the branches of `chain` may overwrite `carried` at their ends: nothing that runs
/// later in the iteration looks at it, and nothing passes it on elsewhere.
static bool isDeadAfterBranches(BlockArgument carried, ArrayRef<OpResult> chain) {
  SmallVector<Value> views{carried};
  for (unsigned i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      Operation *user = use.getOwner();
      if (getViewSource(user) == views[i])
        views.push_back(user->getResult(0));
      if (auto yield = dyn_cast<scf::YieldOp>(user)) {
        bool ownPosition = llvm::any_of(chain, [&](OpResult result) {
          return result.getOwner() == yield->getParentOp() &&
                 result.getResultNumber() == use.getOperandNumber();
        });
        if (ownPosition && views[i] == carried)
          continue;
        // Yields inside of loops and of other branches pass a value on, too.
        return false;
      }
      if (isa<arith::SelectOp>(user) && isa<RankedTensorType>(user->getResult(0).getType()))
        return false;
      for (OpResult result : chain) {
        Operation *branch = result.getOwner();
        Operation *ancestor = branch->getBlock()->findAncestorOpInBlock(*user);
        if (ancestor && ancestor != branch && !ancestor->isBeforeInBlock(branch))
          return false;
      }
    }
  return true;
}

/// Writes the results of a branch inside a loop into the carried values they are for. A result
/// that may show a value from outside the branch gets a scratch tensor: as it is, it would be
/// one buffer or another depending on the condition, and nothing could be written in place.
static void resolveIf(RewriterBase &rewriter, scf::IfOp branch) {
  for (OpResult result : branch.getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    unsigned index = result.getResultNumber();
    SmallVector<scf::YieldOp, 2> yields{branch.thenYield(), branch.elseYield()};

    SmallVector<OpResult> chain;
    Value destination;
    if (BlockArgument carried = followToLoop(result, chain))
      if (carried.getType() == result.getType() && isDeadAfterBranches(carried, chain))
        destination = carried;
    if (!destination) {
      Value outside;
      for (scf::YieldOp yield : yields) {
        llvm::SmallSetVector<Value, 4> roots;
        collectRoots(yield.getOperand(index), roots);
        for (Value root : roots)
          if (isDefinedOutside(root, branch))
            outside = yield.getOperand(index);
      }
      if (outside)
        destination = createScratch(rewriter, outside, branch);
    }
    if (!destination)
      continue;
    for (scf::YieldOp yield : yields) {
      if (yield.getOperand(index) == destination)
        continue;
      rewriter.setInsertionPoint(yield);
      Value copy = createCopy(rewriter, yield.getOperand(index), destination);
      rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(index, copy); });
    }
  }
}

/// A choice between whole tensors, as canonicalisation makes it from a branch.
static scf::IfOp expandSelect(RewriterBase &rewriter, arith::SelectOp select) {
  rewriter.setInsertionPoint(select);
  auto yield = [](Value value) {
    return [value](OpBuilder &builder, Location loc) {
      scf::YieldOp::create(builder, loc, value);
    };
  };
  auto branch = scf::IfOp::create(rewriter, select.getLoc(), select.getCondition(),
                                  yield(select.getTrueValue()), yield(select.getFalseValue()));
  rewriter.replaceOp(select, branch.getResults());
  return branch;
}

/// Whether `op` makes a tensor out of nothing, at no more cost than a copy of it.
static bool isInitialValue(Operation *op) {
  auto fill = dyn_cast<linalg::FillOp>(op);
  return isa<tensor::EmptyOp>(op) ||
         (fill && fill->getNumResults() == 1 &&
          fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>());
}

/// Gives every operation that writes over an empty or constant tensor one of its own, right
/// before it: there its place can be taken by a value that exists only in the loop, and no
/// copy of it needs to be kept from one iteration to the next.
static void sinkInitialValues(RewriterBase &rewriter, Operation *root) {
  SmallVector<Operation *> values;
  root->walk([&](Operation *op) {
    if (isInitialValue(op))
      values.push_back(op);
  });
  // A fill before the empty tensor that it fills.
  for (Operation *value : llvm::reverse(values)) {
    for (OpOperand &use : llvm::make_early_inc_range(value->getUses())) {
      auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      bool isOutput = user && user.isDpsInit(&use);
      if (!isOutput && !isa<tensor::EmptyOp>(value))
        continue;
      if (isa<LoopLikeOpInterface>(use.getOwner()))
        continue;
      rewriter.setInsertionPoint(use.getOwner());
      Operation *copy = rewriter.clone(*value);
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(copy->getResult(0)); });
    }
    if (value->use_empty())
      rewriter.eraseOp(value);
  }
}

namespace {
struct ResolveCarriedCopiesPass
    : public kina::impl::ResolveCarriedCopiesBase<ResolveCarriedCopiesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    sinkInitialValues(rewriter, getOperation());

    auto isInLoop = [](Operation *op) { return op->getParentOfType<LoopLikeOpInterface>(); };
    SmallVector<arith::SelectOp> selects;
    getOperation()->walk([&](arith::SelectOp select) {
      if (isa<RankedTensorType>(select.getType()) && select.getCondition().getType().isInteger(1) &&
          isInLoop(select))
        selects.push_back(select);
    });
    for (arith::SelectOp select : selects)
      expandSelect(rewriter, select);

    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](scf::IfOp branch) {
      if (branch->getNumResults() != 0 && isInLoop(branch))
        branches.push_back(branch);
    });
    for (scf::IfOp branch : branches)
      resolveIf(rewriter, branch);

    // Inner loops first; replacing one leaves the outer ones in place.
    SmallVector<Operation *> loops;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      LogicalResult resolved = success();
      if (auto loop = dyn_cast<scf::ForOp>(op))
        resolved = resolveFor(rewriter, loop);
      else
        resolved = resolveWhile(rewriter, cast<scf::WhileOp>(op));
      if (failed(resolved))
        return signalPassFailure();
    }
  }
};
} // namespace
