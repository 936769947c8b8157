//===- KinaOps.h - Operations of the kina dialect --------------*- C++ -*-===//

#ifndef KINA_DIALECT_KINA_IR_KINAOPS_H
#define KINA_DIALECT_KINA_IR_KINAOPS_H

#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "Kina/Dialect/Kina/IR/KinaOps.h.inc"

namespace kina {

/// The substitution under which the function takes values of these types, as far as its
/// dimensions are single names; null if some name is not found or the types do not fit.
mlir::DictionaryAttr solveSubstitution(FuncOp function, mlir::TypeRange types);

/// Whether the body of `handle` answers the perform; `handle` may be any handle around it.
bool answers(HandleOp handle, PerformOp perform);

/// The performs in the region, and in the functions that are differentiated in it, that no
/// handle in it answers, in program order. Those of reverse mode, which name their handle
/// by a tag, are left out.
void collectOpenPerforms(mlir::Region &region, llvm::SmallVectorImpl<PerformOp> &performs);

} // namespace kina

#endif
