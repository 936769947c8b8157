//===- kinac.cpp - The compiler for .kina source --------------------------===//

#include "Session.h"

#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace kina;

static int checkCommand(Session &session) {
  if (failed(session.load()))
    return 1;
  // A file that is being begun has no error yet.
  bool isEmpty = session.getModule().getBody()->empty();
  return isEmpty || succeeded(session.advanceTo("verified")) ? 0 : 1;
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
  case CommandLine::Command::Explain:
    return explainCommand(*line);
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
