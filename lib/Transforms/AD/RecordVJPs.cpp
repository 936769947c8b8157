//===- RecordVJPs.cpp - Active operations perform their pullback ----------===//

#include "Recorder.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_RECORDVJPSPASS
#include "Kina/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

llvm::SetVector<Value> getCaptured(ArrayRef<PerformOp> performs) {
  llvm::SetVector<Value> captured;
  for (PerformOp perform : performs)
    visitUsedValuesDefinedAbove(perform.getVjp(), [&](OpOperand *use) { captured.insert(use->get()); });
  return captured;
}

std::string Recorder::uniqueName(const Twine &base) {
  for (unsigned n = 0;; ++n)
    if (std::string name = (base + Twine(n)).str(); !symbols.lookup(name))
      return name;
}

void Recorder::replaceValue(Value from, Value to) {
  if (varied.contains(from))
    varied.insert(to);
  if (useful.contains(from))
    useful.insert(to);
  from.replaceAllUsesWith(to);
}

void Recorder::eraseOp(Operation *op) {
  auto forget = [&](Value value) {
    varied.erase(value);
    useful.erase(value);
  };
  op->walk([&](Operation *inner) {
    llvm::for_each(inner->getResults(), forget);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), forget);
  });
  op->erase();
}

void Recorder::copyActivity(Operation *op, const IRMapping &mapping) {
  auto copy = [&](Value value) {
    Value clone = mapping.lookupOrNull(value);
    if (clone && varied.contains(value))
      varied.insert(clone);
    if (clone && useful.contains(value))
      useful.insert(clone);
  };
  op->walk([&](Operation *inner) {
    llvm::for_each(inner->getResults(), copy);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), copy);
  });
}

//===----------------------------------------------------------------------===//
// Handles and blocks
//===----------------------------------------------------------------------===//

LogicalResult Recorder::recordHandle(HandleOp handle) {
  TagAttr tag = handle.getTagAttr();
  Block &body = handle.getBody().front();
  // A second run would count every contribution twice.
  if (llvm::any_of(body, [&](Operation &op) { return isRecordVJP(&op, tag); }))
    return success();
  varied.clear();
  useful.clear();
  sinkConditionExtras(body);
  for (Value result : handle.getResults())
    for (Operation *user : result.getUsers())
      if (auto read = dyn_cast<CotangentOfOp>(user))
        varied.insert(read.getValue());
  ValueRange yielded = body.getTerminator()->getOperands();
  for (auto seed : handle.getReturnRegion().front().getOps<SeedOp>())
    for (Value value : seed.getValues())
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &handle.getReturnRegion().front())
        useful.insert(yielded[argument.getArgNumber()]);
  if (failed(analysis.propagateVaried(body, varied)) || failed(analysis.propagateUseful(body, useful)))
    return failure();
  Performs performs;
  return recordBlock(body, Place{tag}, performs);
}

LogicalResult Recorder::recordBlock(Block &block, Place place, Performs &performs) {
  bool ok = true;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    // Its frames are added to in place: a run that is repeated would add twice.
    if (auto zeros = dyn_cast<TapeZerosOp>(op); zeros && zeros.getTape().getType().getForm() == TapeForm::Growable) {
      emitError(op.getLoc(), DiagCode::K0604,
                "no third derivative over growable tapes: choose another form of tapes");
      return failure();
    }
    BitVector results(op.getNumResults()), operands(op.getNumOperands());
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      results[i] = isActive(result);
    if (results.none())
      continue;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      operands[i] = isActive(operand) && isDifferentiableIn(&op, i);
    FailureOr<PerformOp> perform = failure();
    if (auto call = dyn_cast<CallOp>(op))
      perform = recordCall(call, operands, results, place);
    else if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
      perform = recordRule(differentiable, operands, results, place.tag);
    else if (auto branch = dyn_cast<IfOp>(op))
      perform = recordIf(branch, place);
    else if (auto remat = dyn_cast<RematOp>(op))
      perform = recordRemat(remat, place);
    else if (auto loop = dyn_cast<WhileOp>(op))
      perform = recordWhile(loop, place);
    else if (auto effect = dyn_cast<PerformOp>(op))
      emitError(op.getLoc(), DiagCode::K0604, "no derivative through effect '")
          << effect.getPerformed().getRootReference().getValue()
          << "': its handler stands outside of what is differentiated, or is differentiated twice";
    else if (isa<HandleOp, WatchOp, CotangentOfOp>(op))
      emitError(op.getLoc(), DiagCode::K0604, "no derivative of what a handler of '") << kReverseModeName << "' computes";
    else
      emitError(op.getLoc(), DiagCode::K0604, "no derivative for '") << op.getName() << "'";
    if (failed(perform))
      ok = false;
    else
      performs.push_back(*perform);
  }
  if (!ok)
    return failure();
  // A residual lives until its pullback has run.
  for (auto drop : llvm::make_early_inc_range(block.getOps<DropOp>()))
    if (llvm::any_of(drop.getOperand().getUsers(), [&](Operation *user) {
          auto perform = user->getParentOfType<PerformOp>();
          return perform && perform.getTagAttr() == place.tag;
        }))
      drop.erase();
  return success();
}

