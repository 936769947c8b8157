//===- Enumeration.cpp - Small values, in the order of their sum ----------===//

#include "Enumeration.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace kina::solver {

/// Values of one name that are tried, from its least; evaluations all together.
static constexpr unsigned kBox = 8;
static constexpr unsigned kMaxEvaluations = 20'000;
/// A name with both bounds in the facts is tried with all its values if there are no more.
static constexpr int64_t kMaxFinite = 256;
/// Evaluations to see that nothing is simpler than what was found.
static constexpr unsigned kMaxSimpler = 600'000;
/// With so many the evaluations last for no more than a few sums.
static constexpr size_t kManyInputs = 12;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

Program::Program(const Problem &problem, ArrayRef<NormalForm::Rule> rules) : rules(rules) {
  for (auto [index, rule] : llvm::enumerate(rules))
    ruleOf[rule.name] = index;
  auto isComputed = [&](StringRef name) { return ruleOf.contains(name); };
  NameSet names;
  for (StringRef name : problem.names)
    if (!isComputed(name))
      names.insert(name);
  for (const NormalForm::Rule &rule : rules) {
    NameSet used;
    collectNames(rule.value, used);
    for (StringRef name : used)
      if (!isComputed(name))
        names.insert(name);
  }
  inputs.assign(names.begin(), names.end());
  order.resize(inputs.size() + 1);
  checks.resize(inputs.size() + 1);
  for (auto [index, name] : llvm::enumerate(inputs)) {
    named[name] = code.size();
    code.push_back({Code::Input});
    registers.push_back(0);
    levelOf.push_back(index + 1);
  }
  // A name that a rule computes: the value of the rule, which must not be below the least.
  for (auto [name, least] : llvm::zip_equal(problem.names, problem.least)) {
    auto atom = DimAtomAttr::get(problem.facts.empty() ? problem.goal.getContext() : problem.facts[0].getContext(),
                                 AtomKind::Name, name, {});
    unsigned reg = compile(atom);
    nameRegister.push_back(reg);
    if (least != INT64_MIN)
      checks[levelOf[reg]].push_back({reg, least});
  }
  for (PredAttr fact : problem.facts) {
    unsigned reg = compile(fact);
    checks[levelOf[reg]].push_back({reg, 1});
  }
  if (problem.goal)
    goalRegister = compile(problem.goal);
}

unsigned Program::emit(Code op, unsigned a, unsigned b, unsigned level) {
  unsigned reg = code.size();
  code.push_back({op, a, b});
  registers.push_back(0);
  levelOf.push_back(level);
  order[level].push_back(reg);
  return reg;
}

unsigned Program::emitConstant(int64_t value) {
  unsigned reg = code.size();
  code.push_back({Code::Constant});
  registers.push_back(value);
  levelOf.push_back(0);
  return reg;
}

unsigned Program::compile(DimAtomAttr atom) {
  if (auto it = known.find(atom); it != known.end())
    return it->second;
  unsigned reg;
  if (atom.getKind() == AtomKind::Name) {
    if (auto it = named.find(atom.getName()); it != named.end()) {
      reg = it->second;
    } else {
      reg = compile(rules[ruleOf.find(atom.getName())->second].value);
      named[atom.getName()] = reg;
    }
  } else {
    Code op = atom.getKind() == AtomKind::FloorDiv ? Code::FloorDiv
              : atom.getKind() == AtomKind::Min    ? Code::Min
                                                   : Code::Max;
    reg = compile(atom.getArgs()[0]);
    for (DimAttr arg : atom.getArgs().drop_front()) {
      unsigned next = compile(arg);
      reg = emit(op, reg, next, std::max(levelOf[reg], levelOf[next]));
    }
  }
  return known[atom] = reg;
}

