//===- LowerEffects.cpp - Handlers are lowered statically -----------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Handlers.h"
#include "Kina/Transforms/AD/Pullbacks.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_LOWEREFFECTSPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

/// The seed of a handle that is the built-in handler of reverse mode: the return region
/// yields what it gets and then a seeded map, the one case resumes and then pulls. Null
/// for any other handler.
SeedOp matchReverseMode(HandleOp handle) {
  if (!handle.getTagAttr() || handle.getOperations().size() != 1 ||
      handle.getOperations()[0] != getRecordVJPAttr(handle.getContext()) || handle.getNumResults() == 0)
    return {};
  Block &end = handle.getReturnRegion().front(), &record = handle.getCases().front().front();
  auto seed = end.getTerminator()->getOperands().back().getDefiningOp<SeedOp>();
  if (!seed || seed->getBlock() != &end || !seed->hasOneUse())
    return {};
  if (record.getNumArguments() != 2 || std::distance(record.begin(), record.end()) != 3)
    return {};
  auto resume = dyn_cast<ResumeOp>(record.front());
  auto pull = dyn_cast<PullOp>(*std::next(record.begin()));
  if (!resume || resume.getContinuation() != record.getArgument(1) || !pull || pull.getVjp() != record.getArgument(0) ||
      pull.getCotangents() != resume.getResults().back())
    return {};
  SmallVector<Value> after(resume.getResults());
  after.back() = pull.getResult();
  return llvm::equal(after, record.getTerminator()->getOperands()) ? seed : SeedOp();
}

class LowerEffectsPass : public impl::LowerEffectsPassBase<LowerEffectsPass> {
public:
  using LowerEffectsPassBase::LowerEffectsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(lowerHandlers(module)))
      return signalPassFailure();
    // What is not lowered here is reported before anything changes.
    SmallVector<HandleOp> handles;
    bool ok = true;
    // What a derivative in a handler that is reported performs is not reported once more.
    llvm::StringSet<> told;
    module.walk([&](Operation *op) {
      if (auto handle = dyn_cast<HandleOp>(op)) {
        handles.push_back(handle);
        if (!matchReverseMode(handle) || !areCotangentsRead(handle)) {
          reportHandler(handle, told);
          ok = false;
        }
      }
    });
    module.walk([&](PerformOp perform) {
      if (!told.contains(perform->getParentOfType<FuncOp>().getSymName()))
        ok &= checkPerform(perform);
    });
    if (!ok)
      return signalPassFailure();
    SymbolTable symbols(module);
    PullbackEmitter emitter(symbols);
    for (HandleOp handle : handles)
      lower(handle, emitter);
    if (failed(finish()))
      signalPassFailure();
  }

private:
  static void reportHandler(HandleOp handle, llvm::StringSet<> &told) {
    if (handle.getTagAttr()) {
      emitError(handle.getLoc(), DiagCode::K0601, "this handler of 'RecordVJP' is not that of reverse mode");
      return;
    }
    // Reverse mode of first order is expanded by now, and its handler with it.
    InFlightDiagnostic diag = emitError(handle.getLoc(), DiagCode::K0601,
                                        "this handler is not lowered: forward mode and derivatives of derivatives "
                                        "do not go through a handler that is outside of them");
    handle.walk([&](Operation *op) {
      if (!isa<GradOp, VJPOp, JVPOp>(op))
        return;
      diag.attachNote(op->getLoc()) << "this derivative";
      told.insert(op->getAttrOfType<FlatSymbolRefAttr>("callee").getValue());
    });
    attachHelp(diag) << "handle the effect inside of the function that is differentiated";
  }
  static bool areCotangentsRead(HandleOp handle) {
    return llvm::all_of(handle.getResults().back().getUsers(),
                        [](Operation *user) { return isa<CotangentOfOp>(user); });
  }

  /// A perform belongs directly into the body of the handle of its tag.
  static bool checkPerform(PerformOp perform) {
    auto handle = perform->getParentOfType<HandleOp>();
    if (!perform.getTagAttr()) {
      if (!handle)
        emitError(perform.getLoc(), DiagCode::K0601, "effect '")
            << perform.getPerformed().getRootReference().getValue() << "' is performed without a handler";
      // Inside a general handler the handler itself is reported.
      return handle != nullptr && !handle.getTagAttr();
    }
    for (; handle; handle = handle->getParentOfType<HandleOp>())
      if (handle.getTagAttr() == perform.getTagAttr())
        break;
    if (handle && perform->getParentRegion() == &handle.getBody())
      return true;
    emitError(perform.getLoc(), DiagCode::K0601, "this pullback is recorded outside the handler of its tag");
    return false;
  }

  void lower(HandleOp handle, PullbackEmitter &emitter);
  LogicalResult finish();
};

