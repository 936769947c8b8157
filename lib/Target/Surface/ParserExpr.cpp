//===- ParserExpr.cpp - Expressions ---------------------------------------===//
//
// Loosest first: `::`, `or`, `and`, `not`, comparisons (which do not chain), `+ -`,
// `* / % @ floordiv ceildiv mod`, prefix `-` and `ref`, `**`, `!`, postfix. The forms that
// end in a block are expressions but no operands, so that what follows their `}` never
// continues them.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

Parser::Expr Parser::checkHeight(Expr expr, uint32_t begin) {
  maxHeight = std::max(maxHeight, expr.height);
  if (expr.height <= kHeightLimit)
    return expr;
  error(begin, lastEnd, DiagCode::K0107,
        "an expression more than " + Twine(kHeightLimit) + " operations deep",
        "bind parts of it with `let`");
  fatal();
  return {};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Parser::Expr Parser::parseExpr(bool eqSign) {
  Nested nested(*this);
  if (!nested)
    return {};
  switch (peek().kind) {
  case Tok::KwIf:
    return parseIf();
  case Tok::KwWhile:
    return parseWhile();
  case Tok::KwFor:
    return parseFor();
  case Tok::KwHandle:
    return parseHandle();
  case Tok::KwFn:
    return parseLambda();
  case Tok::LBrace:
    return parseBlockExpr();
  default:
    return parseCons(eqSign);
  }
}

Parser::Expr Parser::parseCons(bool eqSign) {
  uint32_t begin = peek().begin;
  Expr lhs = parseOr(eqSign);
  if (!lhs || tookEqSign || !at(Tok::Cons))
    return lhs;
  consume();
  Nested nested(*this);
  Expr rhs = nested ? parseCons(false) : Expr();
  if (!rhs)
    return {};
  return make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::Cons, lhs.value,
                        rhs.value);
}

Parser::Expr Parser::parseOr(bool eqSign) {
  uint32_t begin = peek().begin;
  Expr lhs = parseAnd(eqSign);
  while (lhs && !tookEqSign && (at(Tok::KwOr) || at(Tok::OrOr))) {
    consume();
    Expr rhs = parseAnd(false);
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::Or, lhs.value,
                         rhs.value);
  }
  return lhs;
}

Parser::Expr Parser::parseAnd(bool eqSign) {
  uint32_t begin = peek().begin;
  Expr lhs = parseNot(eqSign);
  while (lhs && !tookEqSign && (at(Tok::KwAnd) || at(Tok::AndAnd))) {
    consume();
    Expr rhs = parseNot(false);
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::And, lhs.value,
                         rhs.value);
  }
  return lhs;
}

Parser::Expr Parser::parseNot(bool eqSign) {
  uint32_t begin = peek().begin;
  if (!accept(Tok::KwNot))
    return parseComparison(eqSign);
  Nested nested(*this);
  Expr operand = nested ? parseNot(false) : Expr();
  return operand ? make<UnaryOp>(begin, operand.height + 1, UnaryKind::Not, operand.value)
                 : Expr();
}

/// The comparison at a relation token; `=` is the equation of a check.
static BinaryKind relationKind(Tok token) {
  switch (token) {
  case Tok::EqEq:
    return BinaryKind::Eq;
  case Tok::NotEq:
    return BinaryKind::Ne;
  case Tok::Less:
    return BinaryKind::Lt;
  case Tok::LessEq:
    return BinaryKind::Le;
  case Tok::Greater:
    return BinaryKind::Gt;
  case Tok::GreaterEq:
    return BinaryKind::Ge;
  default:
    return BinaryKind::EqSign;
  }
}

Parser::Expr Parser::parseComparison(bool eqSign) {
  uint32_t begin = peek().begin;
  Expr lhs = parseSum();
  if (!lhs || !atRelation() || (at(Tok::Equal) && !(eqSign && inCheck)))
    return lhs;
  BinaryKind kind = relationKind(consume().kind);
  Expr rhs = parseSum();
  if (!rhs)
    return {};
  tookEqSign = kind == BinaryKind::EqSign;
  return make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, kind, lhs.value, rhs.value);
}

