//===- kinac.cpp - The compiler for .kina source --------------------------===//

#include "Session.h"

#include "Kina/Pipelines/Pipelines.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace kina;

/// Writes the module to the file of -o, which appears whole or not at all.
static bool writeModule(Session &session) {
  StringRef path = session.getLine().output;
  if (path.empty() || path == "-") {
    session.getModule().print(llvm::outs());
    llvm::outs() << '\n';
    return true;
  }
  llvm::Expected<llvm::sys::fs::TempFile> file = llvm::sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
  if (!file) {
    session.error() << "cannot write `" << path << "`: " << llvm::toString(file.takeError());
    return false;
  }
  bool written;
  {
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    session.getModule().print(os);
    os << '\n';
    os.flush();
    written = !os.has_error();
    os.clear_error();
  }
  llvm::Error failure = written ? file->keep(path)
                                : llvm::joinErrors(llvm::createStringError("the device is full or gone"), file->discard());
  if (failure) {
    session.error() << "cannot write `" << path << "`: " << llvm::toString(std::move(failure));
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
