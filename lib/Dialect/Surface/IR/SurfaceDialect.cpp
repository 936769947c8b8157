//===- SurfaceDialect.cpp - Registration of the surface dialect -----------===//

#include "Kina/Dialect/Surface/IR/Surface.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kina::surface;

#include "Kina/Dialect/Surface/IR/SurfaceDialect.cpp.inc"
#include "Kina/Dialect/Surface/IR/SurfaceEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceTypes.cpp.inc"

void SurfaceDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Kina/Dialect/Surface/IR/SurfaceTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Kina/Dialect/Surface/IR/SurfaceOps.cpp.inc"
      >();
}
