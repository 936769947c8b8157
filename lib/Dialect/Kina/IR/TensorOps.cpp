//===- TensorOps.cpp - Contraction, shape, making, indexing ---------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto a = dyn_cast<TensorType>(adaptor.getLhs().getType());
  auto b = dyn_cast<TensorType>(adaptor.getRhs().getType());
  if (!a || !b || a.getRank() < 2 || a.getRank() != b.getRank())
    return emitOptionalError(loc, "'kina.matmul' op needs two tensors of one rank, at least 2");
  unsigned rank = a.getRank();
  SmallVector<DimAttr> shape(a.getShape().drop_back(2));
  shape.push_back(a.getDim(adaptor.getTransposeA() ? rank - 1 : rank - 2));
  shape.push_back(b.getDim(adaptor.getTransposeB() ? rank - 2 : rank - 1));
  types.push_back(TensorType::get(context, a.getElementType(), shape, a.getPlacement()));
  return success();
}

LogicalResult MatmulOp::verify() {
  auto a = cast<TensorType>(getLhs().getType()), b = cast<TensorType>(getRhs().getType());
  unsigned rank = a.getRank();
  if (a.getElementType() != b.getElementType())
    return emitOpError() << "element types differ: " << a.getElementType() << " and " << b.getElementType();
  if (a.getElementType().isInteger(1))
    return emitOpError() << "needs numbers, not booleans";
  if (a.getPlacement() != b.getPlacement())
    return emitOpError() << "operands are placed differently";
  if (a.getShape().drop_back(2) != b.getShape().drop_back(2))
    return emitOpError() << "batch dimensions differ";
  DimAttr k = a.getDim(getTransposeA() ? rank - 2 : rank - 1);
  DimAttr l = b.getDim(getTransposeB() ? rank - 1 : rank - 2);
  if (k != l)
    return emitOpError() << "contracted dimensions differ: " << toString(k) << " and " << toString(l);
  if (getOuts() && getOuts().getType() != getResult().getType())
    return emitOpError() << "accumulator has type " << getOuts().getType() << ", but the result has "
                         << getResult().getType();
  return success();
}

OpFoldResult MatmulOp::fold(FoldAdaptor) {
  if (!getOuts() || !getOuts().getDefiningOp<AbsentOp>())
    return {};
  getOutsMutable().clear();
  return getResult();
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  Type from = getOperand().getType();
  auto to = cast<TensorType>(getResult().getType());
  if (getElementType(from) != to.getElementType())
    return emitOpError() << "changes the element type from " << getElementType(from) << " to " << to.getElementType();
  if (isa<TensorType>(from) && getPlacement(from) != to.getPlacement())
    return emitOpError() << "changes the placement";
  ArrayRef<DimAttr> source = getShape(from), target = to.getShape();
  if (source.size() > target.size())
    return emitOpError() << "cannot lower the rank from " << source.size() << " to " << target.size();
  for (auto [dim, goal] : llvm::zip(source, target.take_back(source.size())))
    if (dim != goal && !dim.isConstant(1))
      return emitOpError() << "cannot broadcast an axis of size " << toString(dim) << " to " << toString(goal);
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType() ? getOperand() : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  Type from = getOperand().getType(), to = getResult().getType();
  if (getElementType(from) != getElementType(to))
    return emitOpError() << "changes the element type from " << getElementType(from) << " to " << getElementType(to);
  if (getPlacement(from) != getPlacement(to))
    return emitOpError() << "changes the placement";
  DimAttr a = productOf(getContext(), getShape(from)), b = productOf(getContext(), getShape(to));
  if (!a || !b)
    return emitOpError() << "element count overflows";
  if (a != b && !getChecked())
    return emitOpError() << "changes the element count from " << toString(a) << " to " << toString(b);
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  // Two reshapes are one, unless the inner one has a check of its own to make.
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>(); inner && !inner.getChecked()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto from = dyn_cast<TensorType>(adaptor.getOperand().getType());
  if (!from || from.getRank() != adaptor.getPerm().size())
    return emitOptionalError(loc, "'kina.transpose' op needs one entry of 'perm' per axis");
  SmallVector<bool> seen(from.getRank());
  SmallVector<DimAttr> shape;
  for (int64_t axis : adaptor.getPerm()) {
    if (axis < 0 || axis >= static_cast<int64_t>(from.getRank()) || seen[axis])
      return emitOptionalError(loc, "'kina.transpose' op 'perm' is no permutation");
    seen[axis] = true;
    shape.push_back(from.getDim(axis));
  }
  types.push_back(withShape(from, shape));
  return success();
}

