//===- Facts.cpp - What is known of sizes, and what has to hold -----------===//
//
// What the solver's normal form settles under the facts costs microseconds and is settled
// here; the rest is an obligation for --kina-verify-refinements, and from there on a fact.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

void Elaborator::addFact(PredAttr pred) {
  SmallVector<PredAttr> parts;
  solver::splitConjunction(pred, parts);
  llvm::append_range(current->facts, parts);
}

std::optional<int64_t> Elaborator::leastOf(StringRef name) const {
  // A run-time scalar may have any value.
  if (name.starts_with("%"))
    return INT64_MIN;
  if (current)
    if (auto it = current->shapeVars.find(name); it != current->shapeVars.end())
      return it->second;
  return 1;
}

Elaborator::Truth Elaborator::settle(PredAttr pred) {
  auto least = [this](StringRef name) { return leastOf(name); };
  std::optional<bool> known =
      solver.settle({current ? ArrayRef<PredAttr>(current->facts) : ArrayRef<PredAttr>(), pred, least});
  return !known ? Truth::Open : *known ? Truth::Proved : Truth::Refuted;
}

void Elaborator::NoteScope::add(const Twine &text, std::optional<Location> loc) {
  if (std::string note = text.str(); !note.empty())
    notes.push_back(NoteAttr::get(context, note, loc ? *loc : UnknownLoc::get(context)));
}

LogicalResult Elaborator::obligeDivisors(DimAttr dim, Location loc) {
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(dim, divisors);
  bool bad = false;
  for (DimAttr divisor : divisors)
    bad |= failed(oblige(loc, makeRelation(PredKind::LE, DimAttr::getConstant(context, 1), divisor),
                         ObligationKind::divisor,
                         "the divisor '" + spell(divisor) + "' of the size '" + spell(dim) +
                             "' may be less than 1"));
  return failure(bad);
}

LogicalResult Elaborator::obligeSize(DimAttr dim, Location loc) {
  if (failed(obligeDivisors(dim, loc)))
    return failure();
  return oblige(loc, makeRelation(PredKind::LE, DimAttr::getConstant(context, 0), dim), ObligationKind::bounds,
                "the size '" + spell(dim) + "' may be negative");
}

LogicalResult Elaborator::oblige(Location loc, PredAttr pred, ObligationKind kind,
                                 const Twine &text) {
  if (!pred)
    return report(loc, DiagCode::K0204, "a dimension leaves 64 bits");
  switch (settle(pred)) {
  case Truth::Proved:
    return success();
  case Truth::Refuted: {
    // The solver's values show that it fails, small as they can be.
    auto least = [this](StringRef name) { return leastOf(name); };
    solver::Answer answer = solver.solve({current->facts, pred, least});
    if (answer.verdict != solver::Verdict::MayFail)
      answer.verdict = solver::Verdict::NeverHolds;
    ++errors;
    reportUnproved({loc, pred, kind, text.str(), collectNotes(loc)}, answer, {solver, current->facts, least, *spellings});
    return failure();
  }
  case Truth::Open:
    break;
  }
  // An atom of a run-time scalar has no name that an obligation could speak of.
  NameSet names;
  collectNames(pred, names);
  if (llvm::any_of(names, [](StringRef name) { return name.starts_with("%"); })) {
    InFlightDiagnostic diag = report(loc, getCode(kind), text);
    diag.attachNote() << "this depends on a value that is known only at run time";
    attachHelp(diag) << "bind the size with 'let dim'";
    return failure();
  }
  SmallVector<NoteAttr> all = collectNotes(loc);
  ObligationOp::create(builder, loc, pred, kind, builder.getStringAttr(text),
                       all.empty() ? ArrayAttr() : builder.getArrayAttr(SmallVector<Attribute>(all.begin(), all.end())));
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
    std::string source = sourceOf(value);
    if (Type goal = elementTypes.resolve(b); !(maskOf(goal) & kIntegers && attachInteger(diag, value)) &&
                                             !isa<HoleType>(goal))
      attachHelp(diag) << "convert with cast(" << (source.empty() ? ".." : source) << ", " << spell(goal) << ")";
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
    InFlightDiagnostic diag =
        report(loc, DiagCode::K0201, what + " has type " + spell(from) + ", but " + spell(type) + " is needed");
    attachReshape(diag, value, want);
    return failure();
  }
  ObligationKind kind = shapeCode == DiagCode::K0402   ? ObligationKind::branch
                        : shapeCode == DiagCode::K0404 ? ObligationKind::mask
                        : shapeCode == DiagCode::K0504 ? ObligationKind::loop_state
                                                       : ObligationKind::shapes_equal;
  bool bad = false;
  for (auto [axis, pair] : llvm::enumerate(llvm::zip(have, want))) {
    auto [x, y] = pair;
    if (x == y)
      continue;
    bad |= failed(oblige(loc, makeRelation(PredKind::EQ, x, y), kind,
                         what + " has size '" + spell(x) + "' at axis " + Twine(axis) +
                             " (0-based), but size '" + spell(y) + "' is needed"));
  }
  if (bad)
    return failure();
  return ReshapeOp::create(builder, loc, withShape(from, want), value, /*checked=*/true).getResult();
}

} // namespace kina::elaborate
