//===- Pullbacks.h - Emitting recorded pullbacks backwards -----*- C++ -*-===//
//
// Static continuation-passing style for straight-line code: what follows the resumption
// of a RecordVJP is its pullback, so the pullbacks of a block run behind it in reverse
// order. Cotangents are threaded through them; one that is not there is null, never a
// materialised zero.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_PULLBACKS_H
#define KINA_TRANSFORMS_AD_PULLBACKS_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace kina {

/// The effect and the operation that reverse mode performs.
inline constexpr llvm::StringLiteral kReverseModeName = "ReverseModeAD";
inline constexpr llvm::StringLiteral kRecordVJPName = "RecordVJP";
mlir::SymbolRefAttr getRecordVJPAttr(mlir::MLIRContext *context);

/// Whether the operation is a kina.perform of RecordVJP with this tag.
bool isRecordVJP(mlir::Operation *op, TagAttr tag);

/// The cotangents that have arisen so far, by primal value.
class CotangentMap {
public:
  /// Null if nothing contributed.
  mlir::Value lookup(mlir::Value primal) const { return map.lookup(primal); }
  llvm::SmallVector<mlir::Value> lookupAll(mlir::ValueRange primals) const {
    return llvm::map_to_vector(primals, [&](mlir::Value primal) { return lookup(primal); });
  }
  void set(mlir::Value primal, mlir::Value cotangent) { map[primal] = cotangent; }
  /// Adds a contribution to what is there.
  void add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value primal, mlir::Value cotangent);

private:
  llvm::DenseMap<mlir::Value, mlir::Value> map;
};

class PullbackEmitter {
public:
  /// The table stays up to date with the functions that the emitter makes.
  explicit PullbackEmitter(mlir::SymbolTable &symbols) : symbols(symbols) {}

  /// Emits the pullbacks of `performs`, which stand in program order in one block, last
  /// first, and updates the cotangents. One whose cotangents are all absent is skipped.
  /// `mapping` says what the captured values are called at the insertion point.
  void emitReverse(mlir::OpBuilder &builder, llvm::ArrayRef<PerformOp> performs, CotangentMap &cotangents,
                   const mlir::IRMapping &mapping);

  /// Clones the operations of the block and returns what its terminator takes. A null
  /// argument is a symbolic zero; it is folded into accumulations, matmuls and calls,
  /// and becomes zeros only where an operation needs a value. A null result is one too.
  llvm::SmallVector<mlir::Value> cloneBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                            mlir::ValueRange arguments, mlir::IRMapping mapping);

private:
  /// The same where `mapping` has the arguments; `absent` are the values that are symbolic
  /// zeros, to which it adds.
  llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, mlir::Block &block, mlir::IRMapping mapping,
                                           llvm::DenseSet<mlir::Value> &absent);
  void cloneRemat(mlir::OpBuilder &builder, RematOp op, mlir::IRMapping &mapping,
                  llvm::DenseSet<mlir::Value> &absent);
  /// The callee without the parameters that are absent and the results that then are;
  /// its name says which parameters, so that every pass finds the same one.
  FuncOp specialize(FuncOp callee, const llvm::BitVector &absent);

  mlir::SymbolTable &symbols;
};

} // namespace kina

#endif
