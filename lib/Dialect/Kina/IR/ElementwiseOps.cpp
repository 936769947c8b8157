//===- ElementwiseOps.cpp - Element-wise operations, constants ------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kina {

LogicalResult CmpOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(withElementType(adaptor.getLhs().getType(), IntegerType::get(context, 1)));
  return success();
}

LogicalResult SelectOp::verify() {
  Type mask = getMask().getType(), arms = getResult().getType();
  if (mask.isInteger(1) || mask == withElementType(arms, IntegerType::get(getContext(), 1)))
    return success();
  return emitOpError() << "needs a scalar mask or one of the arms' shape, not " << mask << " for " << arms;
}

LogicalResult CastOp::verify() {
  Type from = getOperand().getType(), to = getResult().getType();
  if (withElementType(from, getElementType(to)) != to)
    return emitOpError() << "must keep shape and place, not go from " << from << " to " << to;
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType() ? getOperand() : OpFoldResult();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult DimOp::fold(FoldAdaptor) {
  std::optional<int64_t> value = getValue().getConstantValue();
  if (!value)
    return getValue();
  Type type = getResult().getType();
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(floating, static_cast<double>(*value));
  // What does not fit ends the call where it is executed.
  return fitsInto(*value, type) ? IntegerAttr::get(type, *value) : OpFoldResult();
}

} // namespace kina
