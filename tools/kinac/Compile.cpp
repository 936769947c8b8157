//===- Compile.cpp - kinac without a command ------------------------------===//

#include "Session.h"

#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Support/OutputFiles.h"
#include "Kina/Target/AOT/CHeader.h"
#include "Kina/Target/AOT/NativeFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kina {

using Output = CommandLine::Output;

/// Writes files that belong together, or to standard output what has no name.
static int write(Session &session, ArrayRef<OutputFile> files) {
  if (files.front().path.empty() || files.front().path == "-") {
    files.front().print(llvm::outs());
    return 0;
  }
  if (llvm::Error failure = writeFiles(files)) {
    session.report(std::move(failure));
    return 1;
  }
  return 0;
}

/// The machine code that the command line asks for; nothing after an error.
static std::optional<std::string> generate(Session &session) {
  const CommandLine &line = session.getLine();
  NativeOptions options;
  options.cpu = line.cpu;
  options.optLevel = line.optLevel;
  options.module = line.moduleName;
  options.lineTables = true;
  options.remarks = line.stages.remarks;
  std::string code;
  auto keep = [&](llvm::Expected<std::string> made) {
    if (made)
      code = std::move(*made);
    return made.takeError();
  };
  if (!session.measure("code generation", [&] { return keep(emitObject(session.getModule(), options)); }))
    return std::nullopt;
  LinkOptions linking;
  linking.name = llvm::sys::path::filename(line.output).str();
  linking.staticRuntime = line.staticRuntime;
  if (line.emit == Output::SharedObject &&
      !session.measure("linking", [&] { return keep(linkSharedObject(code, linking)); }))
    return std::nullopt;
  return code;
}

/// Object file, shared object or header.
static int compileToFiles(Session &session) {
  const CommandLine &line = session.getLine();
  bool onlyHeader = line.emit == Output::Header;
  // What is wrong with the files is said before the work.
  std::vector<std::string> paths{line.output};
  StringRef extension = llvm::sys::path::extension(line.output);
  if (extension == ".so" || extension == ".o") {
    llvm::SmallString<128> beside(line.output);
    llvm::sys::path::replace_extension(beside, ".h");
    paths.push_back(beside.str().str());
  }
  if (!line.output.empty() && line.output != "-")
    if (llvm::Error failure = checkOutputPaths(paths)) {
      session.report(std::move(failure));
      return 1;
    }

  unsigned needed = *findStage(onlyHeader ? "verified" : "linalg");
  if (failed(session.advanceTo(onlyHeader ? std::max(needed, getReachedStage(session.getModule())) : needed)))
    return 1;
  llvm::Expected<std::vector<Signature>> signatures = getPublicSignatures(session.getModule());
  if (!signatures) {
    session.report(signatures.takeError());
    return 1;
  }
  auto printHeader = [&](llvm::raw_ostream &os) { printCHeader(os, line.moduleName, *signatures); };
  if (onlyHeader)
    return write(session, OutputFile{line.output, printHeader});
  std::optional<std::string> code = generate(session);
  if (!code)
    return 1;
  std::vector<OutputFile> files{{paths[0], [&](llvm::raw_ostream &os) { os << *code; }}};
  if (paths.size() > 1)
    files.push_back({paths[1], printHeader});
  return write(session, files);
}

int compileCommand(Session &session) {
  const CommandLine &line = session.getLine();
  if (failed(session.load()))
    return 1;
  switch (line.emit) {
  case Output::Nothing:
    return succeeded(session.advanceTo("llvm")) ? 0 : 1;
  case Output::Stage:
    if (failed(session.advanceTo(line.stage)))
      return 1;
    return write(session, OutputFile{line.output, [&](llvm::raw_ostream &os) {
                                       session.getModule().print(os);
                                       os << '\n';
                                     }});
  default:
    return compileToFiles(session);
  }
}

} // namespace kina
