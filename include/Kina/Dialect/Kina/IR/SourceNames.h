//===- SourceNames.h - What the source calls a value -----------*- C++ -*-===//
//
// Names travel in locations: `NameLoc` on a block argument and on an operation with one
// result, and on one with several a fused location whose metadata has a string for each
// result. So they cost nothing where nobody asks, and never change what a program is.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_DIALECT_KINA_IR_SOURCENAMES_H
#define KINA_DIALECT_KINA_IR_SOURCENAMES_H

#include "mlir/IR/Value.h"

namespace kina {

/// Adds `name` to what `value` is called. Without `alias` a value that has a name keeps it.
void addSourceName(mlir::Value value, llvm::StringRef name, bool alias = true);

/// The names of `value`, that of its definition first; a parameter's is its `kina.name`.
/// None for a value that the source does not name.
llvm::SmallVector<llvm::StringRef> getSourceNames(mlir::Value value);

} // namespace kina

#endif
