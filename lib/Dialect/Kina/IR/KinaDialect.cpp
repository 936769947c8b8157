//===- KinaDialect.cpp - Registration of the kina dialect -----------------===//

#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"

using namespace mlir;

#include "Kina/Dialect/Kina/IR/KinaDialect.cpp.inc"
#include "Kina/Dialect/Kina/IR/KinaInterfaces.cpp.inc"

namespace kina {

void KinaDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "Kina/Dialect/Kina/IR/KinaOps.cpp.inc"
      >();
}

Operation *KinaDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto dim = dyn_cast<DimAttr>(value))
    return DimOp::create(builder, loc, type, dim);
  if (auto typed = dyn_cast<TypedAttr>(value); typed && typed.getType() == type && type.isIntOrIndexOrFloat())
    return ConstantOp::create(builder, loc, type, typed);
  return nullptr;
}

} // namespace kina
