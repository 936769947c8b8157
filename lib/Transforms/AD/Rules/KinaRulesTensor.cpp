//===- KinaRulesTensor.cpp - Derivatives of contraction, shape, indexing --===//
//
// All of these are linear in each float operand, so a pullback is the transposed
// operation and a pushforward the operation itself on the tangent.
//
//===----------------------------------------------------------------------===//

#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/AD/Rules.h"

using namespace mlir;

namespace kina {
namespace {

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

// For c = A B + outs with A = a or a^T and B = b or b^T: dA = dc B^T, dB = A^T dc; the
// flags say how each factor is stored, so that no transpose is ever made, and the
// accumulator is the matmul's `outs`, which keeps one FMA chain over all uses.
struct MatmulRule {
  static Value pull(RuleBuilder &k, MatmulOp op, unsigned i, Value dy, Value acc) {
    Value a = op.getLhs(), b = op.getRhs();
    bool ta = op.getTransposeA(), tb = op.getTransposeB();
    if (i == 0)
      return ta ? k.make<MatmulOp>(b, dy, acc, tb, true) : k.make<MatmulOp>(dy, b, acc, false, !tb);
    if (i == 1)
      return tb ? k.make<MatmulOp>(dy, a, acc, true, ta) : k.make<MatmulOp>(a, dy, acc, !ta, false);
    return k.accumulate(acc, dy);
  }
  static Value push(RuleBuilder &k, MatmulOp op, unsigned i, Value t, Value acc) {
    if (i == 2)
      return k.accumulate(acc, t);
    return k.make<MatmulOp>(i == 0 ? t : op.getLhs(), i == 1 ? t : op.getRhs(), acc, op.getTransposeA(),
                            op.getTransposeB());
  }
};

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

struct BroadcastRule {
  static Value pull(RuleBuilder &k, BroadcastOp op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, k.reduceTo(dy, op.getOperand().getType()));
  }
  static Value push(RuleBuilder &k, BroadcastOp op, unsigned, Value t, Value acc) {
    return k.broadcast(t, op.getType());
  }
};

struct ReshapeRule {
  static Value pull(RuleBuilder &k, ReshapeOp op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, k.reshape(dy, op.getOperand().getType(), op.getChecked()));
  }
  static Value push(RuleBuilder &k, ReshapeOp op, unsigned, Value t, Value acc) {
    return k.reshape(t, op.getType(), op.getChecked());
  }
};

struct TransposeRule {
  static Value pull(RuleBuilder &k, TransposeOp op, unsigned, Value dy, Value acc) {
    SmallVector<int64_t> inverse(op.getPerm().size());
    for (auto [axis, source] : llvm::enumerate(op.getPerm()))
      inverse[source] = axis;
    return k.accumulate(acc, k.make<TransposeOp>(dy, inverse));
  }
  static Value push(RuleBuilder &k, TransposeOp op, unsigned, Value t, Value) {
    return k.make<TransposeOp>(t, op.getPerm());
  }
};

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The box that `op` reads or writes, of another tensor of that shape. It was checked
/// when `op` was executed.
template <typename OpTy>
Value sliceLike(RuleBuilder &k, OpTy op, Type box, Value source) {
  return k.make<SliceOp>(box, source, op.getOffsets(), op.getSizes(), op.getDropped(), /*in_bounds=*/true);
}
template <typename OpTy>
Value updateLike(RuleBuilder &k, OpTy op, Value value, Value dest) {
  return k.make<UpdateOp>(value, dest, op.getOffsets(), op.getSizes(), op.getDropped(), /*in_bounds=*/true);
}

// The accumulator is changed inside the box only, so that a loop over slices costs the
// sum of the boxes and not a full tensor each.
struct SliceRule {
  static Value pull(RuleBuilder &k, SliceOp op, unsigned, Value dy, Value acc) {
    if (!acc)
      return updateLike(k, op, dy, k.zeros(op.getOperand().getType()));
    return updateLike(k, op, k.accumulate(sliceLike(k, op, op.getType(), acc), dy), acc);
  }
  static Value push(RuleBuilder &k, SliceOp op, unsigned, Value t, Value) { return sliceLike(k, op, op.getType(), t); }
};

struct UpdateRule {
  static Value pull(RuleBuilder &k, UpdateOp op, unsigned i, Value dy, Value acc) {
    Type box = op.getValue().getType();
    return k.accumulate(acc, i == 0 ? sliceLike(k, op, box, dy) : updateLike(k, op, k.zeros(box), dy));
  }
  static Value pushAll(RuleBuilder &k, UpdateOp op, ValueRange tangents) {
    return updateLike(k, op, k.orZeros(tangents[0], op.getValue().getType()), k.orZeros(tangents[1], op.getType()));
  }
};

// A concatenation is an update of disjoint boxes, one for each input.
struct ConcatRule {
  /// The box of input i in the result.
  struct Part {
    Type type;
    SmallVector<Value> offsets;
    SmallVector<Attribute> sizes;

