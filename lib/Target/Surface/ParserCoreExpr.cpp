//===- ParserCoreExpr.cpp - The core form: expressions --------------------===//

#include "ParserCore.h"

#include "llvm/ADT/STLExtras.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// The name that a keyword `:a-b` gives, `a_b`.
StringRef Parser::keyOf(const CoreNode &keyword) {
  std::string name = keyword.token.text.str();
  llvm::replace(name, '-', '_');
  return builder.getStringAttr(name).getValue();
}

Parser::Expr Parser::coreExpr(const CoreNode &form) {
  if (form.isList()) {
    const CoreForm *entry = findForm(coreExprs(), form);
    if (!entry)
      return unknownHead(form, "an expression", {coreExprs(), coreStatements(), coreItems()});
    return checkParts(*entry, form) ? (this->*entry->expr)(form) : Expr();
  }
  if (!form.isBracket())
    return coreLeaf(form);
  return inNative(form, [&]() -> Expr {
    if (!at(Tok::KwTensor)) {
      errorExpected("a tensor type", at(Tok::At) ? "a place can only be an argument"
                                                 : "a dimension as a value is `(dim [N + 1])`");
      return {};
    }
    uint32_t begin = peek().begin;
    SyntaxAttr type = parseTensorType();
    return type ? make<TypeExprOp>(begin, 1, type) : Expr();
  });
}

Parser::Expr Parser::coreLeaf(const CoreNode &form) {
  if (form.token.is(Tok::CoreKeyword)) {
    coreExpected(form, "an expression", "a keyword stands before the argument that it names");
    return {};
  }
  return inNative(form, [&]() -> Expr {
    uint32_t begin = peek().begin;
    switch (peek().kind) {
    case Tok::String:
    case Tok::KwTrue:
    case Tok::KwFalse:
    case Tok::DType:
      return parsePrimary();
    case Tok::Ident:
      return make<NameOp>(begin, 1, consume().text);
    case Tok::Int:
    case Tok::Float:
      return parseNumber();
    case Tok::Minus: {
      if (!at(Tok::Int, 1) && !at(Tok::Float, 1))
        break;
      consume();
      if (atLeastInteger()) {
        consume();
        return makeLeastInteger(begin);
      }
      Expr number = parseNumber();
      return number ? make<UnaryOp>(begin, 2, UnaryKind::Neg, number.value) : Expr();
    }
    default:
      break;
    }
    if (isReserved(peek().kind))
      expectName("an expression");
    else
      errorExpected("an expression");
    return {};
  });
}

