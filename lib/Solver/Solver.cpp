//===- Solver.cpp - The stages in their order -----------------------------===//

#include "Kina/Solver/Solver.h"
#include "Enumeration.h"
#include "NormalForm.h"
#include "Presburger.h"
#include "Z3.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
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

/// The facts of the question asked last, and where each name is spoken of. Questions of one
/// function have their first facts in common, so only what differs is looked at.
class FactIndex {
public:
  void update(ArrayRef<PredAttr> now, llvm::function_ref<ArrayRef<Part>(PredAttr)> split) {
    size_t common = 0;
    while (common < facts.size() && common < now.size() && facts[common] == now[common])
      ++common;
    size_t kept = common < facts.size() ? firstPart[common] : parts.size();
    for (; parts.size() > kept; parts.pop_back())
      for (StringRef name : parts.back()->names)
        mentions[name].pop_back();
    while (!nameless.empty() && nameless.back() >= kept)
      nameless.pop_back();
    facts.truncate(common);
    firstPart.truncate(common);
    for (PredAttr fact : now.drop_front(common)) {
      facts.push_back(fact);
      firstPart.push_back(parts.size());
      for (const Part &part : split(fact)) {
        for (StringRef name : part.names)
          mentions[name].push_back(parts.size());
        if (part.names.empty())
          nameless.push_back(parts.size());
        parts.push_back(&part);
      }
    }
  }

  /// The parts that share names with `names`, directly or through others, and those without
  /// names, in their order.
  SmallVector<const Part *> getCone(ArrayRef<StringRef> names) const {
    llvm::SmallBitVector inside(parts.size());
    SmallVector<unsigned> found(nameless);
    llvm::SmallDenseSet<StringRef, 16> reached(names.begin(), names.end());
    SmallVector<StringRef> open(names);
    while (!open.empty()) {
      auto it = mentions.find(open.pop_back_val());
      if (it == mentions.end())
        continue;
      for (unsigned index : it->second) {
        if (inside.test(index))
          continue;
        inside.set(index);
        found.push_back(index);
        for (StringRef name : parts[index]->names)
          if (reached.insert(name).second)
            open.push_back(name);
      }
    }
    llvm::sort(found);
    return llvm::map_to_vector(found, [&](unsigned index) { return parts[index]; });
  }

private:
  SmallVector<PredAttr> facts;
  /// Of each fact, the first of its parts.
  SmallVector<unsigned> firstPart;
  SmallVector<const Part *> parts;
  SmallVector<unsigned> nameless;
  llvm::DenseMap<StringRef, SmallVector<unsigned, 4>> mentions;
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
  /// The simplest values under which the goal fails, or simpler ones than these. `mayAsk` is
  /// whether the worker is asked, too.
  SmallVector<int64_t, 8> simplify(const Problem &problem, const NormalForm &form, SmallVector<int64_t, 8> values,
                                   bool mayAsk, Worker::Clock::time_point deadline);
  void dump(const Problem &problem, bool goalIs);
  const NormalForm &getNormalForm(const Problem &problem);
  ArrayRef<Part> getParts(PredAttr fact);
  /// The parts of the facts that share names with `names`, directly or through others; adds
  /// the names of those. Marks what it takes in `taken`.
  void addCone(ArrayRef<PredAttr> facts, Problem &problem, NameSet &names, llvm::SmallDenseSet<PredAttr> &taken);
  /// The goal with the facts that bear on it.
  Problem makeProblem(ArrayRef<PredAttr> facts, PredAttr goal, ValueLookup least);
  Z3 getZ3() {
    if (!encoder)
      encoder.emplace();
    return {*encoder, worker, options.stepLimit, options.timeLimit};
  }
  static void finishNames(Problem &problem, const NameSet &names, ValueLookup least);
  static Assignment toAssignment(const Problem &problem, ArrayRef<int64_t> values);

  MLIRContext *context;
  SolverOptions options;
  Statistics statistics;
  Worker worker;
  std::optional<SMTEncoder> encoder;
  /// How long the worker was asked in vain.
  Worker::Clock::duration spent{};
  unsigned dumped = 0;
  std::string dumpProblem;
  llvm::DenseMap<PredAttr, std::unique_ptr<SmallVector<Part, 2>>> parts;
  FactIndex index;
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
  index.update(facts, [&](PredAttr fact) { return getParts(fact); });
  for (const Part *part : index.getCone(names.getArrayRef())) {
    if (!taken.insert(part->pred).second)
      continue;
    problem.facts.push_back(part->pred);
    names.insert(part->names.begin(), part->names.end());
  }
}

