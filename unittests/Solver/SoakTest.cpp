//===- SoakTest.cpp - Random questions, several ways to answer them -------===//
//
// The stages, Z3 alone and brute force must not disagree, and what is asked again must get
// the same answer. The judge (Formula.h) shares no code with what it judges. Every stage
// has to decide its part of the questions, or the soak would say nothing of it; and a stage
// that is made to misread its question has to be found out.
//
// How many questions and which: KINA_SOAK_LINEAR, KINA_SOAK_PRODUCT, KINA_SOAK_SEED.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "Questions.h"
#include <climits>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>

using namespace mlir;
using namespace kina;
using namespace kina::soak;
using namespace kina::solver;

namespace {

unsigned setting(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

/// Brute force: what is true of the values in a box at the least ones, and of the witnesses.
struct Truth {
  bool holds = false, fails = false;
  /// The values of the least sum of magnitudes for which the goal fails.
  std::vector<Values> smallest;
};

uint64_t totalOf(const Values &values, unsigned names) {
  uint64_t total = 0;
  for (unsigned index = 0; index < names; ++index)
    total += std::abs(values[index]);
  return total;
}

/// Calls `visit` with all values of the names in `which`, from a box at the least ones whose
/// size depends on how many there are, until it returns false.
void forEachInBox(const Question &question, unsigned which, Values values,
                  llvm::function_ref<bool(const Values &)> visit) {
  static constexpr int64_t sides[] = {1, 400, 40, 14, 8, 6};
  int64_t side = sides[llvm::popcount(which)];
  auto lowOf = [&](unsigned index) { return question.least[index] == INT64_MIN ? -side / 2 : question.least[index]; };
  for (unsigned index = 0; index < question.names; ++index)
    if (which & (1u << index))
      values[index] = lowOf(index);
  while (visit(values)) {
    unsigned index = 0;
    for (; index < question.names; ++index) {
      if (!(which & (1u << index)))
        continue;
      if (++values[index] < lowOf(index) + side)
        break;
      values[index] = lowOf(index);
    }
    if (index == question.names)
      return;
  }
}

Truth bruteForce(const Question &question) {
  Truth truth;
  auto consider = [&](const Values &values) {
    std::optional<bool> goal = question.goalUnder(values);
    if (!goal)
      return true;
    (*goal ? truth.holds : truth.fails) = true;
    if (!*goal) {
      uint64_t total = totalOf(values, question.names);
      if (!truth.smallest.empty() && total < totalOf(truth.smallest[0], question.names))
        truth.smallest.clear();
      if (truth.smallest.empty() || total == totalOf(truth.smallest[0], question.names))
        truth.smallest.push_back(values);
    }
    return true;
  };
  forEachInBox(question, (1u << question.names) - 1, {}, consider);
  for (const Values &witness : question.witnesses)
    consider(witness);
  return truth;
}

/// A name's index, and whether values were given to it.
unsigned indexOf(const std::string &name) { return static_cast<unsigned>(name[0] - 'A'); }

/// How many counterexamples could not be judged, because of names whose values do not matter.
struct Judge {
  unsigned unclear = 0, exact = 0;

  /// What is wrong with values under which all facts that bear on the goal should hold;
  /// `goalIs` is the truth of the goal that they should give, if any.
  std::string complain(const Question &question, const Assignment &given, std::optional<bool> goalIs) {
    Values values{};
    unsigned known = 0;
    for (auto &[name, value] : given) {
      unsigned index = indexOf(name);
      if (name.size() != 1 || index >= question.names)
        return "a name is none of the question's: " + name;
      if (value < question.least[index])
        return "a value is below the least";
      values[index] = value;
      known |= 1u << index;
    }
    std::vector<FormulaPtr> related;
    unsigned missing = goalIs ? getNames(*question.goal) : 0;
    for (const FormulaPtr &fact : question.facts)
      if (!goalIs || (getNames(*fact) & known)) {
        related.push_back(fact);
        missing |= getNames(*fact);
      }
    missing &= ~known;
    bool found = false;
    forEachInBox(question, missing, values, [&](const Values &all) {
      found = llvm::all_of(related, [&](auto &fact) { return evaluate(*fact, all) == std::optional(true); }) &&
              (!goalIs || evaluate(*question.goal, all) == goalIs);
      return !found;
    });
    if (found)
      return {};
    if (missing) {
      ++unclear;
      return {};
    }
    return "the values do not satisfy it";
  }

  /// What is wrong with the answer; empty if nothing is.
  std::string complain(const Question &question, const Truth &truth, const Answer &answer, bool isMinimal) {
    if (answer.verdict == Verdict::Undecided)
      return {};
    if (answer.verdict == Verdict::Proved)
      return truth.fails ? "proved, and it fails" : "";
    if (answer.verdict == Verdict::NeverHolds && truth.holds)
      return "never, and it holds";
    if (std::string problem = complain(question, answer.counterexample, false); !problem.empty())
      return problem;
    // It is the smallest, in the order of the names, where not too many have to be tried to see that.
    if (!isMinimal || answer.counterexample.size() != question.names || truth.smallest.empty())
      return {};
    double tried = 1, least = 0;
    for (unsigned index = 0; index < question.names; ++index)
      least += std::max<int64_t>(question.least[index], 0);
    for (unsigned index = 0; index < question.names; ++index) {
      double span = -least;
      for (auto &[name, value] : answer.counterexample)
        span += std::abs(value);
      tried *= (span + index + 1) / (index + 1) * (question.least[index] < 0 ? 2 : 1);
    }
    if (tried > 100'000)
      return {};
    Values values{};
    for (auto &[name, value] : answer.counterexample)
      values[indexOf(name)] = value;
    for (const Values &smaller : truth.smallest) {
      ++exact;
      uint64_t mine = totalOf(values, question.names), other = totalOf(smaller, question.names);
      bool better = other < mine;
      if (other == mine)
        for (auto &[name, value] : answer.counterexample)
          if (int64_t there = smaller[indexOf(name)]; there != value) {
            better = std::abs(there) != std::abs(value) ? std::abs(there) < std::abs(value) : there > value;
            break;
          }
      if (better)
        return "there is a smaller counterexample";
    }
    return {};
  }
};

//===----------------------------------------------------------------------===//
// The soak
//===----------------------------------------------------------------------===//

class SoakTest : public SolverFixture {
protected:
  void SetUp() override { solver = std::make_unique<Solver>(&context, withLimit()); }

  /// What Z3 leaves open is no part of the judgement, so it need not take long; and whether it does is
  /// told by its steps, the same on every machine.
  static SolverOptions withLimit() {
    SolverOptions options;
    options.stepLimit = 200'000;
    options.totalLimit = UINT_MAX;
    return options;
  }

  /// Nothing if it cannot be written.
  bool write(const Question &question, SmallVectorImpl<PredAttr> &facts, PredAttr &goal) {
    for (const FormulaPtr &fact : question.facts)
      facts.push_back(toPred(&context, *fact));
    goal = toPred(&context, *question.goal);
    return goal && !llvm::is_contained(facts, PredAttr());
  }

  static auto getLeast(const Question &question) {
    return [&question](StringRef name) -> std::optional<int64_t> {
      unsigned index = indexOf(name.str());
      return index < question.names ? question.least[index] : 1;
    };
  }

  Answer answerTo(Solver &asked, const Question &question) {
    SmallVector<PredAttr> facts;
    PredAttr goal;
    if (!write(question, facts, goal))
      return {};
    return asked.solve({facts, goal, getLeast(question)});
  }

  void complain(const Question &question, const Answer &answer, const std::string &what) {
    std::cerr << what << ": " << text(answer) << " (" << question.family << ")\n";
    for (unsigned index = 0; index < question.names; ++index)
      if (question.least[index] != 1)
        std::cerr << "  " << nameOf(index) << " >= " << question.least[index] << "\n";
    for (const FormulaPtr &fact : question.facts)
      std::cerr << "  given " << toString(*fact) << "\n";
    std::cerr << "  goal " << toString(*question.goal) << "\n";
    ++wrong;
  }

  static std::string withoutMethod(const Answer &answer) {
    std::string result = text(answer);
    return result.substr(0, result.rfind('('));
  }

  void judge(const Question &question, unsigned number) {
    SmallVector<PredAttr> facts;
    PredAttr goal;
    if (!write(question, facts, goal))
      return;
    Truth truth = bruteForce(question);
    auto check = [&](const Answer &answer, const char *who, bool isMinimal) {
      if (std::string problem = judgement.complain(question, truth, answer, isMinimal); !problem.empty())
        complain(question, answer, std::string(who) + ", question " + std::to_string(number) + ", " + problem);
    };
    Answer staged = answerTo(*solver, question);
    check(staged, "stages", true);
    auto &[decided, all] = families[question.family];
    ++all;
    decided += staged.verdict != Verdict::Undecided;
    if (staged.verdict != Verdict::Undecided)
      ++decidedBy[static_cast<unsigned>(staged.method)][staged.verdict != Verdict::Proved];

    Answer single = answerTo(*alone, question);
    check(single, "Z3 alone", false);
    aloneDecides += single.verdict != Verdict::Undecided;
    if (staged.verdict != Verdict::Undecided && single.verdict != Verdict::Undecided &&
        (staged.verdict == Verdict::Proved) != (single.verdict == Verdict::Proved))
      complain(question, staged, "Z3 alone disagrees: " + text(single));

    Answer together = solver->satisfiable(facts, getLeast(question));
    if (together.verdict == Verdict::NeverHolds && (truth.holds || truth.fails))
      complain(question, together, "no contradiction");
    if (together.verdict == Verdict::Proved)
      if (std::string problem = judgement.complain(question, together.counterexample, std::nullopt); !problem.empty())
        complain(question, together, "satisfiable, " + problem);

    // The same goal under other facts, and then the first question again: remembered, or asked
    // of a solver that knows nothing yet.
    Question other = questions->vary(question);
    Answer varied = answerTo(*solver, other);
    if (std::string problem = judgement.complain(other, bruteForce(other), varied, true); !problem.empty())
      complain(other, varied, "varied, question " + std::to_string(number) + ", " + problem);
    remembered += varied.method == Method::Memo;
    Answer again = answerTo(*solver, question);
    remembered += again.method == Method::Memo;
    if (!again.isOutOfTime() && withoutMethod(again) != withoutMethod(staged))
      complain(question, again, "not what it was: " + text(staged));
    if (number % 16 == 0) {
      Solver fresh(&context, withLimit());
      Answer first = answerTo(fresh, question);
      if (!first.isOutOfTime() && !staged.isOutOfTime() && text(first) != text(staged) &&
          staged.method != Method::Memo)
        complain(question, first, "depends on what was asked before: " + text(staged));
    }
  }

  void soak(unsigned count, Question (Questions::*make)(), const char *title) {
    unsigned seed = setting("KINA_SOAK_SEED", 1);
    questions = std::make_unique<Questions>(seed);
    SolverOptions options = withLimit();
    options.smtOnly = true;
    alone = std::make_unique<Solver>(&context, options);
    for (unsigned number = 0; number < count; ++number)
      judge((*questions.*make)(), number);
    std::cout << title << ": seed " << seed << ", " << count << " questions, Z3 alone decides " << aloneDecides << "\n";
    static const char *methods[] = {"normal form", "memo", "enumeration", "Presburger", "Z3"};
    for (unsigned method = 0; method < 5; ++method)
      std::cout << "  " << std::setw(11) << methods[method] << std::setw(6) << decidedBy[method][0] << " proved"
                << std::setw(6) << decidedBy[method][1] << " refuted\n";
    for (auto &[family, counts] : families)
      std::cout << "  " << std::setw(11) << family << std::setw(6) << counts.first << " of " << counts.second
                << " decided\n";
    std::cout << "  " << judgement.exact << " counterexamples are the smallest, " << judgement.unclear
              << " could not be judged; " << remembered << " remembered" << std::endl;
    EXPECT_EQ(wrong, 0u);
    EXPECT_LE(judgement.unclear, count / 50);
  }

  /// That a stage gave its part of the answers, in percent of all.
  void expectShare(unsigned count, Method method, unsigned proved, unsigned refuted) {
    auto &by = decidedBy[static_cast<unsigned>(method)];
    EXPECT_GE(by[0] * 100, proved * count) << "proofs of stage " << static_cast<unsigned>(method);
    EXPECT_GE(by[1] * 100, refuted * count) << "counterexamples of stage " << static_cast<unsigned>(method);
  }

  std::unique_ptr<Questions> questions;
  std::unique_ptr<Solver> alone;
  Judge judgement;
  unsigned wrong = 0, aloneDecides = 0, remembered = 0;
  unsigned decidedBy[6][2] = {};
  std::map<std::string, std::pair<unsigned, unsigned>> families;
};

TEST_F(SoakTest, Linear) {
  unsigned count = setting("KINA_SOAK_LINEAR", 250);
  soak(count, &Questions::linear, "linear");
  expectShare(count, Method::NormalForm, 30, 0);
  expectShare(count, Method::Enumeration, 0, 25);
  expectShare(count, Method::Presburger, 4, 4);
  EXPECT_GE(remembered, count / 2);
}

TEST_F(SoakTest, Product) {
  unsigned count = setting("KINA_SOAK_PRODUCT", 150);
  soak(count, &Questions::product, "products");
  expectShare(count, Method::NormalForm, 20, 0);
  expectShare(count, Method::Enumeration, 2, 25);
  expectShare(count, Method::Z3, 4, 1);
  EXPECT_GE(remembered, count / 2);
}

//===----------------------------------------------------------------------===//
// Stages that are wrong
//===----------------------------------------------------------------------===//

/// What a stage takes its question for.
struct Misreading {
  const char *what;
  std::function<Question(const Question &)> apply;
};

/// `change` on the facts, the goal or both.
Question rewriteAll(const Question &question, Change change) {
  Question other = question;
  for (FormulaPtr &fact : other.facts)
    fact = rewrite(fact, change);
  other.goal = rewrite(other.goal, change);
  return other;
}

const Misreading kMisreadings[] = {
    {"a bound among the facts is one too tight",
     [](const Question &question) {
       Question other = question;
       for (FormulaPtr &fact : other.facts)
         if (fact->kind == Formula::Kind::LE)
           fact = fact->a < fact->b;
         else if (fact->kind == Formula::Kind::GE)
           fact = fact->a > fact->b;
       return other;
     }},
    {"the bound of the goal is off by one",
     [](const Question &question) {
       Question other = question;
       if (other.goal->a)
         other.goal = relation(other.goal->kind, other.goal->a, other.goal->b + 1);
       return other;
     }},
    {"quotients are rounded up",
     [](const Question &question) {
       return rewriteAll(question, [](const ExprPtr &expr) {
         return expr->kind == Expr::Kind::FloorDiv ? ceildiv(expr->a, expr->b) : nullptr;
       });
     }},
    {"the last fact is forgotten",
     [](const Question &question) {
       Question other = question;
       if (!other.facts.empty())
         other.facts.pop_back();
       return other;
     }},
    {"a name is one larger at least than it is",
     [](const Question &question) {
       Question other = question;
       for (unsigned index = 0; index < other.names; ++index)
         if (other.least[index] != INT64_MIN)
           ++other.least[index];
       return other;
     }},
};

class WrongStageTest : public SoakTest {
protected:
  /// After how many questions it is found that `stage` takes its questions for something else; 0
  /// if it is not. What other stages answer is right.
  unsigned find(Method stage, const Misreading &misreading, Question (Questions::*make)()) {
    constexpr unsigned kQuestions = 1500;
    Questions source(1);
    for (unsigned number = 1; number <= kQuestions; ++number) {
      Question question = (source.*make)();
      Answer answer = answerTo(*solver, misreading.apply(question));
      if (answer.method == stage && !judgement.complain(question, bruteForce(question), answer, true).empty())
        return number;
    }
    return 0;
  }

  void expectFound(Method stage, Question (Questions::*make)(), llvm::ArrayRef<unsigned> misreadings) {
    for (unsigned index : misreadings) {
      unsigned number = find(stage, kMisreadings[index], make);
      EXPECT_NE(number, 0u) << kMisreadings[index].what;
      std::cout << kMisreadings[index].what << ": found at question " << number << std::endl;
    }
  }

  /// The same of a worker that has one answer to all that it is asked.
  unsigned findWorker(const std::string &answer, Question (Questions::*make)()) {
    solver = std::make_unique<Solver>(&context, withScript("while read line; do dd bs=1 count=${line##* } >/dev/null 2>&1; "
                                                           "echo ${line%% *} " + answer + "; done"));
    return find(answer == "empty" ? Method::Presburger : Method::Z3, {"", [](auto &question) { return question; }}, make);
  }
};

TEST_F(WrongStageTest, NormalForm) { expectFound(Method::NormalForm, &Questions::linear, {0, 1, 2, 4}); }
TEST_F(WrongStageTest, Enumeration) { expectFound(Method::Enumeration, &Questions::linear, {0, 1, 2, 3, 4}); }
TEST_F(WrongStageTest, Presburger) { expectFound(Method::Presburger, &Questions::far, {0, 1, 2, 3}); }
TEST_F(WrongStageTest, Z3) { expectFound(Method::Z3, &Questions::nonlinear, {0, 1}); }

TEST_F(WrongStageTest, Worker) {
  EXPECT_NE(findWorker("empty", &Questions::far), 0u);
  EXPECT_NE(findWorker("unsat", &Questions::nonlinear), 0u);
}

/// A memo that knows the goal only, and not what it was asked under.
TEST_F(WrongStageTest, Memo) {
  Questions source(1);
  bool found = false;
  for (unsigned number = 0; number < 200 && !found; ++number) {
    Question question = source.linear(), other = source.vary(question);
    found = !judgement.complain(other, bruteForce(other), answerTo(*solver, question), true).empty();
  }
  EXPECT_TRUE(found);
}

} // namespace
