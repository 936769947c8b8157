//===- KinaOps.cpp - Generated parts of the operations --------------------===//
//
// The slowest part of the dialect to compile, alone in its translation unit.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "Kina/Dialect/Kina/IR/KinaOps.cpp.inc"
