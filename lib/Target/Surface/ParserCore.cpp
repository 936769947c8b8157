//===- ParserCore.cpp - The core form: reader, binders, items -------------===//
//
// A form is read twice: first its brackets, which end it for what follows whatever is in
// it, then its parts by the tables of CoreForms.def. It gives the operations that the
// native spelling gives. Types, dimensions, predicates and places are native text.
//
//===----------------------------------------------------------------------===//

#include "ParserCore.h"

#include "llvm/ADT/STLExtras.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

bool Parser::parseCore() {
  CoreNode form;
  uint32_t offset = peek().end;
  uint32_t commentParen = Token::kNoComment;
  bool read = readCoreNode(peek(), form, offset, commentParen, 0, /*native=*/false);
  // It is over where its brackets say so, even if something in it is wrong: then there was
  // an error, and the next item is not to be skipped.
  if (form.children.size() > 1 && form.children[1].token.is(Tok::CoreSymbol) && !form.hasHead("attr"))
    itemName = form.children[1].token.text;
  if (read && !onlyStructure)
    (void)coreItem(form);
  leaveBlocks = false;
  // What follows is native text again; after an error it begins behind the last token
  // that was read.
  lastEnd = read ? form.end : lastEnd;
  lastKind = Tok::RParen;
  resetTo(offset);
  return read;
}

bool Parser::readCoreNode(Token token, CoreNode &form, uint32_t &offset, uint32_t &commentParen,
                          unsigned depth, bool native) {
  form.token = token;
  form.end = token.end;
  switch (token.kind) {
  case Tok::CoreSymbol:
    if (token.text.starts_with("//")) {
      error(token.begin, token.begin + 2, DiagCode::K0104, "'//' is no comment in a core form",
            "inside the parentheses a comment begins with ';'");
      return false;
    }
    lastEnd = token.end;
    return true;
  case Tok::CoreKeyword:
  case Tok::String:
    lastEnd = token.end;
    return true;
  case Tok::LParen:
  case Tok::LSquare:
    break;
  case Tok::OpenString:
    reportTokenProblem(token);
    return false;
  case Tok::RParen:
  case Tok::RSquare:
    error(token.begin, token.end, DiagCode::K0104,
          "expected a form, found '" + token.text + "'");
    return false;
  default:
    // In brackets a member of a tuple type may have its ':' apart, `(W: T)`.
    if (native && token.text == ":")
      return true;
    error(token.begin, token.end, DiagCode::K0104,
          "expected a keyword's name behind ':'");
    return false;
  }

  if (depth > kCoreNestingLimit) {
    error(token.begin, token.end, DiagCode::K0107,
          "nested more than " + Twine(kCoreNestingLimit) + " levels deep");
    fatal();
    return false;
  }
  lastEnd = token.end;
  native |= token.is(Tok::LSquare);
  Tok closer = token.is(Tok::LParen) ? Tok::RParen : Tok::RSquare;
  while (true) {
    Token next = lexer.lexCore(offset, commentParen);
    offset = next.end;
    if (next.is(closer)) {
      form.end = lastEnd = next.end;
      return true;
    }
    if (next.is(Tok::Eof) || next.is(Tok::RParen) || next.is(Tok::RSquare)) {
      if (!mayReport(next.begin))
        return false;
      // Usually the closer stands behind a ';'.
      if (next.is(Tok::Eof) && commentParen != Token::kNoComment) {
        InFlightDiagnostic diag =
            emitError(location(commentParen, commentParen + 1), DiagCode::K0102,
                      "';' starts a comment inside a parenthesised form, and the ')' behind it "
                      "does not count");
        diag.attachNote(location(token.begin, token.end)) << "this form is not closed";
        return false;
      }
      InFlightDiagnostic diag =
          emitError(locationOf(next), DiagCode::K0101)
          << "expected '" << spelling(closer) << "' to close this form, found "
          << (next.is(Tok::Eof) ? "the end of the file" : "'" + next.text.str() + "'");
      diag.attachNote(location(token.begin, token.end)) << "opened here";
      return false;
    }
    if (!readCoreNode(next, form.children.emplace_back(), offset, commentParen, depth + 1,
                      native))
      return false;
  }
}

