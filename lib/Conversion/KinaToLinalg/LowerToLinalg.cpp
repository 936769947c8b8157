//===- LowerToLinalg.cpp - The pass kina-lower-to-linalg ------------------===//

#include "Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"

#define DEBUG_TYPE "kina-lower-to-linalg"

using namespace mlir;

namespace kina {

#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "Kina/Conversion/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Types and patterns
//===----------------------------------------------------------------------===//

KinaToLinalgTypeConverter::KinaToLinalgTypeConverter() {
  addConversion([](Type type) -> std::optional<Type> {
    if (isa<KinaDialect>(type.getDialect()))
      return Type();
    return getStorageType(type);
  });
  addConversion([](TensorType type) -> std::optional<Type> {
    if (!type.getPlacement().isHost())
      return Type();
    Type element = getStorageType(type.getElementType());
    if (type.getRank() == 0)
      return element;
    return RankedTensorType::get(getStaticSizes(type.getShape()), element);
  });
  addConversion([](TapeType type) -> std::optional<Type> {
    if (type.getForm() == TapeForm::Growable)
      return rt::getTapeType(type.getContext());
    SmallVector<int64_t> sizes{ShapedType::kDynamic};
    llvm::append_range(sizes, getStaticSizes(getShape(type.getElement())));
    return RankedTensorType::get(sizes, getStorageType(getElementType(type.getElement())));
  });
}

void populateKinaToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  populateKinaDecompositionPatterns(patterns);
  populateKinaElementwiseToLinalgPatterns(converter, patterns);
  populateKinaContractionToLinalgPatterns(converter, patterns);
  populateKinaConvolutionToLinalgPatterns(converter, patterns);
  populateKinaReductionToLinalgPatterns(converter, patterns);
  populateKinaShapeToLinalgPatterns(converter, patterns);
  populateKinaMakingToLinalgPatterns(converter, patterns);
  populateKinaRandomToLinalgPatterns(converter, patterns);
  populateKinaIndexingToLinalgPatterns(converter, patterns);
  populateKinaFunctionToLinalgPatterns(converter, patterns);
  populateKinaTapesToLinalgPatterns(converter, patterns);
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// Whether a value of the type lives on a device.
static bool isOnDevice(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && !tensor.getPlacement().isHost() && !tensor.getPlacement().isVariable();
}

/// Reports what an earlier stage should have ended. Returns failure after an error.
static LogicalResult checkPrecondition(Operation *op) {
  if (auto obligation = dyn_cast<ObligationOp>(op))
    return op->emitError() << "K0308: could not decide '"
                           << Spellings(op).spell(obligation.getPred())
                           << "': " << obligation.getText();
  if (isa<GradOp, VJPOp, JVPOp, PerformOp, HandleOp, ResumeOp, SeedOp, PullOp, CotangentOfOp, AbsentOp>(op))
    return op->emitError() << "'" << op->getName() << "' is left over: run --kina-ad first";
  // These need to know how many frames there are.
  auto grows = [](Type type) {
    auto tape = dyn_cast<TapeType>(type);
    return tape && tape.getForm() == TapeForm::Growable;
  };
  if (isa<TapeLengthOp, TapeAddOp>(op) &&
      (llvm::any_of(op->getOperandTypes(), grows) || llvm::any_of(op->getResultTypes(), grows)))
    return op->emitError() << "K0604: no derivative of a derivative that keeps a tape that grows: keep it in another form";
  if (auto global = dyn_cast<GlobalOp>(op); global && global.getInit().empty())
    return success();
  return success();
}

/// Reports the first place of the operation, a function or a module-level value, that needs a
/// device.
static LogicalResult checkOnHost(Operation *item) {
  auto findDevice = [](Operation *op) -> std::optional<Location> {
    if (auto function = dyn_cast<FuncOp>(op)) {
      if (!function.isExternal()) {
        // What a body returns is found in the body.
        auto argument = llvm::find_if(function.getArguments(), [](Value value) { return isOnDevice(value.getType()); });
        return argument == function.getArguments().end() ? std::nullopt : std::optional((*argument).getLoc());
      }
      if (llvm::none_of(function.getArgumentTypes(), isOnDevice) && llvm::none_of(function.getResultTypes(), isOnDevice))
        return std::nullopt;
      return op->getLoc();
    }
    bool touches = llvm::any_of(op->getOperandTypes(), isOnDevice) || llvm::any_of(op->getResultTypes(), isOnDevice);
    return touches ? std::optional(op->getLoc()) : std::nullopt;
  };
  WalkResult result = item->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<Location> found = findDevice(op);
    if (!found)
      return WalkResult::advance();
    emitError(*found) << "K0115: a tensor on a device cannot be lowered by this build, which has no code generation "
                               "for devices: place it on the host";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Forward, `kina.remat` is its body.
static void inlineRemat(RematOp remat) {
  Block *body = &remat.getBody().front();
  auto yield = cast<YieldOp>(body->getTerminator());
  remat->getBlock()->getOperations().splice(remat->getIterator(), body->getOperations());
  remat.replaceAllUsesWith(yield.getOperands());
  yield.erase();
  remat.erase();
}

/// Replaces the uses of module-level values in a function by one evaluation at its entry.
/// They are pure and depend on nothing but each other.
static LogicalResult expandGlobals(FuncOp function, SymbolTable &symbols) {
  llvm::MapVector<StringRef, Value> values;
  llvm::SetVector<StringRef> inProgress;
  if (function.isExternal())
    return success();
  OpBuilder builder(function.getContext());
  Block *entry = &function.getBody().front();
  Operation *first = entry->empty() ? nullptr : &entry->front();

  std::function<FailureOr<Value>(GetGlobalOp)> evaluate = [&](GetGlobalOp use) -> FailureOr<Value> {
    if (auto known = values.find(use.getName()); known != values.end())
      return known->second;
    auto global = symbols.lookup<GlobalOp>(use.getName());
    if (!global || global.getInit().empty())
      return use.emitError() << "K0203: '" << use.getName() << "' has no value here: pass it as a parameter";
    if (!inProgress.insert(use.getName()))
      return use.emitError() << "the value of '" << use.getName() << "' depends on itself";
    IRMapping mapping;
    for (Operation &op : global.getInit().front().without_terminator()) {
      if (auto inner = dyn_cast<GetGlobalOp>(op)) {
        FailureOr<Value> value = evaluate(inner);
        if (failed(value))
          return failure();
        mapping.map(inner.getResult(), *value);
        continue;
      }
      if (first)
        builder.setInsertionPoint(first);
      else
        builder.setInsertionPointToEnd(entry);
      builder.clone(op, mapping);
    }
    inProgress.remove(use.getName());
    Value value = mapping.lookupOrDefault(global.getInit().front().getTerminator()->getOperand(0));
    values.insert({use.getName(), value});
    return value;
  };

  SmallVector<GetGlobalOp> uses;
  function.walk([&](GetGlobalOp use) { uses.push_back(use); });
  // The op that marks the entry must stay while others are erased.
  for (GetGlobalOp use : uses) {
    FailureOr<Value> value = evaluate(use);
    if (failed(value))
      return failure();
    use.replaceAllUsesWith(*value);
  }
  for (GetGlobalOp use : uses)
    use.erase();
  return success();
}

/// Moves an update behind the last operation of its block that reads what it replaces, so
/// that it can be done in place. The order in which a program writes its tuples,
/// `(update(a, ..), f(a))`, then costs no copy.
static void delayUpdate(UpdateOp update) {
  Operation *last = nullptr;
  for (Operation *user : update.getDest().getUsers())
    if (Operation *here = update->getBlock()->findAncestorOpInBlock(*user);
        here && update->isBeforeInBlock(here) && (!last || last->isBeforeInBlock(here)))
      last = here;
  if (!last || last->hasTrait<OpTrait::IsTerminator>())
    return;
  for (Operation *user : update->getUsers())
    if (Operation *here = update->getBlock()->findAncestorOpInBlock(*user); !here || !last->isBeforeInBlock(here))
      return;
  update->moveAfter(last);
}

namespace {

struct LowerToLinalgPass : impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool invalid = false;
    module.walk([&](Operation *op) { invalid |= failed(checkPrecondition(op)); });
    for (Operation &item : *module.getBody())
      invalid |= failed(checkOnHost(&item));
    if (invalid)
      return signalPassFailure();
    // No device is left that a variable could stand for.
    substituteIn(
        module, [](StringRef) { return DimAttr(); }, [&](StringRef) { return PlacementAttr::getHost(&getContext()); });

    module->removeAttr(kValueSemanticsAttrName);
    SymbolTable symbols(module);
    for (auto function : module.getOps<FuncOp>())
      if (failed(expandGlobals(function, symbols)))
        return signalPassFailure();
    // From the inside out, so that a nested one is spliced as plain operations.
    module.walk<WalkOrder::PostOrder>([](RematOp remat) { inlineRemat(remat); });

    // From the last to the first: behind one that waits itself others can wait.
    module.walk<WalkOrder::PostOrder, ReverseIterator>(delayUpdate);

    KinaToLinalgTypeConverter converter;
    RewritePatternSet patterns(&getContext());
    populateKinaToLinalgPatterns(converter, patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<KinaDialect>();
    // What `resolveDims` ends.
    target.addLegalOp<AssumeOp>();
    target.addDynamicallyLegalOp<DimOp>([&](DimOp op) { return converter.isLegal(op.getType()); });
    target.addDynamicallyLegalOp<BindDimOp>(
        [&](BindDimOp op) { return converter.isLegal(op.getValue().getType()); });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();

    for (auto function : module.getOps<func::FuncOp>())
      if (failed(resolveDims(function)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace kina
