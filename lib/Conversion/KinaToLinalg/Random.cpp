//===- Random.cpp - Philox4x32-10 and what is made of its words -----------===//
//
// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011). The words
// of all blocks come first, so that no block is computed for each of its elements again.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

#include <numbers>

using namespace mlir;

namespace kina {

namespace {

constexpr unsigned kWords = 4;

/// Scalar arithmetic on words at one place.
struct Scalars {
  OpBuilder &b;
  Location at;

  Value word(uint32_t value) { return arith::ConstantOp::create(b, at, b.getI32IntegerAttr(static_cast<int32_t>(value))); }
  Value long64(int64_t value) { return arith::ConstantOp::create(b, at, b.getI64IntegerAttr(value)); }
  Value index(int64_t value) { return createIndex(b, at, value); }
  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(b, at, std::forward<Args>(args)...);
  }
  Value low(Value wide) { return make<arith::TruncIOp>(b.getI32Type(), wide); }
  Value high(Value wide) { return low(make<arith::ShRUIOp>(wide, long64(32))); }

  /// The four words of the block with this counter.
  SmallVector<Value> philox(Value key, Value counter) {
    Value k0 = low(key), k1 = high(key);
    Value c0 = low(counter), c1 = high(counter), c2 = word(0), c3 = word(0);
    for (unsigned round = 0; round < 10; ++round) {
      if (round > 0) {
        k0 = make<arith::AddIOp>(k0, word(0x9E3779B9));
        k1 = make<arith::AddIOp>(k1, word(0xBB67AE85));
      }
      auto first = arith::MulUIExtendedOp::create(b, at, c0, word(0xD2511F53));
      auto second = arith::MulUIExtendedOp::create(b, at, c2, word(0xCD9E8D57));
      c0 = make<arith::XOrIOp>(make<arith::XOrIOp>(second.getHigh(), c1), k0);
      c2 = make<arith::XOrIOp>(make<arith::XOrIOp>(first.getHigh(), c3), k1);
      c1 = second.getLow();
      c3 = first.getLow();
    }
    return {c0, c1, c2, c3};
  }

  /// Of an even or an odd element, the one or the other.
  Value choose(Value odd, Value ifOdd, Value ifEven) { return make<arith::SelectOp>(odd, ifOdd, ifEven); }
  Value isOdd(Value position) {
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, make<arith::AndIOp>(position, index(1)), index(0));
  }
  Value join(Value low, Value high) {
    Value shifted = make<arith::ShLIOp>(make<arith::ExtUIOp>(b.getI64Type(), high), long64(32));
    return make<arith::OrIOp>(make<arith::ExtUIOp>(b.getI64Type(), low), shifted);
  }

  /// The leading bits of the integer as a number in [0, 1) of the type, which holds them.
  Value fraction(Value bits, FloatType type) {
    unsigned width = bits.getType().getIntOrFloatBitWidth(), digits = type.getFPMantissaWidth();
    Value shift = arith::ConstantOp::create(b, at, b.getIntegerAttr(bits.getType(), width - digits));
    Value number = make<arith::SIToFPOp>(type, make<arith::ShRUIOp>(bits, shift));
    return make<arith::MulFOp>(number, createScalar(b, at, type, std::ldexp(1.0, -static_cast<int>(digits))));
  }
};

bool isWide(Type element) { return element.getIntOrFloatBitWidth() == 64; }

/// What element `position` of the operation is, given a reader of its block's words.
using WordReader = llvm::function_ref<Value(unsigned)>;

/// The element's own bits.
Value emitBits(Scalars &s, Type element, Value position, WordReader word) {
  Value odd = s.isOdd(position);
  if (isWide(element))
    return s.join(s.choose(odd, word(2), word(0)), s.choose(odd, word(3), word(1)));
  Value inSecondHalf = s.isOdd(s.make<arith::ShRUIOp>(position, s.index(1)));
  return s.choose(inSecondHalf, s.choose(odd, word(3), word(2)), s.choose(odd, word(1), word(0)));
}

Value emitElement(RandomBitsOp, Scalars &s, Type element, Value position, WordReader word) {
  return emitBits(s, element, position, word);
}

