//===- kina-opt.cpp - The optimizer driver --------------------------------===//
//
// The upstream driver, except that what passes report shows source lines. What is wrong with
// the MLIR text itself is the upstream parser's to say, in its own form.
//
//===----------------------------------------------------------------------===//

#include "Kina/InitAll.h"
#include "Kina/Support/DiagnosticPrinter.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {
/// Prints diagnostics while its pass manager lives, which is less than the context does.
struct ShowDiagnostics : PassInstrumentation {
  ShowDiagnostics(MLIRContext *context, const kina::DiagnosticFlags &flags, StringRef name, StringRef text)
      : printer(context, llvm::errs(), flags.getOptions(llvm::errs())) {
    printer.addSource(name, text);
  }
  kina::DiagnosticPrinter printer;
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<kina::DiagnosticFlags> flags = kina::takeDiagnosticFlags(argc, argv, /*withMLIR=*/true);
  if (!flags)
    return 2;
  DialectRegistry registry;
  kina::registerAllDialects(registry);
  kina::registerAllExtensions(registry);
  kina::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv,
      "Kina optimizer driver\n\nDiagnostics: --error-format=text|json|mlir, --color=auto|always|never\n", registry);
  MlirOptMainConfig upstream = MlirOptMainConfig::createFromCLOptions();
  if (flags->format == kina::DiagnosticFlags::Format::MLIR || upstream.shouldVerifyDiagnostics() ||
      upstream.shouldShowDialects() || upstream.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> file = buffer ? openOutputFile(output, &message) : nullptr;
  if (!file) {
    llvm::errs() << message << '\n';
    return EXIT_FAILURE;
  }
  MlirOptMainConfig config = upstream;
  std::string name = buffer->getBufferIdentifier().str(), text = buffer->getBuffer().str();
  config.setPassPipelineSetupFn([&](PassManager &pm) {
    pm.addInstrumentation(std::make_unique<ShowDiagnostics>(pm.getContext(), *flags, name, text));
    return upstream.setupPassPipeline(pm);
  });
  if (failed(MlirOptMain(file->os(), std::move(buffer), registry, config)))
    return EXIT_FAILURE;
  file->keep();
  return EXIT_SUCCESS;
}
