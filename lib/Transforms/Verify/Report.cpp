//===- Report.cpp - What is said of obligations that are not proved -------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Transforms/Refinements.h"

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

std::string spellCounterexample(PredAttr pred, const solver::Assignment &values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma;
  for (auto &[name, value] : values)
    if (StringRef source = getSourceName(name); !source.empty())
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
      os << std::exchange(arrow, "") << between;
      print(os, dim);
      os << " = " << value;
    }
  return text;
}

std::string spellInstantiation(DictionaryAttr subst) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma;
  bool news = false;
  for (NamedAttribute entry : subst) {
    auto dim = dyn_cast<DimAttr>(entry.getValue());
    if (!dim)
      continue;
    os << comma << getSourceName(entry.getName()) << " = ";
    print(os, dim);
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

InFlightDiagnostic reportUnproved(const Obligation &obligation, const Answer &answer, ArrayRef<PredAttr> facts) {
  PredAttr pred = obligation.pred;
  std::string spelled = toString(pred);
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
  for (NoteAttr note : obligation.notes) {
    Location loc = note.getLoc();
    (isa<UnknownLoc>(loc) ? diag.attachNote() : diag.attachNote(loc)) << note.getText();
  }
  constexpr size_t kMaxFacts = 5;
  SmallVector<PredAttr> known;
  for (unsigned index : findRelated(pred, facts))
    if (hasSourceNames(facts[index]) && !llvm::is_contained(known, facts[index]))
      known.push_back(facts[index]);
  if (!known.empty()) {
    Diagnostic &note = diag.attachNote() << "known here: ";
    for (auto [index, fact] : llvm::enumerate(ArrayRef(known).take_front(kMaxFacts)))
      note << (index ? ", " : "") << "'" << toString(fact) << "'";
    if (known.size() > kMaxFacts)
      note << " and " << known.size() - kMaxFacts << " more";
  }
  if (!undecided)
    if (std::string values = spellCounterexample(pred, answer.counterexample); !values.empty())
      diag.attachNote() << "counterexample: " << values;
  if (undecided)
    attachHelp(diag) << "state it with 'requires', test it when the program runs with 'check " << spelled
                     << ", \"..\";', or trust it with 'assume " << spelled << ";'";
  return diag;
}

void suggestClause(InFlightDiagnostic &diag, PredAttr clause, StringRef function,
                   function_ref<bool(StringRef)> isShapeVar) {
  if (!clause || !hasSourceNames(clause))
    return;
  // `D = 8*(D floordiv 8)` is better said as `D mod 8 = 0`.
  if (clause.getKind() == PredKind::EQ)
    if (DimAttr difference = subDims(clause.getDims()[0], clause.getDims()[1])) {
      DimAttr zero = DimAttr::getConstant(clause.getContext(), 0);
      PredAttr remainder = makeRelation(PredKind::EQ, difference, zero);
      if (toString(remainder).find(" mod ") != std::string::npos)
        clause = remainder;
    }
  NameSet names;
  collectNames(clause, names);
  if (llvm::all_of(names, isShapeVar))
    attachHelp(diag) << "add 'requires " << toString(clause) << "' to '" << getSourceName(function) << "'";
  else
    attachHelp(diag) << "test it when the program runs, 'check " << toString(clause) << ", \"..\";'";
}

} // namespace kina
