//===- DimTest.cpp - The normal form of dimensions ------------------------===//
//
// Laws are checked as pointer equality; meaning against arithmetic in 128 bits on
// random expression trees, which knows nothing of the normal form.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <memory>
#include <random>

using namespace mlir;
using namespace kina;

namespace {

class DimTest : public ::testing::Test {
protected:
  DimAttr name(StringRef text) { return DimAttr::getName(&context, text); }
  DimAttr number(int64_t value) { return DimAttr::getConstant(&context, value); }
  Attribute parse(const std::string &text) { return parseAttribute(text, &context); }
  DimAttr parsed(const std::string &text) { return cast_or_null<DimAttr>(parse("#kina.dim<" + text + ">")); }

  MLIRContext context;
  KinaDialect *dialect = context.getOrLoadDialect<KinaDialect>();
  DimAttr B = name("B"), H = name("H"), D = name("D"), N = name("N"), M = name("M");
};

std::optional<int64_t> nothing(StringRef) { return std::nullopt; }

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

TEST_F(DimTest, ProductsReassociateAndCommute) {
  EXPECT_EQ(mulDims(B, mulDims(H, D)), mulDims(mulDims(B, H), D));
  EXPECT_EQ(mulDims(mulDims(D, B), H), mulDims(mulDims(B, H), D));
  EXPECT_NE(mulDims(B, H), mulDims(B, D));
}

TEST_F(DimTest, SumsReassociateAndCommute) {
  EXPECT_EQ(addDims(B, addDims(H, D)), addDims(addDims(D, B), H));
  EXPECT_EQ(subDims(addDims(B, H), H), B);
  EXPECT_EQ(subDims(N, N), number(0));
  EXPECT_TRUE(subDims(N, N).isConstant(0));
}

TEST_F(DimTest, ProductsDistribute) {
  EXPECT_EQ(mulDims(addDims(N, M), addDims(N, M)),
            addDims(addDims(mulDims(N, N), mulDims(M, M)), mulDims(number(2), mulDims(N, M))));
  EXPECT_EQ(toString(mulDims(addDims(N, number(1)), addDims(N, number(1)))), "N*N + 2*N + 1");
}

TEST_F(DimTest, ConstantsFold) {
  EXPECT_EQ(addDims(number(2), number(3)), number(5));
  EXPECT_EQ(mulDims(number(0), N), number(0));
  EXPECT_EQ(mulDims(number(1), N), N);
  EXPECT_EQ(N.getSingleName(), "N");
  EXPECT_EQ(mulDims(number(2), N).getSingleName(), "");
  EXPECT_EQ(number(7).getConstantValue(), 7);
  EXPECT_EQ(N.getConstantValue(), std::nullopt);
}

TEST_F(DimTest, DivisionRoundsTowardsMinusInfinity) {
  for (int64_t a = -9; a <= 9; ++a)
    for (int64_t b : {-4, -3, -1, 1, 2, 5}) {
      int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
      EXPECT_EQ(floorDivDims(number(a), number(b)), number(quotient)) << a << " floordiv " << b;
      EXPECT_EQ(modDims(number(a), number(b)), number(a - b * quotient));
      int64_t ceiling = quotient + (a - b * quotient != 0 ? 1 : 0);
      EXPECT_EQ(ceilDivDims(number(a), number(b)), number(ceiling));
    }
}

TEST_F(DimTest, DivisionTakesWholeMultiplesOut) {
  EXPECT_EQ(floorDivDims(mulDims(number(8), N), number(8)), N);
  EXPECT_EQ(floorDivDims(addDims(mulDims(number(8), N), number(7)), number(8)), N);
  EXPECT_EQ(ceilDivDims(addDims(mulDims(number(8), N), number(1)), number(8)), addDims(N, number(1)));
  EXPECT_EQ(modDims(mulDims(number(8), N), number(8)), number(0));
  EXPECT_EQ(modDims(addDims(mulDims(number(8), N), number(3)), number(8)), number(3));
  // floor((4N + 6)/8) = floor((2N + 3)/4).
  EXPECT_EQ(floorDivDims(addDims(mulDims(number(4), N), number(6)), number(8)),
            floorDivDims(addDims(mulDims(number(2), N), number(3)), number(4)));
  EXPECT_EQ(floorDivDims(N, number(1)), N);
  EXPECT_EQ(floorDivDims(N, number(-1)), negDim(N));
  // A divisor that may be zero is an obligation, so nothing folds.
  EXPECT_NE(floorDivDims(mulDims(N, M), M), N);
}

TEST_F(DimTest, ExtremaFlattenAndShareWhatIsCommon) {
  EXPECT_EQ(minDims({N, minDims({M, D})}), minDims({D, N, M}));
  EXPECT_EQ(minDims({N, N}), N);
  EXPECT_EQ(minDims({N, addDims(N, number(3))}), N);
  EXPECT_EQ(maxDims({N, addDims(N, number(3))}), addDims(N, number(3)));
  EXPECT_EQ(minDims({number(4), number(-4)}), number(-4));
  DimAttr two = number(2);
  EXPECT_EQ(minDims({addDims(N, two), addDims(M, two)}), addDims(minDims({N, M}), two));
  EXPECT_EQ(maxDims({mulDims(two, N), mulDims(two, M)}), mulDims(two, maxDims({N, M})));
  // What was pulled out of an inner extremum must not hide it from the outer one.
  EXPECT_EQ(minDims({addDims(minDims({N, M}), two), addDims(D, two)}),
            addDims(minDims({N, M, D}), two));
  EXPECT_EQ(minDims({mulDims(minDims({N, M}), two), mulDims(D, two)}), mulDims(minDims({N, M, D}), two));
  // The spelling is a nest of pairs; an inner pair may share what all three do not.
  DimAttr three = maxDims({addDims(negDim(B), number(11)), addDims(mulDims(number(6), H), number(12)), number(-24)});
  EXPECT_EQ(parsed(toString(three)), three);
  EXPECT_EQ(minDims({}), DimAttr());
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST_F(DimTest, OverflowIsNull) {
  DimAttr most = number(INT64_MAX), least = number(INT64_MIN);
  EXPECT_FALSE(addDims(most, number(1)));
  EXPECT_FALSE(subDims(least, number(1)));
  EXPECT_FALSE(negDim(least));
  EXPECT_FALSE(mulDims(most, number(2)));
  EXPECT_FALSE(mulDims(mulDims(most, N), number(2)));
  EXPECT_FALSE(addDims(mulDims(most, N), N));
  EXPECT_FALSE(floorDivDims(least, number(-1)));
  EXPECT_TRUE(floorDivDims(mulDims(least, N), number(3)));
  EXPECT_EQ(addDims(most, least), number(-1));
}

TEST_F(DimTest, DivisionByZeroIsNull) {
  EXPECT_FALSE(floorDivDims(N, number(0)));
  EXPECT_FALSE(ceilDivDims(N, number(0)));
  EXPECT_FALSE(modDims(N, subDims(M, M)));
}

TEST_F(DimTest, NullSpreads) {
  DimAttr null;
  EXPECT_FALSE(addDims(null, N));
  EXPECT_FALSE(subDims(N, null));
  EXPECT_FALSE(mulDims(null, N));
  EXPECT_FALSE(negDim(null));
  EXPECT_FALSE(floorDivDims(N, null));
  EXPECT_FALSE(ceilDivDims(null, N));
  EXPECT_FALSE(modDims(N, null));
  EXPECT_FALSE(minDims({N, null}));
  EXPECT_FALSE(productOf(&context, {N, null}));
  EXPECT_FALSE(substitute(null, [](StringRef) { return DimAttr(); }));
  EXPECT_FALSE(makeRelation(PredKind::EQ, N, null));
  EXPECT_FALSE(makeAnd({PredAttr()}));
  EXPECT_FALSE(makeNot(PredAttr()));
}

TEST_F(DimTest, GrowthIsBounded) {
  DimAttr product = number(1), remainder = N;
  for (unsigned i = 0; i < 64; ++i) {
    DimAttr a = name("a" + std::to_string(i)), b = name("b" + std::to_string(i));
    product = mulDims(product, addDims(a, b));
    remainder = modDims(remainder, a);
  }
  EXPECT_FALSE(product);
  EXPECT_FALSE(remainder);
  // Far more than any program needs is still well.
  DimAttr sum = number(0);
  for (unsigned i = 0; i < 500; ++i)
    sum = addDims(sum, name("n" + std::to_string(i)));
  ASSERT_TRUE(sum);
  EXPECT_EQ(parsed(toString(sum)), sum);
}

//===----------------------------------------------------------------------===//
// Substitution and evaluation
//===----------------------------------------------------------------------===//

TEST_F(DimTest, SubstitutionIsSimultaneous) {
  auto swap = [&](StringRef text) { return text == "N" ? M : text == "M" ? N : DimAttr(); };
  EXPECT_EQ(substitute(subDims(N, M), swap), subDims(M, N));
  auto two = [&](StringRef text) { return text == "N" ? number(2) : DimAttr(); };
  EXPECT_EQ(substitute(mulDims(N, M), two), mulDims(number(2), M));
  EXPECT_EQ(substitute(floorDivDims(addDims(N, number(7)), number(8)), two), number(1));
  EXPECT_EQ(substitute(minDims({N, M}), [&](StringRef) { return M; }), M);
}

TEST_F(DimTest, SubstitutionMayOverflowOrDivideByZero) {
  auto most = [&](StringRef) { return number(INT64_MAX); };
  EXPECT_FALSE(substitute(mulDims(number(2), N), most));
  auto zero = [&](StringRef text) { return text == "M" ? number(0) : DimAttr(); };
  EXPECT_FALSE(substitute(floorDivDims(N, M), zero));
}

TEST_F(DimTest, SubstitutionInTypes) {
  Type f64 = Float64Type::get(&context);
  Type tensor = kina::TensorType::get(f64, {N, mulDims(number(2), M)});
  DictionaryAttr subst = DictionaryAttr::get(
      &context, {NamedAttribute(StringAttr::get(&context, "N"), number(3)),
                 NamedAttribute(StringAttr::get(&context, "M"), addDims(N, number(1)))});
  EXPECT_EQ(substitute(tensor, subst),
            kina::TensorType::get(f64, {number(3), addDims(mulDims(number(2), N), number(2))}));
  EXPECT_EQ(substitute(f64, subst), f64);
  Type negative = kina::TensorType::get(f64, {subDims(N, number(5))});
  EXPECT_FALSE(substitute(negative, subst));
  EXPECT_FALSE(substitute(FunctionType::get(&context, {negative}, {}), subst));
}

TEST_F(DimTest, EvaluationSaysNothingRatherThanWrong) {
  auto value = [](StringRef text) -> std::optional<int64_t> {
    return text == "N" ? std::optional<int64_t>(INT64_MAX) : text == "M" ? std::optional<int64_t>(0) : std::nullopt;
  };
  EXPECT_EQ(evaluate(N, value), INT64_MAX);
  EXPECT_EQ(evaluate(addDims(N, number(1)), value), std::nullopt);
  EXPECT_EQ(evaluate(mulDims(N, N), value), std::nullopt);
  EXPECT_EQ(evaluate(floorDivDims(N, M), value), std::nullopt);
  EXPECT_EQ(evaluate(D, value), std::nullopt);
  EXPECT_EQ(evaluate(makeRelation(PredKind::LT, M, N), value), true);
  EXPECT_EQ(evaluate(makeRelation(PredKind::EQ, D, N), value), std::nullopt);
  // A connective may be settled by the part that is known.
  PredAttr open = makeRelation(PredKind::EQ, D, N), no = makeRelation(PredKind::EQ, M, number(1));
  EXPECT_EQ(evaluate(makeAnd({open, no}), value), false);
  EXPECT_EQ(evaluate(makeOr({open, makeNot(no)}), value), true);
  EXPECT_EQ(evaluate(makeNot(open), value), std::nullopt);
}

TEST_F(DimTest, NamesComeInOrderOfAppearance) {
  NameSet names;
  collectNames(parsed("D + min(N, M floordiv B)"), names);
  EXPECT_EQ(llvm::join(names.getArrayRef(), " "), "D N M B");
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(parsed("N floordiv M + N floordiv 3 + (N floordiv (M floordiv B)) floordiv 2"), divisors);
  EXPECT_EQ(divisors.size(), 3u);
}

//===----------------------------------------------------------------------===//
// Differential test
//===----------------------------------------------------------------------===//

/// An expression tree that means what its operators mean, whatever the normal form does.
struct Tree {
  enum Kind { Name, Number, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max } kind;
  int64_t value = 0;
  std::unique_ptr<Tree> left, right;
};

constexpr const char *kNames[] = {"B", "H", "D", "N"};

std::unique_ptr<Tree> randomTree(std::mt19937 &random, unsigned depth) {
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  auto tree = std::make_unique<Tree>();
  int choice = depth == 0 ? pick(0, 3) : pick(0, 15);
  if (choice <= 1) {
    tree->kind = Tree::Name;
    tree->value = pick(0, 3);
    return tree;
  }
  if (choice <= 3) {
    tree->kind = Tree::Number;
    tree->value = pick(-4, 9);
    return tree;
  }
  constexpr Tree::Kind kinds[] = {Tree::Add, Tree::Add, Tree::Sub, Tree::Sub, Tree::Mul,     Tree::Mul,
                                  Tree::Mul, Tree::Min, Tree::Max, Tree::Mod, Tree::CeilDiv, Tree::FloorDiv};
  tree->kind = kinds[choice - 4];
  tree->left = randomTree(random, depth - 1);
  tree->right = randomTree(random, depth - 1);
  return tree;
}

/// The value in 128 bits; nothing where a divisor is zero or a step leaves 96 bits.
std::optional<__int128> valueOf(const Tree &tree, ArrayRef<int64_t> values) {
  if (tree.kind == Tree::Name)
    return values[tree.value];
  if (tree.kind == Tree::Number)
    return tree.value;
  std::optional<__int128> x = valueOf(*tree.left, values), y = valueOf(*tree.right, values);
  constexpr __int128 limit = static_cast<__int128>(1) << 60;
  if (!x || !y || *x > limit || *x < -limit || *y > limit || *y < -limit)
    return std::nullopt;
  __int128 a = *x, b = *y;
  auto floorDiv = [](__int128 a, __int128 b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); };
  switch (tree.kind) {
  case Tree::Add:
    return a + b;
  case Tree::Sub:
    return a - b;
  case Tree::Mul:
    return a * b;
  case Tree::Min:
    return std::min(a, b);
  case Tree::Max:
    return std::max(a, b);
  case Tree::FloorDiv:
    return b == 0 ? std::nullopt : std::optional<__int128>(floorDiv(a, b));
  case Tree::CeilDiv:
    return b == 0 ? std::nullopt : std::optional<__int128>(-floorDiv(-a, b));
  case Tree::Mod:
    return b == 0 ? std::nullopt : std::optional<__int128>(a - b * floorDiv(a, b));
  case Tree::Name:
  case Tree::Number:
    break;
  }
  return std::nullopt;
}

/// The dimension. `reversed` builds the same value another way: operands exchanged
/// where that is a law, differences as sums, products distributed over a split operand.
DimAttr dimOf(MLIRContext *context, const Tree &tree, bool reversed) {
  if (tree.kind == Tree::Name)
    return DimAttr::getName(context, kNames[tree.value]);
  if (tree.kind == Tree::Number)
    return DimAttr::getConstant(context, tree.value);
  DimAttr a = dimOf(context, *tree.left, reversed), b = dimOf(context, *tree.right, reversed);
  DimAttr one = DimAttr::getConstant(context, 1);
  switch (tree.kind) {
  case Tree::Add:
    return reversed ? addDims(addDims(b, one), subDims(a, one)) : addDims(a, b);
  case Tree::Sub:
    return reversed ? negDim(addDims(b, negDim(a))) : subDims(a, b);
  case Tree::Mul:
    return reversed ? subDims(mulDims(addDims(b, one), a), a) : mulDims(a, b);
  case Tree::Min:
    return reversed ? minDims({b, a, b}) : minDims({a, b});
  case Tree::Max:
    return reversed ? maxDims({b, a, b}) : maxDims({a, b});
  case Tree::FloorDiv:
    return floorDivDims(a, b);
  case Tree::CeilDiv:
    return ceilDivDims(a, b);
  case Tree::Mod:
    return modDims(a, b);
  case Tree::Name:
  case Tree::Number:
    break;
  }
  return {};
}

TEST_F(DimTest, RandomExpressionsMeanTheSameInNormalForm) {
  std::mt19937 random(20260);
  unsigned built = 0, compared = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    std::unique_ptr<Tree> tree = randomTree(random, 4);
    DimAttr dim = dimOf(&context, *tree, false), other = dimOf(&context, *tree, true);
    if (!dim || !other)
      continue;
    ++built;
    ASSERT_EQ(dim, other) << toString(dim) << " and " << toString(other);
    ASSERT_EQ(parsed(toString(dim)), dim) << toString(dim);
    // Substituting every name for itself rebuilds it.
    ASSERT_EQ(substitute(dim, [](StringRef) { return DimAttr(); }), dim) << toString(dim);
    for (unsigned sample = 0; sample < 8; ++sample) {
      int64_t values[4];
      for (int64_t &value : values)
        value = std::uniform_int_distribution<int64_t>(-3, 12)(random);
      auto lookup = [&](StringRef text) -> std::optional<int64_t> {
        for (unsigned i = 0; i < 4; ++i)
          if (text == kNames[i])
            return values[i];
        return std::nullopt;
      };
      std::optional<__int128> expected = valueOf(*tree, values);
      std::optional<int64_t> actual = evaluate(dim, lookup);
      // A divisor that folds away, as in 0*(N floordiv M), leaves a value where the tree
      // has none; the other way round a value may not be lost at these sizes.
      if (!expected)
        continue;
      ASSERT_TRUE(actual) << toString(dim);
      ASSERT_TRUE(static_cast<__int128>(*actual) == *expected) << toString(dim);
      ++compared;
      DimAttr folded = substitute(dim, [&](StringRef text) { return number(*lookup(text)); });
      ASSERT_EQ(folded, number(*actual)) << toString(dim);
    }
  }
  // The test must not pass by building nothing.
  EXPECT_GT(built, 3000u);
  EXPECT_GT(compared, 20000u);
}

