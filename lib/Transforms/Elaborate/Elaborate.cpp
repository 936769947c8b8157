//===- Elaborate.cpp - Turn kina_surface into typed kina ------------------===//

#include "Elaborator.h"
#include "SurfacePasses.h"
#include "Kina/Support/DeepStack.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_ELABORATEPASS
#include "Kina/Transforms/Passes.h.inc"
} // namespace kina

namespace kina::elaborate {

/// What the worker could prove is left to --kina-verify-refinements.
static solver::SolverOptions quickStages() {
  solver::SolverOptions options;
  options.noSmt = true;
  return options;
}

Elaborator::Elaborator(ModuleOp module, Options options)
    : options(options), module(module), context(module.getContext()), builder(context), elementTypes(context),
      solver(context, quickStages()),
      moduleScope(std::make_shared<Scope>(nullptr, nullptr)) {
  builder.setListener(&callSites);
}

void Elaborator::CallSites::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  bool mayConsume = isa<OwnershipOpInterface, PerformOp>(op) &&
                    llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  if (mayConsume && !previous.isSet() && elaborator.callSite)
    op->setLoc(CallSiteLoc::get(op->getLoc(), *elaborator.callSite));
}

InFlightDiagnostic Elaborator::report(Location loc, DiagCode code, const Twine &message) {
  errors += !inferringPlace;
  InFlightDiagnostic diag = emitError(loc, code, message);
  // What is wrong with an instance may be right with others.
  if (FunctionItem *item = current ? current->item : nullptr; item && item->generic) {
    Diagnostic &note = diag.attachNote(*item->instantiated) << "'" << item->generic->name << "' is "
                                                            << (item->onlyChecked ? "checked with " : "used here with ");
    llvm::interleaveComma(item->elements, note,
                          [&](auto &entry) { note << entry.first << " = " << spell(entry.second); });
  }
  return diag;
}

void Elaborator::discard(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      expressions.erase(result);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          expressions.erase(argument);
  });
  op->erase();
}

bool Elaborator::isNewlyUnknown(StringRef name) {
  // What is not told now is told when the function is elaborated once more.
  if (inferringPlace || broken.count("") || broken.count(name.str()))
    return false;
  FunctionItem *item = current ? current->item : declaring;
  return unknown.insert({item ? item->name : current ? current->name : "", name.str()}).second;
}

std::string Elaborator::spell(PlacementAttr place) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '@' << place.getName();
  if (!place.getSpace().empty())
    os << ':' << place.getSpace() << '(' << place.getDevice() << ')';
  return text;
}

std::string Elaborator::spellShape(ArrayRef<DimAttr> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os, [&](DimAttr dim) { os << spell(dim); });
  os << ']';
  return text;
}

std::string Elaborator::spell(Type type) {
  auto element = [&](Type t) -> std::string {
    t = elementTypes.resolve(t);
    if (t.isIndex())
      return "Index";
    switch (maskOf(t)) {
    case kF64:
      return "F64";
    case kF32:
      return "F32";
    case kF16:
      return "F16";
    case kBF16:
      return "BF16";
    case kI64:
      return "I64";
    case kI32:
      return "I32";
    case kI8:
      return "I8";
    case kU8:
      return "U8";
    case kBool:
      return "Bool";
    default:
      break;
    }
    // Still open: say what it may be.
    unsigned mask = elementTypes.allowed(t);
    return mask & ~kFloats ? (mask & kFloats ? "a number" : "an integer") : "a float";
  };
  Type inner = getElementType(type);
  if (!inner)
    return "a value";
  if (!isa<TensorType>(type))
    return element(inner);
  std::string text = "tensor<" + element(inner) + ", " + spellShape(getShape(type));
  llvm::raw_string_ostream os(text);
  // The user has no name for a place that no type names.
  PlacementAttr place = getPlacement(type);
  bool isNamed = !current || !current->item || place != current->item->place || !place.isVariable();
  if (!place.isHost() && isNamed)
    os << ", " << spell(place);
  os << '>';
  return text;
}