void Solver::Impl::finishNames(Problem &problem, const NameSet &names, ValueLookup least) {
  for (StringRef name : names)
    problem.addName(name, least(name).value_or(INT64_MIN));
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
  auto least = [&](StringRef name) { return problem.getLeast(name); };
  auto makeKey = [&](ArrayRef<PredAttr> facts) {
    Key key;
    NameSet names;
    for (PredAttr fact : facts) {
      key.add(fact);
      for (const Part &part : getParts(fact))
        names.insert(part.names.begin(), part.names.end());
    }
    for (StringRef name : names)
      key.words.push_back(least(name));
    return key;
  };
  auto &entry = forms[makeKey(problem.facts)];
  if (entry)
    return *entry;
  // Facts come one after the other: one or two less were asked about before.
  constexpr size_t kFew = 4, kBack = 3;
  ArrayRef<PredAttr> facts(problem.facts), rest(facts);
  if (facts.size() > kFew)
    for (size_t back = 1; back <= kBack && !entry; ++back)
      if (auto it = forms.find(makeKey(facts.drop_back(back))); it != forms.end()) {
        entry = std::make_unique<NormalForm>(*it->second);
        rest = facts.take_back(back);
      }
  if (!entry)
    entry = std::make_unique<NormalForm>(context);
  for (PredAttr fact : rest)
    entry->add(fact, least);
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
        outcome.values = goalIs || small.isSimplest ? *small.found
                                                    : simplify(problem, form, *small.found, /*mayAsk=*/false, deadline);
      return {outcome, Method::Enumeration};
    }
  }
  dump(problem, goalIs);
  bool isSpent = spent >= std::chrono::milliseconds(options.totalLimit);
  auto start = Worker::Clock::now();
  Method method = Method::Presburger;
  if (!options.smtOnly)
    outcome = searchPresburger(context, problem, form, goalIs, options.noSmt || isSpent ? nullptr : &worker,
                               std::min(deadline, start + std::chrono::milliseconds(options.timeLimit / 4)));
  if (options.noSmt)
    return {outcome, method};
  if (isSpent) {
    if (outcome.kind == Outcome::Open)
      outcome.cause = Cause::Spent;
    return {outcome, method};
  }
  if (outcome.kind == Outcome::Open && outcome.cause != Cause::WorkerMissing) {
    method = Method::Z3;
    outcome = getZ3().search(problem, goalIs, deadline);
  }
  if (outcome.kind == Outcome::Open)
    spent += Worker::Clock::now() - start;
  if (outcome.kind == Outcome::Found && !goalIs) {
    start = Worker::Clock::now();
    outcome.values = simplify(problem, form, outcome.values, /*mayAsk=*/true, deadline);
    // A counterexample that does not get smaller is an answer, but took as long.
    if (Worker::Clock::now() >= deadline)
      spent += Worker::Clock::now() - start;
  }
  return {outcome, method};
}

SmallVector<int64_t, 8> Solver::Impl::simplify(const Problem &problem, const NormalForm &form,
                                               SmallVector<int64_t, 8> values, bool mayAsk,
                                               Worker::Clock::time_point deadline) {
  if (!options.smtOnly) {
    if (auto simplest = findSimplest(problem, form, /*goalIs=*/false, values))
      return *simplest;
    values = descend(problem, form, /*goalIs=*/false, values);
    if (auto simplest = findSimplest(problem, form, /*goalIs=*/false, values))
      return *simplest;
  }
  return mayAsk && !options.noSmt ? getZ3().minimize(problem, /*goalIs=*/false, values, deadline) : values;
}

