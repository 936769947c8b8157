//===- DimPrinter.cpp - The text of dimensions and predicates -------------===//
//
// The normal form knows `floordiv` only: `N ceildiv 4` is `N - (3*N) floordiv 4` in it, and
// `N mod 4` is `N - 4*(N floordiv 4)`. The printer finds these again. All of it is printing:
// what is printed reads back as the same dimension.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kina {

static uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

//===----------------------------------------------------------------------===//
// Binding strength of a text
//===----------------------------------------------------------------------===//

namespace {
enum class Strength { Sum, Quotient, Product, Operand };
} // namespace

/// How strongly the outermost operator of the text binds. One by name stands in parentheses
/// even where it could do without.
static Strength strengthOf(StringRef text) {
  Strength strength = text.starts_with("-") ? Strength::Sum : Strength::Operand;
  unsigned depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    StringRef rest = text.drop_front(at);
    if (rest.front() == '(')
      ++depth;
    else if (rest.front() == ')')
      --depth;
    else if (depth == 0 && rest.front() == '*')
      strength = std::min(strength, Strength::Product);
    else if (depth == 0 && (rest.starts_with(" + ") || rest.starts_with(" - ")))
      return Strength::Sum;
    else if (depth == 0 &&
             (rest.starts_with(" floordiv ") || rest.starts_with(" ceildiv ") || rest.starts_with(" mod ")))
      strength = std::min(strength, Strength::Quotient);
  }
  return strength;
}

static std::string wrapped(std::string text, Strength least) {
  return strengthOf(text) < least ? "(" + text + ")" : text;
}

static std::string infix(std::string left, StringRef op, std::string right) {
  if (op == "+" || op == "-")
    return left + " " + op.str() + " " + wrapped(std::move(right), Strength::Quotient);
  if (op == "*")
    return wrapped(std::move(left), Strength::Product) + "*" + wrapped(std::move(right), Strength::Operand);
  return wrapped(std::move(left), Strength::Operand) + " " + op.str() + " " +
         wrapped(std::move(right), Strength::Operand);
}

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

namespace {

/// `coefficient*factors*(left op right)`; the last part is there if `op` is not empty.
struct Summand {
  int64_t coefficient = 1;
  SmallVector<DimAtomAttr, 4> factors;
  StringRef op;
  DimAttr left, right;
  /// The term of the polynomial in whose place it stands; and which of several there it is.
  size_t position = 0, order = 0;
};

/// Takes what `ceildiv` and `mod` stand for out of a polynomial.
class Grouping {
public:
  explicit Grouping(DimAttr dim) : context(dim.getContext()), dim(dim), rest(dim) {
    // Of larger ones, and of those whose numbers might overflow on the way, nobody wants to know.
    constexpr size_t kMaxTerms = 64;
    constexpr uint64_t kMaxCoefficient = INT32_MAX;
    bool small = dim.getTerms().size() <= kMaxTerms && llvm::all_of(dim.getTerms(), [](DimTermAttr term) {
                   return magnitude(term.getCoefficient()) <= kMaxCoefficient;
                 });
    if (small)
      for (bool remainders : {true, false})
        for (DimTermAttr term : dim.getTerms())
          for (DimAtomAttr atom : term.getFactors())
            if (atom.getKind() == AtomKind::FloorDiv &&
                (remainders ? takeRemainder(term, atom) : takeCeiling(term, atom)))
              break;
  }

  /// In the order of the terms that they stand for, none that is negative first if there is
  /// another.
  SmallVector<Summand, 8> getSummands() {
    SmallVector<Summand, 8> summands;
    for (DimTermAttr term : rest.getTerms())
      summands.push_back(
          {term.getCoefficient(), llvm::to_vector<4>(term.getFactors()), "", {}, {}, positionOf(term), 0});
    llvm::append_range(summands, groups);
    llvm::sort(summands, [](const Summand &a, const Summand &b) {
      return std::pair(a.position, a.order) < std::pair(b.position, b.order);
    });
    auto first = llvm::find_if(summands, [](const Summand &summand) { return summand.coefficient > 0; });
    if (first != summands.end())
      std::rotate(summands.begin(), first, std::next(first));
    return summands;
  }

private:
  DimAttr monomial(int64_t coefficient, ArrayRef<DimAtomAttr> factors) {
    return DimAttr::get(context, {DimTermAttr::get(context, coefficient, factors)});
  }

  size_t positionOf(DimTermAttr term) {
    auto it = llvm::find_if(dim.getTerms(), [&](DimTermAttr t) { return t.getFactors() == term.getFactors(); });
    return it - dim.getTerms().begin();
  }

