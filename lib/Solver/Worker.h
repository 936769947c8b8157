//===- Worker.h - The process in which long searches run ------------------===//
//
// Talks to `kina-smt-worker` over one socket. Whatever the process does (dies, sleeps,
// writes rubbish, stops in the middle of a line), an answer or its absence is known when
// the time is up, the process is gone and reaped, and the next question starts another.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_SOLVER_WORKER_H
#define KINA_LIB_SOLVER_WORKER_H

#include "Kina/Solver/Solver.h"
#include <chrono>
#include <string>
#include <sys/types.h>

namespace kina::solver {

class Worker {
public:
  using Clock = std::chrono::steady_clock;
  enum class Status { Answered, Missing, Died, TimedOut };
  struct Reply {
    Status status;
    /// The answer; or what went wrong.
    std::string text;
    /// Why a goal that was asked stays open; none if there is an answer.
    Cause getCause() const;
  };

  /// An empty path stands for the worker that belongs to this program.
  explicit Worker(std::string path);
  ~Worker() { stop(); }
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// `what` is the kind of question and its options, on one line. The process is killed at
  /// `deadline`.
  Reply ask(llvm::StringRef what, llvm::StringRef question, Clock::time_point deadline);
  unsigned getStarts() const { return starts; }
  /// What went wrong last; empty if nothing did.
  llvm::StringRef getProblem() const { return problem; }

private:
  /// An error message, empty if it runs.
  std::string start();
  void stop();
  Reply exchange(llvm::StringRef request, llvm::StringRef prefix, Clock::time_point deadline);

  std::string path, problem;
  pid_t process = -1;
  /// The process that started it: a fork of that must not end it.
  pid_t owner = -1;
  int socket = -1;
  unsigned starts = 0;
  uint64_t questions = 0;
};

} // namespace kina::solver

#endif
