//===- Ownership.h - What the ownership check shares -----------*- C++ -*-===//

#ifndef KINA_TRANSFORMS_OWNERSHIP_H
#define KINA_TRANSFORMS_OWNERSHIP_H

#include "Kina/Dialect/Kina/IR/KinaOps.h"

namespace kina {

/// Whether the operation or something in it resumes the continuation.
bool resumes(mlir::Operation *op, mlir::Value continuation);

/// Checks that no path through a case of the handle resumes its continuation twice (K0602),
/// and that the continuation does not leave the case (K0605).
mlir::LogicalResult checkContinuations(HandleOp handle);

} // namespace kina

#endif