  static int64_t coefficientOf(DimAttr in, ArrayRef<DimAtomAttr> factors) {
    for (DimTermAttr term : in.getTerms())
      if (term.getFactors() == factors)
        return term.getCoefficient();
    return 0;
  }

  /// Notes the group, which is `value`, and what is left without it.
  void take(int64_t coefficient, ArrayRef<DimAtomAttr> factors, StringRef op, DimAttr left, DimAttr right,
            DimAttr value, DimAttr without) {
    Summand group{coefficient, llvm::to_vector<4>(factors), op, left, right, dim.getTerms().size(), groups.size() + 1};
    for (DimTermAttr term : value.getTerms())
      group.position = std::min(group.position, positionOf(term));
    groups.push_back(std::move(group));
    rest = without;
  }

  /// The factors and the coefficient with which the quotient stands in its term; nothing if
  /// what is left has it no more.
  bool readTerm(DimTermAttr term, DimAtomAttr quotient, int64_t &coefficient, SmallVector<DimAtomAttr, 4> &factors) {
    coefficient = term.getCoefficient();
    if (coefficientOf(rest, term.getFactors()) != coefficient)
      return false;
    factors = llvm::to_vector<4>(term.getFactors());
    factors.erase(llvm::find(factors, quotient));
    return true;
  }

  /// `k*a - k*b*(a floordiv b)`.
  bool takeRemainder(DimTermAttr term, DimAtomAttr quotient) {
    DimAttr a = quotient.getArgs()[0], b = quotient.getArgs()[1];
    int64_t coefficient;
    SmallVector<DimAtomAttr, 4> factors;
    if (b.getTerms().empty() || !readTerm(term, quotient, coefficient, factors))
      return false;
    DimTermAttr leading = b.getTerms()[0];
    if (coefficient % leading.getCoefficient() != 0 || !takeFactors(factors, leading))
      return false;
    coefficient = -(coefficient / leading.getCoefficient());
    DimAttr value = mulDims(monomial(coefficient, factors), modDims(a, b));
    if (!value || !llvm::all_of(value.getTerms(), [&](DimTermAttr part) {
          return coefficientOf(rest, part.getFactors()) == part.getCoefficient();
        }))
      return false;
    DimAttr without = subDims(rest, value);
    if (!without)
      return false;
    take(coefficient, factors, "mod", a, b, value, without);
    return true;
  }

  /// `k*m - k*((b*m - a) floordiv b)` is `k*(a ceildiv b)`, for every m.
  bool takeCeiling(DimTermAttr term, DimAtomAttr quotient) {
    DimAttr r = quotient.getArgs()[0], b = quotient.getArgs()[1];
    int64_t coefficient;
    SmallVector<DimAtomAttr, 4> factors;
    if (!readTerm(term, quotient, coefficient, factors))
      return false;
    coefficient = -coefficient;
    DimAttr m = DimAttr::getConstant(context, 0);
    if (std::optional<int64_t> c = b.getConstantValue()) {
      // Over a number m has every product of r once, so that a has what is missing to c. That
      // is shorter only if what is left loses by it, and clearer if a has the smaller numbers.
      __int128 have = 0, missing = 0;
      for (DimTermAttr part : r.getTerms()) {
        SmallVector<DimAtomAttr, 4> all(factors);
        llvm::append_range(all, part.getFactors());
        DimAttr product = mulDims(monomial(1, factors), monomial(1, part.getFactors()));
        if (!product)
          return false;
        int64_t there = coefficientOf(rest, product.getTerms()[0].getFactors());
        // A number need not be there; of another product some was there once.
        bool isNumber = part.getFactors().empty();
        bool isThere = coefficient > 0 ? there >= (isNumber ? coefficient : 1) : there <= (isNumber ? coefficient : -1);
        if (isNumber && !isThere)
          continue;
        if (!isThere)
          return false;
        m = addDims(m, monomial(1, part.getFactors()));
        if (isNumber)
          continue;
        have += part.getCoefficient();
        missing += static_cast<__int128>(*c) - part.getCoefficient();
      }
      if (missing > have)
        return false;
    } else {
      // Whether `-(-a floordiv b)` was meant is a matter of signs.
      auto negative = llvm::count_if(r.getTerms(), [](DimTermAttr part) { return part.getCoefficient() < 0; });
      auto positive = static_cast<int64_t>(r.getTerms().size()) - negative;
      if (negative < positive || (negative == positive && coefficient < 0))
        return false;
    }
    DimAttr a = subDims(mulDims(b, m), r), ceiling = ceilDivDims(a, b);
    DimAttr value = mulDims(monomial(coefficient, factors), ceiling);
    DimAttr expected = subDims(m, DimAttr::get(context, {DimTermAttr::get(context, 1, {quotient})}));
    DimAttr without = subDims(rest, value);
    if (!without || ceiling != expected || without.getTerms().size() + 1 > rest.getTerms().size())
      return false;
    take(coefficient, factors, "ceildiv", a, b, value, without);
    return true;
  }

