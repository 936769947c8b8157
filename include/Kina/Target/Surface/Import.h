//===- Import.h - Kina source to the surface dialect -----------*- C++ -*-===//

#ifndef KINA_TARGET_SURFACE_IMPORT_H
#define KINA_TARGET_SURFACE_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kina {

/// Parses `text` into a module of `kina_surface` operations whose locations name
/// `filename`. Errors and warnings go to the context's diagnostic engine; after more
/// than kErrorLimit errors the rest is not read. Null if there was any error. The dialect is loaded if need be. Any bytes are
/// accepted as input. With `keepGoing` the module has a `kina_surface.broken` for every item
/// with an error instead; still null if the input is no text.
mlir::OwningOpRef<mlir::ModuleOp> importKinaSource(llvm::StringRef text, llvm::StringRef filename,
                                                   mlir::MLIRContext *context, bool keepGoing = false);

/// Registers `--import-kina`.
void registerImportKinaTranslation();

/// Registers `--kina-syntax-check`: the input is split at lines of ten percent signs, and
/// for each part `ok`, `error` or (a fault of the importer) `invalid` is printed on a
/// line. For tests that compare the parser with the grammar on many texts.
void registerKinaSyntaxCheck();

} // namespace kina

#endif
