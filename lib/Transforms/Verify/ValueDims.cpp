//===- ValueDims.cpp - What values and conditions say of sizes ------------===//

#include "ValueDims.h"
#include "Kina/Solver/Solver.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kina {

/// Deeper chains of integer arithmetic are taken for run-time values.
static constexpr unsigned kMaxDepth = 16;

bool dependsOnRuntime(DimAttr dim) {
  NameSet names;
  collectNames(dim, names);
  return llvm::any_of(names, [](StringRef name) { return name.starts_with("%"); });
}

DimAttr ValueDims::atom(Value value) {
  DimAttr &dim = known[value];
  if (!dim)
    dim = DimAttr::getName(value.getContext(), "%" + std::to_string(next++));
  return dim;
}

/// Narrower integers are no sizes, unless they are a `kina.dim`.
static bool isWide(Type type) { return type.isIndex() || (type.isInteger() && type.getIntOrFloatBitWidth() >= 32); }

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

bool ValueDims::isBelowAnother(DimAttr dim, ArrayRef<PredAttr> facts) {
  return llvm::any_of(facts, [&](PredAttr fact) { return fact.getKind() == PredKind::LT && fact.getDims()[0] == dim; });
}

DimAttr ValueDims::get(Value value, unsigned depth) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  MLIRContext *context = value.getContext();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto function = dyn_cast<FuncOp>(owner); function && argument.getOwner()->isEntryBlock())
      if (auto name = function.getArgAttrOfType<StringAttr>(number, kDimArgAttrName))
        return DimAttr::getName(context, name.getValue());
    if (auto loop = dyn_cast<WhileOp>(owner); loop && depth < kMaxDepth) {
      // Carried values pass through the condition; one that every iteration hands on is
      // what it was before the loop.
      if (number >= loop.getNumCarried())
        return get(loop.getConditionOp().getExtras()[number - loop.getNumCarried()], depth + 1);
      if (loop.getYieldOp().getOperand(number) == loop.getAfterBody()->getArgument(number))
        return get(loop.getInits()[number], depth + 1);
      if (argument.getOwner() == loop.getAfterBody())
        return get(loop.getBeforeBody()->getArgument(number), depth + 1);
    }
    return atom(value);
  }
  Operation *op = value.getDefiningOp();
  // Its value is tested to fit into its type.
  if (auto dim = dyn_cast<DimOp>(op))
    return dim.getValue();
  if (!isWide(value.getType()) || depth >= kMaxDepth)
    return atom(value);
  // Whether the value that an operation has over all integers is in the range of its type.
  auto fits = [&](DimAttr exact) {
    // The solver's own numbers have 64 bits.
    unsigned width = std::min(widthOf(value.getType()), 62u);
    return exact &&
           holds(makeRelation(PredKind::LE, DimAttr::getConstant(context, llvm::minIntN(width)), exact)) &&
           holds(makeRelation(PredKind::LE, exact, DimAttr::getConstant(context, llvm::maxIntN(width))));
  };
  if (auto constant = dyn_cast<ConstantOp>(op))
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return DimAttr::getConstant(context, number.getValue().getSExtValue());
  if (auto cast = dyn_cast<CastOp>(op); cast && isWide(cast.getOperand().getType())) {
    DimAttr inner = get(cast.getOperand(), depth + 1);
    bool widens = widthOf(cast.getOperand().getType()) <= widthOf(value.getType());
    return widens || fits(inner) ? inner : atom(value);
  }
  if (op->getNumOperands() != 2 || !isa<AddOp, SubOp, MulOp, DivOp, ModOp, MinOp, MaxOp>(op))
    return atom(value);
  DimAttr a = get(op->getOperand(0), depth + 1), b = get(op->getOperand(1), depth + 1);
  DimAttr zero = DimAttr::getConstant(context, 0), one = DimAttr::getConstant(context, 1);
  // Sums of run-time values may wrap, unless they are known to lie between others; those of sizes, too.
  bool runtime = dependsOnRuntime(a) || dependsOnRuntime(b);
  DimAttr result =
      llvm::TypeSwitch<Operation *, DimAttr>(op)
          .Case([&](AddOp) {
            if (runtime && a.isConstant(1))
              std::swap(a, b);
            if (b.isConstant(1) && isBelowAnother(a, facts))
              return addDims(a, b);
            DimAttr sum = runtime ? DimAttr() : addDims(a, b);
            return fits(sum) ? sum : DimAttr();
          })
          .Case([&](SubOp) {
            // The difference of two that are not negative is in range.
            bool exact = holds(makeRelation(PredKind::LE, zero, b)) &&
                         holds(makeRelation(PredKind::LE, runtime ? b : zero, a));
            return exact ? subDims(a, b) : DimAttr();
          })
          .Case([&](MulOp) {
            DimAttr product = runtime ? DimAttr() : mulDims(a, b);
            return fits(product) ? product : DimAttr();
          })
          .Case([&](MinOp) { return minDims({a, b}); })
          .Case([&](MaxOp) { return maxDims({a, b}); })
          .Default([&](Operation *) {
            if (runtime || !holds(makeRelation(PredKind::LE, one, b)))
              return DimAttr();
            return isa<DivOp>(op) ? floorDivDims(a, b) : modDims(a, b);
          });
  return result ? result : atom(value);
}