llvm::SetVector<Value> Recorder::getCapturedTargets(Operation *op, ArrayRef<Block *> blocks,
                                                    ArrayRef<PerformOp> performs) const {
  llvm::SetVector<Value> targets;
  auto add = [&](Value value) {
    if (isActive(value) && !op->isAncestor(value.getParentBlock()->getParentOp()))
      targets.insert(value);
  };
  for (PerformOp perform : performs)
    llvm::for_each(perform.getTargets(), add);
  for (Block *block : blocks)
    llvm::for_each(block->getTerminator()->getOperands(), add);
  return targets;
}

PerformOp Recorder::createPerform(Operation *op, ValueRange primals, ValueRange targets, TagAttr tag,
                                  OpBuilder &builder) {
  builder.setInsertionPointAfter(op);
  auto perform = PerformOp::create(builder, op->getLoc(), TypeRange(), getRecordVJPAttr(op->getContext()),
                                   ValueRange(), primals, targets, tag);
  SmallVector<Type> types(primals.getTypes());
  llvm::append_range(types, targets.getTypes());
  builder.createBlock(&perform.getVjp(), {}, types, SmallVector<Location>(types.size(), op->getLoc()));
  return perform;
}

SmallVector<Value> Recorder::getCotangents(PerformOp perform, OpBuilder &builder) {
  SmallVector<Value> primals(perform.getPrimals());
  llvm::append_range(primals, perform.getTargets());
  RuleBuilder k(builder, perform.getLoc());
  SmallVector<Value> cotangents;
  for (auto [argument, primal] : llvm::zip(perform.getVjp().getArguments(), primals))
    cotangents.push_back(isa<TapeType>(primal.getType()) ? k.make<PresentOp>(argument, k.tapeLength(primal))
                                                         : Value(argument));
  return cotangents;
}

PerformOp Recorder::createPerform(Operation *op, const BitVector &activeOperands, const BitVector &activeResults,
                                  TagAttr tag, OpBuilder &builder) {
  SmallVector<Value> primals;
  for (unsigned i : activeResults.set_bits())
    primals.push_back(op->getResult(i));
  llvm::SetVector<Value> targets;
  for (unsigned i : activeOperands.set_bits())
    targets.insert(op->getOperand(i));
  return createPerform(op, primals, targets.getArrayRef(), tag, builder);
}

FailureOr<PerformOp> Recorder::recordRule(DifferentiableOpInterface op, const BitVector &activeOperands,
                                                const BitVector &activeResults, TagAttr tag) {
  OpBuilder builder(op);
  PerformOp perform = createPerform(op, activeOperands, activeResults, tag, builder);
  SmallVector<Value> cotangents(op->getNumResults());
  unsigned next = 0;
  for (unsigned i : activeResults.set_bits())
    cotangents[i] = perform.getVjp().getArgument(next++);
  llvm::MapVector<Value, Value> accumulators;
  for (Value target : perform.getTargets())
    accumulators[target] = perform.getVjp().getArgument(next++);

  // A value that is several operands (`mul %x, %x`) has one chain of contributions:
  // each round takes the next operand of every value.
  BitVector left = activeOperands;
  while (left.any()) {
    BitVector wanted(left.size());
    SmallVector<Value> given(left.size());
    llvm::DenseSet<Value> taken;
    for (unsigned i : left.set_bits())
      if (taken.insert(op->getOperand(i)).second) {
        wanted.set(i);
        given[i] = accumulators[op->getOperand(i)];
      }
    FailureOr<SmallVector<Value>> results = op.emitVJP(builder, cotangents, given, wanted);
    if (failed(results)) {
      emitError(op.getLoc(), DiagCode::K0604, "no derivative for this '") << op->getName() << "'";
      eraseOp(perform);
      return failure();
    }
    for (unsigned i : wanted.set_bits())
      if ((*results)[i])
        accumulators[op->getOperand(i)] = (*results)[i];
    left.reset(wanted);
  }
  SmallVector<Value> yielded;
  for (auto &entry : accumulators)
    yielded.push_back(entry.second);
  YieldOp::create(builder, op.getLoc(), yielded);
  return perform;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

std::optional<TapeChoice> parseTapeChoice(StringRef name) {
  return llvm::StringSwitch<std::optional<TapeChoice>>(name)
      .Case("auto", TapeChoice::Auto)
      .Case("bounded", TapeChoice::Bounded)
      .Case("stride", TapeChoice::Stride)
      .Case("replay", TapeChoice::Replay)
      .Case("growable", TapeChoice::Growable)
      .Default(std::nullopt);
}

namespace {

class RecordVJPsPass : public impl::RecordVJPsPassBase<RecordVJPsPass> {
public:
  using RecordVJPsPassBase::RecordVJPsPassBase;

  void runOnOperation() override {
    RecorderOptions options;
    std::optional<TapeChoice> choice = parseTapeChoice(tape);
    if (!choice) {
      getOperation().emitError() << "'tape' is one of auto, bounded, stride, replay, growable, not '" << tape << "'";
      return signalPassFailure();
    }
    if (slots < 2 || slots > (int64_t(1) << 30) || !llvm::isPowerOf2_64(slots)) {
      getOperation().emitError() << "'slots' is a power of two and at least 2, not " << slots;
      return signalPassFailure();
    }
    options.tape = *choice;
    options.slots = slots;
    SmallVector<HandleOp> handles;
    getOperation().walk([&](HandleOp handle) {
      if (handle.getTagAttr())
        handles.push_back(handle);
    });
    if (handles.empty())
      return;
    Recorder recorder(getOperation(), options);
    for (HandleOp handle : handles)
      if (failed(recorder.recordHandle(handle)))
        signalPassFailure();
  }
};

} // namespace
} // namespace kina
