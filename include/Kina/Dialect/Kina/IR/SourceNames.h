//===- SourceNames.h - What the source says of a value ---------*- C++ -*-===//
//
// Names travel in locations: `NameLoc` on a block argument and on an operation with one
// result, and on one with several a fused location whose metadata has a string for each
// result. So they cost nothing where nobody asks, and never change what a program is.
//
// That a value is only lent decides whether a program is accepted, so attributes say it.
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

/// On an operation: the operands that its place in the source only borrows, whoever owns them.
inline constexpr llvm::StringLiteral kBorrowedOperandsAttrName = "kina.borrowed_operands";

/// Says that nobody owns the result, and those beside it: it is a module-level value.
void setBorrowed(mlir::OpResult result);
bool isBorrowed(mlir::OpResult result);

void setBorrowed(mlir::OpOperand &operand);
bool isBorrowed(mlir::OpOperand &operand);

} // namespace kina

#endif