std::string Elaborator::spell(const Val &val) {
  switch (val.kind) {
  case Val::Kind::Error:
    return "an error";
  case Val::Kind::Unit:
    return "()";
  case Val::Kind::Value:
    return spell(val.getType());
  case Val::Kind::Tuple: {
    std::string text = "(";
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(llvm::enumerate(val.members), os, [&](auto member) {
      if (!val.names.empty())
        os << val.names[member.index()] << ": ";
      os << spell(member.value());
    });
    os << ")";
    return text;
  }
  case Val::Kind::List:
    return "a list";
  case Val::Kind::Slice:
    return "a slice";
  case Val::Kind::Function:
    return "a function";
  case Val::Kind::Ref:
    return "a ref";
  case Val::Kind::Continuation:
    return "a continuation";
  case Val::Kind::Pullback:
    return "a pullback";
  case Val::Kind::Tape:
    return "a list of pullbacks";
  case Val::Kind::Cotangents:
    return "a store of cotangents";
  case Val::Kind::DType:
  case Val::Kind::TypeExpr:
    return val.type ? "the type " + spell(val.type) : "a type";
  case Val::Kind::Place:
    return "a place";
  case Val::Kind::String:
    return "a string";
  }
  llvm_unreachable("all kinds handled");
}

std::string Elaborator::spell(const Ty &type) {
  if (type.kind == Ty::Kind::Value)
    return spell(type.type);
  if (type.kind == Ty::Kind::Function)
    return "a function";
  std::string text = "(";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::enumerate(type.members), os, [&](auto member) {
    if (!type.names.empty())
      os << type.names[member.index()] << ": ";
    os << spell(member.value());
  });
  os << ")";
  return text;
}

