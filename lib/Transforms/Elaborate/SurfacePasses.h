//===- SurfacePasses.h - What happens before elaboration -------*- C++ -*-===//

#ifndef KINA_LIB_TRANSFORMS_ELABORATE_SURFACEPASSES_H
#define KINA_LIB_TRANSFORMS_ELABORATE_SURFACEPASSES_H

#include "mlir/IR/BuiltinOps.h"

namespace kina::elaborate {

/// Replaces each `import` by the items of the file, once for all imports of it. A relative
/// path is looked up beside the importing file, which the operation's location names.
llvm::LogicalResult resolveImports(mlir::ModuleOp module);

/// Replaces every use of a type's name by the type; the names' definitions stay.
llvm::LogicalResult expandTypeAliases(mlir::ModuleOp module);

} // namespace kina::elaborate

#endif