Parser::Expr Parser::parseSum() {
  uint32_t begin = peek().begin;
  Expr lhs = parseProduct();
  while (lhs && (at(Tok::Plus) || at(Tok::Minus))) {
    BinaryKind kind = consume().is(Tok::Plus) ? BinaryKind::Add : BinaryKind::Sub;
    Expr rhs = parseProduct();
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, kind, lhs.value, rhs.value);
  }
  return lhs;
}

static std::optional<BinaryKind> productKind(Tok token) {
  switch (token) {
  case Tok::Star:
    return BinaryKind::Mul;
  case Tok::Slash:
    return BinaryKind::Div;
  case Tok::Percent:
    return BinaryKind::Rem;
  case Tok::At:
    return BinaryKind::MatMul;
  case Tok::KwFloorDiv:
    return BinaryKind::FloorDiv;
  case Tok::KwCeilDiv:
    return BinaryKind::CeilDiv;
  case Tok::KwMod:
    return BinaryKind::Mod;
  default:
    return std::nullopt;
  }
}

Parser::Expr Parser::parseProduct() {
  uint32_t begin = peek().begin;
  Expr lhs = parseUnary();
  while (lhs) {
    std::optional<BinaryKind> kind = productKind(peek().kind);
    if (!kind)
      return lhs;
    consume();
    Expr rhs = parseUnary();
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, *kind, lhs.value, rhs.value);
  }
  return lhs;
}

Parser::Expr Parser::parseUnary() {
  uint32_t begin = peek().begin;
  UnaryKind kind;
  if (at(Tok::Minus))
    kind = UnaryKind::Neg;
  else if (at(Tok::KwRef))
    kind = UnaryKind::Ref;
  else
    return parsePower();
  Nested nested(*this);
  if (!nested)
    return {};
  consume();
  if (kind == UnaryKind::Neg && atLeastInteger() && !at(Tok::StarStar, 1) &&
      !at(Tok::LParen, 1) && !at(Tok::LSquare, 1) && !at(Tok::Dot, 1)) {
    consume();
    return makeLeastInteger(begin);
  }
  Expr operand = parseUnary();
  return operand ? make<UnaryOp>(begin, operand.height + 1, kind, operand.value) : Expr();
}

/// The least integer has no positive counterpart; its sign is part of the literal.
bool Parser::atLeastInteger() { return at(Tok::Int) && peek().text == "9223372036854775808"; }

Parser::Expr Parser::makeLeastInteger(uint32_t begin) {
  return make<LiteralOp>(begin, 1, builder.getI64IntegerAttr(INT64_MIN),
                         builder.getStringAttr("-9223372036854775808"));
}

Parser::Expr Parser::parsePower() {
  uint32_t begin = peek().begin;
  Expr base = parseBang();
  if (!base || !accept(Tok::StarStar))
    return base;
  Nested nested(*this);
  Expr exponent = nested ? parsePowerRight() : Expr();
  if (!exponent)
    return {};
  return make<BinaryOp>(begin, std::max(base.height, exponent.height) + 1, BinaryKind::Pow,
                        base.value, exponent.value);
}

Parser::Expr Parser::parsePowerRight() {
  uint32_t begin = peek().begin;
  if (!accept(Tok::Minus))
    return parsePower();
  Nested nested(*this);
  Expr operand = nested ? parsePowerRight() : Expr();
  return operand ? make<UnaryOp>(begin, operand.height + 1, UnaryKind::Neg, operand.value)
                 : Expr();
}

Parser::Expr Parser::parseBang() {
  uint32_t begin = peek().begin;
  if (!accept(Tok::Bang))
    return parsePostfix();
  Nested nested(*this);
  Expr operand = nested ? parseBang() : Expr();
  return operand ? make<UnaryOp>(begin, operand.height + 1, UnaryKind::Bang, operand.value)
                 : Expr();
}

//===----------------------------------------------------------------------===//
// Postfix and primary
//===----------------------------------------------------------------------===//

