//===- RuleBuilder.h - What derivative rules are written with --*- C++ -*-===//
//
// Short spellings of the operations that pullbacks and pushforwards are made of, so
// that a rule reads as the equation it is. Operands of an element-wise function have
// one type; a number stands for a constant of the other operand's type.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_RULEBUILDER_H
#define KINA_TRANSFORMS_AD_RULEBUILDER_H

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"

namespace kina {

class RuleBuilder {
public:
  RuleBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// An operation whose result type follows from its operands.
  template <typename OpTy, typename... Args>
  mlir::Value make(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...).getResult();
  }

  /// The number in every element of the type, float or integer.
  mlir::Value constant(mlir::Type type, double number);
  mlir::Value zeros(mlir::Type type) { return constant(type, 0.0); }
  /// Zeros of the value's type; a tape's have as many frames.
  mlir::Value zerosLike(mlir::Value value);
  /// The number of frames of a tape: the bound it was made with, if that can be seen.
  mlir::Value tapeLength(mlir::Value tape);
  mlir::Value index(int64_t number);
  /// A loop that goes on while the first value it carries is above 0; its body is empty.
  WhileOp createCountdown(mlir::ValueRange operands);
  /// The value of the dimension in every element of the type.
  mlir::Value dimension(mlir::Type type, DimAttr dim);

  mlir::Value neg(mlir::Value a) { return make<NegOp>(a); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<DivOp>(a, b); }
  mlir::Value add(mlir::Value a, double b) { return add(a, constant(a.getType(), b)); }
  mlir::Value sub(double a, mlir::Value b) { return sub(constant(b.getType(), a), b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, constant(a.getType(), b)); }
  mlir::Value exp(mlir::Value a) { return make<ExpOp>(a); }
  mlir::Value sigmoid(mlir::Value a) { return make<SigmoidOp>(a); }
  mlir::Value square(mlir::Value a) { return make<SquareOp>(a); }
  mlir::Value select(mlir::Value mask, mlir::Value a, mlir::Value b) { return make<SelectOp>(mask, a, b); }
  mlir::Value select(mlir::Value mask, mlir::Value a, double b) { return select(mask, a, constant(a.getType(), b)); }
  mlir::Value select(mlir::Value mask, double a, mlir::Value b) { return select(mask, constant(b.getType(), a), b); }
  mlir::Value cmp(CmpPredicate predicate, mlir::Value a, mlir::Value b) { return make<CmpOp>(predicate, a, b); }
  mlir::Value cmp(CmpPredicate predicate, mlir::Value a, double b) {
    return cmp(predicate, a, constant(a.getType(), b));
  }
  /// To the element type of `like`, keeping the shape.
  mlir::Value cast(mlir::Value a, mlir::Type like);

  /// Reshaped, then repeated to the type; the inverse of reducing `axes` away, where
  /// the value may or may not have kept them.
  mlir::Value expand(mlir::Value a, mlir::Type type, llvm::ArrayRef<int64_t> axes);
  mlir::Value broadcast(mlir::Value a, mlir::Type type);
  mlir::Value reshape(mlir::Value a, mlir::Type type, bool checked = false);
  mlir::Value sum(mlir::Value a, llvm::ArrayRef<int64_t> axes, bool keepdims = false) {
    return make<SumOp>(a, axes, keepdims);
  }
  /// The transpose of broadcasting from `type`: the sum over every repeated axis.
  mlir::Value reduceTo(mlir::Value a, mlir::Type type);

  /// The value, or zeros of the type for a symbolic zero.
  mlir::Value orZeros(mlir::Value a, mlir::Type type) { return a ? a : zeros(type); }
  /// Accumulator plus contribution, either of which may be null for a symbolic zero.
  mlir::Value accumulate(mlir::Value accumulator, mlir::Value contribution);
};

/// Makes an addition of a kina.accumulate both of whose terms are there.
void lowerAccumulate(AccumulateOp op);

/// The interface for a rule that states, an operand at a time,
///   pull(k, op, i, dy, acc): the cotangent of operand i, added to `acc`, and
///   push(k, op, i, t, acc): what the tangent of operand i gives the result, added to `acc`,
/// for an operation with one result. `acc` and the value returned are null for zero.
/// Where the operation itself, applied to the tangents, gives what they do together, a rule
/// states instead
///   pushAll(k, op, tangents): the result's tangent from one tangent per operand, null for zero.
template <typename Rule, typename OpTy>
struct RuleModel : DifferentiableOpInterface::ExternalModel<RuleModel<Rule, OpTy>, OpTy> {
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitVJP(mlir::Operation *op, mlir::OpBuilder &builder,
                                                          mlir::ValueRange cotangents,
                                                          mlir::ValueRange accumulators,
                                                          const llvm::BitVector &wanted) const {
    RuleBuilder k(builder, op->getLoc());
    llvm::SmallVector<mlir::Value> results(op->getNumOperands());
    for (unsigned i : wanted.set_bits())
      results[i] = Rule::pull(k, llvm::cast<OpTy>(op), i, cotangents[0], accumulators[i]);
    return results;
  }
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitJVP(mlir::Operation *op, mlir::OpBuilder &builder,
                                                          mlir::ValueRange tangents) const {
    RuleBuilder k(builder, op->getLoc());
    mlir::Value sum;
    if constexpr (requires { Rule::pushAll(k, llvm::cast<OpTy>(op), tangents); })
      sum = Rule::pushAll(k, llvm::cast<OpTy>(op), tangents);
    else
      for (auto [i, tangent] : llvm::enumerate(tangents))
        if (tangent)
          sum = Rule::push(k, llvm::cast<OpTy>(op), i, tangent, sum);
    return llvm::SmallVector<mlir::Value>{sum};
  }
};

} // namespace kina

#endif