LogicalResult Elaborator::run() {
  ScopedDiagnosticHandler drop(context, [&](Diagnostic &) { return success(inferringPlace); });
  hasDevices = namesDevice(module);
  SmallVector<Operation *> surfaceOps;
  SmallVector<surface::EffectOp> effectItems;
  llvm::StringMap<Location> defined;
  auto define = [&](SyntaxAttr name) {
    auto [it, fresh] = defined.try_emplace(name.getText(), name.getLocation());
    if (!fresh) {
      InFlightDiagnostic diag =
          report(name.getLocation(), DiagCode::K0114, "'" + name.getText() + "' is defined twice in this module");
      diag.attachNote(it->second) << "the first definition";
    }
    return fresh;
  };
  for (Operation &op : *module.getBody()) {
    if (op.getDialect() != context->getLoadedDialect<surface::SurfaceDialect>())
      continue;
    surfaceOps.push_back(&op);
    if (auto fn = dyn_cast<surface::FnOp>(op)) {
      if (!define(fn.getName()))
        continue;
      auto item = std::make_unique<FunctionItem>();
      item->op = fn;
      item->name = fn.getName().getText().str();
      order.push_back(item.get());
      functions[item->name] = std::move(item);
    } else if (auto global = dyn_cast<surface::GlobalOp>(op)) {
      for (SyntaxAttr decorator : surface::syntaxRange(global.getDecoratorsAttr()))
        report(decorator.getLocation(), DiagCode::K0111,
               "unknown decorator '@" + decorator.getText() + "' of a module-level 'let'");
      if (define(global.getName()))
        globalItems[global.getName().getText().str()] = {global};
    } else if (auto effect = dyn_cast<surface::EffectOp>(op)) {
      if (define(effect.getName())) {
        otherItems[effect.getName().getText().str()] = &op;
        effectItems.push_back(effect);
      }
    } else if (auto lost = dyn_cast<surface::BrokenOp>(op)) {
      broken.insert(lost.getName().value_or("").str());
    } else if (auto alias = dyn_cast<surface::TypeAliasOp>(op)) {
      if (define(alias.getName()))
        otherItems[alias.getName().getText().str()] = &op;
    }
  }

  for (surface::EffectOp effect : effectItems)
    declareEffect(effect);
  for (FunctionItem *item : order)
    (void)elaborateSignature(*item);
  for (FunctionItem *item : order)
    if (auto primal = functions.find(item->vjpOf); primal != functions.end())
      primal->second->hasCustomVjp = true;
  bool anyExported = llvm::any_of(order, [](FunctionItem *item) { return item->exported; });
  for (FunctionItem *item : order)
    if (item->state != FunctionItem::State::Failed && !item->isTemplate && !item->isGeneric())
      (void)elaborateItem(*item);
  checksUnused = true;
  for (FunctionItem *item : order)
    if (item->isGeneric() && item->instances.empty() && item->state != FunctionItem::State::Failed)
      checkUnusedGeneric(*item);
  for (FunctionItem *item : order) {
    if (item->vjpOf.empty())
      continue;
    auto primal = functions.find(item->vjpOf);
    if (primal == functions.end())
      report(item->vjpSyntax.getLocation(), DiagCode::K0111, "unknown function '" + item->vjpOf + "' in '@vjp'");
    else
      checkCustomVjp(*item, *primal->second);
  }
  // What nothing uses has still to make sense on its own terms.
  checkUnusedGlobals();
  for (FunctionItem *item : order)
    if (item->isTemplate && item->state != FunctionItem::State::Failed && !item->wasInlined)
      checkUncalled(item->op);
  if (!errors)
    for (auto &[name, item] : globalItems)
      checkUncalled(item.op);

  // Instances stand behind one another where the generic function would.
  SmallVector<FunctionItem *> all;
  for (FunctionItem *item : order) {
    all.push_back(item);
    for (auto &[name, instance] : item->instances)
      all.push_back(instance.get());
  }
  bool failed = errors || !broken.empty();
  if (failed && !options.keepGoing) {
    for (FunctionItem *item : all)
      for (FuncOp function : llvm::reverse(item->made))
        function.erase();
    for (EffectOp effect : effects)
      effect.erase();
    return failure();
  }
  // What calls a function that failed has failed too.
  for (FunctionItem *item : all)
    if (item->state != FunctionItem::State::Done) {
      for (FuncOp function : llvm::reverse(item->made))
        function.erase();
      item->made.clear();
      item->function = nullptr;
    }
  for (FunctionItem *item : all) {
    for (FuncOp function : item->made) {
      function->moveBefore(module.getBody(), module.getBody()->end());
      if (item->onlyChecked)
        function->setAttr(kOnlyCheckedAttrName, builder.getUnitAttr());
    }
    if (item->onlyChecked)
      continue;
    // One that performs effects is no entry point.
    if (item->function && (item->exported || (!anyExported && item->effects.empty())))
      item->function.setVisibility(SymbolTable::Visibility::Public);
  }
  for (Operation *op : surfaceOps)
    op->erase();
  return mlir::failure(failed);
}

} // namespace kina::elaborate

namespace {

struct ElaboratePass : kina::impl::ElaboratePassBase<ElaboratePass> {
  using ElaboratePassBase::ElaboratePassBase;

  void runOnOperation() override {
    LogicalResult result = failure();
    {
      // Functions are elaborated as they are called, and a body at several calls tells the
      // same of each.
      kina::DiagnosticSorter sorter(&getContext());
      kina::runOnDeepStack([&] {
        // Without a file or a type most of what would be said of the rest is its consequence.
        result = kina::elaborate::resolveImports(getOperation());
        if (succeeded(result))
          result = kina::elaborate::expandTypeAliases(getOperation());
        if (succeeded(result))
          result = kina::elaborate::Elaborator(getOperation(), {keepGoing, insertCopies}).run();
      });
    }
    if (succeeded(result))
      return;
    if (!keepGoing)
      return signalPassFailure();
    // A file or a type was missing, or what is left hangs on something that failed.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    bool looked = llvm::none_of(getOperation().getOps(), [&](Operation &op) {
      return op.getDialect() == getContext().getLoadedDialect<kina::surface::SurfaceDialect>();
    });
    if (!looked || failed(verify(getOperation())))
      getOperation().getBody()->clear();
  }
};

} // namespace
