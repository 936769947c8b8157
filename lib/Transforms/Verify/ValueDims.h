//===- ValueDims.h - What values and conditions say of sizes ---*- C++ -*-===//
//
// Integers that are made of sizes are sizes, and comparisons of them are predicates. So the
// condition of a branch or a loop is a fact inside, whoever made the IR.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TRANSFORMS_VERIFY_VALUEDIMS_H
#define KINA_LIB_TRANSFORMS_VERIFY_VALUEDIMS_H

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"

#include <functional>

namespace kina {

class ValueDims {
public:
  /// `facts` is what is known where the walk is at the moment, and `holds` what follows.
  ValueDims(const llvm::SmallVectorImpl<PredAttr> &facts, std::function<bool(PredAttr)> holds)
      : facts(facts), holds(std::move(holds)) {}

  /// The exact value of an integer. What is known only at run time is a name that begins
  /// with '%'.
  DimAttr get(mlir::Value value) { return get(value, 0); }

  /// What follows of sizes where the boolean is `isTrue`; null if nothing does.
  PredAttr implied(mlir::Value condition, bool isTrue) { return implied(condition, isTrue, 0); }

  /// What holds of the carried integers in the body besides the condition, of which
  /// `condition` is what it says: a counter that rises by one is not below its start.
  /// Returns a bound of the trip count over sizes, or null.
  DimAttr collectCounters(WhileOp loop, PredAttr condition, llvm::SmallVectorImpl<PredAttr> &facts);

private:
  DimAttr get(mlir::Value value, unsigned depth);
  PredAttr implied(mlir::Value condition, bool isTrue, unsigned depth);
  DimAttr atom(mlir::Value value);

  /// Whether a number of the same type is known to be larger, so that one can be added.
  static bool isBelowAnother(DimAttr dim, llvm::ArrayRef<PredAttr> facts);

  const llvm::SmallVectorImpl<PredAttr> &facts;
  std::function<bool(PredAttr)> holds;
  llvm::DenseMap<mlir::Value, DimAttr> known;
  unsigned next = 0;
};

/// Whether the dimension depends on a value that is known only at run time.
bool dependsOnRuntime(DimAttr dim);

} // namespace kina

#endif
