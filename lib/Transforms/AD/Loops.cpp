//===- Loops.cpp - What is known of a loop before it runs -----------------===//

#include "Kina/Transforms/AD/Loops.h"
#include "Kina/Transforms/AD/RuleBuilder.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool isFree(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<ConstantOp, DimOp, IotaOp, GetGlobalOp>(op))
    return true;
  return isa<BroadcastOp>(op) && isFree(op->getOperand(0));
}

Value recompute(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  for (Value operand : value.getDefiningOp()->getOperands())
    recompute(builder, operand, mapping);
  builder.clone(*value.getDefiningOp(), mapping);
  return mapping.lookup(value);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// What the condition region of `loop` forwards, computed anew from carried values.
static SmallVector<Value> cloneExtras(OpBuilder &builder, WhileOp loop, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getBeforeBody()->getArguments(), carried);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getConditionOp().getExtras(),
                             [&](Value extra) { return mapping.lookupOrDefault(extra); });
}

void sinkConditionExtras(Block &block) {
  SmallVector<WhileOp> loops;
  block.walk([&](WhileOp loop) {
    if (loop.getNumResults() > loop.getNumCarried())
      loops.push_back(loop);
  });
  for (WhileOp loop : loops) {
    OpBuilder builder(loop);
    auto bare = WhileOp::create(builder, loop.getLoc(), loop.getInits(), TypeRange());
    bare->setAttrs(loop->getAttrDictionary());
    builder.setInsertionPointAfter(bare);
    SmallVector<Value> results(bare.getResults());
    llvm::append_range(results, cloneExtras(builder, loop, bare.getResults()));
    Block *body = loop.getAfterBody();
    builder.setInsertionPointToStart(body);
    unsigned carried = loop.getNumCarried();
    SmallVector<Value> extras = cloneExtras(builder, loop, body->getArguments().take_front(carried));
    for (auto [argument, extra] : llvm::zip(body->getArguments().drop_front(carried), extras))
      argument.replaceAllUsesWith(extra);
    body->eraseArguments(carried, body->getNumArguments() - carried);
    loop.getConditionOp().getExtrasMutable().clear();
    bare.getBefore().takeBody(loop.getBefore());
    bare.getAfter().takeBody(loop.getAfter());
    loop.replaceAllUsesWith(results);
    loop.erase();
  }
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

static bool isInteger(Type type) { return type.isIntOrIndex() && !type.isInteger(1); }

/// Whether the value is the same in every iteration and can be computed before the loop
/// without risk: defined outside, free, or integer arithmetic on such.
static bool isInvariant(WhileOp loop, Value value) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()) || isFree(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isa<AddOp, SubOp, MulOp, NegOp, CastOp, MinOp, MaxOp>(op) && isInteger(value.getType()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInteger(operand.getType()) && isInvariant(loop, operand);
         });
}

std::optional<Induction> getInduction(WhileOp loop, unsigned carried) {
  BlockArgument argument = loop.getAfterBody()->getArgument(carried);
  if (!isInteger(argument.getType()))
    return std::nullopt;
  Value next = loop.getYieldOp().getOperand(carried);
  if (next == argument)
    return Induction{carried, {}};
  Value step;
  bool isNegative = false;
  if (auto add = next.getDefiningOp<AddOp>()) {
    step = add.getLhs() == argument ? add.getRhs() : add.getRhs() == argument ? add.getLhs() : Value();
  } else if (auto sub = next.getDefiningOp<SubOp>(); sub && sub.getLhs() == argument) {
    step = sub.getRhs();
    isNegative = true;
  }
  if (!step || !isInvariant(loop, step))
    return std::nullopt;
  return Induction{carried, step, isNegative};
}

