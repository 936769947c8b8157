//===- kinac.cpp - The compiler for .kina source --------------------------===//

#include "Session.h"

#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Support/OutputFiles.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace kina;

/// Writes the module to the file of -o.
static bool writeModule(Session &session) {
  auto print = [&](llvm::raw_ostream &os) {
    session.getModule().print(os);
    os << '\n';
  };
  StringRef path = session.getLine().output;
  if (path.empty() || path == "-") {
    print(llvm::outs());
    return true;
  }
  if (llvm::Error failure = writeFiles(OutputFile{path.str(), print})) {
    session.report(std::move(failure));
    return false;
  }
  return true;
}

static int compileCommand(Session &session) {
  const CommandLine &line = session.getLine();
  if (failed(session.load()))
    return 1;
  if (line.emit < 0)
    return succeeded(session.advanceTo("llvm")) ? 0 : 1;
  if (failed(session.advanceTo(line.emit)))
    return 1;
  return writeModule(session) ? 0 : 1;
}

static int checkCommand(Session &session) {
  return succeeded(session.load()) && succeeded(session.advanceTo("verified")) ? 0 : 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<CommandLine> line = parseCommandLine(ArrayRef<const char *>(argv + 1, argc - 1));
  if (!line)
    return 2;
  switch (line->command) {
  case CommandLine::Command::Help:
    printHelp();
    return 0;
  case CommandLine::Command::Version:
    llvm::outs() << "kinac " KINA_VERSION ", on MLIR " << LLVM_VERSION_STRING << '\n';
    return 0;
  default:
    break;
  }
  Session session(*line);
  int status = line->command == CommandLine::Command::Run         ? (line->batch.empty() ? runCommand(session) : batchCommand(session))
               : line->command == CommandLine::Command::Check     ? checkCommand(session)
               : line->command == CommandLine::Command::GradCheck ? gradCheckCommand(session)
                                                                  : compileCommand(session);
  session.printTimes();
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::outs().clear_error();
    llvm::errs() << "kinac: standard output cannot be written\n";
    return 1;
  }
  return status;
}
