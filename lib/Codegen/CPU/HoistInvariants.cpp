//===- HoistInvariants.cpp - Loop-invariant code motion on tensors --------===//
//
// What upstream's loop-invariant code motion does, but for reads of a part of a tensor. To
// upstream these are free of effects, and undefined out of bounds; so it moves them above
// the test of their bounds, and out of loops that never run.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace kina {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

/// Whether every index is a constant within a constant size.
static bool isInside(tensor::ExtractOp extract) {
  return llvm::all_of(llvm::zip(extract.getIndices(), extract.getTensor().getType().getShape()), [](auto pair) {
    auto [index, size] = pair;
    std::optional<int64_t> position = getConstantIntValue(index);
    return position && !ShapedType::isDynamic(size) && *position >= 0 && *position < size;
  });
}

/// The same of a slice, whose strides are 1 wherever Kina makes one.
static bool isInside(tensor::ExtractSliceOp slice) {
  return llvm::all_of(llvm::zip(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides(),
                                slice.getSourceType().getShape()),
                      [](auto parts) {
                        auto [offset, size, stride, extent] = parts;
                        std::optional<int64_t> from = getConstantIntValue(offset), count = getConstantIntValue(size);
                        return from && count && isConstantIntValue(stride, 1) && !ShapedType::isDynamic(extent) &&
                               *from >= 0 && *from <= extent && *count <= extent - *from;
                      });
}

/// Whether it may be executed where the program does not.
static bool isSafeAnywhere(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return isInside(extract);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isInside(slice);
  // A write of a part: it has no use but in loops that replace it anyway.
  if (isa<tensor::InsertOp, tensor::InsertSliceOp>(op))
    return false;
  WalkResult inner = op->walk([&](Operation *nested) {
    return nested != op && isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertOp, tensor::InsertSliceOp>(nested) &&
                   !isSafeAnywhere(nested)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !inner.wasInterrupted();
}

namespace {
struct HoistInvariantsPass : kina::impl::HoistInvariantsBase<HoistInvariantsPass> {
  void runOnOperation() override {
    // From the inside out, so that what leaves a loop can leave the next one.
    getOperation()->walk([](LoopLikeOpInterface loop) {
      moveLoopInvariantCode(
          loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
          [&](Operation *op, Region *) { return isMemoryEffectFree(op) && isSpeculatable(op) && isSafeAnywhere(op); },
          [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
    });
  }
};
} // namespace
