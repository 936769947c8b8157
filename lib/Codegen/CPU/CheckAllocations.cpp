//===- CheckAllocations.cpp - Byte sizes that fit into 64 bits ------------===//
//
// Lowering multiplies sizes, strides and the element's width modulo 2^64. A wrapped product
// would ask for a small buffer and write beyond it, so the exact product is compared first.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Dialect/RT/IR/RT.h"

#include "kina/runtime.h"

#include "llvm/Support/MathExtras.h"

#include <set>

namespace kina {
#define GEN_PASS_DEF_CHECKALLOCATIONS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;
using namespace kina;

/// The most bytes of one buffer; the run time and the host's tensors have the same bound.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 62;

/// What decides a check: a block, the bytes that the type knows, the open sizes.
using Key = std::tuple<Block *, uint64_t, std::vector<const void *>>;

/// Checks that a buffer of the type and the open sizes fits, before `op`.
static void check(Operation *op, MemRefType type, ValueRange openSizes, std::set<Key> &checked) {
  uint64_t width = rt::getElementBytes(type.getElementType()), known = width;
  bool fits = true;
  // A size of 0 counts as 1 here and below: strides don't wrap then, nor does the product of
  // some of the sizes.
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size)) {
      known = llvm::SaturatingMultiply<uint64_t>(known, std::max<int64_t>(size, 1));
      fits &= known <= kMaxBytes;
    }
  if (fits && openSizes.empty())
    return;
  std::vector<const void *> sizes;
  for (Value size : openSizes)
    sizes.push_back(size.getAsOpaquePointer());
  if (!checked.insert({op->getBlock(), known, std::move(sizes)}).second)
    return;

  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type i64 = builder.getI64Type();
  auto integer = [&](uint64_t value) { return arith::ConstantIntOp::create(builder, loc, i64, int64_t(value)); };
  Value ok;
  if (!fits) {
    ok = arith::ConstantIntOp::create(builder, loc, 0, 1);
  } else {
    // Unsigned, so that a negative size is too large as well: no factor is below 1.
    Value product = integer(known), overflow;
    for (Value size : openSizes) {
      size = arith::IndexCastOp::create(builder, loc, i64, size);
      size = arith::MaxUIOp::create(builder, loc, size, integer(1));
      auto wide = arith::MulUIExtendedOp::create(builder, loc, product, size);
      product = wide.getLow();
      overflow = overflow ? arith::OrIOp::create(builder, loc, overflow, wide.getHigh()).getResult() : wide.getHigh();
    }
    Value exact = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, overflow, integer(0));
    Value small = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, product, integer(kMaxBytes));
    ok = arith::AndIOp::create(builder, loc, exact, small);
  }
  std::string message = "out of memory: a tensor of shape [";
  unsigned open = 0;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    message +=
        (axis ? ", " : "") + (ShapedType::isDynamic(size) ? "{" + std::to_string(open++) + "}" : std::to_string(size));
  message += "] with " + std::to_string(width) + "-byte elements is wanted";
  rt::CheckOp::create(builder, loc, ok, builder.getI32IntegerAttr(KINA_ERROR_MEMORY), builder.getStringAttr(message),
                      openSizes);
}

namespace {
struct CheckAllocationsPass : public kina::impl::CheckAllocationsBase<CheckAllocationsPass> {
  void runOnOperation() override {
    std::set<Key> checked;
    getOperation()->walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        check(op, alloc.getType(), alloc.getDynamicSizes(), checked);
      else if (auto tape = dyn_cast<rt::TapeNewOp>(op))
        check(op, tape.getFrame(), tape.getSizes(), checked);
    });
  }
};
} // namespace