Parser::Expr Parser::coreArg(const CoreNode &form) {
  bool place = form.isBracket() && !form.children.empty() &&
               form.children[0].token.is(Tok::CoreSymbol) &&
               form.children[0].token.text.starts_with("@");
  if (!place)
    return coreExpr(form);
  return inNative(form, [&]() -> Expr {
    uint32_t begin = peek().begin;
    SyntaxAttr syntax = parsePlace();
    return syntax ? make<PlaceOp>(begin, 1, syntax) : Expr();
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool Parser::coreArgs(ArrayRef<CoreNode> parts, SmallVectorImpl<Value> &args,
                      SmallVectorImpl<StringRef> &keywords, unsigned &height) {
  for (size_t i = 0; i < parts.size(); ++i) {
    StringRef keyword;
    if (parts[i].token.is(Tok::CoreKeyword)) {
      if (i + 1 == parts.size()) {
        coreExpected(parts[i], "a value behind the keyword");
        return false;
      }
      keyword = keyOf(parts[i++]);
    }
    Expr arg = coreArg(parts[i]);
    if (!arg)
      return false;
    args.push_back(arg.value);
    keywords.push_back(keyword);
    height = std::max(height, arg.height);
  }
  return true;
}

/// `(subst (N E)..)`: what shape variables are, as keywords of the call; a bare name or
/// element type is the type argument.
bool Parser::coreSubst(const CoreNode &subst, SmallVectorImpl<Value> &args,
                       SmallVectorImpl<StringRef> &keywords, SyntaxAttr &typeArgument,
                       unsigned &height) {
  for (const CoreNode &part : subst.parts()) {
    if (part.isList() && part.children.size() == 2) {
      StringRef name = coreName(part.children[0], "the name of a shape variable");
      Expr value = name.empty() ? Expr() : coreArg(part.children[1]);
      if (!value)
        return false;
      args.push_back(value.value);
      keywords.push_back(name);
      height = std::max(height, value.height);
      continue;
    }
    if (part.isList() || typeArgument) {
      coreExpected(part, "a substitution `(N E)`");
      return false;
    }
    typeArgument = inNative(part, [&]() -> SyntaxAttr {
      if (!at(Tok::DType))
        return parseName("a type argument");
      Token dtype = consume();
      return node(SyntaxKind::DType, dtype.text, {}, dtype.begin);
    });
    if (!typeArgument)
      return false;
  }
  return true;
}

Parser::Expr Parser::coreCallOf(const CoreNode &form, Expr callee, ArrayRef<CoreNode> parts) {
  if (!callee)
    return {};
  SmallVector<Value> args;
  SmallVector<StringRef> keywords;
  SyntaxAttr typeArgument;
  unsigned height = callee.height;
  const CoreNode *subst = nullptr;
  if (!parts.empty() && parts[0].hasHead("subst")) {
    subst = &parts[0];
    parts = parts.drop_front();
  }
  if (!coreArgs(parts, args, keywords, height) ||
      (subst && !coreSubst(*subst, args, keywords, typeArgument, height)))
    return {};
  if (typeArgument && !isa<NameOp>(callee.value.getDefiningOp())) {
    coreError(*subst, DiagCode::K0117, "a type argument stands behind a name only");
    return {};
  }
  lastEnd = form.end;
  return make<CallOp>(form.token.begin, height + 1, callee.value, args, keywordArray(keywords),
                      typeArgument);
}

Parser::Expr Parser::coreCall(const CoreNode &form) {
  return coreCallOf(form, coreExpr(form.children[1]), form.parts().drop_front());
}

Parser::Expr Parser::coreOp(const CoreNode &form) {
  StringRef name = coreName(form.children[1], "the name of an operation");
  if (name.empty())
    return {};
  lastEnd = form.children[1].end;
  Expr callee = make<NameOp>(form.children[1].token.begin, 1, name);
  return coreCallOf(form, callee, form.parts().drop_front());
}

/// The call of the operation that a head of its own names.
Parser::Expr Parser::coreNamed(const CoreNode &form, StringRef operation) {
  lastEnd = form.children[0].end;
  Expr callee = make<NameOp>(form.children[0].token.begin, 1, operation);
  return coreCallOf(form, callee, form.parts());
}

Parser::Expr Parser::coreDrop(const CoreNode &form) { return coreNamed(form, "drop"); }

Parser::Expr Parser::coreCopyToHost(const CoreNode &form) {
  return coreNamed(form, "copy_to_host");
}

Parser::Expr Parser::coreCopyToDevice(const CoreNode &form) {
  lastEnd = form.children[0].end;
  Expr callee = make<NameOp>(form.children[0].token.begin, 1, "copy_to_device");
  // The value comes first in the call, as in the native form.
  Expr value = coreArg(form.children[2]);
  Expr place = value ? coreArg(form.children[1]) : Expr();
  if (!place)
    return {};
  lastEnd = form.end;
  return make<CallOp>(form.token.begin, std::max(value.height, place.height) + 1, callee.value,
                      ValueRange{value.value, place.value}, ArrayAttr(), SyntaxAttr());
}

/// A borrow is inferred from what is done with the value: the form only says it.
Parser::Expr Parser::coreBorrow(const CoreNode &form) { return coreExpr(form.children[1]); }

/// `(grad f e.. (wrt x..))`.
Parser::Expr Parser::coreDerivative(const CoreNode &form, StringRef operation) {
  ArrayRef<CoreNode> parts = form.parts();
  if (!parts.back().hasHead("wrt"))
    return coreNamed(form, operation);
  const CoreNode &wrt = parts.back();
  SmallVector<Value> args;
  SmallVector<StringRef> keywords;
  unsigned height = 0;
  lastEnd = form.children[0].end;
  Expr callee = make<NameOp>(form.children[0].token.begin, 1, operation);
  if (parts.size() == 1 || wrt.parts().empty()) {
    coreExpected(wrt, parts.size() == 1 ? "a function before `wrt`" : "a parameter in `wrt`");
    return {};
  }
  if (!coreArgs(parts.drop_back(), args, keywords, height))
    return {};
  SmallVector<Value> names;
  for (const CoreNode &part : wrt.parts()) {
    Expr name = coreExpr(part);
    if (!name)
      return {};
    names.push_back(name.value);
    height = std::max(height, name.height);
  }
  lastEnd = wrt.end;
  if (names.size() > 1)
    names = {make<TupleOp>(wrt.token.begin, ++height, names, ArrayAttr()).value};
  args.push_back(names.front());
  keywords.push_back("wrt");
  lastEnd = form.end;
  return make<CallOp>(form.token.begin, height + 1, callee.value, args, keywordArray(keywords),
                      SyntaxAttr());
}

Parser::Expr Parser::coreGrad(const CoreNode &form) { return coreDerivative(form, "grad"); }

Parser::Expr Parser::coreValueAndGrad(const CoreNode &form) {
  return coreDerivative(form, "value_and_grad");
}

Parser::Expr Parser::coreVjp(const CoreNode &form) { return coreDerivative(form, "vjp"); }

Parser::Expr Parser::coreJvp(const CoreNode &form) { return coreDerivative(form, "jvp"); }

Parser::Expr Parser::corePerform(const CoreNode &form) {
  StringRef name = coreName(form.children[1], "the name of an effect's operation");
  SmallVector<Value> args;
  SmallVector<StringRef> keywords;
  unsigned height = 0;
  if (name.empty() || !coreArgs(form.parts().drop_front(), args, keywords, height))
    return {};
  lastEnd = form.end;
  return make<PerformOp>(form.token.begin, height + 1, builder.getStringAttr(name), args,
                         keywordArray(keywords));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Parser::Expr Parser::coreBinop(const CoreNode &form) {
  const CoreNode &name = form.children[1];
  std::optional<BinaryKind> kind;
  if (name.token.is(Tok::CoreSymbol))
    kind = symbolizeBinaryKind(name.token.text);
  if (!kind || *kind == BinaryKind::Cons) {
    if (!name.token.is(Tok::CoreSymbol))
      coreExpected(name, "the name of an operator");
    else
      coreError(name, DiagCode::K0116, "unknown operator " + describe(name.token),
                "the operators are add sub mul div rem matmul pow floordiv ceildiv mod eq ne lt le "
                "gt ge and or, and eq_sign and divides in a check");
    return {};
  }
  if (*kind == BinaryKind::Divides || (*kind == BinaryKind::EqSign && !inCheck)) {
    coreError(name, DiagCode::K0117,
              "'" + name.token.text + "' stands in the condition of a `check` only" +
                  (*kind == BinaryKind::Divides
                       ? ", at its top or under `and`, `or` and `not` as the native form has it"
                       : ""));
    return {};
  }
  Expr lhs = coreExpr(form.children[2]);
  Expr rhs = lhs ? coreExpr(form.children[3]) : Expr();
  if (!rhs)
    return {};
  lastEnd = form.end;
  return make<BinaryOp>(form.token.begin, std::max(lhs.height, rhs.height) + 1, *kind, lhs.value,
                        rhs.value);
}

/// The condition of a check. The native form has `k | e` without parentheses only: as an
/// operand of the looser operators, from the left.
Parser::Expr Parser::coreCondition(const CoreNode &form) {
  llvm::SaveAndRestore inside(inCheck, true);
  return coreConditionPart(form, 0);
}

Parser::Expr Parser::coreConditionPart(const CoreNode &form, unsigned level) {
  auto operation = [&](StringRef name) {
    return form.hasHead("binop") && form.children.size() == 4 && form.children[1].isSymbol(name);
  };
  if (form.hasHead("not") && form.children.size() == 2) {
    Expr operand = coreConditionPart(form.children[1], 2);
    lastEnd = form.end;
    return operand
               ? make<UnaryOp>(form.token.begin, operand.height + 1, UnaryKind::Not, operand.value)
               : Expr();
  }
  bool either = operation("or") && level == 0;
  bool both = operation("and") && level <= 1;
  bool divides = operation("divides");
  if (!either && !both && !divides)
    return coreExpr(form);
  Expr lhs, rhs;
  if (divides) {
    if (!form.children[2].token.is(Tok::CoreSymbol) ||
        !llvm::isDigit(form.children[2].token.text.front())) {
      coreExpected(form.children[2], "the divisor, an integer");
      return {};
    }
    lhs = inNative(form.children[2], [&]() -> Expr {
      if (at(Tok::Int))
        return parseNumber();
      errorExpected("the divisor, an integer");
      return {};
    });
    rhs = lhs ? coreExpr(form.children[3]) : Expr();
  } else {
    lhs = coreConditionPart(form.children[2], both);
    rhs = lhs ? coreConditionPart(form.children[3], both + 1) : Expr();
  }
  if (!rhs)
    return {};
  lastEnd = form.end;
  return make<BinaryOp>(form.token.begin, std::max(lhs.height, rhs.height) + 1,
                        divides ? BinaryKind::Divides
                        : both  ? BinaryKind::And
                                : BinaryKind::Or,
                        lhs.value, rhs.value);
}

Parser::Expr Parser::coreCons(const CoreNode &form) {
  Expr lhs = coreExpr(form.children[1]);
  Expr rhs = lhs ? coreExpr(form.children[2]) : Expr();
  if (!rhs)
    return {};
  lastEnd = form.end;
  return make<BinaryOp>(form.token.begin, std::max(lhs.height, rhs.height) + 1, BinaryKind::Cons,
                        lhs.value, rhs.value);
}

Parser::Expr Parser::coreUnary(const CoreNode &form, UnaryKind kind) {
  Expr operand = coreExpr(form.children[1]);
  lastEnd = form.end;
  return operand ? make<UnaryOp>(form.token.begin, operand.height + 1, kind, operand.value)
                 : Expr();
}

Parser::Expr Parser::coreNeg(const CoreNode &form) { return coreUnary(form, UnaryKind::Neg); }

Parser::Expr Parser::coreNot(const CoreNode &form) { return coreUnary(form, UnaryKind::Not); }

Parser::Expr Parser::coreRef(const CoreNode &form) { return coreUnary(form, UnaryKind::Ref); }

Parser::Expr Parser::coreDeref(const CoreNode &form) { return coreUnary(form, UnaryKind::Bang); }

/// A dimension as an expression.
Parser::Expr Parser::dimValue(SyntaxAttr dim) {
  Location loc = dim.getLocation();
  Type type = ExprType::get(context);
  auto binary = [&](BinaryKind kind) -> Expr {
    Expr lhs = dimValue(dim.getChild(0));
    Expr rhs = dimValue(dim.getChild(1));
    return {BinaryOp::create(builder, loc, type, kind, lhs.value, rhs.value),
            std::max(lhs.height, rhs.height) + 1};
  };
  switch (dim.getKind()) {
  case SyntaxKind::Int:
    return {LiteralOp::create(builder, loc, type, builder.getI64IntegerAttr(*dim.getIntValue()),
                              builder.getStringAttr(dim.getText()))};
  case SyntaxKind::Name:
    return {NameOp::create(builder, loc, type, dim.getText())};
  case SyntaxKind::DimAdd:
    return binary(BinaryKind::Add);
  case SyntaxKind::DimSub:
    return binary(BinaryKind::Sub);
  case SyntaxKind::DimMul:
    return binary(BinaryKind::Mul);
  case SyntaxKind::DimFloorDiv:
    return binary(BinaryKind::FloorDiv);
  case SyntaxKind::DimCeilDiv:
    return binary(BinaryKind::CeilDiv);
  case SyntaxKind::DimMod:
    return binary(BinaryKind::Mod);
  default: {
    Value callee =
        NameOp::create(builder, loc, type, dim.is(SyntaxKind::DimMin) ? "min" : "max");
    Expr lhs = dimValue(dim.getChild(0));
    Expr rhs = dimValue(dim.getChild(1));
    return {CallOp::create(builder, loc, type, callee, ValueRange{lhs.value, rhs.value},
                           ArrayAttr(), SyntaxAttr()),
            std::max(lhs.height, rhs.height) + 1};
  }
  }
}

Parser::Expr Parser::coreDim(const CoreNode &form) {
  const CoreNode &part = form.children[1];
  if (part.isList()) {
    coreExpected(part, "a dimension: a name, an integer or `[N + 1]`");
    return {};
  }
  SyntaxAttr dim = inNative(part, [&] { return parseDim(); });
  return dim ? checkHeight(dimValue(dim), form.token.begin) : Expr();
}

//===----------------------------------------------------------------------===//
// Tuples, lists, subscripts
//===----------------------------------------------------------------------===//

Parser::Expr Parser::coreTuple(const CoreNode &form) {
  lastEnd = form.end;
  if (form.parts().empty())
    return make<UnitOp>(form.token.begin, 1);
  SmallVector<Value> members;
  SmallVector<StringRef> names;
  unsigned height = 0;
  if (!coreArgs(form.parts(), members, names, height))
    return {};
  size_t named = llvm::count_if(names, [](StringRef name) { return !name.empty(); });
  if (named != 0 && named != names.size()) {
    coreError(form, DiagCode::K0117, "the members of a tuple have names all, or none has");
    return {};
  }
  if (llvm::any_of(members, [](Value member) { return isa<PlaceOp>(member.getDefiningOp()); })) {
    coreError(form, DiagCode::K0117, "a place cannot be a member of a tuple");
    return {};
  }
  lastEnd = form.end;
  return make<TupleOp>(form.token.begin, height + 1, members,
                       named ? builder.getStrArrayAttr(names) : ArrayAttr());
}

Parser::Expr Parser::coreField(const CoreNode &form) {
  const CoreNode &member = form.children[2];
  bool number = member.token.is(Tok::CoreSymbol) && llvm::all_of(member.token.text, llvm::isDigit);
  if (!number && coreName(member, "the name or number of a member").empty())
    return {};
  Expr base = coreExpr(form.children[1]);
  if (!base)
    return {};
  // The operation's range ends with the member, whose place is found that way.
  lastEnd = member.end;
  return make<FieldOp>(form.token.begin, base.height + 1, base.value,
                       builder.getStringAttr(member.token.text));
}

/// An expression, or `(slice E E)` with `()` for an absent bound.
Parser::Expr Parser::coreSubscript(const CoreNode &form) {
  if (!form.hasHead("slice"))
    return coreExpr(form);
  if (!checkParts(*findForm(coreExprs(), form), form))
    return {};
  Expr bounds[2];
  unsigned height = 0;
  for (unsigned i : {0, 1}) {
    const CoreNode &bound = form.children[i + 1];
    if (bound.isList() && bound.children.empty())
      continue;
    bounds[i] = coreExpr(bound);
    if (!bounds[i])
      return {};
    height = std::max(height, bounds[i].height);
  }
  lastEnd = form.end;
  return make<SliceOp>(form.token.begin, height + 1, bounds[0].value, bounds[1].value);
}

Parser::Expr Parser::coreSlice(const CoreNode &form) {
  coreError(form, DiagCode::K0117, "a slice is no expression of its own",
            "it stands in `index`, `update` and `list`: `(index x (slice 1 ()))`");
  return {};
}

Parser::Expr Parser::coreList(const CoreNode &form, ArrayRef<CoreNode> elements) {
  SmallVector<Value> values;
  unsigned height = 0;
  for (const CoreNode &element : elements) {
    Expr value = coreSubscript(element);
    if (!value)
      return {};
    values.push_back(value.value);
    height = std::max(height, value.height);
  }
  lastEnd = form.end;
  return make<ListOp>(form.token.begin, height + 1, values);
}

Parser::Expr Parser::coreListExpr(const CoreNode &form) { return coreList(form, form.parts()); }

Parser::Expr Parser::coreNil(const CoreNode &form) { return coreList(form, {}); }

Parser::Expr Parser::coreTensorOf(const CoreNode &form) {
  if (form.children[1].isSymbol("_"))
    return coreList(form, form.parts().drop_front());
  SyntaxAttr type = coreType(form.children[1]);
  if (!type)
    return {};
  return annotate(form, type, [&] { return coreList(form, form.parts().drop_front()); });
}

Parser::Expr Parser::coreIndex(const CoreNode &form) {
  Expr base = coreExpr(form.children[1]);
  if (!base)
    return {};
  SmallVector<Value> subscripts;
  unsigned height = base.height;
  for (const CoreNode &part : form.parts().drop_front()) {
    Expr subscript = coreSubscript(part);
    if (!subscript)
      return {};
    subscripts.push_back(subscript.value);
    height = std::max(height, subscript.height);
  }
  lastEnd = form.end;
  return make<IndexOp>(form.token.begin, height + 1, base.value, subscripts);
}

Parser::Expr Parser::coreUpdate(const CoreNode &form) {
  if (!form.children[2].isList()) {
    coreExpected(form.children[2], "a list of subscripts, `(i (slice 1 ()))`");
    return {};
  }
  lastEnd = form.children[0].end;
  Expr callee = make<NameOp>(form.children[0].token.begin, 1, "update");
  Expr base = coreExpr(form.children[1]);
  Expr subscripts = base ? coreList(form.children[2], form.children[2].children) : Expr();
  Expr value = subscripts ? coreExpr(form.children[3]) : Expr();
  if (!value)
    return {};
  lastEnd = form.end;
  return make<CallOp>(form.token.begin, std::max({base.height, subscripts.height, value.height}) + 1,
                      callee.value, ValueRange{base.value, subscripts.value, value.value},
                      ArrayAttr(), SyntaxAttr());
}

//===----------------------------------------------------------------------===//
// Blocks, functions, control flow
//===----------------------------------------------------------------------===//

Parser::Expr Parser::coreBlockOf(const CoreNode &form, Body body) {
  if (!body.region)
    return {};
  lastEnd = form.end;
  return makeWithBody<BlockOp>(form.token.begin, body.height + 1, body);
}

Parser::Expr Parser::coreLetExpr(const CoreNode &form) {
  return coreBlockOf(form, coreBodyRegion(form));
}

Parser::Expr Parser::coreBlock(const CoreNode &form) {
  return coreBlockOf(form, coreBodyRegion(form.children[1]));
}

/// A value with a type: `{ let value: T = e; value }`.
Parser::Expr Parser::annotate(const CoreNode &form, SyntaxAttr type,
                              llvm::function_ref<Expr()> build) {
  return coreBlockOf(form, buildRegion([&] {
                       Expr value = build();
                       if (!value)
                         return false;
                       Location loc = location(form.token.begin, form.end);
                       SyntaxAttr name = coreNode(SyntaxKind::PatternName, "value", {}, form);
                       LetOp::create(builder, loc, name, value.value, type, ArrayAttr());
                       Value result =
                           NameOp::create(builder, loc, ExprType::get(context), "value");
                       YieldOp::create(builder, loc, result, ArrayAttr());
                       return true;
                     }));
}

Parser::Expr Parser::coreAnnot(const CoreNode &form) {
  SyntaxAttr type = coreType(form.children[2]);
  if (!type)
    return {};
  return annotate(form, type, [&] { return coreExpr(form.children[1]); });
}

Parser::Expr Parser::coreLambda(const CoreNode &form) {
  const CoreNode &list = form.children[1];
  if (!list.isList()) {
    coreExpected(list, "a list of parameters, `(x (y T)..)`");
    return {};
  }
  Nodes params;
  for (const CoreNode &part : list.children) {
    params.push_back(coreParam(part));
    if (!params.back())
      return {};
  }
  SyntaxAttr result;
  if (form.children.size() == 4) {
    const CoreNode &clause = form.children[2];
    if (!clause.hasHead("ret") || clause.children.size() != 2) {
      coreExpected(clause, "`(ret T)`");
      return {};
    }
    result = coreType(clause.children[1]);
    if (!result)
      return {};
  }
  Body body = coreBodyRegion(form.children.back());
  if (!body.region)
    return {};
  lastEnd = form.end;
  return makeWithBody<LambdaOp>(form.token.begin, body.height + 1, body, array(params), result);
}

Parser::Expr Parser::coreIf(const CoreNode &form) {
  Expr cond = coreExpr(form.children[1]);
  if (!cond)
    return {};
  Body then = coreBodyRegion(form.children[2]);
  Body otherwise;
  bool hasElse = form.children.size() == 4;
  if (then.region && hasElse)
    otherwise = coreBodyRegion(form.children[3]);
  if (!then.region || (hasElse && !otherwise.region))
    return {};
  auto op = IfOp::create(builder, location(form.token.begin, form.end), ExprType::get(context),
                         cond.value);
  op.getThenRegion().takeBody(*then.region);
  if (hasElse)
    op.getElseRegion().takeBody(*otherwise.region);
  lastEnd = form.end;
  return checkHeight({op.getResult(), std::max({cond.height, then.height, otherwise.height}) + 1},
                     form.token.begin);
}

/// `((v E)..)`; a first value `(annot E T)` gives the state its type.
bool Parser::coreStates(const CoreNode &list, Nodes &states, SmallVectorImpl<Value> &inits,
                        unsigned &height) {
  if (!list.isList()) {
    coreExpected(list, "a list of loop states, `((v E)..)`");
    return false;
  }
  for (const CoreNode &part : list.children) {
    if (!part.isList() || part.children.size() != 2) {
      coreExpected(part, "a loop state, `(v E)`");
      return false;
    }
    StringRef name = coreName(part.children[0], "the name of a loop state");
    SyntaxAttr type;
    Expr init = name.empty() ? Expr() : coreBound(part.children[1], type);
    if (!init)
      return false;
    Nodes children;
    if (type)
      children.push_back(type);
    states.push_back(
        SyntaxAttr::get(context, SyntaxKind::State, name, children,
                        LocationAttr(location(part.children[0].token.begin, part.end - 1))));
    inits.push_back(init.value);
    height = std::max(height, init.height);
  }
  return true;
}

Parser::Expr Parser::coreWhile(const CoreNode &form) {
  Nodes states;
  SmallVector<Value> inits;
  unsigned height = 0;
  if (!coreStates(form.children[1], states, inits, height))
    return {};
  if (states.empty()) {
    coreExpected(form.children[1], "a loop state, `(v E)`");
    return {};
  }
  Body cond = coreExprRegion(form.children[2]);
  Body body;
  if (cond.region)
    body = coreBodyRegion(form.children[3]);
  if (!body.region)
    return {};
  auto op = WhileOp::create(builder, location(form.token.begin, form.end), ExprType::get(context),
                            array(states), inits);
  op.getCond().takeBody(*cond.region);
  op.getBody().takeBody(*body.region);
  lastEnd = form.end;
  return checkHeight({op.getResult(), std::max({height, cond.height, body.height}) + 1},
                     form.token.begin);
}

Parser::Expr Parser::coreFor(const CoreNode &form) {
  SyntaxAttr var = coreNameSyntax(form.children[1], "the name of the counter");
  Expr lo = var ? coreExpr(form.children[2]) : Expr();
  Expr hi = lo ? coreExpr(form.children[3]) : Expr();
  if (!hi)
    return {};
  Nodes states;
  SmallVector<Value> inits;
  unsigned height = std::max(lo.height, hi.height);
  if (!coreStates(form.children[4], states, inits, height))
    return {};
  Body body = coreBodyRegion(form.children[5]);
  if (!body.region)
    return {};
  lastEnd = form.end;
  return makeWithBody<ForOp>(form.token.begin, std::max(height, body.height) + 1, body, var,
                             lo.value, hi.value, array(states), inits);
}

Parser::Expr Parser::coreHandle(const CoreNode &form) {
  Body body = coreExprRegion(form.children[1]);
  if (!body.region)
    return {};
  Nodes cases;
  SmallVector<Body> bodies;
  unsigned height = body.height;
  for (const CoreNode &part : form.parts().drop_front()) {
    ArrayRef<CoreNode> parts = part.isList() && !part.children.empty() ? part.parts()
                                                                       : ArrayRef<CoreNode>();
    if (part.hasHead("return") && parts.size() == 2) {
      StringRef name = coreName(parts[0], "the name of the result");
      if (name.empty())
        return {};
      cases.push_back(coreNode(SyntaxKind::ReturnCase, name, {}, part));
    } else if (part.hasHead("case") && parts.size() == 4 && parts[1].isList()) {
      StringRef name = coreName(parts[0], "the name of an effect's operation");
      if (name.empty())
        return {};
      Nodes payload;
      for (const CoreNode &bound : parts[1].children) {
        StringRef text = coreName(bound, "the name of a payload");
        if (text.empty())
          return {};
        payload.push_back(coreNode(SyntaxKind::PatternName, text, {}, bound));
      }
      StringRef continuation = coreName(parts[2], "the continuation's name");
      if (continuation.empty())
        return {};
      SyntaxAttr names = coreNode(SyntaxKind::PatternTuple, {}, payload, parts[1]);
      SyntaxAttr resume = coreNode(SyntaxKind::PatternName, continuation, {}, parts[2]);
      cases.push_back(
          SyntaxAttr::get(context, SyntaxKind::EffectCase, name, {names, resume},
                          LocationAttr(location(parts[0].token.begin, parts[2].end))));
    } else {
      coreExpected(part, "a case, `(return x E)` or `(case OPERATION (x..) k E)`");
      return {};
    }
    bodies.push_back(coreExprRegion(parts.back()));
    if (!bodies.back().region)
      return {};
    height = std::max(height, bodies.back().height);
  }
  auto op = HandleOp::create(builder, location(form.token.begin, form.end),
                             ExprType::get(context), array(cases), bodies.size());
  op.getBody().takeBody(*body.region);
  for (auto [region, read] : llvm::zip_equal(op.getCaseRegions(), bodies))
    region.takeBody(*read.region);
  lastEnd = form.end;
  return checkHeight({op.getResult(), height + 1}, form.token.begin);
}

Parser::Expr Parser::coreFoldLeft(const CoreNode &form) {
  Expr parts[3];
  unsigned height = 0;
  for (unsigned i = 0; i < 3; ++i) {
    parts[i] = coreExpr(form.children[i + 1]);
    if (!parts[i])
      return {};
    height = std::max(height, parts[i].height);
  }
  lastEnd = form.end;
  return make<FoldLeftOp>(form.token.begin, height + 1, parts[0].value, parts[1].value,
                          parts[2].value);
}
