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

#endif