unsigned Program::compile(DimAttr dim) {
  if (auto it = known.find(dim); it != known.end())
    return it->second;
  std::optional<unsigned> sum;
  for (DimTermAttr term : dim.getTerms()) {
    std::optional<unsigned> product;
    if (term.getCoefficient() != 1 || term.getFactors().empty())
      product = emitConstant(term.getCoefficient());
    for (DimAtomAttr atom : term.getFactors()) {
      unsigned next = compile(atom);
      product = product ? emit(Code::Mul, *product, next, std::max(levelOf[*product], levelOf[next])) : next;
    }
    sum = sum ? emit(Code::Add, *sum, *product, std::max(levelOf[*sum], levelOf[*product])) : *product;
  }
  unsigned reg = sum ? *sum : emitConstant(0);
  return known[dim] = reg;
}

unsigned Program::compile(PredAttr pred) {
  if (auto it = known.find(pred); it != known.end())
    return it->second;
  auto binary = [&](Code op, unsigned a, unsigned b) { return emit(op, a, b, std::max(levelOf[a], levelOf[b])); };
  unsigned reg;
  switch (pred.getKind()) {
  case PredKind::And:
  case PredKind::Or: {
    Code op = pred.getKind() == PredKind::And ? Code::And : Code::Or;
    reg = compile(pred.getPreds()[0]);
    for (PredAttr part : pred.getPreds().drop_front()) {
      unsigned next = compile(part);
      reg = binary(op, reg, next);
    }
    break;
  }
  case PredKind::Not:
    reg = compile(pred.getPreds()[0]);
    reg = binary(Code::Not, reg, reg);
    break;
  default: {
    Code op = pred.getKind() == PredKind::EQ   ? Code::EQ
              : pred.getKind() == PredKind::NE ? Code::NE
              : pred.getKind() == PredKind::LE ? Code::LE
                                               : Code::LT;
    unsigned a = compile(pred.getDims()[0]), b = compile(pred.getDims()[1]);
    reg = binary(op, a, b);
  }
  }
  return known[pred] = reg;
}

bool Program::run(unsigned level, bool goalIs) {
  for (unsigned reg : order[level]) {
    const Instruction &instruction = code[reg];
    int64_t a = registers[instruction.a], b = registers[instruction.b];
    int64_t &result = registers[reg];
    switch (instruction.code) {
    case Code::Add:
      if (llvm::AddOverflow(a, b, result))
        return overflow = true, false;
      break;
    case Code::Mul:
      if (llvm::MulOverflow(a, b, result))
        return overflow = true, false;
      break;
    case Code::FloorDiv:
      if (b < 1)
        return false;
      result = llvm::divideFloorSigned(a, b);
      break;
    case Code::Min:
      result = std::min(a, b);
      break;
    case Code::Max:
      result = std::max(a, b);
      break;
    case Code::EQ:
      result = a == b;
      break;
    case Code::NE:
      result = a != b;
      break;
    case Code::LE:
      result = a <= b;
      break;
    case Code::LT:
      result = a < b;
      break;
    case Code::And:
      result = a & b;
      break;
    case Code::Or:
      result = a | b;
      break;
    case Code::Not:
      result = !a;
      break;
    case Code::Input:
    case Code::Constant:
      break;
    }
  }
  for (const Check &check : checks[level])
    if (registers[check.reg] < check.least)
      return false;
  if (!goalRegister)
    return !goalIs;
  return levelOf[*goalRegister] != level || static_cast<bool>(registers[*goalRegister]) == goalIs;
}

bool Program::start(bool goalIs) { return run(0, goalIs); }

bool Program::assign(size_t input, int64_t value, bool goalIs) {
  registers[input] = value;
  return run(input + 1, goalIs);
}

bool Program::accepts(ArrayRef<int64_t> values, bool goalIs) {
  if (!start(goalIs))
    return false;
  for (auto [index, value] : llvm::enumerate(values))
    if (!assign(index, value, goalIs))
      return false;
  return true;
}

