//===- Formula.cpp - Questions of the soak, and what is true of them ------===//

#include "Formula.h"

namespace kina::soak {

ExprPtr number(int64_t value) { return std::make_shared<Expr>(Expr{Expr::Kind::Number, value, nullptr, nullptr}); }
ExprPtr name(unsigned index) { return std::make_shared<Expr>(Expr{Expr::Kind::Name, index, nullptr, nullptr}); }
ExprPtr make(Expr::Kind kind, ExprPtr a, ExprPtr b) {
  return std::make_shared<Expr>(Expr{kind, 0, std::move(a), std::move(b)});
}
FormulaPtr relation(Formula::Kind kind, ExprPtr a, ExprPtr b) {
  return std::make_shared<Formula>(Formula{kind, std::move(a), std::move(b), {}});
}
FormulaPtr join(Formula::Kind kind, std::vector<FormulaPtr> parts) {
  return std::make_shared<Formula>(Formula{kind, nullptr, nullptr, std::move(parts)});
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static constexpr __int128 kLimit = static_cast<__int128>(1) << 62;

/// The quotient rounded down, of a positive divisor.
static __int128 quotient(__int128 a, __int128 b) {
  __int128 rest = a % b;
  if (rest < 0)
    rest += b;
  return (a - rest) / b;
}

std::optional<int64_t> evaluate(const Expr &expr, const Values &values) {
  if (expr.kind == Expr::Kind::Number)
    return expr.number;
  if (expr.kind == Expr::Kind::Name)
    return values[expr.number];
  std::optional<int64_t> left = evaluate(*expr.a, values), right = evaluate(*expr.b, values);
  if (!left || !right)
    return std::nullopt;
  __int128 a = *left, b = *right, result = 0;
  switch (expr.kind) {
  case Expr::Kind::Add:
    result = a + b;
    break;
  case Expr::Kind::Sub:
    result = a - b;
    break;
  case Expr::Kind::Mul:
    result = a * b;
    break;
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv:
  case Expr::Kind::Mod:
    if (b < 1)
      return std::nullopt;
    if (expr.kind == Expr::Kind::FloorDiv)
      result = quotient(a, b);
    else if (expr.kind == Expr::Kind::CeilDiv)
      result = quotient(a + b - 1, b);
    else
      result = a - b * quotient(a, b);
    break;
  case Expr::Kind::Min:
    result = a < b ? a : b;
    break;
  case Expr::Kind::Max:
    result = a < b ? b : a;
    break;
  case Expr::Kind::Number:
  case Expr::Kind::Name:
    break;
  }
  if (result >= kLimit || result <= -kLimit)
    return std::nullopt;
  return static_cast<int64_t>(result);
}

std::optional<bool> evaluate(const Formula &formula, const Values &values) {
  using K = Formula::Kind;
  if (formula.kind == K::And || formula.kind == K::Or || formula.kind == K::Not) {
    // What is undefined in one part leaves the whole without a meaning.
    bool all = true, any = false;
    for (const FormulaPtr &part : formula.parts) {
      std::optional<bool> truth = evaluate(*part, values);
      if (!truth)
        return std::nullopt;
      all &= *truth;
      any |= *truth;
    }
    return formula.kind == K::And ? all : formula.kind == K::Or ? any : !any;
  }
  std::optional<int64_t> a = evaluate(*formula.a, values), b = evaluate(*formula.b, values);
  if (!a || !b)
    return std::nullopt;
  switch (formula.kind) {
  case K::EQ:
    return *a == *b;
  case K::NE:
    return *a != *b;
  case K::LE:
    return *a <= *b;
  case K::LT:
    return *a < *b;
  case K::GE:
    return *a >= *b;
  case K::GT:
    return *a > *b;
  default:
    return std::nullopt;
  }
}

std::optional<bool> Question::goalUnder(const Values &values) const {
  for (unsigned index = 0; index < names; ++index)
    if (values[index] < least[index])
      return std::nullopt;
  for (const FormulaPtr &fact : facts)
    if (evaluate(*fact, values) != std::optional(true))
      return std::nullopt;
  return evaluate(*goal, values);
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

unsigned getNames(const Expr &expr) {
  if (expr.kind == Expr::Kind::Name)
    return 1u << expr.number;
  return expr.a ? getNames(*expr.a) | getNames(*expr.b) : 0;
}

unsigned getNames(const Formula &formula) {
  unsigned names = formula.a ? getNames(*formula.a) | getNames(*formula.b) : 0;
  for (const FormulaPtr &part : formula.parts)
    names |= getNames(*part);
  return names;
}

std::string nameOf(unsigned index) { return std::string(1, static_cast<char>('A' + index)); }

std::string toString(const Expr &expr) {
  static const char *infix[] = {"", "", " + ", " - ", "*", " floordiv ", " ceildiv ", " mod "};
  switch (expr.kind) {
  case Expr::Kind::Number:
    return std::to_string(expr.number);
  case Expr::Kind::Name:
    return nameOf(static_cast<unsigned>(expr.number));
  case Expr::Kind::Min:
  case Expr::Kind::Max:
    return (expr.kind == Expr::Kind::Min ? "min(" : "max(") + toString(*expr.a) + ", " + toString(*expr.b) + ")";
  default:
    return "(" + toString(*expr.a) + infix[static_cast<unsigned>(expr.kind)] + toString(*expr.b) + ")";
  }
}

std::string toString(const Formula &formula) {
  static const char *infix[] = {" = ", " != ", " <= ", " < ", " >= ", " > ", " and ", " or ", ""};
  const char *between = infix[static_cast<unsigned>(formula.kind)];
  if (formula.a)
    return toString(*formula.a) + between + toString(*formula.b);
  std::string text = formula.kind == Formula::Kind::Not ? "not (" : "(";
  for (size_t index = 0; index < formula.parts.size(); ++index)
    text += (index ? between : "") + toString(*formula.parts[index]);
  return text + ")";
}

DimAttr toDim(mlir::MLIRContext *context, const Expr &expr) {
  if (expr.kind == Expr::Kind::Number)
    return DimAttr::getConstant(context, expr.number);
  if (expr.kind == Expr::Kind::Name)
    return DimAttr::getName(context, nameOf(static_cast<unsigned>(expr.number)));
  DimAttr a = toDim(context, *expr.a), b = toDim(context, *expr.b);
  switch (expr.kind) {
  case Expr::Kind::Add:
    return addDims(a, b);
  case Expr::Kind::Sub:
    return subDims(a, b);
  case Expr::Kind::Mul:
    return mulDims(a, b);
  case Expr::Kind::FloorDiv:
    return floorDivDims(a, b);
  case Expr::Kind::CeilDiv:
    return ceilDivDims(a, b);
  case Expr::Kind::Mod:
    return modDims(a, b);
  case Expr::Kind::Min:
    return minDims({a, b});
  case Expr::Kind::Max:
    return maxDims({a, b});
  default:
    return {};
  }
}

PredAttr toPred(mlir::MLIRContext *context, const Formula &formula) {
  using K = Formula::Kind;
  if (!formula.a) {
    llvm::SmallVector<PredAttr> parts;
    for (const FormulaPtr &part : formula.parts) {
      parts.push_back(toPred(context, *part));
      if (!parts.back())
        return {};
    }
    return formula.kind == K::And ? makeAnd(parts) : formula.kind == K::Or ? makeOr(parts) : makeNot(parts[0]);
  }
  DimAttr a = toDim(context, *formula.a), b = toDim(context, *formula.b);
  if (!a || !b)
    return {};
  switch (formula.kind) {
  case K::EQ:
    return makeRelation(PredKind::EQ, a, b);
  case K::NE:
    return makeRelation(PredKind::NE, a, b);
  case K::LE:
    return makeRelation(PredKind::LE, a, b);
  case K::LT:
    return makeRelation(PredKind::LT, a, b);
  case K::GE:
    return makeRelation(PredKind::LE, b, a);
  case K::GT:
    return makeRelation(PredKind::LT, b, a);
  default:
    return {};
  }
}

ExprPtr rewrite(const ExprPtr &expr, Change change) {
  ExprPtr result = expr;
  if (expr->a)
    result = make(expr->kind, rewrite(expr->a, change), rewrite(expr->b, change));
  ExprPtr other = change(result);
  return other ? other : result;
}

FormulaPtr rewrite(const FormulaPtr &formula, Change change) {
  if (formula->a)
    return relation(formula->kind, rewrite(formula->a, change), rewrite(formula->b, change));
  std::vector<FormulaPtr> parts;
  for (const FormulaPtr &part : formula->parts)
    parts.push_back(rewrite(part, change));
  return join(formula->kind, std::move(parts));
}

} // namespace kina::soak