//===----------------------------------------------------------------------===//
// Errors and heads
//===----------------------------------------------------------------------===//

std::string Parser::describe(const CoreNode &form) {
  if (form.isBracket())
    return "a form in brackets";
  if (form.token.is(Tok::CoreKeyword))
    return ("':" + form.token.text + "'").str();
  if (!form.isList())
    return describe(form.token);
  if (form.children.empty())
    return "an empty form";
  return form.children[0].token.is(Tok::CoreSymbol)
             ? "a form with the head " + describe(form.children[0].token)
             : "a list";
}

void Parser::coreError(const CoreNode &form, DiagCode code, const Twine &message,
                       StringRef help) {
  error(form.token.begin, form.end, code, message, help);
}

void Parser::coreExpected(const CoreNode &form, const Twine &what, StringRef help) {
  coreError(form, DiagCode::K0117, "expected " + what + ", found " + describe(form), help);
}

ArrayRef<Parser::CoreForm> Parser::coreItems() {
  static const CoreForm forms[] = {
#define KINA_CORE_ITEM(head, Method, least, most, usage)                                      \
  {head, least, most, usage, nullptr, &Parser::core##Method},
#include "CoreForms.def"
  };
  return forms;
}

ArrayRef<Parser::CoreForm> Parser::coreStatements() {
  static const CoreForm forms[] = {
#define KINA_CORE_STATEMENT(head, Method, least, most, usage)                                 \
  {head, least, most, usage, nullptr, &Parser::core##Method},
#include "CoreForms.def"
  };
  return forms;
}

ArrayRef<Parser::CoreForm> Parser::coreExprs() {
  static const CoreForm forms[] = {
#define KINA_CORE_EXPR(head, Method, least, most, usage)                                      \
  {head, least, most, usage, &Parser::core##Method, nullptr},
#include "CoreForms.def"
  };
  return forms;
}

const Parser::CoreForm *Parser::findForm(ArrayRef<CoreForm> forms, const CoreNode &form) {
  if (!form.isList() || form.children.empty() || !form.children[0].token.is(Tok::CoreSymbol))
    return nullptr;
  const auto *found = llvm::find_if(
      forms, [&](const CoreForm &entry) { return form.children[0].isSymbol(entry.head); });
  return found == forms.end() ? nullptr : found;
}

bool Parser::checkParts(const CoreForm &entry, const CoreNode &form) {
  size_t count = form.parts().size();
  if (count >= entry.least && count <= entry.most)
    return true;
  std::string wanted = std::to_string(entry.least);
  if (entry.most == ~0u)
    wanted = "at least " + wanted;
  else if (entry.most == entry.least + 1)
    wanted += " or " + std::to_string(entry.most);
  else if (entry.most != entry.least)
    wanted += " to " + std::to_string(entry.most);
  coreError(form, DiagCode::K0117,
            "'" + entry.head + "' takes " + wanted +
                (StringRef(wanted).ends_with("1") ? " part, found " : " parts, found ") + Twine(count),
            ("it is written " + entry.usage).str());
  return false;
}

/// Says what is wrong with a form whose head is not among those that may stand here.
Parser::Expr Parser::unknownHead(const CoreNode &form, StringRef what,
                                 ArrayRef<ArrayRef<CoreForm>> tables) {
  if (!form.isList() || form.children.empty() || !form.children[0].token.is(Tok::CoreSymbol)) {
    coreExpected(form, what);
    return {};
  }
  const CoreNode &head = form.children[0];
  if (form.hasHead("attr"))
    coreError(head, DiagCode::K0117, "expected " + what + ", found decorators",
              "`(attr (NAME ARGUMENT..).. FORM)` stands before an item, a binding or the last "
              "expression of a body");
  else if (findForm(coreItems(), form))
    coreError(head, DiagCode::K0117,
              "expected " + what + ", found the item '" + head.token.text + "'",
              "items stand at the level of the module");
  else if (findForm(coreStatements(), form))
    coreError(head, DiagCode::K0117,
              "expected " + what + ", found the statement '" + head.token.text + "'",
              "statements stand among the bindings of a `let`: `(let ((check E) (x E)) BODY)`");
  else if (findForm(coreExprs(), form))
    coreExpected(form, what);
  else {
    // Of three letters one may be wrong; else it is the name of a function or an operation.
    StringRef nearest, name = head.token.text.take_front(40);
    unsigned best = std::max<size_t>(1, name.size() / 3) + 1;
    for (ArrayRef<CoreForm> table : tables)
      for (const CoreForm &entry : table)
        if (unsigned distance = name.edit_distance(entry.head, true, best);
            distance < best && distance < entry.head.size()) {
          best = distance;
          nearest = entry.head;
        }
    std::string help = nearest.empty() ? "a function is called by `(call f x..)`, an operation by "
                                         "`(op NAME x..)`"
                                       : ("did you mean '" + nearest + "'?").str();
    coreError(head, DiagCode::K0116, "unknown head " + describe(head.token), help);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Names, types and binders
//===----------------------------------------------------------------------===//

SyntaxAttr Parser::coreNode(SyntaxKind kind, StringRef text, ArrayRef<SyntaxAttr> children,
                            const CoreNode &at) {
  return SyntaxAttr::get(context, kind, text, children,
                         LocationAttr(location(at.token.begin, at.end)));
}

/// A name that is not reserved; empty on failure.
StringRef Parser::coreName(const CoreNode &form, StringRef what) {
  if (!form.token.is(Tok::CoreSymbol)) {
    coreExpected(form, what);
    return {};
  }
  Token token = Lexer(lexer.getText().take_front(form.end), /*inCore=*/true)
                    .lexNative(form.token.begin);
  if (token.end == form.end && token.is(Tok::Ident))
    return form.token.text;
  if (token.is(Tok::UnknownChar) && (unsigned char)token.text.back() >= 0x80)
    reportTokenProblem(token);
  else if (token.end == form.end && isReserved(token.kind))
    coreError(form, DiagCode::K0105,
              "'" + token.text + "' is a reserved word and cannot be " + what);
  else
    coreExpected(form, what);
  return {};
}

SyntaxAttr Parser::coreNameSyntax(const CoreNode &form, StringRef what) {
  StringRef name = coreName(form, what);
  return name.empty() ? SyntaxAttr() : coreNode(SyntaxKind::Name, name, {}, form);
}

SyntaxAttr Parser::coreType(const CoreNode &form, bool orRef) {
  if (!form.isBracket()) {
    // One word: what has more is not a symbol but several.
    bool word = form.token.is(Tok::CoreSymbol) && form.token.text != "_" &&
                llvm::all_of(form.token.text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!word) {
      coreExpected(form, "a type", "a type is a name, `F64`, or stands in brackets: "
                                   "`[tensor<F64, [N]>]`");
      return {};
    }
  }
  return inNative(form, [&] { return orRef ? parseTypeOrRef() : parseType(); });
}

SyntaxAttr Parser::corePred(const CoreNode &form) {
  if (form.isBracket())
    return inNative(form, [&] { return parsePred(); });
  coreExpected(form, "a predicate in brackets", "`[N = 2*K and 8 | N]`");
  return {};
}

SyntaxAttr Parser::corePattern(const CoreNode &form) {
  if (form.isSymbol("_"))
    return coreNode(SyntaxKind::PatternWild, {}, {}, form);
  if (!form.isList() || form.children.empty()) {
    StringRef name = coreName(form, "a name or a list of patterns");
    return name.empty() ? SyntaxAttr() : coreNode(SyntaxKind::PatternName, name, {}, form);
  }
  Nodes members;
  for (const CoreNode &child : form.children) {
    members.push_back(corePattern(child));
    if (!members.back())
      return {};
  }
  return coreNode(SyntaxKind::PatternTuple, {}, members, form);
}

/// `x`, `(x T)` or `(x T LITERAL)`.
SyntaxAttr Parser::coreParam(const CoreNode &form) {
  if (!form.isList()) {
    StringRef name = coreName(form, "a parameter, `x` or `(x T)`");
    return name.empty() ? SyntaxAttr() : coreNode(SyntaxKind::Param, name, {}, form);
  }
  if (form.children.empty() || form.children.size() > 3) {
    coreExpected(form, "a parameter, `x`, `(x T)` or `(x T LITERAL)`");
    return {};
  }
  StringRef name = coreName(form.children[0], "the name of a parameter");
  if (name.empty())
    return {};
  Nodes parts;
  if (form.children.size() > 1)
    parts.push_back(coreType(form.children[1], /*orRef=*/true));
  if (form.children.size() > 2)
    parts.push_back(inNative(form.children[2], [&] { return parseLiteral(); }));
  if (llvm::is_contained(parts, SyntaxAttr()))
    return {};
  // Its name begins the node, as in the native form.
  return SyntaxAttr::get(context, SyntaxKind::Param, name, parts,
                         LocationAttr(location(form.children[0].token.begin, form.end - 1)));
}

/// `N`, `(N INT)` (the least value) or `(N float)`.
SyntaxAttr Parser::coreShapeVar(const CoreNode &form) {
  bool plain = !form.isList();
  if (!plain && form.children.size() != 2) {
    coreExpected(form, "a shape variable, `N`, `(N LEAST)` or `(T float)`");
    return {};
  }
  const CoreNode &first = plain ? form : form.children[0];
  StringRef name = coreName(first, "the name of a shape variable");
  if (name.empty())
    return {};
  Nodes parts;
  if (!plain)
    parts.push_back(inNative(form.children[1], [&] {
      return at(Tok::Int) ? parseDimAtom() : parseName("the least value, 'float', 'int' or 'any'");
    }));
  if (llvm::is_contained(parts, SyntaxAttr()))
    return {};
  return SyntaxAttr::get(context, SyntaxKind::ShapeVar, name, parts,
                         LocationAttr(location(first.token.begin, plain ? form.end : form.end - 1)));
}

/// The decorators of `(attr (NAME ARGUMENT..).. FORM)`.
bool Parser::coreDecorators(const CoreNode &attr, Nodes &decorators) {
  for (const CoreNode &decorator : attr.parts().drop_back()) {
    if (!decorator.isList() || decorator.children.empty()) {
      coreExpected(decorator, "a decorator, `(NAME ARGUMENT.. :KEY ARGUMENT..)`");
      return false;
    }
    StringRef name = coreName(decorator.children[0], "the name of a decorator");
    if (name.empty())
      return false;
    Nodes args;
    ArrayRef<CoreNode> parts = decorator.parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      bool keyed = parts[i].token.is(Tok::CoreKeyword);
      if (keyed && i + 1 == parts.size()) {
        coreExpected(decorator, "a value behind the last keyword of the decorator");
        return false;
      }
      const CoreNode &value = parts[i + keyed];
      if (value.isList() || value.isBracket() || value.token.is(Tok::CoreKeyword)) {
        coreExpected(value, "a literal or a name");
        return false;
      }
      SyntaxAttr literal = inNative(value, [&] { return parseLiteral(); });
      if (!literal)
        return false;
      if (keyed) {
        StringRef key = keyOf(parts[i]);
        literal = SyntaxAttr::get(context, SyntaxKind::Keyword, key, literal,
                                  LocationAttr(location(parts[i].token.begin + 1, value.end)));
        ++i;
      }
      args.push_back(literal);
    }
    decorators.push_back(coreNode(SyntaxKind::Decorator, name, args, decorator));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies and statements
//===----------------------------------------------------------------------===//

Parser::Body Parser::coreExprRegion(const CoreNode &form) {
  return buildRegion([&] {
    Expr value = coreExpr(form);
    if (value)
      YieldOp::create(builder, location(form.token.begin, form.end), value.value, ArrayAttr());
    return bool(value);
  });
}

Parser::Body Parser::coreBodyRegion(const CoreNode &form) {
  return buildRegion([&] { return coreBody(form); });
}

/// What a block's braces hold: the statements of a `let`, which stand in the block itself,
/// and a last expression.
bool Parser::coreBody(const CoreNode &form) {
  if (form.hasHead("let"))
    return coreLetParts(form);
  Nodes decorators;
  const CoreNode *value = &form;
  if (form.hasHead("attr") && form.children.size() > 2) {
    if (!coreDecorators(form, decorators))
      return false;
    value = &form.children.back();
  }
  Expr result = coreExpr(*value);
  if (!result)
    return false;
  YieldOp::create(builder, location(form.token.begin, form.end), result.value,
                  arrayOrNull(decorators));
  return true;
}

bool Parser::coreLetParts(const CoreNode &form) {
  if (!checkParts(*findForm(coreExprs(), form), form))
    return false;
  const CoreNode &bindings = form.children[1];
  if (!bindings.isList()) {
    coreExpected(bindings, "a list of bindings, `((x E)..)`");
    return false;
  }
  // Every binding is read, so that several mistakes are reported at once.
  bool ok = true;
  for (const CoreNode &binding : bindings.children)
    ok &= coreStatement(binding);
  if (form.children.size() == 3)
    return coreBody(form.children[2]) && ok;
  YieldOp::create(builder, location(form.end - 1, form.end), Value(), ArrayAttr());
  return ok;
}

/// Decorated in vain: only bindings and expressions take decorators.
bool Parser::refuseDecorators(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (decorators.empty())
    return true;
  coreExpected(form, "a binding or an expression behind the decorators");
  return false;
}

bool Parser::coreStatement(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (const CoreForm *entry = findForm(coreStatements(), form))
    return checkParts(*entry, form) && (this->*entry->other)(form, decorators);
  if (form.hasHead("attr") && form.children.size() > 2 && decorators.empty()) {
    Nodes found;
    return coreDecorators(form, found) && coreStatement(form.children.back(), found);
  }
  if (!form.isList() || form.children.size() != 2) {
    coreExpected(form, "a binding `(PATTERN E)` or a statement",
                 "the statements are `check`, `assume`, `bind-dim`, `set!` and `do!`");
    return false;
  }
  SyntaxAttr pattern = corePattern(form.children[0]);
  SyntaxAttr type;
  Expr value = pattern ? coreBound(form.children[1], type) : Expr();
  if (!value)
    return false;
  LetOp::create(builder, location(form.token.begin, form.end), pattern, value.value, type,
                arrayOrNull(decorators));
  return true;
}

/// The value of a binding; its type comes apart if it is `(annot E T)`.
Parser::Expr Parser::coreBound(const CoreNode &form, SyntaxAttr &type) {
  if (!form.hasHead("annot"))
    return coreExpr(form);
  if (!checkParts(*findForm(coreExprs(), form), form))
    return {};
  type = coreType(form.children[2]);
  return type ? coreExpr(form.children[1]) : Expr();
}

bool Parser::coreCheck(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (!refuseDecorators(form, decorators))
    return false;
  StringAttr message;
  if (form.children.size() == 3) {
    if (!form.children[2].token.is(Tok::String)) {
      coreExpected(form.children[2], "the text of the check, a string");
      return false;
    }
    message = builder.getStringAttr(form.children[2].token.text);
  }
  const CoreNode &condition = form.children[1];
  Expr value = condition.isBracket() ? inNative(condition, [&] { return parseCheckCondition(); })
                                     : coreCondition(condition);
  if (!value)
    return false;
  CheckOp::create(builder, location(form.token.begin, form.end), value.value, message);
  return true;
}

bool Parser::coreAssume(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  SyntaxAttr pred = refuseDecorators(form, decorators) ? corePred(form.children[1]) : SyntaxAttr();
  if (!pred)
    return false;
  AssumeOp::create(builder, location(form.token.begin, form.end), pred);
  return true;
}

bool Parser::coreBindDim(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (!refuseDecorators(form, decorators))
    return false;
  SyntaxAttr name = coreNameSyntax(form.children[1], "the name of a size");
  Expr value = name ? coreExpr(form.children[2]) : Expr();
  if (!value)
    return false;
  LetDimOp::create(builder, location(form.token.begin, form.end), name, value.value);
  return true;
}

bool Parser::coreSet(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (!refuseDecorators(form, decorators))
    return false;
  SyntaxAttr name = coreNameSyntax(form.children[1], "the name of a ref");
  Expr value = name ? coreExpr(form.children[2]) : Expr();
  if (!value)
    return false;
  AssignOp::create(builder, location(form.token.begin, form.end), name, value.value);
  return true;
}

bool Parser::coreDo(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  Expr value = coreExpr(form.children[1]);
  if (!value)
    return false;
  DoOp::create(builder, location(form.token.begin, form.end), value.value,
               arrayOrNull(decorators));
  return true;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

bool Parser::coreItem(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (const CoreForm *entry = findForm(coreItems(), form))
    return checkParts(*entry, form) && (this->*entry->other)(form, decorators);
  if (form.hasHead("attr") && form.children.size() > 2 && decorators.empty()) {
    Nodes found;
    return coreDecorators(form, found) && coreItem(form.children.back(), found);
  }
  unknownHead(form, "an item: `fn`, `define`, `effect`, `type`, `import` or `attr`",
              {coreItems()});
  return false;
}

bool Parser::coreFn(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  SyntaxAttr name = coreNameSyntax(form.children[1], "the name of a function");
  if (!name)
    return false;
  Nodes shapeVars, params, effects, clauses;
  SyntaxAttr result;
  StringRef seen[5];
  size_t count = 0;
  for (const CoreNode &clause : form.parts().drop_front().drop_back()) {
    StringRef head = clause.isList() && !clause.children.empty() &&
                             clause.children[0].token.is(Tok::CoreSymbol)
                         ? clause.children[0].token.text
                         : StringRef();
    bool known = llvm::is_contained({"forall", "requires", "params", "ret", "effects"}, head);
    if (!known || llvm::is_contained(ArrayRef(seen).take_front(count), head)) {
      if (known)
        coreError(clause, DiagCode::K0117, "the function has a second `(" + head + " ..)`");
      else
        coreExpected(clause, "a clause of the function: `forall`, `requires`, `params`, `ret` or "
                             "`effects`");
      return false;
    }
    seen[count++] = head;
    for (const CoreNode &part : clause.parts()) {
      Nodes *list = head == "forall"     ? &shapeVars
                    : head == "requires" ? &clauses
                    : head == "params"   ? &params
                                         : &effects;
      SyntaxAttr read = head == "forall"     ? coreShapeVar(part)
                        : head == "requires" ? corePred(part)
                        : head == "params"   ? coreParam(part)
                        : head == "ret"      ? coreType(part)
                                             : coreNameSyntax(part, "the name of an effect");
      if (!read)
        return false;
      if (head == "ret")
        result = read;
      else
        list->push_back(read);
    }
    if (head == "ret" && clause.children.size() != 2) {
      coreExpected(clause, "one type in `(ret T)`");
      return false;
    }
  }
  if (!llvm::is_contained(ArrayRef(seen).take_front(count), "params")) {
    coreError(form.children[1], DiagCode::K0117, "the function has no `(params ..)`");
    return false;
  }
  Body body = coreBodyRegion(form.children.back());
  if (!body.region)
    return false;
  auto op = FnOp::create(builder, location(form.token.begin, form.end), name, array(params),
                         result, arrayOrNull(shapeVars), arrayOrNull(effects),
                         arrayOrNull(clauses), arrayOrNull(decorators));
  op.getBody().takeBody(*body.region);
  return true;
}

bool Parser::coreDefine(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  SyntaxAttr name = coreNameSyntax(form.children[1], "the name of a module-level value");
  if (!name)
    return false;
  bool valued = form.children.size() == 4;
  SyntaxAttr type;
  if (!valued || !form.children[2].isSymbol("_")) {
    type = coreType(form.children[2]);
    if (!type)
      return false;
  }
  Body init;
  if (valued) {
    init = coreExprRegion(form.children[3]);
    if (!init.region)
      return false;
  }
  auto op = GlobalOp::create(builder, location(form.token.begin, form.end), name, type,
                             arrayOrNull(decorators));
  if (init.region)
    op.getInit().takeBody(*init.region);
  return true;
}

/// Effects, types and imports take no decorators.
bool Parser::refuseItemDecorators(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (decorators.empty())
    return true;
  coreExpected(form, "`fn` or `define` behind the decorators");
  return false;
}

bool Parser::coreEffect(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  SyntaxAttr name = refuseItemDecorators(form, decorators)
                        ? coreNameSyntax(form.children[1], "the name of an effect")
                        : SyntaxAttr();
  if (!name)
    return false;
  Nodes operations;
  for (const CoreNode &part : form.parts().drop_front()) {
    if (!part.isList() || part.children.size() != 3) {
      coreExpected(part, "an operation of the effect, `(NAME T T)`");
      return false;
    }
    StringRef operation = coreName(part.children[0], "the name of an operation");
    SyntaxAttr argument = operation.empty() ? SyntaxAttr() : coreType(part.children[1]);
    SyntaxAttr result = argument ? coreType(part.children[2]) : SyntaxAttr();
    if (!result)
      return false;
    operations.push_back(
        SyntaxAttr::get(context, SyntaxKind::EffectOp, operation, {argument, result},
                        LocationAttr(location(part.children[0].token.begin, part.end - 1))));
  }
  EffectOp::create(builder, location(form.token.begin, form.end), name, array(operations));
  return true;
}

bool Parser::coreTypeAlias(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  SyntaxAttr name = refuseItemDecorators(form, decorators)
                        ? coreNameSyntax(form.children[1], "the name of a type")
                        : SyntaxAttr();
  if (!name)
    return false;
  Nodes shapeVars;
  if (form.children.size() == 4) {
    if (!form.children[2].hasHead("forall")) {
      coreExpected(form.children[2], "`(forall N..)`");
      return false;
    }
    for (const CoreNode &part : form.children[2].parts()) {
      shapeVars.push_back(coreShapeVar(part));
      if (!shapeVars.back())
        return false;
    }
  }
  SyntaxAttr type = coreType(form.children.back());
  if (!type)
    return false;
  TypeAliasOp::create(builder, location(form.token.begin, form.end), name, type,
                      arrayOrNull(shapeVars));
  return true;
}

bool Parser::coreImport(const CoreNode &form, ArrayRef<SyntaxAttr> decorators) {
  if (!refuseItemDecorators(form, decorators))
    return false;
  if (!form.children[1].token.is(Tok::String)) {
    coreExpected(form.children[1], "the path of a module, a string");
    return false;
  }
  ImportOp::create(builder, location(form.token.begin, form.end),
                   builder.getStringAttr(form.children[1].token.text));
  return true;
}
