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

namespace {
struct FinalizeLLVMPass : public kina::impl::FinalizeLLVMBase<FinalizeLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    auto rename = [&](StringRef from, StringRef to) -> LLVM::LLVMFuncOp {
      auto function = symbols.lookup<LLVM::LLVMFuncOp>(from);
      if (function && failed(symbols.rename(function, to)))
        signalPassFailure();
      return function;
    };
    if (auto alloc = rename("_mlir_memref_to_llvm_aligned_alloc", "kina_rt_alloc"))
      alloc.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(),
                          UnitAttr::get(&getContext()));
    rename("_mlir_memref_to_llvm_free", "kina_rt_free");

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
