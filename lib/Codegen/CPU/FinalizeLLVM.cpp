//===- FinalizeLLVM.cpp - Allocation functions and target -----------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace kina {
#define GEN_PASS_DEF_FINALIZELLVM
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

/// Only calls name these functions; SymbolTable::rename looks through every attribute of the module for each.
static void bindAllocation(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SmallDenseMap<StringAttr, FlatSymbolRefAttr> names;
  auto rename = [&](StringRef from, StringRef to) -> LLVM::LLVMFuncOp {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(from);
    if (function) {
      names[function.getSymNameAttr()] = FlatSymbolRefAttr::get(module.getContext(), to);
      function.setSymName(to);
    }
    return function;
  };
  if (auto alloc = rename("_mlir_memref_to_llvm_aligned_alloc", "kina_rt_alloc"))
    alloc.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), UnitAttr::get(module.getContext()));
  rename("_mlir_memref_to_llvm_free", "kina_rt_free");
  module.walk([&](LLVM::CallOp call) {
    if (FlatSymbolRefAttr callee = call.getCalleeAttr())
      if (FlatSymbolRefAttr name = names.lookup(callee.getAttr()))
        call.setCalleeAttr(name);
  });
}

namespace {
struct FinalizeLLVMPass : public kina::impl::FinalizeLLVMBase<FinalizeLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bindAllocation(module);

    llvm::InitializeNativeTarget();
    llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target) {
      module.emitError("no code generator for this machine: ") << error;
      return signalPassFailure();
    }
    std::unique_ptr<llvm::TargetMachine> machine(
        target->createTargetMachine(triple, "generic", "", {}, std::nullopt));
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                    StringAttr::get(&getContext(), triple.str()));
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                    StringAttr::get(&getContext(),
                                    machine->createDataLayout().getStringRepresentation()));
  }
};
} // namespace
