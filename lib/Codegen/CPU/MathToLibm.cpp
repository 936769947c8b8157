//===- MathToLibm.cpp - Elementary functions from the C library -----------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kina {
#define GEN_PASS_DEF_MATHTOLIBM
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

namespace {
struct MathToLibmPass : public kina::impl::MathToLibmBase<MathToLibmPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addLegalDialect<arith::ArithDialect, func::FuncDialect, vector::VectorDialect,
                           BuiltinDialect, LLVM::LLVMDialect>();
    target.addIllegalDialect<math::MathDialect>();
    // Exact as one instruction or as a short sequence that LLVM knows.
    target.addLegalOp<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
                      math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
                      math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
                      math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp, math::RsqrtOp,
                      math::SqrtOp, math::TruncOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
