//===- kina-opt.cpp - The optimizer driver --------------------------------===//
//
// The upstream driver, except that diagnostics show source lines, or are JSON. It parses under a
// handler of its own, which prints at once, so text that does not parse never gets there.
//
//===----------------------------------------------------------------------===//

#include "Kina/InitAll.h"
#include "Kina/Support/DiagnosticPrinter.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/ParseUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// Parses as the upstream driver does.
static OwningOpRef<Operation *> parse(const llvm::MemoryBuffer &buffer, MLIRContext &context,
                                      const MlirOptMainConfig &config) {
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer, /*RequiresNullTerminator=*/false),
                              llvm::SMLoc());
  FallbackAsmResourceMap resources;
  ParserConfig parserConfig(&context, config.shouldVerifyOnParsing(), &resources);
  return parseSourceFileForTool(sources, parserConfig, !config.shouldUseExplicitModule());
}

/// Says what is wrong with text that does not parse.
static LogicalResult checkText(const llvm::MemoryBuffer &buffer, const DialectRegistry &registry,
                               const MlirOptMainConfig &config, const kina::DiagnosticFlags &flags) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  {
    // What warns as well is told by the driver itself.
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    if (parse(buffer, context, config))
      return success();
  }
  kina::DiagnosticPrinter printer(&context, llvm::errs(), flags.getOptions(llvm::errs()));
  printer.addSource(buffer.getBufferIdentifier(), buffer.getBuffer());
  return success(bool(parse(buffer, context, config)));
}

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
  const MlirOptMainConfig upstream = MlirOptMainConfig::createFromCLOptions();
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
  // The parts of an input that is split are inputs of their own.
  auto process = [&](std::unique_ptr<llvm::MemoryBuffer> part, llvm::raw_ostream &os) -> LogicalResult {
    if (failed(checkText(*part, registry, upstream, *flags)))
      return failure();
    MlirOptMainConfig config = upstream;
    config.splitInputFile("");
    std::string name = part->getBufferIdentifier().str(), text = part->getBuffer().str();
    config.setPassPipelineSetupFn([&](PassManager &pm) {
      pm.addInstrumentation(std::make_unique<ShowDiagnostics>(pm.getContext(), *flags, name, text));
      return upstream.setupPassPipeline(pm);
    });
    return MlirOptMain(os, std::move(part), registry, config);
  };
  if (failed(splitAndProcessBuffer(std::move(buffer), process, file->os(), upstream.inputSplitMarker(),
                                   upstream.outputSplitMarker())))
    return EXIT_FAILURE;
  file->keep();
  return EXIT_SUCCESS;
}
