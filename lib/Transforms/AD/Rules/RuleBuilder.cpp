//===- RuleBuilder.cpp - What derivative rules are written with -----------===//

#include "Kina/Transforms/AD/RuleBuilder.h"

using namespace mlir;

namespace kina {

Value RuleBuilder::constant(Type type, double number) {
  Type element = getElementType(type);
  TypedAttr value = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, number))
                                            : TypedAttr(builder.getIntegerAttr(element, static_cast<int64_t>(number)));
  return broadcast(ConstantOp::create(builder, loc, value), type);
}

Value RuleBuilder::zerosLike(Value value) {
  if (isa<TapeType>(value.getType()))
    return TapeZerosOp::create(builder, loc, value.getType(), tapeLength(value));
  return zeros(value.getType());
}

/// The tape that this one was before anything was pushed, as far back as it can be
/// followed; where two arms of a branch disagree, the branch's.
static Value getTapeRoot(Value tape) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(tape)) {
      auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return tape;
      tape = loop.getInits()[argument.getArgNumber()];
      continue;
    }
    Operation *op = tape.getDefiningOp();
    unsigned result = cast<OpResult>(tape).getResultNumber();
    if (auto push = dyn_cast<TapePushOp>(op)) {
      tape = push.getTape();
    } else if (auto sum = dyn_cast<TapeAddOp>(op)) {
      tape = sum.getLhs();
    } else if (auto present = dyn_cast<PresentOp>(op)) {
      return tape;
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      tape = loop.getInits()[result];
    } else if (auto branch = dyn_cast<IfOp>(op)) {
      Value a = getTapeRoot(branch.getThenRegion().front().getTerminator()->getOperand(result));
      Value b = getTapeRoot(branch.getElseRegion().front().getTerminator()->getOperand(result));
      return a == b ? a : tape;
    } else {
      return tape;
    }
  }
}

Value RuleBuilder::tapeLength(Value tape) {
  // One that grows has all frames that anybody asks for.
  if (cast<TapeType>(tape.getType()).getForm() == TapeForm::Growable)
    return index(0);
  tape = getTapeRoot(tape);
  if (auto made = tape.getDefiningOp<TapeNewOp>(); made && made.getBound())
    return made.getBound();
  if (auto made = tape.getDefiningOp<TapeZerosOp>())
    return made.getBound();
  if (auto made = tape.getDefiningOp<PresentOp>())
    return made.getBound();
  return make<TapeLengthOp>(tape);
}

Value RuleBuilder::index(int64_t number) { return ConstantOp::create(builder, loc, builder.getIndexAttr(number)); }

WhileOp RuleBuilder::createCountdown(ValueRange operands) {
  auto loop = WhileOp::create(builder, loc, operands, TypeRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBeforeBody());
  Value more = cmp(CmpPredicate::gt, loop.getBeforeBody()->getArgument(0), index(0));
  ConditionOp::create(builder, loc, more, ValueRange());
  return loop;
}

Value RuleBuilder::dimension(Type type, DimAttr dim) {
  return broadcast(DimOp::create(builder, loc, getElementType(type), dim), type);
}

Value RuleBuilder::cast(Value a, Type like) {
  Type type = withElementType(a.getType(), getElementType(like));
  return type == a.getType() ? a : CastOp::create(builder, loc, type, a).getResult();
}

Value RuleBuilder::broadcast(Value a, Type type) {
  return a.getType() == type ? a : BroadcastOp::create(builder, loc, type, a).getResult();
}

Value RuleBuilder::reshape(Value a, Type type, bool checked) {
  return a.getType() == type ? a : ReshapeOp::create(builder, loc, type, a, checked).getResult();
}

Value RuleBuilder::expand(Value a, Type type, ArrayRef<int64_t> axes) {
  if (getRank(a.getType()) != 0) {
    SmallVector<DimAttr> kept(getShape(type));
    for (int64_t axis : axes)
      kept[axis] = DimAttr::getConstant(type.getContext(), 1);
    a = reshape(a, withShape(type, kept));
  }
  return broadcast(a, type);
}

Value RuleBuilder::reduceTo(Value a, Type type) {
  if (a.getType() == type)
    return a;
  ArrayRef<DimAttr> from = getShape(a.getType()), to = getShape(type);
  int64_t added = from.size() - to.size();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, added));
  for (auto [axis, dim] : llvm::enumerate(to))
    if (dim != from[added + axis])
      axes.push_back(added + axis);
  Value reduced = axes.empty() ? a : sum(a, axes);
  // A scalar on the host was repeated where the tensors are.
  PlacementAttr here = getPlacement(a.getType());
  Type there = getTensorOrScalar(getElementType(type), to, here);
  reduced = reshape(reduced, there);
  return there == type ? reduced : make<CopyToHostOp>(type, reduced);
}

Value RuleBuilder::accumulate(Value accumulator, Value contribution) {
  if (!accumulator || !contribution)
    return accumulator ? accumulator : contribution;
  return AccumulateOp::create(builder, loc, accumulator, contribution);
}

void lowerAccumulate(AccumulateOp op) {
  OpBuilder builder(op);
  RuleBuilder k(builder, op.getLoc());
  Value a = op.getAccumulator(), b = op.getContribution();
  op.replaceAllUsesWith(isa<TapeType>(a.getType()) ? k.make<TapeAddOp>(a, b) : k.add(a, b));
  op.erase();
}

} // namespace kina
