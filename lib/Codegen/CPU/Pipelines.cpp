//===- Pipelines.cpp - From linalg to LLVM on the CPU ---------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Nested in functions, each is simplified while it is in the cache, and a rewrite in one does not make
/// the driver walk over all others again.
static void addSimplification(OpPassManager &functions) {
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void kina::buildCPUCodegenPipeline(OpPassManager &pm, const CPUCodegenOptions &options) {
  if (options.inlineCalls) {
    pm.addPass(createBoundInlining());
    pm.addPass(createInlinerPass());
    pm.addPass(createSymbolDCEPass());
  }
  OpPassManager &onTensors = pm.nest<func::FuncOp>();
  addSimplification(onTensors);
  onTensors.addPass(createContractToFMA());
  onTensors.addPass(createFuseElementwise());
  addSimplification(onTensors);
  onTensors.addPass(createHoistInvariants());
  onTensors.addPass(createResolveCarriedCopies());
  pm.addPass(createBufferize());
  // On buffers. Canonicalisation drops carried buffers, which are all invariant now, and
  // copies of a buffer onto itself; then sizes and scratch buffers can leave the loops.
  OpPassManager &onBuffers = pm.nest<func::FuncOp>();
  addSimplification(onBuffers);
  onBuffers.addPass(createLoopInvariantCodeMotionPass());
  onBuffers.addPass(createHoistLoopAllocations());
  onBuffers.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(pm, {});
  pm.addPass(createConvertBufferizationToMemRefPass());
  OpPassManager &onLoops = pm.nest<func::FuncOp>();
  onLoops.addPass(bufferization::createOptimizeAllocationLivenessPass());
  onLoops.addPass(createLinalgToLoops());
  onLoops.addPass(createLowerAffinePass());
  addSimplification(onLoops);
  onLoops.addPass(createLoopInvariantCodeMotionPass());
  if (options.remarks)
    onLoops.addPass(createReportCopies());
}

void kina::buildLowerToLLVMPipeline(OpPassManager &pm, const LowerToLLVMOptions &options) {
  pm.addPass(createWidenSmallFloats());
  pm.addPass(createCheckAllocations());
  pm.addPass(createConvertRTToLLVM());
  EmitEntryPointsOptions entries;
  entries.module = options.module;
  pm.addPass(createEmitEntryPoints(entries));
  pm.addPass(createMathToLibm());
  OpPassManager &onBranches = pm.nest<func::FuncOp>();
  onBranches.addPass(createLowerExpandShape());
  onBranches.addPass(memref::createExpandStridedMetadataPass());
  onBranches.addPass(createLowerAffinePass());
  // Not every system has a library function that rounds to bf16.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  onBranches.addPass(arith::createArithExpandOpsPass(expand));
  onBranches.addPass(memref::createExpandOpsPass());
  onBranches.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createFinalizeLLVM());
  addSimplification(pm.nest<LLVM::LLVMFuncOp>());
  if (options.lineTables) {
    pm.addPass(createNarrowLocations());
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  }
}

void kina::registerCPUCodegenPipelines() {
  PassPipelineRegistration<CPUCodegenOptions>(
      "kina-codegen-cpu", "linalg on tensors to loops on buffers, for the CPU",
      buildCPUCodegenPipeline);
  PassPipelineRegistration<LowerToLLVMOptions>(
      "kina-lower-to-llvm", "Loops on buffers to the LLVM dialect with entries of the C ABI",
      buildLowerToLLVMPipeline);
}

void kina::registerCPUCodegenDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  // Without these a buffer that a selection shows counts as dead before the selection's last
  // use, and is freed too early.
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  func::registerAllExtensions(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  memref::registerBufferViewFlowOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registerAllToLLVMIRTranslations(registry);
}
