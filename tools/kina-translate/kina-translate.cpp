//===- kina-translate.cpp - Between text and MLIR --------------------------===//
//
// The upstream driver, except that diagnostics show source lines.
//
//===----------------------------------------------------------------------===//

#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Support/DiagnosticPrinter.h"
#include "Kina/Target/AOT/CHeader.h"
#include "Kina/Target/LLVMIR/Export.h"
#include "Kina/Target/Surface/Export.h"
#include "Kina/Target/Surface/Import.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<kina::DiagnosticFlags> flags = kina::takeDiagnosticFlags(argc, argv, /*withMLIR=*/false);
  if (!flags)
    return 2;
  kina::registerImportKinaTranslation();
  kina::registerExportKinaTranslations();
  kina::registerLLVMIRExportTranslation();
  kina::registerKinaSyntaxCheck();
  kina::registerCHeaderTranslation();

  cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"), cl::init("-"));
  cl::opt<std::string> output("o", cl::desc("Output file"), cl::value_desc("file"), cl::init("-"));
  cl::opt<const Translation *, false, TranslationParser> translation(
      "", cl::desc("Translations"), cl::Required);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "Kina translation driver\n\n"
                                          "Diagnostics: --error-format=text|json, --color=auto|always|never\n");

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << '\n';
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << "error: " << message << '\n';
    return 1;
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());

  // A module of another stage can be read, so that it is told what does not fit.
  DialectRegistry registry;
  kina::registerPipelineDialects(registry);
  MLIRContext context(registry);
  kina::DiagnosticPrinter printer(&context, llvm::errs(), flags->getOptions(llvm::errs()), sources.get());
  if (failed((*translation)(sources, file->os(), &context)))
    return 1;
  file->keep();
  return 0;
}
