//===- RandomOps.cpp - What draws share -----------------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaDialect.h"

using namespace mlir;

namespace kina {

LogicalResult verifyDraw(Operation *op, Type type) {
  if (!getPlacement(type).isHost())
    return op->emitOpError() << "draws on the host, not " << type;
  if (!productOf(op->getContext(), getShape(type)))
    return op->emitOpError() << "element count overflows";
  return success();
}

} // namespace kina
