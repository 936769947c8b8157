//===- Dim.cpp - Polynomial normal form of dimensions ---------------------===//
//
// A dimension is a sum of terms, a term a coefficient times a sorted product of
// atoms. Terms are ordered by degree (highest first), then by their atoms, so that a
// polynomial has one spelling whatever way it was built.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Structural order
//===----------------------------------------------------------------------===//

static int compare(DimAttr a, DimAttr b);

static int compare(DimAtomAttr a, DimAtomAttr b) {
  if (a == b)
    return 0;
  if (a.getKind() != b.getKind())
    return a.getKind() < b.getKind() ? -1 : 1;
  if (int order = a.getName().compare(b.getName()))
    return order;
  if (a.getArgs().size() != b.getArgs().size())
    return a.getArgs().size() < b.getArgs().size() ? -1 : 1;
  for (auto [x, y] : llvm::zip(a.getArgs(), b.getArgs()))
    if (int order = compare(x, y))
      return order;
  return 0;
}

/// Orders the products of atoms only.
static int compareFactors(ArrayRef<DimAtomAttr> a, ArrayRef<DimAtomAttr> b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [x, y] : llvm::zip(a, b))
    if (int order = compare(x, y))
      return order;
  return 0;
}

static int compare(DimAttr a, DimAttr b) {
  if (a == b)
    return 0;
  ArrayRef<DimTermAttr> x = a.getTerms(), y = b.getTerms();
  for (auto [s, t] : llvm::zip(x, y)) {
    if (int order = compareFactors(s.getFactors(), t.getFactors()))
      return order;
    if (s.getCoefficient() != t.getCoefficient())
      return s.getCoefficient() < t.getCoefficient() ? -1 : 1;
  }
  return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
struct Term {
  int64_t coefficient;
  SmallVector<DimAtomAttr, 4> factors;
};
} // namespace

/// Limits of one dimension. Attributes are shared, so a chain of `mod` is small in
/// memory while its spelling, and every walk over it, doubles with each link; a product
/// of sums doubles its terms. No program comes near; text made to do so must not hang.
static constexpr size_t kMaxSize = 2000;
static constexpr unsigned kMaxDepth = 100;

/// Takes the number of atoms in the spelling from `budget`; false if it does not suffice
/// or the spelling is nested too deeply.
static bool fits(ArrayRef<DimTermAttr> terms, size_t &budget, unsigned depth) {
  if (depth > kMaxDepth || terms.size() > budget)
    return false;
  budget -= terms.size();
  for (DimTermAttr term : terms) {
    if (term.getFactors().size() > budget)
      return false;
    budget -= term.getFactors().size();
    for (DimAtomAttr atom : term.getFactors())
      // min and max of many are spelled as a nest.
      for (DimAttr arg : atom.getArgs())
        if (!fits(arg.getTerms(), budget, depth + std::max<size_t>(1, atom.getArgs().size() - 1)))
          return false;
  }
  return true;
}

