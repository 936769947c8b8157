//===- Solver.cpp - The stages in their order -----------------------------===//

#include "Kina/Solver/Solver.h"
#include "Enumeration.h"
#include "NormalForm.h"
#include "Presburger.h"
#include "Z3.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <unordered_map>

using namespace mlir;

namespace kina::solver {

namespace {

/// Attributes and numbers that together say what was asked.
struct Key {
  SmallVector<uint64_t, 16> words;
  void add(Attribute attribute) { words.push_back(reinterpret_cast<uintptr_t>(attribute.getAsOpaquePointer())); }
  bool operator==(const Key &other) const { return words == other.words; }
};
struct KeyHash {
  size_t operator()(const Key &key) const { return llvm::hash_combine_range(key.words); }
};

/// A fact without connectives where that is possible, and its names.
struct Part {
  PredAttr pred;
  SmallVector<StringRef, 4> names;
};

} // namespace

struct Solver::Impl {
  Impl(MLIRContext *context, SolverOptions given)
      : context(context), options(std::move(given)), worker(options.worker) {}

  Answer solve(const Problem &problem);
  Answer decide(const Problem &problem);
  /// Looks for values under which the facts hold and the goal is `goalIs`, stage by stage;
  /// and which stage it was.
  std::pair<Outcome, Method> search(const Problem &problem, const NormalForm &form, bool goalIs,
                                    Worker::Clock::time_point deadline);
  void dump(const Problem &problem, bool goalIs);
  const NormalForm &getNormalForm(const Problem &problem);
  ArrayRef<Part> getParts(PredAttr fact);
  /// The parts of the facts that share names with `names`, directly or through others; adds
  /// the names of those. Marks what it takes in `taken`.
  void addCone(ArrayRef<PredAttr> facts, Problem &problem, NameSet &names, llvm::SmallDenseSet<PredAttr> &taken);
  /// The goal with the facts that bear on it.
  Problem makeProblem(ArrayRef<PredAttr> facts, PredAttr goal, ValueLookup least);
  static void finishNames(Problem &problem, const NameSet &names, ValueLookup least);
  static Assignment toAssignment(const Problem &problem, ArrayRef<int64_t> values);

  MLIRContext *context;
  SolverOptions options;
  Statistics statistics;
  Worker worker;
  std::optional<SMTEncoder> encoder;
  unsigned dumped = 0;
  std::string dumpProblem;
  llvm::DenseMap<PredAttr, std::unique_ptr<SmallVector<Part, 2>>> parts;
  std::unordered_map<Key, std::unique_ptr<NormalForm>, KeyHash> forms;
  std::unordered_map<Key, Answer, KeyHash> memo;
};

//===----------------------------------------------------------------------===//
// What bears on the goal
//===----------------------------------------------------------------------===//

ArrayRef<Part> Solver::Impl::getParts(PredAttr fact) {
  auto &entry = parts[fact];
  if (!entry) {
    entry = std::make_unique<SmallVector<Part, 2>>();
    SmallVector<PredAttr> split;
    splitConjunction(fact, split);
    for (PredAttr pred : split) {
      NameSet names;
      collectNames(pred, names);
      entry->push_back({pred, SmallVector<StringRef, 4>(names.begin(), names.end())});
    }
  }
  return *entry;
}

void Solver::Impl::addCone(ArrayRef<PredAttr> facts, Problem &problem, NameSet &names,
                           llvm::SmallDenseSet<PredAttr> &taken) {
  SmallVector<const Part *> candidates;
  for (PredAttr fact : facts)
    for (const Part &part : getParts(fact))
      candidates.push_back(&part);
  llvm::SmallBitVector inside(candidates.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [index, part] : llvm::enumerate(candidates)) {
      if (inside[index] || taken.contains(part->pred))
        continue;
      if (!part->names.empty() && llvm::none_of(part->names, [&](StringRef name) { return names.contains(name); }))
        continue;
      inside.set(index);
      taken.insert(part->pred);
      names.insert(part->names.begin(), part->names.end());
      changed = true;
    }
  }
  for (auto [index, part] : llvm::enumerate(candidates))
    if (inside[index])
      problem.facts.push_back(part->pred);
}