TEST_F(DimTest, DecisionsAgreeWithEnumeration) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  unsigned decided = 0;
  for (unsigned round = 0; round < 6000; ++round) {
    std::function<PredAttr(unsigned)> randomPred = [&](unsigned depth) -> PredAttr {
      int choice = depth == 0 ? 0 : pick(0, 5);
      if (choice == 3)
        return makeAnd({randomPred(depth - 1), randomPred(depth - 1)});
      if (choice == 4)
        return makeOr({randomPred(depth - 1), randomPred(depth - 1)});
      if (choice == 5)
        return makeNot(randomPred(depth - 1));
      PredKind kinds[] = {PredKind::EQ, PredKind::NE, PredKind::LE, PredKind::LT};
      return makeRelation(kinds[pick(0, 3)], dimOf(&context, *randomTree(random, 3), false),
                          dimOf(&context, *randomTree(random, 2), false));
    };
    PredAttr pred = randomPred(2);
    if (!pred)
      continue;
    int64_t least[4];
    for (int64_t &value : least)
      value = pick(-1, 3);
    auto leastOf = [&](StringRef text) -> std::optional<int64_t> {
      for (unsigned i = 0; i < 4; ++i)
        if (text == kNames[i])
          return least[i];
      return std::nullopt;
    };
    std::optional<bool> decision = decide(pred, leastOf);
    if (!decision)
      continue;
    ++decided;
    int64_t values[4];
    for (int64_t code = 0; code < 4 * 4 * 4 * 4; ++code) {
      for (unsigned i = 0; i < 4; ++i)
        values[i] = least[i] + (code >> (2 * i)) % 4;
      std::optional<bool> truth = evaluate(pred, [&](StringRef text) -> std::optional<int64_t> {
        for (unsigned i = 0; i < 4; ++i)
          if (text == kNames[i])
            return values[i];
        return std::nullopt;
      });
      if (truth)
        ASSERT_EQ(*truth, *decision) << toString(pred) << " at B=" << values[0] << " H=" << values[1]
                                     << " D=" << values[2] << " N=" << values[3];
    }
  }
  EXPECT_GT(decided, 500u);
}