  MLIRContext *context;
  DimAttr dim, rest;
  SmallVector<Summand, 4> groups;
};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints with what the user wrote for the parts, if that is known.
class Printer {
public:
  Printer(raw_ostream &os, const Spellings *spellings) : os(os), spellings(spellings) {}

  void print(DimAttr dim);
  void print(PredAttr pred);

private:
  std::string textOf(DimAttr dim) { return spellings ? spellings->spell(dim) : toString(dim); }
  void print(DimAtomAttr atom);
  void print(ArrayRef<Summand> summands);
  void printRelation(PredAttr pred, StringRef symbol, StringRef reversed);

  raw_ostream &os;
  const Spellings *spellings;
};

} // namespace

void Printer::print(DimAtomAttr atom) {
  switch (atom.getKind()) {
  case AtomKind::Name:
    // Of a name that is bound more than once the source has the part before the dot.
    os << (spellings ? atom.getName().split('.').first : atom.getName());
    return;
  case AtomKind::FloorDiv:
    os << infix(textOf(atom.getArgs()[0]), "floordiv", textOf(atom.getArgs()[1]));
    return;
  case AtomKind::Min:
  case AtomKind::Max:
    // The source language's min and max take two; nest to the right.
    for (size_t i = 0, e = atom.getArgs().size(); i < e; ++i) {
      if (i + 1 < e)
        os << (atom.getKind() == AtomKind::Min ? "min(" : "max(");
      os << textOf(atom.getArgs()[i]);
      if (i + 1 < e)
        os << ", ";
    }
    for (size_t i = 0, e = atom.getArgs().size(); i + 1 < e; ++i)
      os << ')';
    return;
  }
}

void Printer::print(DimAttr dim) { print(Grouping(dim).getSummands()); }

void Printer::print(ArrayRef<Summand> summands) {
  if (summands.empty())
    os << '0';
  bool first = true;
  for (const Summand &summand : summands) {
    bool negative = summand.coefficient < 0;
    if (first)
      os << (negative ? "-" : "");
    else
      os << (negative ? " - " : " + ");
    first = false;
    uint64_t size = magnitude(summand.coefficient);
    size_t factors = summand.factors.size() + !summand.op.empty();
    StringRef times = "";
    if (size != 1 || factors == 0) {
      os << size;
      times = "*";
    }
    auto factor = [&](bool quotient, llvm::function_ref<void()> print) {
      bool wrap = quotient && (factors > 1 || size != 1 || negative);
      os << std::exchange(times, "*") << (wrap ? "(" : "");
      print();
      os << (wrap ? ")" : "");
    };
    for (DimAtomAttr atom : summand.factors)
      factor(atom.getKind() == AtomKind::FloorDiv, [&] { print(atom); });
    if (!summand.op.empty())
      factor(true, [&] { os << infix(textOf(summand.left), summand.op, textOf(summand.right)); });
  }
}

/// As a user would write it: a constant on the right, nothing negative in a bound.
void Printer::printRelation(PredAttr pred, StringRef symbol, StringRef reversed) {
  DimAttr left = pred.getDims()[0], right = pred.getDims()[1];
  bool swap = left.isConstant() && !right.isConstant();
  if (swap) {
    std::swap(left, right);
    symbol = reversed;
  }
  // `N - W >= 0` is `N >= W`.
  bool isOrder = pred.getKind() == PredKind::LE || pred.getKind() == PredKind::LT;
  bool isWritten = spellings && !spellings->find(toString(left)).empty();
  if (DimAttr difference = swap && isOrder && !isWritten ? subDims(left, right) : DimAttr()) {
    SmallVector<Summand, 8> positive, negative;
    for (Summand &summand : Grouping(difference).getSummands())
      if (summand.coefficient > 0) {
        positive.push_back(summand);
      } else if (summand.coefficient != INT64_MIN) {
        summand.coefficient = -summand.coefficient;
        negative.push_back(summand);
      } else {
        positive.clear();
        break;
      }
    bool isNumber = llvm::all_of(
        positive, [](const Summand &summand) { return summand.factors.empty() && summand.op.empty(); });
    if (!isNumber && !negative.empty()) {
      print(positive);
      os << ' ' << symbol << ' ';
      print(negative);
      return;
    }
  }
  os << textOf(left) << ' ' << symbol << ' ' << textOf(right);
}