void Solver::Impl::finishNames(Problem &problem, const NameSet &names, ValueLookup least) {
  for (StringRef name : names) {
    problem.names.push_back(name);
    problem.least.push_back(least(name).value_or(INT64_MIN));
  }
}

Problem Solver::Impl::makeProblem(ArrayRef<PredAttr> facts, PredAttr goal, ValueLookup least) {
  Problem problem;
  problem.goal = goal;
  NameSet names;
  collectNames(goal, names);
  llvm::SmallDenseSet<PredAttr> taken;
  addCone(facts, problem, names, taken);
  finishNames(problem, names, least);
  return problem;
}

Assignment Solver::Impl::toAssignment(const Problem &problem, ArrayRef<int64_t> values) {
  Assignment assignment;
  for (auto [name, value] : llvm::zip_equal(problem.names, values))
    assignment.push_back({name.str(), value});
  return assignment;
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

const NormalForm &Solver::Impl::getNormalForm(const Problem &problem) {
  Key key;
  NameSet names;
  for (PredAttr fact : problem.facts) {
    key.add(fact);
    for (const Part &part : getParts(fact))
      names.insert(part.names.begin(), part.names.end());
  }
  auto least = [&](StringRef name) { return problem.getLeast(name); };
  for (StringRef name : names)
    key.words.push_back(least(name));
  auto &entry = forms[std::move(key)];
  if (!entry)
    entry = std::make_unique<NormalForm>(context, problem.facts, least);
  return *entry;
}

Answer Solver::Impl::solve(const Problem &problem) {
  Key key;
  key.add(problem.goal);
  for (PredAttr fact : problem.facts)
    key.add(fact);
  key.words.append(problem.least.begin(), problem.least.end());
  if (auto it = memo.find(key); it != memo.end()) {
    Answer answer = it->second;
    if (answer.verdict != Verdict::Undecided)
      answer.method = Method::Memo;
    return answer;
  }
  Answer answer = decide(problem);
  // What went wrong with the worker may not go wrong again.
  if (answer.cause != Cause::WorkerDied && answer.cause != Cause::WorkerMissing)
    memo.emplace(std::move(key), answer);
  return answer;
}

std::pair<Outcome, Method> Solver::Impl::search(const Problem &problem, const NormalForm &form, bool goalIs,
                                                Worker::Clock::time_point deadline) {
  Outcome outcome;
  if (!options.smtOnly) {
    Search small = enumerate(problem, form, goalIs);
    if (small.found || small.exhaustive) {
      outcome.kind = small.found ? Outcome::Found : Outcome::Excluded;
      if (small.found)
        outcome.values = *small.found;
      return {outcome, Method::Enumeration};
    }
  }
  dump(problem, goalIs);
  Method method = Method::Presburger;
  if (!options.smtOnly)
    outcome = searchPresburger(context, problem, form, goalIs, options.noSmt ? nullptr : &worker,
                               std::min(deadline, Worker::Clock::now() + std::chrono::milliseconds(options.timeLimit / 4)));
  if (options.noSmt)
    return {outcome, method};
  if (!encoder)
    encoder.emplace();
  Z3 z3{*encoder, worker, options.stepLimit, options.timeLimit};
  if (outcome.kind == Outcome::Open && outcome.cause != Cause::WorkerMissing) {
    method = Method::Z3;
    outcome = z3.search(problem, goalIs, deadline);
  }
  if (outcome.kind == Outcome::Found && !goalIs) {
    if (!options.smtOnly)
      outcome.values = descend(problem, form, goalIs, outcome.values);
    outcome.values = z3.minimize(problem, goalIs, outcome.values, deadline);
  }
  return {outcome, method};
}

Answer Solver::Impl::decide(const Problem &problem) {
  auto least = [&](StringRef name) { return problem.getLeast(name); };
  const NormalForm &form = getNormalForm(problem);
  if (!options.smtOnly && form.follows(problem.goal, least))
    return {Verdict::Proved, Method::NormalForm, Cause::None, {}};
  // All that is asked about one goal has one deadline. A tenth is for Z3 to notice that its
  // time is up; what then still runs is killed.
  Worker::Clock::time_point deadline =
      Worker::Clock::now() + std::chrono::milliseconds(options.timeLimit + options.timeLimit / 10);
  auto [failing, method] = search(problem, form, /*goalIs=*/false, deadline);
  switch (failing.kind) {
  case Outcome::Excluded:
    return {Verdict::Proved, method, Cause::None, {}};
  case Outcome::Open:
    return {Verdict::Undecided, Method::None,
            failing.cause == Cause::Incomplete && form.overflowed() ? Cause::Overflow : failing.cause, {}};
  case Outcome::Found:
    break;
  }
  // It fails; can it hold for others?
  Answer answer{Verdict::MayFail, method, Cause::None, toAssignment(problem, failing.values)};
  if (problem.goal && ((!options.smtOnly && form.follows(negate(problem.goal), least)) ||
                       search(problem, form, /*goalIs=*/true, deadline).first.kind == Outcome::Excluded))
    answer.verdict = Verdict::NeverHolds;
  return answer;
}

void Solver::Impl::dump(const Problem &problem, bool goalIs) {
  if (options.dumpDirectory.empty())
    return;
  if (!encoder)
    encoder.emplace();
  std::string name = llvm::formatv("goal-{0:D4}.smt2", ++dumped).str();
  SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, name);
  std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory);
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    if (dumpProblem.empty())
      dumpProblem = ("'" + path + "' cannot be written: " + error.message()).str();
    return;
  }
  for (PredAttr fact : problem.facts)
    os << "; given " << toString(fact) << '\n';
  os << "; " << (goalIs ? "can it hold: " : "can it fail: ") << (problem.goal ? toString(problem.goal) : "false") << '\n';
  Facts storage;
  os << encoder->toSMTLIB(toQuestion(problem, goalIs, storage));
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