Answer Solver::Impl::decide(const Problem &problem) {
  auto least = [&](StringRef name) { return problem.getLeast(name); };
  const NormalForm &form = getNormalForm(problem);
  // Facts hardly ever contradict each other, and small values show it at once.
  if (!problem.goal && !options.smtOnly && !form.isContradictory())
    if (Search small = enumerate(problem, form, /*goalIs=*/false); small.found)
      return {Verdict::MayFail, Method::Enumeration, Cause::None, toAssignment(problem, *small.found)};
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

//===----------------------------------------------------------------------===//
// What messages say
//===----------------------------------------------------------------------===//

SmallVector<PredAttr> Solver::explain(const Query &query, const Answer &answer) {
  auto least = [&](StringRef name) { return query.least(name).value_or(INT64_MIN); };
  llvm::SmallDenseSet<PredAttr> seen;
  SmallVector<PredAttr> related;
  for (PredAttr fact : impl->makeProblem(query.facts, query.goal, query.least).facts)
    if (!decide(fact, least).value_or(false) && seen.insert(fact).second)
      related.push_back(fact);
  auto isSame = [&](ArrayRef<PredAttr> facts) {
    Problem problem = impl->makeProblem(facts, query.goal, query.least);
    auto leastHere = [&](StringRef name) { return problem.getLeast(name); };
    const NormalForm &form = impl->getNormalForm(problem);
    bool never = form.follows(negate(query.goal), leastHere);
    if (answer.verdict == Verdict::NeverHolds && !never && !enumerate(problem, form, /*goalIs=*/true).exhaustive)
      return false;
    Search search = enumerate(problem, form, /*goalIs=*/false);
    if (!search.found)
      return false;
    SmallVector<int64_t, 8> values = *search.found;
    if (!search.isSimplest)
      values = impl->simplify(problem, form, values, /*mayAsk=*/false, {});
    return llvm::all_of(llvm::zip_equal(problem.names, values), [&](auto entry) {
      return llvm::is_contained(answer.counterexample, std::pair(std::get<0>(entry).str(), std::get<1>(entry)));
    });
  };
  // With many facts this would take its time, and no message tells of all of them.
  constexpr size_t kMaxFacts = 32;
  if (related.empty() || related.size() > kMaxFacts || answer.verdict == Verdict::Undecided || !isSame(related))
    return related;
  // What was learnt last goes first: it may follow from what came before.
  for (size_t index = related.size(); index-- > 0;) {
    SmallVector<PredAttr> without(related);
    without.erase(without.begin() + index);
    if (isSame(without))
      related = std::move(without);
  }
  return related;
}

/// The relation without what stands on both sides, as a summand or as a factor that is a number
/// or made of names that are at least 1; null if there is nothing of the kind.
static PredAttr withoutCommon(PredAttr relation, ValueLookup least) {
  MLIRContext *context = relation.getContext();
  DimAttr difference =
      relation.getPreds().empty() ? subDims(relation.getDims()[1], relation.getDims()[0]) : DimAttr();
  if (!difference || difference.getTerms().empty())
    return {};
  DimAttr reduced = withoutCommonFactor(difference, [&](StringRef name) { return least(name).value_or(INT64_MIN); });
  // Each side gets what is positive on it.
  SmallVector<DimTermAttr> left, right;
  for (DimTermAttr term : reduced.getTerms())
    if (term.getCoefficient() < 0 && term.getCoefficient() != INT64_MIN)
      left.push_back(DimTermAttr::get(context, -term.getCoefficient(), term.getFactors()));
    else
      right.push_back(term);
  PredAttr result = makeRelation(relation.getKind(), DimAttr::get(context, left), DimAttr::get(context, right));
  return result == relation ? PredAttr() : result;
}

namespace {
/// Small values that satisfy the facts, with the truth of the goal there.
class Samples {
public:
  explicit Samples(const Problem &problem) {
    constexpr double kMaxSamples = 512;
    Program program(problem, {});
    size_t inputs = program.getNumInputs();
    int64_t each = inputs == 0 ? 1 : static_cast<int64_t>(std::pow(kMaxSamples, 1.0 / inputs));
    SmallVector<int64_t, 8> steps(inputs, 0);
    for (size_t input = 0; input < inputs; ++input)
      names.push_back(program.getInput(input));
    for (bool more = each > 1; more;) {
      SmallVector<int64_t, 8> values;
      for (auto [name, step] : llvm::zip_equal(names, steps)) {
        int64_t least = problem.getLeast(name);
        values.push_back(least > INT64_MAX - step ? least : step + (least == INT64_MIN ? -each / 2 : least));
      }
      for (bool truth : {false, true})
        if (program.accepts(values, truth))
          points.push_back({values, truth});
      more = false;
      for (int64_t &step : steps) {
        if (++step < each) {
          more = true;
          break;
        }
        step = 0;
      }
    }
  }

  /// Whether the predicate is true where the goal is.
  bool agree(PredAttr pred) const {
    return llvm::all_of(points, [&](auto &point) {
      return evaluate(pred, [&](StringRef name) -> std::optional<int64_t> {
               auto it = llvm::find(names, name);
               return it == names.end() ? std::nullopt : std::optional(point.first[it - names.begin()]);
             }).value_or(point.second) == point.second;
    });
  }

private:
  SmallVector<StringRef, 8> names;
  SmallVector<std::pair<SmallVector<int64_t, 8>, bool>> points;
};
} // namespace

PredAttr Solver::suggest(const Query &query, const Answer &answer) {
  MLIRContext *context = impl->context;
  SmallVector<PredAttr> candidates;
  NameSet names;
  collectNames(query.goal, names);
  // The same in fewer words, whether or not that can be proved.
  PredAttr reduced = withoutCommon(query.goal, query.least);
  if (reduced)
    candidates.push_back(reduced);
  bool isPolynomial = query.goal.getPreds().empty() && llvm::all_of(query.goal.getDims(), hasOnlyNames);
  if (!isPolynomial || names.size() == 1) {
    // A bound of one name beyond the value with which it fails.
    constexpr int64_t kMaxBound = 8;
    for (auto &[name, value] : answer.counterexample)
      if (names.contains(StringRef(name)))
        for (bool isLower : {true, false})
          for (int64_t step = 1; step <= kMaxBound; ++step)
            if (std::optional<int64_t> end = llvm::checkedAdd(value, isLower ? step : -step)) {
              DimAttr bound = DimAttr::getConstant(context, *end), size = DimAttr::getName(context, name);
              candidates.push_back(isLower ? makeRelation(PredKind::LE, bound, size)
                                           : makeRelation(PredKind::LE, size, bound));
            }
  }
  if (!isPolynomial) {
    // A remainder by a divisor that occurs.
    constexpr int64_t kMaxDivisor = 4096, kMaxRemainder = 8;
    ConstantSet constants;
    collectConstants(query.goal, constants);
    SmallVector<int64_t> divisors;
    for (int64_t constant : constants)
      if (magnitude(constant) >= 2 && magnitude(constant) <= static_cast<uint64_t>(kMaxDivisor))
        divisors.push_back(static_cast<int64_t>(magnitude(constant)));
    llvm::sort(divisors);
    divisors.erase(llvm::unique(divisors), divisors.end());
    for (StringRef name : names)
      for (int64_t divisor : divisors) {
        DimAttr remainder = modDims(DimAttr::getName(context, name), DimAttr::getConstant(context, divisor));
        for (int64_t value = 0; value < std::min(divisor, kMaxRemainder); ++value)
          candidates.push_back(makeRelation(PredKind::EQ, remainder, DimAttr::getConstant(context, value)));
      }
  }
  auto with = [&](PredAttr given) {
    SmallVector<PredAttr> facts(query.facts);
    facts.push_back(given);
    return facts;
  };
  auto isConsistent = [&](PredAttr candidate) {
    return satisfiable(with(candidate), query.least).verdict == Verdict::Proved;
  };
  auto isSufficient = [&](PredAttr candidate) {
    Problem problem = impl->makeProblem(with(candidate), query.goal, query.least);
    return impl->getNormalForm(problem).follows(query.goal, [&](StringRef name) { return problem.getLeast(name); });
  };
  // One that says more than it has to would lock out sizes for which all is well.
  auto isNecessary = [&](PredAttr candidate) {
    return candidate == reduced || solve({with(query.goal), candidate, query.least}).verdict == Verdict::Proved;
  };
  // Both are false where the goal fails and true where it holds: small values tell most candidates off.
  Problem problem = impl->makeProblem(query.facts, query.goal, query.least);
  Samples samples(problem);
  PredAttr shortest = query.goal;
  size_t length = toString(query.goal).size();
  for (PredAttr candidate : candidates) {
    if (!candidate)
      continue;
    size_t size = toString(candidate).size();
    if (size >= length || !samples.agree(candidate) || !isSufficient(candidate) || !isNecessary(candidate) || !isConsistent(candidate))
      continue;
    shortest = candidate;
    length = size;
  }
  return shortest != query.goal || isConsistent(shortest) ? shortest : PredAttr();
}

} // namespace kina::solver
