//===- Passes.h - Code generation for the CPU ------------------*- C++ -*-===//

#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace kina {

#define GEN_PASS_DECL
#include "Kina/Codegen/CPU/Passes.h.inc"

/// Options of `--kina-codegen-cpu`.
struct CPUCodegenOptions : public mlir::PassPipelineOptions<CPUCodegenOptions> {
  Option<bool> inlineCalls{*this, "inline",
                           llvm::cl::desc("Inline private functions, so that a call in a loop "
                                          "allocates nothing"),
                           llvm::cl::init(true)};
  Option<bool> remarks{*this, "remarks", llvm::cl::desc("Tell which loops copy whole tensors (K0701)"),
                       llvm::cl::init(false)};
};

/// linalg on tensors to loops on buffers with explicit deallocation (`--kina-codegen-cpu`).
void buildCPUCodegenPipeline(mlir::OpPassManager &pm, const CPUCodegenOptions &options);

/// Options of `--kina-lower-to-llvm`.
struct LowerToLLVMOptions : public mlir::PassPipelineOptions<LowerToLLVMOptions> {
  Option<std::string> module{*this, "module",
                             llvm::cl::desc("What the names of entries begin with"),
                             llvm::cl::init("")};
  Option<bool> lineTables{*this, "line-tables", llvm::cl::desc("Keep the lines of the source"),
                          llvm::cl::init(false)};
};

/// Loops on buffers to the LLVM dialect with one entry for each public function
/// (`--kina-lower-to-llvm`).
void buildLowerToLLVMPipeline(mlir::OpPassManager &pm, const LowerToLLVMOptions &options = {});

/// Registers the two pipelines above.
void registerCPUCodegenPipelines();

/// What the pipelines need from a context besides their passes' dialects: bufferisation
/// interfaces of upstream dialects, inlining of functions, translation to LLVM IR.
void registerCPUCodegenDialects(mlir::DialectRegistry &registry);

#define GEN_PASS_REGISTRATION
#include "Kina/Codegen/CPU/Passes.h.inc"

} // namespace kina
