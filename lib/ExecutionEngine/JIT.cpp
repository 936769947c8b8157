//===- JIT.cpp - Compiling and calling functions in process ---------------===//

#include "Kina/ExecutionEngine/JIT.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;
using namespace kina;

JIT::JIT() = default;
JIT::~JIT() = default;

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

llvm::Expected<std::unique_ptr<JIT>> JIT::create(ModuleOp module, const NativeOptions &given) {
  NativeOptions options = given;
  options.module.clear();
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

  llvm::Expected<llvm::orc::JITTargetMachineBuilder> target = getTarget(options);
  if (!target)
    return target.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = target->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  llvm::Expected<std::unique_ptr<llvm::Module>> compiled =
      compileToLLVM(module, *llvmContext, **machine, options);
  if (!compiled)
    return compiled.takeError();

  auto engine = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*target)).create();
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
          llvm::orc::ThreadSafeModule(std::move(*compiled), std::move(llvmContext))))
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
  auto fail = [&](const Twine &message) {
    kina_context_set_error(context, KINA_ERROR_ARGUMENT, message.str().c_str());
    return llvm::make_error<CallError>(context);
  };
  if (!signature)
    return fail("there is no function `" + name + "`");
  // An entry takes arrays without their lengths, and checks all else.
  if (arguments.size() != signature->getParameters().size())
    return fail("`" + name + "` takes " + Twine(signature->getParameters().size()) +
                " arguments, but got " + Twine(arguments.size()));

  // The structures of arguments and results and the arrays that they point to.
  size_t count = arguments.size(), numResults = signature->getResults().size();
  SmallVector<kina_tensor> tensors(count + numResults);
  SmallVector<kina_tensor *> pointers;
  SmallVector<SmallVector<int64_t, 4>> shapes;
  for (auto [tensor, argument] : llvm::zip(tensors, arguments)) {
    shapes.emplace_back(argument.getShape());
    tensor = {};
    tensor.dl.data = const_cast<void *>(argument.getData());
    tensor.dl.dtype = toDLType(argument.getDType());
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
