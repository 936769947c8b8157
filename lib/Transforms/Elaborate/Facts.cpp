//===- Facts.cpp - What normal form and facts settle ----------------------===//
//
// Equations among the facts that give a name are oriented: `D = H*K` replaces D,
// `N mod B = 0` replaces N by B times a fresh name. What is then equal in normal form, or
// bounded by it, or follows from one or two inequalities among the facts, is settled; the
// rest is an obligation.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

/// If the equation gives a name, that name and what it is.
static std::optional<std::pair<StringRef, DimAttr>> orient(PredAttr fact) {
  if (fact.getKind() != PredKind::EQ)
    return std::nullopt;
  DimAttr a = fact.getDims()[0], b = fact.getDims()[1];
  auto mentions = [](DimAttr dim, StringRef name) {
    NameSet names;
    collectNames(dim, names);
    return names.contains(name);
  };
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (StringRef name = x.getSingleName(); !name.empty() && !mentions(y, name))
      return std::pair(name, y);
  // N - B*(N floordiv B) = 0, with B a constant or a name: N is a multiple of B.
  DimAttr difference = subDims(a, b);
  if (!difference)
    return std::nullopt;
  for (DimTermAttr term : difference.getTerms()) {
    if (term.getFactors().empty() || term.getFactors().back().getKind() != AtomKind::FloorDiv)
      continue;
    DimAtomAttr quotient = term.getFactors().back();
    StringRef name = quotient.getArgs()[0].getSingleName();
    if (name.empty() || mentions(quotient.getArgs()[1], name))
      continue;
    DimAttr dim = DimAttr::getName(fact.getContext(), name), divisor = quotient.getArgs()[1];
    DimAttr rest = modDims(dim, divisor);
    if (rest != difference && negDim(rest) != difference)
      continue;
    std::string fresh = (name + "/" + toString(divisor)).str();
    return std::pair(name, mulDims(divisor, DimAttr::getName(fact.getContext(), fresh)));
  }
  return std::nullopt;
}

/// The negation, with `not` moved inwards until it is gone: `not (a < b)` is `b <= a`.
static PredAttr negated(PredAttr pred) {
  ArrayRef<DimAttr> dims = pred.getDims();
  auto parts = [&] { return llvm::map_to_vector(pred.getPreds(), negated); };
  switch (pred.getKind()) {
  case PredKind::EQ:
    return makeRelation(PredKind::NE, dims[0], dims[1]);
  case PredKind::NE:
    return makeRelation(PredKind::EQ, dims[0], dims[1]);
  case PredKind::LE:
    return makeRelation(PredKind::LT, dims[1], dims[0]);
  case PredKind::LT:
    return makeRelation(PredKind::LE, dims[1], dims[0]);
  case PredKind::Not:
    return pred.getPreds()[0];
  case PredKind::And:
    return makeOr(parts());
  case PredKind::Or:
    return makeAnd(parts());
  }
  llvm_unreachable("all kinds handled");
}

void Elaborator::addFact(PredAttr pred) {
  while (pred.getKind() == PredKind::Not)
    pred = negated(pred.getPreds()[0]);
  if (pred.getKind() == PredKind::And)
    for (PredAttr part : pred.getPreds())
      addFact(part);
  else
    current->facts.push_back(pred);
}

Elaborator::Truth Elaborator::settle(PredAttr pred) {
  while (pred.getKind() == PredKind::Not)
    pred = negated(pred.getPreds()[0]);
  auto verdict = [](std::optional<bool> value) {
    return !value ? Truth::Open : *value ? Truth::Proved : Truth::Refuted;
  };
  auto least = [&](StringRef name) -> std::optional<int64_t> {
    // A run-time scalar may have any value.
    if (name.starts_with("%"))
      return INT64_MIN;
    if (current)
      if (auto it = current->shapeVars.find(name); it != current->shapeVars.end())
        return it->second;
    return name.contains('/') ? 0 : 1;
  };
  if (std::optional<bool> known = decide(pred, least))
    return verdict(known);
  if (!current)
    return Truth::Open;
  // An equation may be a fact as it stands, though rewriting would use it up.
  if (pred.getKind() == PredKind::EQ)
    if (DimAttr goal = subDims(pred.getDims()[0], pred.getDims()[1]))
      for (PredAttr fact : current->facts)
        if (fact.getKind() == PredKind::EQ)
          if (DimAttr given = subDims(fact.getDims()[0], fact.getDims()[1]); given && (given == goal || negDim(given) == goal))
            return Truth::Proved;
  // Rewrite goal and facts by the oriented equations, which may need each other.
  SmallVector<PredAttr> facts(current->facts);
  for (unsigned round = 0; round < 8; ++round) {
    std::optional<std::pair<StringRef, DimAttr>> rule;
    for (PredAttr fact : facts)
      if ((rule = orient(fact)))
        break;
    if (!rule)
      break;
    auto lookup = [&](StringRef name) { return name == rule->first ? rule->second : DimAttr(); };
    PredAttr rewritten = substitute(pred, lookup);
    if (!rewritten)
      break;
    pred = rewritten;
    SmallVector<PredAttr> next;
    for (PredAttr fact : facts)
      if (PredAttr replaced = substitute(fact, lookup); replaced && !decide(replaced, least).value_or(false))
        next.push_back(replaced);
    if (next == facts)
      break;
    facts = std::move(next);
  }
  if (std::optional<bool> known = decide(pred, least))
    return verdict(known);
  // An inequality as what is not negative: `b - a` of `a <= b`, one less of `a < b`.
  auto slack = [&](PredAttr relation) -> DimAttr {
    bool strict = relation.getKind() == PredKind::LT;
    if (!strict && relation.getKind() != PredKind::LE)
      return {};
    DimAttr difference = subDims(relation.getDims()[1], relation.getDims()[0]);
    return strict ? subDims(difference, DimAttr::getConstant(context, 1)) : difference;
  };
  auto isNonNegative = [&](DimAttr dim) {
    return dim && decide(makeRelation(PredKind::LE, DimAttr::getConstant(context, 0), dim), least).value_or(false);
  };
  auto follows = [&](PredAttr goal) {
    if (llvm::is_contained(facts, goal))
      return true;
    // What is left of the goal when one fact, or the sum of two, is taken away.
    DimAttr wanted = slack(goal);
    if (!wanted)
      return false;
    SmallVector<DimAttr> given;
    for (PredAttr fact : facts)
      if (DimAttr known = slack(fact))
        given.push_back(known);
    for (DimAttr known : given)
      if (isNonNegative(subDims(wanted, known)))
        return true;
    constexpr size_t kMaxPairs = 24;
    if (given.size() > kMaxPairs)
      return false;
    for (size_t first = 0; first < given.size(); ++first)
      for (size_t second = first + 1; second < given.size(); ++second)
        if (isNonNegative(subDims(wanted, addDims(given[first], given[second]))))
          return true;
    return false;
  };
  if (pred.getKind() == PredKind::And)
    return llvm::all_of(pred.getPreds(), [&](PredAttr part) { return settle(part) == Truth::Proved; })
               ? Truth::Proved
               : Truth::Open;
  if (pred.getKind() == PredKind::Or &&
      llvm::any_of(pred.getPreds(), [&](PredAttr part) { return settle(part) == Truth::Proved; }))
    return Truth::Proved;
  return follows(pred) ? Truth::Proved : Truth::Open;
}