LogicalResult TransposeOp::verify() { return success(); }

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())) ? getOperand() : OpFoldResult();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "'kina.concat' op needs a tensor");
  auto first = dyn_cast<TensorType>(adaptor.getInputs().front().getType());
  if (!first || adaptor.getAxis() >= first.getRank())
    return emitOptionalError(loc, "'kina.concat' op axis is out of range");
  SmallVector<DimAttr> shape(first.getShape());
  DimAttr &size = shape[adaptor.getAxis()];
  for (Type type : adaptor.getInputs().drop_front().getTypes()) {
    if (getRank(type) != first.getRank())
      return emitOptionalError(loc, "'kina.concat' op needs tensors of one rank, not ", first.getRank(), " and ",
                               getRank(type));
    size = addDims(size, getShape(type)[adaptor.getAxis()]);
    if (!size)
      return emitOptionalError(loc, "'kina.concat' op the size of the axis overflows");
  }
  types.push_back(withShape(first, shape));
  return success();
}

LogicalResult ConcatOp::verify() {
  auto type = cast<TensorType>(getResult().getType());
  // Inferred types are compared with this op's only after its verifier.
  if (getAxis() >= type.getRank())
    return emitOpError() << "axis " << static_cast<int64_t>(getAxis()) << " (0-based) is out of range for rank "
                         << type.getRank();
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    if (getRank(input.getType()) != type.getRank())
      return emitOpError() << "input " << number << " (0-based) has rank " << getRank(input.getType()) << ", not "
                           << type.getRank();
    SmallVector<DimAttr> shape(type.getShape());
    shape[getAxis()] = getShape(input.getType())[getAxis()];
    if (Type expected = withShape(type, shape); input.getType() != expected)
      return emitOpError() << "input " << number << " (0-based) has type " << input.getType() << ", not " << expected;
  }
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? getInputs().front() : OpFoldResult(); }

