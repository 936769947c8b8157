//===- MaskArms.cpp - The slope of an arm ends where it is not chosen -----===//
//
// An `if` over a mask evaluates both arms for all elements, and a derivative passes zero to
// the elements that are not chosen. Zero times the infinite slope of an operation in the
// arm would be NaN, so a value enters the element-wise operations that lead to the arm
// detached where the arm is not chosen: its value is the same, at every order of
// differentiation, and no cotangent gets past. What comes before them may mix elements,
// and an element that is not chosen may count there.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Transforms/AD/Activity.h"
#include "Kina/Transforms/AD/Loops.h"
#include "Kina/Transforms/AD/Nesting.h"
#include "Kina/Transforms/Passes.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_MASKARMSPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

class MaskArmsPass : public impl::MaskArmsPassBase<MaskArmsPass> {
public:
  using MaskArmsPassBase::MaskArmsPassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    symbols = &table;
    elementwise.clear();
    // What is differentiated, with what it calls.
    SmallVector<StringRef> names;
    llvm::SetVector<Operation *> functions;
    for (Operation *op : Derivatives(getOperation()).all)
      names.push_back(getCalleeName(op));
    while (!names.empty())
      if (auto function = table.lookup<FuncOp>(names.pop_back_val()); function && functions.insert(function))
        function.walk([&](CallOp call) { names.push_back(call.getCallee()); });
    for (Operation *function : functions) {
      SmallVector<SelectOp> choices;
      function->walk([&](SelectOp select) {
        if (select->hasAttr(kArmsAttrName))
          choices.push_back(select);
      });
      for (SelectOp select : choices) {
        maskArm(select, select.getOnTrueMutable(), /*chosen=*/true);
        maskArm(select, select.getOnFalseMutable(), /*chosen=*/false);
        select->removeAttr(kArmsAttrName);
      }
    }
  }

private:
  /// Whether each element of the results depends on the same element of the operands alone.
  bool isElementwise(Operation *op);
  bool isElementwise(FuncOp function);
  void maskArm(SelectOp select, OpOperand &arm, bool chosen);

  const SymbolTable *symbols = nullptr;
  llvm::DenseMap<Operation *, bool> elementwise;
};

bool MaskArmsPass::isElementwise(Operation *op) {
  if (isa<ElementwiseOpInterface>(op))
    return true;
  auto call = dyn_cast<CallOp>(op);
  if (!call || !isElementwise(symbols->lookup<FuncOp>(call.getCallee())))
    return false;
  // It says so of tensors of one shape; scalars have to be known apart from them.
  auto isTensor = [](Type type) { return getRank(type) > 0; };
  return llvm::all_of(call.getResultTypes(), isTensor);
}

bool MaskArmsPass::isElementwise(FuncOp function) {
  if (!function || function.isExternal())
    return false;
  // A function that calls itself is not.
  auto [known, isNew] = elementwise.try_emplace(function, false);
  if (!isNew)
    return known->second;
  ArrayRef<DimAttr> shape;
  bool answer = true;
  auto fits = [&](Type type) {
    if (getRank(type) == 0)
      return true;
    if (shape.empty())
      shape = getShape(type);
    return getShape(type) == shape;
  };
  for (Type type : function.getArgumentTypes())
    answer &= fits(type);
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool isOwn = isa<BroadcastOp, DropOp>(op) || (op.getNumResults() == 1 && isFree(op.getResult(0)));
    answer &= (isOwn || isElementwise(&op)) && llvm::all_of(op.getResultTypes(), fits);
  }
  return elementwise[function] = answer;
}

void MaskArmsPass::maskArm(SelectOp select, OpOperand &arm, bool chosen) {
  Block *block = select->getBlock();
  Value mask = select.getMask();
  ArrayRef<DimAttr> shape = getShape(mask.getType());
  Operation *born = mask.getDefiningOp();
  auto isVaried = [&](Value value) { return hasTangent(value.getType()) && getShape(value.getType()) == shape; };

  // The element-wise operations behind the mask that the arm may depend on.
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == block && (!born || born->getBlock() != block || born->isBeforeInBlock(op)) &&
        isElementwise(op) && llvm::all_of(op->getResultTypes(), [&](Type type) {
          return !hasTangent(type) || getShape(type) == shape;
        }))
      reached.insert(op);
  };
  reach(arm.get());
  for (unsigned i = 0; i < reached.size(); ++i)
    llvm::for_each(reached[i]->getOperands(), reach);

  // Of them those that lead nowhere else, last first.
  SmallVector<Operation *> order(reached.getArrayRef());
  llvm::sort(order, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  llvm::DenseSet<Operation *> inside;
  for (Operation *op : order)
    if (llvm::all_of(op->getUses(), [&](OpOperand &use) {
          return &use == &arm || inside.contains(use.getOwner()) || !isDifferentiableIn(use.getOwner(), use.getOperandNumber());
        }))
      inside.insert(op);

  llvm::DenseMap<Value, Value> masked;
  for (Operation *op : llvm::reverse(order)) {
    if (!inside.contains(op) || isa<DetachOp>(op))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isVaried(value) || isFree(value) || inside.contains(value.getDefiningOp()) ||
          !isDifferentiableIn(op, operand.getOperandNumber()))
        continue;
      Value &entry = masked[value];
      if (!entry) {
        OpBuilder builder(op);
        Location loc = select.getLoc();
        Value detached = DetachOp::create(builder, loc, value);
        entry = SelectOp::create(builder, loc, mask, chosen ? value : detached, chosen ? detached : value);
      }
      operand.set(entry);
    }
  }
}

} // namespace
} // namespace kina