Parser::Expr Parser::parsePostfix() {
  uint32_t begin = peek().begin;
  Expr base = parsePrimary();
  while (base) {
    if (at(Tok::LParen)) {
      uint32_t opener = consume().begin;
      SmallVector<Value> args;
      SmallVector<StringRef> keywords;
      unsigned height = base.height;
      if (!parseArgs(args, keywords, height) ||
          !expectClose(Tok::RParen, opener, "list of arguments", "',' or "))
        return {};
      base = make<CallOp>(begin, height + 1, base.value, args, keywordArray(keywords),
                          SyntaxAttr());
    } else if (at(Tok::LSquare)) {
      uint32_t opener = consume().begin;
      SmallVector<Value> subscripts;
      unsigned height = base.height;
      if (at(Tok::RSquare)) {
        errorExpected("a subscript");
        return {};
      }
      if (!parseSubscripts(subscripts, Tok::RSquare, height) ||
          !expectClose(Tok::RSquare, opener, "list of subscripts", "',' or "))
        return {};
      base = make<IndexOp>(begin, height + 1, base.value, subscripts);
    } else if (at(Tok::Dot)) {
      bool number = lastKind == Tok::Int;
      Token dot = consume();
      // `t.1.0` is two members, not a float.
      resetTo(dot.end, /*noFloat=*/true);
      Token member = peek();
      if (at(Tok::Int)) {
        consume();
      } else if (at(Tok::Ident) || isReserved(member.kind)) {
        member = expectName("the name of a member");
        if (member.text.empty())
          return {};
      } else {
        errorExpected("the name or number of a member",
                      number ? "a float has digits on both sides of its dot: `1.0`" : "");
        return {};
      }
      base = make<FieldOp>(begin, base.height + 1, base.value, builder.getStringAttr(member.text));
    } else {
      warnAboutComment();
      return base;
    }
  }
  return base;
}

ArrayAttr Parser::keywordArray(ArrayRef<StringRef> keywords) {
  if (llvm::all_of(keywords, [](StringRef k) { return k.empty(); }))
    return {};
  return builder.getStrArrayAttr(keywords);
}

/// `args?`, the parentheses not included.
bool Parser::parseArgs(SmallVectorImpl<Value> &args, SmallVectorImpl<StringRef> &keywords,
                       unsigned &height) {
  while (!at(Tok::RParen)) {
    StringRef keyword;
    if (at(Tok::Ident) && at(Tok::Equal, 1)) {
      keyword = consume().text;
      consume();
    }
    Expr arg;
    if (at(Tok::At)) {
      uint32_t begin = peek().begin;
      SyntaxAttr place = parsePlace();
      if (place)
        arg = make<PlaceOp>(begin, 1, place);
    } else {
      arg = parseExpr();
    }
    if (!arg)
      return false;
    args.push_back(arg.value);
    keywords.push_back(keyword);
    height = std::max(height, arg.height);
    if (!accept(Tok::Comma))
      return true;
    if (at(Tok::Comma)) {
      errorExpected("an argument");
      return false;
    }
  }
  return true;
}

Parser::Expr Parser::parseSubscript() {
  uint32_t begin = peek().begin;
  Expr lo, hi;
  if (!at(Tok::Colon)) {
    lo = parseExpr();
    if (!lo || !at(Tok::Colon))
      return lo;
  }
  consume();
  if (!at(Tok::Comma) && !at(Tok::RSquare)) {
    hi = parseExpr();
    if (!hi)
      return {};
  }
  unsigned height = std::max(lo ? lo.height : 0, hi ? hi.height : 0) + 1;
  return make<SliceOp>(begin, height, lo.value, hi.value);
}

/// `subs?`, the brackets not included.
bool Parser::parseSubscripts(SmallVectorImpl<Value> &values, Tok closer, unsigned &height) {
  while (!at(closer)) {
    Expr subscript = parseSubscript();
    if (!subscript)
      return false;
    values.push_back(subscript.value);
    height = std::max(height, subscript.height);
    if (!accept(Tok::Comma))
      return true;
  }
  return true;
}

