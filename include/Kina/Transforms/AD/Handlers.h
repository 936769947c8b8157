//===- Handlers.h - Lowering of handlers and variables ---------*- C++ -*-===//
//
// The parts of --kina-lower-effects that know nothing of derivatives. Control and state
// are lowered one after the other: first the handlers become structured control flow
// over `kina.ref`s, then the refs become values.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_HANDLERS_H
#define KINA_TRANSFORMS_AD_HANDLERS_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"

namespace kina {

/// The tag, on a `kina.detach`, of the one derivative for which the value is a constant: it
/// goes to a handler outside of what is differentiated.
inline constexpr llvm::StringLiteral kOutsideOfAttrName = "kina.outside_of";

/// Lowers every handle without tag, innermost first, and then every variable; those around
/// a derivative of a function that performs effects wait until it is expanded. Functions
/// that perform effects are gone afterwards, for they were elaborated where they are
/// called. Errors: K0601 for what has no handler or no static lowering, K0602, K0605.
mlir::LogicalResult lowerHandlers(mlir::ModuleOp module);

/// Turns the variables of the function into values that branches yield and loops carry.
mlir::LogicalResult promoteRefs(FuncOp function);

} // namespace kina

#endif
