//===- Convolution.cpp - Convolutions and their cotangents ----------------===//
//
// Each is one sum of products over images that are padded with zeros first. The layout is
// chosen so that the innermost loop walks a long axis with stride 1.
//
// The cotangent of the input gathers: position u of the padded input sees output i through
// tap k where u = i*stride + k*dilation. With stride 1 that is a convolution with the kernel
// turned round. With a larger one the positions u = i*stride + r of one phase r see only the
// taps k with k*dilation = r modulo the stride, so the kernel is split into its phases (a
// dilated one first filled up with zeros) and each phase of the input is such a convolution.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace kina {

namespace {

/// Batch, group, output and input channel within the group, phase, position, tap. Reductions
/// run in this order.
enum Loop : unsigned { kBatch, kGroup, kOut, kIn, kPhaseY, kPhaseX, kRow, kColumn, kTapY, kTapX, kNumLoops };

/// A tensor with the size of each axis, and where the loops read it.
struct Grid {
  Value value;
  SmallVector<DimAttr> shape;
  SmallVector<AffineExpr> exprs;

  void add(DimAttr size, AffineExpr expr) {
    shape.push_back(size);
    exprs.push_back(expr);
  }
};

/// The least length of an inner loop that is worth vectorising.
constexpr int64_t kLong = 16;

struct Emitter {
  OpBuilder &builder;
  Location loc;
  TensorType x, w, y;
  ArrayRef<int64_t> stride, padding, dilation;
  int64_t groups;

  template <typename OpTy>
  Emitter(OpBuilder &builder, OpTy op)
      : builder(builder), loc(op.getLoc()), x(op.getRoleType(0)), w(op.getRoleType(1)), y(op.getRoleType(2)),
        stride(op.getStride()), padding(op.getPadding()), dilation(op.getDilation()), groups(op.getGroups()) {}

  DimAttr number(int64_t value) { return DimAttr::getConstant(builder.getContext(), value); }
  DimAttr outPerGroup() { return floorDivDims(w.getDim(0), number(groups)); }
  AffineExpr at(Loop loop) { return builder.getAffineDimExpr(loop); }
  Type elementType() { return x.getElementType(); }
  Value index(int64_t value) { return createIndex(builder, loc, value); }

  //===--------------------------------------------------------------------===//
  // Layout
  //===--------------------------------------------------------------------===//

  SmallVector<OpFoldResult> attributes(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }

  /// The tensor inside one of zeros, which it starts in at the offsets.
  Value pad(Value value, ArrayRef<DimAttr> shape, ArrayRef<DimAttr> padded, ArrayRef<DimAttr> offsets) {
    if (shape == padded)
      return value;
    Value zeros = createFilled(builder, loc, padded, createScalar(builder, loc, elementType(), 0));
    return tensor::InsertSliceOp::create(builder, loc, value, zeros, getDimSizes(builder, loc, offsets),
                                         getDimSizes(builder, loc, shape), attributes({1, 1, 1, 1}));
  }

  /// Adds a channel axis: with groups it is two.
  void addChannels(Grid &grid, DimAttr perGroup, Loop loop) {
    if (groups != 1)
      grid.add(number(groups), at(kGroup));
    grid.add(perGroup, at(loop));
  }

  /// Splits the axis of the tensor that `addChannels` made two of.
  void splitGroups(Grid &grid, int64_t axis) {
    if (groups == 1)
      return;
    SmallVector<ReassociationIndices> split = reassociation(grid.shape.size(), {{axis, 2}});
    auto type = RankedTensorType::get(getStaticSizes(grid.shape), elementType());
    grid.value = tensor::ExpandShapeOp::create(builder, loc, type, grid.value, split,
                                               getDimSizes(builder, loc, grid.shape));
  }

  /// Groups of neighbouring axes, one for each axis but those of `(first, count)`.
  static SmallVector<ReassociationIndices> reassociation(int64_t rank, ArrayRef<std::pair<int64_t, int64_t>> joined) {
    SmallVector<ReassociationIndices> result;
    for (int64_t axis = 0; axis < rank;) {
      int64_t count = 1;
      for (auto [first, size] : joined)
        if (first == axis)
          count = size;
      result.emplace_back(llvm::to_vector<2>(llvm::seq(axis, axis + count)));
      axis += count;
    }
    return result;
  }

