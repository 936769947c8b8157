//===- SolverTest.cpp - Verdicts, methods and exact counterexamples -------===//

#include "Fixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <iostream>

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
      {{"a*b = 1001", "2 le a", "2 le b"}, "a le 11", "may fail: a=91, b=11 (enumeration)"},
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
      {{}, "1 le n - 2*(n ceildiv 3)", "n >= 5"},
      {{}, "(4*D) mod 32 = 0", "D = 8*(D floordiv 8)"},
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
