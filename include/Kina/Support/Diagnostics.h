//===- Diagnostics.h - Diagnostics with codes ------------------*- C++ -*-===//
//
// Every message for users begins with its code, `K0104: ...`, so that tests and the
// printers of DiagnosticPrinter.h see the same text. The codes are in
// DiagnosticCodes.def.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SUPPORT_DIAGNOSTICS_H
#define KINA_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace kina {

enum class DiagCode : unsigned {
#define KINA_DIAGNOSTIC(code, stage, title) code,
#include "Kina/Support/DiagnosticCodes.def"
};

/// What reports a code, in the order of reporting: an error of an earlier stage
/// suppresses what would follow from it.
enum class DiagStage : unsigned {
  Parse,
  Names,
  Structure,
  Effects,
  Placement,
  Ownership,
  Refinement,
  Performance,
  RunTime,
  Internal
};

/// `K0104` for DiagCode::K0104.
llvm::StringRef stringifyDiagCode(DiagCode code);
/// What the code means, in one line without a full stop.
llvm::StringRef getTitle(DiagCode code);
DiagStage getStage(DiagCode code);
/// The page of docs/diagnostics, in Markdown.
llvm::StringRef getPage(DiagCode code);
/// All codes, in their order.
llvm::ArrayRef<DiagCode> getDiagCodes();

/// The code that `message` begins with, and the message without it.
std::pair<std::optional<DiagCode>, llvm::StringRef> splitDiagCode(llvm::StringRef message);

/// Emit a diagnostic that begins with `code`. The text, if streamed, begins with a small
/// letter and has no full stop.
mlir::InFlightDiagnostic emitError(mlir::Location loc, DiagCode code,
                                   const llvm::Twine &message = {});
mlir::InFlightDiagnostic emitWarning(mlir::Location loc, DiagCode code,
                                     const llvm::Twine &message = {});
mlir::InFlightDiagnostic emitRemark(mlir::Location loc, DiagCode code,
                                    const llvm::Twine &message = {});

/// A note that says what to do; printed as `= help: ...`. Without a location it stands
/// where the diagnostic does.
inline mlir::Diagnostic &attachHelp(mlir::InFlightDiagnostic &diag,
                                    std::optional<mlir::Location> loc = std::nullopt) {
  return diag.attachNote(loc) << "help: ";
}

/// Holds back the diagnostics of a context while it lives, and then emits them in the order
/// of the source, each once. Those at one place keep the order in which they were found.
class DiagnosticSorter {
public:
  explicit DiagnosticSorter(mlir::MLIRContext *context);
  ~DiagnosticSorter();

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::Diagnostic> diagnostics;
  std::optional<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace kina

#endif
