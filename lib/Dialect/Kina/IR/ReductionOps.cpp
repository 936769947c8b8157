//===- ReductionOps.cpp - What reductions share ---------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaDialect.h"

using namespace mlir;

namespace kina {

LogicalResult inferReduction(std::optional<Location> loc, Type operand, ArrayRef<int64_t> axes, bool keepdims,
                             Type elementType, SmallVectorImpl<Type> &types) {
  if (!elementType)
    elementType = getElementType(operand);
  if (!elementType || !isScalarOrTensorOf(operand, [](Type) { return true; }))
    return emitOptionalError(loc, "reduces a tensor or a scalar, not ", operand);
  SmallVector<DimAttr> shape;
  for (auto [axis, dim] : llvm::enumerate(getShape(operand))) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(dim);
    else if (keepdims)
      shape.push_back(DimAttr::getConstant(operand.getContext(), 1));
  }
  types.push_back(getTensorOrScalar(elementType, shape, getPlacement(operand)));
  return success();
}

LogicalResult verifyReduction(Operation *op, Type operand, ArrayRef<int64_t> axes) {
  int64_t previous = -1, rank = getRank(operand);
  for (int64_t axis : axes) {
    if (axis <= previous)
      return op->emitOpError() << "axes must be increasing and not negative";
    if (axis >= rank)
      return op->emitOpError() << "axis " << axis << " (0-based) is out of range for rank " << rank;
    previous = axis;
  }
  return success();
}

} // namespace kina
