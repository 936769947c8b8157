//===- AD.cpp - Differentiation as a whole --------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Transforms/AD/Handlers.h"
#include "Kina/Transforms/AD/Nesting.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Rules.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_ADPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

class ADPass : public impl::ADPassBase<ADPass> {
public:
  using ADPassBase::ADPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module->setAttr(kValueSemanticsAttrName, UnitAttr::get(module.getContext()));
    if (!hasDerivative(module))
      return;
    llvm::StringSet<> known, changed;
    for (auto function : module.getOps<FuncOp>())
      known.insert(function.getSymName());
    OpPassManager masks(ModuleOp::getOperationName()), expand(ModuleOp::getOperationName()),
        pipeline(ModuleOp::getOperationName());
    masks.addPass(createMaskArmsPass());
    expand.addPass(createExpandGradPass());
    RecordVJPsPassOptions recorder;
    recorder.tape = tape;
    recorder.slots = slots;
    pipeline.addPass(createRecordVJPsPass(recorder));
    pipeline.addPass(createLowerEffectsPass());
    pipeline.addPass(createForwardModePass());
    OpPassManager checkpoints(ModuleOp::getOperationName());
    checkpoints.addPass(createInsertCheckpointsPass());
    if (failed(runPipeline(masks, module)))
      return signalPassFailure();
    // A round differentiates what contains no derivative any more, and so leaves one
    // level of nesting less. What handles its effects is a function like any other then.
    for (bool first = true; hasDerivative(module); first = false) {
      for (auto function : module.getOps<FuncOp>())
        if (hasDerivative(function))
          changed.insert(function.getSymName());
      if (failed(runPipeline(expand, module)) || failed(lowerHandlers(module)) ||
          (first && failed(runPipeline(checkpoints, module))) || failed(runPipeline(pipeline, module)))
        return signalPassFailure();
    }
    if (failed(checkRecursion()))
      return signalPassFailure();
    tidy(known, changed);
  }