PredAttr ValueDims::implied(Value condition, bool isTrue, unsigned depth) {
  Operation *op = condition.getDefiningOp();
  if (!op || depth >= kMaxDepth)
    return {};
  auto recurse = [&](Value value, bool truth) { return implied(value, truth, depth + 1); };
  auto both = [](PredAttr a, PredAttr b) { return a && b ? makeAnd({a, b}) : a ? a : b; };
  auto either = [](PredAttr a, PredAttr b) { return a && b ? makeOr({a, b}) : PredAttr(); };
  if (auto negation = dyn_cast<NotOp>(op))
    return recurse(negation.getOperand(), !isTrue);
  if (auto conjunction = dyn_cast<AndOp>(op)) {
    PredAttr a = recurse(conjunction.getLhs(), isTrue), b = recurse(conjunction.getRhs(), isTrue);
    return isTrue ? both(a, b) : either(a, b);
  }
  if (auto disjunction = dyn_cast<OrOp>(op)) {
    PredAttr a = recurse(disjunction.getLhs(), isTrue), b = recurse(disjunction.getRhs(), isTrue);
    return isTrue ? either(a, b) : both(a, b);
  }
  // `a and b` that evaluates b only if a holds is `if a then b else false`; `or` likewise.
  if (auto branch = dyn_cast<IfOp>(op); branch && !branch.getElseRegion().empty()) {
    unsigned index = cast<OpResult>(condition).getResultNumber();
    Value first = branch.getThenRegion().front().getTerminator()->getOperand(index);
    Value second = branch.getElseRegion().front().getTerminator()->getOperand(index);
    auto isConstant = [](Value value, bool truth) {
      Attribute attr;
      return matchPattern(value, m_Constant(&attr)) && isa<IntegerAttr>(attr) &&
             cast<IntegerAttr>(attr).getValue().isOne() == truth;
    };
    if (isConstant(second, false)) {
      PredAttr a = recurse(branch.getCondition(), isTrue), b = recurse(first, isTrue);
      return isTrue ? both(a, b) : either(a, b);
    }
    if (isConstant(first, true)) {
      PredAttr a = recurse(branch.getCondition(), isTrue), b = recurse(second, isTrue);
      return isTrue ? either(a, b) : both(a, b);
    }
    return {};
  }
  auto compare = dyn_cast<CmpOp>(op);
  if (!compare || !isWide(compare.getLhs().getType()))
    return {};
  DimAttr a = get(compare.getLhs(), depth + 1), b = get(compare.getRhs(), depth + 1);
  auto relation = [&]() -> PredAttr {
    switch (compare.getPredicate()) {
    case CmpPredicate::eq:
      return makeRelation(PredKind::EQ, a, b);
    case CmpPredicate::ne:
      return makeRelation(PredKind::NE, a, b);
    case CmpPredicate::lt:
      return makeRelation(PredKind::LT, a, b);
    case CmpPredicate::le:
      return makeRelation(PredKind::LE, a, b);
    case CmpPredicate::gt:
      return makeRelation(PredKind::LT, b, a);
    case CmpPredicate::ge:
      return makeRelation(PredKind::LE, b, a);
    }
    llvm_unreachable("all predicates handled");
  }();
  return isTrue ? relation : solver::negate(relation);
}

DimAttr ValueDims::collectCounters(WhileOp loop, PredAttr condition, SmallVectorImpl<PredAttr> &facts) {
  SmallVector<PredAttr> parts;
  if (condition)
    solver::splitConjunction(condition, parts);
  DimAttr bound;
  for (auto [index, argument] : llvm::enumerate(loop.getBeforeBody()->getArguments())) {
    if (!isWide(argument.getType()))
      continue;
    auto add = loop.getYieldOp().getOperand(index).getDefiningOp<AddOp>();
    Value inside = loop.getAfterBody()->getArgument(index);
    if (!add || (add.getLhs() != inside && add.getRhs() != inside))
      continue;
    APInt step;
    if (!matchPattern(add.getLhs() == inside ? add.getRhs() : add.getLhs(), m_ConstantInt(&step)) || !step.isOne())
      continue;
    // It is below another number of its type wherever it is added to, so it never wraps.
    DimAttr counter = get(argument), start = get(loop.getInits()[index]);
    for (PredAttr part : parts) {
      if (!isBelowAnother(counter, part))
        continue;
      PredAttr notBelowStart = makeRelation(PredKind::LE, start, counter);
      if (!llvm::is_contained(facts, notBelowStart))
        facts.push_back(notBelowStart);
      DimAttr end = part.getDims()[1];
      if (bound || dependsOnRuntime(start) || dependsOnRuntime(end))
        continue;
      bound = subDims(end, start);
      if (bound && !holds(makeRelation(PredKind::LE, start, end)))
        bound = maxDims({bound, DimAttr::getConstant(loop.getContext(), 0)});
    }
  }
  return bound;
}

} // namespace kina
