//===- Indexing.cpp - Boxes, gathers, scatters ----------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

namespace {

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Offset, size and step of each axis of a box.
struct Box {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

bool isConstantZero(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer.getValue().isZero();
  return false;
}

/// Checks the box of a slice or an update unless it is known to lie inside (K0803).
template <typename OpTy>
Box createBox(OpTy op, TensorType tensor, ValueRange offsets, OpBuilder &builder) {
  Location loc = op.getLoc();
  Box box;
  for (unsigned axis = 0; axis < tensor.getRank(); ++axis) {
    auto size = cast<DimAttr>(op.getSizes()[axis]);
    DimAttr extent = tensor.getDim(axis);
    box.offsets.push_back(offsets[axis]);
    box.sizes.push_back(getDimSize(builder, loc, size));
    box.strides.push_back(builder.getIndexAttr(1));
    if (op.getInBounds() || (size == extent && isConstantZero(op.getOffsets()[axis])))
      continue;
    Value sizeValue = getDimValue(builder, loc, size), extentValue = getDimValue(builder, loc, extent);
    Value zero = createIndex(builder, loc, 0);
    Value last = arith::SubIOp::create(builder, loc, extentValue, sizeValue);
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate, a, b);
    };
    Value ok = arith::AndIOp::create(builder, loc, compare(arith::CmpIPredicate::sge, offsets[axis], zero),
                                     compare(arith::CmpIPredicate::sle, offsets[axis], last));
    if (!size.isConstant())
      ok = arith::AndIOp::create(builder, loc, ok, compare(arith::CmpIPredicate::sge, sizeValue, zero));
    bool dropped = llvm::is_contained(op.getDropped(), static_cast<int64_t>(axis));
    std::string where = "axis " + std::to_string(axis) + " (0-based)";
    if (dropped)
      createCheck(builder, loc, ok, kIndexCode, "index {0} is out of range for " + where + " of size {1}",
                  {offsets[axis], extentValue});
    else
      createCheck(builder, loc, ok, kIndexCode,
                  "slice of size {1} at offset {0} leaves " + where + " of size {2}",
                  {offsets[axis], sizeValue, extentValue});
  }
  return box;
}

struct SliceLowering : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto tensor = cast<TensorType>(op.getOperand().getType());
    Box box = createBox(op, tensor, adaptor.getOffsets(), rewriter);
    Type type = getTypeConverter()->convertType(op.getType());
    if (isEmpty(getShape(op.getType())))
      rewriter.replaceOp(op, createEmpty(rewriter, op.getLoc(), getShape(op.getType()), tensor.getElementType()));
    else if (auto ranked = dyn_cast<RankedTensorType>(type))
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, ranked, adaptor.getOperand(), box.offsets, box.sizes,
                                                          box.strides);
    else
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, adaptor.getOperand(), adaptor.getOffsets());
    return success();
  }
};

struct UpdateLowering : OpConversionPattern<UpdateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(UpdateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto tensor = cast<TensorType>(op.getType());
    Box box = createBox(op, tensor, adaptor.getOffsets(), rewriter);
    if (isEmpty(getShape(op.getValue().getType())))
      rewriter.replaceOp(op, adaptor.getDest());
    else if (isa<RankedTensorType>(adaptor.getValue().getType()))
      rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, adaptor.getValue(), adaptor.getDest(), box.offsets,
                                                         box.sizes, box.strides);
    else
      rewriter.replaceOpWithNewOp<tensor::InsertOp>(op, adaptor.getValue(), adaptor.getDest(),
                                                    adaptor.getOffsets());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Reads the element of `source` whose position along the axis is given and whose other
/// positions are `others`, in order.
Value readAt(OpBuilder &builder, Location loc, Value source, Value position, Value extent, int64_t axis,
             ArrayRef<Value> others) {
  createPositionCheck(builder, loc, position, extent, axis);
  SmallVector<Value> indices(others);
  indices.insert(indices.begin() + axis, position);
  return tensor::ExtractOp::create(builder, loc, source, indices);
}

