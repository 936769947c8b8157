//===- Presburger.h - Linear systems of a question ------------------------===//

#ifndef KINA_LIB_SOLVER_PRESBURGER_H
#define KINA_LIB_SOLVER_PRESBURGER_H

#include "NormalForm.h"
#include "Worker.h"

namespace kina::solver {

/// Looks for values under which the facts hold and the goal is `goalIs`: in linear systems
/// whose union contains them all. Without a worker only what rational arithmetic excludes is
/// excluded.
Outcome searchPresburger(mlir::MLIRContext *context, const Problem &problem, const NormalForm &form, bool goalIs,
                         Worker *worker, Worker::Clock::time_point deadline);

} // namespace kina::solver

#endif