Parser::Expr Parser::parsePrimary() {
  Token token = peek();
  switch (token.kind) {
  case Tok::Ident: {
    consume();
    Expr name = make<NameOp>(token.begin, 1, token.text);
    if (!token.generic)
      return name;
    consume();
    SyntaxAttr type;
    if (at(Tok::DType)) {
      Token dtype = consume();
      type = node(SyntaxKind::DType, dtype.text, {}, dtype.begin);
    } else {
      type = parseName("a type argument");
      if (!type)
        return {};
    }
    consume();
    uint32_t opener = consume().begin;
    SmallVector<Value> args;
    SmallVector<StringRef> keywords;
    unsigned height = name.height;
    if (!parseArgs(args, keywords, height) ||
        !expectClose(Tok::RParen, opener, "list of arguments", "',' or "))
      return {};
    return make<CallOp>(token.begin, height + 1, name.value, args, keywordArray(keywords), type);
  }
  case Tok::Int:
  case Tok::Float:
    return parseNumber();
  case Tok::String:
    consume();
    return make<LiteralOp>(token.begin, 1, builder.getStringAttr(token.text),
                           builder.getStringAttr(token.text));
  case Tok::KwTrue:
  case Tok::KwFalse:
    consume();
    return make<LiteralOp>(token.begin, 1, builder.getBoolAttr(token.is(Tok::KwTrue)),
                           builder.getStringAttr(token.text));
  case Tok::DType:
    consume();
    return make<DTypeOp>(token.begin, 1, token.text);
  case Tok::LParen:
    return parseParen();
  case Tok::LSquare:
    return parseList();
  case Tok::KwTensor: {
    SyntaxAttr type = parseTensorType();
    return type ? make<TypeExprOp>(token.begin, 1, type) : Expr();
  }
  case Tok::KwPerform:
    return parsePerform();
  case Tok::KwFoldLeft:
    return parseFoldLeft();
  case Tok::KwIf:
  case Tok::KwWhile:
  case Tok::KwFor:
  case Tok::KwHandle:
  case Tok::KwFn:
  case Tok::LBrace:
    errorExpected("an operand", "an `if`, a loop, a `handle`, a lambda or a block is no operand: "
                                "parenthesise it");
    return {};
  case Tok::KwNot:
    errorExpected("an operand", "`not` binds looser than comparisons: parenthesise it");
    return {};
  default:
    errorExpected("an expression");
    return {};
  }
}

Parser::Expr Parser::parseNumber() {
  Token token = consume();
  StringAttr spelling = builder.getStringAttr(token.text);
  if (token.is(Tok::Int)) {
    int64_t value;
    if (token.text.getAsInteger(10, value)) {
      error(token.begin, token.end, DiagCode::K0106,
            "the integer " + describe(token) + " does not fit in 64 bits");
      return {};
    }
    return make<LiteralOp>(token.begin, 1, builder.getI64IntegerAttr(value), spelling);
  }
  APFloat value(APFloat::IEEEdouble());
  auto status = value.convertFromString(token.text, APFloat::rmNearestTiesToEven);
  if (!status)
    llvm::consumeError(status.takeError());
  if (value.isInfinity() || value.isNaN()) {
    error(token.begin, token.end, DiagCode::K0106,
          "the float " + describe(token) + " does not fit in F64");
    return {};
  }
  return make<LiteralOp>(token.begin, 1, FloatAttr::get(builder.getF64Type(), value), spelling);
}

