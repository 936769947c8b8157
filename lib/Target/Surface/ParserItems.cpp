//===- ParserItems.cpp - Blocks, statements and items ---------------------===//

#include "Parser.h"

#include "llvm/ADT/STLExtras.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Regions and blocks
//===----------------------------------------------------------------------===//

Parser::Body Parser::buildRegion(llvm::function_ref<bool()> build) {
  auto region = std::make_unique<Region>();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(region.get());
  unsigned outer = std::exchange(maxHeight, 0);
  bool built = build();
  unsigned height = std::exchange(maxHeight, std::max(outer, maxHeight));
  if (!built)
    return {};
  return {std::move(region), height};
}

Parser::Body Parser::parseExprRegion(llvm::function_ref<Expr()> parse) {
  return buildRegion([&] {
    uint32_t begin = peek().begin;
    Expr value = parse();
    if (value)
      YieldOp::create(builder, rangeFrom(begin), value.value, ArrayAttr());
    return bool(value);
  });
}

Parser::Body Parser::parseBlock(StringRef what) {
  Token opener = peek();
  if (!at(Tok::LBrace)) {
    errorExpected("'{' before the " + what, at(Tok::Colon) ? "a block stands in braces: `{ .. }`" : "");
    return {};
  }
  consume();
  auto region = std::make_unique<Region>();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(region.get());
  unsigned outer = std::exchange(maxHeight, 0);

  StatementResult result = StatementResult::Done;
  while (result != StatementResult::Tail && !at(Tok::RBrace)) {
    if (at(Tok::Eof) || startsItem()) {
      expectClose(Tok::RBrace, opener.begin, what);
      leaveBlocks = true;
      return {};
    }
    size_t height = open.size();
    result = parseStatement();
    if (result != StatementResult::Failed)
      continue;
    recover(height);
    if (leaveBlocks || at(Tok::Eof)) {
      leaveBlocks = true;
      return {};
    }
  }
  if (result != StatementResult::Tail)
    YieldOp::create(builder, location(peek().begin, peek().end), Value(), ArrayAttr());
  consume();
  unsigned height = std::exchange(maxHeight, std::max(outer, maxHeight));
  return {std::move(region), height};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Parser::StatementResult Parser::parseStatement() {
  auto done = [](bool ok) { return ok ? StatementResult::Done : StatementResult::Failed; };
  uint32_t begin = peek().begin;
  Nodes decorators;
  if (at(Tok::At) && !parseDecorators(decorators))
    return StatementResult::Failed;

  bool assignment = at(Tok::Ident) && at(Tok::Assign, 1);
  bool letDim = at(Tok::KwLet) && at(Tok::KwDim, 1);
  if (!decorators.empty() &&
      (assignment || letDim || at(Tok::KwAssume) || at(Tok::KwCheck) || at(Tok::RBrace))) {
    errorExpected("a `let` or an expression behind the decorator");
    return StatementResult::Failed;
  }

  if (letDim) {
    consume();
    consume();
    SyntaxAttr name = parseName("the name of a size");
    if (!name || !expect(Tok::Equal, " behind the size's name"))
      return StatementResult::Failed;
    Expr value = parseExpr();
    if (!value || !expectSemi("behind this `let dim`"))
      return StatementResult::Failed;
    LetDimOp::create(builder, rangeFrom(begin), name, value.value);
    return StatementResult::Done;
  }
  if (at(Tok::KwLet))
    return done(parseLet(begin, decorators));
  if (accept(Tok::KwAssume)) {
    SyntaxAttr pred = parsePred();
    if (!pred || !expectSemi("behind this `assume`"))
      return StatementResult::Failed;
    AssumeOp::create(builder, rangeFrom(begin), pred);
    return StatementResult::Done;
  }
  if (accept(Tok::KwCheck)) {
    Expr cond = parseCheckCondition();
    if (!cond)
      return StatementResult::Failed;
    StringAttr message;
    if (accept(Tok::Comma)) {
      if (!at(Tok::String)) {
        errorExpected("the text of the check, a string");
        return StatementResult::Failed;
      }
      message = builder.getStringAttr(consume().text);
    }
    if (!expectSemi("behind this `check`"))
      return StatementResult::Failed;
    CheckOp::create(builder, rangeFrom(begin), cond.value, message);
    return StatementResult::Done;
  }
  if (assignment) {
    SyntaxAttr name = parseName("the name of a ref");
    consume();
    Expr value = parseExpr();
    if (!value || !expectSemi("behind this assignment"))
      return StatementResult::Failed;
    AssignOp::create(builder, rangeFrom(begin), name, value.value);
    return StatementResult::Done;
  }

  Expr value = parseExpr();
  if (!value)
    return StatementResult::Failed;
  if (at(Tok::RBrace)) {
    YieldOp::create(builder, rangeFrom(begin), value.value, arrayOrNull(decorators));
    return StatementResult::Tail;
  }
  // Not the ';' is missing there but the block's '}', and the block will say so.
  if (at(Tok::Eof) || startsItem())
    return StatementResult::Done;
  if (!expectSemi("behind this statement"))
    return StatementResult::Failed;
  DoOp::create(builder, rangeFrom(begin), value.value, arrayOrNull(decorators));
  return StatementResult::Done;
}

bool Parser::parseLet(uint32_t begin, ArrayRef<SyntaxAttr> decorators) {
  consume();
  SyntaxAttr pattern = parsePattern();
  if (!pattern)
    return false;
  SyntaxAttr type;
  if (accept(Tok::Colon)) {
    type = parseType();
    if (!type)
      return false;
  }
  if (!expect(Tok::Equal, type ? " behind the type" : " behind the name"))
    return false;
  Expr value = parseExpr();
  if (!value || !expectSemi("behind this `let`"))
    return false;
  LetOp::create(builder, rangeFrom(begin), pattern, value.value, type, arrayOrNull(decorators));
  return true;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseModule(ModuleOp module) {
  builder.setInsertionPointToEnd(module.getBody());
  while (!at(Tok::Eof)) {
    open.clear();
    nesting = 0;
    inCheck = tookEqSign = false;
    itemColumn = lineAndColumn(peek().begin).second;
    itemName = {};
    unsigned before = errors;
    Operation *last = module.getBody()->empty() ? nullptr : &module.getBody()->back();
    bool parsed = parseItem();
    if (!parsed || errors != before) {
      // Some of its statements are missing.
      while (!module.getBody()->empty() && &module.getBody()->back() != last)
        module.getBody()->back().erase();
      markBroken(itemName);
    }
    if (!parsed)
      recoverItem();
  }
  if (stopped)
    markBroken({});
  return success(errors == 0);
}

void Parser::markBroken(StringRef name) {
  BrokenOp::create(builder, rangeFrom(lastEnd), name.empty() ? StringAttr() : builder.getStringAttr(name));
}

bool Parser::parseItem() {
  uint32_t begin = peek().begin;
  Nodes decorators;
  if (at(Tok::At) && !parseDecorators(decorators))
    return false;
  switch (peek().kind) {
  case Tok::KwFn:
    return parseFn(begin, decorators);
  case Tok::KwLet:
    return parseGlobal(begin, decorators);
  default:
    break;
  }
  if (!decorators.empty()) {
    errorExpected("'fn' or 'let' behind the decorator");
    return false;
  }
  switch (peek().kind) {
  case Tok::KwEffect:
    return parseEffect();
  case Tok::KwImport:
    return parseImport();
  case Tok::KwType:
    return parseTypeAlias();
  case Tok::LParen:
    return parseCore();
  case Tok::Semi:
    errorExpected("an item", lastKind == Tok::RBrace
                                 ? "a function ends at its '}'; a ';' belongs behind `let`, `type` "
                                   "and `import` only"
                                 : "");
    return false;
  default:
    errorExpected("an item: `fn`, `let`, `effect`, `type`, `import` or a parenthesised core form",
                  llvm::is_contained({"def", "func", "function", "fun"}, peek().text)
                      ? "a function is `fn f(x: F64) -> F64 { .. }`"
                      : "");
    return false;
  }
}

bool Parser::parseFn(uint32_t begin, ArrayRef<SyntaxAttr> decorators) {
  consume();
  SyntaxAttr name = parseName("the name of a function");
  if (!name)
    return false;
  itemName = name.getText();
  Nodes shapeVars, params, effects, clauses;
  if (!parseShapeVars(shapeVars) || !parseParams(params))
    return false;
  SyntaxAttr result;
  if (accept(Tok::Arrow)) {
    result = parseType();
    if (!result)
      return false;
  }
  if (at(Tok::Bang) && !parseEffectRow(effects))
    return false;
  while (accept(Tok::KwRequires))
    if (!parsePreds(clauses, Tok::LBrace, Tok::KwRequires))
      return false;
  Body body = parseBlock("body");
  if (!body.region)
    return false;
  auto op = FnOp::create(builder, rangeFrom(begin), name, array(params), result,
                         arrayOrNull(shapeVars), arrayOrNull(effects), arrayOrNull(clauses),
                         arrayOrNull(decorators));
  op.getBody().takeBody(*body.region);
  return true;
}

bool Parser::parseGlobal(uint32_t begin, ArrayRef<SyntaxAttr> decorators) {
  consume();
  if (at(Tok::LParen)) {
    errorExpected("a name", "a module-level `let` binds one name");
    return false;
  }
  SyntaxAttr name = parseName("the name of a module-level `let`");
  if (!name)
    return false;
  itemName = name.getText();
  SyntaxAttr type;
  if (accept(Tok::Colon)) {
    type = parseType();
    if (!type)
      return false;
  }
  Body init;
  if (type && accept(Tok::Semi)) {
    GlobalOp::create(builder, rangeFrom(begin), name, type, arrayOrNull(decorators));
    return true;
  }
  if (!expect(Tok::Equal, type ? " or ';' behind the type" : " behind the name"))
    return false;
  // A lambda ends at its '}'; what follows never continues it.
  bool lambda = !type && at(Tok::KwFn);
  init = parseExprRegion([&] { return parseExpr(); });
  if (!init.region)
    return false;
  if (lambda)
    accept(Tok::Semi);
  else if (!expectSemi("behind this `let`"))
    return false;
  auto op = GlobalOp::create(builder, rangeFrom(begin), name, type, arrayOrNull(decorators));
  op.getInit().takeBody(*init.region);
  return true;
}

bool Parser::parseEffect() {
  uint32_t begin = consume().begin;
  SyntaxAttr name = parseName("the name of an effect");
  itemName = name ? name.getText() : StringRef();
  if (!name || !expect(Tok::Colon, " behind the effect's name"))
    return false;
  Nodes operations;
  do {
    if (!expect(Tok::Pipe, " before an operation of the effect"))
      return false;
    Token operation = expectName("the name of an operation");
    if (operation.text.empty() || !expect(Tok::Colon, " behind the operation's name"))
      return false;
    SyntaxAttr argument = parseType();
    if (!argument || !expect(Tok::Arrow, " and the result type of the operation"))
      return false;
    SyntaxAttr result = parseType();
    if (!result)
      return false;
    operations.push_back(
        node(SyntaxKind::EffectOp, operation.text, {argument, result}, operation.begin));
  } while (at(Tok::Pipe));
  EffectOp::create(builder, rangeFrom(begin), name, array(operations));
  return true;
}

bool Parser::parseImport() {
  uint32_t begin = consume().begin;
  if (!at(Tok::String)) {
    errorExpected("the path of a module, a string");
    return false;
  }
  StringAttr path = builder.getStringAttr(consume().text);
  if (!expectSemi("behind this `import`"))
    return false;
  ImportOp::create(builder, rangeFrom(begin), path);
  return true;
}

bool Parser::parseTypeAlias() {
  uint32_t begin = consume().begin;
  SyntaxAttr name = parseName("the name of a type");
  itemName = name ? name.getText() : StringRef();
  Nodes shapeVars;
  if (!name || !parseShapeVars(shapeVars) || !expect(Tok::Equal, " behind the type's name"))
    return false;
  SyntaxAttr type = parseType();
  if (!type || !expectSemi("behind this `type`"))
    return false;
  TypeAliasOp::create(builder, rangeFrom(begin), name, type, arrayOrNull(shapeVars));
  return true;
}