Value emitElement(UniformOp, Scalars &s, Type element, Value position, WordReader word) {
  return s.fraction(emitBits(s, element, position, word), cast<FloatType>(element));
}

Value emitElement(NormalOp, Scalars &s, Type element, Value position, WordReader word) {
  auto type = cast<FloatType>(isWide(element) ? element : s.b.getF32Type());
  Value odd = s.isOdd(position), first, second;
  if (isWide(element)) {
    first = s.join(word(0), word(1));
    second = s.join(word(2), word(3));
  } else {
    Value inSecondHalf = s.isOdd(s.make<arith::ShRUIOp>(position, s.index(1)));
    first = s.choose(inSecondHalf, word(2), word(0));
    second = s.choose(inSecondHalf, word(3), word(1));
  }
  auto number = [&](double value) { return createScalar(s.b, s.at, type, value); };
  Value u = s.fraction(first, type), v = s.fraction(second, type);
  Value radius = s.make<math::SqrtOp>(
      s.make<arith::MulFOp>(number(-2), s.make<math::LogOp>(s.make<arith::SubFOp>(number(1), u))));
  // The sine is the cosine a quarter turn before; the difference is exact.
  Value turn = s.make<arith::SubFOp>(v, s.choose(odd, number(0.25), number(0)));
  Value angle = s.make<arith::MulFOp>(turn, number(2 * std::numbers::pi));
  Value result = s.make<arith::MulFOp>(radius, s.make<math::CosOp>(angle));
  return emitCast(s.b, s.at, result, type, element);
}

/// One row of elements.
template <typename OpTy>
struct DrawLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayRef<DimAttr> shape = getShape(op.getType());
    if (shape.size() != 1)
      return failure();
    Type element = getElementType(op.getType()), word = rewriter.getI32Type();
    // Elements in a block.
    int64_t count = isWide(element) ? 2 : 4;
    DimAttr blocks = ceilDivDims(shape[0], DimAttr::getConstant(rewriter.getContext(), count));
    SmallVector<Value> outs;
    for (unsigned i = 0; i < kWords; ++i)
      outs.push_back(createEmpty(rewriter, loc, blocks, word));
    AffineMap row = rewriter.getMultiDimIdentityMap(1);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, SmallVector<Type>(kWords, outs.front().getType()), ValueRange(), outs,
        SmallVector<AffineMap>(kWords, row), utils::IteratorType::parallel,
        [&](OpBuilder &b, Location at, ValueRange) {
          Scalars s{b, at};
          Value block = s.make<arith::IndexCastOp>(b.getI64Type(), s.make<linalg::IndexOp>(0));
          linalg::YieldOp::create(
              b, at, s.philox(adaptor.getKey(), s.make<arith::AddIOp>(adaptor.getCounter(), block)));
        });
    Value empty = createEmpty(rewriter, loc, shape, element);
    rewriter.replaceOp(op, createPointwise(rewriter, loc, {}, empty, [&](OpBuilder &b, Location at, ValueRange) {
                         Scalars s{b, at};
                         Value position = s.make<linalg::IndexOp>(0);
                         Value block = s.make<arith::DivUIOp>(position, s.index(count));
                         Value words[kWords];
                         return emitElement(op, s, element, position, [&](unsigned i) {
                           if (!words[i])
                             words[i] = s.make<tensor::ExtractOp>(generic.getResult(i), block);
                           return words[i];
                         });
                       }));
    return success();
  }
};

/// Other shapes are a row in another form.
template <typename OpTy>
struct FlattenDraw : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    ArrayRef<DimAttr> shape = getShape(op.getType());
    if (shape.size() == 1)
      return failure();
    Type row = TensorType::get(getElementType(op.getType()), productOf(op.getContext(), shape));
    Value draw = OpTy::create(rewriter, op.getLoc(), row, op.getKey(), op.getCounter());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), draw, UnitAttr());
    return success();
  }
};

} // namespace

void populateKinaRandomToLinalgPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DrawLowering<RandomBitsOp>, DrawLowering<UniformOp>, DrawLowering<NormalOp>>(converter,
                                                                                         patterns.getContext());
  patterns.add<FlattenDraw<RandomBitsOp>, FlattenDraw<UniformOp>, FlattenDraw<NormalOp>>(patterns.getContext());
}

} // namespace kina