Parser::Expr Parser::parseParen() {
  uint32_t begin = consume().begin;
  if (accept(Tok::RParen))
    return make<UnitOp>(begin, 1);
  if (at(Tok::KwFun))
    return parseFun(begin);

  SmallVector<Value> members;
  SmallVector<StringRef> names;
  unsigned height = 0;
  if (at(Tok::Ident) && at(Tok::Equal, 1)) {
    do {
      Token name = expectName("the name of a member");
      if (name.text.empty() || !expect(Tok::Equal, " behind the member's name"))
        return {};
      Expr member = parseExpr();
      if (!member)
        return {};
      members.push_back(member.value);
      names.push_back(name.text);
      height = std::max(height, member.height);
    } while (accept(Tok::Comma) && !at(Tok::RParen));
    if (!expectClose(Tok::RParen, begin, "tuple", "',' or "))
      return {};
    return make<TupleOp>(begin, height + 1, members, builder.getStrArrayAttr(names));
  }

  Expr first = parseExpr(/*eqSign=*/true);
  bool equation = std::exchange(tookEqSign, false);
  if (!first)
    return {};
  if (equation)
    return expectClose(Tok::RParen, begin, "equation") ? first : Expr();
  if (!at(Tok::Comma))
    return expectClose(Tok::RParen, begin, "form", "',' or ") ? first : Expr();
  members.push_back(first.value);
  height = first.height;
  while (accept(Tok::Comma) && !at(Tok::RParen)) {
    Expr member = parseExpr();
    if (!member)
      return {};
    members.push_back(member.value);
    height = std::max(height, member.height);
  }
  if (!expectClose(Tok::RParen, begin, "tuple", "',' or "))
    return {};
  return make<TupleOp>(begin, height + 1, members, ArrayAttr());
}

Parser::Expr Parser::parseList() {
  uint32_t begin = consume().begin;
  SmallVector<Value> elements;
  unsigned height = 0;
  if (!parseSubscripts(elements, Tok::RSquare, height) ||
      !expectClose(Tok::RSquare, begin, "list", "',' or "))
    return {};
  return make<ListOp>(begin, height + 1, elements);
}

Parser::Expr Parser::parsePerform() {
  uint32_t begin = consume().begin;
  Token name = expectName("the name of an effect's operation");
  uint32_t opener = peek().begin;
  if (name.text.empty() || !expect(Tok::LParen, " and the arguments of the operation"))
    return {};
  SmallVector<Value> args;
  SmallVector<StringRef> keywords;
  unsigned height = 0;
  if (!parseArgs(args, keywords, height) ||
      !expectClose(Tok::RParen, opener, "list of arguments", "',' or "))
    return {};
  return make<PerformOp>(begin, height + 1, builder.getStringAttr(name.text), args,
                         keywordArray(keywords));
}

//===----------------------------------------------------------------------===//
// fold_left and fun
//===----------------------------------------------------------------------===//

Parser::Expr Parser::parseFoldLeft() {
  uint32_t begin = consume().begin;
  Expr function = parseFoldAtom();
  Expr start = function ? parseFoldAtom() : Expr();
  Expr list = start ? parseFoldAtom() : Expr();
  if (!list)
    return {};
  unsigned height = std::max({function.height, start.height, list.height});
  return make<FoldLeftOp>(begin, height + 1, function.value, start.value, list.value);
}

Parser::Expr Parser::parseFoldAtom() {
  Token token = peek();
  switch (token.kind) {
  case Tok::Ident:
    consume();
    return make<NameOp>(token.begin, 1, token.text);
  case Tok::Int:
  case Tok::Float:
    return parseNumber();
  case Tok::Bang: {
    consume();
    Token name = expectName("the name of a ref");
    if (name.text.empty())
      return {};
    Expr operand = make<NameOp>(name.begin, 1, name.text);
    return make<UnaryOp>(token.begin, 2, UnaryKind::Bang, operand.value);
  }
  case Tok::LSquare:
    consume();
    if (!expectClose(Tok::RSquare, token.begin, "empty list"))
      return {};
    return make<ListOp>(token.begin, 1, ValueRange());
  case Tok::LParen: {
    consume();
    if (accept(Tok::RParen))
      return make<UnitOp>(token.begin, 1);
    if (at(Tok::KwFun))
      return parseFun(token.begin);
    Expr inner = parseExpr();
    if (!inner || !expectClose(Tok::RParen, token.begin, "form"))
      return {};
    return inner;
  }
  default:
    errorExpected("an argument of `fold_left`",
                  "its three arguments are names, numbers, `!ref`, `[]` or parenthesised");
    return {};
  }
}

