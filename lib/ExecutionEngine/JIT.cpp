//===- JIT.cpp - Compiling and calling functions in process ---------------===//

#include "Kina/ExecutionEngine/JIT.h"

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace kina;

JIT::JIT() = default;
JIT::~JIT() = default;

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

/// The run-time library of this process, whatever its symbols are called outside.
static llvm::Error defineRuntime(llvm::orc::LLJIT &engine) {
  llvm::orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[engine.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                             llvm::JITSymbolFlags::Exported |
                                                 llvm::JITSymbolFlags::Callable};
  };
  define("kina_rt_call", &kina_rt_call);
  define("kina_rt_alloc", &kina_rt_alloc);
  define("kina_rt_free", &kina_rt_free);
  define("kina_rt_tape_new", &kina_rt_tape_new);
  define("kina_rt_tape_frame", &kina_rt_tape_frame);
  define("kina_rt_fail", &kina_rt_fail);
  define("kina_rt_poll", &kina_rt_poll);
  define("kina_rt_argument", &kina_rt_argument);
  define("kina_rt_result", &kina_rt_result);
  return engine.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

llvm::Expected<std::unique_ptr<JIT>> JIT::create(ModuleOp module, const JITOptions &options) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });

  std::unique_ptr<JIT> jit(new JIT);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    llvm::Expected<Signature> signature = Signature::get(function);
    if (!signature)
      return signature.takeError();
    auto entry = std::make_unique<Function>();
    entry->signature = std::move(*signature);
    StringRef name = entry->signature.getName();
    jit->functions.insert({name, std::move(entry)});
  }

  OwningOpRef<ModuleOp> lowered = module.clone();
  PassManager passes(module.getContext());
  buildCPUCodegenPipeline(passes, CPUCodegenOptions());
  buildLowerToLLVMPipeline(passes);
  if (failed(passes.run(*lowered)))
    return llvm::createStringError("code generation failed");

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*lowered, *llvmContext);
  if (!llvmModule)
    return llvm::createStringError("the translation to LLVM IR failed");

  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(options.optLevel == 0 ? llvm::CodeGenOptLevel::None
                                                    : llvm::CodeGenOptLevel::Default);
  // A fused multiply-add is written as one; nothing else is to be contracted.
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  if (options.dump)
    options.dump("translated", print(*llvmModule));
  optimize(*llvmModule, **machine, options.optLevel);
  if (options.dump)
    options.dump("optimized", print(*llvmModule));

  auto engine = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!engine)
    return engine.takeError();
  jit->engine = std::move(*engine);
  if (llvm::Error error = defineRuntime(*jit->engine))
    return error;
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->engine->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  jit->engine->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = jit->engine->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(llvmModule), std::move(llvmContext))))
    return error;
  for (auto &[name, function] : jit->functions) {
    auto address = jit->engine->lookup(("_kina_entry_" + name).str());
    if (!address)
      return address.takeError();
    function->entry = address->toPtr<kina_entry>();
  }
  return jit;
}

SmallVector<StringRef> JIT::getFunctionNames() const {
  return llvm::map_to_vector(functions, [](const auto &entry) { return entry.first; });
}

const Signature *JIT::getSignature(StringRef name) const {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second->signature;
}

kina_entry JIT::getEntry(StringRef name) const {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : it->second->entry;
}

llvm::Expected<SmallVector<Tensor>> JIT::call(StringRef name, ArrayRef<Tensor> arguments,
                                              kina_context *context) const {
  ContextPtr own;
  if (!context) {
    own.reset(kina_context_create(nullptr));
    if (!own)
      return llvm::make_error<CallError>(KINA_ERROR_MEMORY, "out of memory");
    context = own.get();
  }
  const Signature *signature = getSignature(name);
  if (!signature) {
    std::string message = "there is no function `" + name.str() + "`";
    kina_context_set_error(context, KINA_ERROR_ARGUMENT, message.c_str());
    return llvm::make_error<CallError>(KINA_ERROR_ARGUMENT, message);
  }
  if (llvm::Error error = signature->check(arguments)) {
    llvm::handleAllErrors(std::move(error), [&](std::unique_ptr<CallError> failure) {
      kina_context_set_error(context, failure->code, failure->message.c_str());
      error = llvm::Error(std::move(failure));
    });
    return error;
  }

  // The structures of arguments and results and the arrays that they point to.
  size_t count = arguments.size(), numResults = signature->getResults().size();
  SmallVector<kina_tensor> tensors(count + numResults);
  SmallVector<kina_tensor *> pointers;
  SmallVector<SmallVector<int64_t, 4>> shapes;
  for (auto [tensor, argument, parameter] :
       llvm::zip(tensors, arguments, signature->getParameters())) {
    shapes.emplace_back(argument.getShape());
    tensor = {};
    tensor.dl.data = const_cast<void *>(argument.getData());
    tensor.dl.dtype = toDLType(parameter.dtype);
  }
  for (auto [i, result] : llvm::enumerate(signature->getResults())) {
    shapes.emplace_back(result.shape.size(), 0);
    tensors[count + i] = {};
    tensors[count + i].dl.dtype = toDLType(result.dtype);
  }
  for (auto [tensor, shape] : llvm::zip_equal(tensors, shapes)) {
    tensor.dl.device = {kDLCPU, 0};
    tensor.dl.ndim = shape.size();
    tensor.dl.shape = shape.data();
    pointers.push_back(&tensor);
  }
  if (getEntry(name)(context, pointers.data(), pointers.data() + count) != KINA_OK)
    return llvm::make_error<CallError>(context);
  SmallVector<Tensor> results;
  for (auto [i, result] : llvm::enumerate(signature->getResults()))
    results.push_back(Tensor::adopt(result.dtype, tensors[count + i]));
  return results;
}