Solver::Solver(MLIRContext *context, SolverOptions options)
    : impl(std::make_unique<Impl>(context, std::move(options))) {}
Solver::~Solver() = default;

const Statistics &Solver::getStatistics() const {
  impl->statistics.workerStarts = impl->worker.getStarts();
  return impl->statistics;
}

Answer Solver::solve(const Query &query) {
  auto start = std::chrono::steady_clock::now();
  auto least = [&](StringRef name) { return query.least(name).value_or(INT64_MIN); };
  Answer answer;
  if (!impl->options.smtOnly && kina::decide(query.goal, least).value_or(false)) {
    answer = {Verdict::Proved, Method::NormalForm, Cause::None, {}};
  } else {
    answer = impl->solve(impl->makeProblem(query.facts, query.goal, query.least));
  }
  ++impl->statistics.answered[static_cast<unsigned>(answer.method)];
  impl->statistics.times.push_back(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
  return answer;
}

std::optional<bool> Solver::settle(const Query &query) {
  auto least = [&](StringRef name) { return query.least(name).value_or(INT64_MIN); };
  if (std::optional<bool> known = decide(query.goal, least))
    return known;
  Problem problem = impl->makeProblem(query.facts, query.goal, least);
  auto leastHere = [&](StringRef name) { return problem.getLeast(name); };
  const NormalForm &form = impl->getNormalForm(problem);
  if (form.follows(query.goal, leastHere))
    return true;
  return form.follows(negate(query.goal), leastHere) ? std::optional(false) : std::nullopt;
}

Answer Solver::satisfiable(ArrayRef<PredAttr> facts, ValueLookup least) {
  // Facts without a name in common cannot contradict each other.
  Answer result{Verdict::Proved, Method::NormalForm, Cause::None, {}};
  llvm::SmallDenseSet<PredAttr> taken;
  for (PredAttr fact : facts)
    for (const Part &part : impl->getParts(fact)) {
      if (taken.contains(part.pred))
        continue;
      Problem problem;
      NameSet names;
      names.insert(part.names.begin(), part.names.end());
      impl->addCone(facts, problem, names, taken);
      Impl::finishNames(problem, names, least);
      Answer answer = impl->solve(problem);
      if (answer.verdict == Verdict::Proved)
        return {Verdict::NeverHolds, answer.method, Cause::None, {}};
      result.method = std::max(result.method, answer.method);
      if (answer.verdict == Verdict::Undecided) {
        result.verdict = Verdict::Undecided;
        result.cause = answer.cause;
        result.counterexample.clear();
      } else if (result.verdict == Verdict::Proved) {
        llvm::append_range(result.counterexample, answer.counterexample);
      }
    }
  return result;
}

llvm::StringRef Solver::getWorkerProblem() const { return impl->worker.getProblem(); }

llvm::StringRef Solver::getDumpProblem() const { return impl->dumpProblem; }

/// The relation without what stands on both sides as a factor, a number or one of names that
/// are at least 1; null if there is no such factor.
static PredAttr withoutFactor(PredAttr relation, ValueLookup least) {
  MLIRContext *context = relation.getContext();
  DimAttr difference =
      relation.getPreds().empty() ? subDims(relation.getDims()[1], relation.getDims()[0]) : DimAttr();
  if (!difference || difference.getTerms().empty())
    return {};
  DimAttr reduced = withoutCommonFactor(difference, [&](StringRef name) { return least(name).value_or(INT64_MIN); });
  if (reduced == difference)
    return {};
  // Each side gets what is positive on it.
  SmallVector<DimTermAttr> left, right;
  for (DimTermAttr term : reduced.getTerms())
    if (term.getCoefficient() < 0 && term.getCoefficient() != INT64_MIN)
      left.push_back(DimTermAttr::get(context, -term.getCoefficient(), term.getFactors()));
    else
      right.push_back(term);
  return makeRelation(relation.getKind(), DimAttr::get(context, left), DimAttr::get(context, right));
}

PredAttr Solver::suggest(const Query &query, const Answer &answer) {
  MLIRContext *context = impl->context;
  SmallVector<PredAttr> candidates;
  NameSet names;
  collectNames(query.goal, names);
  if (PredAttr reduced = withoutFactor(query.goal, query.least))
    candidates.push_back(reduced);
  if (!query.goal.getPreds().empty() || !llvm::all_of(query.goal.getDims(), hasOnlyNames)) {
    // A bound of one name beyond the value with which it fails, or a divisor that occurs.
    constexpr int64_t kMaxBound = 8, kMaxDivisor = 4096;
    for (auto &[name, value] : answer.counterexample)
      if (names.contains(StringRef(name)))
        for (int64_t step = 1; step <= kMaxBound && value <= INT64_MAX - step; ++step)
          candidates.push_back(makeRelation(PredKind::LE, DimAttr::getConstant(context, value + step),
                                            DimAttr::getName(context, name)));
    ConstantSet constants;
    collectConstants(query.goal, constants);
    SmallVector<int64_t> divisors;
    for (int64_t constant : constants)
      if (magnitude(constant) >= 2 && magnitude(constant) <= kMaxDivisor)
        divisors.push_back(static_cast<int64_t>(magnitude(constant)));
    llvm::sort(divisors);
    divisors.erase(llvm::unique(divisors), divisors.end());
    for (StringRef name : names)
      for (int64_t divisor : divisors)
        candidates.push_back(makeRelation(
            PredKind::EQ, modDims(DimAttr::getName(context, name), DimAttr::getConstant(context, divisor)),
            DimAttr::getConstant(context, 0)));
  }
  candidates.push_back(query.goal);
  for (PredAttr candidate : candidates) {
    if (!candidate)
      continue;
    SmallVector<PredAttr> facts(query.facts);
    facts.push_back(candidate);
    Problem problem = impl->makeProblem(facts, query.goal, query.least);
    if (!impl->getNormalForm(problem).follows(query.goal, [&](StringRef name) { return problem.getLeast(name); }) &&
        candidate != query.goal)
      continue;
    if (satisfiable(facts, query.least).verdict == Verdict::Proved)
      return candidate;
  }
  return {};
}

} // namespace kina::solver