TEST_F(DimTest, Decisions) {
  auto decideText = [&](const std::string &text) {
    return decide(cast<PredAttr>(parse("#kina.pred<" + text + ">")), nothing);
  };
  EXPECT_EQ(decideText("B*(H*D) = (B*H)*D"), true);
  EXPECT_EQ(decideText("N = N + 1"), false);
  EXPECT_EQ(decideText("1 le N"), true);
  EXPECT_EQ(decideText("N lt 1"), false);
  EXPECT_EQ(decideText("0 lt N*M + 3"), true);
  EXPECT_EQ(decideText("N le min(N, M)"), std::nullopt);
  EXPECT_EQ(decideText("min(N, M) le N"), true);
  EXPECT_EQ(decideText("N lt max(N, M) + 1"), true);
  EXPECT_EQ(decideText("N floordiv 2 le N"), true);
  EXPECT_EQ(decideText("0 le N mod M"), true);
  EXPECT_EQ(decideText("N mod M lt M"), true);
  EXPECT_EQ(decideText("1 le N ceildiv M"), std::nullopt);
  EXPECT_EQ(decideText("0 le N ceildiv M"), true);
  EXPECT_EQ(decideText("3*(N floordiv 3) lt N"), std::nullopt);
  EXPECT_EQ(decideText("N = M"), std::nullopt);
  EXPECT_EQ(decideText("N ne N + M"), true);
  EXPECT_EQ(decideText("N = M or 1 le N"), true);
  EXPECT_EQ(decideText("not (N lt 1)"), true);
  EXPECT_EQ(decideText("0 le N floordiv M"), true);
  // The divisor may be zero.
  EXPECT_EQ(decideText("0 le N floordiv (M - 1)"), std::nullopt);
}