void LowerEffectsPass::lower(HandleOp handle, PullbackEmitter &emitter) {
  OpBuilder builder(handle);
  TagAttr tag = handle.getTagAttr();
  Block &body = handle.getBody().front(), &end = handle.getReturnRegion().front();
  SeedOp seed = matchReverseMode(handle);

  SmallVector<PerformOp> performs;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (isRecordVJP(&op, tag))
      performs.push_back(cast<PerformOp>(op));
    op.moveBefore(handle);
  }
  for (auto [argument, value] : llvm::zip(end.getArguments(), body.getTerminator()->getOperands()))
    argument.replaceAllUsesWith(value);
  for (Operation &op : llvm::make_early_inc_range(end.without_terminator()))
    op.moveBefore(handle);

  CotangentMap cotangents;
  for (auto [value, cotangent] : llvm::zip(seed.getValues(), seed.getCotangents()))
    cotangents.add(builder, seed.getLoc(), value, cotangent);
  emitter.emitReverse(builder, performs, cotangents, IRMapping());

  for (Operation *user : llvm::make_early_inc_range(handle.getResults().back().getUsers())) {
    auto read = cast<CotangentOfOp>(user);
    Value cotangent = cotangents.lookup(read.getValue());
    if (!cotangent) {
      builder.setInsertionPoint(read);
      cotangent = RuleBuilder(builder, read.getLoc()).zeros(read.getType());
    }
    read.replaceAllUsesWith(cotangent);
    read.erase();
  }
  for (auto [result, value] :
       llvm::zip(handle.getResults().drop_back(), end.getTerminator()->getOperands().drop_back()))
    result.replaceAllUsesWith(value);
  handle.erase();
  seed.erase();
  for (PerformOp perform : performs)
    perform.erase();
}

/// Ends what only handlers gave a meaning to, and checks that nothing is left of them.
LogicalResult LowerEffectsPass::finish() {
  ModuleOp module = getOperation();
  module.walk([](Operation *op) {
    if (auto watch = dyn_cast<WatchOp>(op)) {
      watch.replaceAllUsesWith(watch.getOperand());
      watch.erase();
    } else if (isa<DetachOp>(op) && op->hasAttr(kOutsideOfAttrName)) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      lowerAccumulate(accumulate);
    } else if (auto present = dyn_cast<PresentOp>(op)) {
      present.replaceAllUsesWith(present.getCotangent());
      present.erase();
    } else if (isa<AbsentOp>(op) && op->use_empty()) {
      op->erase();
    } else if (auto effect = dyn_cast<EffectOp>(op)) {
      effect.erase();
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  Operation *left = nullptr;
  module.walk([&](Operation *op) {
    if (!left && isa<HandleOp, PerformOp, ResumeOp, SeedOp, PullOp, CotangentOfOp, AbsentOp>(op))
      left = op;
  });
  if (!left)
    return success();
  emitError(left->getLoc(), DiagCode::K0900, "internal error: '")
      << left->getName() << "' is left after --kina-lower-effects";
  return failure();
}

} // namespace
} // namespace kina
