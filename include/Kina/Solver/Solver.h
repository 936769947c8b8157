//===- Solver.h - Decides what shapes have to satisfy ----------*- C++ -*-===//
//
// Whether a predicate over sizes follows from others, decided by stages, the cheapest
// first: normal form with oriented facts, a memo, enumeration of small values by their
// sum, Presburger arithmetic, Z3. The last two work in a process of their own
// (`kina-smt-worker`), which is stopped when a goal takes longer than the limit.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SOLVER_SOLVER_H
#define KINA_SOLVER_SOLVER_H

#include "Kina/Dialect/Kina/IR/Dim.h"

#include <memory>
#include <string>

namespace kina::solver {

enum class Verdict : unsigned {
  Proved,     ///< holds under the facts, for all values
  MayFail,    ///< fails under the facts for the values of the counterexample
  NeverHolds, ///< fails under the facts for all values; the counterexample is one of them
  Undecided   ///< no claim; `cause` says why
};

/// What gave the verdict, in the order in which they are asked.
enum class Method : unsigned { NormalForm, Memo, Enumeration, Presburger, Z3, None };

enum class Cause : unsigned {
  None,
  Incomplete,    ///< the methods ended without an answer
  Limit,         ///< the step or time limit of one goal was reached
  Spent,         ///< all goals together took what time there is for those without an answer
  WorkerMissing, ///< `kina-smt-worker` could not be started
  WorkerDied,    ///< it ended in the middle of a goal
  Overflow       ///< a coefficient leaves 64 bits
};

/// One value of a name.
using Assignment = llvm::SmallVector<std::pair<std::string, int64_t>, 4>;

struct Answer {
  Verdict verdict = Verdict::Undecided;
  Method method = Method::None;
  Cause cause = Cause::None;
  /// Of MayFail and NeverHolds: values of the names of the goal and of the facts that bear on
  /// it, in order of first appearance (goal first); the facts and the goal were evaluated
  /// under it. Minimal in the sum of its magnitudes and then in lexical order if no more than
  /// 600,000 assignments have to be tried to see that, or if the worker found it and Z3 can tell; otherwise as small as
  /// it could be made. The same for the same query, whatever was asked before.
  Assignment counterexample;

  /// Whether more time might have brought an answer.
  bool isOutOfTime() const { return cause == Cause::Limit || cause == Cause::Spent; }
};

struct Query {
  /// Hold by assumption, in the order in which they were learnt.
  llvm::ArrayRef<PredAttr> facts;
  PredAttr goal;
  /// The least value of a name (a dimension's is 1 unless it says otherwise); INT64_MIN or
  /// nothing for a name that may have any value.
  ValueLookup least;
};

struct SolverOptions {
  /// Steps of Z3 for one goal: the same for the same goal everywhere.
  unsigned stepLimit = 2'000'000;
  /// Wall time of one goal in milliseconds, after which Z3 is told to stop; a tenth later
  /// the worker is killed. With what comes before and after it, a goal is to take no more than 2.5 s
  /// on a machine with other work to do.
  unsigned timeLimit = 1800;
  /// Wall time in milliseconds that goals may take in the worker without getting an answer, all together.
  /// The goal with which it is spent is the last one that the worker is asked.
  unsigned totalLimit = 3600;
  /// Only Z3 (and the evaluation of what it says), to compare with.
  bool smtOnly = false;
  /// Never start the worker.
  bool noSmt = false;
  /// Directory that gets every goal that reaches Presburger or Z3 as SMT-LIB (`--dump-smt`), or empty.
  std::string dumpDirectory;
  /// Path of the worker; empty for the one beside the running program or the library.
  std::string worker;
};

struct Statistics {
  /// Goals answered by each Method, indexed by it (None: undecided).
  uint64_t answered[6] = {};
  uint64_t workerStarts = 0;
  /// Nanoseconds of every query, in order.
  llvm::SmallVector<uint64_t> times;
};

/// Decides queries of one context. Not thread-safe; use one for each thread. The worker
/// is started when first needed and lives as long as this.
class Solver {
public:
  Solver(mlir::MLIRContext *context, SolverOptions options = {});
  ~Solver();
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;

  /// Never fails: what cannot be decided is Undecided.
  Answer solve(const Query &query);

  /// What normal form alone says of the goal: true, false if it fails for all values, or
  /// nothing. Takes microseconds, starts nothing.
  std::optional<bool> settle(const Query &query);

  /// Whether some values satisfy all facts: `Proved` if so (with such values as the
  /// "counterexample"), `NeverHolds` if they contradict each other, else Undecided.
  Answer satisfiable(llvm::ArrayRef<PredAttr> facts, ValueLookup least);

  /// The facts on which an answer other than Proved rests, for a message: without the others
  /// the answer is the same, counterexample included, as far as small values and normal form
  /// tell. Where they do not, and of Undecided, those that bear on the goal.
  llvm::SmallVector<PredAttr> explain(const Query &query, const Answer &answer);

  /// A predicate over names of the goal (an equation, a divisibility or a bound), which makes
  /// the goal hold if added to the facts, does not contradict them and says no more than the goal
  /// does, all proved here; the shortest of the candidates and the goal itself. Null if the
  /// goal contradicts the facts. For a `requires` that a message may suggest.
  PredAttr suggest(const Query &query, const Answer &answer);

  const Statistics &getStatistics() const;

  /// What went wrong with the worker last, for a message about WorkerMissing and WorkerDied;
  /// and with writing to the directory for questions. Empty if nothing did.
  llvm::StringRef getWorkerProblem() const;
  llvm::StringRef getDumpProblem() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The pieces of a conjunction, flattened, with negations moved inwards: what is labelled and
/// decided one by one.
void splitConjunction(PredAttr pred, llvm::SmallVectorImpl<PredAttr> &parts);
/// The negation, with `not` moved inwards until it is gone: `not (a < b)` is `b <= a`.
PredAttr negate(PredAttr pred);

} // namespace kina::solver

#endif
