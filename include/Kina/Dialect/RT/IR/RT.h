//===- RT.h - The run-time dialect -----------------------------*- C++ -*-===//

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace kina::rt {

/// What the operations of this dialect read and write.
struct CallState : public mlir::SideEffects::Resource::Base<CallState> {
  llvm::StringRef getName() final { return "kina_rt::CallState"; }
};

/// The type of a tape that grows: what it points to is known to the run time alone.
mlir::MemRefType getTapeType(mlir::MLIRContext *context);

/// Bytes of an element of this type in a buffer.
uint64_t getElementBytes(mlir::Type element);

} // namespace kina::rt

#include "Kina/Dialect/RT/IR/RTDialect.h.inc"

#define GET_OP_CLASSES
#include "Kina/Dialect/RT/IR/RTOps.h.inc"