void Printer::print(PredAttr pred) {
  if (spellings)
    if (StringRef text = spellings->find(toString(pred)); !text.empty()) {
      os << text;
      return;
    }
  switch (pred.getKind()) {
  case PredKind::EQ:
    return printRelation(pred, "=", "=");
  case PredKind::NE:
    return printRelation(pred, "!=", "!=");
  case PredKind::LE:
    return printRelation(pred, "<=", ">=");
  case PredKind::LT:
    return printRelation(pred, "<", ">");
  case PredKind::Not:
    os << "not (";
    print(pred.getPreds()[0]);
    os << ')';
    return;
  case PredKind::And:
  case PredKind::Or:
    llvm::interleave(
        pred.getPreds(), os,
        [&](PredAttr sub) {
          bool wrap = sub.getKind() == PredKind::And || sub.getKind() == PredKind::Or;
          os << (wrap ? "(" : "");
          print(sub);
          os << (wrap ? ")" : "");
        },
        pred.getKind() == PredKind::And ? " and " : " or ");
    return;
  }
}

void print(raw_ostream &os, DimAttr dim) { Printer(os, nullptr).print(dim); }
void print(raw_ostream &os, PredAttr pred) { Printer(os, nullptr).print(pred); }

std::string toString(DimAttr dim) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, dim);
  return text;
}
std::string toString(PredAttr pred) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, pred);
  return text;
}

//===----------------------------------------------------------------------===//
// What the user wrote
//===----------------------------------------------------------------------===//

static bool isRelation(PredAttr pred) { return !pred.getDims().empty(); }

/// The function's clauses that are one relation, with their texts.
static void forEachClause(Operation *function, llvm::function_ref<void(ClauseAttr)> visit) {
  auto kinaFunction = dyn_cast<FuncOp>(function);
  if (!kinaFunction || !kinaFunction.getPreconditionsAttr())
    return;
  for (auto clause : kinaFunction.getPreconditionsAttr().getAsRange<ClauseAttr>())
    if (isRelation(clause.getPred()) && !clause.getText().empty() && !clause.getText().contains('\n'))
      visit(clause);
}

Spellings::Spellings(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return;
  if (auto written = function->getAttrOfType<DictionaryAttr>(kSpellingsAttrName))
    for (NamedAttribute entry : written)
      if (auto text = dyn_cast<StringAttr>(entry.getValue()))
        texts.try_emplace(entry.getName(), text.getValue().str());
  forEachClause(function, [&](ClauseAttr clause) { add(toString(clause.getPred()), clause.getText().str()); });
}

void Spellings::attachTo(Operation *function) const {
  llvm::StringSet<> known;
  forEachClause(function, [&](ClauseAttr clause) { known.insert(clause.getText()); });
  SmallVector<NamedAttribute> entries;
  MLIRContext *context = function->getContext();
  for (auto &entry : texts)
    if (!known.contains(entry.second))
      entries.emplace_back(StringAttr::get(context, entry.first()), StringAttr::get(context, entry.second));
  if (!entries.empty())
    function->setAttr(kSpellingsAttrName, DictionaryAttr::get(context, entries));
}

void Spellings::add(std::string normal, std::string text) {
  // Numbers known only at run time have no name in the source.
  if (normal != text && StringRef(text).find_first_of("%/") == StringRef::npos)
    texts.try_emplace(normal, std::move(text));
}

static bool isPlain(DimAttr dim) { return dim.isConstant() || !dim.getSingleName().empty(); }

void Spellings::addInfix(DimAttr dim, DimAttr a, StringRef op, DimAttr b) {
  if (dim && !isPlain(dim))
    add(toString(dim), infix(spell(a), op, spell(b)));
}

void Spellings::addCall(DimAttr dim, StringRef function, DimAttr a, DimAttr b) {
  if (dim && !isPlain(dim))
    add(toString(dim), (function + "(" + spell(a) + ", " + spell(b) + ")").str());
}

void Spellings::addRelation(PredAttr pred, DimAttr a, StringRef op, DimAttr b) {
  if (pred)
    add(toString(pred), (spell(a) + " " + op + " " + spell(b)).str());
}

void Spellings::addProduct(DimAttr product, ArrayRef<DimAttr> sizes) {
  if (!product || isPlain(product) || sizes.size() < 2)
    return;
  std::string text = spell(sizes[0]);
  for (DimAttr size : sizes.drop_front())
    text = infix(text, "*", spell(size));
  add(toString(product), text);
}

std::string Spellings::spell(DimAttr dim) const {
  if (!texts.empty() && !isPlain(dim))
    if (StringRef text = find(toString(dim)); !text.empty())
      return text.str();
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os, this).print(dim);
  return text;
}

std::string Spellings::spell(PredAttr pred) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os, this).print(pred);
  return text;
}

} // namespace kina
