//===- HoistLoopAllocations.cpp - Scratch buffers outside of loops --------===//

#include "Kina/Codegen/CPU/Passes.h"

namespace kina {
#define GEN_PASS_DEF_HOISTLOOPALLOCATIONS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

#define DEBUG_TYPE "kina-hoist-loop-allocations"

using namespace mlir;

/// Whether `value` can be computed before `loop`; `moved` receives, operands first, the
/// operations that have to move for it.
static bool isAvailableBefore(Value value, Operation *loop,
                              llvm::SetVector<Operation *> &moved) {
  Operation *op = value.getDefiningOp();
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op) || !isSpeculatable(op))
    return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return isAvailableBefore(operand, loop, moved);
      }))
    return false;
  moved.insert(op);
  return true;
}

/// Whether the buffer may reach a later iteration of `loop` or leave it. Every operation
/// through which a buffer goes under another name is followed; one that isn't known counts
/// as a way out.
static bool escapes(Value buffer, Operation *loop) {
  llvm::SetVector<Value> names;
  names.insert(buffer);
  for (unsigned i = 0; i < names.size(); ++i) {
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      unsigned index = use.getOperandNumber();
      if (isa<scf::YieldOp, scf::ConditionOp>(user)) {
        Operation *parent = user->getParentOp();
        if (parent == loop)
          return true;
        if (auto branch = dyn_cast<scf::IfOp>(parent)) {
          names.insert(branch->getResult(index));
        } else if (auto inner = dyn_cast<scf::ForOp>(parent)) {
          names.insert(inner.getRegionIterArg(index));
          names.insert(inner->getResult(index));
        } else if (auto inner = dyn_cast<scf::WhileOp>(parent)) {
          if (isa<scf::ConditionOp>(user)) {
            names.insert(inner.getAfterArguments()[index - 1]);
            names.insert(inner->getResult(index - 1));
          } else {
            names.insert(inner.getBeforeArguments()[index]);
          }
        } else {
          return true;
        }
        continue;
      }
      if (auto inner = dyn_cast<scf::ForOp>(user)) {
        names.insert(inner.getTiedLoopRegionIterArg(&use));
        names.insert(inner.getTiedLoopResult(&use));
        continue;
      }
      if (auto inner = dyn_cast<scf::WhileOp>(user)) {
        names.insert(inner.getBeforeArguments()[index]);
        continue;
      }
      if (user->hasTrait<OpTrait::IsTerminator>())
        return true;
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType()))
          names.insert(result);
    }
  }
  return false;
}

static void hoist(memref::AllocOp alloc) {
  Operation *target = nullptr;
  llvm::SetVector<Operation *> moved;
  for (Operation *parent = alloc->getParentOp();
       isa_and_nonnull<scf::ForOp, scf::WhileOp, scf::IfOp>(parent);
       parent = parent->getParentOp()) {
    llvm::SetVector<Operation *> sizes;
    if (!llvm::all_of(alloc->getOperands(),
                      [&](Value size) { return isAvailableBefore(size, parent, sizes); }))
      break;
    if (isa<scf::IfOp>(parent))
      continue;
    if (escapes(alloc, parent))
      break;
    target = parent;
    moved = std::move(sizes);
  }
  if (!target)
    return;
  for (Operation *op : moved)
    op->moveBefore(target);
  alloc->moveBefore(target);
}

/// Whether both, which are sizes of the same axis on two ways, are one size. What is chosen
/// between has one shape, except for tapes: one that has frames on one way has none, and a
/// constant 0 for its size, on the other.
static bool isSameSize(Value a, Value b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  return a == b || x == y;
}

/// The size of `buffer` along `axis`, from values that exist before `choice`, where `builder`
/// stands; null if it isn't found, or differs between the two ways.
static Value getSizeBefore(OpBuilder &builder, Value buffer, int64_t axis, Operation *choice) {
  auto isOutside = [&](Value value) {
    return !choice->isAncestor(value.getParentBlock()->getParentOp()) &&
           value.getDefiningOp() != choice;
  };
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return nullptr;
  if (!type.isDynamicDim(axis))
    return arith::ConstantIndexOp::create(builder, choice->getLoc(), type.getDimSize(axis));
  if (isOutside(buffer))
    return memref::DimOp::create(builder, choice->getLoc(), buffer, axis);
  auto sameAs = [&](Value other) { return getSizeBefore(builder, other, axis, choice); };
  auto sameAsBoth = [&](Value one, Value other) -> Value {
    Value a = sameAs(one), b = a ? sameAs(other) : Value();
    return b && isSameSize(a, b) ? a : Value();
  };
  return llvm::TypeSwitch<Operation *, Value>(buffer.getDefiningOp())
      .Case<memref::AllocOp>([&](auto alloc) {
        Value size = alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)];
        return isOutside(size) ? size : Value();
      })
      .Case<memref::CastOp>([&](auto view) { return sameAs(view.getSource()); })
      .Case<arith::SelectOp>(
          [&](auto select) { return sameAsBoth(select.getTrueValue(), select.getFalseValue()); })
      .Case<scf::IfOp>([&](auto branch) {
        unsigned result = cast<OpResult>(buffer).getResultNumber();
        return sameAsBoth(branch.thenYield().getOperand(result),
                          branch.elseYield().getOperand(result));
      })
      .Default([](Operation *) { return Value(); });
}

/// Sizes of what a branch or a selection gives, from before it: they can leave a loop.
static void resolveSizesOfChoices(Operation *root) {
  llvm::SetVector<Operation *> dims;
  root->walk([&](memref::DimOp dim) { dims.insert(dim); });
  for (unsigned i = 0; i < dims.size(); ++i) {
    auto dim = cast<memref::DimOp>(dims[i]);
    Operation *choice = dim.getSource().getDefiningOp();
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!axis || !isa_and_nonnull<scf::IfOp, arith::SelectOp>(choice))
      continue;
    OpBuilder builder(choice);
    Value size = getSizeBefore(builder, dim.getSource(), *axis, choice);
    if (!size)
      continue;
    // It may be the size of another choice.
    if (auto next = size.getDefiningOp<memref::DimOp>())
      dims.insert(next);
    dim.replaceAllUsesWith(size);
    dim.erase();
  }
}

namespace {
struct HoistLoopAllocationsPass
    : public kina::impl::HoistLoopAllocationsBase<HoistLoopAllocationsPass> {
  void runOnOperation() override {
    resolveSizesOfChoices(getOperation());
    SmallVector<memref::AllocOp> allocs;
    getOperation()->walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    for (memref::AllocOp alloc : allocs)
      hoist(alloc);
  }
};
} // namespace
