//===- PlacementOps.cpp - Copies between host and device ------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"

using namespace mlir;

namespace kina {

/// Checks the two ends of a copy, whichever way it goes. A variable is a device, or the host,
/// where there is nothing to copy.
static LogicalResult verifyCopy(Operation *op, Type host, Type device) {
  if (!getPlacement(host).isHost())
    return op->emitOpError() << "copies between the host and a device, but " << host << " is not on the host";
  if (getPlacement(device).isHost())
    return op->emitOpError() << "copies between the host and a device, but " << device << " is not on a device";
  if (getTensorOrScalar(getElementType(device), getShape(device), getPlacement(host)) != host)
    return op->emitOpError() << "changes the shape or the element type, from " << op->getOperand(0).getType()
                             << " to " << op->getResult(0).getType();
  return success();
}

LogicalResult CopyToDeviceOp::verify() { return verifyCopy(*this, getOperand().getType(), getResult().getType()); }

LogicalResult CopyToHostOp::verify() { return verifyCopy(*this, getResult().getType(), getOperand().getType()); }

} // namespace kina
