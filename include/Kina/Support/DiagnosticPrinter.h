//===- DiagnosticPrinter.h - Diagnostics with source snippets --*- C++ -*-===//
//
// How the tools show diagnostics: text with the source line and a caret range, or one
// JSON object a line.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SUPPORT_DIAGNOSTICPRINTER_H
#define KINA_SUPPORT_DIAGNOSTICPRINTER_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace llvm {
class raw_ostream;
class SourceMgr;
} // namespace llvm

namespace kina {

struct DiagnosticPrinterOptions {
  /// ANSI colours. The text is ASCII either way (source lines are copied as they are).
  bool color = false;
  /// One JSON object a line instead of text.
  bool json = false;
};

/// Whether to colour output to `os` under `--color=auto|always|never`; auto is a
/// terminal's yes. Anything but these three counts as auto.
bool shouldColor(llvm::StringRef mode, llvm::raw_ostream &os);

/// Prints every diagnostic of a context while it lives:
///
///     error[K0104]: expected ';' after this statement, found 'y'
///       --> f.kina:2:14
///        |
///      2 |   let x = 3.0
///        |              ^
///        = help: ...
///
/// A note at another place has a snippet of its own. Source text comes from what
/// `addSource` was given, else from `sources`, else from the file on disk; without any
/// the snippet is left out.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticPrinter(mlir::MLIRContext *context, llvm::raw_ostream &os,
                    DiagnosticPrinterOptions options = {},
                    const llvm::SourceMgr *sources = nullptr);

  /// The text of `filename` (copied), for input that is not a file on disk.
  void addSource(llvm::StringRef filename, llvm::StringRef text);

  unsigned getErrorCount() const { return errors; }
  unsigned getWarningCount() const { return warnings; }

private:
  void printText(mlir::Diagnostic &diag);
  void printJson(mlir::Diagnostic &diag);
  void printSnippet(mlir::FileLineColRange range, unsigned gutter);
  std::optional<llvm::StringRef> getLine(mlir::FileLineColRange range);

  llvm::raw_ostream &os;
  DiagnosticPrinterOptions options;
  const llvm::SourceMgr *sources;
  /// Null for a file that cannot be read.
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
  unsigned errors = 0;
  unsigned warnings = 0;
};

} // namespace kina

#endif