OpFoldResult FlipOp::fold(FoldAdaptor) {
  if (getShape(getOperand().getType())[getAxis()].isConstant(1))
    return getOperand();
  auto inner = getOperand().getDefiningOp<FlipOp>();
  return inner && inner.getAxis() == getAxis() ? inner.getOperand() : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

LogicalResult FromElementsOp::verify() {
  auto type = cast<TensorType>(getResult().getType());
  DimAttr count = productOf(getContext(), type.getShape());
  if (!count || !count.isConstant(getElements().size()))
    return emitOpError() << "has " << getElements().size() << " elements for " << type;
  for (Value element : getElements())
    if (element.getType() != type.getElementType())
      return emitOpError() << "element of type " << element.getType() << " in " << type;
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = cast<TensorType>(getResult().getType());
  if (static_cast<uint64_t>(getAxis()) >= type.getRank())
    return emitOpError() << "axis " << static_cast<int64_t>(getAxis()) << " (0-based) is out of range for rank "
                         << type.getRank();
  if (type.getElementType().isInteger(1))
    return emitOpError() << "needs a number type, not i1";
  return success();
}

LogicalResult OneHotOp::verify() {
  auto type = cast<TensorType>(getResult().getType());
  if (type.getRank() == 0 || type.getShape().drop_back() != getShape(getIndices().getType()))
    return emitOpError() << "the result's shape must be that of the indices with one axis more";
  return success();
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// Checks offsets, sizes and dropped axes against the tensor, and the box's type.
static LogicalResult verifyBox(Operation *op, TensorType tensor, size_t offsets, ArrayAttr sizes,
                               ArrayRef<int64_t> dropped, Type box, StringRef what) {
  if (offsets != tensor.getRank() || sizes.size() != tensor.getRank())
    return op->emitOpError() << "needs one offset and one size per axis of rank " << tensor.getRank();
  if (failed(verifyReduction(op, tensor, dropped)))
    return failure();
  for (auto [axis, size] : llvm::enumerate(sizes.getAsRange<DimAttr>()))
    if (size.getConstantValue().value_or(0) < 0)
      return op->emitOpError() << "axis " << axis << " (0-based) of the box has the negative size " << toString(size);
  for (int64_t axis : dropped)
    if (!cast<DimAttr>(sizes[axis]).isConstant(1))
      return op->emitOpError() << "drops axis " << axis << " of size " << toString(cast<DimAttr>(sizes[axis]))
                               << ", which is not 1";
  Type expected = getBoxType(tensor, sizes.getValue(), dropped);
  if (expected != box)
    return op->emitOpError() << what << " has type " << box << ", but the box has " << expected;
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyBox(*this, cast<TensorType>(getOperand().getType()), getOffsets().size(), getSizes(), getDropped(),
                   getResult().getType(), "result");
}

LogicalResult UpdateOp::verify() {
  return verifyBox(*this, cast<TensorType>(getDest().getType()), getOffsets().size(), getSizes(), getDropped(),
                   getValue().getType(), "value");
}

/// The shape of gathering the positions along the axis.
static SmallVector<DimAttr> gatheredShape(TensorType tensor, Type indices, int64_t axis) {
  SmallVector<DimAttr> shape(tensor.getShape().take_front(axis));
  llvm::append_range(shape, getShape(indices));
  llvm::append_range(shape, tensor.getShape().drop_front(axis + 1));
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto tensor = dyn_cast<TensorType>(adaptor.getOperand().getType());
  if (!tensor || adaptor.getAxis() >= tensor.getRank())
    return emitOptionalError(loc, "'kina.gather' op axis is out of range");
  types.push_back(withShape(tensor, gatheredShape(tensor, adaptor.getIndices().getType(), adaptor.getAxis())));
  return success();
}

LogicalResult GatherOp::verify() { return success(); }

LogicalResult ScatterAddOp::verify() {
  auto tensor = cast<TensorType>(getDest().getType());
  if (static_cast<uint64_t>(getAxis()) >= tensor.getRank())
    return emitOpError() << "axis " << static_cast<int64_t>(getAxis()) << " (0-based) is out of range for rank "
                         << tensor.getRank();
  Type expected = withShape(tensor, gatheredShape(tensor, getIndices().getType(), getAxis()));
  if (getValues().getType() != expected)
    return emitOpError() << "values have type " << getValues().getType() << ", but the gathered shape is " << expected;
  return success();
}

/// Checks that the shapes agree in every axis but one.
static LogicalResult verifyAlong(Operation *op, TensorType tensor, TensorType indices, int64_t axis) {
  if (tensor.getRank() != indices.getRank())
    return op->emitOpError() << "indices have rank " << indices.getRank() << ", not " << tensor.getRank();
  if (axis < 0 || axis >= static_cast<int64_t>(tensor.getRank()))
    return op->emitOpError() << "axis " << axis << " (0-based) is out of range for rank " << tensor.getRank();
  if (!isa<IntegerType>(indices.getElementType()) || indices.getElementType().isInteger(1))
    return op->emitOpError() << "needs integer indices, not " << indices.getElementType();
  for (int64_t other = 0; other < static_cast<int64_t>(tensor.getRank()); ++other)
    if (other != axis && tensor.getDim(other) != indices.getDim(other))
      return op->emitOpError() << "axis " << other << " (0-based) has size " << toString(tensor.getDim(other))
                               << " in the operand and " << toString(indices.getDim(other)) << " in the indices";
  return success();
}

LogicalResult TakeAlongOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto operand = dyn_cast<TensorType>(adaptor.getOperand().getType());
  if (!operand)
    return emitOptionalError(loc, "'kina.take_along' op takes from a tensor, not from ",
                             adaptor.getOperand().getType());
  types.push_back(withShape(operand, getShape(adaptor.getIndices().getType())));
  return success();
}

LogicalResult TakeAlongOp::verify() {
  return verifyAlong(*this, cast<TensorType>(getOperand().getType()), cast<TensorType>(getIndices().getType()),
                     getAxis());
}

LogicalResult PutAlongAddOp::verify() {
  auto dest = cast<TensorType>(getDest().getType());
  auto indices = cast<TensorType>(getIndices().getType());
  if (failed(verifyAlong(*this, dest, indices, getAxis())))
    return failure();
  Type expected = withShape(dest, indices.getShape());
  if (getValues().getType() != expected)
    return emitOpError() << "values have type " << getValues().getType() << ", not " << expected;
  return success();
}

} // namespace kina
