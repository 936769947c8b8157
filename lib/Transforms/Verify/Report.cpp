//===- Report.cpp - What is said of obligations that are not proved -------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Transforms/Refinements.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using kina::solver::Answer;
using kina::solver::Cause;
using kina::solver::Verdict;

namespace kina {

DiagCode getCode(ObligationKind kind) {
  switch (kind) {
  case ObligationKind::shapes_equal:
    return DiagCode::K0301;
  case ObligationKind::contraction:
    return DiagCode::K0302;
  case ObligationKind::element_count:
    return DiagCode::K0303;
  case ObligationKind::precondition:
    return DiagCode::K0304;
  case ObligationKind::divisor:
    return DiagCode::K0306;
  case ObligationKind::bounds:
  case ObligationKind::nonempty:
    return DiagCode::K0307;
  case ObligationKind::check:
    return DiagCode::K0311;
  case ObligationKind::branch:
    return DiagCode::K0402;
  case ObligationKind::loop_state:
    return DiagCode::K0504;
  case ObligationKind::mask:
    return DiagCode::K0404;
  }
  llvm_unreachable("all kinds handled");
}

StringRef getSourceName(StringRef name) {
  if (name.starts_with("%") || name.contains('/'))
    return {};
  return name.split('.').first;
}

bool hasSourceNames(PredAttr pred) {
  NameSet names;
  collectNames(pred, names);
  return llvm::none_of(names, [](StringRef name) { return getSourceName(name).empty(); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isPlain(DimAttr dim) { return dim.isConstant() || !dim.getSingleName().empty(); }

/// `S = 1, T = 2 -> left = 1, right = 2`: the values of `names`, and what they make of both sides.
static std::string spellCounterexample(PredAttr pred, const solver::Assignment &values, const NameSet &names,
                                       const Spellings &spellings) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma;
  for (auto &[name, value] : values)
    if (StringRef source = getSourceName(name); !source.empty() && names.contains(name))
      os << comma << source << " = " << value;
  if (text.empty() || pred.getDims().empty())
    return text;
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
    auto it = llvm::find_if(values, [&](auto &pair) { return pair.first == name; });
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  DimAttr left = pred.getDims()[0], right = pred.getDims()[1];
  std::optional<int64_t> a = evaluate(left, valueOf), b = evaluate(right, valueOf);
  if (!a || !b)
    return text;
  StringRef arrow = " -> ";
  if (pred.getKind() == PredKind::EQ || pred.getKind() == PredKind::NE) {
    // Printed with the constant on the right, so told in that order.
    if (left.isConstant() && !right.isConstant())
      std::swap(a, b);
    os << arrow << "left = " << *a << ", right = " << *b;
    return text;
  }
  // Of an order only what is computed is news.
  llvm::ListSeparator between;
  for (auto [dim, value] : {std::pair(left, *a), std::pair(right, *b)})
    if (!isPlain(dim)) {
      os << std::exchange(arrow, "") << between << spellings.spell(dim) << " = " << value;
    }
  return text;
}

std::string spellInstantiation(DictionaryAttr subst, const Spellings &spellings) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma;
  bool news = false;
  for (NamedAttribute entry : subst) {
    auto dim = dyn_cast<DimAttr>(entry.getValue());
    if (!dim)
      continue;
    os << comma << getSourceName(entry.getName()) << " = " << spellings.spell(dim);
    news |= dim.getSingleName() != entry.getName().getValue();
  }
  return news ? "in this call " + text : std::string();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

SmallVector<unsigned> findRelated(PredAttr goal, ArrayRef<PredAttr> facts) {
  NameSet names;
  collectNames(goal, names);
  return findRelated(names.getArrayRef(), facts);
}

SmallVector<unsigned> findRelated(ArrayRef<StringRef> names, ArrayRef<PredAttr> facts) {
  NameSet cone(names.begin(), names.end());
  SmallVector<NameSet> mentioned;
  for (PredAttr fact : facts)
    collectNames(fact, mentioned.emplace_back());
  SmallVector<bool> inside(facts.size());
  for (bool grown = true; grown;) {
    grown = false;
    for (auto [index, names] : llvm::enumerate(mentioned)) {
      if (inside[index] || llvm::none_of(names, [&](StringRef name) { return cone.contains(name); }))
        continue;
      inside[index] = grown = true;
      cone.insert_range(names);
    }
  }
  SmallVector<unsigned> related;
  for (auto [index, isInside] : llvm::enumerate(inside))
    if (isInside)
      related.push_back(index);
  return related;
}

/// Whether the source has such a text: nothing begins with a minus there, and a name is one size.
static bool isSource(PredAttr pred, StringRef text) {
  NameSet names;
  llvm::StringSet<> told;
  collectNames(pred, names);
  for (StringRef name : names)
    if (StringRef source = getSourceName(name); source.empty() || !told.insert(source).second)
      return false;
  return !text.starts_with("-") && llvm::none_of(ArrayRef<StringRef>{"(-", ", -", "= -", "< -", "> -"},
                                                 [&](StringRef minus) { return text.contains(minus); });
}

static StringRef describe(Cause cause) {
  switch (cause) {
  case Cause::Limit:
    return "the step and time limits of one obligation were reached";
  case Cause::Spent:
    return "the time for what cannot be decided was spent on others before, so only the quick methods were tried";
  case Cause::WorkerMissing:
    return "'kina-smt-worker' could not be started, so only the quick methods were tried";
  case Cause::WorkerDied:
    return "'kina-smt-worker' ended in the midst of it";
  case Cause::Overflow:
    return "a number on the way leaves 64 bits";
  case Cause::Incomplete:
  case Cause::None:
    return "none of the methods gave an answer";
  }
  llvm_unreachable("all causes handled");
}

InFlightDiagnostic reportUnproved(const Obligation &obligation, const Answer &answer,
                                  const Surroundings &surroundings) {
  PredAttr pred = obligation.pred;
  const Spellings &spellings = surroundings.spellings;
  std::string spelled = spellings.spell(pred);
  bool undecided = answer.verdict == Verdict::Undecided;
  DiagCode code = !undecided                      ? getCode(obligation.kind)
                  : answer.isOutOfTime()         ? DiagCode::K0309
                                                 : DiagCode::K0308;
  InFlightDiagnostic diag =
      emitError(obligation.loc, code, undecided ? "could not decide: " + obligation.text : obligation.text);
  if (undecided)
    diag.attachNote() << "'" << spelled << "' was neither proved nor found to fail: " << describe(answer.cause)
                      << "; this is no claim that it fails";
  else
    diag.attachNote() << "'" << spelled << "' "
                      << (answer.verdict == Verdict::NeverHolds ? "can never hold" : "does not hold for all sizes");
  NameSet names;
  collectNames(pred, names);
  llvm::StringSet<> told;
  for (StringRef name : names)
    if (StringRef source = getSourceName(name); !source.empty() && !told.insert(source).second)
      diag.attachNote() << "'" << source << "' is bound more than once, and these are different sizes";
  for (NoteAttr note : obligation.notes) {
    Location loc = note.getLoc();
    (isa<UnknownLoc>(loc) ? diag.attachNote() : diag.attachNote(loc)) << note.getText();
  }
  constexpr size_t kMaxFacts = 5;
  SmallVector<PredAttr> known;
  for (PredAttr fact : surroundings.solver.explain({surroundings.facts, pred, surroundings.least}, answer)) {
    collectNames(fact, names);
    if (hasSourceNames(fact))
      known.push_back(fact);
  }
  if (!known.empty()) {
    Diagnostic &note = diag.attachNote() << "known here: ";
    for (auto [index, fact] : llvm::enumerate(ArrayRef(known).take_front(kMaxFacts)))
      note << (index ? ", " : "") << "'" << spellings.spell(fact) << "'";
    if (known.size() > kMaxFacts)
      note << " and " << known.size() - kMaxFacts << " more";
  }
  if (!undecided)
    if (std::string values = spellCounterexample(pred, answer.counterexample, names, spellings); !values.empty())
      diag.attachNote() << "counterexample: " << values;
  if (undecided) {
    std::string text = isSource(pred, spelled) ? " " + spelled : "";
    attachHelp(diag) << "state it with 'requires', test it when the program runs with 'check" << text
                     << ", \"..\";', or trust it with 'assume" << text << ";'";
  }
  return diag;
}

void suggestClause(InFlightDiagnostic &diag, PredAttr clause, StringRef function,
                   function_ref<bool(StringRef)> isShapeVar, const Spellings &spellings) {
  if (!clause)
    return;
  std::string text = spellings.spell(clause);
  if (!isSource(clause, text))
    return;
  NameSet names;
  collectNames(clause, names);
  if (llvm::all_of(names, isShapeVar))
    attachHelp(diag) << "add 'requires " << text << "' to '" << getSourceName(function) << "'";
  else
    attachHelp(diag) << "test it when the program runs, 'check " << text << ", \"..\";'";
}

} // namespace kina