/// Behind the `(` at `opener`: `fun a b -> body)`.
Parser::Expr Parser::parseFun(uint32_t opener) {
  Nested nested(*this);
  if (!nested)
    return {};
  consume();
  Nodes params;
  do {
    Token name = expectName("the name of a parameter");
    if (name.text.empty())
      return {};
    params.push_back(node(SyntaxKind::Param, name.text, {}, name.begin));
  } while (at(Tok::Ident));
  if (!expect(Tok::Arrow, " behind the parameters"))
    return {};
  Body body = parseExprRegion([&] { return parseFunBody(); });
  if (!body.region || !expectClose(Tok::RParen, opener, "form"))
    return {};
  return makeWithBody<LambdaOp>(opener, body.height + 1, body, array(params), SyntaxAttr());
}

/// An expression, or a function's name and its arguments side by side.
Parser::Expr Parser::parseFunBody() {
  Token function = peek();
  if (!function.is(Tok::Ident) || function.generic || !(at(Tok::Ident, 1) || at(Tok::Bang, 1)))
    return parseExpr();
  consume();
  Expr callee = make<NameOp>(function.begin, 1, function.text);
  SmallVector<Value> args;
  while (at(Tok::Ident) || at(Tok::Bang)) {
    Token token = peek();
    bool deref = accept(Tok::Bang);
    Token name = expectName("a name");
    if (name.text.empty())
      return {};
    Expr arg = make<NameOp>(name.begin, 1, name.text);
    if (deref)
      arg = make<UnaryOp>(token.begin, 2, UnaryKind::Bang, arg.value);
    args.push_back(arg.value);
  }
  return make<CallOp>(function.begin, 3, callee.value, args, ArrayAttr(), SyntaxAttr());
}

//===----------------------------------------------------------------------===//
// The condition of a check
//===----------------------------------------------------------------------===//

Parser::Expr Parser::parseCheckCondition() {
  llvm::SaveAndRestore inside(inCheck, true);
  uint32_t begin = peek().begin;
  Expr lhs = parseCheckAnd();
  while (lhs && (at(Tok::KwOr) || at(Tok::OrOr))) {
    consume();
    Expr rhs = parseCheckAnd();
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::Or, lhs.value,
                         rhs.value);
  }
  return lhs;
}

Parser::Expr Parser::parseCheckAnd() {
  uint32_t begin = peek().begin;
  Expr lhs = parseCheckNot();
  while (lhs && (at(Tok::KwAnd) || at(Tok::AndAnd))) {
    consume();
    Expr rhs = parseCheckNot();
    if (!rhs)
      return {};
    lhs = make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::And, lhs.value,
                         rhs.value);
  }
  return lhs;
}

Parser::Expr Parser::parseCheckNot() {
  uint32_t begin = peek().begin;
  if (!accept(Tok::KwNot))
    return parseCheckPrimary();
  Nested nested(*this);
  Expr operand = nested ? parseCheckNot() : Expr();
  return operand ? make<UnaryOp>(begin, operand.height + 1, UnaryKind::Not, operand.value)
                 : Expr();
}

Parser::Expr Parser::parseCheckPrimary() {
  uint32_t begin = peek().begin;
  bool divides = at(Tok::Int) && at(Tok::Pipe, 1);
  Expr lhs = divides ? parseNumber() : parseSum();
  if (!lhs || (!divides && !atRelation()))
    return lhs;
  Tok token = consume().kind;
  Expr rhs = parseSum();
  if (!rhs)
    return {};
  return make<BinaryOp>(begin, std::max(lhs.height, rhs.height) + 1,
                        divides ? BinaryKind::Divides : relationKind(token), lhs.value, rhs.value);
}

//===----------------------------------------------------------------------===//
// Forms that end in a block
//===----------------------------------------------------------------------===//

