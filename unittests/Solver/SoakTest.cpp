//===- SoakTest.cpp - Random questions, three ways to answer them ---------===//
//
// The stages, Z3 alone and brute force over small values must not disagree. How many
// questions and which: KINA_SOAK_LINEAR, KINA_SOAK_RESHAPE, KINA_SOAK_SEED.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace mlir;
using namespace kina;
using namespace kina::solver;

namespace {

unsigned setting(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

struct Question {
  SmallVector<PredAttr> facts;
  PredAttr goal;
};

class SoakTest : public SolverFixture {
protected:
  DimAttr number(int64_t value) { return DimAttr::getConstant(&context, value); }
  DimAttr name(unsigned index) { return DimAttr::getName(&context, std::string(1, static_cast<char>('A' + index))); }
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  DimAttr linear(unsigned depth) {
    DimAttr sum = number(pick(-6, 6));
    for (unsigned count = pick(1, 2); count > 0; --count)
      sum = addDims(sum, mulDims(number(pick(-3, 4)), name(pick(0, names - 1))));
    if (depth == 0)
      return sum;
    switch (pick(0, 7)) {
    case 0:
      return addDims(sum, floorDivDims(linear(depth - 1), number(pick(2, 6))));
    case 1:
      return addDims(sum, modDims(linear(depth - 1), number(pick(2, 6))));
    case 2:
      return minDims({sum, linear(depth - 1)});
    case 3:
      return maxDims({sum, linear(depth - 1)});
    default:
      return sum;
    }
  }

  PredAttr predicate(unsigned depth) {
    if (depth > 0 && pick(0, 4) == 0)
      switch (pick(0, 2)) {
      case 0:
        return makeAnd({predicate(depth - 1), predicate(depth - 1)});
      case 1:
        return makeOr({predicate(depth - 1), predicate(depth - 1)});
      default:
        return makeNot(predicate(depth - 1));
      }
    static constexpr PredKind kinds[] = {PredKind::EQ, PredKind::LE, PredKind::LE, PredKind::LT, PredKind::NE};
    return makeRelation(kinds[pick(0, 4)], linear(1), linear(1));
  }

  Question linearQuestion() {
    names = pick(1, 3);
    Question question;
    for (unsigned count = pick(0, 3); count > 0; --count)
      question.facts.push_back(predicate(1));
    question.goal = predicate(1);
    // Half of the goals follow in some way from the facts.
    if (!question.facts.empty() && pick(0, 1) && question.facts[0].getKind() == PredKind::LE)
      question.goal = makeRelation(PredKind::LE, question.facts[0].getDims()[0],
                                   addDims(question.facts[0].getDims()[1], linear(0)));
    return question;
  }

  /// The number of elements before and after a reshape, with factors that facts relate.
  Question reshapeQuestion() {
    names = pick(2, 4);
    Question question;
    auto factor = [&]() -> DimAttr {
      switch (pick(0, 4)) {
      case 0:
        return number(pick(1, 6));
      case 1:
        return addDims(name(pick(0, names - 1)), number(pick(0, 2)));
      case 2:
        return floorDivDims(mulDims(name(pick(0, names - 1)), number(pick(1, 4))), number(pick(2, 4)));
      default:
        return name(pick(0, names - 1));
      }
    };
    for (unsigned count = pick(0, 2); count > 0; --count)
      switch (pick(0, 3)) {
      case 0:
        question.facts.push_back(makeRelation(PredKind::EQ, name(0), mulDims(name(pick(1, names - 1)), factor())));
        break;
      case 1:
        question.facts.push_back(makeRelation(PredKind::EQ, modDims(name(pick(0, names - 1)), number(pick(2, 4))), number(0)));
        break;
      case 2:
        question.facts.push_back(
            makeRelation(PredKind::EQ, modDims(name(0), name(1)), number(0)));
        break;
      default:
        question.facts.push_back(makeRelation(PredKind::LE, name(pick(0, names - 1)), name(pick(0, names - 1))));
      }
    DimAttr a = factor(), b = factor(), c = factor();
    DimAttr before = mulDims(a, mulDims(b, c));
    DimAttr after = pick(0, 1) ? mulDims(mulDims(c, a), pick(0, 2) ? b : factor()) : mulDims(factor(), factor());
    // The same with a name replaced by what a fact says of it.
    if (!question.facts.empty() && question.facts[0].getKind() == PredKind::EQ && pick(0, 1))
      if (StringRef replaced = question.facts[0].getDims()[0].getSingleName(); !replaced.empty())
        after = substitute(before, [&](StringRef text) { return text == replaced ? question.facts[0].getDims()[1] : DimAttr(); });
    question.goal = makeRelation(pick(0, 3) ? PredKind::EQ : PredKind::LE, before, after);
    return question;
  }

  /// Every divisor is at least 1 and all is defined.
  std::optional<bool> truth(PredAttr pred, ValueLookup lookup) {
    SmallVector<PredAttr> open{pred};
    while (!open.empty()) {
      PredAttr next = open.pop_back_val();
      for (DimAttr dim : next.getDims()) {
        llvm::SetVector<DimAttr> divisors;
        collectDivisors(dim, divisors);
        for (DimAttr divisor : divisors)
          if (evaluate(divisor, lookup).value_or(0) < 1)
            return std::nullopt;
      }
      llvm::append_range(open, next.getPreds());
    }
    return evaluate(pred, lookup);
  }

  /// The goal under these values, nothing if a fact fails.
  std::optional<bool> goalUnder(const Question &question, const std::map<std::string, int64_t> &values) {
    auto lookup = [&](StringRef name) -> std::optional<int64_t> {
      auto it = values.find(name.str());
      return it == values.end() ? std::nullopt : std::optional(it->second);
    };
    for (PredAttr fact : question.facts)
      if (!truth(fact, lookup).value_or(false))
        return std::nullopt;
    return truth(question.goal, lookup);
  }

  /// What is wrong with the answer; empty if nothing is.
  std::string complain(const Question &question, const Answer &answer) {
    bool refuted = answer.verdict == Verdict::MayFail || answer.verdict == Verdict::NeverHolds;
    if (refuted) {
      std::map<std::string, int64_t> values;
      for (unsigned index = 0; index < 5; ++index)
        values[std::string(1, static_cast<char>('A' + index))] = 1;
      for (auto &[name, value] : answer.counterexample) {
        if (value < 1)
          return "a value is below the least";
        values[name] = value;
      }
      // Facts without a name of the goal's do not count.
      Question cone = question;
      cone.facts.clear();
      for (PredAttr fact : question.facts)
        splitConjunction(fact, cone.facts);
      llvm::erase_if(cone.facts, [&](PredAttr fact) {
        NameSet used;
        collectNames(fact, used);
        return llvm::none_of(used, [&](StringRef name) {
          return llvm::any_of(answer.counterexample, [&](auto &entry) { return entry.first == name; });
        });
      });
      if (goalUnder(cone, values) != std::optional(false))
        return "the counterexample is none";
    }
    constexpr int64_t kSide = 9;
    std::map<std::string, int64_t> values;
    int64_t total = 1;
    for (unsigned index = 0; index < names; ++index)
      total *= kSide;
    for (int64_t code = 0; code < total; ++code) {
      int64_t left = code;
      for (unsigned index = 0; index < names; ++index, left /= kSide)
        values[std::string(1, static_cast<char>('A' + index))] = 1 + left % kSide;
      std::optional<bool> goal = goalUnder(question, values);
      if (!goal)
        continue;
      if (!*goal && answer.verdict == Verdict::Proved)
        return "proved, and it fails";
      if (*goal && answer.verdict == Verdict::NeverHolds)
        return "never, and it holds";
    }
    return {};
  }

  void describe(const Question &question, const Answer &answer, const std::string &what) {
    std::cerr << what << ": " << text(answer) << "\n";
    for (PredAttr fact : question.facts)
      std::cerr << "  given " << toString(fact) << "\n";
    std::cerr << "  goal " << toString(question.goal) << "\n";
  }

  Answer answerTo(Solver &solver, const Question &question) {
    return solver.solve({question.facts, question.goal, [](StringRef) { return std::optional<int64_t>(1); }});
  }

  /// Returns how many answers are wrong.
  unsigned soak(unsigned count, llvm::function_ref<Question()> make, const char *title) {
    unsigned seed = setting("KINA_SOAK_SEED", 1);
    random.seed(seed);
    solver = std::make_unique<Solver>(&context);
    SolverOptions alone;
    alone.smtOnly = true;
    Solver z3(&context, alone);
    unsigned wrong = 0, undecided[2] = {};
    for (unsigned index = 0; index < count; ++index) {
      Question question = make();
      if (!question.goal || llvm::is_contained(question.facts, PredAttr()))
        continue;
      Answer staged = answerTo(*solver, question), single = answerTo(z3, question);
      for (auto &[answer, which] : {std::pair(staged, "stages"), std::pair(single, "Z3 alone")})
        if (std::string problem = complain(question, answer); !problem.empty()) {
          describe(question, answer, std::string(which) + ", question " + std::to_string(index) + ", " + problem);
          ++wrong;
        }
      undecided[0] += staged.verdict == Verdict::Undecided;
      undecided[1] += single.verdict == Verdict::Undecided;
      bool bothKnown = staged.verdict != Verdict::Undecided && single.verdict != Verdict::Undecided;
      if (bothKnown && (staged.verdict == Verdict::Proved) != (single.verdict == Verdict::Proved)) {
        describe(question, staged, "Z3 alone disagrees: " + text(single));
        ++wrong;
      }
    }
    Statistics statistics = solver->getStatistics();
    std::cout << title << ": seed " << seed << ", " << count << " questions, ";
    static const char *methods[] = {"normal form", "memo", "enumeration", "Presburger", "Z3", "undecided"};
    for (unsigned method = 0; method < 6; ++method)
      std::cout << statistics.answered[method] << " " << methods[method] << ", ";
    llvm::sort(statistics.times);
    if (!statistics.times.empty())
      std::cout << "median " << statistics.times[statistics.times.size() / 2] / 1000 << " us, largest "
                << statistics.times.back() / 1000 << " us; Z3 alone leaves " << undecided[1] << " open" << std::endl;
    return wrong;
  }

  std::mt19937 random;
  unsigned names = 1;
};

TEST_F(SoakTest, Linear) {
  EXPECT_EQ(soak(setting("KINA_SOAK_LINEAR", 300), [&] { return linearQuestion(); }, "linear"), 0u);
}

TEST_F(SoakTest, Reshape) {
  EXPECT_EQ(soak(setting("KINA_SOAK_RESHAPE", 150), [&] { return reshapeQuestion(); }, "reshape"), 0u);
}

/// A stage that takes `a <= b + 1` for `a <= b` is found out.
TEST_F(SoakTest, WrongStageIsFound) {
  random.seed(1);
  unsigned found = 0;
  for (unsigned index = 0; index < 200; ++index) {
    Question question = linearQuestion();
    if (!question.goal || llvm::is_contained(question.facts, PredAttr()) || question.goal.getKind() != PredKind::LE)
      continue;
    Question planted = question;
    planted.goal = makeRelation(PredKind::LE, question.goal.getDims()[0], addDims(question.goal.getDims()[1], number(1)));
    if (planted.goal)
      found += !complain(question, answerTo(*solver, planted)).empty();
  }
  EXPECT_GT(found, 0u);
}

} // namespace
