//===- ParserSyntax.cpp - Static syntax: types, dimensions, binders -------===//

#include "Parser.h"

#include "llvm/ADT/STLExtras.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

SyntaxAttr Parser::node(SyntaxKind kind, StringRef text, ArrayRef<SyntaxAttr> children,
                        uint32_t begin) {
  return SyntaxAttr::get(context, kind, text, children, LocationAttr(rangeFrom(begin)));
}

ArrayAttr Parser::array(ArrayRef<SyntaxAttr> nodes) {
  return ArrayAttr::get(context, llvm::to_vector_of<Attribute>(nodes));
}

ArrayAttr Parser::arrayOrNull(ArrayRef<SyntaxAttr> nodes) {
  return nodes.empty() ? ArrayAttr() : array(nodes);
}

SyntaxAttr Parser::parseName(StringRef what) {
  Token token = expectName(what);
  if (token.text.empty())
    return {};
  return node(SyntaxKind::Name, token.text, {}, token.begin);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

SyntaxAttr Parser::parseType() {
  Nested nested(*this);
  if (!nested)
    return {};
  switch (peek().kind) {
  case Tok::DType: {
    Token token = consume();
    return node(SyntaxKind::DType, token.text, {}, token.begin);
  }
  case Tok::KwTensor:
    return parseTensorType();
  case Tok::Ident:
    return parseNamedType();
  case Tok::KwFn:
    return parseFnType();
  case Tok::LParen:
    return parseParenType();
  case Tok::Amp:
    errorExpected("a type", "`&` stands before the type of a parameter only");
    return {};
  default:
    errorExpected("a type");
    return {};
  }
}

SyntaxAttr Parser::parseTypeOrRef() {
  uint32_t begin = peek().begin;
  if (!accept(Tok::Amp))
    return parseType();
  SyntaxAttr type = parseType();
  return type ? node(SyntaxKind::TypeRef, {}, type, begin) : SyntaxAttr();
}

SyntaxAttr Parser::parseTensorType() {
  uint32_t begin = consume().begin;
  if (!expect(Tok::Less, " behind 'tensor'"))
    return {};
  SyntaxAttr element;
  if (at(Tok::DType)) {
    Token token = consume();
    element = node(SyntaxKind::DType, token.text, {}, token.begin);
  } else if (at(Tok::Ident)) {
    element = parseName("an element type");
  } else {
    errorExpected("an element type (F64, F32, F16, BF16, I64, I32, I8, U8, Bool)");
    return {};
  }
  if (!expect(Tok::Comma, " behind the element type"))
    return {};

  uint32_t opener = peek().begin;
  if (!expect(Tok::LSquare, " before the dimensions"))
    return {};
  Nodes dims;
  while (!at(Tok::RSquare)) {
    SyntaxAttr dim = parseDim();
    if (!dim)
      return {};
    dims.push_back(dim);
    if (!accept(Tok::Comma))
      break;
  }
  if (!expectClose(Tok::RSquare, opener, "list of dimensions", "',' or "))
    return {};
  SyntaxAttr dimsNode = node(SyntaxKind::Dims, {}, dims, opener);

  Nodes preds, places;
  SyntaxAttr predsNode;
  if (at(Tok::Comma) && at(Tok::LBrace, 1)) {
    consume();
    uint32_t predsBegin = consume().begin;
    if (!parsePreds(preds, Tok::RBrace) ||
        !expectClose(Tok::RBrace, predsBegin, "refinement", "',' or "))
      return {};
    predsNode = node(SyntaxKind::Preds, {}, preds, predsBegin);
  }
  if (accept(Tok::Comma)) {
    if (!at(Tok::At)) {
      errorExpected(preds.empty() ? "a refinement in braces or a place" : "a place");
      return {};
    }
    places.push_back(parsePlace());
    if (!places.back())
      return {};
  }
  if (!acceptGreater()) {
    errorExpected("'>' at the end of the tensor type");
    return {};
  }
  // What is absent has the range of the whole.
  if (!predsNode)
    predsNode = node(SyntaxKind::Preds, {}, {}, begin);
  Nodes children{element, dimsNode, predsNode};
  children.append(places);
  return node(SyntaxKind::TypeTensor, {}, children, begin);
}

SyntaxAttr Parser::parseNamedType() {
  Token name = consume();
  if (!accept(Tok::Less))
    return node(SyntaxKind::TypeName, name.text, {}, name.begin);
  Nodes args;
  do {
    if (at(Tok::DType)) {
      Token token = consume();
      args.push_back(node(SyntaxKind::DType, token.text, {}, token.begin));
    } else {
      args.push_back(parseDim());
      if (!args.back())
        return {};
    }
  } while (accept(Tok::Comma) && !at(Tok::Greater) && !at(Tok::GreaterEq));
  if (!acceptGreater()) {
    errorExpected("',' or '>' in the arguments of '" + name.text + "'");
    return {};
  }
  return node(SyntaxKind::TypeName, name.text, args, name.begin);
}

SyntaxAttr Parser::parseFnType() {
  uint32_t begin = consume().begin;
  uint32_t opener = peek().begin;
  if (!expect(Tok::LParen, " before the parameter types"))
    return {};
  Nodes params;
  while (!at(Tok::RParen)) {
    params.push_back(parseTypeOrRef());
    if (!params.back())
      return {};
    if (!accept(Tok::Comma))
      break;
  }
  if (!expectClose(Tok::RParen, opener, "list of parameter types", "',' or "))
    return {};
  SyntaxAttr paramsNode = node(SyntaxKind::Types, {}, params, opener);
  if (!expect(Tok::Arrow, " and the result type of the function type"))
    return {};
  SyntaxAttr result = parseType();
  if (!result)
    return {};
  // An effect row belongs to the nearest arrow.
  uint32_t effectsBegin = at(Tok::Bang) ? peek().begin : begin;
  Nodes effects;
  if (at(Tok::Bang) && !parseEffectRow(effects))
    return {};
  SyntaxAttr effectsNode = node(SyntaxKind::Effects, {}, effects, effectsBegin);
  return node(SyntaxKind::TypeFn, {}, {paramsNode, result, effectsNode}, begin);
}

SyntaxAttr Parser::parseParenType() {
  uint32_t begin = consume().begin;
  if (at(Tok::Ident) && at(Tok::Colon, 1)) {
    Nodes members;
    do {
      Token name = expectName("the name of a member");
      if (name.text.empty() || !expect(Tok::Colon, " behind the member's name"))
        return {};
      SyntaxAttr type = parseType();
      if (!type)
        return {};
      members.push_back(node(SyntaxKind::TypeMember, name.text, type, name.begin));
    } while (accept(Tok::Comma) && !at(Tok::RParen));
    if (!expectClose(Tok::RParen, begin, "tuple type", "',' or "))
      return {};
    return node(SyntaxKind::TypeNamedTuple, {}, members, begin);
  }

  Nodes types{parseType()};
  if (!types.front())
    return {};
  if (accept(Tok::Arrow)) {
    SyntaxAttr params = types.front();
    params = SyntaxAttr::get(context, SyntaxKind::Types, "", params, params.getLoc());
    SyntaxAttr result = parseType();
    if (!result)
      return {};
    if (!expectClose(Tok::RParen, begin, "function type"))
      return {};
    SyntaxAttr effects = node(SyntaxKind::Effects, {}, {}, begin);
    return node(SyntaxKind::TypeFn, {}, {params, result, effects}, begin);
  }
  bool tuple = at(Tok::Comma);
  while (accept(Tok::Comma) && !at(Tok::RParen)) {
    types.push_back(parseType());
    if (!types.back())
      return {};
  }
  if (!expectClose(Tok::RParen, begin, "tuple type", "',' or "))
    return {};
  return tuple ? node(SyntaxKind::TypeTuple, {}, types, begin) : types.front();
}

SyntaxAttr Parser::parsePlace() {
  uint32_t begin = consume().begin;
  Token name = expectName("the name of a place");
  if (name.text.empty())
    return {};
  Nodes children;
  if (accept(Tok::Colon)) {
    SyntaxAttr space = parseName("the name of a memory space");
    uint32_t opener = peek().begin;
    if (!space || !expect(Tok::LParen, " and the device's number"))
      return {};
    Token number = peek();
    if (!at(Tok::Int)) {
      errorExpected("the device's number");
      return {};
    }
    consume();
    children = {space, node(SyntaxKind::Int, number.text, {}, number.begin)};
    if (!expectClose(Tok::RParen, opener, "place"))
      return {};
  }
  return node(SyntaxKind::Place, name.text, children, begin);
}

bool Parser::parseEffectRow(Nodes &effects) {
  consume();
  uint32_t opener = peek().begin;
  if (!expect(Tok::LBrace, " before the effects"))
    return false;
  do {
    effects.push_back(parseName("the name of an effect"));
    if (!effects.back())
      return false;
  } while (accept(Tok::Comma) && !at(Tok::RBrace));
  return expectClose(Tok::RBrace, opener, "effect row", "',' or ");
}

//===----------------------------------------------------------------------===//
// Dimensions and predicates
//===----------------------------------------------------------------------===//

SyntaxAttr Parser::parseDim() {
  uint32_t begin = peek().begin;
  SyntaxAttr first = parseDimAtom();
  return first ? parseDimFrom(first, begin) : SyntaxAttr();
}

/// Chains of operators make deep trees, as nesting does.
bool Parser::isTooLong(unsigned &chain) {
  if (++chain <= kNestingLimit)
    return false;
  error(peek().begin, peek().end, DiagCode::K0107,
        "a chain of more than " + Twine(kNestingLimit) + " operators");
  return true;
}

/// The rest of a dimension that begins with the atom `first`.
SyntaxAttr Parser::parseDimFrom(SyntaxAttr first, uint32_t begin) {
  SyntaxAttr lhs = parseDimTerm(first, begin);
  unsigned chain = 0;
  while (lhs && (at(Tok::Plus) || at(Tok::Minus))) {
    if (isTooLong(chain))
      return {};
    SyntaxKind kind = consume().is(Tok::Plus) ? SyntaxKind::DimAdd : SyntaxKind::DimSub;
    uint32_t rhsBegin = peek().begin;
    SyntaxAttr atom = parseDimAtom();
    SyntaxAttr rhs = atom ? parseDimTerm(atom, rhsBegin) : SyntaxAttr();
    lhs = rhs ? node(kind, {}, {lhs, rhs}, begin) : SyntaxAttr();
  }
  return lhs;
}

/// The rest of a product that begins with the atom `lhs`.
SyntaxAttr Parser::parseDimTerm(SyntaxAttr lhs, uint32_t begin) {
  unsigned chain = 0;
  while (lhs) {
    SyntaxKind kind;
    switch (peek().kind) {
    case Tok::Star:
      kind = SyntaxKind::DimMul;
      break;
    case Tok::KwFloorDiv:
      kind = SyntaxKind::DimFloorDiv;
      break;
    case Tok::KwCeilDiv:
      kind = SyntaxKind::DimCeilDiv;
      break;
    case Tok::KwMod:
      kind = SyntaxKind::DimMod;
      break;
    case Tok::Slash:
    case Tok::Percent:
      errorExpected("an operator of dimensions",
                    "dimensions have `floordiv`, `ceildiv` and `mod`");
      return {};
    default:
      return lhs;
    }
    if (isTooLong(chain))
      return {};
    consume();
    SyntaxAttr rhs = parseDimAtom();
    lhs = rhs ? node(kind, {}, {lhs, rhs}, begin) : SyntaxAttr();
  }
  return lhs;
}

SyntaxAttr Parser::parseDimAtom() {
  Nested nested(*this);
  if (!nested)
    return {};
  Token token = peek();
  if (token.is(Tok::Int)) {
    consume();
    int64_t value;
    if (token.text.getAsInteger(10, value)) {
      error(token.begin, token.end, DiagCode::K0106,
            "the integer '" + token.text + "' does not fit in 64 bits");
      return {};
    }
    return node(SyntaxKind::Int, token.text, {}, token.begin);
  }
  if (token.is(Tok::LParen)) {
    consume();
    SyntaxAttr dim = parseDim();
    return dim && expectClose(Tok::RParen, token.begin, "dimension") ? dim : SyntaxAttr();
  }
  if (!token.is(Tok::Ident)) {
    if (isReserved(token.kind) || token.is(Tok::UnknownChar) || token.is(Tok::OpenString))
      expectName("a shape variable");
    else if (token.is(Tok::Minus))
      errorExpected("a dimension", "dimensions have no prefix `-`: write `b - a`");
    else
      errorExpected("a dimension");
    return {};
  }
  consume();
  if (!at(Tok::LParen))
    return node(SyntaxKind::Name, token.text, {}, token.begin);

  if (token.text != "min" && token.text != "max") {
    error(token.begin, token.end, DiagCode::K0104,
          "expected 'min' or 'max', found '" + token.text + "'",
          "the functions of dimensions are `min(a, b)` and `max(a, b)`");
    return {};
  }
  uint32_t opener = consume().begin;
  SyntaxAttr lhs = parseDim();
  if (!lhs || !expect(Tok::Comma, " between the two dimensions"))
    return {};
  SyntaxAttr rhs = parseDim();
  if (!rhs || !expectClose(Tok::RParen, opener, "list of two dimensions"))
    return {};
  return node(token.text == "min" ? SyntaxKind::DimMin : SyntaxKind::DimMax, {}, {lhs, rhs},
              token.begin);
}

bool Parser::atRelation() {
  switch (peek().kind) {
  case Tok::Equal:
  case Tok::EqEq:
  case Tok::NotEq:
  case Tok::Less:
  case Tok::LessEq:
  case Tok::Greater:
  case Tok::GreaterEq:
    return true;
  default:
    return false;
  }
}

SyntaxAttr Parser::parseRelation(SyntaxAttr lhs, uint32_t begin) {
  SyntaxKind kind;
  switch (consume().kind) {
  case Tok::NotEq:
    kind = SyntaxKind::PredNe;
    break;
  case Tok::Less:
    kind = SyntaxKind::PredLt;
    break;
  case Tok::LessEq:
    kind = SyntaxKind::PredLe;
    break;
  case Tok::Greater:
    kind = SyntaxKind::PredGt;
    break;
  case Tok::GreaterEq:
    kind = SyntaxKind::PredGe;
    break;
  default:
    kind = SyntaxKind::PredEq;
  }
  SyntaxAttr rhs = parseDim();
  return rhs ? node(kind, {}, {lhs, rhs}, begin) : SyntaxAttr();
}

SyntaxAttr Parser::parsePred(bool orDim) {
  uint32_t begin = peek().begin;
  SyntaxAttr lhs = parsePredAnd(orDim);
  unsigned chain = 0;
  while (lhs && isPred(lhs.getKind()) && (at(Tok::KwOr) || at(Tok::OrOr))) {
    if (isTooLong(chain))
      return {};
    consume();
    SyntaxAttr rhs = parsePredAnd(false);
    lhs = rhs ? node(SyntaxKind::PredOr, {}, {lhs, rhs}, begin) : SyntaxAttr();
  }
  return lhs;
}

SyntaxAttr Parser::parsePredAnd(bool orDim) {
  uint32_t begin = peek().begin;
  SyntaxAttr lhs = parsePredNot(orDim);
  unsigned chain = 0;
  while (lhs && isPred(lhs.getKind()) && (at(Tok::KwAnd) || at(Tok::AndAnd))) {
    if (isTooLong(chain))
      return {};
    consume();
    SyntaxAttr rhs = parsePredNot(false);
    lhs = rhs ? node(SyntaxKind::PredAnd, {}, {lhs, rhs}, begin) : SyntaxAttr();
  }
  return lhs;
}

SyntaxAttr Parser::parsePredNot(bool orDim) {
  Nested nested(*this);
  if (!nested)
    return {};
  uint32_t begin = peek().begin;
  if (!accept(Tok::KwNot))
    return parsePredPrimary(orDim);
  SyntaxAttr pred = parsePredNot(false);
  return pred ? node(SyntaxKind::PredNot, {}, pred, begin) : SyntaxAttr();
}

SyntaxAttr Parser::parsePredPrimary(bool orDim) {
  Token first = peek();
  if (first.is(Tok::Int) && at(Tok::Pipe, 1)) {
    SyntaxAttr divisor = parseDimAtom();
    if (!divisor)
      return {};
    consume();
    SyntaxAttr dim = parseDim();
    return dim ? node(SyntaxKind::PredDivides, {}, {divisor, dim}, first.begin) : SyntaxAttr();
  }

  // Behind `(` stands a predicate or the first part of a dimension; which one is known
  // only at its end.
  SyntaxAttr lhs;
  if (first.is(Tok::LParen)) {
    consume();
    lhs = parsePred(/*orDim=*/true);
    if (!lhs || !expectClose(Tok::RParen, first.begin, "predicate"))
      return {};
    if (isPred(lhs.getKind()))
      return lhs;
    lhs = parseDimFrom(lhs, first.begin);
  } else {
    lhs = parseDim();
  }
  if (!lhs)
    return {};
  if (atRelation())
    return parseRelation(lhs, first.begin);
  if (orDim && at(Tok::RParen))
    return lhs;
  errorExpected("a relation (=, !=, <, <=, >, >=) between two dimensions");
  return {};
}

bool Parser::parsePreds(Nodes &preds, Tok closer, Tok other) {
  do {
    SyntaxAttr pred = parsePred();
    if (!pred)
      return false;
    preds.push_back(pred);
  } while (accept(Tok::Comma) && !at(closer) && !at(other));
  return true;
}

//===----------------------------------------------------------------------===//
// Binders
//===----------------------------------------------------------------------===//

SyntaxAttr Parser::parsePattern() {
  Nested nested(*this);
  if (!nested)
    return {};
  Token first = peek();
  if (!first.is(Tok::LParen)) {
    Token name =
        expectName(isReserved(first.kind) ? "a name" : "a name or a tuple of names");
    if (name.text.empty())
      return {};
    if (name.text == "_")
      return node(SyntaxKind::PatternWild, {}, {}, name.begin);
    return node(SyntaxKind::PatternName, name.text, {}, name.begin);
  }
  consume();
  Nodes members;
  bool tuple = false;
  do {
    members.push_back(parsePattern());
    if (!members.back())
      return {};
    tuple |= at(Tok::Comma);
  } while (accept(Tok::Comma) && !at(Tok::RParen));
  if (!expectClose(Tok::RParen, first.begin, "pattern", "',' or "))
    return {};
  return tuple ? node(SyntaxKind::PatternTuple, {}, members, first.begin) : members.front();
}

SyntaxAttr Parser::parseLiteral() {
  Token first = peek();
  switch (first.kind) {
  case Tok::String:
    consume();
    return node(SyntaxKind::String, first.text, {}, first.begin);
  case Tok::KwTrue:
  case Tok::KwFalse:
    consume();
    return node(SyntaxKind::Bool, first.text, {}, first.begin);
  case Tok::Ident:
    return parseName("a literal");
  default:
    break;
  }
  bool negative = accept(Tok::Minus);
  Token number = peek();
  if (!number.is(Tok::Int) && !number.is(Tok::Float)) {
    errorExpected(negative ? "a number" : "a literal or a name");
    return {};
  }
  consume();
  std::string text = (negative ? "-" : "") + number.text.str();
  SyntaxKind kind = number.is(Tok::Int) ? SyntaxKind::Int : SyntaxKind::Float;
  if (number.is(Tok::Int) && !negative && at(Tok::Ident) &&
      (peek().text == "KiB" || peek().text == "MiB" || peek().text == "GiB")) {
    text += consume().text;
    kind = SyntaxKind::Bytes;
  }
  SyntaxAttr literal = node(kind, text, {}, first.begin);
  if (kind != SyntaxKind::Float && !literal.getIntValue()) {
    error(first.begin, lastEnd, DiagCode::K0106, "'" + text + "' does not fit in 64 bits");
    return {};
  }
  return literal;
}

bool Parser::parseDecorators(Nodes &decorators) {
  while (at(Tok::At)) {
    uint32_t begin = consume().begin;
    Token name = expectName("the name of a decorator");
    if (name.text.empty())
      return false;
    Nodes args;
    if (at(Tok::LParen)) {
      uint32_t opener = consume().begin;
      do {
        Token keyword = peek();
        if (keyword.is(Tok::Ident) && at(Tok::Equal, 1)) {
          consume();
          consume();
          SyntaxAttr value = parseLiteral();
          args.push_back(value ? node(SyntaxKind::Keyword, keyword.text, value, keyword.begin)
                               : SyntaxAttr());
        } else {
          args.push_back(parseLiteral());
        }
        if (!args.back())
          return false;
      } while (accept(Tok::Comma) && !at(Tok::RParen));
      if (!expectClose(Tok::RParen, opener, "list of a decorator's arguments", "',' or "))
        return false;
    }
    decorators.push_back(node(SyntaxKind::Decorator, name.text, args, begin));
  }
  return true;
}

SyntaxAttr Parser::parseParam() {
  Token name = expectName("the name of a parameter");
  if (name.text.empty())
    return {};
  Nodes children;
  if (accept(Tok::Colon)) {
    children.push_back(parseTypeOrRef());
    if (!children.back())
      return {};
    if (accept(Tok::Equal)) {
      children.push_back(parseLiteral());
      if (!children.back())
        return {};
    }
  }
  return node(SyntaxKind::Param, name.text, children, name.begin);
}

/// `(params)`, the parentheses included.
bool Parser::parseParams(Nodes &params) {
  uint32_t opener = peek().begin;
  if (!expect(Tok::LParen, " before the parameters"))
    return false;
  while (!at(Tok::RParen)) {
    SyntaxAttr param = parseParam();
    if (!param)
      return false;
    params.push_back(param);
    if (!accept(Tok::Comma))
      break;
  }
  return expectClose(Tok::RParen, opener, "list of parameters", "',' or ");
}

bool Parser::parseShapeVars(Nodes &vars) {
  uint32_t opener = peek().begin;
  bool angled = at(Tok::Less);
  if (!angled && !at(Tok::KwForall))
    return true;
  consume();
  if (!angled) {
    opener = peek().begin;
    if (!expect(Tok::LParen, " behind 'forall'"))
      return false;
  }
  do {
    Token name = expectName("the name of a shape variable");
    if (name.text.empty())
      return false;
    Nodes children;
    if (accept(Tok::GreaterEq)) {
      if (!at(Tok::Int)) {
        errorExpected("the least value of '" + name.text + "'");
        return false;
      }
      children.push_back(parseDimAtom());
      if (!children.back())
        return false;
    } else if (accept(Tok::Colon)) {
      children.push_back(parseName("'float', 'int' or 'any'"));
      if (!children.back())
        return false;
    }
    vars.push_back(node(SyntaxKind::ShapeVar, name.text, children, name.begin));
  } while (angled ? accept(Tok::Comma) && !at(Tok::Greater) : !at(Tok::RParen) && !at(Tok::Eof));
  if (!angled)
    return expectClose(Tok::RParen, opener, "list of shape variables");
  if (accept(Tok::Greater))
    return true;
  errorExpected("',' or '>' in the list of shape variables");
  return false;
}
