//===- Export.h - The surface dialect to Kina source -----------*- C++ -*-===//

#ifndef KINA_TARGET_SURFACE_EXPORT_H
#define KINA_TARGET_SURFACE_EXPORT_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/raw_ostream.h"

namespace kina {

/// The two ways to write a module.
enum class SourceForm { Native, Core };

/// Writes a module of `kina_surface` operations as source that reads back as the same
/// module; locations and comments are not part of it. The text is read back before it is
/// given out: what has no source form (a name that is no identifier, a region that no
/// syntax makes) is a located error, K0118, and nothing is written.
llvm::LogicalResult exportKinaSource(mlir::ModuleOp module, SourceForm form,
                                     llvm::raw_ostream &os);

/// The result of a `kina_surface` operation as an expression in native form; for messages.
std::string spellExpression(mlir::Value expression);

/// Registers `--export-kina` and `--export-core`, from Kina source or a module of the
/// surface dialect.
void registerExportKinaTranslations();

} // namespace kina

#endif