struct GatherLowering : OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = cast<TensorType>(op.getOperand().getType());
    Type indicesType = op.getIndices().getType(), position = getElementType(indicesType);
    int64_t axis = op.getAxis(), count = getRank(indicesType);
    Value extent = getDimValue(rewriter, loc, source.getDim(axis));
    auto type = cast<TensorType>(Type(op.getType()));
    unsigned rank = type.getRank();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    if (count > 0) {
      inputs.push_back(adaptor.getIndices());
      maps.push_back(rewriter.getMultiDimIdentityMap(rank).getSliceMap(axis, count));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(
        op, createGeneric(rewriter, loc, inputs, empty, maps, iterators,
                          [&](OpBuilder &inner, Location at, ValueRange v) {
                            SmallVector<Value> others;
                            for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
                              if (i < axis || i >= axis + count)
                                others.push_back(linalg::IndexOp::create(inner, at, i));
                            Value wanted = count > 0 ? v[0] : adaptor.getIndices();
                            return readAt(inner, at, adaptor.getOperand(),
                                          emitPosition(inner, at, wanted, position), extent, axis, others);
                          }));
    return success();
  }
};

struct TakeAlongLowering : OpConversionPattern<TakeAlongOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(TakeAlongOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = cast<TensorType>(op.getOperand().getType()), type = cast<TensorType>(Type(op.getType()));
    Type position = getElementType(op.getIndices().getType());
    int64_t axis = op.getAxis();
    Value extent = getDimValue(rewriter, loc, source.getDim(axis));
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    unsigned rank = type.getRank();
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    rewriter.replaceOp(
        op, createGeneric(rewriter, loc, adaptor.getIndices(), empty, maps, iterators,
                          [&](OpBuilder &inner, Location at, ValueRange v) {
                            SmallVector<Value> others;
                            for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
                              if (i != axis)
                                others.push_back(linalg::IndexOp::create(inner, at, i));
                            return readAt(inner, at, adaptor.getOperand(), emitPosition(inner, at, v[0], position),
                                          extent, axis, others);
                          }));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// A loop over the positions of the shape, in row-major order, that carries one tensor in
/// place. It is one loop whatever the rank: a carried tensor that an inner loop carries too
/// is harder to keep in its buffer.
Value createCarryingLoop(OpBuilder &builder, Location loc, ArrayRef<DimAttr> shape, Value init,
                         llvm::function_ref<Value(OpBuilder &, ValueRange, Value)> body) {
  if (shape.empty())
    return body(builder, {}, init);
  SmallVector<Value> sizes = llvm::map_to_vector(shape, [&](DimAttr dim) { return getDimValue(builder, loc, dim); });
  Value count = sizes.front();
  for (Value size : llvm::drop_begin(sizes))
    count = arith::MulIOp::create(builder, loc, count, size);
  auto loop = scf::ForOp::create(
      builder, loc, createIndex(builder, loc, 0), count, createIndex(builder, loc, 1), init,
      [&](OpBuilder &inner, Location at, Value position, ValueRange carried) {
        // The sizes are not 0 where the body runs.
        SmallVector<Value> positions(sizes.size());
        for (unsigned axis = sizes.size(); axis-- > 1;) {
          positions[axis] = arith::RemUIOp::create(inner, at, position, sizes[axis]);
          position = arith::DivUIOp::create(inner, at, position, sizes[axis]);
        }
        positions[0] = position;
        scf::YieldOp::create(inner, at, body(inner, positions, carried[0]));
      });
  return loop.getResult(0);
}

struct ScatterAddLowering : OpConversionPattern<ScatterAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScatterAddOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType());
    Type indicesType = op.getIndices().getType(), position = getElementType(indicesType);
    ArrayRef<DimAttr> shape = getShape(indicesType);
    int64_t axis = op.getAxis(), count = shape.size();
    Value extent = getDimValue(rewriter, loc, type.getDim(axis));
    SmallVector<DimAttr> rest(type.getShape());
    rest.erase(rest.begin() + axis);
    Type element = type.getElementType();

    auto addRow = [&](OpBuilder &b, ValueRange ivs, Value dest) -> Value {
      Value wanted = count ? tensor::ExtractOp::create(b, loc, adaptor.getIndices(), ivs).getResult()
                           : adaptor.getIndices();
      Value at = emitPosition(b, loc, wanted, position);
      createPositionCheck(b, loc, at, extent, axis);
      if (rest.empty()) {
        Value term = count ? tensor::ExtractOp::create(b, loc, adaptor.getValues(), ivs).getResult()
                           : adaptor.getValues();
        Value sum = emitElementAdd(b, loc, element, tensor::ExtractOp::create(b, loc, dest, at), term);
        return tensor::InsertOp::create(b, loc, sum, dest, at);
      }
      OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
      auto row = RankedTensorType::get(getStaticSizes(rest), getStorageType(element));
      SmallVector<OpFoldResult> restSizes = getDimSizes(b, loc, rest);
      auto boxOf = [&](ArrayRef<OpFoldResult> positions) {
        Box box;
        for (int64_t i = 0, rank = rest.size() + positions.size(), kept = 0; i < rank; ++i) {
          bool inside = i >= axis && i < axis + static_cast<int64_t>(positions.size());
          box.offsets.push_back(inside ? positions[i - axis] : zero);
          box.sizes.push_back(inside ? one : restSizes[kept++]);
          box.strides.push_back(one);
        }
        return box;
      };
      Box target = boxOf(OpFoldResult(at));
      Box source = boxOf(getAsOpFoldResult(ivs));
      Value terms = adaptor.getValues();
      if (count)
        terms = tensor::ExtractSliceOp::create(b, loc, row, terms, source.offsets, source.sizes, source.strides);
      Value old = tensor::ExtractSliceOp::create(b, loc, row, dest, target.offsets, target.sizes, target.strides);
      Value sum = createPointwise(b, loc, terms, old, [&](OpBuilder &inner, Location where, ValueRange v) {
        return emitElementAdd(inner, where, element, v[1], v[0]);
      });
      return tensor::InsertSliceOp::create(b, loc, sum, dest, target.offsets, target.sizes, target.strides);
    };
    rewriter.replaceOp(op, createCarryingLoop(rewriter, loc, shape, adaptor.getDest(), addRow));
    return success();
  }

  /// a + b as an element-wise operation adds: 16-bit floats in f32.
  static Value emitElementAdd(OpBuilder &builder, Location loc, Type element, Value a, Value b) {
    Type wide = element.isF16() || element.isBF16() ? builder.getF32Type() : element;
    Value sum = emitAdd(builder, loc, emitCast(builder, loc, a, element, wide),
                        emitCast(builder, loc, b, element, wide));
    return emitCast(builder, loc, sum, wide, element);
  }
};

