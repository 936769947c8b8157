//===- DerivativeOps.cpp - Cotangents and tapes ---------------------------===//
//
// The symbol checks of kina.grad, vjp and jvp stand beside those of kina.call.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kina {

LogicalResult SeedOp::verify() {
  if (getValues().getTypes() != getCotangents().getTypes())
    return emitOpError() << "needs one cotangent of its type per value";
  return success();
}

LogicalResult PullOp::verify() {
  auto cotangents = CotangentsType::get(getContext());
  if (getVjp().getType() != FunctionType::get(getContext(), {cotangents}, {cotangents}))
    return emitOpError() << "applies a function from cotangents to cotangents, not " << getVjp().getType();
  return success();
}

LogicalResult CotangentOfOp::verify() {
  if (getValue().getType() != getResult().getType())
    return emitOpError() << "has type " << getResult().getType() << ", but the value has " << getValue().getType();
  if (!hasTangent(getValue().getType()))
    return emitOpError() << "reads the cotangent of a " << getValue().getType() << ", which has none";
  return success();
}

OpFoldResult AccumulateOp::fold(FoldAdaptor) {
  if (getAccumulator().getDefiningOp<AbsentOp>())
    return getContribution();
  if (getContribution().getDefiningOp<AbsentOp>())
    return getAccumulator();
  return {};
}

LogicalResult TapeNewOp::verify() {
  if (getTape().getType().getForm() == TapeForm::Bounded && !getBound())
    return emitOpError() << "of form bounded needs a bound";
  return success();
}

} // namespace kina
