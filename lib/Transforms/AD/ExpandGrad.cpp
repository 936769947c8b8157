//===- ExpandGrad.cpp - Derivatives become handlers -----------------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Nesting.h"
#include "Kina/Transforms/AD/Pullbacks.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/Passes.h"
#include "Kina/Dialect/Kina/IR/Dim.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_EXPANDGRADPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

class ExpandGradPass : public impl::ExpandGradPassBase<ExpandGradPass> {
public:
  using ExpandGradPassBase::ExpandGradPassBase;

  void runOnOperation() override {
    getOperation().walk([&](HandleOp handle) {
      if (handle.getTagAttr())
        nextTag = std::max(nextTag, handle.getTagAttr().getId() + 1);
    });
    Derivatives derivatives(getOperation());
    if (derivatives.all.empty())
      return;
    // Every derivative then takes one of a function that takes it in turn.
    if (derivatives.innermost.empty()) {
      Operation *first = derivatives.all.front();
      emitError(first->getLoc(), DiagCode::K0604, "no derivative through recursion: '")
          << getCalleeName(first) << "' is differentiated inside itself";
      return signalPassFailure();
    }
    // Forward mode needs no effect, and has a pass of its own.
    llvm::erase_if(derivatives.innermost, llvm::IsaPred<JVPOp>);
    if (derivatives.innermost.empty())
      return;
    getOperation()->setAttr(kValueSemanticsAttrName, UnitAttr::get(&getContext()));
    SymbolTable symbols(getOperation());
    if (!declareEffect(symbols))
      return signalPassFailure();
    for (Operation *op : derivatives.innermost) {
      if (auto grad = dyn_cast<GradOp>(op))
        expand(op, grad.getInputs(), {}, grad.getSubst(), grad.getWrt(), grad.getValue());
      else if (auto vjp = dyn_cast<VJPOp>(op))
        expand(op, vjp.getInputs(), vjp.getCotangents(), vjp.getSubst(), vjp.getWrt(), vjp.getValue());
    }
  }

private:
  /// Makes sure that the module declares the effect.
  bool declareEffect(SymbolTable &symbols) {
    MLIRContext *context = &getContext();
    if (Operation *known = symbols.lookup(kReverseModeName)) {
      if (isa<EffectOp>(known))
        return true;
      emitError(known->getLoc(), DiagCode::K0604, "'")
          << kReverseModeName << "' is the effect of reverse mode here; give this another name";
      return false;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Location loc = getOperation().getLoc();
    auto effect = EffectOp::create(builder, loc, kReverseModeName, StringAttr());
    builder.createBlock(&effect.getBody());
    auto cotangents = CotangentsType::get(context);
    Type vjp = FunctionType::get(context, {cotangents}, {cotangents});
    OperationOp::create(builder, loc, kRecordVJPName, FunctionType::get(context, {vjp}, {}), ArrayAttr());
    symbols.insert(effect);
    return true;
  }

  /// Writes down the callee's body and returns what it returns. Sizes that it binds get
  /// names of their own.
  SmallVector<Value> inlineCallee(OpBuilder &builder, FuncOp callee, ValueRange operands, DictionaryAttr subst) {
    llvm::StringMap<DimAttr> names;
    for (NamedAttribute entry : subst)
      if (auto dim = dyn_cast<DimAttr>(entry.getValue()))
        names[entry.getName()] = dim;
    callee.walk([&](BindDimOp bind) {
      names[bind.getName()] =
          DimAttr::getName(&getContext(), (bind.getName() + ".tag" + Twine(nextTag)).str());
    });
    OwningOpRef<FuncOp> copy = callee.clone();
    substituteIn(
        *copy, [&](StringRef name) { return names.lookup(name); },
        [&](StringRef name) { return subst.getAs<PlacementAttr>(name); });
    copy->walk([&](BindDimOp bind) { bind.setName(names.lookup(bind.getName()).getSingleName()); });
    Block &body = copy->getBody().front();
    for (auto [argument, operand] : llvm::zip(body.getArguments(), operands))
      argument.replaceAllUsesWith(operand);
    SmallVector<Value> results(body.getTerminator()->getOperands());
    body.getTerminator()->erase();
    builder.getInsertionBlock()->getOperations().splice(builder.getInsertionPoint(), body.getOperations());
    return results;
  }

  /// Replaces `op` by the call under the built-in handler and the reads of the
  /// cotangents. Without `seeds` the first result is a scalar loss, seeded by 1.
  void expand(Operation *op, ValueRange inputs, ValueRange seeds, DictionaryAttr subst, ArrayRef<int64_t> wrt,
              bool value) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    MLIRContext *context = &getContext();
    auto cotangents = CotangentsType::get(context);
    auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(
        op, FlatSymbolRefAttr::get(context, getCalleeName(op)));
    SmallVector<Type> primals =
        llvm::map_to_vector(callee.getResultTypes(), [&](Type type) { return substitute(type, subst); });
    SmallVector<Type> results(primals);
    results.push_back(cotangents);

    SmallVector<Value> operands(inputs), watched;
    for (int64_t i : wrt) {
      operands[i] = WatchOp::create(builder, loc, operands[i]);
      watched.push_back(operands[i]);
    }
    SymbolRefAttr recordVJP = getRecordVJPAttr(context);
    auto handle = HandleOp::create(builder, loc, results, builder.getArrayAttr({recordVJP}),
                                   TagAttr::get(context, nextTag++), /*casesCount=*/1);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&handle.getBody());
      SmallVector<PerformOp> open;
      collectOpenPerforms(callee.getBody(), open);
      // Effects are performed here, in reach of the handlers around the derivative.
      SmallVector<Value> values = open.empty()
                                      ? SmallVector<Value>(CallOp::create(builder, loc, primals, getCalleeName(op),
                                                                          operands, subst, ArrayAttr(), ArrayAttr())
                                                               .getResults())
                                      : inlineCallee(builder, callee, operands, subst);
      YieldOp::create(builder, loc, values);

      SmallVector<Location> locations(primals.size(), loc);
      Block *end = builder.createBlock(&handle.getReturnRegion(), {}, primals, locations);
      SmallVector<Value> seeded, with(seeds);
      if (isa<GradOp>(op)) {
        seeded.push_back(end->getArgument(0));
        with.push_back(RuleBuilder(builder, loc).constant(primals.front(), 1.0));
      } else {
        for (BlockArgument result : end->getArguments())
          if (hasTangent(result.getType()))
            seeded.push_back(result);
      }
      SmallVector<Value> yielded(end->getArguments());
      yielded.push_back(SeedOp::create(builder, loc, cotangents, seeded, with));
      YieldOp::create(builder, loc, yielded);

      Type vjp = FunctionType::get(context, {cotangents}, {cotangents});
      auto continuation = ContType::get(context, builder.getNoneType(), results);
      Block *record = builder.createBlock(&handle.getCases().front(), {}, {vjp, continuation}, {loc, loc});
      auto resume = ResumeOp::create(builder, loc, results, record->getArgument(1), ValueRange());
      SmallVector<Value> after(resume.getResults());
      after.back() = PullOp::create(builder, loc, cotangents, record->getArgument(0), after.back());
      YieldOp::create(builder, loc, after);
    }
    SmallVector<Value> replacements;
    if (value)
      replacements.append(handle.getResults().begin(), std::prev(handle.getResults().end()));
    for (Value x : watched)
      replacements.push_back(CotangentOfOp::create(builder, loc, x, handle.getResults().back()));
    op->replaceAllUsesWith(replacements);
    op->erase();
  }

  int64_t nextTag = 0;
};

} // namespace
} // namespace kina