struct PutAlongAddLowering : OpConversionPattern<PutAlongAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PutAlongAddOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<TensorType>(op.getType()), indices = cast<TensorType>(op.getIndices().getType());
    int64_t axis = op.getAxis();
    Value extent = getDimValue(rewriter, loc, type.getDim(axis));
    auto addElement = [&](OpBuilder &b, ValueRange ivs, Value dest) -> Value {
      Value wanted = tensor::ExtractOp::create(b, loc, adaptor.getIndices(), ivs);
      Value position = emitPosition(b, loc, wanted, indices.getElementType());
      createPositionCheck(b, loc, position, extent, axis);
      SmallVector<Value> target(ivs);
      target[axis] = position;
      Value term = tensor::ExtractOp::create(b, loc, adaptor.getValues(), ivs);
      Value old = tensor::ExtractOp::create(b, loc, dest, target);
      Value sum = ScatterAddLowering::emitElementAdd(b, loc, type.getElementType(), old, term);
      return tensor::InsertOp::create(b, loc, sum, dest, target);
    };
    rewriter.replaceOp(op,
                       createCarryingLoop(rewriter, loc, indices.getShape(), adaptor.getDest(), addElement));
    return success();
  }
};

} // namespace

void populateKinaIndexingToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SliceLowering, UpdateLowering, GatherLowering, TakeAlongLowering, ScatterAddLowering,
               PutAlongAddLowering>(converter, patterns.getContext());
}

} // namespace kina
