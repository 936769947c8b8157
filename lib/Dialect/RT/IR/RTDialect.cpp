//===- RTDialect.cpp - The run-time dialect -------------------------------===//

#include "Kina/Dialect/RT/IR/RT.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace kina::rt;

#include "Kina/Dialect/RT/IR/RTDialect.cpp.inc"

#define GET_OP_CLASSES
#include "Kina/Dialect/RT/IR/RTOps.cpp.inc"

namespace {
/// These operations name no context: they mean the call that runs, wherever they stand.
struct RTInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void RTDialect::initialize() {
  addInterfaces<RTInlinerInterface>();
  addOperations<
#define GET_OP_LIST
#include "Kina/Dialect/RT/IR/RTOps.cpp.inc"
      >();
}

MemRefType kina::rt::getTapeType(MLIRContext *context) { return MemRefType::get({}, IntegerType::get(context, 8)); }

uint64_t kina::rt::getElementBytes(Type element) {
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8;
}

LogicalResult CheckOp::verify() {
  // The codes of the run time; anything else would be reported under a number that the table
  // of messages does not know.
  if (getCode() < 801 || getCode() > 999)
    return emitOpError("code must lie in 801..999, but is ") << getCode();
  if (getMessage().empty())
    return emitOpError("message must not be empty");
  for (Value value : getValues())
    if (auto type = dyn_cast<IntegerType>(value.getType()); type && type.getWidth() > 64)
      return emitOpError("values must have at most 64 bits, but got ") << type;
  return success();
}

/// What needs no test, and says nothing.
static LogicalResult eraseIfTrue(Operation *op, Value condition, PatternRewriter &rewriter) {
  if (!matchPattern(condition, m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter &rewriter) {
  return eraseIfTrue(op, op.getCondition(), rewriter);
}

LogicalResult AssumeOp::canonicalize(AssumeOp op, PatternRewriter &rewriter) {
  return eraseIfTrue(op, op.getCondition(), rewriter);
}

static LogicalResult verifyFrame(Operation *op, Type frame, ValueRange sizes) {
  auto type = dyn_cast<MemRefType>(frame);
  if (!type || !type.getLayout().isIdentity())
    return op->emitOpError("frame must lie row by row, but has type ") << frame;
  if (type.getNumDynamicDims() != sizes.size())
    return op->emitOpError("has ") << sizes.size() << " sizes, but the frame has type " << type;
  return success();
}

LogicalResult TapeNewOp::verify() { return verifyFrame(*this, getFrame(), getSizes()); }
LogicalResult TapeFrameOp::verify() { return verifyFrame(*this, getFrame().getType(), getSizes()); }

Value TapeFrameOp::getViewSource() { return getTape(); }

namespace {
/// A size of a frame is an operand, which may exist before the frame: so buffers of that size
/// can leave a loop.
struct FoldSizeOfFrame : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::DimOp dim, PatternRewriter &rewriter) const override {
    auto access = dim.getSource().getDefiningOp<TapeFrameOp>();
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!access || !axis)
      return failure();
    MemRefType type = access.getFrame().getType();
    if (*axis < 0 || *axis >= type.getRank() || !type.isDynamicDim(*axis))
      return failure();
    rewriter.replaceOp(dim, access.getSizes()[type.getDynamicDimIndex(*axis)]);
    return success();
  }
};
} // namespace

void TapeFrameOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldSizeOfFrame>(context);
}