Parser::Expr Parser::parseIf() {
  uint32_t begin = consume().begin;
  uint32_t opener = peek().begin;
  if (!expect(Tok::LParen, " and the condition behind 'if'"))
    return {};
  Expr cond = parseExpr();
  if (!cond || !expectClose(Tok::RParen, opener, "condition"))
    return {};
  Body then = parseBlock("block");
  if (!then.region)
    return {};
  Body otherwise;
  if (accept(Tok::KwElse)) {
    if (at(Tok::KwIf))
      otherwise = parseExprRegion([&] {
        Nested nested(*this);
        return nested ? parseIf() : Expr();
      });
    else
      otherwise = parseBlock("block");
    if (!otherwise.region)
      return {};
  }
  unsigned height = std::max({cond.height, then.height, otherwise.height});
  auto op = IfOp::create(builder, rangeFrom(begin), ExprType::get(context), cond.value);
  op.getThenRegion().takeBody(*then.region);
  if (otherwise.region)
    op.getElseRegion().takeBody(*otherwise.region);
  return checkHeight({op.getResult(), height + 1}, begin);
}

Parser::Expr Parser::parseWhile() {
  uint32_t begin = consume().begin;
  uint32_t opener = peek().begin;
  if (!expect(Tok::LParen, " and the condition behind 'while'"))
    return {};
  Body cond = parseExprRegion([&] { return parseExpr(); });
  if (!cond.region || !expectClose(Tok::RParen, opener, "condition"))
    return {};
  Nodes states;
  SmallVector<Value> inits;
  unsigned height = 0;
  if (!parseStates(states, inits, /*mayBeEmpty=*/false, height))
    return {};
  Body body = parseBlock("block");
  if (!body.region)
    return {};
  auto op = WhileOp::create(builder, rangeFrom(begin), ExprType::get(context), array(states), inits);
  op.getCond().takeBody(*cond.region);
  op.getBody().takeBody(*body.region);
  return checkHeight({op.getResult(), std::max({height, cond.height, body.height}) + 1}, begin);
}

Parser::Expr Parser::parseFor() {
  uint32_t begin = consume().begin;
  uint32_t opener = peek().begin;
  if (!expect(Tok::LParen, " behind 'for'"))
    return {};
  SyntaxAttr var = parseName("the name of the counter");
  if (!var || !expect(Tok::KwIn, " behind the counter"))
    return {};
  Expr lo = parseExpr();
  if (!lo || !expect(Tok::DotDot, " between the bounds"))
    return {};
  Expr hi = parseExpr();
  if (!hi || !expectClose(Tok::RParen, opener, "range"))
    return {};
  Nodes states;
  SmallVector<Value> inits;
  unsigned height = std::max(lo.height, hi.height);
  if (!parseStates(states, inits, /*mayBeEmpty=*/true, height))
    return {};
  Body body = parseBlock("block");
  if (!body.region)
    return {};
  return makeWithBody<ForOp>(begin, std::max(height, body.height) + 1, body, var, lo.value,
                                hi.value, array(states), inits);
}

/// `[name: T = e, ..]`, the brackets included; the first values are built here.
bool Parser::parseStates(Nodes &states, SmallVectorImpl<Value> &inits, bool mayBeEmpty,
                         unsigned &height) {
  uint32_t opener = peek().begin;
  if (!at(Tok::LSquare)) {
    errorExpected("'[' before the loop's states",
                  "a loop states what it carries: `while (i < n) [x = x0, i = 0] { .. }`");
    return false;
  }
  consume();
  if (!mayBeEmpty && at(Tok::RSquare)) {
    errorExpected("a loop state, `name = first value`");
    return false;
  }
  while (!at(Tok::RSquare)) {
    Token name = expectName("the name of a loop state");
    if (name.text.empty())
      return false;
    Nodes type;
    if (accept(Tok::Colon)) {
      type.push_back(parseType());
      if (!type.back())
        return false;
    }
    states.push_back(node(SyntaxKind::State, name.text, type, name.begin));
    if (!expect(Tok::Equal, " and the first value of '" + name.text.str() + "'"))
      return false;
    Expr init = parseExpr();
    if (!init)
      return false;
    inits.push_back(init.value);
    height = std::max(height, init.height);
    if (!accept(Tok::Comma))
      break;
  }
  return expectClose(Tok::RSquare, opener, "list of loop states", "',' or ");
}

