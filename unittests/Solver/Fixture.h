//===- Fixture.h - Questions to the solver, written as text ---------------===//

#ifndef KINA_UNITTESTS_SOLVER_FIXTURE_H
#define KINA_UNITTESTS_SOLVER_FIXTURE_H

#include "Kina/Solver/Solver.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <map>

namespace kina::solver {

class SolverFixture : public ::testing::Test {
protected:
  PredAttr pred(const std::string &text) {
    auto attribute = llvm::cast_or_null<PredAttr>(mlir::parseAttribute("#kina.pred<" + text + ">", &context));
    EXPECT_TRUE(attribute) << text;
    return attribute;
  }

  llvm::SmallVector<PredAttr> preds(llvm::ArrayRef<std::string> texts) {
    return llvm::map_to_vector(texts, [&](const std::string &text) { return pred(text); });
  }

  /// 1 for a name that `least` does not speak of; INT64_MIN for one that begins with `i`.
  std::optional<int64_t> leastOf(llvm::StringRef name) const {
    if (auto it = least.find(name.str()); it != least.end())
      return it->second;
    return name.starts_with("i") ? INT64_MIN : 1;
  }

  Answer ask(Solver &solver, llvm::ArrayRef<std::string> facts, const std::string &goal) {
    llvm::SmallVector<PredAttr> given = preds(facts);
    auto lookup = [&](llvm::StringRef name) { return leastOf(name); };
    return solver.solve({given, pred(goal), lookup});
  }
  Answer ask(llvm::ArrayRef<std::string> facts, const std::string &goal) { return ask(*solver, facts, goal); }
  Answer askSatisfiable(llvm::ArrayRef<std::string> facts) {
    llvm::SmallVector<PredAttr> given = preds(facts);
    return solver->satisfiable(given, [&](llvm::StringRef name) { return leastOf(name); });
  }

  /// `may fail: S=1, T=2 (enumeration)`.
  static std::string text(const Answer &answer) {
    static const char *verdicts[] = {"proved", "may fail", "never", "undecided"};
    static const char *methods[] = {"normal form", "memo", "enumeration", "presburger", "z3", "none"};
    static const char *causes[] = {"", " incomplete", " limit", " spent", " no worker", " worker died", " overflow"};
    std::string result = verdicts[static_cast<unsigned>(answer.verdict)];
    if (!answer.counterexample.empty())
      result += ": " + llvm::join(llvm::map_range(answer.counterexample,
                                                  [](auto &entry) { return entry.first + "=" + std::to_string(entry.second); }),
                                  ", ");
    return result + causes[static_cast<unsigned>(answer.cause)] + " (" + methods[static_cast<unsigned>(answer.method)] + ")";
  }

  static SolverOptions withoutSmt() {
    SolverOptions options;
    options.noSmt = true;
    return options;
  }

  /// A worker that is a shell script; the time limit is short.
  SolverOptions withScript(const std::string &text) {
    llvm::SmallString<128> path;
    int file = 0;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("worker", "sh", file, path));
    {
      llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
      os << "#!/bin/sh\n" << text << "\n";
    }
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all));
    scripts.push_back(std::string(path));
    SolverOptions options;
    options.worker = std::string(path);
    options.timeLimit = 200;
    return options;
  }

  void TearDown() override {
    solver.reset();
    for (const std::string &script : scripts)
      llvm::sys::fs::remove(script);
  }

  mlir::MLIRContext context;
  KinaDialect *dialect = context.getOrLoadDialect<KinaDialect>();
  std::map<std::string, int64_t> least;
  std::unique_ptr<Solver> solver = std::make_unique<Solver>(&context, withoutSmt());
  std::vector<std::string> scripts;
};

} // namespace kina::solver

#endif