/// The invariant value at the insertion point, outside the loop.
static Value emitInvariant(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  // What dominates the insertion point stands for itself; all else is arithmetic.
  if (!op || !(isFree(value) || isa<AddOp, SubOp, MulOp, NegOp, CastOp, MinOp, MaxOp>(op)) ||
      op->getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent()))
    return value;
  for (Value operand : op->getOperands())
    emitInvariant(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value emitInduction(OpBuilder &builder, Location loc, const Induction &induction, Value initial, Value iteration,
                    IRMapping mapping) {
  if (!induction.step)
    return initial;
  RuleBuilder k(builder, loc);
  Value step = emitInvariant(builder, induction.step, mapping);
  Value advance = k.mul(k.cast(iteration, step.getType()), step);
  return induction.isNegative ? k.sub(initial, advance) : k.add(initial, advance);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The number of iterations for which `lhs predicate rhs` holds, as an index that is at
/// least 0; no count if the comparison does not end the loop.
static TripBound emitCount(OpBuilder &builder, WhileOp loop, CmpOp compare) {
  auto argument = dyn_cast<BlockArgument>(compare.getLhs());
  Value end = compare.getRhs();
  CmpPredicate predicate = compare.getPredicate();
  if (!argument || argument.getOwner() != loop.getBeforeBody()) {
    argument = dyn_cast<BlockArgument>(compare.getRhs());
    end = compare.getLhs();
    switch (predicate) {
    case CmpPredicate::lt: predicate = CmpPredicate::gt; break;
    case CmpPredicate::le: predicate = CmpPredicate::ge; break;
    case CmpPredicate::gt: predicate = CmpPredicate::lt; break;
    case CmpPredicate::ge: predicate = CmpPredicate::le; break;
    default: break;
    }
  }
  if (!argument || argument.getOwner() != loop.getBeforeBody() || !isInvariant(loop, end))
    return {};
  std::optional<Induction> induction = getInduction(loop, argument.getArgNumber());
  auto step = induction && induction->step ? induction->step.getDefiningOp<ConstantOp>() : ConstantOp();
  auto number = step ? dyn_cast<IntegerAttr>(step.getValue()) : IntegerAttr();
  if (!number)
    return {};
  // Counters of 8 bits wrap round soon; their end is found by running.
  if (argument.getType().isInteger(8))
    return {};
  int64_t by = induction->isNegative ? -number.getInt() : number.getInt();
  bool rises = predicate == CmpPredicate::lt || predicate == CmpPredicate::le;
  bool falls = predicate == CmpPredicate::gt || predicate == CmpPredicate::ge;
  constexpr int64_t kLargestStep = int64_t(1) << 31;
  if (!(rises && by > 0 && by < kLargestStep) && !(falls && by < 0 && by > -kLargestStep))
    return {};
  Location loc = loop.getLoc();
  RuleBuilder k(builder, loc);
  IRMapping mapping;
  Value limit = emitInvariant(builder, end, mapping), start = loop.getInits()[argument.getArgNumber()];
  TripBound bound;
  auto isConstant = [](Value value) { return value.getDefiningOp<ConstantOp>() != nullptr; };
  bound.isStatic = isConstant(limit) && isConstant(start);
  bool inclusive = predicate == CmpPredicate::le || predicate == CmpPredicate::ge;
  int64_t size = by < 0 ? -by : by;
  // A step of one cannot jump over the limit; the distance of 32 bits fits into 64.
  auto zero = start.getDefiningOp<ConstantOp>();
  bool fits = argument.getType().isInteger(32) || (rises && zero && matchPattern(zero.getResult(), m_Zero()));
  bound.isProven = size == 1 && !inclusive && fits;
  Type index = builder.getIndexType();
  limit = k.cast(limit, index);
  start = k.cast(start, index);
  // ceil((limit - start) / step), one more where the limit itself is taken.
  Value distance = rises ? k.sub(limit, start) : k.sub(start, limit);
  distance = k.add(distance, k.index(inclusive ? size : size - 1));
  Value count = size == 1 ? distance : k.div(distance, k.index(size));
  bound.count = k.make<MaxOp>(count, k.index(0));
  return bound;
}

/// Whether the dimension is a minimum with a constant.
static bool isLimited(DimAttr dim) {
  if (dim.getTerms().size() != 1 || dim.getTerms().front().getCoefficient() != 1 ||
      dim.getTerms().front().getFactors().size() != 1)
    return false;
  DimAtomAttr atom = dim.getTerms().front().getFactors().front();
  return atom.getKind() == AtomKind::Min &&
         llvm::any_of(atom.getArgs(), [](DimAttr argument) { return argument.isConstant(); });
}

TripBound emitTripBound(OpBuilder &builder, WhileOp loop) {
  TripBound bound;
  Value condition = loop.getConditionOp().getCondition();
  // Any conjunct that ends the loop bounds it.
  SmallVector<Value> conjuncts{condition};
  while (!conjuncts.empty() && !bound.count) {
    Value conjunct = conjuncts.pop_back_val();
    if (auto both = conjunct.getDefiningOp<AndOp>()) {
      conjuncts.push_back(both.getRhs());
      conjuncts.push_back(both.getLhs());
    } else if (auto branch = conjunct.getDefiningOp<IfOp>()) {
      // `a and b` evaluates b only if a holds; that is: if a then b else false.
      Value otherwise = branch.getElseRegion().empty()
                            ? Value()
                            : branch.getElseRegion().front().getTerminator()->getOperand(0);
      auto constant = otherwise ? otherwise.getDefiningOp<ConstantOp>() : ConstantOp();
      if (constant && matchPattern(constant.getResult(), m_Zero())) {
        conjuncts.push_back(branch.getThenRegion().front().getTerminator()->getOperand(0));
        conjuncts.push_back(branch.getCondition());
      }
    } else if (auto compare = conjunct.getDefiningOp<CmpOp>()) {
      bound = emitCount(builder, loop, compare);
      bound.isExact = bound.count && conjunct == condition;
    }
  }
  // What a solver proved of the sizes in a stated bound makes it `min(bound, constant)`; that is a better bound than
  // one that is known when the program runs.
  DimAttr stated = loop.getTripBoundAttr();
  bool isStatic = stated && (stated.isConstant() || isLimited(stated));
  if (stated && (!bound.count || (isStatic && !bound.isExact && !bound.isStatic))) {
    bound = {};
    bound.count = DimOp::create(builder, loop.getLoc(), builder.getIndexType(), stated);
    bound.isStatic = isStatic;
    bound.isProven = true;
  }
  return bound;
}

} // namespace kina
