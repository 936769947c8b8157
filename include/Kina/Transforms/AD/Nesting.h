//===- Nesting.h - Which derivatives are innermost -------------*- C++ -*-===//
//
// A derivative is expanded when the function it takes reaches none any more; so nested
// derivatives are lowered from the inside out, whatever their modes are.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_NESTING_H
#define KINA_TRANSFORMS_AD_NESTING_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"

namespace kina {

/// Whether the operation takes the derivative of a function.
inline bool isDerivative(mlir::Operation *op) { return llvm::isa<GradOp, VJPOp, JVPOp>(op); }

/// The function that a call or a derivative names; empty for anything else.
llvm::StringRef getCalleeName(mlir::Operation *op);

/// The derivatives of a module in program order, and those among them whose function
/// reaches no derivative.
struct Derivatives {
  explicit Derivatives(mlir::ModuleOp module);
  llvm::SmallVector<mlir::Operation *> all, innermost;
};

} // namespace kina

#endif
