//===- WorkerTest.cpp - Workers that are missing, die, sleep, write rubbish ===//

#include "Fixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <sys/wait.h>

using namespace kina::solver;

namespace {

unsigned countDescriptors() {
  unsigned count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory))
    ++count;
  closedir(directory);
  return count;
}

class WorkerTest : public SolverFixture {
protected:
  /// Asks what reaches the worker; and whether that took less than a second and left nothing.
  std::string askHard(const SolverOptions &options) {
    unsigned before = countDescriptors();
    auto start = std::chrono::steady_clock::now();
    std::string result;
    {
      Solver asked(&context, options);
      // Twice: what failed once is started again.
      result = text(ask(asked, {}, hard));
      result += " " + text(ask(asked, {}, hard));
      problem = asked.getWorkerProblem().str();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    EXPECT_EQ(countDescriptors(), before);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
    return result;
  }

  const std::string hard = "A*A*A + B*B*B ne C*C*C*C*C + 7*C + 3000001";
  std::string problem;
};

TEST_F(WorkerTest, Missing) {
  SolverOptions options;
  options.worker = "/nonexistent/kina-smt-worker";
  EXPECT_EQ(askHard(options), "undecided no worker (none) undecided no worker (none)");
  EXPECT_NE(problem.find("'/nonexistent/kina-smt-worker' could not be started"), std::string::npos) << problem;
  // What needs no worker is answered all the same.
  Solver without(&context, options);
  EXPECT_EQ(text(ask(without, {}, "S = T")), "may fail: S=1, T=2 (enumeration)");
}

TEST_F(WorkerTest, Dies) {
  EXPECT_EQ(askHard(withScript("exit 1")), "undecided worker died (none) undecided worker died (none)");
  EXPECT_EQ(askHard(withScript("read line; exit 0")), "undecided worker died (none) undecided worker died (none)");
  EXPECT_EQ(askHard(withScript("read line; kill -9 $$")), "undecided worker died (none) undecided worker died (none)");
}

TEST_F(WorkerTest, Sleeps) {
  EXPECT_EQ(askHard(withScript("sleep 100")), "undecided limit (none) undecided limit (none)");
}

TEST_F(WorkerTest, StopsInTheMiddle) {
  EXPECT_EQ(askHard(withScript("printf '1 uns'; sleep 100")), "undecided limit (none) undecided limit (none)");
}

TEST_F(WorkerTest, WritesRubbish) {
  EXPECT_EQ(askHard(withScript("echo hello; sleep 100")), "undecided worker died (none) undecided worker died (none)");
  EXPECT_EQ(askHard(withScript("cat /dev/zero")), "undecided worker died (none) undecided worker died (none)");
  EXPECT_EQ(askHard(withScript("yes")), "undecided worker died (none) undecided worker died (none)");
  // Something of an answer's form that was not asked for.
  EXPECT_EQ(askHard(withScript("echo 77 unsat; sleep 100")), "undecided worker died (none) undecided worker died (none)");
}

TEST_F(WorkerTest, ModelsAreEvaluated) {
  EXPECT_EQ(askHard(withScript("while read line; do dd bs=1 count=${line##* } >/dev/null 2>&1; "
                               "echo ${line%% *} sat A=1 B=1 C=1; done")),
            "undecided incomplete (none) undecided incomplete (none)");
}

/// Many goals without an answer together take hardly more time than two of them.
TEST_F(WorkerTest, TimeIsSpentOnce) {
  SolverOptions options = withScript("sleep 100");
  options.totalLimit = 300;
  auto start = std::chrono::steady_clock::now();
  {
    Solver asked(&context, options);
    std::vector<std::string> answers;
    for (int index = 0; index < 5; ++index)
      answers.push_back(text(ask(asked, {}, hard + std::to_string(index))));
    EXPECT_EQ(answers, (std::vector<std::string>{"undecided limit (none)", "undecided limit (none)", "undecided spent (none)",
                                                 "undecided spent (none)", "undecided spent (none)"}));
    // What needs no worker is answered all the same.
    EXPECT_EQ(text(ask(asked, {"S lt T"}, "S le T")), "proved (normal form)");
    EXPECT_EQ(text(ask(asked, {}, "S = T")), "may fail: S=1, T=2 (enumeration)");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(WorkerTest, HardGoalsComeBack) {
  auto start = std::chrono::steady_clock::now();
  Solver asked(&context);
  EXPECT_EQ(ask(asked, {"A*A*A + B*B*B + C*C*C = 33 + 3*D*D*D", "A ne D"}, "A*B*C*D ne 1000003*E").verdict, Verdict::Undecided);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2500));
}

} // namespace
