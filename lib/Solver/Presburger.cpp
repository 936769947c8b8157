//===- Presburger.cpp - Linear systems of a question ----------------------===//
//
// Products stay opaque columns, of which the signs and some bounds are known; quotients by
// numbers, minima and maxima are exact. So the systems of a linear question have integer
// solutions exactly if the question has.
//
//===----------------------------------------------------------------------===//

#include "Presburger.h"
#include "Enumeration.h"
#include "Linear.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kina::solver {

/// Alternatives of one question, and how large one may be: larger ones take seconds here, and Z3 less.
static constexpr unsigned kMaxSystems = 64;
static constexpr size_t kMaxColumns = 96, kMaxRows = 160;

/// Puts `by` in the place of an atom, wherever it stands.
static DimAttr replace(DimAttr dim, DimAtomAttr what, DimAttr by) {
  DimAttr sum = DimAttr::getConstant(dim.getContext(), 0);
  for (DimTermAttr term : dim.getTerms()) {
    DimAttr product = DimAttr::getConstant(dim.getContext(), term.getCoefficient());
    for (DimAtomAttr atom : term.getFactors()) {
      if (atom == what) {
        product = mulDims(product, by);
        continue;
      }
      DimAttr factor;
      SmallVector<DimAttr> args;
      for (DimAttr arg : atom.getArgs()) {
        args.push_back(replace(arg, what, by));
        if (!args.back())
          return {};
      }
      switch (atom.getKind()) {
      case AtomKind::Name:
        factor = DimAttr::get(dim.getContext(), {DimTermAttr::get(dim.getContext(), 1, {atom})});
        break;
      case AtomKind::FloorDiv:
        factor = floorDivDims(args[0], args[1]);
        break;
      case AtomKind::Min:
        factor = minDims(args);
        break;
      case AtomKind::Max:
        factor = maxDims(args);
        break;
      }
      product = mulDims(product, factor);
    }
    sum = addDims(sum, product);
  }
  return sum;
}

/// A minimum or maximum in whose arguments there is none; null if there is none at all.
static DimAtomAttr findExtremum(DimAttr dim) {
  for (DimTermAttr term : dim.getTerms())
    for (DimAtomAttr atom : term.getFactors()) {
      for (DimAttr arg : atom.getArgs())
        if (DimAtomAttr inner = findExtremum(arg))
          return inner;
      if (atom.getKind() == AtomKind::Min || atom.getKind() == AtomKind::Max)
        return atom;
    }
  return {};
}

namespace {
class Alternatives {
public:
  Alternatives(MLIRContext *context, LeastLookup least, llvm::function_ref<bool(const LinearSystem &)> visit)
      : context(context), least(least), visit(visit) {}

  /// `open` are predicates of any kind, `relations` equations and inequalities already.
  bool expand(SmallVector<PredAttr> open, SmallVector<PredAttr> relations) {
    while (!open.empty()) {
      PredAttr pred = open.pop_back_val();
      ArrayRef<DimAttr> dims = pred.getDims();
      switch (pred.getKind()) {
      case PredKind::And:
        llvm::append_range(open, pred.getPreds());
        break;
      case PredKind::Not:
        open.push_back(negate(pred.getPreds()[0]));
        break;
      case PredKind::Or:
        return llvm::all_of(pred.getPreds(), [&](PredAttr part) {
          SmallVector<PredAttr> with(open);
          with.push_back(part);
          return expand(with, relations);
        });
      case PredKind::NE:
        return llvm::all_of(std::initializer_list<PredAttr>{makeRelation(PredKind::LT, dims[0], dims[1]),
                                                            makeRelation(PredKind::LT, dims[1], dims[0])},
                            [&](PredAttr part) {
                              SmallVector<PredAttr> with(open);
                              with.push_back(part);
                              return expand(with, relations);
                            });
      case PredKind::EQ:
      case PredKind::LE:
      case PredKind::LT:
        relations.push_back(pred);
        break;
      }
    }
    return split(std::move(relations));
  }

private:
  bool split(SmallVector<PredAttr> relations) {
    for (PredAttr relation : relations)
      for (DimAttr dim : relation.getDims())
        if (DimAtomAttr atom = findExtremum(dim))
          return llvm::all_of(atom.getArgs(), [&](DimAttr chosen) {
            SmallVector<PredAttr> with;
            for (PredAttr given : relations) {
              DimAttr a = replace(given.getDims()[0], atom, chosen), b = replace(given.getDims()[1], atom, chosen);
              // What cannot be written is left out: the union only gets larger.
              if (a && b)
                with.push_back(makeRelation(given.getKind(), a, b));
            }
            for (DimAttr other : atom.getArgs())
              if (other != chosen)
                with.push_back(atom.getKind() == AtomKind::Min ? makeRelation(PredKind::LE, chosen, other)
                                                               : makeRelation(PredKind::LE, other, chosen));
            return split(std::move(with));
          });
    if (++systems > kMaxSystems)
      return false;
    LinearSystem system(context, least);
    for (PredAttr relation : relations)
      if (relation.getKind() == PredKind::EQ)
        system.addZero(subDims(relation.getDims()[0], relation.getDims()[1]));
      else
        system.addNonNegative(getSlack(relation));
    system.addDefinitions();
    return visit(system);
  }

