//===- IRMutator.cpp - Other modules from one -----------------------------===//

#include "IRMutator.h"

using namespace mlir;

namespace {

class IREdit {
  size_t below(size_t count) { return random() % count; }
  template <typename Range>
  auto pick(Range &&range) {
    return range[below(range.size())];
  }

public:
  IREdit(ModuleOp module, std::mt19937_64 &random) : module(module), random(random) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != module.getOperation())
        ops.push_back(op);
    });
  }

  void step() {
    if (ops.empty())
      return;
    Operation *op = pick(ops);
    switch (below(8)) {
    case 0:
      erase(op);
      break;
    case 1:
      op->getBlock()->getOperations().insert(std::next(op->getIterator()), op->clone());
      break;
    case 2:
      move(op);
      break;
    case 3:
    case 4:
      changeAttribute(op);
      break;
    default:
      changeOperand(op);
    }
  }

private:
  /// A value of the same type that reaches `op`; null if there is none.
  Value findLike(Type type, Operation *op, Value except) {
    SmallVector<Value> found;
    auto add = [&](ValueRange values) {
      llvm::copy_if(values, std::back_inserter(found),
                    [&](Value value) { return value.getType() == type && value != except; });
    };
    for (Operation *at = op; at && at != module.getOperation(); at = at->getParentOp()) {
      add(at->getBlock()->getArguments());
      for (Operation &before : *at->getBlock()) {
        if (&before == at)
          break;
        add(before.getResults());
      }
    }
    return found.empty() ? Value() : pick(found);
  }

  void changeOperand(Operation *op) {
    if (op->getNumOperands() == 0)
      return;
    unsigned index = below(op->getNumOperands());
    Value old = op->getOperand(index);
    if (Value other = findLike(old.getType(), op, old))
      op->setOperand(index, other);
  }

  void erase(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    for (Value result : op->getResults()) {
      Value other = result.use_empty() ? Value() : findLike(result.getType(), op, result);
      if (!result.use_empty() && !other)
        return;
      if (other)
        result.replaceAllUsesWith(other);
    }
    op->walk([&](Operation *gone) { llvm::erase(ops, gone); });
    op->erase();
  }

  /// Among its neighbours.
  void move(Operation *op) {
    Operation *other = below(2) ? op->getNextNode() : op->getPrevNode();
    if (other)
      op->moveBefore(other);
  }

  /// What another operation has under the same name, another number, or none.
  void changeAttribute(Operation *op) {
    ArrayRef<NamedAttribute> attributes = op->getAttrs();
    if (attributes.empty())
      return;
    NamedAttribute attribute = pick(attributes);
    if (auto integer = dyn_cast<IntegerAttr>(attribute.getValue()); integer && below(2)) {
      int64_t values[] = {0, 1, -1, 2, 7, 63, 64, INT32_MAX, INT64_MAX, INT64_MIN};
      unsigned width = integer.getType().isIndex() ? 64 : integer.getType().getIntOrFloatBitWidth();
      APInt value = APInt(64, values[below(std::size(values))], /*isSigned=*/true).sextOrTrunc(width);
      op->setAttr(attribute.getName(), IntegerAttr::get(integer.getType(), value));
      return;
    }
    SmallVector<Attribute> found;
    for (Operation *other : ops)
      if (Attribute value = other->getAttr(attribute.getName()); value && value != attribute.getValue())
        found.push_back(value);
    // An attribute of another kind would be refused by the parser, before the verifier.
    llvm::erase_if(found, [&](Attribute value) { return value.getTypeID() != attribute.getValue().getTypeID(); });
    if (!found.empty())
      op->setAttr(attribute.getName(), pick(found));
    else if (below(4) == 0)
      op->removeDiscardableAttr(attribute.getName());
  }

  ModuleOp module;
  std::mt19937_64 &random;
  std::vector<Operation *> ops;
};

} // namespace

void kina::mutateIR(ModuleOp module, std::mt19937_64 &random) {
  IREdit edit(module, random);
  do
    edit.step();
  while (random() % 2);
}