TEST_F(DimTest, PredicatesPrintAndParse) {
  for (const char *text : {"N = 2", "N ne M", "M lt N", "M le N + 1", "N = 1 and M = 2", "N = 1 or M = 2",
                           "[N = 1 or M = 2] and not (N = 3 and M = 4)", "not (not (N = 1))"}) {
    std::string spelled = std::string("#kina.pred<") + text + ">";
    Attribute attribute = parse(spelled);
    ASSERT_TRUE(attribute) << text;
    std::string printed;
    llvm::raw_string_ostream(printed) << attribute;
    EXPECT_EQ(printed, spelled);
  }
  EXPECT_EQ(toString(cast<PredAttr>(parse("#kina.pred<[N ne 2 or M le 3] and not (N lt M)>"))),
            "(N != 2 or M <= 3) and not (N < M)");
}

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

TEST_F(DimTest, CeilingsAndRemaindersAreFoundAgain) {
  for (const char *text : {
           "N ceildiv 4", "N ceildiv 2", "(N + 1) ceildiv 4", "(M + N) ceildiv 8", "(2*N) ceildiv 5",
           "N ceildiv 4 + 1", "8*(N ceildiv 8)", "B*(N ceildiv 8)", "N - 2*(N ceildiv 3)", "M - (N ceildiv 8)", "N + N ceildiv 4",
           "N mod 4", "(M + N) mod 8", "2*(N mod 2)", "N mod 4 + 1", "M - (N mod 4)", "B*(N mod 8)", "(7*N) mod 8",
           "N mod M", "N mod (M - 1)", "N ceildiv M", "(B + N) ceildiv (M + 1)", "min(M, N ceildiv 4)",
           "(N mod 7) ceildiv M", "(N + 7) floordiv 8", "N - (N floordiv 4)",
           "M floordiv 3 + N floordiv 3",
       })
    EXPECT_EQ(toString(parsed(text)), text);
  // A sum begins with what is not negative.
  EXPECT_EQ(toString(subDims(N, M)), "N - M");
  EXPECT_EQ(toString(subDims(number(1), N)), "1 - N");
  EXPECT_EQ(toString(negDim(N)), "-N");
  auto pred = [&](const std::string &text) { return toString(cast<PredAttr>(parse("#kina.pred<" + text + ">"))); };
  EXPECT_EQ(pred("0 = N mod 8"), "N mod 8 = 0");
  EXPECT_EQ(pred("0 le N - M"), "N >= M");
  EXPECT_EQ(pred("5 le 8*N + 8"), "8*N + 8 >= 5");
  EXPECT_EQ(pred("1 le N - 2*(N ceildiv 3)"), "N >= 2*(N ceildiv 3) + 1");
  EXPECT_EQ(pred("0 le 0 - N"), "-N >= 0");
}

