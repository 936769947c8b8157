//===- LowerExpandShape.cpp - Expanded shapes as casts with strides -------===//
//
// Runs before upstream's memref-expand-strided-metadata, which derives the sizes of an expanded
// group from its source and supports one open size per group only. The operation names all of
// its sizes, so nothing needs to be derived.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"

namespace kina {
#define GEN_PASS_DEF_LOWEREXPANDSHAPE
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

static void lower(RewriterBase &rewriter, memref::ExpandShapeOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  MemRefType type = op.getResultType();
  auto source = memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());

  // What the type knows must be given as a number, the rest as a value.
  auto [typeStrides, typeOffset] = type.getStridesAndOffset();
  auto choose = [&](int64_t number, Value value) {
    return ShapedType::isDynamic(number) ? OpFoldResult(value)
                                         : OpFoldResult(rewriter.getIndexAttr(number));
  };
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  // A source of rank 0 has no groups; every size of the result is 1 then.
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[axis];
    for (int64_t inner : llvm::reverse(group)) {
      strides[inner] = choose(typeStrides[inner], stride);
      stride = arith::MulIOp::create(rewriter, loc, stride,
                                     getValueOrCreateConstantIndexOp(rewriter, loc, sizes[inner]));
    }
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, type, source.getBaseBuffer(), choose(typeOffset, source.getOffset()), sizes, strides);
}

namespace {
struct LowerExpandShapePass : public kina::impl::LowerExpandShapeBase<LowerExpandShapePass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) { ops.push_back(op); });
    for (memref::ExpandShapeOp op : ops)
      lower(rewriter, op);
  }
};
} // namespace