private:
  /// A rule of the user's own may take the derivative that it is the rule of.
  LogicalResult checkRecursion();
  /// Whether there is something to lower.
  static bool hasDerivative(Operation *root) {
    return root
        ->walk([](Operation *op) {
          return isDerivative(op) || isa<HandleOp, PerformOp, EffectOp, RefOp>(op) ? WalkResult::interrupt()
                                                                                   : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Removes what the rules emitted and nobody reads, in the functions that were made or
  /// changed; all others stay as they were. No operation is replaced by another, so the
  /// bits stay too.
  void tidy(const llvm::StringSet<> &known, const llvm::StringSet<> &changed);
  /// Erases the unused private functions that were made. Says whether there was one.
  bool eraseUnused(const llvm::StringSet<> &known);
  /// Drops results that no call reads and arguments that the body does not read from the
  /// functions that were made. Says whether there were any.
  bool trimSignatures(const llvm::StringSet<> &known);
  /// A specialised function takes the name of the general one where that is gone.
  void shortenNames(const llvm::StringSet<> &known);
};

LogicalResult ADPass::checkRecursion() {
  SymbolTable symbols(getOperation());
  // Functions whose calls are being followed, and those that are done.
  llvm::DenseSet<Operation *> open, done;
  std::function<LogicalResult(FuncOp)> visit = [&](FuncOp function) -> LogicalResult {
    if (!function || done.contains(function))
      return success();
    open.insert(function);
    WalkResult result = function.walk([&](CallOp call) {
      auto callee = symbols.lookup<FuncOp>(call.getCallee());
      if (callee && open.contains(callee)) {
        emitError(call.getLoc(), DiagCode::K0604, "no derivative through recursion: '")
            << callee.getSymName().split('.').first << "' needs itself, by a rule of its derivative or of another";
        return WalkResult::interrupt();
      }
      return failed(visit(callee)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    open.erase(function);
    done.insert(function);
    return failure(result.wasInterrupted());
  };
  for (auto function : getOperation().getOps<FuncOp>())
    if (failed(visit(function)))
      return failure();
  return success();
}

/// Erases operations without effect and use, last first.
void eraseDead(FuncOp function) {
  function.walk<WalkOrder::PostOrder, mlir::ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

bool ADPass::eraseUnused(const llvm::StringSet<> &known) {
  llvm::StringSet<> called;
  getOperation().walk([&](CallOp call) { called.insert(call.getCallee()); });
  bool any = false;
  for (auto function : llvm::make_early_inc_range(getOperation().getOps<FuncOp>()))
    if (!known.contains(function.getSymName()) && !called.contains(function.getSymName())) {
      function.erase();
      any = true;
    }
  return any;
}

bool ADPass::trimSignatures(const llvm::StringSet<> &known) {
  llvm::StringMap<SmallVector<CallOp>> calls;
  getOperation().walk([&](CallOp call) { calls[call.getCallee()].push_back(call); });
  bool any = false;
  for (auto function : getOperation().getOps<FuncOp>()) {
    if (known.contains(function.getSymName()))
      continue;
    SmallVector<CallOp> &sites = calls[function.getSymName()];
    Block &body = function.getBody().front();
    BitVector arguments(body.getNumArguments()), results(function.getNumResults());
    // An argument that gives a shape variable its value is read through the name.
    llvm::StringMap<unsigned> solvers;
    for (Type type : function.getArgumentTypes())
      for (DimAttr dim : getShape(type))
        ++solvers[dim.getSingleName()];
    for (BlockArgument argument : body.getArguments()) {
      unsigned i = argument.getArgNumber();
      if (!argument.use_empty() || function.getArgAttr(i, kDimArgAttrName))
        continue;
      llvm::StringMap<unsigned> own;
      for (DimAttr dim : getShape(argument.getType()))
        ++own[dim.getSingleName()];
      if (llvm::any_of(own, [&](auto &entry) {
            return !entry.getKey().empty() && solvers[entry.getKey()] == entry.getValue();
          }))
        continue;
      for (auto &entry : own)
        solvers[entry.getKey()] -= entry.getValue();
      arguments.set(i);
    }
    for (unsigned i = 0; i < results.size(); ++i)
      results[i] = llvm::all_of(sites, [&](CallOp call) { return call.getResult(i).use_empty(); });
    if (arguments.none() && results.none())
      continue;
    any = true;
    body.getTerminator()->eraseOperands(results);
    if (failed(function.eraseResults(results)) || failed(function.eraseArguments(arguments)))
      continue;
    for (CallOp &call : sites) {
      OpBuilder builder(call);
      SmallVector<Value> operands, kept;
      for (auto [i, operand] : llvm::enumerate(call.getOperands()))
        if (!arguments[i])
          operands.push_back(operand);
      for (auto [i, result] : llvm::enumerate(call.getResults()))
        if (!results[i])
          kept.push_back(result);
      auto trimmed = CallOp::create(builder, call.getLoc(), ValueRange(kept).getTypes(), call.getCalleeAttr(),
                                    operands, call.getSubst(), ArrayAttr(), ArrayAttr());
      for (auto [old, fresh] : llvm::zip(kept, trimmed.getResults()))
        old.replaceAllUsesWith(fresh);
      call.erase();
      call = trimmed;
    }
  }
  return any;
}

void ADPass::tidy(const llvm::StringSet<> &known, const llvm::StringSet<> &changed) {
  while (eraseUnused(known))
    continue;
  auto clean = [&] {
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<FuncOp>())
      if (!known.contains(function.getSymName()) || changed.contains(function.getSymName())) {
        DominanceInfo dominance(function);
        eliminateCommonSubExpressions(rewriter, dominance, function);
        eraseDead(function);
      }
  };
  clean();
  while (trimSignatures(known))
    clean();
  // What is left of a forward half that nobody needs.
  SymbolTable symbols(getOperation());
  getOperation().walk([&](CallOp call) {
    auto callee = symbols.lookup<FuncOp>(call.getCallee());
    if (call.getNumResults() == 0 && !known.contains(call.getCallee()) && callee.getBody().front().without_terminator().empty())
      call.erase();
  });
  while (eraseUnused(known))
    continue;
  shortenNames(known);
}

void ADPass::shortenNames(const llvm::StringSet<> &known) {
  SymbolTable symbols(getOperation());
  for (auto function : getOperation().getOps<FuncOp>()) {
    StringRef name = function.getSymName(), base = name.split(".absent").first;
    if (!known.contains(name) && base != name && !symbols.lookup(base) && failed(symbols.rename(function, base)))
      return signalPassFailure();
  }
}

} // namespace
} // namespace kina
