//===- LLVMIRExport.cpp - The translation --kina-to-llvmir ----------------===//

#include "Kina/Target/LLVMIR/Export.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

void kina::registerLLVMIRExportTranslation() {
  static TranslateFromMLIRRegistration registration(
      "kina-to-llvmir", "write a module of the LLVM dialect as LLVM IR",
      [](Operation *op, raw_ostream &os) -> LogicalResult {
        llvm::LLVMContext context;
        std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(op, context);
        if (!module)
          return failure();
        module->print(os, nullptr);
        return success();
      },
      [](DialectRegistry &registry) {
        registry.insert<DLTIDialect, LLVM::LLVMDialect>();
        registerAllToLLVMIRTranslations(registry);
      });
}