Parser::Expr Parser::parseHandle() {
  uint32_t begin = consume().begin;
  Body body = parseExprRegion([&] { return parseExpr(); });
  if (!body.region || !expect(Tok::KwWith, " behind the handled expression"))
    return {};
  uint32_t opener = peek().begin;
  if (!expect(Tok::LBrace, " before the cases of the handler"))
    return {};

  Nodes cases;
  SmallVector<Body> bodies;
  unsigned height = body.height;
  do {
    Token name = peek();
    if (at(Tok::KwReturn))
      consume();
    else if (name = expectName("`return` or the name of an effect's operation");
             name.text.empty())
      return {};
    uint32_t paren = peek().begin;
    if (!expect(Tok::LParen, " behind '" + name.text.str() + "'"))
      return {};
    Nodes payload;
    while (name.is(Tok::KwReturn) ? payload.empty() : !at(Tok::RParen)) {
      Token bound = expectName(name.is(Tok::KwReturn) ? "the name of the result"
                                                      : "the name of a payload");
      if (bound.text.empty())
        return {};
      payload.push_back(node(SyntaxKind::PatternName, bound.text, {}, bound.begin));
      if (name.is(Tok::KwReturn) || at(Tok::RParen))
        break;
      if (!at(Tok::Comma))
        break;
      consume();
      if (at(Tok::RParen)) {
        errorExpected("the name of a payload");
        return {};
      }
    }
    if (!expectClose(Tok::RParen, paren, "list of names",
                     name.is(Tok::KwReturn) ? "" : "',' or "))
      return {};
    if (name.is(Tok::KwReturn)) {
      cases.push_back(node(SyntaxKind::ReturnCase, payload.front().getText(), {}, name.begin));
    } else {
      SyntaxAttr names = node(SyntaxKind::PatternTuple, {}, payload, paren);
      if (!expect(Tok::Comma, " and the continuation's name"))
        return {};
      Token continuation = expectName("the continuation's name");
      if (continuation.text.empty())
        return {};
      SyntaxAttr resume =
          node(SyntaxKind::PatternName, continuation.text, {}, continuation.begin);
      cases.push_back(node(SyntaxKind::EffectCase, name.text, {names, resume}, name.begin));
    }
    if (!expect(Tok::FatArrow, " behind the case"))
      return {};
    bodies.push_back(parseExprRegion([&] { return parseExpr(); }));
    if (!bodies.back().region)
      return {};
    height = std::max(height, bodies.back().height);
  } while (accept(Tok::Comma) && !at(Tok::RBrace));
  if (!expectClose(Tok::RBrace, opener, "handler", "',' or "))
    return {};

  auto op = HandleOp::create(builder, rangeFrom(begin), ExprType::get(context), array(cases),
                             bodies.size());
  op.getBody().takeBody(*body.region);
  for (auto [region, parsed] : llvm::zip_equal(op.getCaseRegions(), bodies))
    region.takeBody(*parsed.region);
  return checkHeight({op.getResult(), height + 1}, begin);
}

Parser::Expr Parser::parseLambda() {
  uint32_t begin = consume().begin;
  if (at(Tok::Ident)) {
    errorExpected("'(' before the parameters",
                  "a function inside of another is a lambda: `let f = fn(x) { .. };`");
    return {};
  }
  Nodes params;
  if (!parseParams(params))
    return {};
  SyntaxAttr result;
  if (accept(Tok::Arrow)) {
    result = parseType();
    if (!result)
      return {};
  }
  Body body = parseBlock("body");
  if (!body.region)
    return {};
  return makeWithBody<LambdaOp>(begin, body.height + 1, body, array(params), result);
}

Parser::Expr Parser::parseBlockExpr() {
  uint32_t begin = peek().begin;
  Body body = parseBlock("block");
  if (!body.region)
    return {};
  return makeWithBody<BlockOp>(begin, body.height + 1, body);
}
