//===- VerifyRefinements.cpp - Discharge what elaboration left open -------===//
//
// Each function is walked in the order in which it runs. What is known grows on the way, by
// the clauses of the signature, assumptions, tests, names of sizes, conditions of branches
// and loops, and by what was proved before; what a region learns is forgotten behind it.
// Divisors come before what divides by them. An obligation that was not proved is taken for
// granted by those behind it, so that one cause gives one message.
//
//===----------------------------------------------------------------------===//

#include "ValueDims.h"

#include "Kina/Transforms/Passes.h"
#include "Kina/Transforms/Refinements.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include <set>

using namespace mlir;
using namespace kina::solver;

namespace kina {
#define GEN_PASS_DEF_VERIFYREFINEMENTSPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

/// Whether knowing it helps code generation: a divisor or a bound.
bool isUsefulLater(PredAttr pred) {
  if (pred.getKind() == PredKind::LE || pred.getKind() == PredKind::LT)
    return true;
  if (pred.getKind() != PredKind::EQ)
    return false;
  auto divides = [](DimAttr dim) {
    return llvm::any_of(dim.getTerms(), [](DimTermAttr term) {
      return llvm::any_of(term.getFactors(),
                          [](DimAtomAttr atom) { return atom.getKind() == AtomKind::FloorDiv; });
    });
  };
  return divides(pred.getDims()[0]) || divides(pred.getDims()[1]);
}

/// Whether it relates a size to a product of sizes, which no general method decides.
bool isProductRelation(PredAttr pred) {
  if (pred.getKind() == PredKind::And || pred.getKind() == PredKind::Or)
    return llvm::any_of(pred.getPreds(), isProductRelation);
  return pred.getKind() == PredKind::EQ && llvm::any_of(pred.getDims(), [](DimAttr dim) {
           return llvm::any_of(dim.getTerms(), [](DimTermAttr term) { return term.getFactors().size() > 1; });
         });
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

class FunctionVerifier {
public:
  FunctionVerifier(FuncOp function, Solver &solver, std::set<std::string> &told)
      : function(function), solver(solver), told(told), spellings(function), values(facts, [this](PredAttr pred) { return holds(pred); }) {
    if (ArrayAttr vars = function.getShapeVarsAttr())
      for (auto var : vars.getAsRange<ShapeVarAttr>())
        least[var.getName()] = var.getLeast();
  }

  LogicalResult run();

private:
  bool isShapeVar(StringRef name) { return llvm::is_contained(function.getShapeVarNames(), name); }
  std::optional<int64_t> leastOf(StringRef name) const {
    // A run-time integer may have any value.
    if (name.starts_with("%"))
      return INT64_MIN;
    // Names of sizes born from data are tested to be at least 1.
    auto it = least.find(name);
    return it == least.end() ? 1 : it->second;
  }
  Answer solve(PredAttr goal, ArrayRef<PredAttr> known) {
    auto lookup = [this](StringRef name) { return leastOf(name); };
    return solver.solve({known, goal, lookup});
  }
  bool holds(PredAttr pred) { return pred && solve(pred, facts).verdict == Verdict::Proved; }

  void addFact(PredAttr pred) {
    SmallVector<PredAttr> parts;
    if (pred)
      splitConjunction(pred, parts);
    llvm::append_range(facts, parts);
  }

  /// Whether it is proved; reports it if not.
  bool verify(const Obligation &obligation);
  bool verifyPart(const Obligation &obligation);
  /// `spelled` tells what the divisors stand in.
  bool verifyDivisors(PredAttr pred, Location loc, function_ref<std::string()> spelled);
  /// What is in `verifiedLater` is an obligation of its own.
  bool verifyDivisors(DimAttr dim, Location loc, function_ref<std::string()> spelled,
                      ArrayRef<PredAttr> verifiedLater = {});
  bool verifySize(DimAttr dim, Location loc, ArrayRef<PredAttr> verifiedLater) {
    return verifyDivisors(dim, loc, [&] { return "the size '" + spellings.spell(dim) + "'"; }, verifiedLater);
  }
  /// The clause that would make what is not proved hold, or null.
  PredAttr suggest(PredAttr pred, const Answer &answer);

  bool verifySignature();
  void verifyCustomVjp();
  bool reportContradiction(PredAttr pred, Location loc, StringRef spelled, ArrayRef<ClauseAttr> before);
  void verifyBlock(Block &block);
  void verifyCall(Operation *op, FlatSymbolRefAttr callee, DictionaryAttr subst);
  void assume(AssumeOp op);
  /// Marks the box of a slice or an update that is known to lie inside, so that it is not
  /// tested when executed.
  template <typename OpTy> void markInBounds(OpTy op, kina::TensorType tensor);
  void keepClauses();
  DimAttr limitTripBound(DimAttr bound);
  /// Walks the region with one more fact, forgets what it learned.
  void verifyRegion(Region &region, ArrayRef<PredAttr> inside = {});

  FuncOp function;
  Solver &solver;
  /// Messages of this run, since a body that is elaborated in place at several calls has each
  /// obligation several times.
  std::set<std::string> &told;
  Spellings spellings;
  llvm::StringMap<int64_t> least;
  SmallVector<PredAttr> facts;
  /// What was not proved, and is told already.
  SmallVector<PredAttr> doubtful, refuted;
  ValueDims values;
  bool bad = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Obligations
//===----------------------------------------------------------------------===//

bool FunctionVerifier::verifyDivisors(DimAttr dim, Location loc, function_ref<std::string()> spelled,
                                      ArrayRef<PredAttr> verifiedLater) {
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(dim, divisors);
  bool good = true;
  for (DimAttr divisor : divisors)
    if (PredAttr pred = makeRelation(PredKind::LE, DimAttr::getConstant(divisor.getContext(), 1), divisor);
        !llvm::is_contained(verifiedLater, pred))
      good &= verifyPart({loc, pred, ObligationKind::divisor,
                          "the divisor '" + spellings.spell(divisor) + "' of " + spelled() + " may be less than 1",
                          {}});
  return good;
}

bool FunctionVerifier::verifyDivisors(PredAttr pred, Location loc, function_ref<std::string()> spelled) {
  bool good = true;
  for (DimAttr dim : pred.getDims())
    good &= verifyDivisors(dim, loc, spelled);
  for (PredAttr part : pred.getPreds())
    good &= verifyDivisors(part, loc, spelled);
  return good;
}

bool FunctionVerifier::verify(const Obligation &obligation) {
  if (obligation.kind != ObligationKind::divisor &&
      !verifyDivisors(obligation.pred, obligation.loc, [&] { return "'" + spellings.spell(obligation.pred) + "'"; }))
    return false;
  SmallVector<PredAttr> parts;
  splitConjunction(obligation.pred, parts);
  bool good = true;
  for (PredAttr part : parts) {
    Obligation one = obligation;
    one.pred = part;
    good &= verifyPart(one);
  }
  return good;
}

bool FunctionVerifier::verifyPart(const Obligation &obligation) {
  PredAttr pred = obligation.pred;
  Answer answer = solve(pred, facts);
  if (answer.verdict == Verdict::Proved) {
    if (!llvm::is_contained(facts, pred))
      facts.push_back(pred);
    return true;
  }
  bad = true;
  // What follows from what was told already has the same cause.
  if (!doubtful.empty()) {
    SmallVector<PredAttr> granted(facts);
    llvm::append_range(granted, doubtful);
    // What took its time gets no second one.
    if (answer.isOutOfTime() ? solver.settle({granted, pred, [this](StringRef name) { return leastOf(name); }}).value_or(false)
                             : solve(pred, granted).verdict == Verdict::Proved)
      return false;
  }
  if (llvm::is_contained(refuted, pred))
    return false;
  // What never holds would prove everything behind it.
  (answer.verdict == Verdict::NeverHolds ? refuted : doubtful).push_back(pred);
  std::string key;
  llvm::raw_string_ostream(key) << obligation.loc << toString(pred) << obligation.text;
  if (!told.insert(key).second)
    return false;
  auto lookup = [this](StringRef name) { return leastOf(name); };
  InFlightDiagnostic diag = reportUnproved(obligation, answer, {solver, facts, lookup, spellings});
  if (answer.cause == Cause::WorkerMissing || answer.cause == Cause::WorkerDied)
    diag.attachNote() << solver.getWorkerProblem();
  // What mends the expression is better than a condition on the sizes.
  bool isHelped = llvm::any_of(obligation.notes, [](NoteAttr note) { return note.getText().starts_with("help: "); });
  if (answer.verdict == Verdict::MayFail && !isHelped)
    suggestClause(
        diag, suggest(pred, answer), function.getSymName(), [this](StringRef name) { return isShapeVar(name); },
        spellings);
  return false;
}

PredAttr FunctionVerifier::suggest(PredAttr pred, const Answer &answer) {
  // A size that was bound in the body is said by those of the signature, if they make it.
  PredAttr goal = substitute(pred, [&](StringRef name) -> DimAttr {
    if (isShapeVar(name))
      return {};
    for (PredAttr fact : facts)
      if (fact.getKind() == PredKind::EQ && fact.getDims()[0].getSingleName() == name) {
        NameSet names;
        collectNames(fact.getDims()[1], names);
        if (llvm::all_of(names, [this](StringRef other) { return isShapeVar(other); }))
          return fact.getDims()[1];
      }
    return {};
  });
  return solver.suggest({facts, goal ? goal : pred, [this](StringRef name) { return leastOf(name); }}, answer);
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

bool FunctionVerifier::reportContradiction(PredAttr pred, Location loc, StringRef spelled,
                                           ArrayRef<ClauseAttr> before) {
  auto lookup = [this](StringRef name) { return leastOf(name); };
  // The facts do not contradict each other so far, so only those matter that speak of its names.
  if (solve(negate(pred), facts).verdict != Verdict::Proved)
    return false;
  SmallVector<PredAttr> together(facts);
  splitConjunction(pred, together);
  bad = true;
  bool alone = solver.satisfiable(ArrayRef(together).drop_front(facts.size()), lookup).verdict == Verdict::NeverHolds;
  InFlightDiagnostic diag =
      emitError(loc, DiagCode::K0305, "'" + spelled + "' cannot hold" + (alone ? "" : " together with what is known before it"));
  NameSet names;
  collectNames(pred, names);
  SmallVector<PredAttr> clauses = llvm::map_to_vector(before, [](ClauseAttr clause) { return clause.getPred(); });
  if (!alone)
    for (unsigned index : findRelated(pred, clauses))
      diag.attachNote(before[index].getLoc()) << "'" << before[index].getText() << "' is required here";
  // Whether it is only that a size is taken to be at least 1.
  auto zero = [&](StringRef name) -> std::optional<int64_t> { return names.contains(name) ? 0 : leastOf(name); };
  if (solver.satisfiable(together, zero).verdict == Verdict::Proved)
    for (StringRef name : names)
      if (int64_t lowest = leastOf(name).value_or(1); lowest > 0) {
        attachHelp(diag) << "'" << name << "' is at least " << lowest
                         << "; a shape variable that may be 0 is declared, '<" << name << " >= 0>'";
        break;
      }
  return true;
}

bool FunctionVerifier::verifySignature() {
  SmallVector<ClauseAttr> clauses;
  if (ArrayAttr attr = function.getPreconditionsAttr())
    llvm::append_range(clauses, attr.getAsRange<ClauseAttr>());
  for (ClauseAttr clause : clauses) {
    if (!verifyDivisors(clause.getPred(), clause.getLoc(), [&] { return "'" + clause.getText().str() + "'"; }))
      return false;
    addFact(clause.getPred());
  }
  // Together first: only if they are not seen to be satisfiable, it is asked which is the
  // first that cannot hold.
  if (solver.satisfiable(facts, [this](StringRef name) { return leastOf(name); }).verdict != Verdict::Proved) {
    facts.clear();
    for (auto [index, clause] : llvm::enumerate(clauses)) {
      if (reportContradiction(clause.getPred(), clause.getLoc(), clause.getText(), ArrayRef(clauses).take_front(index)))
        return false;
      addFact(clause.getPred());
    }
  }
  // The elaborator makes obligations of what divides, which stand where the sizes do.
  SmallVector<PredAttr> obliged;
  if (!function.isExternal())
    for (auto op : function.getBody().front().getOps<ObligationOp>())
      if (op.getKind() == ObligationKind::divisor)
        obliged.push_back(op.getPred());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    for (DimAttr dim : getShape(type))
      verifySize(dim, function.isExternal() ? function.getLoc() : function.getArgument(index).getLoc(), obliged);
  for (Type type : function.getResultTypes())
    for (DimAttr dim : getShape(type))
      verifySize(dim, function.getLoc(), obliged);
  return true;
}

/// A rule of one's own is called wherever the function is differentiated, so that it may require no more than the
/// function does.
void FunctionVerifier::verifyCustomVjp() {
  if (!function.getCustomVjp())
    return;
  auto rule = SymbolTable::lookupNearestSymbolFrom<FuncOp>(function, function.getCustomVjpAttr());
  if (!rule)
    return;
  SmallVector<Type> types(function.getArgumentTypes());
  llvm::append_range(types, function.getResultTypes());
  llvm::copy_if(function.getResultTypes(), std::back_inserter(types), hasTangent);
  // Where there is none, differentiation says so.
  DictionaryAttr subst = rule.getNumArguments() == types.size() ? solveSubstitution(rule, types) : DictionaryAttr();
  if (!subst)
    return;
  StringRef name = getSourceName(function.getSymName()), ruleName = getSourceName(rule.getSymName());
  std::string which = ("'" + ruleName + "' is the rule of '" + name + "' and requires '").str();
  std::string lacking = ("', which '" + name + "' does not").str();
  if (ArrayAttr vars = rule.getShapeVarsAttr())
    for (auto var : vars.getAsRange<ShapeVarAttr>())
      if (auto value = subst.getAs<DimAttr>(var.getName()))
        verify({rule.getLoc(), makeRelation(PredKind::LE, DimAttr::getConstant(rule.getContext(), var.getLeast()), value),
                ObligationKind::precondition,
                which + var.getName().str() + " >= " + std::to_string(var.getLeast()) + lacking, {}});
  if (!rule.getPreconditionsAttr())
    return;
  for (auto clause : rule.getPreconditionsAttr().getAsRange<ClauseAttr>())
    if (PredAttr pred = substitute(clause.getPred(), subst))
      verify({clause.getLoc(), pred, ObligationKind::precondition,
              which + clause.getText().str() + lacking, {}});
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void FunctionVerifier::verifyCall(Operation *op, FlatSymbolRefAttr symbol, DictionaryAttr subst) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(op, symbol);
  if (!callee)
    return;
  MLIRContext *context = op->getContext();
  auto instantiation = [&](SmallVectorImpl<NoteAttr> &notes) {
    if (std::string text = spellInstantiation(subst, spellings); !text.empty())
      notes.push_back(NoteAttr::get(context, text, UnknownLoc::get(context)));
  };
  std::string name = getSourceName(callee.getSymName()).str();
  if (ArrayAttr vars = callee.getShapeVarsAttr())
    for (auto var : vars.getAsRange<ShapeVarAttr>()) {
      auto value = subst.getAs<DimAttr>(var.getName());
      if (!value)
        continue;
      PredAttr pred = makeRelation(PredKind::LE, DimAttr::getConstant(context, var.getLeast()), value);
      if (decide(pred, [this](StringRef name) { return leastOf(name); }).value_or(false))
        continue;
      verify({op->getLoc(), pred, ObligationKind::precondition,
              ("'" + name + "' needs " + var.getName() + " >= " + Twine(var.getLeast()) + ", and " + var.getName() +
               " is '" + spellings.spell(value) + "' here")
                  .str(),
              {}});
    }
  if (ArrayAttr clauses = callee.getPreconditionsAttr())
    for (auto clause : clauses.getAsRange<ClauseAttr>()) {
      PredAttr pred = substitute(clause.getPred(), subst);
      if (!pred) {
        bad = true;
        emitError(op->getLoc(), DiagCode::K0204, "'" + clause.getText() + "' of '" + name + "' leaves 64 bits here");
        continue;
      }
      if (llvm::is_contained(facts, pred))
        continue;
      SmallVector<NoteAttr, 2> notes;
      notes.push_back(NoteAttr::get(context, "required here", clause.getLoc()));
      instantiation(notes);
      verify({op->getLoc(), pred, ObligationKind::precondition,
              ("'" + name + "' requires '" + clause.getText() + "', which may fail here").str(), notes});
    }
}

void FunctionVerifier::assume(AssumeOp op) {
  PredAttr pred = op.getPred();
  if (!verifyDivisors(pred, op.getLoc(), [&] { return "'" + spellings.spell(pred) + "'"; }))
    return;
  if (op.getTrusted()) {
    // What is proved needs no trust, and no test.
    SmallVector<PredAttr> parts;
    splitConjunction(pred, parts);
    if (llvm::all_of(parts, [&](PredAttr part) { return holds(part); })) {
      op.setTrusted(false);
    } else if (reportContradiction(pred, op.getLoc(), spellings.spell(pred), {})) {
      return;
    } else if (isProductRelation(pred)) {
      InFlightDiagnostic diag = emitWarning(op.getLoc(), DiagCode::K0310,
                                            "'" + spellings.spell(pred) + "' is taken on trust, and tested when the program runs");
      if (llvm::all_of(parts, hasSourceNames))
        attachHelp(diag) << "with 'requires " << spellings.spell(pred) << "' the callers answer for it";
    }
  }
  addFact(pred);
}

template <typename OpTy>
void FunctionVerifier::markInBounds(OpTy op, kina::TensorType tensor) {
  if (op.getInBounds())
    return;
  DimAttr zero = DimAttr::getConstant(op.getContext(), 0);
  // Nothing is lost but a test, so only the quickest method is asked.
  auto isKnown = [&](DimAttr low, DimAttr high) {
    return low && high &&
           solver.settle({facts, makeRelation(PredKind::LE, low, high), [this](StringRef name) { return leastOf(name); }})
               .value_or(false);
  };
  for (auto [axis, offset] : llvm::enumerate(op.getOffsets())) {
    auto size = cast<DimAttr>(op.getSizes()[axis]);
    DimAttr start = values.get(offset);
    if (!isKnown(zero, start) || !isKnown(zero, size) || !isKnown(addDims(start, size), tensor.getDim(axis)))
      return;
  }
  op.setInBounds(true);
}

void FunctionVerifier::verifyRegion(Region &region, ArrayRef<PredAttr> inside) {
  auto known = facts, open = doubtful, wrong = refuted;
  for (PredAttr fact : inside)
    addFact(fact);
  for (Block &block : region)
    verifyBlock(block);
  facts = std::move(known);
  doubtful = std::move(open);
  refuted = std::move(wrong);
}

void FunctionVerifier::verifyBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto obligation = dyn_cast<ObligationOp>(op)) {
      SmallVector<NoteAttr, 2> notes;
      if (ArrayAttr attr = obligation.getNotesAttr())
        llvm::append_range(notes, attr.getAsRange<NoteAttr>());
      PredAttr pred = obligation.getPred();
      bool known = llvm::is_contained(facts, pred);
      if (!verify({op.getLoc(), pred, obligation.getKind(), obligation.getText().str(), notes}))
        continue;
      if (!known && isUsefulLater(pred)) {
        OpBuilder builder(obligation);
        AssumeOp::create(builder, op.getLoc(), pred, /*trusted=*/false);
      }
      op.erase();
    } else if (auto assumption = dyn_cast<AssumeOp>(op)) {
      assume(assumption);
    } else if (auto check = dyn_cast<CheckOp>(op)) {
      addFact(values.implied(check.getCondition(), true));
    } else if (auto bind = dyn_cast<BindDimOp>(op)) {
      DimAttr name = DimAttr::getName(op.getContext(), bind.getName());
      DimAttr value = values.get(bind.getValue());
      // Told anew, it is another size.
      llvm::erase_if(facts, [&](PredAttr fact) {
        NameSet names;
        collectNames(fact, names);
        return names.contains(bind.getName());
      });
      facts.push_back(makeRelation(PredKind::EQ, name, value));
    } else if (auto branch = dyn_cast<IfOp>(op)) {
      PredAttr then = values.implied(branch.getCondition(), true), otherwise = values.implied(branch.getCondition(), false);
      verifyRegion(branch.getThenRegion(), then ? ArrayRef(then) : ArrayRef<PredAttr>());
      verifyRegion(branch.getElseRegion(), otherwise ? ArrayRef(otherwise) : ArrayRef<PredAttr>());
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      verifyRegion(loop.getBefore());
      SmallVector<PredAttr> inside;
      PredAttr condition = values.implied(loop.getConditionOp().getCondition(), true);
      if (condition)
        inside.push_back(condition);
      DimAttr bound = values.collectCounters(loop, condition, inside);
      if (bound && !loop.getTripBoundAttr())
        loop.setTripBoundAttr(limitTripBound(bound));
      verifyRegion(loop.getAfter(), inside);
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      markInBounds(slice, cast<kina::TensorType>(slice.getOperand().getType()));
    } else if (auto update = dyn_cast<UpdateOp>(op)) {
      markInBounds(update, cast<kina::TensorType>(update.getType()));
    } else {
      if (auto call = dyn_cast<CallOp>(op))
        verifyCall(&op, call.getCalleeAttr(), call.getSubst());
      else if (auto grad = dyn_cast<GradOp>(op))
        verifyCall(&op, grad.getCalleeAttr(), grad.getSubst());
      else if (auto vjp = dyn_cast<VJPOp>(op))
        verifyCall(&op, vjp.getCalleeAttr(), vjp.getSubst());
      else if (auto jvp = dyn_cast<JVPOp>(op))
        verifyCall(&op, jvp.getCalleeAttr(), jvp.getSubst());
      for (Region &region : op.getRegions())
        verifyRegion(region);
    }
  }
}

/// With the least constant that follows for it, if there is one: a tape of so many frames can be made at once.
DimAttr FunctionVerifier::limitTripBound(DimAttr bound) {
  constexpr int64_t kLargest = 4096;
  auto isAtMost = [&](int64_t limit) {
    PredAttr goal = makeRelation(PredKind::LE, bound, DimAttr::getConstant(bound.getContext(), limit));
    return solver.settle({facts, goal, [this](StringRef name) { return leastOf(name); }}).value_or(false);
  };
  if (bound.isConstant() || !isAtMost(kLargest))
    return bound;
  int64_t refuted = -1, limit = kLargest;
  while (limit - refuted > 1) {
    int64_t middle = refuted + (limit - refuted) / 2;
    (isAtMost(middle) ? limit : refuted) = middle;
  }
  DimAttr limited = minDims({bound, DimAttr::getConstant(bound.getContext(), limit)});
  return limited ? limited : bound;
}

/// Says in the body of a private function what its callers have proved; a public one tests it.
void FunctionVerifier::keepClauses() {
  if (function.isPublic() || function.isExternal() || !function.getPreconditionsAttr())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (auto clause : function.getPreconditionsAttr().getAsRange<ClauseAttr>())
    if (isUsefulLater(clause.getPred()))
      AssumeOp::create(builder, clause.getLoc(), clause.getPred(), /*trusted=*/false);
}

LogicalResult FunctionVerifier::run() {
  if (verifySignature()) {
    verifyCustomVjp();
    for (Block &block : function.getBody())
      verifyBlock(block);
  }
  keepClauses();
  return failure(bad);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// `12 obligations: 8 by normal form, 4 by enumeration; median 1.2 us, longest 30.0 us`.
static void printStatistics(raw_ostream &os, const Statistics &statistics) {
  static constexpr StringLiteral names[] = {"by normal form", "remembered", "by enumeration",
                                            "by Presburger arithmetic", "by Z3", "undecided"};
  SmallVector<uint64_t> times(statistics.times);
  llvm::sort(times);
  os << "kina-verify-refinements: " << times.size() << " queries";
  StringRef separator = ": ";
  for (auto [name, count] : llvm::zip(names, statistics.answered))
    if (count)
      os << std::exchange(separator, ", ") << count << ' ' << name;
  if (!times.empty())
    os << llvm::format("; median %.1f us, longest %.1f us", times[times.size() / 2] / 1e3, times.back() / 1e3);
  if (statistics.workerStarts)
    os << "; " << statistics.workerStarts << (statistics.workerStarts == 1 ? " worker" : " workers") << " started";
  os << '\n';
}

namespace {
struct VerifyRefinementsPass : impl::VerifyRefinementsPassBase<VerifyRefinementsPass> {
  using VerifyRefinementsPassBase::VerifyRefinementsPassBase;

  void runOnOperation() override {
    SolverOptions options;
    options.dumpDirectory = dumpSmt;
    options.smtOnly = smtOnly;
    options.noSmt = noSmt;
    options.worker = worker;
    Solver solver(&getContext(), options);
    std::set<std::string> told;
    bool bad = false;
    for (auto function : getOperation().getOps<FuncOp>())
      bad |= failed(FunctionVerifier(function, solver, told).run());
    if (smtStats)
      printStatistics(llvm::errs(), solver.getStatistics());
    if (StringRef problem = solver.getDumpProblem(); !problem.empty()) {
      emitError(getOperation().getLoc()) << "what reaches the solver could not be dumped: " << problem;
      bad = true;
    }
    if (bad)
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<FuncOp>()))
      if (function->hasAttr(kOnlyCheckedAttrName))
        function.erase();
  }
};
} // namespace

} // namespace kina