/// Sorts, merges and drops zeros; null on overflow and beyond the limits.
static DimAttr build(MLIRContext *context, SmallVector<Term> terms) {
  llvm::sort(terms, [](const Term &a, const Term &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  SmallVector<DimTermAttr> merged;
  for (size_t i = 0; i < terms.size();) {
    int64_t sum = 0;
    size_t j = i;
    for (; j < terms.size() && compareFactors(terms[i].factors, terms[j].factors) == 0; ++j) {
      std::optional<int64_t> next = llvm::checkedAdd(sum, terms[j].coefficient);
      if (!next)
        return {};
      sum = *next;
    }
    if (sum != 0)
      merged.push_back(DimTermAttr::get(context, sum, terms[i].factors));
    i = j;
  }
  size_t budget = kMaxSize;
  if (!fits(merged, budget, 0))
    return {};
  return DimAttr::get(context, merged);
}

static SmallVector<Term> toTerms(DimAttr dim) {
  SmallVector<Term> terms;
  for (DimTermAttr term : dim.getTerms())
    terms.push_back({term.getCoefficient(), llvm::to_vector<4>(term.getFactors())});
  return terms;
}

static DimAttr fromAtom(DimAtomAttr atom) {
  return build(atom.getContext(), {Term{1, {atom}}});
}

DimAttr DimAttr::getConstant(MLIRContext *context, int64_t value) {
  return build(context, {Term{value, {}}});
}

DimAttr DimAttr::getName(MLIRContext *context, StringRef name) {
  return fromAtom(DimAtomAttr::get(context, AtomKind::Name, name, {}));
}

std::optional<int64_t> DimAttr::getConstantValue() const {
  if (getTerms().empty())
    return 0;
  if (getTerms().size() == 1 && getTerms()[0].getFactors().empty())
    return getTerms()[0].getCoefficient();
  return std::nullopt;
}

StringRef DimAttr::getSingleName() const {
  if (getTerms().size() != 1 || getTerms()[0].getCoefficient() != 1 ||
      getTerms()[0].getFactors().size() != 1)
    return {};
  DimAtomAttr atom = getTerms()[0].getFactors()[0];
  return atom.getKind() == AtomKind::Name ? atom.getName() : StringRef();
}

DimAttr addDims(DimAttr a, DimAttr b) {
  if (!a || !b)
    return {};
  SmallVector<Term> terms = toTerms(a);
  llvm::append_range(terms, toTerms(b));
  return build(a.getContext(), std::move(terms));
}

DimAttr mulDims(DimAttr a, DimAttr b) {
  if (!a || !b)
    return {};
  if (a.getTerms().size() * b.getTerms().size() > kMaxSize)
    return {};
  SmallVector<Term> terms;
  for (DimTermAttr s : a.getTerms())
    for (DimTermAttr t : b.getTerms()) {
      std::optional<int64_t> coefficient =
          llvm::checkedMul(s.getCoefficient(), t.getCoefficient());
      if (!coefficient)
        return {};
      SmallVector<DimAtomAttr, 4> factors(s.getFactors());
      llvm::append_range(factors, t.getFactors());
      llvm::sort(factors, [](DimAtomAttr x, DimAtomAttr y) { return compare(x, y) < 0; });
      terms.push_back({*coefficient, std::move(factors)});
    }
  return build(a.getContext(), std::move(terms));
}

DimAttr negDim(DimAttr a) {
  return a ? mulDims(a, DimAttr::getConstant(a.getContext(), -1)) : a;
}

DimAttr subDims(DimAttr a, DimAttr b) { return addDims(a, negDim(b)); }

bool takeFactors(SmallVectorImpl<DimAtomAttr> &factors, DimTermAttr term) {
  return llvm::all_of(term.getFactors(), [&](DimAtomAttr factor) {
    auto it = llvm::find(factors, factor);
    if (it == factors.end())
      return false;
    factors.erase(it);
    return true;
  });
}

DimAttr productOf(MLIRContext *context, ArrayRef<DimAttr> dims) {
  DimAttr product = DimAttr::getConstant(context, 1);
  for (DimAttr dim : dims)
    product = mulDims(product, dim);
  return product;
}

static uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

DimAttr floorDivDims(DimAttr a, DimAttr b) {
  if (!a || !b)
    return {};
  MLIRContext *context = a.getContext();
  std::optional<int64_t> constant = b.getConstantValue();
  if (!constant)
    return fromAtom(DimAtomAttr::get(context, AtomKind::FloorDiv, "", {a, b}));
  int64_t c = *constant;
  if (c == 0 || c == INT64_MIN)
    return {};
  if (c < 0) {
    a = negDim(a);
    c = -c;
    if (!a)
      return {};
  }
  // An integer multiple of c leaves the floor; what stays has coefficients in [0, c).
  SmallVector<Term> whole, rest;
  for (Term term : toTerms(a)) {
    int64_t quotient = llvm::divideFloorSigned(term.coefficient, c);
    int64_t remainder = term.coefficient % c;
    remainder += remainder < 0 ? c : 0;
    if (quotient)
      whole.push_back({quotient, term.factors});
    if (remainder)
      rest.push_back({remainder, term.factors});
  }
  DimAttr outside = build(context, std::move(whole));
  bool onlyConstant = llvm::all_of(rest, [](const Term &t) { return t.factors.empty(); });
  if (!outside || onlyConstant)
    return outside;
  // floor((g*r + k)/(g*c)) = floor((r + floor(k/g))/c).
  uint64_t g = static_cast<uint64_t>(c);
  for (const Term &term : rest)
    if (!term.factors.empty())
      g = std::gcd(g, magnitude(term.coefficient));
  for (Term &term : rest)
    term.coefficient /= static_cast<int64_t>(g);
  c /= static_cast<int64_t>(g);
  llvm::erase_if(rest, [](const Term &t) { return t.coefficient == 0; });
  DimAttr inside = build(context, std::move(rest));
  if (c == 1)
    return addDims(outside, inside);
  DimAtomAttr atom = DimAtomAttr::get(context, AtomKind::FloorDiv, "",
                                      {inside, DimAttr::getConstant(context, c)});
  return addDims(outside, fromAtom(atom));
}

DimAttr ceilDivDims(DimAttr a, DimAttr b) { return negDim(floorDivDims(negDim(a), b)); }

DimAttr modDims(DimAttr a, DimAttr b) { return subDims(a, mulDims(b, floorDivDims(a, b))); }

static DimAttr extremum(AtomKind kind, ArrayRef<DimAttr> dims) {
  if (dims.empty() || llvm::is_contained(dims, DimAttr()))
    return {};
  MLIRContext *context = dims.front().getContext();
  bool isMin = kind == AtomKind::Min;
  // Flatten nested extrema of the same kind, with what was pulled out of them pushed
  // back in: the spelling of many arguments is a nest, in which an inner pair may share
  // what all of them do not.
  SmallVector<DimAttr> flat;
  for (DimAttr dim : dims) {
    ArrayRef<DimTermAttr> terms = dim.getTerms();
    int64_t shift = 0;
    if (terms.size() == 2 && terms[1].getFactors().empty())
      shift = terms[1].getCoefficient();
    bool nested = (terms.size() == 1 || shift != 0) && terms[0].getCoefficient() > 0 &&
                  terms[0].getFactors().size() == 1 && terms[0].getFactors()[0].getKind() == kind;
    if (!nested) {
      flat.push_back(dim);
      continue;
    }
    SmallVector<DimAttr> inner;
    for (DimAttr arg : terms[0].getFactors()[0].getArgs())
      inner.push_back(addDims(mulDims(arg, DimAttr::getConstant(context, terms[0].getCoefficient())),
                              DimAttr::getConstant(context, shift)));
    if (llvm::is_contained(inner, DimAttr()))
      flat.push_back(dim);
    else
      llvm::append_range(flat, inner);
  }
  // Of two that differ by a constant, one is always the answer.
  SmallVector<DimAttr> kept;
  for (DimAttr dim : flat) {
    bool drop = false;
    for (DimAttr &other : kept) {
      DimAttr difference = subDims(dim, other);
      std::optional<int64_t> constant = difference ? difference.getConstantValue() : std::nullopt;
      if (!constant)
        continue;
      drop = true;
      if (isMin ? *constant < 0 : *constant > 0)
        other = dim;
      break;
    }
    if (!drop)
      kept.push_back(dim);
  }
  if (kept.size() == 1)
    return kept.front();
  // A common constant and a common positive content stand outside.
  auto constantTerm = [](DimAttr dim) -> int64_t {
    DimTermAttr last = dim.getTerms().empty() ? DimTermAttr() : dim.getTerms().back();
    return last && last.getFactors().empty() ? last.getCoefficient() : 0;
  };
  int64_t shift = constantTerm(kept.front());
  for (DimAttr dim : kept)
    if (constantTerm(dim) != shift)
      shift = 0;
  DimAttr shiftDim = DimAttr::getConstant(context, shift);
  uint64_t content = 0;
  for (DimAttr &dim : kept) {
    dim = subDims(dim, shiftDim);
    if (!dim)
      return {};
    for (DimTermAttr term : dim.getTerms())
      content = std::gcd(content, magnitude(term.getCoefficient()));
  }
  if (content > 1 && content <= static_cast<uint64_t>(INT64_MAX))
    for (DimAttr &dim : kept) {
      SmallVector<Term> terms = toTerms(dim);
      for (Term &term : terms)
        term.coefficient /= static_cast<int64_t>(content);
      dim = build(context, std::move(terms));
    }
  else
    content = 1;
  llvm::sort(kept, [](DimAttr x, DimAttr y) { return compare(x, y) < 0; });
  DimAttr atom = fromAtom(DimAtomAttr::get(context, kind, "", kept));
  return addDims(mulDims(atom, DimAttr::getConstant(context, static_cast<int64_t>(content))), shiftDim);
}

DimAttr minDims(ArrayRef<DimAttr> dims) { return extremum(AtomKind::Min, dims); }
DimAttr maxDims(ArrayRef<DimAttr> dims) { return extremum(AtomKind::Max, dims); }

//===----------------------------------------------------------------------===//
// Substitution, evaluation, names
//===----------------------------------------------------------------------===//

static DimAttr substitute(DimAtomAttr atom, DimLookup lookup) {
  if (atom.getKind() == AtomKind::Name) {
    DimAttr value = lookup(atom.getName());
    return value ? value : fromAtom(atom);
  }
  SmallVector<DimAttr> args;
  for (DimAttr arg : atom.getArgs())
    args.push_back(substitute(arg, lookup));
  switch (atom.getKind()) {
  case AtomKind::FloorDiv:
    return floorDivDims(args[0], args[1]);
  case AtomKind::Min:
    return minDims(args);
  case AtomKind::Max:
    return maxDims(args);
  case AtomKind::Name:
    break;
  }
  llvm_unreachable("handled above");
}

DimAttr substitute(DimAttr dim, DimLookup lookup) {
  if (!dim)
    return {};
  DimAttr sum = DimAttr::getConstant(dim.getContext(), 0);
  for (DimTermAttr term : dim.getTerms()) {
    DimAttr product = DimAttr::getConstant(dim.getContext(), term.getCoefficient());
    for (DimAtomAttr atom : term.getFactors())
      product = mulDims(product, substitute(atom, lookup));
    sum = addDims(sum, product);
  }
  return sum;
}

PredAttr substitute(PredAttr pred, DimLookup lookup) {
  SmallVector<DimAttr> dims;
  SmallVector<PredAttr> preds;
  for (DimAttr dim : pred.getDims()) {
    dims.push_back(substitute(dim, lookup));
    if (!dims.back())
      return {};
  }
  for (PredAttr sub : pred.getPreds()) {
    preds.push_back(substitute(sub, lookup));
    if (!preds.back())
      return {};
  }
  return PredAttr::get(pred.getContext(), pred.getKind(), dims, preds);
}

Type substitute(Type type, DimLookup lookup, llvm::function_ref<PlacementAttr(StringRef)> places) {
  if (auto function = dyn_cast<FunctionType>(type)) {
    SmallVector<Type> inputs, results;
    for (Type input : function.getInputs())
      inputs.push_back(substitute(input, lookup, places));
    for (Type result : function.getResults())
      results.push_back(substitute(result, lookup, places));
    if (llvm::is_contained(inputs, Type()) || llvm::is_contained(results, Type()))
      return {};
    return FunctionType::get(type.getContext(), inputs, results);
  }
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return type;
  SmallVector<DimAttr> shape;
  for (DimAttr dim : tensor.getShape()) {
    shape.push_back(substitute(dim, lookup));
    if (!shape.back() || shape.back().getConstantValue().value_or(0) < 0)
      return {};
  }
  PlacementAttr place = tensor.getPlacement();
  if (places && place.isVariable())
    if (PlacementAttr given = places(place.getName()))
      place = given;
  return getTensorOrScalar(tensor.getElementType(), shape, place);
}

Type substitute(Type type, DictionaryAttr subst) {
  return substitute(
      type, [&](StringRef name) { return subst.getAs<DimAttr>(name); },
      [&](StringRef name) { return subst.getAs<PlacementAttr>(name); });
}
DimAttr substitute(DimAttr dim, DictionaryAttr subst) {
  return substitute(dim, [&](StringRef name) { return subst.getAs<DimAttr>(name); });
}
PredAttr substitute(PredAttr pred, DictionaryAttr subst) {
  return substitute(pred, [&](StringRef name) { return subst.getAs<DimAttr>(name); });
}

static std::optional<int64_t> evaluate(DimAtomAttr atom, ValueLookup lookup) {
  if (atom.getKind() == AtomKind::Name)
    return lookup(atom.getName());
  SmallVector<int64_t> args;
  for (DimAttr arg : atom.getArgs()) {
    std::optional<int64_t> value = evaluate(arg, lookup);
    if (!value)
      return std::nullopt;
    args.push_back(*value);
  }
  switch (atom.getKind()) {
  case AtomKind::FloorDiv:
    if (args[1] == 0 || (args[1] == -1 && args[0] == INT64_MIN))
      return std::nullopt;
    return llvm::divideFloorSigned(args[0], args[1]);
  case AtomKind::Min:
    return *llvm::min_element(args);
  case AtomKind::Max:
    return *llvm::max_element(args);
  case AtomKind::Name:
    break;
  }
  llvm_unreachable("handled above");
}

std::optional<int64_t> evaluate(DimAttr dim, ValueLookup lookup) {
  int64_t sum = 0;
  for (DimTermAttr term : dim.getTerms()) {
    std::optional<int64_t> product = term.getCoefficient();
    for (DimAtomAttr atom : term.getFactors()) {
      std::optional<int64_t> value = evaluate(atom, lookup);
      if (!value)
        return std::nullopt;
      product = llvm::checkedMul(*product, *value);
      if (!product)
        return std::nullopt;
    }
    std::optional<int64_t> next = llvm::checkedAdd(sum, *product);
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  return sum;
}

std::optional<bool> evaluate(PredAttr pred, ValueLookup lookup) {
  switch (pred.getKind()) {
  case PredKind::And:
  case PredKind::Or: {
    bool isAnd = pred.getKind() == PredKind::And;
    bool unknown = false;
    for (PredAttr sub : pred.getPreds()) {
      std::optional<bool> value = evaluate(sub, lookup);
      if (!value)
        unknown = true;
      else if (*value != isAnd)
        return !isAnd;
    }
    return unknown ? std::nullopt : std::optional<bool>(isAnd);
  }
  case PredKind::Not: {
    std::optional<bool> value = evaluate(pred.getPreds()[0], lookup);
    return value ? std::optional<bool>(!*value) : std::nullopt;
  }
  default:
    break;
  }
  std::optional<int64_t> a = evaluate(pred.getDims()[0], lookup);
  std::optional<int64_t> b = evaluate(pred.getDims()[1], lookup);
  if (!a || !b)
    return std::nullopt;
  switch (pred.getKind()) {
  case PredKind::EQ:
    return *a == *b;
  case PredKind::NE:
    return *a != *b;
  case PredKind::LE:
    return *a <= *b;
  case PredKind::LT:
    return *a < *b;
  default:
    llvm_unreachable("connectives are handled above");
  }
}

void collectNames(DimAttr dim, NameSet &names) {
  for (DimTermAttr term : dim.getTerms())
    for (DimAtomAttr atom : term.getFactors()) {
      if (atom.getKind() == AtomKind::Name)
        names.insert(atom.getName());
      for (DimAttr arg : atom.getArgs())
        collectNames(arg, names);
    }
}

void collectNames(PredAttr pred, NameSet &names) {
  for (DimAttr dim : pred.getDims())
    collectNames(dim, names);
  for (PredAttr sub : pred.getPreds())
    collectNames(sub, names);
}

void collectNames(Type type, NameSet &names) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (DimAttr dim : tensor.getShape())
      collectNames(dim, names);
  if (auto function = dyn_cast<FunctionType>(type)) {
    for (Type input : function.getInputs())
      collectNames(input, names);
    for (Type result : function.getResults())
      collectNames(result, names);
  }
}

void collectDivisors(DimAttr dim, llvm::SetVector<DimAttr> &divisors) {
  for (DimTermAttr term : dim.getTerms())
    for (DimAtomAttr atom : term.getFactors()) {
      for (DimAttr arg : atom.getArgs())
        collectDivisors(arg, divisors);
      if (atom.getKind() == AtomKind::FloorDiv && !atom.getArgs()[1].isConstant())
        divisors.insert(atom.getArgs()[1]);
    }
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

PredAttr makeRelation(PredKind kind, DimAttr a, DimAttr b) {
  return a && b ? PredAttr::get(a.getContext(), kind, {a, b}, {}) : PredAttr();
}

static PredAttr makeConnective(PredKind kind, ArrayRef<PredAttr> preds) {
  if (preds.empty() || llvm::is_contained(preds, PredAttr()))
    return {};
  return preds.size() == 1 ? preds[0] : PredAttr::get(preds[0].getContext(), kind, {}, preds);
}
PredAttr makeAnd(ArrayRef<PredAttr> preds) { return makeConnective(PredKind::And, preds); }
PredAttr makeOr(ArrayRef<PredAttr> preds) { return makeConnective(PredKind::Or, preds); }
PredAttr makeNot(PredAttr pred) {
  return pred ? PredAttr::get(pred.getContext(), PredKind::Not, {}, {pred}) : pred;
}

using Range = DimRange;

static Range rangeOf(DimAtomAttr atom, ValueLookup least) {
  switch (atom.getKind()) {
  case AtomKind::Name:
    return {least(atom.getName()).value_or(1), std::nullopt};
  case AtomKind::FloorDiv: {
    Range a = rangeOf(atom.getArgs()[0], least), b = rangeOf(atom.getArgs()[1], least);
    // A non-negative numerator over a positive divisor lies between 0 and itself.
    if (a.low && *a.low >= 0 && b.low && *b.low >= 1) {
      Range result{0, std::nullopt};
      if (b.high)
        result.low = *a.low / *b.high;
      if (a.high)
        result.high = *a.high / *b.low;
      return result;
    }
    return {};
  }
  case AtomKind::Min:
  case AtomKind::Max: {
    bool isMin = atom.getKind() == AtomKind::Min;
    Range result = rangeOf(atom.getArgs()[0], least);
    for (DimAttr arg : atom.getArgs().drop_front()) {
      Range next = rangeOf(arg, least);
      auto both = [&](std::optional<int64_t> x, std::optional<int64_t> y,
                      bool either) -> std::optional<int64_t> {
        if (x && y)
          return isMin ? std::min(*x, *y) : std::max(*x, *y);
        return either ? (x ? x : y) : std::nullopt;
      };
      result = {both(result.low, next.low, !isMin), both(result.high, next.high, isMin)};
    }
    return result;
  }
  }
  llvm_unreachable("all kinds handled");
}

DimRange rangeOf(DimAttr dim, ValueLookup least) {
  Range sum{0, 0};
  for (DimTermAttr term : dim.getTerms()) {
    // A product of non-negative factors.
    Range product{1, 1};
    for (DimAtomAttr atom : term.getFactors()) {
      Range factor = rangeOf(atom, least);
      if (!factor.low || *factor.low < 0)
        return {};
      product.low = llvm::checkedMul(*product.low, *factor.low);
      if (!product.low)
        return {};
      product.high = product.high && factor.high ? llvm::checkedMul(*product.high, *factor.high)
                                                 : std::nullopt;
    }
    auto scaled = [&](std::optional<int64_t> bound) {
      return bound ? llvm::checkedMul(*bound, term.getCoefficient()) : std::nullopt;
    };
    Range contribution{scaled(product.low), scaled(product.high)};
    if (term.getCoefficient() < 0)
      std::swap(contribution.low, contribution.high);
    sum.low = sum.low && contribution.low ? llvm::checkedAdd(*sum.low, *contribution.low) : std::nullopt;
    sum.high = sum.high && contribution.high ? llvm::checkedAdd(*sum.high, *contribution.high) : std::nullopt;
  }
  return sum;
}

/// Whether the polynomial is never negative, its divisors being at least 1. What its range
/// leaves open is tried again with one quotient, min or max replaced by a bound of it that
/// is linear in its arguments: `d*(a floordiv d)` lies between `a - d + 1` and `a`. The
/// search is bounded by `fuel` replacements in a row, and `steps` in all.
static bool isNonNegative(DimAttr dim, ValueLookup least, unsigned fuel, unsigned &steps) {
  if (!dim || steps == 0)
    return false;
  --steps;
  Range range = rangeOf(dim, least);
  if (range.low && *range.low >= 0)
    return true;
  if (fuel == 0 || dim.getTerms().size() > 16)
    return false;
  MLIRContext *context = dim.getContext();
  auto monomial = [&](int64_t coefficient, ArrayRef<DimAtomAttr> factors) {
    return build(context, {Term{coefficient, llvm::to_vector<4>(factors)}});
  };
  for (DimTermAttr term : dim.getTerms()) {
    int64_t coefficient = term.getCoefficient();
    bool fromAbove = coefficient < 0;
    DimAttr without = subDims(dim, DimAttr::get(context, {term}));
    for (auto [index, atom] : llvm::enumerate(term.getFactors())) {
      if (atom.getKind() == AtomKind::Name)
        continue;
      SmallVector<DimAtomAttr> others(term.getFactors());
      others.erase(others.begin() + index);
      DimAttr multiple = DimAttr::getConstant(context, 1);
      SmallVector<DimAttr> bounds;
      if (atom.getKind() == AtomKind::FloorDiv) {
        DimAttr a = atom.getArgs()[0], d = atom.getArgs()[1];
        // Division by at least 1 brings a number no further from 0.
        DimAttr zero = DimAttr::getConstant(context, 0);
        bool isPositive = isNonNegative(a, least, fuel - 1, steps), isNegative = isNonNegative(negDim(a), least, fuel - 1, steps);
        DimAttr plain = isPositive ? (fromAbove ? a : zero) : isNegative ? (fromAbove ? zero : a) : DimAttr();
        Range beside = rangeOf(monomial(1, others), least);
        if (plain && beside.low && *beside.low >= 0 &&
            isNonNegative(addDims(without, mulDims(monomial(coefficient, others), plain)), least, fuel - 1, steps))
          return true;
        if (d.getTerms().size() != 1 || d.getTerms()[0].getCoefficient() < 1)
          continue;
        // The divisor's names must stand beside the quotient; its coefficient scales all.
        if (!takeFactors(others, d.getTerms()[0]))
          continue;
        multiple = DimAttr::getConstant(context, d.getTerms()[0].getCoefficient());
        bounds.push_back(fromAbove ? a : addDims(subDims(a, d), DimAttr::getConstant(context, 1)));
      } else if ((atom.getKind() == AtomKind::Min) == fromAbove) {
        bounds.assign(atom.getArgs().begin(), atom.getArgs().end());
      }
      Range rest = rangeOf(monomial(1, others), least);
      if (!rest.low || *rest.low < 0)
        continue;
      for (DimAttr bound : bounds)
        if (isNonNegative(addDims(mulDims(multiple, without), mulDims(monomial(coefficient, others), bound)), least,
                          fuel - 1, steps))
          return true;
    }
  }
  return false;
}

static bool isNonNegative(DimAttr dim, ValueLookup least) {
  unsigned steps = 400;
  return isNonNegative(dim, least, /*fuel=*/3, steps);
}

std::optional<bool> decide(PredAttr pred, ValueLookup least) {
  switch (pred.getKind()) {
  case PredKind::And:
  case PredKind::Or: {
    bool isAnd = pred.getKind() == PredKind::And;
    bool unknown = false;
    for (PredAttr sub : pred.getPreds()) {
      std::optional<bool> value = decide(sub, least);
      if (!value)
        unknown = true;
      else if (*value != isAnd)
        return !isAnd;
    }
    return unknown ? std::nullopt : std::optional<bool>(isAnd);
  }
  case PredKind::Not: {
    std::optional<bool> value = decide(pred.getPreds()[0], least);
    return value ? std::optional<bool>(!*value) : std::nullopt;
  }
  default:
    break;
  }
  DimAttr difference = subDims(pred.getDims()[1], pred.getDims()[0]);
  if (!difference)
    return std::nullopt;
  // A zero divisor anywhere would make the answer meaningless.
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(difference, divisors);
  for (DimAttr divisor : divisors) {
    Range range = rangeOf(divisor, least);
    if (!range.low || *range.low < 1)
      return std::nullopt;
  }
  Range range = rangeOf(difference, least);
  bool nonZero = (range.low && *range.low > 0) || (range.high && *range.high < 0);
  switch (pred.getKind()) {
  case PredKind::EQ:
  case PredKind::NE: {
    bool isEq = pred.getKind() == PredKind::EQ;
    if (difference.isConstant(0))
      return isEq;
    if (nonZero)
      return !isEq;
    return std::nullopt;
  }
  case PredKind::LE:
    if (range.high && *range.high < 0)
      return false;
    return isNonNegative(difference, least) ? std::optional<bool>(true) : std::nullopt;
  case PredKind::LT:
    if (range.high && *range.high <= 0)
      return false;
    return isNonNegative(subDims(difference, DimAttr::getConstant(pred.getContext(), 1)), least)
               ? std::optional<bool>(true)
               : std::nullopt;
  default:
    llvm_unreachable("connectives are handled above");
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Deeper nesting than any program needs is refused, so that no text can exhaust the stack.
static constexpr unsigned kMaxNesting = 200;

namespace {
/// Recursive descent over `+ -`, then `* floordiv ceildiv mod`, then atoms; the
/// precedence of the source language.
struct DimParser {
  AsmParser &parser;
  unsigned depth = 0;

  DimAttr sum() {
    DimAttr left = product();
    while (left) {
      bool minus = false;
      if (failed(parser.parseOptionalPlus())) {
        if (failed(parser.parseOptionalMinus()))
          return left;
        minus = true;
      }
      SMLoc at = parser.getCurrentLocation();
      DimAttr right = product();
      if (!right)
        return {};
      left = checked(at, minus ? subDims(left, right) : addDims(left, right));
    }
    return left;
  }

  DimAttr product() {
    DimAttr left = atom();
    while (left) {
      SMLoc at = parser.getCurrentLocation();
      StringRef keyword;
      if (succeeded(parser.parseOptionalStar())) {
        DimAttr right = atom();
        left = right ? checked(at, mulDims(left, right)) : right;
      } else if (succeeded(parser.parseOptionalKeyword(&keyword, {"floordiv", "ceildiv", "mod"}))) {
        DimAttr right = atom();
        if (!right)
          return {};
        left = checked(at, keyword == "floordiv"  ? floorDivDims(left, right)
                           : keyword == "ceildiv" ? ceilDivDims(left, right)
                                                  : modDims(left, right));
      } else {
        return left;
      }
    }
    return left;
  }

  DimAttr atom() {
    if (++depth > kMaxNesting) {
      parser.emitError(parser.getCurrentLocation(), "dimension is nested more than ")
          << kMaxNesting << " levels deep";
      return {};
    }
    llvm::scope_exit leave([&] { --depth; });
    SMLoc at = parser.getCurrentLocation();
    bool negative = false;
    while (succeeded(parser.parseOptionalMinus()))
      negative = !negative;
    DimAttr value = primary(at, negative);
    // A literal has its sign already: the least integer has no positive counterpart.
    return value && negative && !value.isConstant() ? checked(at, negDim(value)) : value;
  }

  /// What a minus may stand before; a constant takes the sign itself.
  DimAttr primary(SMLoc at, bool negative) {
    if (succeeded(parser.parseOptionalLParen())) {
      DimAttr inner = sum();
      if (!inner || parser.parseRParen())
        return {};
      return signedConstant(at, inner, negative);
    }
    APInt literal;
    OptionalParseResult integer = parser.parseOptionalInteger(literal);
    if (integer.has_value()) {
      if (failed(*integer))
        return {};
      literal = literal.sext(literal.getBitWidth() + 1);
      if (negative)
        literal.negate();
      return checked(at, literal.isSignedIntN(64)
                             ? DimAttr::getConstant(parser.getContext(), literal.getSExtValue())
                             : DimAttr());
    }
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name))) {
      parser.emitError(at, "expected a dimension");
      return {};
    }
    if ((name == "min" || name == "max") && succeeded(parser.parseOptionalLParen())) {
      DimAttr first = sum();
      if (!first || parser.parseComma())
        return {};
      DimAttr second = sum();
      if (!second || parser.parseRParen())
        return {};
      return signedConstant(at, checked(at, name == "min" ? minDims({first, second}) : maxDims({first, second})),
                            negative);
    }
    return DimAttr::getName(parser.getContext(), name);
  }

  DimAttr signedConstant(SMLoc at, DimAttr dim, bool negative) {
    return dim && negative && dim.isConstant() ? checked(at, negDim(dim)) : dim;
  }

  DimAttr checked(SMLoc at, DimAttr dim) {
    if (!dim)
      parser.emitError(at, "dimension arithmetic overflows, divides by zero or is too large");
    return dim;
  }
};

struct PredParser {
  AsmParser &parser;
  unsigned depth = 0;

  PredAttr disjunction() {
    SmallVector<PredAttr> parts;
    do {
      parts.push_back(conjunction());
      if (!parts.back())
        return {};
    } while (succeeded(parser.parseOptionalKeyword("or")));
    return makeOr(parts);
  }
  PredAttr conjunction() {
    SmallVector<PredAttr> parts;
    do {
      parts.push_back(negation());
      if (!parts.back())
        return {};
    } while (succeeded(parser.parseOptionalKeyword("and")));
    return makeAnd(parts);
  }
  PredAttr negation() {
    if (++depth > kMaxNesting) {
      parser.emitError(parser.getCurrentLocation(), "predicate is nested more than ")
          << kMaxNesting << " levels deep";
      return {};
    }
    llvm::scope_exit leave([&] { --depth; });
    // In the printed form parentheses hold a predicate only after `not` or `[`; a
    // dimension may begin with one.
    if (succeeded(parser.parseOptionalKeyword("not"))) {
      if (parser.parseLParen())
        return {};
      PredAttr inner = disjunction();
      return inner && succeeded(parser.parseRParen()) ? makeNot(inner) : PredAttr();
    }
    if (succeeded(parser.parseOptionalLSquare())) {
      PredAttr inner = disjunction();
      return inner && succeeded(parser.parseRSquare()) ? inner : PredAttr();
    }
    DimAttr left = parseDim(parser);
    if (!left)
      return {};
    SMLoc at = parser.getCurrentLocation();
    PredKind kind;
    if (succeeded(parser.parseOptionalEqual()))
      kind = PredKind::EQ;
    else if (succeeded(parser.parseOptionalKeyword("ne")))
      kind = PredKind::NE;
    else if (succeeded(parser.parseOptionalKeyword("le")))
      kind = PredKind::LE;
    else if (succeeded(parser.parseOptionalKeyword("lt")))
      kind = PredKind::LT;
    else {
      parser.emitError(at, "expected '=', 'ne', 'le' or 'lt'");
      return {};
    }
    DimAttr right = parseDim(parser);
    return right ? makeRelation(kind, left, right) : PredAttr();
  }
};
} // namespace

DimAttr parseDim(AsmParser &parser) { return DimParser{parser}.sum(); }

//===----------------------------------------------------------------------===//
// Attribute syntax
//===----------------------------------------------------------------------===//

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  DimAttr dim = parseDim(parser);
  return dim && succeeded(parser.parseGreater()) ? dim : DimAttr();
}
void DimAttr::print(AsmPrinter &printer) const { printer << '<' << toString(*this) << '>'; }

// A term and an atom have no spelling apart from the dimension they belong to; as
// attributes of their own they are written as one.
Attribute DimTermAttr::parse(AsmParser &parser, Type) {
  SMLoc at = parser.getCurrentLocation();
  auto dim = llvm::cast_if_present<DimAttr>(DimAttr::parse(parser, {}));
  if (!dim)
    return {};
  if (dim.getTerms().size() != 1) {
    parser.emitError(at, "expected a single term");
    return {};
  }
  return dim.getTerms()[0];
}
void DimTermAttr::print(AsmPrinter &printer) const {
  DimAttr::get(getContext(), {*this}).print(printer);
}
Attribute DimAtomAttr::parse(AsmParser &parser, Type) {
  SMLoc at = parser.getCurrentLocation();
  auto dim = llvm::cast_if_present<DimAttr>(DimAttr::parse(parser, {}));
  if (!dim)
    return {};
  if (dim.getTerms().size() != 1 || dim.getTerms()[0].getCoefficient() != 1 ||
      dim.getTerms()[0].getFactors().size() != 1) {
    parser.emitError(at, "expected a single atom");
    return {};
  }
  return dim.getTerms()[0].getFactors()[0];
}
void DimAtomAttr::print(AsmPrinter &printer) const { fromAtom(*this).print(printer); }

static void printForAsm(raw_ostream &os, PredAttr pred) {
  auto wrapped = [&](PredAttr sub) {
    bool wrap = sub.getKind() == PredKind::And || sub.getKind() == PredKind::Or;
    os << (wrap ? "[" : "");
    printForAsm(os, sub);
    os << (wrap ? "]" : "");
  };
  switch (pred.getKind()) {
  case PredKind::And:
  case PredKind::Or:
    llvm::interleave(pred.getPreds(), os, wrapped, pred.getKind() == PredKind::And ? " and " : " or ");
    return;
  case PredKind::Not:
    os << "not (";
    printForAsm(os, pred.getPreds()[0]);
    os << ')';
    return;
  case PredKind::EQ:
  case PredKind::NE:
  case PredKind::LE:
  case PredKind::LT:
    print(os, pred.getDims()[0]);
    // An angle bracket would unbalance those around the attribute, and `!` begins a type.
    os << (pred.getKind() == PredKind::EQ   ? " = "
           : pred.getKind() == PredKind::NE ? " ne "
           : pred.getKind() == PredKind::LE ? " le "
                                            : " lt ");
    print(os, pred.getDims()[1]);
    return;
  }
}

Attribute PredAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PredAttr pred = PredParser{parser}.disjunction();
  return pred && succeeded(parser.parseGreater()) ? pred : PredAttr();
}
void PredAttr::print(AsmPrinter &printer) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printForAsm(os, *this);
  printer << '<' << text << '>';
}

bool fitsInto(int64_t value, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return true;
  return integer.isUnsigned() ? value >= 0 && llvm::isUIntN(integer.getWidth(), value)
                              : llvm::isIntN(integer.getWidth(), value);
}

} // namespace kina