  /// The axes in order, but that of the loop last.
  SmallVector<int64_t> orderWithLast(const Grid &grid, Loop last) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, grid.shape.size()));
    for (auto [axis, expr] : llvm::enumerate(grid.exprs))
      if (expr == at(last))
        std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
    return order;
  }

  Grid permute(const Grid &grid, ArrayRef<int64_t> order) {
    Grid result{grid.value, {}, {}};
    for (int64_t axis : order)
      result.add(grid.shape[axis], grid.exprs[axis]);
    if (grid.value && !llvm::is_sorted(order)) {
      Value empty = createEmpty(builder, loc, result.shape, elementType());
      result.value = linalg::TransposeOp::create(builder, loc, grid.value, empty, order)->getResult(0);
    }
    return result;
  }

  /// The first loop that is long or of unknown length, else the longest.
  Loop chooseInner(ArrayRef<std::pair<Loop, DimAttr>> candidates) {
    auto lengthOf = [](DimAttr size) { return size.getConstantValue().value_or(kLong); };
    auto best = candidates.front();
    for (auto candidate : llvm::drop_begin(candidates)) {
      if (lengthOf(best.second) >= kLong)
        break;
      if (lengthOf(candidate.second) > lengthOf(best.second))
        best = candidate;
    }
    return best.first;
  }

  /// The sum of products, in the layout that suits the inner loop; `result` says what of.
  Value sum(const Grid &lhs, const Grid &rhs, const Grid &result, Loop inner) {
    Grid a = permute(lhs, orderWithLast(lhs, inner)), b = permute(rhs, orderWithLast(rhs, inner));
    SmallVector<int64_t> order = orderWithLast(result, inner);
    Grid c = permute(result, order);
    auto mapOf = [&](const Grid &grid) { return AffineMap::get(kNumLoops, 0, grid.exprs, builder.getContext()); };
    AffineMap maps[] = {mapOf(a), mapOf(b), mapOf(c)};
    SmallVector<utils::IteratorType> iterators;
    for (unsigned loop = 0; loop < kNumLoops; ++loop) {
      auto uses = [&](AffineMap map) { return map.isFunctionOfDim(loop); };
      if (llvm::any_of(maps, uses))
        iterators.push_back(uses(maps[2]) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    }
    c.value = createProductSum(builder, loc, a.value, b.value, Value(), c.shape, elementType(),
                               compressUnusedDims(maps), iterators);
    return permute(c, invertPermutationVector(order)).value;
  }

  /// The tensor of the type, neighbouring axes joined.
  Value join(Value value, ArrayRef<std::pair<int64_t, int64_t>> joined) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    SmallVector<ReassociationIndices> groups = reassociation(rank, joined);
    if (static_cast<int64_t>(groups.size()) == rank)
      return value;
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  }

  //===--------------------------------------------------------------------===//
  // The three roles
  //===--------------------------------------------------------------------===//

  Grid inputGrid(Value value) {
    Grid grid{value, {}, {}};
    DimAttr zero = number(0);
    SmallVector<DimAttr> padded(x.getShape()), offsets(4, zero);
    for (unsigned axis : {0, 1}) {
      padded[axis + 2] = addDims(padded[axis + 2], number(2 * padding[axis]));
      offsets[axis + 2] = number(padding[axis]);
    }
    grid.value = pad(value, x.getShape(), padded, offsets);
    grid.add(x.getDim(0), at(kBatch));
    addChannels(grid, w.getDim(1), kIn);
    grid.add(padded[2], at(kRow) * stride[0] + at(kTapY) * dilation[0]);
    grid.add(padded[3], at(kColumn) * stride[1] + at(kTapX) * dilation[1]);
    splitGroups(grid, 1);
    return grid;
  }

  Grid kernelGrid(Value value) {
    Grid grid{value, {}, {}};
    addChannels(grid, outPerGroup(), kOut);
    grid.add(w.getDim(1), at(kIn));
    grid.add(w.getDim(2), at(kTapY));
    grid.add(w.getDim(3), at(kTapX));
    if (value)
      splitGroups(grid, 0);
    return grid;
  }

  Grid outputGrid(Value value) {
    Grid grid{value, {}, {}};
    grid.add(y.getDim(0), at(kBatch));
    addChannels(grid, outPerGroup(), kOut);
    grid.add(y.getDim(2), at(kRow));
    grid.add(y.getDim(3), at(kColumn));
    if (value)
      splitGroups(grid, 1);
    return grid;
  }

  SmallVector<std::pair<int64_t, int64_t>> groupsAt(int64_t axis) {
    SmallVector<std::pair<int64_t, int64_t>> joined;
    if (groups != 1)
      joined.push_back({axis, 2});
    return joined;
  }

  /// Whether there is nothing to sum.
  bool isEmpty() {
    return llvm::any_of(llvm::concat<const DimAttr>(x.getShape(), w.getShape(), y.getShape()),
                        [](DimAttr size) { return size.isConstant(0); });
  }

  Value zeros(TensorType type) {
    return createFilled(builder, loc, type.getShape(), createScalar(builder, loc, elementType(), 0));
  }

  Value emit(Conv2dOp, Value input, Value kernel) {
    Loop inner = chooseInner({{kOut, outPerGroup()}, {kColumn, y.getDim(3)}, {kGroup, number(groups)}});
    return join(sum(inputGrid(input), kernelGrid(kernel), outputGrid({}), inner), groupsAt(1));
  }

  // The positions are summed over; only channels are left for the inner loop.
  Value emit(Conv2dKernelGradOp, Value input, Value output) {
    Loop inner = chooseInner({{kOut, outPerGroup()}, {kIn, w.getDim(1)}, {kGroup, number(groups)}});
    return join(sum(inputGrid(input), outputGrid(output), kernelGrid({}), inner), groupsAt(0));
  }

  //===--------------------------------------------------------------------===//
  // The cotangent of the input
  //===--------------------------------------------------------------------===//

  /// One axis of it: `taps` taps a phase, `step` apart, on `positions` positions.
  struct Phases {
    int64_t stride, step, fill;
    DimAttr taps, positions;
  };

  Phases phasesOf(unsigned axis) {
    Phases p;
    p.stride = stride[axis];
    p.step = p.stride == 1 ? dilation[axis] : 1;
    p.fill = p.stride == 1 ? 1 : dilation[axis];
    p.taps = ceilDivDims(filledSize(p, axis), number(p.stride));
    p.positions = ceilDivDims(addDims(x.getDim(axis + 2), number(2 * padding[axis])), number(p.stride));
    return p;
  }

  /// The number of taps of the kernel after filling up.
  DimAttr filledSize(const Phases &p, unsigned axis) {
    DimAttr one = number(1);
    return addDims(mulDims(number(p.fill), subDims(w.getDim(axis + 2), one)), one);
  }

  /// The kernel by phases: tap m of phase r is tap stride*(taps - 1 - m) + r, in turned order.
  Grid phasedKernel(Value kernel, ArrayRef<Phases> phases) {
    Grid grid;
    grid.add(w.getDim(0), {});
    grid.add(w.getDim(1), {});
    int64_t phaseAxis[2] = {-1, -1};
    for (unsigned axis : {0, 1})
      if (phases[axis].stride != 1) {
        phaseAxis[axis] = grid.shape.size();
        grid.add(number(phases[axis].stride), {});
      }
    int64_t tapAxis = grid.shape.size();
    Value counts[2], sizes[2];
    for (unsigned axis : {0, 1}) {
      grid.add(phases[axis].taps, {});
      counts[axis] = getDimValue(builder, loc, phases[axis].taps);
      sizes[axis] = getDimValue(builder, loc, filledSize(phases[axis], axis));
    }
    Value empty = createEmpty(builder, loc, grid.shape, elementType());
    Value value = createPointwise(builder, loc, {}, empty, [&](OpBuilder &b, Location at, ValueRange) {
      auto loop = [&](int64_t axis) -> Value { return linalg::IndexOp::create(b, at, axis); };
      auto constant = [&](int64_t number) { return createIndex(b, at, number); };
      SmallVector<Value> position = {loop(0), loop(1)};
      Value exists;
      auto require = [&](arith::CmpIPredicate predicate, Value left, Value right) {
        Value holds = arith::CmpIOp::create(b, at, predicate, left, right);
        exists = exists ? arith::AndIOp::create(b, at, exists, holds).getResult() : holds;
      };
      for (unsigned axis : {0, 1}) {
        const Phases &p = phases[axis];
        Value turned = arith::SubIOp::create(b, at, arith::SubIOp::create(b, at, counts[axis], constant(1)),
                                             loop(tapAxis + axis));
        if (p.stride != 1) {
          turned = arith::MulIOp::create(b, at, turned, constant(p.stride));
          turned = arith::AddIOp::create(b, at, turned, loop(phaseAxis[axis]));
          require(arith::CmpIPredicate::slt, turned, sizes[axis]);
        }
        if (p.fill != 1) {
          require(arith::CmpIPredicate::eq, arith::RemUIOp::create(b, at, turned, constant(p.fill)), constant(0));
          turned = arith::DivUIOp::create(b, at, turned, constant(p.fill));
        }
        position.push_back(turned);
      }
      if (exists)
        for (Value &tap : MutableArrayRef(position).drop_front(2))
          tap = arith::SelectOp::create(b, at, exists, tap, constant(0));
      Value tap = tensor::ExtractOp::create(b, at, kernel, position);
      if (!exists)
        return tap;
      return arith::SelectOp::create(b, at, exists, tap, createScalar(b, at, elementType(), 0)).getResult();
    });

    Grid result{value, {}, {}};
    addChannels(result, outPerGroup(), kOut);
    result.add(w.getDim(1), at(kIn));
    for (unsigned axis : {0, 1})
      if (phases[axis].stride != 1)
        result.add(number(phases[axis].stride), at(axis ? kPhaseX : kPhaseY));
    result.add(phases[0].taps, at(kTapY));
    result.add(phases[1].taps, at(kTapX));
    splitGroups(result, 0);
    return result;
  }

  Value emit(Conv2dInputGradOp, Value kernel, Value output) {
    DimAttr zero = number(0), one = number(1);
    Phases phases[2] = {phasesOf(0), phasesOf(1)};
    SmallVector<DimAttr> padded(y.getShape()), offsets(4, zero);
    for (unsigned axis : {0, 1}) {
      offsets[axis + 2] = mulDims(number(phases[axis].step), subDims(phases[axis].taps, one));
      padded[axis + 2] = addDims(phases[axis].positions, offsets[axis + 2]);
    }
    Grid seen{pad(output, y.getShape(), padded, offsets), {}, {}};
    seen.add(y.getDim(0), at(kBatch));
    addChannels(seen, outPerGroup(), kOut);
    seen.add(padded[2], at(kRow) + at(kTapY) * phases[0].step);
    seen.add(padded[3], at(kColumn) + at(kTapX) * phases[1].step);
    splitGroups(seen, 1);

    Grid result;
    result.add(x.getDim(0), at(kBatch));
    addChannels(result, w.getDim(1), kIn);
    int64_t first = result.shape.size();
    // By phases the result is computed; each position's phases side by side it is needed.
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, first));
    SmallVector<std::pair<int64_t, int64_t>> joined = groupsAt(1);
    int64_t numPhased = llvm::count_if(phases, [](const Phases &p) { return p.stride != 1; }), phased = 0;
    for (unsigned axis : {0, 1}) {
      order.push_back(first + numPhased + axis);
      if (phases[axis].stride == 1)
        continue;
      joined.push_back({order.size() - 1, 2});
      order.push_back(first + phased++);
      result.add(number(phases[axis].stride), at(axis ? kPhaseX : kPhaseY));
    }
    result.add(phases[0].positions, at(kRow));
    result.add(phases[1].positions, at(kColumn));

    Loop inner = chooseInner({{kIn, w.getDim(1)}, {kColumn, phases[1].positions}, {kGroup, number(groups)}});
    result.value = sum(phasedKernel(kernel, phases), seen, result, inner);
    Value whole = join(permute(result, order).value, joined);
    auto type = RankedTensorType::get(getStaticSizes(x.getShape()), elementType());
    if (numPhased == 0 && padding[0] == 0 && padding[1] == 0)
      return whole;
    return tensor::ExtractSliceOp::create(builder, loc, type, whole, attributes({0, 0, padding[0], padding[1]}),
                                          getDimSizes(builder, loc, x.getShape()), attributes({1, 1, 1, 1}));
  }
};

template <typename OpTy>
struct ConvolutionLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op);
    rewriter.replaceOp(op, emitter.isEmpty() ? emitter.zeros(op.getType())
                                             : emitter.emit(op, adaptor.getLhs(), adaptor.getRhs()));
    return success();
  }
};

} // namespace

void populateKinaConvolutionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvolutionLowering<Conv2dOp>, ConvolutionLowering<Conv2dInputGradOp>,
               ConvolutionLowering<Conv2dKernelGradOp>>(converter, patterns.getContext());
}

} // namespace kina
