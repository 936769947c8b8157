//===- NetworkOps.cpp - Convolution, normalisation ------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

DimAttr getConvolvedSize(DimAttr size, DimAttr kernel, int64_t stride, int64_t padding, int64_t dilation) {
  MLIRContext *context = size.getContext();
  auto number = [&](int64_t value) { return DimAttr::getConstant(context, value); };
  DimAttr one = number(1);
  DimAttr span = mulDims(number(dilation), subDims(kernel, one));
  DimAttr last = subDims(subDims(addDims(size, number(2 * padding)), span), one);
  return addDims(floorDivDims(last, number(stride)), one);
}

LogicalResult verifyConvolution(Operation *op, TensorType input, TensorType kernel, TensorType output,
                                ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                int64_t groups) {
  for (TensorType type : {input, kernel, output}) {
    if (type.getRank() != 4)
      return op->emitOpError() << "needs tensors of rank 4, not " << type;
    if (type.getElementType() != input.getElementType())
      return op->emitOpError() << "element types differ: " << input.getElementType() << " and "
                               << type.getElementType();
    if (type.getPlacement() != input.getPlacement())
      return op->emitOpError() << "tensors are placed differently";
  }
  if (!isa<FloatType>(input.getElementType()))
    return op->emitOpError() << "needs floats, not " << input.getElementType();

  auto isPair = [](ArrayRef<int64_t> values, int64_t least) {
    return values.size() == 2 && llvm::all_of(values, [&](int64_t value) {
             return value >= least && value <= kMaxConvolutionAttribute;
           });
  };
  if (!isPair(stride, 1) || !isPair(padding, 0) || !isPair(dilation, 1))
    return op->emitOpError() << "needs two strides and dilations of at least 1, two paddings of at least 0, each "
                             << "at most " << kMaxConvolutionAttribute;
  if (groups < 1 || groups > kMaxConvolutionAttribute)
    return op->emitOpError() << "needs a number of groups from 1 to " << kMaxConvolutionAttribute << ", not "
                             << groups;

  if (input.getDim(0) != output.getDim(0))
    return op->emitOpError() << "batch sizes differ: " << toString(input.getDim(0)) << " and "
                             << toString(output.getDim(0));
  DimAttr count = DimAttr::getConstant(op->getContext(), groups);
  if (mulDims(count, kernel.getDim(1)) != input.getDim(1))
    return op->emitOpError() << "the input has " << toString(input.getDim(1)) << " channels, but " << groups
                             << " times " << toString(kernel.getDim(1)) << " are needed";
  if (kernel.getDim(0) != output.getDim(1))
    return op->emitOpError() << "output channels differ: " << toString(kernel.getDim(0)) << " in the kernel and "
                             << toString(output.getDim(1)) << " in the output";
  DimAttr rest = modDims(kernel.getDim(0), count);
  if (!rest || !rest.isConstant(0))
    return op->emitOpError() << toString(kernel.getDim(0)) << " output channels do not divide into " << groups
                             << " groups";
  for (unsigned axis : {2, 3}) {
    if (kernel.getDim(axis).isConstant(0))
      return op->emitOpError() << "the kernel is empty along axis " << axis << " (0-based)";
    DimAttr size = getConvolvedSize(input.getDim(axis), kernel.getDim(axis), stride[axis - 2], padding[axis - 2],
                                    dilation[axis - 2]);
    if (!size)
      return op->emitOpError() << "the size of axis " << axis << " (0-based) leaves 64 bits";
    if (size != output.getDim(axis))
      return op->emitOpError() << "axis " << axis << " (0-based) of the output has size "
                               << toString(output.getDim(axis)) << ", but the kernel has " << toString(size)
                               << " positions";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  auto type = cast<TensorType>(getOperand().getType());
  if (!isa<FloatType>(type.getElementType()))
    return emitOpError() << "needs floats, not " << type.getElementType();
  if (type.getRank() == 0)
    return emitOpError() << "needs an axis to normalise over";
  Type row = withShape(type, type.getShape().take_back());
  if (getScale().getType() != row)
    return emitOpError() << "scale and bias have type " << getScale().getType() << ", not " << row;
  return success();
}

} // namespace kina