SmallVector<int64_t, 8> Program::getValues() const {
  SmallVector<int64_t, 8> values;
  for (size_t name = 0; name < nameRegister.size(); ++name)
    values.push_back(getValue(name));
  return values;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

/// Values of one input, simplest first, with how far each is from the simplest.
struct Candidates {
  SmallVector<std::pair<uint64_t, int64_t>> values;
  /// There are no others.
  bool complete = false;

  void finish() {
    llvm::sort(values, [](auto &a, auto &b) { return isSimpler(a.second, b.second); });
    values.erase(llvm::unique(values), values.end());
    uint64_t simplest = values.empty() ? 0 : magnitude(values.front().second);
    for (auto &[cost, value] : values)
      cost = magnitude(value) - simplest;
  }
};

class Enumerator {
public:
  Enumerator(const Problem &problem, const NormalForm &form, ArrayRef<NormalForm::Rule> rules, bool goalIs)
      : problem(problem), goalIs(goalIs), program(problem, rules) {
    for (size_t input = 0; input < program.getNumInputs(); ++input) {
      StringRef name = program.getInput(input);
      auto it = llvm::find(problem.names, name);
      ownName.push_back(it != problem.names.end());
      int64_t least = ownName.back() ? problem.least[it - problem.names.begin()] : INT64_MIN;
      low.push_back(std::max(least, form.getLeast(name).value_or(INT64_MIN)));
      high.push_back(INT64_MAX);
    }
    findUpperBounds();
  }

  /// Whether all inputs are names of the problem.
  bool hasOwnInputs() const { return llvm::all_of(ownName, [](bool own) { return own; }); }

  /// What is simpler than the given values, or they; nothing if too many have to be tried.
  std::optional<SmallVector<int64_t, 8>> simplify(ArrayRef<int64_t> values) {
    if (!program.start(goalIs))
      return std::nullopt;
    best = SmallVector<int64_t, 8>(values);
    bestTotal = totalOf(values);
    uint64_t base = getBase();
    // Each input may be as far from its simplest value as the sum of all allows.
    if (bestTotal < base || !isFew(bestTotal - base))
      return std::nullopt;
    int64_t span = static_cast<int64_t>(bestTotal - base);
    for (size_t input = 0; input < low.size(); ++input) {
      int64_t simplest = std::max<int64_t>(low[input], 0);
      if (simplest > INT64_MAX - span)
        return std::nullopt;
      Candidates &list = candidates.emplace_back();
      for (int64_t value = std::max(low[input], -span); value <= std::min(high[input], simplest + span); ++value)
        list.values.push_back({0, value});
      if (list.values.empty())
        return std::nullopt;
      list.finish();
    }
    limit = UINT_MAX;
    computeReach();
    for (uint64_t sum = 0; base + sum <= bestTotal; ++sum)
      (void)descend(0, sum, base);
    return best;
  }

  Search run() {
    Search result;
    if (!program.start(goalIs)) {
      result.exhaustive = !program.overflowed();
      return result;
    }
    candidates.assign(program.getNumInputs(), {});
    for (size_t input = 0; input < candidates.size(); ++input)
      addBox(input);
    bool complete = llvm::all_of(candidates, [](const Candidates &list) { return list.complete; });
    searchBySum();
    result.found = best;
    // No input of a simpler one would lie beyond the box.
    result.isSimplest = best && hasOwnInputs() && bestTotal - getBase() < kBox;
    if (best)
      return result;
    if (complete && !exhausted) {
      result.exhaustive = !program.overflowed();
      return result;
    }
    if (addSeeds()) {
      exhausted = false;
      evaluations = 0;
      searchBySum();
      result.found = best;
    }
    return result;
  }

private:
  static uint64_t totalOf(ArrayRef<int64_t> values) {
    uint64_t total = 0;
    for (int64_t value : values)
      total = llvm::SaturatingAdd(total, magnitude(value));
    return total;
  }

  /// The sum of all inputs at their simplest.
  uint64_t getBase() const {
    uint64_t base = 0;
    for (int64_t value : low)
      base = llvm::SaturatingAdd(base, value > 0 ? magnitude(value) : 0);
    return base;
  }

  /// Whether there are not too many values of the inputs that lie together `span` beyond the simplest
  /// ones, at most: span + n over n, and twice as many for each input that may be negative.
  bool isFew(uint64_t span) const {
    double count = 1;
    for (size_t input = 0; input < low.size(); ++input)
      count *= (static_cast<double>(span) + input + 1) / (input + 1) * (low[input] < 0 ? 2 : 1);
    return count <= kMaxSimpler;
  }

  /// The largest cost of the inputs from each on.
  void computeReach() {
    reach.assign(candidates.size() + 1, 0);
    for (size_t input = candidates.size(); input-- > 0;)
      reach[input] = llvm::SaturatingAdd(reach[input + 1], candidates[input].values.back().first);
  }

  /// `N <= c` in the facts; a search through all values is then a proof.
  void findUpperBounds() {
    for (PredAttr fact : problem.facts) {
      DimAttr slack = getSlack(fact);
      if (!slack || slack.getTerms().empty() || slack.getTerms().size() > 2)
        continue;
      DimTermAttr term = slack.getTerms()[0];
      if (term.getCoefficient() >= 0 || term.getFactors().size() != 1 ||
          (slack.getTerms().size() == 2 && !slack.getTerms()[1].getFactors().empty()))
        continue;
      int64_t shift = slack.getTerms().size() == 2 ? slack.getTerms()[1].getCoefficient() : 0;
      for (size_t input = 0; input < program.getNumInputs(); ++input)
        if (term.getFactors()[0].getKind() == AtomKind::Name && term.getFactors()[0].getName() == program.getInput(input) &&
            term.getCoefficient() != INT64_MIN)
          high[input] = std::min(high[input], llvm::divideFloorSigned(shift, -term.getCoefficient()));
    }
  }

  void addBox(size_t input) {
    Candidates &list = candidates[input];
    auto add = [&](int64_t value) {
      if (low[input] <= value && value <= high[input])
        list.values.push_back({0, value});
    };
    bool finite = low[input] != INT64_MIN && high[input] != INT64_MAX &&
                  static_cast<__int128>(high[input]) - low[input] < kMaxFinite;
    list.complete = finite;
    if (finite) {
      for (int64_t value = low[input]; value <= high[input]; ++value)
        add(value);
    } else if (low[input] >= 0) {
      for (int64_t step = 0; step < static_cast<int64_t>(kBox) && low[input] <= INT64_MAX - step; ++step)
        add(low[input] + step);
    } else {
      int64_t first = low[input] > -static_cast<int64_t>(kBox) ? low[input] : -static_cast<int64_t>(kBox);
      for (int64_t value = first; value <= static_cast<int64_t>(kBox); ++value)
        add(value);
    }
    list.finish();
  }

  /// Adds values near the numbers that occur; false if there are none beyond the box.
  bool addSeeds() {
    ConstantSet constants, seeds;
    for (PredAttr fact : problem.facts)
      collectConstants(fact, constants);
    if (problem.goal)
      collectConstants(problem.goal, constants);
    auto add = [&](int64_t value) {
      for (int64_t shift : {0, 1, -1})
        if (std::optional<int64_t> near = llvm::checkedAdd(value, shift))
          seeds.insert(*near);
    };
    SmallVector<int64_t> sizes;
    for (int64_t value : constants)
      if (magnitude(value) > 1 && value != INT64_MIN)
        sizes.push_back(value < 0 ? -value : value);
    llvm::sort(sizes);
    sizes.erase(llvm::unique(sizes), sizes.end());
    for (int64_t size : sizes)
      add(size);
    // c of `k*N = c`.
    for (int64_t size : sizes)
      for (int64_t divisor : sizes)
        if (divisor < size && size / divisor > 1)
          add(size / divisor);
    bool beyond = false;
    // As many of each input as the evaluations last for.
    size_t inputs = std::max<size_t>(1, candidates.size()), limit = 2;
    while (std::pow(limit + 1, inputs) < kMaxEvaluations && limit < 64)
      ++limit;
    for (auto [input, list] : llvm::enumerate(candidates)) {
      if (list.complete)
        continue;
      size_t box = std::max<size_t>(2, limit / 2);
      if (list.values.size() > box)
        list.values.truncate(box);
      for (int64_t seed : seeds)
        for (int64_t value : {seed, -seed})
          if (list.values.size() < limit && low[input] <= value && value <= high[input] &&
              llvm::none_of(list.values, [&](auto &entry) { return entry.second == value; })) {
            list.values.push_back({0, value});
            beyond = true;
          }
      list.finish();
    }
    return beyond;
  }

  void searchBySum() {
    size_t inputs = candidates.size();
    if (llvm::any_of(candidates, [](const Candidates &list) { return list.values.empty(); }))
      return;
    computeReach();
    // What the names that are inputs add up to at least, and the rest of the sums can be of
    // the names that the rules brought in.
    uint64_t base = 0, others = 0;
    for (size_t input = 0; input < inputs; ++input)
      if (ownName[input])
        base = llvm::SaturatingAdd(base, magnitude(candidates[input].values.front().second));
      else
        others = llvm::SaturatingAdd(others, candidates[input].values.back().first);
    // All sums that there are.
    SmallVector<uint64_t> sums{0};
    for (const Candidates &list : candidates) {
      llvm::SetVector<uint64_t> next;
      for (uint64_t sum : sums)
        for (auto &[cost, value] : list.values)
          next.insert(llvm::SaturatingAdd(sum, cost));
      sums.assign(next.begin(), next.end());
      llvm::sort(sums);
      // The simplest come first; the others would not be reached.
      size_t most = inputs > kManyInputs ? 32 : 4096;
      if (sums.size() > most)
        sums.truncate(most);
    }
    for (uint64_t sum : sums)
      if ((best && llvm::SaturatingAdd(base, sum) > llvm::SaturatingAdd(bestTotal, others)) || !descend(0, sum, base))
        return;
  }

  /// All values of the inputs from `input` on whose costs add up to `sum`, the names among the
  /// inputs adding up to `total` at least; false when the evaluations are used up.
  bool descend(size_t input, uint64_t sum, uint64_t total) {
    if (input == candidates.size()) {
      consider();
      return true;
    }
    bool isLast = input + 1 == candidates.size();
    ArrayRef<std::pair<uint64_t, int64_t>> values = candidates[input].values;
    if (isLast)
      values = values.drop_front(
          llvm::lower_bound(values, sum, [](auto &entry, uint64_t least) { return entry.first < least; }) -
          values.begin());
    for (auto &[cost, value] : values) {
      uint64_t with = ownName[input] ? llvm::SaturatingAdd(total, cost) : total;
      if (cost > sum || (best && with > bestTotal))
        break;
      if (sum - cost > reach[input + 1])
        continue;
      if (++evaluations > limit) {
        exhausted = true;
        return false;
      }
      if (program.assign(input, value, goalIs) && !descend(input + 1, sum - cost, with))
        return false;
    }
    return true;
  }

  void consider() {
    SmallVector<int64_t, 8> values = program.getValues();
    if (best && !isSimpler(values, *best))
      return;
    bestTotal = totalOf(values);
    best = std::move(values);
  }

  const Problem &problem;
  bool goalIs;
  Program program;
  /// Of each input: whether it is a name of the problem, and its bounds.
  SmallVector<bool> ownName;
  SmallVector<int64_t> low, high;
  SmallVector<Candidates> candidates;
  SmallVector<uint64_t> reach;
  unsigned evaluations = 0, limit = kMaxEvaluations;
  bool exhausted = false;
  std::optional<SmallVector<int64_t, 8>> best;
  uint64_t bestTotal = 0;
};

} // namespace

Search enumerate(const Problem &problem, const NormalForm &form, bool goalIs) {
  if (!problem.goal && problem.facts.empty())
    return {SmallVector<int64_t, 8>{}, false};
  return Enumerator(problem, form, form.getRules(), goalIs).run();
}

std::optional<SmallVector<int64_t, 8>> findSimplest(const Problem &problem, const NormalForm &form, bool goalIs,
                                                    ArrayRef<int64_t> values) {
  if (problem.names.empty())
    return SmallVector<int64_t, 8>(values);
  // What the rules brought in is no part of the sum.
  Enumerator enumerator(problem, form, form.getRules(), goalIs);
  if (enumerator.hasOwnInputs())
    return enumerator.simplify(values);
  return Enumerator(problem, form, {}, goalIs).simplify(values);
}

} // namespace kina::solver
