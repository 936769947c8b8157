//===- Z3.h - The last stage, and small counterexamples with it -----------===//

#ifndef KINA_LIB_SOLVER_Z3_H
#define KINA_LIB_SOLVER_Z3_H

#include "Kina/Conversion/KinaToSMT.h"
#include "NormalForm.h"
#include "Worker.h"

namespace kina::solver {

struct Z3 {
  SMTEncoder &encoder;
  Worker &worker;
  unsigned stepLimit;
  unsigned timeLimit;

  /// Looks for values under which the facts hold and the goal is `goalIs`. Only an
  /// evaluated model is Found.
  Outcome search(const Problem &problem, bool goalIs, Worker::Clock::time_point deadline);
  /// A simpler assignment than the given one, the simplest where Z3 can tell.
  llvm::SmallVector<int64_t, 8> minimize(const Problem &problem, bool goalIs, llvm::ArrayRef<int64_t> values,
                                         Worker::Clock::time_point deadline);
};

/// The question whether some values satisfy the facts with the goal `goalIs`. `storage` keeps
/// its facts.
SMTQuestion toQuestion(const Problem &problem, bool goalIs, Facts &storage);

/// Makes an assignment simpler without a solver, one input after the other.
llvm::SmallVector<int64_t, 8> descend(const Problem &problem, const NormalForm &form, bool goalIs,
                                      llvm::ArrayRef<int64_t> values);

} // namespace kina::solver

#endif
