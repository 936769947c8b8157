//===- Session.h - One program on its way through the compiler --*- C++ -*-===//

#ifndef KINA_TOOLS_KINAC_SESSION_H
#define KINA_TOOLS_KINAC_SESSION_H

#include "CommandLine.h"

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/ExecutionEngine/JIT.h"
#include "Kina/Support/DiagnosticPrinter.h"

#include "mlir/IR/OwningOpRef.h"

namespace kina {

/// Holds the context, the module and what it cost so far. Every failure has been printed
/// as a diagnostic when a function returns it.
class Session {
public:
  explicit Session(const CommandLine &line);

  /// Reads and parses the input: to `surface` for source, to whatever it holds for MLIR.
  mlir::LogicalResult load();
  /// Runs the stages up to and with `stage`.
  mlir::LogicalResult advanceTo(unsigned stage);
  mlir::LogicalResult advanceTo(llvm::StringRef stage) { return advanceTo(*findStageIndex(stage)); }

  /// Finds a function of the typed module that can be called; null after an error.
  FuncOp findFunction(llvm::StringRef name);
  /// Makes these functions the only public ones, the ones that are compiled.
  void keepPublic(llvm::ArrayRef<FuncOp> functions);
  /// Finds a function and makes it the only public one; null after an error.
  FuncOp selectFunction(llvm::StringRef name);
  /// Compiles what is public to machine code.
  std::unique_ptr<JIT> compile();

  mlir::ModuleOp getModule() { return *module; }
  mlir::MLIRContext *getContext() { return context.get(); }
  const CommandLine &getLine() const { return line; }

  /// Prints an error without a place in the source.
  mlir::InFlightDiagnostic error();
  /// Prints what a call or a file operation failed with.
  void report(llvm::Error failure);

  /// Runs `body`, and adds its time under the name `what`. Its error is printed, unless
  /// diagnostics have told it; then the result is false.
  bool measure(llvm::StringRef what, llvm::function_ref<llvm::Error()> body);

  /// Adds a line to what --timing prints.
  void addTime(llvm::StringRef what, double seconds);
  void printTimes();

private:
  static std::optional<unsigned> findStageIndex(llvm::StringRef name);

  const CommandLine &line;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticPrinter> printer;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::pair<std::string, double>> times;
};

/// Runs `body` and returns the seconds that it took.
double measure(llvm::function_ref<void()> body);

// The commands; each returns the exit status.
int compileCommand(Session &session);
int runCommand(Session &session);
int batchCommand(Session &session);
int gradCheckCommand(Session &session);

} // namespace kina

#endif
