//===- SolverTest.cpp - Verdicts, methods and exact counterexamples -------===//

#include "Fixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <iostream>
#include <random>

using namespace kina;
using namespace kina::solver;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

class SolverTest : public SolverFixture {};

TEST_F(SolverTest, NormalFormProves) {
  struct {
    std::vector<std::string> facts;
    std::string goal;
  } cases[] = {
      {{}, "B*(H*D) = (B*H)*D"},
      {{"D mod 8 = 0"}, "(4*D) mod 32 = 0"},
      {{}, "N le (N ceildiv 128)*128"},
      {{"D = H*K"}, "B*S*D = B*S*H*K"},
      {{"N mod 3 = 0", "N mod 5 = 0", "N mod 7 = 0"}, "N mod 105 = 0"},
      {{"(p + 2*q) mod k = 0", "n = (p + 2*q) floordiv k"}, "k*n = p + 2*q"},
      {{"2 le w"}, "1 le ((w - 2) floordiv 32)*12 + 12"},
      {{}, "((w + h)*65) floordiv (w + h) = 65"},
      {{"n mod 3 = 0"}, "1 le n - 2*(n ceildiv 3)"},
      {{"b = 5"}, "0 le b"},
      {{"s0*s1 = 16"}, "B*s0*s1 = 16*B"},
      {{"S = T", "T = U"}, "4*S = 4*U"},
      {{"N = M + 1", "M le 7"}, "N le 8"},
      {{"a le b", "b le c", "c le d"}, "a le d"},
      {{"a le b"}, "a*d le b*d"},
      {{"a*b le c"}, "a le c"},
      {{"N lt M"}, "N floordiv M = 0"},
      {{"K le N"}, "min(K, N) = K"},
      {{}, "(N floordiv 2) floordiv 4 = N floordiv 8"},
      {{}, "(B*N) floordiv B = N"},
      {{}, "(B*N + B - 1) floordiv B = N"},
      {{"N mod B = 0"}, "B*(N floordiv B) = N"},
      {{"N mod 8 = 3"}, "(N + 5) mod 8 = 0"},
      {{}, "B*N le B*((N ceildiv 128)*128)"},
      {{"not (M = 1)"}, "2 le M"},
      {{"M = 1 or M = N", "M ne 1"}, "M = N"},
      {{"N + 1 = 2*M"}, "(N + 1) mod 2 = 0"},
  };
  for (auto &[facts, goal] : cases)
    EXPECT_EQ(text(ask(facts, goal)), "proved (normal form)") << goal;
}

TEST_F(SolverTest, CounterexamplesAreTheSmallest) {
  struct {
    std::vector<std::string> facts;
    std::string goal, answer;
  } cases[] = {
      {{}, "S = T", "may fail: S=1, T=2 (enumeration)"},
      {{}, "D = D + 1", "never: D=1 (enumeration)"},
      {{}, "s0*s1 = 16", "may fail: s0=1, s1=1 (enumeration)"},
      {{}, "1 le ((w - 2) floordiv 32)*12 + 12", "may fail: w=1 (enumeration)"},
      {{}, "1 le n - 2*(n ceildiv 3)", "may fail: n=1 (enumeration)"},
      {{"N mod 32 = 0"}, "N mod 64 = 0", "may fail: N=32 (enumeration)"},
      {{"D = H*K"}, "D le 3", "may fail: D=4, H=2, K=2 (enumeration)"},
      {{}, "N le 100", "may fail: N=101 (enumeration)"},
      {{"N le 1000"}, "N = 128", "may fail: N=1 (enumeration)"},
      {{"128 le S"}, "S = 128", "may fail: S=129 (enumeration)"},
      {{"128 le S", "S le T", "T le 130"}, "S = T", "may fail: S=128, T=129 (enumeration)"},
      {{}, "i0 le 3", "may fail: i0=4 (enumeration)"},
      {{}, "0 le i0", "may fail: i0=-1 (enumeration)"},
      {{"0 le i0", "i0 lt N"}, "i0 + 1 lt N", "may fail: i0=0, N=1 (enumeration)"},
      {{"K le N"}, "N lt K", "never: N=1, K=1 (enumeration)"},
      {{}, "(4*N) = 512", "may fail: N=1 (enumeration)"},
      {{"(A + B + 11) mod 9 = 8"}, "A = A + 1", "never: A=1, B=5 (enumeration)"},
      {{"M lt 512"}, "4*N ne 512", "may fail: N=128 (enumeration)"},
  };
  for (auto &[facts, goal, answer] : cases)
    EXPECT_EQ(text(ask(facts, goal)), answer) << goal;
}

