//===- NativeCode.cpp - From a module to optimised LLVM IR ----------------===//

#include "Kina/ExecutionEngine/NativeCode.h"

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace kina;

static std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::PipelineTuningOptions tuning;
  // Unrolling costs compile time and makes row kernels slower, not faster.
  tuning.LoopUnrolling = false;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = level >= 2;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
      llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel optimization = levels[std::min(level, 3u)];
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(optimization)
                 : builder.buildPerModuleDefaultPipeline(optimization);
  passes.run(module, modules);
}

llvm::Expected<llvm::orc::JITTargetMachineBuilder> kina::getTarget(const NativeOptions &options) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> host =
      llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  if (options.cpu != "native") {
    std::string error;
    const llvm::Triple &triple = host->getTargetTriple();
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target)
      return llvm::createStringError(error);
    // A name that LLVM does not know it would ignore, with a warning on standard error.
    std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
    if (!known->isCPUStringValid(options.cpu))
      return llvm::createStringError("there is no processor `" + options.cpu + "` among those of " +
                                     triple.getArchName());
    host = llvm::orc::JITTargetMachineBuilder(triple);
    host->setCPU(options.cpu);
  }
  host->setRelocationModel(llvm::Reloc::PIC_);
  host->setCodeGenOptLevel(options.optLevel == 0 ? llvm::CodeGenOptLevel::None
                                                 : llvm::CodeGenOptLevel::Default);
  // A fused multiply-add is written as one; nothing else is to be contracted.
  host->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return host;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
kina::compileToLLVM(ModuleOp module, llvm::LLVMContext &context, llvm::TargetMachine &machine,
                    const NativeOptions &options) {
  OwningOpRef<ModuleOp> lowered = module.clone();
  PassManager passes(module.getContext());
  // Verifying after every pass takes a third of the time; kina-opt, which the tests of the
  // passes run, does it. Here what comes out is verified, by MLIR and in the translation by LLVM.
  passes.enableVerifier(false);
  CPUCodegenOptions codegen;
  codegen.remarks = options.remarks;
  buildCPUCodegenPipeline(passes, codegen);
  LowerToLLVMOptions lowering;
  lowering.module = options.module;
  lowering.lineTables = options.lineTables;
  buildLowerToLLVMPipeline(passes, lowering);
  if (failed(passes.run(*lowered)) || failed(verify(*lowered)))
    return llvm::createStringError("code generation failed");

  std::unique_ptr<llvm::Module> compiled = translateModuleToLLVMIR(*lowered, context);
  if (!compiled)
    return llvm::createStringError("the translation to LLVM IR failed");
  compiled->setTargetTriple(machine.getTargetTriple());
  compiled->setDataLayout(machine.createDataLayout());
  if (options.dump)
    options.dump("translated", print(*compiled));
  optimize(*compiled, machine, options.optLevel);
  if (options.dump)
    options.dump("optimized", print(*compiled));
  return compiled;
}
