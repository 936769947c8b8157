//===- NormalForm.cpp - What oriented facts and their sums settle ---------===//

#include "NormalForm.h"
#include "Linear.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <deque>
#include <numeric>

using namespace mlir;

namespace kina::solver {

/// How many facts are looked at, again ones after a replacement included; and how many steps
/// one polynomial takes.
static constexpr unsigned kMaxAbsorbed = 4096;
static constexpr unsigned kMaxSteps = 32;
/// So few facts are added up all at once; of more those near the goal first, and no more than these.
static constexpr size_t kFewFacts = 12, kMaxFacts = 64;
/// How many facts are multiplied by a factor of the goal.
static constexpr unsigned kMaxProducts = 24;

static DimAttr constant(MLIRContext *context, int64_t value) { return DimAttr::getConstant(context, value); }

static DimAttr toDim(DimTermAttr term) { return DimAttr::get(term.getContext(), {term}); }

static PredAttr isAtLeast(DimAttr dim, int64_t value) {
  return dim ? makeRelation(PredKind::LE, constant(dim.getContext(), value), dim) : PredAttr();
}

/// Divides every coefficient by their greatest common divisor.
static DimAttr withoutContent(DimAttr dim) {
  uint64_t content = 0;
  for (DimTermAttr term : dim.getTerms())
    content = std::gcd(content, magnitude(term.getCoefficient()));
  if (content <= 1 || content > static_cast<uint64_t>(INT64_MAX))
    return dim;
  SmallVector<DimTermAttr> terms;
  for (DimTermAttr term : dim.getTerms())
    terms.push_back(DimTermAttr::get(dim.getContext(), term.getCoefficient() / static_cast<int64_t>(content),
                                     term.getFactors()));
  return DimAttr::get(dim.getContext(), terms);
}

/// The factors without those of `divisor`; nothing if one is missing.
static std::optional<SmallVector<DimAtomAttr>> cofactor(ArrayRef<DimAtomAttr> factors, ArrayRef<DimAtomAttr> divisor) {
  if (divisor.size() > factors.size())
    return std::nullopt;
  SmallVector<DimAtomAttr> left(factors);
  for (DimAtomAttr atom : divisor) {
    auto it = llvm::find(left, atom);
    if (it == left.end())
      return std::nullopt;
    left.erase(it);
  }
  return left;
}

bool hasOnlyNames(DimAttr dim) {
  return llvm::all_of(dim.getTerms(), [](DimTermAttr term) {
    return llvm::all_of(term.getFactors(), [](DimAtomAttr atom) { return atom.getKind() == AtomKind::Name; });
  });
}

DimAttr withoutCommonFactor(DimAttr dim, LeastLookup least) {
  dim = withoutContent(dim);
  if (dim.getTerms().empty())
    return dim;
  auto bounds = [&](StringRef name) -> std::optional<int64_t> { return least(name); };
  SmallVector<DimAtomAttr> common;
  for (DimAtomAttr atom : dim.getTerms()[0].getFactors()) {
    common.push_back(atom);
    if (!llvm::all_of(dim.getTerms(),
                      [&](DimTermAttr term) { return cofactor(term.getFactors(), common).has_value(); }) ||
        !decide(isAtLeast(toDim(DimTermAttr::get(dim.getContext(), 1, {atom})), 1), bounds).value_or(false))
      common.pop_back();
  }
  if (common.empty())
    return dim;
  SmallVector<DimTermAttr> terms;
  for (DimTermAttr term : dim.getTerms())
    terms.push_back(
        DimTermAttr::get(dim.getContext(), term.getCoefficient(), *cofactor(term.getFactors(), common)));
  return DimAttr::get(dim.getContext(), terms);
}

/// `make` on every dimension of the predicate.
static PredAttr mapDims(PredAttr pred, llvm::function_ref<DimAttr(DimAttr)> make) {
  SmallVector<DimAttr> dims = llvm::map_to_vector(pred.getDims(), make);
  if (llvm::is_contained(dims, DimAttr()))
    return {};
  SmallVector<PredAttr> preds;
  for (PredAttr sub : pred.getPreds()) {
    preds.push_back(mapDims(sub, make));
    if (!preds.back())
      return {};
  }
  return PredAttr::get(pred.getContext(), pred.getKind(), dims, preds);
}

namespace {
/// Least values as `decide` and `rangeOf` ask for them.
struct Bounds {
  LeastLookup least;
  const NormalForm &form;
  std::optional<int64_t> operator()(StringRef name) const {
    int64_t value = least(name);
    if (std::optional<int64_t> found = form.getLeast(name))
      value = std::max(value, *found);
    return value;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

DimAttr NormalForm::divide(DimAttr a, DimAttr d, LeastLookup least) const {
  if (!a || !d)
    return {};
  Bounds bounds{least, *this};
  DimAttr whole = constant(context, 0), rest = a;
  if (!d.isConstant()) {
    // a = whole*d + rest, as far as the terms of a are multiples of the leading one of d.
    DimTermAttr lead = d.getTerms()[0];
    for (unsigned step = 0; step < kMaxSteps; ++step) {
      DimAttr multiple;
      for (DimTermAttr term : rest.getTerms())
        if (term.getCoefficient() % lead.getCoefficient() == 0 && term.getCoefficient() != INT64_MIN)
          if (auto left = cofactor(term.getFactors(), lead.getFactors())) {
            multiple = toDim(DimTermAttr::get(context, term.getCoefficient() / lead.getCoefficient(), *left));
            break;
          }
      if (!multiple)
        break;
      DimAttr less = subDims(rest, mulDims(multiple, d)), more = addDims(whole, multiple);
      if (!less || !more)
        break;
      rest = less;
      whole = more;
    }
    for (int64_t shift : {0, 1, -1}) {
      DimAttr remainder = addDims(rest, mulDims(d, constant(context, shift)));
      if (isNonNegative(remainder, least) && isNonNegative(subDims(subDims(d, remainder), constant(context, 1)), least))
        return subDims(whole, constant(context, shift));
    }
    // A positive factor of both cancels.
    if (!rest.getTerms().empty()) {
      SmallVector<DimAtomAttr> common;
      SmallVector<DimAtomAttr> left(lead.getFactors());
      for (DimAtomAttr atom : lead.getFactors()) {
        common.push_back(atom);
        auto isMultiple = [&](DimTermAttr term) { return cofactor(term.getFactors(), common).has_value(); };
        if (!llvm::all_of(rest.getTerms(), isMultiple) || !llvm::all_of(d.getTerms(), isMultiple) ||
            !decide(isAtLeast(toDim(DimTermAttr::get(context, 1, {atom})), 1), bounds).value_or(false))
          common.pop_back();
      }
      if (!common.empty()) {
        auto without = [&](DimAttr dim) {
          SmallVector<DimTermAttr> terms;
          for (DimTermAttr term : dim.getTerms())
            terms.push_back(
                DimTermAttr::get(context, term.getCoefficient(), *cofactor(term.getFactors(), common)));
          return DimAttr::get(context, terms);
        };
        return addDims(whole, divide(without(rest), without(d), least));
      }
    }
  }
  // (x floordiv y + r) floordiv d = (x + y*r) floordiv (y*d).
  DimTermAttr quotient;
  unsigned quotients = 0;
  for (DimTermAttr term : rest.getTerms())
    for (DimAtomAttr atom : term.getFactors())
      if (atom.getKind() != AtomKind::Name) {
        ++quotients;
        quotient = term;
      }
  if (quotients == 1 && quotient.getCoefficient() == 1 && quotient.getFactors().size() == 1 &&
      quotient.getFactors()[0].getKind() == AtomKind::FloorDiv) {
    ArrayRef<DimAttr> args = quotient.getFactors()[0].getArgs();
    DimAttr numerator = addDims(args[0], mulDims(args[1], subDims(rest, toDim(quotient))));
    DimAttr divisor = mulDims(args[1], d);
    if (numerator && divisor)
      return addDims(whole, floorDivDims(numerator, divisor));
  }
  // (-p) floordiv d = -1 - (p - 1) floordiv d. So p + d - 1 divided by d, and -((-p) floordiv d), which is how
  // `p ceildiv d` is written, are the same.
  if (!d.isConstant() && !rest.getTerms().empty() && !rest.getTerms().front().getFactors().empty() &&
      rest.getTerms().front().getCoefficient() < 0)
    if (DimAttr opposite = subDims(negDim(rest), constant(context, 1)))
      return subDims(subDims(whole, constant(context, 1)), floorDivDims(opposite, d));
  return addDims(whole, floorDivDims(rest, d));
}

DimAttr NormalForm::simplify(DimAtomAttr atom, LeastLookup least) const {
  SmallVector<DimAttr> args;
  for (DimAttr arg : atom.getArgs()) {
    args.push_back(simplify(arg, least));
    if (!args.back())
      return {};
  }
  switch (atom.getKind()) {
  case AtomKind::Name:
    return toDim(DimTermAttr::get(context, 1, {atom}));
  case AtomKind::FloorDiv:
    return divide(args[0], args[1], least);
  case AtomKind::Min:
  case AtomKind::Max: {
    bool isMin = atom.getKind() == AtomKind::Min;
    // What another argument makes needless is left out.
    SmallVector<DimAttr> kept;
    for (DimAttr arg : args) {
      auto isBeaten = [&](DimAttr by, DimAttr what) {
        return isNonNegative(isMin ? subDims(what, by) : subDims(by, what), least);
      };
      if (llvm::any_of(kept, [&](DimAttr other) { return isBeaten(other, arg); }))
        continue;
      llvm::erase_if(kept, [&](DimAttr other) { return isBeaten(arg, other); });
      kept.push_back(arg);
    }
    return isMin ? minDims(kept) : maxDims(kept);
  }
  }
  llvm_unreachable("all kinds handled");
}

DimAttr NormalForm::simplify(DimAttr dim, LeastLookup least) const {
  if (!dim || hasOnlyNames(dim))
    return dim;
  DimAttr sum = constant(context, 0);
  for (DimTermAttr term : dim.getTerms()) {
    DimAttr product = constant(context, term.getCoefficient());
    for (DimAtomAttr atom : term.getFactors())
      product = mulDims(product, simplify(atom, least));
    sum = addDims(sum, product);
  }
  return sum;
}

DimAttr NormalForm::reduce(DimAttr dim) const {
  for (unsigned step = 0; dim && step < kMaxSteps; ++step) {
    DimAttr next;
    for (DimAttr equation : equations) {
      DimTermAttr lead = equation.getTerms()[0];
      if (magnitude(lead.getCoefficient()) != 1)
        continue;
      for (DimTermAttr term : dim.getTerms())
        if (auto left = cofactor(term.getFactors(), lead.getFactors())) {
          std::optional<int64_t> scale = llvm::checkedMul(term.getCoefficient(), lead.getCoefficient());
          if (scale)
            next = subDims(dim, mulDims(toDim(DimTermAttr::get(context, *scale, *left)), equation));
          break;
        }
      if (next)
        break;
    }
    if (!next)
      break;
    dim = next;
  }
  return dim;
}

DimAttr NormalForm::rewrite(DimAttr dim, LeastLookup least) const {
  if (!rules.empty())
    dim = substitute(dim, [&](StringRef name) {
      auto it = ruleOf.find(name);
      return it == ruleOf.end() ? DimAttr() : rules[it->second].value;
    });
  return simplify(dim, least);
}

PredAttr NormalForm::rewrite(PredAttr pred, LeastLookup least) const {
  return mapDims(pred, [&](DimAttr dim) { return rewrite(dim, least); });
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// x with k*x = 1 modulo d, for coprime k and d.
static int64_t inverseModulo(int64_t k, int64_t d) {
  int64_t a = ((k % d) + d) % d, b = d, x = 1, y = 0;
  while (a != 0 && b != 0 && a != 1) {
    int64_t quotient = b / a;
    std::tie(a, b) = std::pair(b - quotient * a, a);
    std::tie(x, y) = std::pair(y - quotient * x, x);
  }
  return ((x % d) + d) % d;
}

std::optional<NormalForm::Rule> NormalForm::orient(DimAttr zero, LeastLookup least) {
  Bounds bounds{least, *this};
  // A name that the equation gives. One whose least value comes out by itself is better.
  std::optional<Rule> found;
  for (DimTermAttr term : zero.getTerms()) {
    if (term.getFactors().size() != 1 || magnitude(term.getCoefficient()) != 1 ||
        term.getFactors()[0].getKind() != AtomKind::Name)
      continue;
    StringRef name = term.getFactors()[0].getName();
    DimAttr rest = subDims(zero, toDim(term));
    if (!rest || mentions(rest, name))
      continue;
    DimAttr value = term.getCoefficient() == 1 ? negDim(rest) : rest;
    if (!value)
      continue;
    int64_t low = *bounds(name);
    if (low == INT64_MIN || decide(isAtLeast(value, low), bounds).value_or(false))
      return Rule{name, value};
    if (!found)
      found = Rule{name, value};
  }
  if (found)
    return found;
  // m*(a - d*(a floordiv d)) + c = 0: a has the remainder r = -c/m.
  for (DimTermAttr term : zero.getTerms()) {
    if (term.getFactors().empty() || term.getFactors().back().getKind() != AtomKind::FloorDiv)
      continue;
    ArrayRef<DimAttr> args = term.getFactors().back().getArgs();
    DimAttr a = args[0], d = args[1];
    int64_t scale = term.getCoefficient() < 0 ? 1 : -1;
    std::optional<int64_t> divisor = d.getConstantValue();
    if (divisor) {
      if (*divisor < 2 || term.getFactors().size() != 1 || term.getCoefficient() % *divisor != 0)
        continue;
      scale = -(term.getCoefficient() / *divisor);
    }
    DimAttr rest = subDims(zero, mulDims(constant(context, scale), modDims(a, d)));
    std::optional<int64_t> shift = rest ? rest.getConstantValue() : std::nullopt;
    if (!shift || *shift == INT64_MIN)
      continue;
    if (*shift % scale != 0) {
      contradictory = true;
      return std::nullopt;
    }
    int64_t remainder = -*shift / scale;
    if (remainder < 0 || (divisor && remainder >= *divisor)) {
      contradictory = true;
      return std::nullopt;
    }
    for (DimTermAttr linear : a.getTerms()) {
      if (linear.getFactors().size() != 1 || linear.getFactors()[0].getKind() != AtomKind::Name)
        continue;
      StringRef name = linear.getFactors()[0].getName();
      DimAttr beside = subDims(a, toDim(linear));
      if (!beside || mentions(beside, name) || mentions(d, name))
        continue;
      std::string fresh = (name + "/").str();
      DimAttr quotient = DimAttr::getName(context, fresh);
      StringRef freshName = quotient.getSingleName();
      int64_t k = linear.getCoefficient();
      std::optional<int64_t> offset = beside.getConstantValue();
      constexpr uint64_t kSmall = uint64_t(1) << 31;
      if (divisor && offset && magnitude(*offset) < kSmall && magnitude(*divisor) < kSmall && magnitude(k) < kSmall) {
        // k*name = remainder - offset modulo the divisor.
        int64_t common = std::gcd(k, *divisor), target = remainder - *offset;
        if (target % common != 0) {
          contradictory = true;
          return std::nullopt;
        }
        int64_t period = *divisor / common;
        int64_t first = 0;
        if (period > 1) {
          int64_t reduced = ((target / common) % period + period) % period;
          first = static_cast<int64_t>((static_cast<__int128>(reduced) * inverseModulo(k / common, period)) % period);
        }
        int64_t low = *bounds(name);
        std::optional<int64_t> lowMultiple = llvm::checkedSub(low, first);
        raised[freshName] =
            low == INT64_MIN || !lowMultiple ? INT64_MIN : llvm::divideCeilSigned(*lowMultiple, period);
        return Rule{name, addDims(mulDims(constant(context, period), quotient), constant(context, first))};
      }
      if (magnitude(k) != 1)
        continue;
      DimRange range = rangeOf(a, bounds);
      int64_t low = INT64_MIN;
      if (range.low && *range.low >= 0)
        low = *range.low > remainder ? 1 : 0;
      DimAttr value = subDims(addDims(mulDims(d, quotient), constant(context, remainder)), beside);
      if (k < 0)
        value = negDim(value);
      if (!value)
        continue;
      raised[freshName] = low;
      return Rule{name, value};
    }
  }
  return std::nullopt;
}

void NormalForm::absorb(PredAttr fact, LeastLookup least) {
  Bounds bounds{least, *this};
  fact = rewrite(fact, least);
  if (!fact) {
    overflow = true;
    return;
  }
  if (std::optional<bool> known = decide(fact, bounds)) {
    contradictory |= !*known;
    return;
  }
  if (fact.getKind() == PredKind::EQ) {
    DimAttr zero = subDims(fact.getDims()[0], fact.getDims()[1]);
    if (!zero) {
      overflow = true;
      return;
    }
    zero = reduce(withoutContent(zero));
    if (!zero || zero.isConstant(0))
      return;
    zero = withoutContent(zero);
    if (std::optional<Rule> rule = orient(zero, least)) {
      apply(*rule, least);
      return;
    }
    if (!llvm::is_contained(equations, zero))
      equations.push_back(zero);
    return;
  }
  if (fact.getKind() == PredKind::Or) {
    SmallVector<PredAttr> possible;
    for (PredAttr part : fact.getPreds())
      if (decide(part, bounds).value_or(true))
        possible.push_back(part);
    if (possible.size() == 1)
      return absorb(possible[0], least);
    fact = makeOr(possible);
  }
  if (fact.getKind() == PredKind::NE) {
    // N != c with c the least value of N is a greater least value.
    DimAttr difference = subDims(fact.getDims()[0], fact.getDims()[1]);
    for (DimAttr side : {difference, negDim(difference)})
      if (side && decide(isAtLeast(side, 0), bounds).value_or(false))
        return absorb(isAtLeast(side, 1), least);
  }
  if (fact.getKind() == PredKind::And) {
    for (PredAttr part : fact.getPreds())
      absorb(part, least);
    return;
  }
  DimAttr slack = getSlack(fact);
  if (!slack) {
    if (fact.getKind() == PredKind::LE || fact.getKind() == PredKind::LT)
      overflow = true;
    else if (!llvm::is_contained(others, fact))
      others.push_back(fact);
    return;
  }
  // k*N + c >= 0 with positive k is a least value.
  ArrayRef<DimTermAttr> terms = slack.getTerms();
  int64_t shift = !terms.empty() && terms.back().getFactors().empty() ? terms.back().getCoefficient() : 0;
  if (terms.size() == (shift ? 2u : 1u) && terms[0].getCoefficient() > 0 && terms[0].getFactors().size() == 1 &&
      terms[0].getFactors()[0].getKind() == AtomKind::Name && shift != INT64_MIN) {
    StringRef name = terms[0].getFactors()[0].getName();
    int64_t low = llvm::divideCeilSigned(-shift, terms[0].getCoefficient());
    raised[name] = std::max(*bounds(name), low);
    touched.push_back(name);
    return;
  }
  addSlack(slack);
}

void NormalForm::addSlack(DimAttr slack) {
  // The number is the last term.
  auto split = [](DimAttr dim) {
    ArrayRef<DimTermAttr> terms = dim.getTerms();
    bool hasNumber = !terms.empty() && terms.back().getFactors().empty();
    return std::pair(terms.drop_back(hasNumber), hasNumber ? terms.back().getCoefficient() : 0);
  };
  auto [terms, number] = split(slack);
  for (DimAttr &known : slacks)
    if (auto [others, other] = split(known); others == terms) {
      if (number < other)
        known = slack;
      return;
    }
  slacks.push_back(slack);
}

void NormalForm::apply(Rule rule, LeastLookup least) {
  for (Rule &earlier : rules)
    if (mentions(earlier.value, rule.name)) {
      DimAttr value = substitute(earlier.value, [&](StringRef name) { return name == rule.name ? rule.value : DimAttr(); });
      // What cannot be replaced stays as it is; the name in it is then one without facts.
      if (value)
        earlier.value = value;
      else
        overflow = true;
    }
  ruleOf[rule.name] = rules.size();
  rules.push_back(rule);
  touched.push_back(rule.name);
}

void NormalForm::add(PredAttr given, LeastLookup least) {
  SmallVector<PredAttr> pending{given};
  DimAttr zero = constant(context, 0);
  while (!pending.empty() && !contradictory) {
    // Unused facts make it only weaker.
    if (absorbed++ >= kMaxAbsorbed)
      return;
    size_t before = rules.size();
    touched.clear();
    absorb(pending.pop_back_val(), least);
    if (touched.empty())
      continue;
    // What was kept is looked at again if it speaks of the new name or bound. How a quotient
    // simplifies may depend on it all the same.
    auto isAffected = [&](DimAttr dim) {
      return !hasOnlyNames(dim) || llvm::any_of(touched, [&](StringRef name) { return mentions(dim, name); });
    };
    llvm::erase_if(equations, [&](DimAttr equation) {
      bool affected = isAffected(equation);
      if (affected)
        pending.push_back(makeRelation(PredKind::EQ, equation, zero));
      return affected;
    });
    llvm::erase_if(slacks, [&](DimAttr slack) {
      bool affected = isAffected(slack);
      if (affected)
        pending.push_back(makeRelation(PredKind::LE, zero, slack));
      return affected;
    });
    llvm::append_range(pending, others);
    others.clear();
    for (const Rule &rule : ArrayRef(rules).drop_front(before))
      if (int64_t low = *Bounds{least, *this}(rule.name); low != INT64_MIN)
        pending.push_back(isAtLeast(rule.value, low));
  }
}

//===----------------------------------------------------------------------===//
// Goals
//===----------------------------------------------------------------------===//

bool NormalForm::isNonNegative(DimAttr dim, LeastLookup least) const {
  if (!dim)
    return false;
  Bounds bounds{least, *this};
  auto holds = [&](DimAttr what) { return what && decide(isAtLeast(what, 0), bounds).value_or(false); };
  // Without a product in common, the difference has all that may be negative in both.
  auto isRelated = [&](DimAttr slack) {
    return llvm::any_of(slack.getTerms(), [&](DimTermAttr mine) {
      return !mine.getFactors().empty() &&
             llvm::any_of(dim.getTerms(), [&](DimTermAttr other) { return other.getFactors() == mine.getFactors(); });
    });
  };
  return holds(dim) ||
         llvm::any_of(slacks, [&](DimAttr slack) { return isRelated(slack) && holds(subDims(dim, slack)); });
}

void NormalForm::collectNear(DimAttr dim, SmallVectorImpl<std::pair<DimAttr, bool>> &near,
                             SmallVectorImpl<size_t> &sizes) const {
  struct Candidate {
    DimAttr dim;
    bool isEquation;
    NameSet names;
  };
  SmallVector<Candidate, 0> open;
  auto add = [&](DimAttr fact, bool isEquation) { collectNames(fact, open.emplace_back(Candidate{fact, isEquation, {}}).names); };
  for (DimAttr slack : slacks)
    add(slack, false);
  for (DimAttr equation : equations)
    add(equation, true);
  NameSet names;
  collectNames(dim, names);
  for (bool isFirst = true; near.size() < kMaxFacts; isFirst = false) {
    NameSet next;
    llvm::erase_if(open, [&](Candidate &candidate) {
      // A goal without names is that all facts contradict each other.
      bool isNear = names.empty() ? isFirst : llvm::any_of(candidate.names, [&](StringRef name) { return names.contains(name); });
      if (!isNear || near.size() >= kMaxFacts)
        return false;
      near.push_back({candidate.dim, candidate.isEquation});
      next.insert_range(candidate.names);
      return true;
    });
    if (next.empty())
      return;
    sizes.push_back(near.size());
    names.insert_range(next);
  }
}

bool NormalForm::isExcluded(DimAttr dim, bool isZero, LeastLookup least) const {
  SmallVector<std::pair<DimAttr, bool>> facts;
  if (slacks.size() + equations.size() <= kFewFacts) {
    for (DimAttr slack : slacks)
      facts.push_back({slack, false});
    for (DimAttr equation : equations)
      facts.push_back({equation, true});
    return isExcluded(dim, isZero, facts, least);
  }
  SmallVector<size_t> sizes;
  collectNear(dim, facts, sizes);
  // Twice as many each time, so that all steps together take hardly longer than the last.
  size_t last = 0;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    if (size < 2 * last && index + 1 != sizes.size())
      continue;
    last = size;
    if (isExcluded(dim, isZero, ArrayRef(facts).take_front(size), least))
      return true;
  }
  return sizes.empty() && isExcluded(dim, isZero, {}, least);
}

bool NormalForm::isExcluded(DimAttr dim, bool isZero, ArrayRef<std::pair<DimAttr, bool>> facts,
                            LeastLookup least) const {
  Bounds bounds{least, *this};
  auto lookup = [&](StringRef name) { return *bounds(name); };
  LinearSystem system(context, lookup);
  auto addTo = [&](DimAttr fact, bool isEquation) {
    if (isEquation)
      system.addZero(fact);
    else
      system.addNonNegative(fact);
  };
  addTo(dim, isZero);
  SmallVector<DimTermAttr> products;
  for (DimTermAttr column : system.getColumns())
    if (column.getFactors().size() > 1)
      products.push_back(column);
  for (auto [fact, isEquation] : facts)
    addTo(fact, isEquation);
  // Facts times a factor of a product of the goal, if that brings the product in.
  llvm::SetVector<DimAtomAttr> factors;
  for (DimTermAttr product : products)
    factors.insert(product.getFactors().begin(), product.getFactors().end());
  unsigned added = 0;
  for (DimAtomAttr atom : factors) {
    DimAttr factor = toDim(DimTermAttr::get(context, 1, {atom}));
    DimRange range = rangeOf(factor, bounds);
    auto multiply = [&](DimAttr fact, bool isEquation) {
      if (added >= kMaxProducts)
        return;
      DimAttr product = mulDims(fact, factor);
      if (!product || llvm::none_of(product.getTerms(), [&](DimTermAttr term) {
            return llvm::is_contained(products, DimTermAttr::get(context, 1, term.getFactors()));
          }))
        return;
      ++added;
      addTo(product, isEquation);
    };
    for (auto [fact, isEquation] : facts)
      if (isEquation)
        multiply(fact, true);
    if (range.low && *range.low >= 0)
      for (auto [fact, isEquation] : facts)
        if (!isEquation)
          multiply(fact, false);
  }
  system.addDefinitions();
  return system.isRationallyEmpty();
}

bool NormalForm::follows(PredAttr goal, LeastLookup least) const {
  if (contradictory)
    return true;
  if (!goal)
    return isExcluded(constant(context, 0), /*isZero=*/true, least);
  Bounds bounds{least, *this};
  PredAttr rewritten = rewrite(goal, least);
  if (!rewritten)
    return false;
  if (std::optional<bool> known = decide(rewritten, bounds))
    return *known;
  if (llvm::is_contained(others, rewritten))
    return true;
  switch (rewritten.getKind()) {
  case PredKind::And:
    return llvm::all_of(goal.getPreds(), [&](PredAttr part) { return follows(part, least); });
  case PredKind::Or:
    return llvm::any_of(goal.getPreds(), [&](PredAttr part) { return follows(part, least); });
  case PredKind::Not:
    return false;
  default:
    break;
  }
  DimAttr difference = subDims(rewritten.getDims()[1], rewritten.getDims()[0]);
  difference = reduce(difference);
  if (!difference)
    return false;
  // A positive factor of all terms does not matter for the sign.
  difference = withoutCommonFactor(difference, [&](StringRef name) { return *bounds(name); });
  DimAttr zero = constant(context, 0), one = constant(context, 1);
  PredAttr reduced = makeRelation(rewritten.getKind(), zero, difference);
  if (std::optional<bool> known = decide(reduced, bounds))
    return *known;
  // Excluded are the sides on which the goal fails: difference <= -1, and >= 1 of an equation.
  DimAttr below = subDims(negDim(difference), one), above = subDims(difference, one);
  if (!below || !above)
    return false;
  switch (rewritten.getKind()) {
  case PredKind::EQ:
    return isExcluded(below, false, least) && isExcluded(above, false, least);
  case PredKind::NE:
    return isExcluded(difference, true, least);
  case PredKind::LE:
    return isNonNegative(difference, least) || isExcluded(below, false, least);
  case PredKind::LT:
    return isNonNegative(above, least) || isExcluded(negDim(difference), false, least);
  default:
    return false;
  }
}

} // namespace kina::solver