TEST_F(SolverTest, FactsMayContradictEachOther) {
  EXPECT_EQ(text(askSatisfiable({"b le 0"})), "never (normal form)");
  EXPECT_EQ(text(askSatisfiable({"a lt b", "b lt c", "c lt a"})), "never (normal form)");
  EXPECT_EQ(text(askSatisfiable({"N mod 2 = 0", "N mod 2 = 1"})), "never (normal form)");
  EXPECT_EQ(text(askSatisfiable({"S = 2*T", "D = H*K"})), "proved: S=2, T=1, D=1, H=1, K=1 (enumeration)");
  EXPECT_EQ(text(askSatisfiable({})), "proved (normal form)");
  least["b"] = 0;
  EXPECT_EQ(text(askSatisfiable({"b le 0"})), "proved: b=0 (enumeration)");
}

/// With the worker beside the tests.
class StagesTest : public SolverFixture {
protected:
  void SetUp() override { solver = std::make_unique<Solver>(&context); }
};

TEST_F(StagesTest, WhatSmallValuesLeaveOpen) {
  struct {
    std::vector<std::string> facts;
    std::string goal, answer;
  } cases[] = {
      {{"S + T le 1000", "600 le T"}, "S + 2*T le 1200", "never: S=1, T=600 (enumeration)"},
      {{"7*a = 3*b + 1000", "50 le b"}, "a + b le 400", "may fail: a=223, b=187 (presburger)"},
      {{"x mod 17 = 5", "x mod 19 = 7"}, "x lt 300", "never: x=311 (enumeration)"},
      {{"a*a*a = b*b*b + c*c*c"}, "a = 1", "undecided incomplete (none)"},
      {{"3*x + 5*y = 1001"}, "x mod 5 = 2", "proved (presburger)"},
      {{"min(a, b) le c", "a ne b", "c lt a"}, "b le c", "proved (presburger)"},
      {{"a*b = 1001", "2 le a", "2 le b"}, "a le 11", "may fail: a=13, b=77 (enumeration)"},
  };
  for (auto &[facts, goal, answer] : cases)
    EXPECT_EQ(text(ask(facts, goal)), answer) << goal;
}

TEST_F(SolverTest, SuggestsClausesThatHelp) {
  struct {
    std::vector<std::string> facts;
    std::string goal, clause;
  } cases[] = {
      {{}, "S = T", "S = T"},
      {{}, "s0*s1 = 16", "s0*s1 = 16"},
      {{}, "B*S*D = B*S*H*K", "D = H*K"},
      {{}, "1 le ((w - 2) floordiv 32)*12 + 12", "w >= 2"},
      // 3 does, and 4 does not.
      {{}, "1 le n - 2*(n ceildiv 3)", "n >= 2*(n ceildiv 3) + 1"},
      {{}, "(4*D) mod 32 = 0", "D mod 8 = 0"},
      {{}, "N = 4*(N ceildiv 4)", "N mod 4 = 0"},
      {{}, "N mod 4 + 1 = 3", "N mod 4 = 2"},
      {{}, "K + 1 = S + 1", "K = S"},
      {{}, "T*S = K*S + S", "T = K + 1"},
      {{}, "5 lt 2*N", "N >= 3"},
      {{}, "2*N lt 5", "N <= 2"},
      {{}, "4 le N*M", "M*N >= 4"},
      {{"S lt T"}, "S = T", ""},
  };
  for (auto &[facts, goal, clause] : cases) {
    SmallVector<PredAttr> given = preds(facts);
    auto lookup = [&](StringRef name) { return leastOf(name); };
    Query query{given, pred(goal), lookup};
    PredAttr suggested = solver->suggest(query, solver->solve(query));
    EXPECT_EQ(suggested ? toString(suggested) : "", clause) << goal;
    if (suggested) {
      given.push_back(suggested);
      EXPECT_EQ(solver->solve({given, pred(goal), lookup}).verdict, Verdict::Proved);
    }
  }
}

TEST_F(SolverTest, ExplainsByWhatMatters) {
  struct {
    std::vector<std::string> facts;
    std::string goal, reasons;
  } cases[] = {
      // What is evident, what follows, and what only shares a name says nothing.
      {{"1 le N", "2 le 2*N + 1", "3 le M"}, "5 le N", ""},
      {{"3 le N", "2 le N", "M le N"}, "5 le N", "N >= 3"},
      {{"W le 9"}, "W le N", ""},
      // Two that only together make the counterexample what it is.
      {{"N mod 2 = 0", "N mod 3 = 0", "N le 100"}, "N lt 7", "N mod 2 = 0, N mod 3 = 0"},
      // Through another name.
      {{"M = N + 4", "3 le N", "K le M"}, "M lt 5", "M = N + 4, N >= 3"},
      // What can never hold rests on what excludes it.
      {{"N = 4", "M = 2"}, "N = 5", "N = 4"},
      {{"A lt B", "B lt C", "B le 9"}, "C le A", "A < B, B < C"},
  };
  for (auto &[facts, goal, reasons] : cases) {
    SmallVector<PredAttr> given = preds(facts);
    auto lookup = [&](StringRef name) { return leastOf(name); };
    Query query{given, pred(goal), lookup};
    SmallVector<PredAttr> told = solver->explain(query, solver->solve(query));
    SmallVector<std::string> texts = llvm::map_to_vector(told, [](PredAttr fact) { return toString(fact); });
    EXPECT_EQ(llvm::join(texts, ", "), reasons) << goal;
  }
}