    Part(RuleBuilder &k, ConcatOp op, unsigned i) : type(op.getInputs()[i].getType()) {
      DimAttr zero = DimAttr::getConstant(op.getContext(), 0), offset = zero;
      for (Value input : op.getInputs().take_front(i))
        offset = addDims(offset, getShape(input.getType())[op.getAxis()]);
      for (auto [axis, size] : llvm::enumerate(getShape(type))) {
        offsets.push_back(k.dimension(k.builder.getIndexType(), axis == op.getAxis() ? offset : zero));
        sizes.push_back(size);
      }
    }
  };
  static Value pull(RuleBuilder &k, ConcatOp op, unsigned i, Value dy, Value acc) {
    Part part(k, op, i);
    return k.accumulate(acc, k.make<SliceOp>(part.type, dy, part.offsets, k.builder.getArrayAttr(part.sizes),
                                             ArrayRef<int64_t>(), /*in_bounds=*/true));
  }
  static Value push(RuleBuilder &k, ConcatOp op, unsigned i, Value t, Value acc) {
    Part part(k, op, i);
    return k.make<UpdateOp>(t, acc ? acc : k.zeros(op.getType()), part.offsets, k.builder.getArrayAttr(part.sizes),
                            ArrayRef<int64_t>(), /*in_bounds=*/true);
  }
};

struct FromElementsRule {
  static Value pull(RuleBuilder &k, FromElementsOp op, unsigned i, Value dy, Value acc) {
    auto type = cast<TensorType>(op.getType());
    SmallVector<Value> offsets(type.getRank());
    SmallVector<Attribute> sizes(type.getRank(), DimAttr::getConstant(type.getContext(), 1));
    int64_t rest = i;
    for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
      int64_t size = *type.getDim(axis).getConstantValue();
      offsets[axis] = k.index(rest % size);
      rest /= size;
    }
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return k.accumulate(acc, k.make<SliceOp>(op.getElements()[i].getType(), dy, offsets,
                                             k.builder.getArrayAttr(sizes), all, /*in_bounds=*/true));
  }
  static Value pushAll(RuleBuilder &k, FromElementsOp op, ValueRange tangents) {
    SmallVector<Value> elements;
    for (Value tangent : tangents)
      elements.push_back(k.orZeros(tangent, getElementType(op.getType())));
    return k.make<FromElementsOp>(op.getType(), elements);
  }
};

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

struct GatherRule {
  static Value pull(RuleBuilder &k, GatherOp op, unsigned, Value dy, Value acc) {
    return k.make<ScatterAddOp>(acc ? acc : k.zeros(op.getOperand().getType()), op.getIndices(), dy, op.getAxis());
  }
  static Value push(RuleBuilder &k, GatherOp op, unsigned, Value t, Value) {
    return k.make<GatherOp>(t, op.getIndices(), op.getAxis());
  }
};

struct TakeAlongRule {
  static Value pull(RuleBuilder &k, TakeAlongOp op, unsigned, Value dy, Value acc) {
    return k.make<PutAlongAddOp>(acc ? acc : k.zeros(op.getOperand().getType()), op.getIndices(), dy, op.getAxis());
  }
  static Value push(RuleBuilder &k, TakeAlongOp op, unsigned, Value t, Value) {
    return k.make<TakeAlongOp>(t, op.getIndices(), op.getAxis());
  }
};

/// The rule of an operation that adds values into a tensor, whose transpose reads them.
template <typename ReadOp>
struct AddIntoRule {
  template <typename OpTy>
  static Value pull(RuleBuilder &k, OpTy op, unsigned i, Value dy, Value acc) {
    return k.accumulate(acc, i == 0 ? dy : k.make<ReadOp>(dy, op.getIndices(), op.getAxis()));
  }
  template <typename OpTy>
  static Value push(RuleBuilder &k, OpTy op, unsigned i, Value t, Value acc) {
    if (i == 0)
      return k.accumulate(acc, t);
    return k.make<OpTy>(acc ? acc : k.zeros(op.getType()), op.getIndices(), t, op.getAxis());
  }
};

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

template <typename Opposite>
struct PlacementCopyRule {
  template <typename OpTy>
  static Value pull(RuleBuilder &k, OpTy op, unsigned, Value dy, Value acc) {
    return k.accumulate(acc, k.make<Opposite>(op.getOperand().getType(), dy));
  }
  template <typename OpTy>
  static Value push(RuleBuilder &k, OpTy op, unsigned, Value t, Value) {
    return k.make<OpTy>(op.getType(), t);
  }
};

} // namespace

void attachTensorRules(MLIRContext &context) {
  MatmulOp::attachInterface<RuleModel<MatmulRule, MatmulOp>>(context);
  BroadcastOp::attachInterface<RuleModel<BroadcastRule, BroadcastOp>>(context);
  ReshapeOp::attachInterface<RuleModel<ReshapeRule, ReshapeOp>>(context);
  TransposeOp::attachInterface<RuleModel<TransposeRule, TransposeOp>>(context);
  ConcatOp::attachInterface<RuleModel<ConcatRule, ConcatOp>>(context);
  FromElementsOp::attachInterface<RuleModel<FromElementsRule, FromElementsOp>>(context);
  SliceOp::attachInterface<RuleModel<SliceRule, SliceOp>>(context);
  UpdateOp::attachInterface<RuleModel<UpdateRule, UpdateOp>>(context);
  GatherOp::attachInterface<RuleModel<GatherRule, GatherOp>>(context);
  ScatterAddOp::attachInterface<RuleModel<AddIntoRule<GatherOp>, ScatterAddOp>>(context);
  TakeAlongOp::attachInterface<RuleModel<TakeAlongRule, TakeAlongOp>>(context);
  PutAlongAddOp::attachInterface<RuleModel<AddIntoRule<TakeAlongOp>, PutAlongAddOp>>(context);
  CopyToDeviceOp::attachInterface<RuleModel<PlacementCopyRule<CopyToHostOp>, CopyToDeviceOp>>(context);
  CopyToHostOp::attachInterface<RuleModel<PlacementCopyRule<CopyToDeviceOp>, CopyToHostOp>>(context);
}

} // namespace kina
