//===- Pipelines.cpp - The stages of compilation --------------------------===//

#include "Kina/Pipelines/Pipelines.h"

#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Conversion/Passes.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/RT/IR/RT.h"
#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Transforms/AD/Rules.h"
#include "Kina/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Stage stages[] = {
    {"surface", "text", "kina_surface", "kina-translate --import-kina", nullptr},
    {"typed", "kina_surface", "kina", "--kina-elaborate",
     [](OpPassManager &pm, const StageOptions &options) {
       ElaboratePassOptions elaborate;
       elaborate.keepGoing = options.keepGoing;
       pm.addPass(createElaboratePass(elaborate));
     }},
    {"owned", "kina", "kina whose tensors are consumed once", "--kina-check-ownership",
     [](OpPassManager &pm, const StageOptions &) { pm.addPass(createCheckOwnershipPass()); }},
    {"verified", "kina", "kina without obligations", "--kina-verify-refinements",
     [](OpPassManager &pm, const StageOptions &options) {
       VerifyRefinementsPassOptions verify;
       verify.dumpSmt = options.dumpSmt;
       verify.smtStats = options.smtStats;
       pm.addPass(createVerifyRefinementsPass(verify));
     }},
    {"ad", "kina", "kina without derivatives and effects", "--kina-ad",
     [](OpPassManager &pm, const StageOptions &) { pm.addPass(createADPass()); }},
    {"linalg", "kina", "linalg on tensors", "--kina-lower-to-linalg",
     [](OpPassManager &pm, const StageOptions &) { pm.addPass(createLowerToLinalgPass()); }},
    {"loops", "linalg on tensors", "loops on buffers", "--kina-codegen-cpu",
     [](OpPassManager &pm, const StageOptions &options) {
       CPUCodegenOptions codegen;
       codegen.remarks = options.remarks;
       buildCPUCodegenPipeline(pm, codegen);
     }},
    {"llvm", "loops on buffers", "llvm", "--kina-lower-to-llvm",
     [](OpPassManager &pm, const StageOptions &) { buildLowerToLLVMPipeline(pm); }},
};

ArrayRef<Stage> getStages() { return stages; }

std::optional<unsigned> findStage(StringRef name) {
  for (auto [index, stage] : llvm::enumerate(stages))
    if (stage.name == name)
      return index;
  return std::nullopt;
}

std::string getStageNames() {
  return llvm::join(llvm::map_range(stages, [](const Stage &stage) { return stage.name.str(); }), ", ");
}

unsigned getReachedStage(ModuleOp module) {
  bool typed = false, tensors = false, buffers = false, llvmOps = false;
  WalkResult surface = module.walk([&](Operation *op) {
    Dialect *dialect = op->getDialect();
    if (isa_and_nonnull<surface::SurfaceDialect>(dialect))
      return WalkResult::interrupt();
    typed |= isa_and_nonnull<KinaDialect>(dialect);
    tensors |= llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::TensorType>);
    buffers |= isa_and_nonnull<memref::MemRefDialect>(dialect) ||
               llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<BaseMemRefType>(type); });
    llvmOps |= isa<LLVM::LLVMFuncOp>(op);
    return WalkResult::advance();
  });
  StringRef name = surface.wasInterrupted() ? "surface"
                   : typed                  ? "typed"
                   : llvmOps                ? "llvm"
                   : buffers && !tensors    ? "loops"
                                            : "linalg";
  return *findStage(name);
}

void buildStages(OpPassManager &pm, unsigned reached, unsigned target, const StageOptions &options) {
  for (unsigned index = reached + 1; index <= target; ++index)
    stages[index].build(pm, options);
}

void registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<KinaDialect, rt::RTDialect, surface::SurfaceDialect>();
  registerKinaDifferentiation(registry);
  registerCPUCodegenDialects(registry);
  OpPassManager pm(ModuleOp::getOperationName());
  buildStages(pm, 0, std::size(stages) - 1);
  pm.getDependentDialects(registry);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
/// A pass and no pass pipeline, because what there is to do depends on the module.
class PipelinePass : public PassWrapper<PipelinePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelinePass)

  PipelinePass() = default;
  PipelinePass(const PipelinePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "kina-pipeline"; }
  StringRef getDescription() const override {
    return "Run the stages from the form that the module has to the stage `to`";
  }
  void getDependentDialects(DialectRegistry &registry) const override { registerPipelineDialects(registry); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<unsigned> target = findStage(to);
    if (!target) {
      module.emitError() << "--kina-pipeline has no stage '" << to << "'; the stages are " << getStageNames();
      return signalPassFailure();
    }
    unsigned reached = getReachedStage(module);
    if (*target < reached) {
      module.emitError() << "the module is at stage '" << stages[reached].name << "', which comes after '"
                         << stages[*target].name << "'";
      return signalPassFailure();
    }
    OpPassManager pm(ModuleOp::getOperationName());
    buildStages(pm, reached, *target);
    if (failed(runPipeline(pm, module)))
      signalPassFailure();
  }

private:
  static StringRef getToDescription() {
    static const std::string text = "The stage to stop after: " + getStageNames();
    return text;
  }
  Option<std::string> to{*this, "to", llvm::cl::desc(getToDescription()), llvm::cl::init("llvm")};
};
} // namespace

void registerKinaPipelines() { PassRegistration<PipelinePass>(); }

} // namespace kina