  MLIRContext *context;
  LeastLookup least;
  llvm::function_ref<bool(const LinearSystem &)> visit;
  unsigned systems = 0;
};
} // namespace

/// Visits linear systems whose union contains all values under which the facts hold and the
/// goal is `goalIs`, until `visit` returns false. Every alternative of `or`, `!=`, `min` and
/// `max` is a system of its own. Returns false if it did not come to the end or there are
/// too many.
static bool forEachSystem(MLIRContext *context, const Problem &problem, const NormalForm &form, bool goalIs,
                   LeastLookup least, llvm::function_ref<bool(const LinearSystem &)> visit) {
  auto lookup = [&](StringRef name) { return std::max(least(name), form.getLeast(name).value_or(INT64_MIN)); };
  SmallVector<PredAttr> open, relations;
  DimAttr zero = DimAttr::getConstant(context, 0);
  for (DimAttr equation : form.getEquations())
    relations.push_back(makeRelation(PredKind::EQ, equation, zero));
  for (DimAttr slack : form.getSlacks())
    relations.push_back(makeRelation(PredKind::LE, zero, slack));
  llvm::append_range(open, form.getOthers());
  if (problem.goal) {
    PredAttr goal = form.rewrite(problem.goal, least);
    if (!goal)
      return false;
    open.push_back(goalIs ? goal : negate(goal));
  } else if (goalIs) {
    return true;
  }
  return Alternatives(context, lookup, visit).expand(std::move(open), std::move(relations));
}

/// The system as `kina-smt-worker` reads it.
static std::string writePresburger(const LinearSystem &system) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << system.getColumns().size() << ' ' << system.getRows().size() << '\n';
  for (const LinearSystem::Row &row : system.getRows()) {
    os << (row.isEquation ? "= " : "> ") << row.entries.size();
    for (auto [column, coefficient] : row.entries)
      os << ' ' << column << ' ' << coefficient;
    os << ' ' << row.constant << '\n';
  }
  return text;
}

Outcome searchPresburger(MLIRContext *context, const Problem &problem, const NormalForm &form, bool goalIs,
                         Worker *worker, Worker::Clock::time_point deadline) {
  Outcome outcome;
  auto least = [&](StringRef name) { return problem.getLeast(name); };
  bool complete = forEachSystem(context, problem, form, goalIs, least, [&](const LinearSystem &system) {
    if (system.getColumns().size() > kMaxColumns || system.getRows().size() > kMaxRows)
      return false;
    if (system.isRationallyEmpty())
      return true;
    if (!worker)
      return false;
    Worker::Reply reply = worker->ask("presburger", writePresburger(system), deadline);
    if (Cause cause = reply.getCause(); cause != Cause::None) {
      outcome.cause = cause;
      return false;
    }
    if (reply.text == "empty")
      return true;
    StringRef text = reply.text;
    if (!text.consume_front("sample"))
      return false;
    // The columns that are names give an assignment, which counts if it stands the evaluation.
    llvm::DenseMap<StringRef, int64_t> sample;
    for (DimTermAttr column : system.getColumns()) {
      int64_t value;
      text = text.ltrim();
      if (text.consumeInteger(10, value))
        return false;
      if (column.getFactors().size() == 1 && column.getFactors()[0].getKind() == AtomKind::Name)
        sample[column.getFactors()[0].getName()] = value;
    }
    Program program(problem, form.getRules());
    SmallVector<int64_t> inputs;
    for (size_t input = 0; input < program.getNumInputs(); ++input) {
      StringRef name = program.getInput(input);
      int64_t low = std::max(problem.getLeast(name), form.getLeast(name).value_or(INT64_MIN));
      auto it = sample.find(name);
      inputs.push_back(it != sample.end() ? it->second : low == INT64_MIN ? 0 : low);
    }
    if (!program.accepts(inputs, goalIs))
      return false;
    outcome.kind = Outcome::Found;
    outcome.values = program.getValues();
    return false;
  });
  if (complete)
    outcome.kind = Outcome::Excluded;
  return outcome;
}

} // namespace kina::solver
