//===- ConvertRTToLLVM.cpp - Run-time operations as calls -----------------===//

#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Dialect/RT/IR/RT.h"
#include "RuntimeCalls.h"

namespace kina {
#define GEN_PASS_DEF_CONVERTRTTOLLVM
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;
using namespace kina;

namespace {

/// File, line and column of an operation as the run time takes them.
struct SourceLocation {
  Value file, line, column;

  SourceLocation(OpBuilder &builder, RuntimeCalls &calls, Location loc) {
    // The innermost place: for code that was inlined, the one in the callee.
    auto range = loc->findInstanceOf<FileLineColRange>();
    file = calls.getText(builder, loc, range ? range.getFilename().getValue() : "");
    auto integer = [&](unsigned value) {
      return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    };
    line = integer(range ? range.getStartLine() : 0);
    column = integer(range ? range.getStartColumn() : 0);
  }
};

struct ConvertRTToLLVMPass : public kina::impl::ConvertRTToLLVMBase<ConvertRTToLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    RuntimeCalls calls(module);
    IRRewriter rewriter(context);
    auto pointer = LLVM::LLVMPointerType::get(context);
    auto i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    auto nothing = LLVM::LLVMVoidType::get(context);

    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<rt::RTDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      Location loc = op->getLoc();
      rewriter.setInsertionPoint(op);
      if (isa<rt::PollOp>(op)) {
        auto poll = calls.getFunction("kina_rt_poll", nothing, {pointer, i32, i32});
        SourceLocation source(rewriter, calls, loc);
        LLVM::CallOp::create(rewriter, loc, poll,
                             ValueRange{source.file, source.line, source.column});
        rewriter.eraseOp(op);
        continue;
      }
      if (auto assume = dyn_cast<rt::AssumeOp>(op)) {
        LLVM::AssumeOp::create(rewriter, loc, assume.getCondition());
        rewriter.eraseOp(op);
        continue;
      }
      if (auto tape = dyn_cast<rt::TapeNewOp>(op)) {
        MemRefType frame = tape.getFrame();
        uint64_t width = rt::getElementBytes(frame.getElementType());
        Value bytes = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(width));
        for (Value size : getSizes(rewriter, loc, frame, tape.getSizes()))
          bytes = LLVM::MulOp::create(rewriter, loc, bytes, size);
        auto create = calls.getFunction("kina_rt_tape_new", pointer, {i64});
        Value data = LLVM::CallOp::create(rewriter, loc, create, bytes).getResult();
        rewriter.replaceOp(op, calls.getBuffer(rewriter, loc, tape.getTape().getType(), data, {}));
        continue;
      }
      if (auto access = dyn_cast<rt::TapeFrameOp>(op)) {
        MemRefType frame = access.getFrame().getType();
        auto find = calls.getFunction("kina_rt_tape_frame", pointer, {pointer, i64});
        Value tape = memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc, access.getTape());
        tape = LLVM::IntToPtrOp::create(rewriter, loc, pointer, toI64(rewriter, loc, tape));
        Value data = LLVM::CallOp::create(rewriter, loc, find,
                                          ValueRange{tape, toI64(rewriter, loc, access.getAt())})
                         .getResult();
        rewriter.replaceOp(op, calls.getBuffer(rewriter, loc, frame, data,
                                               getSizes(rewriter, loc, frame, access.getSizes())));
        continue;
      }
      auto check = cast<rt::CheckOp>(op);
      auto fail = calls.getFunction("kina_rt_fail", nothing,
                                    {i32, pointer, pointer, i32, i32, i32}, /*isVarArg=*/true);
      fail.setPassthroughAttr(rewriter.getStrArrayAttr({"cold", "noreturn"}));
      Value yes = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
      Value failed = arith::XOrIOp::create(rewriter, loc, check.getCondition(), yes);
      auto branch = scf::IfOp::create(rewriter, loc, failed, /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      SourceLocation source(rewriter, calls, loc);
      SmallVector<Value> operands{
          LLVM::ConstantOp::create(rewriter, loc, check.getCodeAttr()),
          calls.getText(rewriter, loc, check.getMessage()),
          source.file,
          source.line,
          source.column,
          LLVM::ConstantOp::create(rewriter, loc,
                                   rewriter.getI32IntegerAttr(check.getValues().size()))};
      for (Value value : check.getValues())
        operands.push_back(toI64(rewriter, loc, value));
      LLVM::CallOp::create(rewriter, loc, fail, operands);
      rewriter.eraseOp(op);
    }
  }

  /// The size of every axis, as i64.
  static SmallVector<Value> getSizes(OpBuilder &builder, Location loc, MemRefType type,
                                     ValueRange open) {
    SmallVector<Value> sizes;
    for (int64_t size : type.getShape()) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(size)));
        continue;
      }
      sizes.push_back(toI64(builder, loc, open.front()));
      open = open.drop_front();
    }
    return sizes;
  }

  static Value toI64(OpBuilder &builder, Location loc, Value value) {
    Type i64 = builder.getI64Type();
    if (value.getType() == i64)
      return value;
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, i64, value);
    if (value.getType().isInteger(1))
      return arith::ExtUIOp::create(builder, loc, i64, value);
    return arith::ExtSIOp::create(builder, loc, i64, value);
  }
};

} // namespace
