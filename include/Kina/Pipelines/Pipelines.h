//===- Pipelines.h - The stages of compilation -----------------*- C++ -*-===//
//
// One table of stages that the pass `--kina-pipeline`, `kinac`, its help and the tests
// read. A stage enters the table together with its passes.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_PIPELINES_PIPELINES_H
#define KINA_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace kina {

/// What the passes of the stages may be told.
struct StageOptions {
  /// Of `typed`: after errors leave what has none, for the errors of later stages.
  bool keepGoing = false;
  /// Of `verified`: where goals for the solver are written, and whether to print what it did.
  std::string dumpSmt;
  bool smtStats = false;
  /// Of `loops`: whether to tell which loops copy whole tensors.
  bool remarks = false;
};

struct Stage {
  /// What `to=` and `--emit=` call the form that the stage ends with.
  llvm::StringLiteral name;
  llvm::StringLiteral from, to;
  /// The flags of kina-opt that do the same on their own.
  llvm::StringLiteral flags;
  /// Null for the import, which is a translation of text.
  void (*build)(mlir::OpPassManager &pm, const StageOptions &options);
};

/// The stages in their order.
llvm::ArrayRef<Stage> getStages();

/// The index of the stage called `name`.
std::optional<unsigned> findStage(llvm::StringRef name);

/// `surface, typed, ...`: the names of all stages.
std::string getStageNames();

/// The index of the last stage that `module` is known to have behind it, from the dialects
/// it holds. An empty module has everything behind it but code generation.
unsigned getReachedStage(mlir::ModuleOp module);

/// Adds the passes that lead from after stage `reached` to after stage `target`; none if
/// `target` is not later.
void buildStages(mlir::OpPassManager &pm, unsigned reached, unsigned target, const StageOptions &options = {});

/// What a context needs for all stages: dialects, derivative rules, bufferisation
/// interfaces, translation to LLVM IR.
void registerPipelineDialects(mlir::DialectRegistry &registry);

/// Registers `--kina-pipeline="to=<stage>"`.
void registerKinaPipelines();

} // namespace kina

#endif
