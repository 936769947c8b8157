//===- DiagnosticPrinter.h - Diagnostics with source snippets --*- C++ -*-===//
//
// How the tools show diagnostics: text with the source lines and what they underline, or
// one JSON object a line (docs/Diagnostics.md).
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SUPPORT_DIAGNOSTICPRINTER_H
#define KINA_SUPPORT_DIAGNOSTICPRINTER_H

#include "Kina/Support/Diagnostics.h"
#include "Kina/Support/Snippet.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <set>
#include <vector>

namespace llvm {
class raw_ostream;
class SourceMgr;
} // namespace llvm

namespace kina {

/// Errors that are shown of a run; reading a text ends with the next one.
inline constexpr unsigned kErrorLimit = 100;

struct DiagnosticPrinterOptions {
  /// ANSI colours. The text is ASCII either way (source lines are copied as they are).
  bool color = false;
  /// One JSON object a line instead of text.
  bool json = false;
  /// Errors that are shown.
  unsigned limit = kErrorLimit;
  /// Whether text ends with how `kinac explain` is asked about the codes of the errors.
  bool explain = false;
};

/// Whether to colour output to `os` under `--color=auto|always|never`; auto is a
/// terminal's yes. Anything but these three counts as auto.
bool shouldColor(llvm::StringRef mode, llvm::raw_ostream &os);

/// What the upstream drivers are asked for by `--error-format=` and `--color=`.
struct DiagnosticFlags {
  enum class Format { Text, JSON, MLIR };
  Format format = Format::Text;
  std::string color = "auto";

  DiagnosticPrinterOptions getOptions(llvm::raw_ostream &os) const {
    DiagnosticPrinterOptions options;
    options.color = shouldColor(color, os);
    options.json = format == Format::JSON;
    return options;
  }
};

/// Takes the flags above out of an argument list, since LLVM has a `--color` of its own;
/// what they may be said to be is told on standard error. `mlir` is a format only if `withMLIR`.
std::optional<DiagnosticFlags> takeDiagnosticFlags(int &argc, char **argv, bool withMLIR);

/// Prints every diagnostic of a context while it lives:
///
///     error[K0101]: expected ')' to close this list of arguments, found ';'
///       --> f.kina:2:16
///        |
///      2 |   let x = g(3.0;
///        |            -   ^
///        |            |
///        |            opened here
///        |
///        = help: ...
///
/// A note at another place of the same file labels that place in the same snippet; one in
/// another file, or too long for a label, has a snippet of its own. A note without a place
/// of its own, or at the diagnostic's, stands below behind `= note:`, `= counterexample:` or
/// `= help:`, as its text begins. What is inlined (a call-site location) gets a note at each call.
/// Source text comes from what `addSource` was given, else from `sources`, else from the
/// file on disk; without any the snippet is left out.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticPrinter(mlir::MLIRContext *context, llvm::raw_ostream &os,
                    DiagnosticPrinterOptions options = {},
                    const llvm::SourceMgr *sources = nullptr);
  ~DiagnosticPrinter();

  /// The text of `filename` (copied), for input that is not a file on disk.
  void addSource(llvm::StringRef filename, llvm::StringRef text);

  /// Keeps what comes until `release` prints it in source order, each once.
  void hold() { holding = true; }
  void release();

  unsigned getErrorCount() const { return errors; }
  unsigned getWarningCount() const { return warnings; }

private:
  struct Message;
  Message read(mlir::Diagnostic &diag);
  void show(mlir::Diagnostic &diag);
  void printText(const Message &message);
  void printJson(const Message &message);
  const SourceLines *getSource(llvm::StringRef filename);

  llvm::raw_ostream &os;
  DiagnosticPrinterOptions options;
  const llvm::SourceMgr *sources;
  /// Null for a file that cannot be read.
  llvm::StringMap<std::unique_ptr<SourceLines>> files;
  bool holding = false;
  std::vector<mlir::Diagnostic> held;
  /// What was shown already, in the words of `toKey`.
  std::set<std::string> told;
  unsigned errors = 0, warnings = 0, shownErrors = 0;
  /// Of the errors that were shown.
  std::set<DiagCode> codes;
};

} // namespace kina

#endif