TEST_F(SolverTest, FarCounterexamplesAreTheSmallestToo) {
  EXPECT_EQ(text(ask({}, "N*M ne 1001")), "may fail: M=13, N=77 (enumeration)");
  EXPECT_EQ(text(ask({"N mod 3 = 2", "N mod 5 = 3"}, "N mod 7 ne 2")), "may fail: N=23 (enumeration)");
  // Against all pairs in the order of their sum.
  std::mt19937 random(5);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  constexpr int64_t kMaxSum = 240;
  unsigned far = 0;
  for (unsigned round = 0; round < 400; ++round) {
    std::string number = std::to_string(pick(20, 120)), factor = std::to_string(pick(2, 9));
    std::string goals[] = {"N*M ne " + number, "N + " + factor + "*M ne " + number,
                           "N floordiv " + factor + " + M ne " + number, "M*M lt N + " + number};
    std::vector<std::string> facts;
    if (pick(0, 1))
      facts.push_back("N mod " + factor + " = 1");
    if (pick(0, 1))
      facts.push_back(number + " le N*M");
    std::string goal = goals[pick(0, 3)];
    Answer answer = ask(facts, goal);
    if (answer.verdict != Verdict::MayFail)
      continue;
    SmallVector<PredAttr> given = preds(facts);
    PredAttr wanted = pred(goal);
    std::optional<std::pair<int64_t, int64_t>> best;
    std::string first = answer.counterexample[0].first;
    for (int64_t sum = 2; sum <= kMaxSum && !best; ++sum)
      for (int64_t a = 1; a < sum && !best; ++a) {
        auto value = [&](StringRef name) { return std::optional<int64_t>(name == first ? a : sum - a); };
        bool fits = llvm::all_of(given, [&](PredAttr fact) { return *evaluate(fact, value); });
        if (fits && !*evaluate(wanted, value))
          best = {a, sum - a};
      }
    ASSERT_EQ(answer.counterexample.size(), 2u);
    auto found = std::pair(answer.counterexample[0].second, answer.counterexample[1].second);
    ASSERT_EQ(best, std::optional(found)) << goal << " under " << llvm::join(facts, ", ");
    far += std::max(found.first, found.second) > 16;
  }
  EXPECT_GT(far, 100u);
}

TEST_F(StagesTest, DumpsWhatZ3Reads) {
  SmallVector<char, 64> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kina-dump", directory));
  SolverOptions options;
  options.dumpDirectory = std::string(directory.begin(), directory.end());
  Solver dumping(&context, options);
  EXPECT_EQ(text(ask(dumping, {"7*a = 3*b + 1000", "50 le b"}, "a + b le 400")), "may fail: a=223, b=187 (presburger)");
  auto file = llvm::MemoryBuffer::getFile(options.dumpDirectory + "/goal-0001.smt2");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->getBuffer().str(), R"(; given 7*a = 3*b + 1000
; given b >= 50
; can it fail: a + b <= 400
; solver scope 0
(declare-const a Int)
(declare-const b Int)
(assert (>= a 1))
(assert (>= b 1))
(assert (= (* 7 a) (+ (* 3 b) 1000)))
(assert (<= 50 b))
(assert (not (<= (+ a b) 400)))
(check-sat)
)");
  llvm::sys::fs::remove_directories(options.dumpDirectory);
}

/// The table of the design: what it takes to decide each, once the facts are known.
TEST_F(SolverTest, Table) {
  struct {
    std::vector<std::string> facts;
    std::string goal;
  } rows[] = {
      {{}, "B*(H*D) = (B*H)*D"},
      {{"D mod 8 = 0"}, "(4*D) mod 32 = 0"},
      {{}, "N le (N ceildiv 128)*128"},
      {{"D = H*K"}, "B*S*D = B*S*H*K"},
      {{"N mod 3 = 0", "N mod 5 = 0", "N mod 7 = 0"}, "N mod 105 = 0"},
      {{"a le b", "b le c", "c le d"}, "a le d"},
  };
  for (auto &[facts, goal] : rows) {
    SmallVector<uint64_t> times;
    for (unsigned round = 0; round < 9; ++round) {
      Solver fresh(&context, withoutSmt());
      EXPECT_EQ(ask(fresh, facts, goal).verdict, Verdict::Proved);
      times.push_back(fresh.getStatistics().times.front());
    }
    llvm::sort(times);
    std::cout << goal << ": " << times[times.size() / 2] / 1000.0 << " us" << std::endl;
  }
}

TEST_F(SolverTest, AsksOnce) {
  EXPECT_EQ(text(ask({"A le B"}, "S = T")), "may fail: S=1, T=2 (enumeration)");
  EXPECT_EQ(text(ask({"C le B"}, "S = T")), "may fail: S=1, T=2 (memo)");
  EXPECT_EQ(text(ask({"S le T"}, "S = T")), "may fail: S=1, T=2 (enumeration)");
}

} // namespace
