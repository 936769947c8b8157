//===- Utils.cpp - What the lowerings to linalg share ---------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Value getDimValue(OpBuilder &builder, Location loc, DimAttr dim) {
  if (std::optional<int64_t> constant = dim.getConstantValue())
    return createIndex(builder, loc, *constant);
  return DimOp::create(builder, loc, builder.getIndexType(), dim);
}

OpFoldResult getDimSize(OpBuilder &builder, Location loc, DimAttr dim) {
  if (std::optional<int64_t> constant = dim.getConstantValue())
    return builder.getIndexAttr(*constant);
  return getDimValue(builder, loc, dim);
}

SmallVector<OpFoldResult> getDimSizes(OpBuilder &builder, Location loc, ArrayRef<DimAttr> dims) {
  return llvm::map_to_vector(dims, [&](DimAttr dim) { return getDimSize(builder, loc, dim); });
}

int64_t getStaticSize(DimAttr dim) { return dim.getConstantValue().value_or(ShapedType::kDynamic); }

SmallVector<int64_t> getStaticSizes(ArrayRef<DimAttr> dims) { return llvm::map_to_vector(dims, getStaticSize); }

bool isEmpty(ArrayRef<DimAttr> shape) {
  return llvm::any_of(shape, [](DimAttr dim) { return dim.isConstant(0); });
}

Type getStorageType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

Value createEmpty(OpBuilder &builder, Location loc, ArrayRef<DimAttr> shape, Type elementType) {
  return tensor::EmptyOp::create(builder, loc, getDimSizes(builder, loc, shape), getStorageType(elementType));
}

Value createFilled(OpBuilder &builder, Location loc, ArrayRef<DimAttr> shape, Value scalar) {
  Value empty = createEmpty(builder, loc, shape, scalar.getType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value createIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value createScalar(OpBuilder &builder, Location loc, Type type, double value) {
  TypedAttr attribute;
  if (isa<FloatType>(type))
    attribute = builder.getFloatAttr(type, value);
  else
    attribute = builder.getIntegerAttr(type, static_cast<int64_t>(value));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value emitPosition(OpBuilder &builder, Location loc, Value value, Type from) {
  return emitCast(builder, loc, value, from, builder.getIndexType());
}

Value emitAdd(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return arith::AddIOp::create(builder, loc, a, b);
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

Value createGeneric(OpBuilder &builder, Location loc, ValueRange inputs, Value out, ArrayRef<AffineMap> maps,
                    ArrayRef<utils::IteratorType> iterators, BodyBuilder body) {
  auto op = linalg::GenericOp::create(builder, loc, out.getType(), inputs, out, maps, iterators,
                                      [&](OpBuilder &inner, Location at, ValueRange arguments) {
                                        linalg::YieldOp::create(inner, at, body(inner, at, arguments));
                                      });
  return op.getResult(0);
}

Value createPointwise(OpBuilder &builder, Location loc, ValueRange inputs, Value out, BodyBuilder body) {
  unsigned rank = cast<RankedTensorType>(out.getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return createGeneric(builder, loc, inputs, out, maps, iterators, body);
}

Value createProductSum(OpBuilder &builder, Location loc, Value lhs, Value rhs, Value outs, ArrayRef<DimAttr> shape,
                       Type element, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators) {
  bool isNarrow = element.isF16() || element.isBF16();
  Type sumType = isNarrow ? builder.getF32Type() : getStorageType(element);
  auto convert = [&](Value value, Type from, Type to) {
    return createPointwise(builder, loc, value, createEmpty(builder, loc, shape, to),
                           [&](OpBuilder &inner, Location at, ValueRange v) {
                             return emitCast(inner, at, v[0], from, to);
                           });
  };
  if (!outs)
    outs = createFilled(builder, loc, shape, createScalar(builder, loc, sumType, 0));
  else if (isNarrow)
    outs = convert(outs, element, sumType);
  Value result = createGeneric(
      builder, loc, {lhs, rhs}, outs, maps, iterators, [&](OpBuilder &inner, Location at, ValueRange v) -> Value {
        if (isa<FloatType>(sumType)) {
          Value a = emitCast(inner, at, v[0], element, sumType), b = emitCast(inner, at, v[1], element, sumType);
          return math::FmaOp::create(inner, at, a, b, v[2]);
        }
        return arith::AddIOp::create(inner, at, v[2], arith::MulIOp::create(inner, at, v[0], v[1]));
      });
  return isNarrow ? convert(result, sumType, element) : result;
}

void createCheck(OpBuilder &builder, Location loc, Value condition, RuntimeCode code, const Twine &message,
                 ValueRange values) {
  rt::CheckOp::create(builder, loc, condition, builder.getI32IntegerAttr(code), builder.getStringAttr(message),
                      values);
}

void createRangeCheck(OpBuilder &builder, Location loc, Value value, DimAttr dim, IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  unsigned width = type.getWidth();
  auto compare = [&](arith::CmpIPredicate predicate, int64_t limit) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, value, createIndex(builder, loc, limit));
  };
  Value below = compare(arith::CmpIPredicate::sle, isUnsigned ? llvm::maxUIntN(width) : llvm::maxIntN(width));
  Value above = compare(arith::CmpIPredicate::sge, isUnsigned ? 0 : llvm::minIntN(width));
  createCheck(builder, loc, builder.createOrFold<arith::AndIOp>(loc, above, below), kArgumentCode,
              "the size " + Spellings(builder.getInsertionBlock()->getParentOp()).spell(dim) + " is {0}, which does not fit into " + (isUnsigned ? "U" : "I") + Twine(width),
              value);
}

void createPositionCheck(OpBuilder &builder, Location loc, Value position, Value extent, int64_t axis) {
  // One unsigned comparison: a negative position is above every extent.
  Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, extent);
  createCheck(builder, loc, ok, kIndexCode,
              "index {0} is out of range for axis " + Twine(axis) + " (0-based) of size {1}",
              {position, extent});
}

} // namespace kina
