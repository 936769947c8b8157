//===- Loops.h - What is known of a loop before it runs --------*- C++ -*-===//
//
// Counters, bounds of trip counts, and values that need no keeping.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_LOOPS_H
#define KINA_TRANSFORMS_AD_LOOPS_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace kina {

/// Whether to compute the value again instead of keeping it: it depends on nothing.
bool isFree(mlir::Value value);
/// Computes a free value at the insertion point, unless `mapping` knows it.
mlir::Value recompute(mlir::OpBuilder &builder, mlir::Value value, mlir::IRMapping &mapping);

/// Loops whose condition forwards values to body and results compute them there instead:
/// so a condition is only a test, which has no derivative, and what it computed is a part
/// of the body and of what follows the loop.
void sinkConditionExtras(mlir::Block &block);

/// An integer that is carried and advances by the same amount in every iteration.
struct Induction {
  unsigned carried;
  /// Defined outside the loop or free. Null for a value that never changes.
  mlir::Value step;
  /// Whether the step is taken away.
  bool isNegative = false;
};

/// Whether the carried value is one.
std::optional<Induction> getInduction(WhileOp loop, unsigned carried);

/// Its value in an iteration, counted from 0 as an index; `initial` is its value before
/// the first. Exact, since integers wrap.
mlir::Value emitInduction(mlir::OpBuilder &builder, mlir::Location loc, const Induction &induction,
                          mlir::Value initial, mlir::Value iteration, mlir::IRMapping mapping);

/// An upper bound of the number of iterations, as an index.
struct TripBound {
  mlir::Value count;
  /// The loop has no other way to end.
  bool isExact = false;
  bool isStatic = false;
  /// Holds for every input, so nobody needs to test it: a counter that wraps round, or a
  /// distance that overflows, can make a loop run longer.
  bool isProven = false;
};

/// Emits the bound at the insertion point, before the loop. Null count if there is none:
/// from `trip_bound`, or a condition that compares an induction with what the loop does
/// not change.
TripBound emitTripBound(mlir::OpBuilder &builder, WhileOp loop);

} // namespace kina

#endif
