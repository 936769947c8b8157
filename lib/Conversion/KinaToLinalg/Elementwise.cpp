//===- Elementwise.cpp - Scalars, and tensors element by element ----------===//
//
// Every element-wise operation is stated once, on scalars (`emitScalar`). A scalar of Kina
// is lowered by it directly, a tensor by a `linalg.generic` with it as the body.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Shorthand
//===----------------------------------------------------------------------===//

namespace {

/// Arithmetic at one place, on scalars of one type.
struct Scalar {
  OpBuilder &builder;
  Location loc;
  /// Whether integers are unsigned (ui8).
  bool isUnsigned = false;

  Value constant(Type type, double value) const { return createScalar(builder, loc, type, value); }
  Value like(Value value, double number) const { return constant(value.getType(), number); }
  template <typename Op, typename... Args>
  Value make(Args &&...args) const {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  Value add(Value a, Value b) const { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) const { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) const { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) const { return make<arith::DivFOp>(a, b); }
  Value neg(Value a) const { return make<arith::NegFOp>(a); }
  Value exp(Value a) const { return make<math::ExpOp>(a); }
  Value abs(Value a) const { return make<math::AbsFOp>(a); }
  Value select(Value c, Value a, Value b) const { return make<arith::SelectOp>(c, a, b); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const {
    return make<arith::CmpFOp>(predicate, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return make<arith::CmpIOp>(predicate, a, b);
  }

  Value fma(Value a, Value b, Value c) const { return make<math::FmaOp>(a, b, c); }
  Value clamp(Value x, double low, double high) const {
    return make<arith::MinimumFOp>(make<arith::MaximumFOp>(x, like(x, low)), like(x, high));
  }

  Value sigmoid(Value x) const;
  Value timesSigmoid(Value x, Value at, Value rest) const;
  Value truncateDivide(Value a, Value b, Value &remainder) const;
  Value floorDivide(Value a, Value b, bool wantRemainder) const;
  Value integerPower(Value base, Value exponent) const;
  Value floatRemainder(Value a, Value b) const;
};

} // namespace

// With z = exp(-|x|), which is at most 1, sigmoid is 1/(1+z) or z/(1+z): no overflow, and the
// left tail keeps its relative accuracy.
Value Scalar::sigmoid(Value x) const {
  Value one = like(x, 1);
  Value z = exp(neg(abs(x)));
  Value isLeft = compare(arith::CmpFPredicate::OLT, x, like(x, 0));
  return div(select(isLeft, z, one), add(one, z));
}

/// x * sigmoid(at + rest), where x has the sign of `at`; `rest` is the rounding error of `at`, or
/// null for 0. With h = exp(-|at|/2) the left tail x h^2/(1 + h^2) is rounded into the denormal
/// numbers only once, by the last product, and -inf (made finite) gives -0, the limit.
Value Scalar::timesSigmoid(Value x, Value at, Value rest) const {
  Value one = like(x, 1);
  Value isLeft = compare(arith::CmpFPredicate::OLT, at, like(x, 0));
  Value h = exp(mul(abs(at), like(x, -0.5)));
  bool isDouble = x.getType().isF64();
  double most = isDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  Value finite = make<arith::MaximumFOp>(x, like(x, -most));
  // d log(sigmoid) = (1 - sigmoid) rest, which is rest where `at` is large and negative.
  Value corrected = rest ? fma(h, rest, h) : h;
  return div(select(isLeft, mul(mul(finite, h), corrected), x), fma(h, h, one));
}

/// Quotient towards zero and remainder for any operands: a divisor 0 (which has been reported)
/// or -1 (whose quotient may wrap) never reaches the machine's division.
Value Scalar::truncateDivide(Value a, Value b, Value &remainder) const {
  Value zero = like(a, 0), one = like(a, 1);
  Value isZero = compare(arith::CmpIPredicate::eq, b, zero);
  if (isUnsigned) {
    Value divisor = select(isZero, one, b);
    remainder = make<arith::RemUIOp>(a, divisor);
    return make<arith::DivUIOp>(a, divisor);
  }
  Value isMinusOne = compare(arith::CmpIPredicate::eq, b, like(a, -1));
  Value divisor = select(make<arith::OrIOp>(isZero, isMinusOne), one, b);
  remainder = make<arith::RemSIOp>(a, divisor);
  Value quotient = make<arith::DivSIOp>(a, divisor);
  return select(isMinusOne, make<arith::SubIOp>(zero, a), quotient);
}

Value Scalar::floorDivide(Value a, Value b, bool wantRemainder) const {
  Value zero = like(a, 0);
  createCheck(builder, loc, compare(arith::CmpIPredicate::ne, b, zero), kDivisionCode,
              wantRemainder ? "remainder of {0} by zero" : "division of {0} by zero", a);
  Value remainder;
  Value quotient = truncateDivide(a, b, remainder);
  if (isUnsigned)
    return wantRemainder ? remainder : quotient;
  // Rounded towards zero is one too high where the remainder is not 0 and the signs differ.
  Value inexact = compare(arith::CmpIPredicate::ne, remainder, zero);
  Value signs = compare(arith::CmpIPredicate::slt, make<arith::XOrIOp>(remainder, b), zero);
  Value adjust = make<arith::AndIOp>(inexact, signs);
  if (wantRemainder)
    return select(adjust, make<arith::AddIOp>(remainder, b), remainder);
  return select(adjust, make<arith::SubIOp>(quotient, like(a, 1)), quotient);
}

Value Scalar::integerPower(Value base, Value exponent) const {
  Type type = base.getType();
  if (!isUnsigned)
    createCheck(builder, loc, compare(arith::CmpIPredicate::sge, exponent, like(base, 0)), kArgumentCode,
                "integer power {0} ** {1} needs an exponent >= 0", {base, exponent});
  SmallVector<Type> types(3, type);
  // The exponent shifts to the right unsigned, so that the loop ends whatever it is.
  auto loop = scf::WhileOp::create(
      builder, loc, types, ValueRange{like(base, 1), base, exponent},
      [&](OpBuilder &inner, Location at, ValueRange carried) {
        Scalar in{inner, at};
        Value more = in.compare(arith::CmpIPredicate::ne, carried[2], in.constant(type, 0));
        scf::ConditionOp::create(inner, at, more, carried);
      },
      [&](OpBuilder &inner, Location at, ValueRange carried) {
        Scalar in{inner, at};
        Value one = in.constant(type, 1);
        Value odd = in.compare(arith::CmpIPredicate::eq, in.make<arith::AndIOp>(carried[2], one), one);
        Value product = in.make<arith::MulIOp>(carried[0], carried[1]);
        Value square = in.make<arith::MulIOp>(carried[1], carried[1]);
        Value half = in.make<arith::ShRUIOp>(carried[2], one);
        scf::YieldOp::create(inner, at, ValueRange{in.select(odd, product, carried[0]), square, half});
      });
  return loop.getResult(0);
}

/// a - b*floor(a/b) without its cancellation: the exact remainder, moved to the divisor's sign.
Value Scalar::floatRemainder(Value a, Value b) const {
  Value zero = like(a, 0);
  Value remainder = make<arith::RemFOp>(a, b);
  Value isZero = compare(arith::CmpFPredicate::OEQ, remainder, zero);
  Value remainderNegative = compare(arith::CmpFPredicate::OLT, remainder, zero);
  Value divisorNegative = compare(arith::CmpFPredicate::OLT, b, zero);
  Value differ = make<arith::XOrIOp>(remainderNegative, divisorNegative);
  Value moved = select(differ, add(remainder, b), remainder);
  return select(isZero, make<math::CopySignOp>(zero, b), moved);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// f64 to a 16-bit float, rounded once. The step through f32 rounds to odd: truncated, with the
/// last bit set if anything was cut off, so that the second rounding sees what it needs.
static Value narrowDouble(Scalar s, Value value, Type to) {
  Type f32 = s.builder.getF32Type(), i32 = s.builder.getI32Type(), f64 = value.getType();
  Value nearest = s.make<arith::TruncFOp>(f32, value);
  Value back = s.make<arith::ExtFOp>(f64, nearest);
  Value bits = s.make<arith::BitcastOp>(i32, nearest);
  Value tooLarge = s.compare(arith::CmpFPredicate::OGT, s.abs(back), s.abs(value));
  Value truncated = s.select(tooLarge, s.make<arith::SubIOp>(bits, s.constant(i32, 1)), bits);
  Value odd = s.make<arith::OrIOp>(truncated, s.constant(i32, 1));
  // ONE is false for a NaN, which stays what it is.
  Value inexact = s.compare(arith::CmpFPredicate::ONE, back, value);
  Value rounded = s.make<arith::BitcastOp>(f32, s.select(inexact, odd, bits));
  return s.make<arith::TruncFOp>(to, rounded);
}

static Value castFloat(Scalar s, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  if (from == to)
    return value;
  if (isNarrow(to)) {
    if (from.isF64())
      return narrowDouble(s, value, to);
    if (isNarrow(from))
      value = s.make<arith::ExtFOp>(s.builder.getF32Type(), value);
    return s.make<arith::TruncFOp>(to, value);
  }
  if (from.getWidth() < to.getWidth()) {
    // Through f32, which every machine can reach from 16 bits.
    if (isNarrow(from) && to.isF64())
      value = s.make<arith::ExtFOp>(s.builder.getF32Type(), value);
    return s.make<arith::ExtFOp>(to, value);
  }
  return s.make<arith::TruncFOp>(to, value);
}

/// Towards zero, saturating, NaN to 0. The bounds are powers of two, so exact in every float.
static Value castFloatToInteger(Scalar s, Value value, unsigned width, bool isUnsigned) {
  if (isNarrow(value.getType()))
    value = s.make<arith::ExtFOp>(s.builder.getF32Type(), value);
  // ui8 fits into i32, in which no bound is near.
  auto type = IntegerType::get(s.builder.getContext(), isUnsigned ? 32 : width);
  double high = std::ldexp(1.0, isUnsigned ? width : width - 1), low = isUnsigned ? 0 : -high;
  auto integer = [&](const APInt &number) -> Value {
    return s.make<arith::ConstantOp>(s.builder.getIntegerAttr(type, number));
  };
  Value aboveLow = s.compare(arith::CmpFPredicate::OGE, value, s.like(value, low));
  Value belowHigh = s.compare(arith::CmpFPredicate::OLT, value, s.like(value, high));
  Value inRange = s.make<arith::AndIOp>(aboveLow, belowHigh);
  Value safe = s.select(inRange, value, s.like(value, 0));
  Value result = s.make<arith::FPToSIOp>(type, safe);
  APInt most = isUnsigned ? APInt::getMaxValue(width).zext(32) : APInt::getSignedMaxValue(width);
  APInt least = isUnsigned ? APInt::getZero(32) : APInt::getSignedMinValue(width);
  Value isHigh = s.compare(arith::CmpFPredicate::OGE, value, s.like(value, high));
  Value isLow = s.compare(arith::CmpFPredicate::OLT, value, s.like(value, low));
  result = s.select(isHigh, integer(most), s.select(isLow, integer(least), result));
  return isUnsigned ? s.make<arith::TruncIOp>(IntegerType::get(s.builder.getContext(), width), result) : result;
}

static Value castIntegerToFloat(Scalar s, Value value, bool isUnsigned, FloatType to) {
  if (isa<IndexType>(value.getType()))
    value = s.make<arith::IndexCastOp>(s.builder.getI64Type(), value);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  auto convert = [&](Type type) -> Value {
    if (isUnsigned)
      return s.make<arith::UIToFPOp>(type, value);
    return s.make<arith::SIToFPOp>(type, value);
  };
  if (!isNarrow(to))
    return convert(to);
  if (width <= 8)
    return s.make<arith::TruncFOp>(to, convert(s.builder.getF32Type()));
  if (width == 64) {
    // Beyond 2^53 the low 11 bits become one sticky bit, which makes the step to f64 exact and
    // leaves the rounding to 16 bits what it is.
    auto integer = [&](int64_t number) -> Value {
      return s.make<arith::ConstantOp>(s.builder.getI64IntegerAttr(number));
    };
    Value cut = s.make<arith::AndIOp>(value, integer(0x7FF));
    Value whole = s.make<arith::AndIOp>(value, integer(~int64_t(0x7FF)));
    Value hasRest = s.compare(arith::CmpIPredicate::ne, cut, integer(0));
    Value sticky = s.make<arith::OrIOp>(whole, s.select(hasRest, integer(0x400), integer(0)));
    int64_t limit = int64_t(1) << 53;
    Value isSmall = s.make<arith::AndIOp>(s.compare(arith::CmpIPredicate::slt, value, integer(limit)),
                                          s.compare(arith::CmpIPredicate::sgt, value, integer(-limit)));
    value = s.select(isSmall, value, sticky);
  }
  return narrowDouble(s, convert(s.builder.getF64Type()), to);
}

static Value castInteger(Scalar s, Value value, bool isUnsigned, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (isa<IndexType>(from) || isa<IndexType>(to)) {
    if (isUnsigned)
      return s.make<arith::IndexCastUIOp>(to, value);
    return s.make<arith::IndexCastOp>(to, value);
  }
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return s.make<arith::TruncIOp>(to, value);
  if (isUnsigned)
    return s.make<arith::ExtUIOp>(to, value);
  return s.make<arith::ExtSIOp>(to, value);
}

Value emitCast(OpBuilder &builder, Location loc, Value value, Type from, Type to) {
  Scalar s{builder, loc};
  if (from == to)
    return value;
  Type storage = getStorageType(to);
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (auto toFloat = dyn_cast<FloatType>(storage)) {
    if (isa<FloatType>(from))
      return castFloat(s, value, toFloat);
    return castIntegerToFloat(s, value, isUnsigned, toFloat);
  }
  if (to.isInteger(1)) {
    // A NaN is not 0.
    if (isa<FloatType>(from)) {
      if (isNarrow(from))
        value = s.make<arith::ExtFOp>(builder.getF32Type(), value);
      return s.compare(arith::CmpFPredicate::UNE, value, s.like(value, 0));
    }
    return s.compare(arith::CmpIPredicate::ne, value, s.like(value, 0));
  }
  if (isa<FloatType>(from)) {
    if (isa<IndexType>(storage))
      return s.make<arith::IndexCastOp>(storage, castFloatToInteger(s, value, 64, false));
    return castFloatToInteger(s, value, storage.getIntOrFloatBitWidth(), to.isUnsignedInteger());
  }
  return castInteger(s, value, isUnsigned, storage);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static Value emitComparison(Scalar s, CmpPredicate predicate, Value a, Value b) {
  if (isa<FloatType>(a.getType())) {
    using P = arith::CmpFPredicate;
    static constexpr P table[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return s.compare(table[static_cast<unsigned>(predicate)], a, b);
  }
  using P = arith::CmpIPredicate;
  static constexpr P sign[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  static constexpr P plain[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  // false is below true.
  bool isUnsigned = s.isUnsigned || a.getType().isInteger(1);
  return s.compare((isUnsigned ? plain : sign)[static_cast<unsigned>(predicate)], a, b);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// The tails are exponentials, which multiply the relative error of their argument by the
/// argument. So the arguments are computed with their rounding errors.
static Value emitGelu(Scalar s, GeluForm form, Value x) {
  bool isDouble = x.getType().isF64();
  // Beyond these the factor of x is 0 or 1. The rounded constants are the values of the type;
  // what they lack is added with the errors.
  auto split = [&](double high, double low) {
    double rounded = isDouble ? high : double(float(high));
    return std::pair(s.like(x, rounded), s.like(x, isDouble ? low : high - rounded));
  };
  if (form == GeluForm::erf) {
    // x erfc(-x/sqrt(2))/2: 1 + erf would cancel on the left.
    Value bounded = s.clamp(x, -40, 40);
    auto [c, cRest] = split(-0.70710678118654752440, 4.833646656726457e-17);
    Value at = s.mul(bounded, c);
    Value rest = s.fma(bounded, cRest, s.fma(bounded, c, s.neg(at)));
    // erfc' (t) = -2/sqrt(pi) exp(-t^2)
    Value slope = s.mul(s.like(x, -1.12837916709551257390), s.exp(s.neg(s.mul(at, at))));
    // Where erfc underflows the correction alone may be negative.
    Value tail = s.abs(s.fma(slope, rest, s.make<math::ErfcOp>(at)));
    double most = isDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
    Value finite = s.make<arith::MaximumFOp>(x, s.like(x, -most));
    return s.mul(s.mul(s.like(x, 0.5), finite), tail);
  }
  // (1 + tanh(u/2))/2 = sigmoid(u) with u = x (a + b x^2), a = 2 sqrt(2/pi), b = 0.044715 a.
  Value bounded = s.clamp(x, -40, 40);
  auto [a, aRest] = split(1.5957691216057308, -9.96930880911092e-17);
  auto [b, bRest] = split(0.07135481627260025, -6.175149918155315e-19);
  Value square = s.mul(bounded, bounded);
  Value squareRest = s.fma(bounded, bounded, s.neg(square));
  Value product = s.mul(b, square);
  Value productRest = s.fma(b, square, s.neg(product));
  Value sum = s.add(a, product);
  // The sum's error by Knuth's six operations, since either term may be the larger.
  Value second = s.sub(sum, a);
  Value sumRest = s.add(s.sub(a, s.sub(sum, second)), s.sub(product, second));
  sumRest = s.add(s.add(sumRest, productRest), s.fma(b, squareRest, s.fma(bRest, square, aRest)));
  Value at = s.mul(bounded, sum);
  Value rest = s.fma(bounded, sumRest, s.fma(bounded, sum, s.neg(at)));
  return s.timesSigmoid(x, at, rest);
}

/// log(1 + exp(-|x|)), the common part of softplus and log_sigmoid.
static Value emitLogTail(Scalar s, Value x) { return s.make<math::Log1pOp>(s.exp(s.neg(s.abs(x)))); }

/// An operation on f32 or f64; null if it is none.
static Value emitFloat(Scalar s, Operation *op, ValueRange v) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](NegOp) { return s.neg(v[0]); })
      .Case([&](AbsOp) { return s.abs(v[0]); })
      .Case([&](SignOp) {
        // Zeros and NaN (UEQ) stay.
        Value keep = s.compare(arith::CmpFPredicate::UEQ, v[0], s.like(v[0], 0));
        return s.select(keep, v[0], s.make<math::CopySignOp>(s.like(v[0], 1), v[0]));
      })
      .Case([&](SquareOp) { return s.mul(v[0], v[0]); })
      .Case([&](SqrtOp) { return s.make<math::SqrtOp>(v[0]); })
      .Case([&](RsqrtOp) { return s.div(s.like(v[0], 1), s.make<math::SqrtOp>(v[0])); })
      .Case([&](ExpOp) { return s.exp(v[0]); })
      .Case([&](Expm1Op) { return s.make<math::ExpM1Op>(v[0]); })
      .Case([&](LogOp) { return s.make<math::LogOp>(v[0]); })
      .Case([&](Log1pOp) { return s.make<math::Log1pOp>(v[0]); })
      .Case([&](SinOp) { return s.make<math::SinOp>(v[0]); })
      .Case([&](CosOp) { return s.make<math::CosOp>(v[0]); })
      .Case([&](TanOp) { return s.make<math::TanOp>(v[0]); })
      .Case([&](AsinOp) { return s.make<math::AsinOp>(v[0]); })
      .Case([&](AcosOp) { return s.make<math::AcosOp>(v[0]); })
      .Case([&](AtanOp) { return s.make<math::AtanOp>(v[0]); })
      .Case([&](SinhOp) { return s.make<math::SinhOp>(v[0]); })
      .Case([&](CoshOp) { return s.make<math::CoshOp>(v[0]); })
      .Case([&](TanhOp) { return s.make<math::TanhOp>(v[0]); })
      .Case([&](SigmoidOp) { return s.sigmoid(v[0]); })
      .Case([&](LogSigmoidOp) {
        // min(x, -0), so that the limit on the right is -0.
        Value isLeft = s.compare(arith::CmpFPredicate::OLT, v[0], s.like(v[0], 0));
        return s.sub(s.select(isLeft, v[0], s.like(v[0], -0.0)), emitLogTail(s, v[0]));
      })
      .Case([&](SoftplusOp) {
        return s.add(s.make<arith::MaximumFOp>(v[0], s.like(v[0], 0)), emitLogTail(s, v[0]));
      })
      .Case([&](SiluOp) { return s.timesSigmoid(v[0], v[0], /*rest=*/Value()); })
      .Case([&](ReluOp) { return s.make<arith::MaximumFOp>(v[0], s.like(v[0], 0)); })
      .Case([&](ErfOp) { return s.make<math::ErfOp>(v[0]); })
      .Case([&](FloorOp) { return s.make<math::FloorOp>(v[0]); })
      .Case([&](CeilOp) { return s.make<math::CeilOp>(v[0]); })
      .Case([&](RoundOp) { return s.make<math::RoundEvenOp>(v[0]); })
      .Case([&](GeluOp gelu) { return emitGelu(s, gelu.getForm(), v[0]); })
      .Case([&](IsNanOp) { return s.compare(arith::CmpFPredicate::UNO, v[0], v[0]); })
      .Case([&](IsFiniteOp) {
        Value infinity = s.like(v[0], std::numeric_limits<double>::infinity());
        return s.compare(arith::CmpFPredicate::OLT, s.abs(v[0]), infinity);
      })
      .Case([&](AddOp) { return s.add(v[0], v[1]); })
      .Case([&](SubOp) { return s.sub(v[0], v[1]); })
      .Case([&](MulOp) { return s.mul(v[0], v[1]); })
      .Case([&](DivOp) { return s.div(v[0], v[1]); })
      .Case([&](ModOp) { return s.floatRemainder(v[0], v[1]); })
      .Case([&](PowOp) { return s.make<math::PowFOp>(v[0], v[1]); })
      .Case([&](MinOp) { return s.make<arith::MinimumFOp>(v[0], v[1]); })
      .Case([&](MaxOp) { return s.make<arith::MaximumFOp>(v[0], v[1]); })
      .Case([&](Atan2Op) { return s.make<math::Atan2Op>(v[0], v[1]); })
      .Case([&](CmpOp cmp) { return emitComparison(s, cmp.getPredicate(), v[0], v[1]); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A shift by the width or more (or by a negative number, which is more unsigned) leaves
/// nothing but the sign of a signed number on the right.
static Value emitShift(Scalar s, bool left, Value value, Value amount) {
  Type type = value.getType();
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  Value last = s.like(value, width - 1);
  Value inRange = s.compare(arith::CmpIPredicate::ule, amount, last);
  Value clamped = s.select(inRange, amount, last);
  if (!left && !s.isUnsigned)
    return s.make<arith::ShRSIOp>(value, clamped);
  Value shifted = left ? s.make<arith::ShLIOp>(value, clamped) : s.make<arith::ShRUIOp>(value, clamped);
  return s.select(inRange, shifted, s.like(value, 0));
}

/// An operation on integers, booleans or index; null if it is none.
static Value emitInteger(Scalar s, Operation *op, ValueRange v) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](NegOp) { return s.make<arith::SubIOp>(s.like(v[0], 0), v[0]); })
      .Case([&](AbsOp) {
        if (s.isUnsigned)
          return Value(v[0]);
        Value negative = s.compare(arith::CmpIPredicate::slt, v[0], s.like(v[0], 0));
        return s.select(negative, s.make<arith::SubIOp>(s.like(v[0], 0), v[0]), v[0]);
      })
      .Case([&](SignOp) {
        Value zero = s.like(v[0], 0), one = s.like(v[0], 1);
        Value notZero = s.select(s.compare(arith::CmpIPredicate::ne, v[0], zero), one, zero);
        if (s.isUnsigned)
          return notZero;
        return s.select(s.compare(arith::CmpIPredicate::slt, v[0], zero), s.like(v[0], -1), notZero);
      })
      .Case([&](SquareOp) { return s.make<arith::MulIOp>(v[0], v[0]); })
      .Case([&](NotOp) { return s.make<arith::XOrIOp>(v[0], s.like(v[0], -1)); })
      .Case([&](AddOp) { return s.make<arith::AddIOp>(v[0], v[1]); })
      .Case([&](SubOp) { return s.make<arith::SubIOp>(v[0], v[1]); })
      .Case([&](MulOp) { return s.make<arith::MulIOp>(v[0], v[1]); })
      .Case([&](DivOp) { return s.floorDivide(v[0], v[1], /*wantRemainder=*/false); })
      .Case([&](ModOp) { return s.floorDivide(v[0], v[1], /*wantRemainder=*/true); })
      .Case([&](PowOp) { return s.integerPower(v[0], v[1]); })
      .Case([&](MinOp) {
        return s.isUnsigned ? s.make<arith::MinUIOp>(v[0], v[1]) : s.make<arith::MinSIOp>(v[0], v[1]);
      })
      .Case([&](MaxOp) {
        return s.isUnsigned ? s.make<arith::MaxUIOp>(v[0], v[1]) : s.make<arith::MaxSIOp>(v[0], v[1]);
      })
      .Case([&](AndOp) { return s.make<arith::AndIOp>(v[0], v[1]); })
      .Case([&](OrOp) { return s.make<arith::OrIOp>(v[0], v[1]); })
      .Case([&](XorOp) { return s.make<arith::XOrIOp>(v[0], v[1]); })
      .Case([&](ShiftLeftOp) { return emitShift(s, /*left=*/true, v[0], v[1]); })
      .Case([&](ShiftRightOp) { return emitShift(s, /*left=*/false, v[0], v[1]); })
      .Case([&](CmpOp cmp) { return emitComparison(s, cmp.getPredicate(), v[0], v[1]); })
      .Default([](Operation *) { return Value(); });
}

Value emitScalar(OpBuilder &builder, Operation *op, ValueRange operands) {
  Location loc = op->getLoc();
  Type element = getElementType(op->getOperand(0).getType());
  if (auto cast = dyn_cast<CastOp>(op))
    return emitCast(builder, loc, operands[0], element, getElementType(cast.getType()));
  if (isa<SelectOp>(op))
    return arith::SelectOp::create(builder, loc, operands[0], operands[1], operands[2]);

  Scalar s{builder, loc, element.isUnsignedInteger()};
  if (!isa<FloatType>(element))
    return emitInteger(s, op, operands);
  if (!isNarrow(element))
    return emitFloat(s, op, operands);
  // 16-bit floats compute in f32 and round once.
  Type f32 = builder.getF32Type();
  SmallVector<Value> wide = llvm::map_to_vector(
      operands, [&](Value value) -> Value { return s.make<arith::ExtFOp>(f32, value); });
  Value result = emitFloat(s, op, wide);
  if (result && result.getType() == f32)
    return s.make<arith::TruncFOp>(element, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct ElementwiseLowering : OpInterfaceConversionPattern<ElementwiseOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op->getLoc();
    auto type = dyn_cast<TensorType>(op->getResult(0).getType());
    if (!type || type.getRank() == 0) {
      Value result = emitScalar(rewriter, op, operands);
      if (!result)
        return rewriter.notifyMatchFailure(op, "no scalar rule");
      rewriter.replaceOp(op, result);
      return success();
    }
    // A scalar operand (the mask of a select) is captured, a tensor is an input.
    SmallVector<Value> inputs = llvm::to_vector(
        llvm::make_filter_range(operands, [](Value value) { return isa<RankedTensorType>(value.getType()); }));
    Value empty = createEmpty(rewriter, loc, type.getShape(), type.getElementType());
    bool complete = true;
    Value result =
        createPointwise(rewriter, loc, inputs, empty, [&](OpBuilder &inner, Location, ValueRange elements) {
          SmallVector<Value> scalars;
          unsigned next = 0;
          for (Value operand : operands)
            scalars.push_back(isa<RankedTensorType>(operand.getType()) ? elements[next++] : operand);
          Value scalar = emitScalar(inner, op, scalars);
          complete = scalar != nullptr;
          return complete ? scalar : elements.back();
        });
    if (!complete)
      return rewriter.notifyMatchFailure(op, "no scalar rule");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Values are immutable from here on: a copy and a name are the value itself.
template <typename OpTy>
struct IdentityLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperand());
    return success();
  }
};

struct DropLowering : OpConversionPattern<DropOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DropOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateKinaElementwiseToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ElementwiseLowering, IdentityLowering<CopyOp>, IdentityLowering<DetachOp>,
               IdentityLowering<WatchOp>, DropLowering>(converter, patterns.getContext());
}

} // namespace kina
