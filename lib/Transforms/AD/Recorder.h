//===- Recorder.h - Pullbacks of whole functions ---------------*- C++ -*-===//
//
// Private to the differentiation. Active operations perform their pullback: a rule gives
// that of a tensor operation (RecordVJPs.cpp), a pair of functions that of a call
// (RecordCalls.cpp), and structured control flow is reversed as a whole from the
// pullbacks of its parts (RecordControlFlow.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TRANSFORMS_AD_RECORDER_H
#define KINA_LIB_TRANSFORMS_AD_RECORDER_H

#include "Kina/Transforms/AD/Activity.h"
#include "Kina/Transforms/AD/Loops.h"
#include "Kina/Transforms/AD/Pullbacks.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>

namespace kina {

/// Where the reverse half of a pair gets a value of the forward half from.
struct Residual {
  enum { Argument, Result } from;
  unsigned index;
};

/// A function in two halves: `forward` is it with its residuals as further results,
/// `reverse` takes the dimensions in `dims` as indices, the residuals, the cotangents of
/// the active results and an accumulator for each active argument, and returns the
/// cotangents of the active arguments.
struct Pair {
  FuncOp forward, reverse;
  llvm::SmallVector<DimAttr> dims;
  llvm::SmallVector<Residual> residuals;
};

/// How a loop whose trip count is not known before it keeps what its reverse needs.
enum class TapeChoice { Auto, Bounded, Stride, Replay, Growable };

/// The names by which the option `tape` knows them.
std::optional<TapeChoice> parseTapeChoice(llvm::StringRef name);

struct RecorderOptions {
  TapeChoice tape = TapeChoice::Auto;
  /// Number of states that a doubling stride keeps; a power of two, at least 2.
  int64_t slots = 64;
};

class Recorder {
public:
  Recorder(mlir::ModuleOp module, RecorderOptions options) : module(module), symbols(module), options(options) {}

  mlir::LogicalResult recordHandle(HandleOp handle);

private:
  using Performs = llvm::SmallVector<PerformOp>;

  /// Where a block stands, as far as it decides what may be kept from it.
  struct Place {
    TagAttr tag;
    /// Its residuals become frames of a tape, and a tape is no element of a tape.
    bool inLoop = false;
  };

  /// Lets the active operations of the block perform their pullbacks. Activity of all
  /// values in it, nested ones too, is known.
  mlir::LogicalResult recordBlock(mlir::Block &block, Place place, Performs &performs);
  mlir::FailureOr<PerformOp> recordRule(DifferentiableOpInterface op, const llvm::BitVector &activeOperands,
                                        const llvm::BitVector &activeResults, TagAttr tag);

  // Calls.
  mlir::FailureOr<PerformOp> recordCall(CallOp call, const llvm::BitVector &activeOperands,
                                        const llvm::BitVector &activeResults, Place place);
  mlir::FailureOr<PerformOp> recordCustom(CallOp call, FuncOp callee, const llvm::BitVector &activeOperands,
                                          const llvm::BitVector &activeResults, TagAttr tag);
  mlir::FailureOr<Pair *> getPair(CallOp call, FuncOp callee, const llvm::BitVector &activeOperands,
                                  const llvm::BitVector &activeResults, Place place);

  // Control flow. Each replaces the operation by one that hands out what its pullback
  // needs, and performs the pullback behind it.
  mlir::FailureOr<PerformOp> recordIf(IfOp op, Place place);
  mlir::FailureOr<PerformOp> recordRemat(RematOp op, Place place);
  mlir::FailureOr<PerformOp> recordWhile(WhileOp op, Place place);
  friend class LoopRecorder;
  /// Whether residuals of the block can be of sizes that are born in it. Outside of it
  /// nothing can speak of them, so it has to be run again.
  bool bindsSizes(mlir::Block &block) const;
  /// Puts all of the block but its terminator into a kina.remat.
  RematOp rematerialize(mlir::Block &block);
  /// The same with the body of the loop, but for its counters.
  void rematerializeBody(WhileOp loop);

  bool isActive(mlir::Value value) const { return varied.contains(value) && useful.contains(value); }
  /// The active values that are defined outside `op` and that the block, with its
  /// pullbacks, passes cotangents to, in program order.
  llvm::SetVector<mlir::Value> getCapturedTargets(mlir::Operation *op, llvm::ArrayRef<mlir::Block *> blocks,
                                                  llvm::ArrayRef<PerformOp> performs) const;
  /// Replaces all uses; the new value is as active as the old one.
  void replaceValue(mlir::Value from, mlir::Value to);
  /// Erases the operation, and forgets what it defined: another value may get its address.
  void eraseOp(mlir::Operation *op);
  /// Makes the clones of what `op` defines as active as the originals.
  void copyActivity(mlir::Operation *op, const mlir::IRMapping &mapping);

  /// A perform after `op` with an empty region, whose arguments are the cotangents of the
  /// primals and an accumulator per target. Targets are distinct values. The builder is
  /// left in the region.
  PerformOp createPerform(mlir::Operation *op, mlir::ValueRange primals, mlir::ValueRange targets, TagAttr tag,
                          mlir::OpBuilder &builder);
  PerformOp createPerform(mlir::Operation *op, const llvm::BitVector &activeOperands,
                          const llvm::BitVector &activeResults, TagAttr tag, mlir::OpBuilder &builder);
  /// The arguments of the pullback, cotangents and accumulators. Those of tapes are made
  /// present, for frames are added to them.
  llvm::SmallVector<mlir::Value> getCotangents(PerformOp perform, mlir::OpBuilder &builder);
  std::string uniqueName(const llvm::Twine &base);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  RecorderOptions options;
  ActivityAnalysis analysis;
  ActivityAnalysis::ValueSet varied, useful;
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  std::map<Key, std::unique_ptr<Pair>> pairs;
};

/// What the pullbacks read from outside themselves, in the order of their uses.
llvm::SetVector<mlir::Value> getCaptured(llvm::ArrayRef<PerformOp> performs);

} // namespace kina

#endif
