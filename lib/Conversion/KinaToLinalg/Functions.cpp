//===- Functions.cpp - Functions, calls, control flow, checks -------------===//

#include "Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kina {

namespace {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

struct FuncLowering : OpConversionPattern<FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(FuncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(), signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, "signature does not convert");
    auto function = func::FuncOp::create(rewriter, op.getLoc(), op.getSymName(),
                                         rewriter.getFunctionType(signature.getConvertedTypes(), results));
    function->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    function.setSymVisibilityAttr(op.getSymVisibilityAttr());
    function.setArgAttrsAttr(op.getArgAttrsAttr());
    function.setResAttrsAttr(op.getResAttrsAttr());
    function->setAttr(kFunctionTypeAttrName, TypeAttr::get(type));
    if (ArrayAttr vars = op.getShapeVarsAttr())
      function->setAttr(kShapeVarsAttrName, vars);
    if (ArrayAttr clauses = op.getPreconditionsAttr())
      function->setAttr(kRequiresAttrName, clauses);
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(), function.end());
    if (!function.getBody().empty() &&
        failed(rewriter.convertRegionTypes(&function.getBody(), *getTypeConverter(), &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnLowering : OpConversionPattern<ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, adaptor.getOperands());
    return success();
  }
};

struct CallLowering : OpConversionPattern<CallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result types do not convert");
    // A call may state sizes that the callee's signature leaves open, and the other way
    // round: `tensor.cast` at both ends keeps the types of both.
    auto callee = SymbolTable::lookupNearestSymbolFrom(op, op.getCalleeAttr());
    SmallVector<Value> operands(adaptor.getOperands());
    SmallVector<Type> calleeResults = types;
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(callee)) {
      SmallVector<Type> inputs;
      calleeResults.clear();
      if (failed(getTypeConverter()->convertTypes(function.getArgumentTypes(), inputs)) ||
          failed(getTypeConverter()->convertTypes(function.getResultTypes(), calleeResults)))
        return rewriter.notifyMatchFailure(op, "callee's signature does not convert");
      for (auto [operand, input] : llvm::zip(operands, inputs))
        if (operand.getType() != input)
          operand = tensor::CastOp::create(rewriter, op.getLoc(), input, operand);
    }
    auto call = func::CallOp::create(rewriter, op.getLoc(), op.getCallee(), calleeResults, operands);
    SmallVector<Value> results(call.getResults());
    for (auto [result, type] : llvm::zip(results, types))
      if (result.getType() != type)
        result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

struct IfLowering : OpConversionPattern<IfOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(IfOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result types do not convert");
    auto lowered = scf::IfOp::create(rewriter, op.getLoc(), types, adaptor.getCondition());
    rewriter.inlineRegionBefore(op.getThenRegion(), lowered.getThenRegion(), lowered.getThenRegion().end());
    rewriter.inlineRegionBefore(op.getElseRegion(), lowered.getElseRegion(), lowered.getElseRegion().end());
    rewriter.replaceOp(op, lowered.getResults());
    return success();
  }
};

/// Carried values go through the condition unchanged, as both dialects have it. An interrupt, a
/// step limit and the progress display come in where a loop polls: in every outermost loop, and
/// in an inner one unless its trip count is bounded, for it may never come back to the outer one.
struct WhileLowering : OpConversionPattern<WhileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WhileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result types do not convert");
    bool isOutermost = !op->getParentOfType<WhileOp>() && !op->getParentOfType<scf::WhileOp>();
    bool polls = isOutermost || !op.getTripBoundAttr();
    auto lowered = scf::WhileOp::create(rewriter, op.getLoc(), types, adaptor.getInits());
    rewriter.inlineRegionBefore(op.getBefore(), lowered.getBefore(), lowered.getBefore().end());
    rewriter.inlineRegionBefore(op.getAfter(), lowered.getAfter(), lowered.getAfter().end());
    if (failed(rewriter.convertRegionTypes(&lowered.getBefore(), *getTypeConverter())) ||
        failed(rewriter.convertRegionTypes(&lowered.getAfter(), *getTypeConverter())))
      return failure();
    if (polls) {
      rewriter.setInsertionPointToStart(&lowered.getAfter().front());
      rt::PollOp::create(rewriter, op.getLoc());
    }
    rewriter.replaceOp(op, lowered.getResults());
    return success();
  }
};

struct ConditionLowering : OpConversionPattern<ConditionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConditionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> forwarded(op->getBlock()->getArguments());
    llvm::append_range(forwarded, adaptor.getExtras());
    rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, adaptor.getCondition(), forwarded);
    return success();
  }
};

struct YieldLowering : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(YieldOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Facts and checks
//===----------------------------------------------------------------------===//

struct CheckLowering : OpConversionPattern<CheckOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CheckOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    StringRef text = op.getText().empty() ? StringRef("check failed") : op.getText();
    createCheck(rewriter, op.getLoc(), adaptor.getCondition(), kRequiresCode, text);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A size of a type that changes becomes an index first.
struct DimLowering : OpConversionPattern<DimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DimOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value size = DimOp::create(rewriter, loc, rewriter.getIndexType(), op.getValue());
    createRangeCheck(rewriter, loc, size, op.getValue(), cast<IntegerType>(op.getType()));
    rewriter.replaceOp(op, emitCast(rewriter, loc, size, rewriter.getIndexType(), op.getType()));
    return success();
  }
};

/// A size of a type that changes becomes an index. The op itself is ended by `resolveDims`.
struct BindDimLowering : OpConversionPattern<BindDimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BindDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value size = emitPosition(rewriter, op.getLoc(), adaptor.getValue(), op.getValue().getType());
    rewriter.replaceOpWithNewOp<BindDimOp>(op, op.getNameAttr(), size);
    return success();
  }
};

/// What carries no code: declarations of effects, and module-level values, whose uses have
/// been expanded.
template <typename OpTy>
struct EraseLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateKinaFunctionToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FuncLowering, ReturnLowering, CallLowering, IfLowering, WhileLowering, ConditionLowering,
               YieldLowering, CheckLowering, BindDimLowering, DimLowering, EraseLowering<EffectOp>, EraseLowering<GlobalOp>>(
      converter, patterns.getContext());
}

} // namespace kina
