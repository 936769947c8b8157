//===- WidenSmallFloats.cpp - f16 and bf16 through f32 --------------------===//
//
// Upstream's passes for this mark their conversions `contract`, and a later fold then keeps
// intermediate results in f32: an operation would no longer round.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"

namespace kina {
#define GEN_PASS_DEF_WIDENSMALLFLOATS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

static bool isSmall(Type type) { return type.isF16() || type.isBF16(); }

/// Operations that move or reinterpret a value rather than compute with it.
static bool isExact(Operation *op) {
  return isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::SelectOp,
             arith::TruncFOp>(op);
}

namespace {
struct WidenSmallFloatsPass : public kina::impl::WidenSmallFloatsBase<WidenSmallFloatsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isExact(op) &&
          (llvm::any_of(op->getOperandTypes(), isSmall) ||
           llvm::any_of(op->getResultTypes(), isSmall)))
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    Type f32 = builder.getF32Type();
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isSmall(operand.get().getType()))
          operand.set(arith::ExtFOp::create(builder, op->getLoc(), f32, operand.get()));
      builder.setInsertionPointAfter(op);
      for (Value result : op->getResults()) {
        Type small = result.getType();
        if (!isSmall(small))
          continue;
        result.setType(f32);
        auto rounded = arith::TruncFOp::create(builder, op->getLoc(), small, result);
        result.replaceAllUsesExcept(rounded, rounded);
      }
    }
  }
};
} // namespace