/// The dimension of the tree; what is written for it and its parts is noted.
DimAttr noted(MLIRContext *context, const Tree &tree, Spellings &spellings) {
  if (tree.kind == Tree::Name || tree.kind == Tree::Number)
    return dimOf(context, tree, false);
  DimAttr a = noted(context, *tree.left, spellings), b = noted(context, *tree.right, spellings);
  if (!a || !b)
    return {};
  DimAttr result;
  auto infix = [&](StringRef op, DimAttr (*combine)(DimAttr, DimAttr)) {
    result = combine(a, b);
    spellings.addInfix(result, a, op, b);
  };
  switch (tree.kind) {
  case Tree::Add:
    infix("+", addDims);
    break;
  case Tree::Sub:
    infix("-", subDims);
    break;
  case Tree::Mul:
    infix("*", mulDims);
    break;
  case Tree::FloorDiv:
    infix("floordiv", floorDivDims);
    break;
  case Tree::CeilDiv:
    infix("ceildiv", ceilDivDims);
    break;
  case Tree::Mod:
    infix("mod", modDims);
    break;
  case Tree::Min:
  case Tree::Max:
    result = tree.kind == Tree::Min ? minDims({a, b}) : maxDims({a, b});
    spellings.addCall(result, tree.kind == Tree::Min ? "min" : "max", a, b);
    break;
  case Tree::Name:
  case Tree::Number:
    break;
  }
  return result;
}