LogicalResult Elaborator::obligeDivisors(DimAttr dim, Location loc) {
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(dim, divisors);
  bool bad = false;
  for (DimAttr divisor : divisors)
    bad |= failed(oblige(loc, makeRelation(PredKind::LE, DimAttr::getConstant(context, 1), divisor),
                         ObligationKind::divisor, DiagCode::K0306,
                         "the divisor '" + toString(divisor) + "' of the size '" + toString(dim) +
                             "' may be less than 1"));
  return failure(bad);
}

LogicalResult Elaborator::obligeSize(DimAttr dim, Location loc) {
  if (failed(obligeDivisors(dim, loc)))
    return failure();
  return oblige(loc, makeRelation(PredKind::LE, DimAttr::getConstant(context, 0), dim), ObligationKind::bounds,
                DiagCode::K0307, "the size '" + toString(dim) + "' may be negative");
}

LogicalResult Elaborator::oblige(Location loc, PredAttr pred, ObligationKind kind, DiagCode code,
                                 const Twine &text) {
  if (!pred)
    return report(loc, DiagCode::K0204, "a dimension leaves 64 bits");
  switch (settle(pred)) {
  case Truth::Proved:
    return success();
  case Truth::Refuted: {
    InFlightDiagnostic diag = report(loc, code, text);
    diag.attachNote() << "'" << toString(pred) << "' can never hold";
    return failure();
  }
  case Truth::Open:
    break;
  }
  // An atom of a run-time scalar has no name that an obligation could speak of.
  NameSet names;
  collectNames(pred, names);
  if (llvm::any_of(names, [](StringRef name) { return name.starts_with("%"); })) {
    InFlightDiagnostic diag = report(loc, code, text);
    diag.attachNote() << "this depends on a value that is known only at run time";
    attachHelp(diag) << "bind the size with 'let dim'";
    return failure();
  }
  ObligationOp::create(builder, loc, pred, kind, builder.getStringAttr(text));
  // It is proved, or the program is rejected: what follows may take it for granted.
  addFact(pred);
  return success();
}

FailureOr<Value> Elaborator::coerce(Location loc, Value value, Type type, const Twine &what, DiagCode shapeCode) {
  Type from = value.getType();
  Type a = getElementType(from), b = getElementType(type);
  if (!a || !b)
    return report(loc, DiagCode::K0206, what + " is no tensor or scalar");
  if (a != b && !elementTypes.unify(a, b)) {
    InFlightDiagnostic diag =
        report(loc, DiagCode::K0202, what + " has element type " + spell(a) + ", but " + spell(b) + " is needed");
    if (Type goal = elementTypes.resolve(b); !isa<HoleType>(goal))
      attachHelp(diag) << "convert with cast(.., " << spell(goal) << ")";
    return failure();
  }
  ArrayRef<DimAttr> have = getShape(from), want = getShape(type);
  // A scalar becomes one at the other place; what else it is to be, it is not.
  if (isa<TensorType>(from) || want.empty()) {
    FailureOr<Value> moved = moveTo(loc, value, getPlacement(type), what);
    if (failed(moved))
      return failure();
    value = *moved;
    from = value.getType();
  }
  if (have == want)
    return value;
  if (have.size() != want.size()) {
    report(loc, DiagCode::K0201, what + " has type " + spell(from) + ", but " + spell(type) + " is needed");
    return failure();
  }
  bool bad = false;
  for (auto [axis, pair] : llvm::enumerate(llvm::zip(have, want))) {
    auto [x, y] = pair;
    if (x == y)
      continue;
    bad |= failed(oblige(loc, makeRelation(PredKind::EQ, x, y), ObligationKind::shapes_equal, shapeCode,
                         what + " has size '" + toString(x) + "' at axis " + Twine(axis) +
                             " (0-based), but size '" + toString(y) + "' is needed"));
  }
  if (bad)
    return failure();
  return ReshapeOp::create(builder, loc, withShape(from, want), value, /*checked=*/true).getResult();
}

} // namespace kina::elaborate
