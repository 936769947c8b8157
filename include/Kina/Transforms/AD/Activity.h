//===- Activity.h - Which values a derivative goes through -----*- C++ -*-===//
//
// A value is varied if it depends differentiably on a source, useful if a sink depends
// differentiably on it, active if it is both. Only active values have cotangents.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_ACTIVITY_H
#define KINA_TRANSFORMS_AD_ACTIVITY_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

namespace kina {

/// Activity across calls, computed once per function and pattern of arguments. Errors
/// (recursion) are reported where they are met.
class ActivityAnalysis {
public:
  using ValueSet = llvm::DenseSet<mlir::Value>;

  /// Extends `varied`, which holds the sources, over the operations of the block.
  mlir::LogicalResult propagateVaried(mlir::Block &block, ValueSet &varied);
  /// Extends `useful`, which holds the sinks, backwards over the operations of the
  /// block and of the regions in it.
  mlir::LogicalResult propagateUseful(mlir::Block &block, ValueSet &useful);

  /// The results of the callee that vary when the given arguments do.
  mlir::FailureOr<llvm::BitVector> getVariedResults(CallOp call, const llvm::BitVector &variedArgs);
  /// The arguments of the callee on which the given results depend.
  mlir::FailureOr<llvm::BitVector> getUsefulArgs(CallOp call, const llvm::BitVector &usefulResults);

  /// The function that is called; null if it has no definition here.
  FuncOp getCallee(CallOp call);

private:
  using Key = std::pair<mlir::Operation *, std::vector<bool>>;
  mlir::FailureOr<llvm::BitVector> summarize(CallOp call, const llvm::BitVector &given, bool forward);

  mlir::SymbolTableCollection symbols;
  /// Ordered by pointer, but only looked up.
  std::map<Key, llvm::BitVector> varied, useful;
  /// The calls that are being summarised, outermost first.
  llvm::SmallVector<FuncOp> stack;
};

/// Whether the operation's results can carry a derivative although it is no
/// differentiable operation itself: a call, or one with regions.
bool isDifferentiableIn(mlir::Operation *op, unsigned operand);

/// A pattern of active values as a key that orders the same in every run.
std::string toKey(const llvm::BitVector &bits);

} // namespace kina

#endif
