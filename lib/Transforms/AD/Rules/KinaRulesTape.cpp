//===- KinaRulesTape.cpp - Derivatives of tapes ---------------------------===//
//
// What a derivative leaves on a tape has a derivative too. The cotangent of a tape is a
// tape of the cotangents of its frames.
//
//===----------------------------------------------------------------------===//

#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/AD/Rules.h"

using namespace mlir;

namespace kina {
namespace {

// A frame is a part of the tape: pulled back, it goes to what was pushed, and what the
// frame held before has no part in the result.
struct TapePushRule {
  static Value pull(RuleBuilder &k, TapePushOp op, unsigned i, Value dy, Value acc) {
    if (i == 2)
      return k.accumulate(acc, k.make<TapeReadOp>(op.getValue().getType(), dy, op.getAt()));
    return k.accumulate(acc, k.make<TapePushOp>(dy, op.getAt(), k.zeros(op.getValue().getType())));
  }
};

// Both tangents are written at once, since a tape has one owner.
struct TapePushModel : DifferentiableOpInterface::ExternalModel<TapePushModel, TapePushOp> {
  FailureOr<SmallVector<Value>> emitVJP(Operation *op, OpBuilder &builder, ValueRange cotangents,
                                        ValueRange accumulators, const BitVector &wanted) const {
    RuleBuilder k(builder, op->getLoc());
    SmallVector<Value> results(3);
    for (unsigned i : {2u, 0u})
      if (wanted[i])
        results[i] = TapePushRule::pull(k, cast<TapePushOp>(op), i, cotangents[0], accumulators[i]);
    return results;
  }
  FailureOr<SmallVector<Value>> emitJVP(Operation *op, OpBuilder &builder, ValueRange tangents) const {
    RuleBuilder k(builder, op->getLoc());
    auto push = cast<TapePushOp>(op);
    Value tape = tangents[0] ? tangents[0] : k.zerosLike(push.getTape());
    Value value = tangents[2] ? tangents[2] : k.zeros(push.getValue().getType());
    return SmallVector<Value>{k.make<TapePushOp>(tape, push.getAt(), value)};
  }
};

// The accumulator is changed in one frame only.
struct TapeReadRule {
  static Value pull(RuleBuilder &k, TapeReadOp op, unsigned, Value dy, Value acc) {
    Type type = op.getValue().getType();
    Value all = acc ? k.make<PresentOp>(acc, k.tapeLength(op.getTape())) : k.zerosLike(op.getTape());
    Value frame = k.make<TapeReadOp>(type, all, op.getAt());
    return k.make<TapePushOp>(all, op.getAt(), k.add(frame, dy));
  }
  static Value push(RuleBuilder &k, TapeReadOp op, unsigned, Value t, Value) {
    return k.make<TapeReadOp>(op.getValue().getType(), t, op.getAt());
  }
};

struct TapeAddRule {
  static Value pull(RuleBuilder &k, TapeAddOp, unsigned, Value dy, Value acc) { return k.accumulate(acc, dy); }
  static Value push(RuleBuilder &k, TapeAddOp, unsigned, Value t, Value acc) { return k.accumulate(acc, t); }
};

} // namespace

void attachTapeRules(MLIRContext &context) {
  TapePushOp::attachInterface<TapePushModel>(context);
  TapeReadOp::attachInterface<RuleModel<TapeReadRule, TapeReadOp>>(context);
  TapeAddOp::attachInterface<RuleModel<TapeAddRule, TapeAddOp>>(context);
}

} // namespace kina