TEST_F(DimTest, EverySpellingReadsBack) {
  std::mt19937 random(11);
  unsigned ceilings = 0, remainders = 0, written = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    std::unique_ptr<Tree> tree = randomTree(random, 1 + round % 4), other = randomTree(random, 2);
    Spellings spellings;
    DimAttr dim = noted(&context, *tree, spellings), second = dimOf(&context, *other, false);
    if (!dim || !second)
      continue;
    // The dimension itself, one that has it as a part, and one that is made of it.
    for (DimAttr one : {dim, floorDivDims(addDims(dim, second), addDims(N, number(2))), minDims({dim, second}),
                        subDims(second, dim), mulDims(dim, second)}) {
      if (!one)
        continue;
      std::string plain = toString(one), spelled = spellings.spell(one);
      ASSERT_EQ(parsed(plain), one) << plain;
      ASSERT_EQ(parsed(spelled), one) << spelled << " is " << plain;
      ceilings += StringRef(plain).contains(" ceildiv ");
      remainders += StringRef(plain).contains(" mod ");
      written += plain != spelled;
    }
  }
  EXPECT_GT(ceilings, 500u);
  EXPECT_GT(remainders, 500u);
  EXPECT_GT(written, 2000u);
}

TEST_F(DimTest, WhatTheUserWroteIsKept) {
  Spellings spellings;
  DimAttr next = addDims(B, number(1)), blocks = mulDims(number(8), next);
  spellings.addInfix(next, B, "+", number(1));
  spellings.addInfix(blocks, number(8), "*", next);
  EXPECT_EQ(toString(blocks), "8*B + 8");
  EXPECT_EQ(spellings.spell(blocks), "8*(B + 1)");
  // What was written first counts; a name is its own spelling.
  spellings.addInfix(blocks, blocks, "+", number(0));
  spellings.addInfix(N, N, "+", number(0));
  EXPECT_EQ(spellings.spell(blocks), "8*(B + 1)");
  EXPECT_EQ(spellings.spell(N), "N");
  // Parts of another dimension.
  EXPECT_EQ(spellings.spell(floorDivDims(blocks, M)), "(8*(B + 1)) floordiv M");
  EXPECT_EQ(spellings.spell(minDims({blocks, M})), "min(8*(B + 1), M)");
  // Under other names it is another dimension.
  auto rename = [&](StringRef name) { return name == "B" ? H : DimAttr(); };
  EXPECT_EQ(spellings.spell(substitute(blocks, rename)), "8*H + 8");
  // Relations as they were written, and over what was written.
  PredAttr more = makeRelation(PredKind::LE, blocks, N);
  EXPECT_EQ(spellings.spell(more), "8*(B + 1) <= N");
  EXPECT_EQ(spellings.spell(makeRelation(PredKind::LE, number(9), blocks)), "8*(B + 1) >= 9");
  spellings.addRelation(more, N, ">=", blocks);
  EXPECT_EQ(spellings.spell(more), "N >= 8*(B + 1)");
  EXPECT_EQ(spellings.spell(makeOr({more, makeNot(more)})), "N >= 8*(B + 1) or not (N >= 8*(B + 1))");
  // A number of elements in the order of the sizes.
  spellings.addProduct(productOf(&context, {N, blocks, B}), {N, blocks, B});
  EXPECT_EQ(spellings.spell(productOf(&context, {B, N, blocks})), "N*(8*(B + 1))*B");
  // The second size of a name in a function is called as the source calls it.
  DimAttr again = name("L.1"), twice = mulDims(number(2), addDims(again, number(1)));
  spellings.addInfix(twice, number(2), "*", addDims(again, number(1)));
  EXPECT_EQ(spellings.spell(again), "L");
  EXPECT_EQ(spellings.spell(twice), "2*(L + 1)");
  EXPECT_EQ(toString(twice), "2*L.1 + 2");
  EXPECT_EQ(Spellings().spell(twice), "2*L + 2");
  // What is known at run time only has no name to write.
  DimAttr runtime = mulDims(number(2), addDims(name("%0"), number(1)));
  spellings.addInfix(runtime, number(2), "*", addDims(name("%0"), number(1)));
  EXPECT_EQ(spellings.spell(runtime), "2*%0 + 2");
  // In the attribute of a function, and back.
  OpBuilder builder(&context);
  OwningOpRef<FuncOp> function =
      FuncOp::create(builder, builder.getUnknownLoc(), "f", builder.getFunctionType({}, {}));
  EXPECT_EQ(Spellings(*function).spell(blocks), "8*B + 8");
  spellings.attachTo(*function);
  EXPECT_EQ(Spellings(*function).spell(blocks), "8*(B + 1)");
  EXPECT_EQ(Spellings(*function).spell(more), "N >= 8*(B + 1)");
  // A clause is kept with its text, and needs no other place.
  OwningOpRef<FuncOp> bounded =
      FuncOp::create(builder, builder.getUnknownLoc(), "g", builder.getFunctionType({}, {}));
  PredAttr clause = makeRelation(PredKind::LE, M, N);
  Spellings one;
  one.addRelation(clause, N, ">=", M);
  bounded->setPreconditionsAttr(builder.getArrayAttr(
      {ClauseAttr::get(&context, clause, ClauseMode::Prove, "N >= M", builder.getUnknownLoc())}));
  one.attachTo(*bounded);
  EXPECT_FALSE((*bounded)->hasAttr(kSpellingsAttrName));
  EXPECT_EQ(Spellings(*bounded).spell(clause), "N >= M");
}

} // namespace
