//===- Parser.h - The recursive-descent parser of Kina source --*- C++ -*-===//
//
// One method per production of the grammar; it builds `kina_surface` directly.
//
// A production that fails has reported an error and returns null. The statement or item
// around it then skips to its end (`recover`) and parsing goes on, so that several
// errors are reported at once. A byte offset is reported at most once.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TARGET_SURFACE_PARSER_H
#define KINA_LIB_TARGET_SURFACE_PARSER_H

#include "Lexer.h"

#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Support/Diagnostics.h"

#include <memory>
#include <vector>

namespace kina::surface {

class Parser {
public:
  /// Nesting of brackets, blocks and prefix operators that is accepted.
  static constexpr unsigned kNestingLimit = 500;
  /// Depth of an expression tree, which long chains of operators make deep as well.
  static constexpr unsigned kHeightLimit = 2000;
  /// Nesting of a core form, in which a chain of operators or of statements nests as well.
  static constexpr unsigned kCoreNestingLimit = 3000;

  /// With `onlyStructure` core forms are read as far as the grammar goes, which knows their
  /// brackets and tokens but not their heads; they leave nothing in the module.
  Parser(llvm::StringRef text, llvm::StringRef filename, mlir::MLIRContext *context,
         bool onlyStructure = false);

  /// Adds the items of the source to `module`, those with an error as `kina_surface.broken`;
  /// fails if there was one.
  llvm::LogicalResult parseModule(mlir::ModuleOp module);

private:
  /// An expression and the depth of its tree.
  struct Expr {
    mlir::Value value;
    unsigned height = 1;
    explicit operator bool() const { return bool(value); }
  };
  /// A parsed region and the depth of the deepest expression in it; null on failure.
  struct Body {
    std::unique_ptr<mlir::Region> region;
    unsigned height = 0;
  };
  /// `Tail` is the expression that ends a block.
  enum class StatementResult { Done, Tail, Failed };
  using Nodes = llvm::SmallVector<SyntaxAttr>;

  //===--- Tokens (Parser.cpp) ---------------------------------------------===//

  const Token &peek(unsigned ahead = 0);
  bool at(Tok kind) { return peek().is(kind); }
  bool at(Tok kind, unsigned ahead) { return peek(ahead).is(kind); }
  Token consume();
  bool accept(Tok kind);
  /// Lexes again from `offset`.
  void resetTo(uint32_t offset, bool noFloat = false);
  /// Takes `>`, splitting `>=` where it closes a list of arguments.
  bool acceptGreater();

  /// `where` completes "expected X <where>".
  bool expect(Tok kind, llvm::StringRef where = {});
  /// The closer of the innermost open bracket, which began at `opener`.
  bool expectClose(Tok kind, uint32_t opener, llvm::StringRef what, llvm::StringRef orElse = {});
  bool expectSemi(llvm::StringRef where);
  /// A name that is not reserved; empty text on failure.
  Token expectName(llvm::StringRef what);

  //===--- Locations and errors (Parser.cpp) --------------------------------===//

  mlir::Location location(uint32_t begin, uint32_t end);
  /// From `begin` to the end of the last consumed token.
  mlir::Location rangeFrom(uint32_t begin) { return location(begin, lastEnd); }
  std::pair<unsigned, unsigned> lineAndColumn(uint32_t offset);

  /// Counts an error at `offset`; false if nothing more is to be said there.
  bool mayReport(uint32_t offset);
  /// "expected <what>, found <token>", or what is wrong with the token itself.
  void errorExpected(const llvm::Twine &what);
  void errorExpected(const llvm::Twine &what, llvm::StringRef help);
  void error(uint32_t begin, uint32_t end, DiagCode code, const llvm::Twine &message,
             llvm::StringRef help = {});
  std::string describe(const Token &token);
  /// A hint for a familiar slip at the current token, or empty.
  llvm::StringRef slipHint(bool behindOperand);
  mlir::Location locationOf(const Token &token);
  void reportTokenProblem(const Token &token);
  /// Stops the whole parse.
  void fatal() { stopped = true; }
  void warnAboutComment();

  /// Skips to the end of the statement that began with `height` open brackets.
  void recover(size_t height);
  void recoverItem();
  bool startsItem();

  /// Counts nesting while it lives; test it before going on.
  class Nested {
  public:
    explicit Nested(Parser &parser);
    ~Nested() { --parser.nesting; }
    explicit operator bool() const { return ok; }

  private:
    Parser &parser;
    bool ok;
  };

  //===--- Static syntax (ParserSyntax.cpp) ----------------------------------===//

  SyntaxAttr node(SyntaxKind kind, llvm::StringRef text, llvm::ArrayRef<SyntaxAttr> children,
                  uint32_t begin);
  mlir::ArrayAttr array(llvm::ArrayRef<SyntaxAttr> nodes);
  /// Null instead of an empty array.
  mlir::ArrayAttr arrayOrNull(llvm::ArrayRef<SyntaxAttr> nodes);

  SyntaxAttr parseName(llvm::StringRef what);
  SyntaxAttr parseType();
  SyntaxAttr parseTypeOrRef();
  SyntaxAttr parseTensorType();
  SyntaxAttr parseNamedType();
  SyntaxAttr parseFnType();
  SyntaxAttr parseParenType();
  SyntaxAttr parsePlace();
  bool parseEffectRow(Nodes &effects);
  bool isTooLong(unsigned &chain);
  SyntaxAttr parseDim();
  SyntaxAttr parseDimTerm(SyntaxAttr first, uint32_t begin);
  SyntaxAttr parseDimFrom(SyntaxAttr first, uint32_t begin);
  SyntaxAttr parseDimAtom();
  bool atRelation();
  SyntaxAttr parseRelation(SyntaxAttr lhs, uint32_t begin);
  /// With `orDim` a dimension that is not compared is a result too, for `(dim)`.
  SyntaxAttr parsePred(bool orDim = false);
  SyntaxAttr parsePredAnd(bool orDim);
  SyntaxAttr parsePredNot(bool orDim);
  SyntaxAttr parsePredPrimary(bool orDim);
  /// One predicate or more, up to `closer` or `other` behind a trailing comma.
  bool parsePreds(Nodes &preds, Tok closer, Tok other = Tok::Eof);
  SyntaxAttr parsePattern();
  SyntaxAttr parseLiteral();
  bool parseDecorators(Nodes &decorators);
  SyntaxAttr parseParam();
  bool parseParams(Nodes &params);
  bool parseShapeVars(Nodes &vars);
  bool parseStates(Nodes &states, llvm::SmallVectorImpl<mlir::Value> &inits, bool mayBeEmpty,
                   unsigned &height);

  //===--- Expressions (ParserExpr.cpp) --------------------------------------===//

  template <typename OpTy, typename... Args>
  Expr make(uint32_t begin, unsigned height, Args &&...args) {
    auto op = OpTy::create(builder, rangeFrom(begin), ExprType::get(context),
                           std::forward<Args>(args)...);
    return checkHeight({op.getResult(), height}, begin);
  }
  /// The same for an op whose only region is `body`.
  template <typename OpTy, typename... Args>
  Expr makeWithBody(uint32_t begin, unsigned height, Body &body, Args &&...args) {
    auto op = OpTy::create(builder, rangeFrom(begin), ExprType::get(context),
                           std::forward<Args>(args)...);
    op->getRegion(0).takeBody(*body.region);
    return checkHeight({op.getResult(), height}, begin);
  }
  Expr checkHeight(Expr expr, uint32_t begin);

  Expr parseExpr(bool eqSign = false);
  Expr parseCons(bool eqSign);
  Expr parseOr(bool eqSign);
  Expr parseAnd(bool eqSign);
  Expr parseNot(bool eqSign);
  Expr parseComparison(bool eqSign);
  Expr parseSum();
  Expr parseProduct();
  Expr parseUnary();
  Expr parsePower();
  Expr parsePowerRight();
  Expr parseBang();
  Expr parsePostfix();
  Expr parsePrimary();
  Expr parseNumber();
  bool atLeastInteger();
  Expr makeLeastInteger(uint32_t begin);
  Expr parseParen();
  Expr parseList();
  Expr parsePerform();
  Expr parseFoldLeft();
  Expr parseFoldAtom();
  Expr parseFun(uint32_t opener);
  Expr parseFunBody();
  Expr parseSubscript();
  bool parseSubscripts(llvm::SmallVectorImpl<mlir::Value> &values, Tok closer, unsigned &height);
  bool parseArgs(llvm::SmallVectorImpl<mlir::Value> &args,
                 llvm::SmallVectorImpl<llvm::StringRef> &keywords, unsigned &height);
  mlir::ArrayAttr keywordArray(llvm::ArrayRef<llvm::StringRef> keywords);

  Expr parseCheckCondition();
  Expr parseCheckAnd();
  Expr parseCheckNot();
  Expr parseCheckPrimary();

  Expr parseIf();
  Expr parseWhile();
  Expr parseFor();
  Expr parseHandle();
  Expr parseLambda();
  Expr parseBlockExpr();

  //===--- Statements and items (ParserItems.cpp) ----------------------------===//

  /// Runs `build` with the block of a new region as insertion point; it ends the block.
  Body buildRegion(llvm::function_ref<bool()> build);
  /// The same with a yield of what `parse` gives.
  Body parseExprRegion(llvm::function_ref<Expr()> parse);
  /// `{ .. }`; `what` names it in messages.
  Body parseBlock(llvm::StringRef what);
  StatementResult parseStatement();
  bool parseLet(uint32_t begin, llvm::ArrayRef<SyntaxAttr> decorators);

  bool parseItem();
  /// Leaves `kina_surface.broken` in the place of an item that was not read.
  void markBroken(llvm::StringRef name);
  bool parseFn(uint32_t begin, llvm::ArrayRef<SyntaxAttr> decorators);
  bool parseGlobal(uint32_t begin, llvm::ArrayRef<SyntaxAttr> decorators);
  bool parseEffect();
  bool parseImport();
  bool parseTypeAlias();

  //===--- Core form (ParserCore.cpp) ----------------------------------------===//

  /// A form as its brackets show it, not looked into yet.
  struct CoreNode {
    /// The leaf, or the opening bracket.
    Token token;
    uint32_t end = 0;
    std::vector<CoreNode> children;

    bool isList() const { return token.is(Tok::LParen); }
    bool isBracket() const { return token.is(Tok::LSquare); }
    bool isSymbol(llvm::StringRef text) const {
      return token.is(Tok::CoreSymbol) && token.text == text;
    }
    bool hasHead(llvm::StringRef text) const {
      return isList() && !children.empty() && children[0].isSymbol(text);
    }
    llvm::ArrayRef<CoreNode> parts() const {
      return llvm::ArrayRef<CoreNode>(children).drop_front();
    }
  };
  /// A head of CoreForms.def: how often parts stand behind it, how it is written.
  struct CoreForm {
    llvm::StringRef head;
    unsigned least, most;
    llvm::StringRef usage;
    Expr (Parser::*expr)(const CoreNode &);
    bool (Parser::*other)(const CoreNode &, llvm::ArrayRef<SyntaxAttr>);
  };
  static llvm::ArrayRef<CoreForm> coreItems();
  static llvm::ArrayRef<CoreForm> coreStatements();
  static llvm::ArrayRef<CoreForm> coreExprs();

  bool parseCore();
  bool readCoreNode(Token token, CoreNode &node, uint32_t &offset, uint32_t &commentParen,
                    unsigned depth, bool native);

  std::string describe(const CoreNode &node);
  void coreError(const CoreNode &node, DiagCode code, const llvm::Twine &message,
                 llvm::StringRef help = {});
  void coreExpected(const CoreNode &node, const llvm::Twine &what, llvm::StringRef help = {});
  const CoreForm *findForm(llvm::ArrayRef<CoreForm> forms, const CoreNode &node);
  bool checkParts(const CoreForm &form, const CoreNode &node);
  Expr unknownHead(const CoreNode &node, llvm::StringRef what,
                   llvm::ArrayRef<llvm::ArrayRef<CoreForm>> tables);

  /// Runs `parse` on the native text of a symbol, a string or what stands in brackets, and
  /// makes sure that it takes all of it.
  template <typename ParseFn>
  auto inNative(const CoreNode &node, ParseFn parse) -> decltype(parse());
  SyntaxAttr coreNode(SyntaxKind kind, llvm::StringRef text, llvm::ArrayRef<SyntaxAttr> children,
                      const CoreNode &at);
  llvm::StringRef coreName(const CoreNode &node, llvm::StringRef what);
  SyntaxAttr coreNameSyntax(const CoreNode &node, llvm::StringRef what);
  SyntaxAttr coreType(const CoreNode &node, bool orRef = false);
  SyntaxAttr corePred(const CoreNode &node);
  SyntaxAttr corePattern(const CoreNode &node);
  SyntaxAttr coreParam(const CoreNode &node);
  SyntaxAttr coreShapeVar(const CoreNode &node);
  llvm::StringRef keyOf(const CoreNode &keyword);
  bool refuseDecorators(const CoreNode &form, llvm::ArrayRef<SyntaxAttr> decorators);
  bool refuseItemDecorators(const CoreNode &form, llvm::ArrayRef<SyntaxAttr> decorators);
  Expr coreCondition(const CoreNode &node);
  Expr coreConditionPart(const CoreNode &node, unsigned level);
  Expr coreBlockOf(const CoreNode &form, Body body);
  Expr annotate(const CoreNode &form, SyntaxAttr type, llvm::function_ref<Expr()> build);
  bool coreDecorators(const CoreNode &attr, Nodes &decorators);
  bool coreStates(const CoreNode &list, Nodes &states, llvm::SmallVectorImpl<mlir::Value> &inits,
                  unsigned &height);
  /// The expression of a binding, its type apart if it is `(annot e T)`.
  Expr coreBound(const CoreNode &node, SyntaxAttr &type);

  Body coreExprRegion(const CoreNode &node);
  Body coreBodyRegion(const CoreNode &node);
  bool coreBody(const CoreNode &node);
  bool coreLetParts(const CoreNode &node);
  bool coreStatement(const CoreNode &node, llvm::ArrayRef<SyntaxAttr> decorators = {});
  bool coreItem(const CoreNode &node, llvm::ArrayRef<SyntaxAttr> decorators = {});
  Expr coreExpr(const CoreNode &node);
  Expr coreLeaf(const CoreNode &node);
  Expr coreArg(const CoreNode &node);
  Expr coreSubscript(const CoreNode &node);
  bool coreArgs(llvm::ArrayRef<CoreNode> parts, llvm::SmallVectorImpl<mlir::Value> &args,
                llvm::SmallVectorImpl<llvm::StringRef> &keywords, unsigned &height);
  bool coreSubst(const CoreNode &subst, llvm::SmallVectorImpl<mlir::Value> &args,
                 llvm::SmallVectorImpl<llvm::StringRef> &keywords, SyntaxAttr &typeArgument,
                 unsigned &height);
  Expr coreCallOf(const CoreNode &form, Expr callee, llvm::ArrayRef<CoreNode> parts);
  Expr coreNamed(const CoreNode &form, llvm::StringRef operation);
  Expr coreUnary(const CoreNode &form, UnaryKind kind);
  Expr coreDerivative(const CoreNode &form, llvm::StringRef operation);
  Expr coreList(const CoreNode &form, llvm::ArrayRef<CoreNode> elements);
  Expr dimValue(SyntaxAttr dim);
#define KINA_CORE_ITEM(head, Method, least, most, usage)                                      \
  bool core##Method(const CoreNode &form, llvm::ArrayRef<SyntaxAttr> decorators);
#define KINA_CORE_STATEMENT(head, Method, least, most, usage)                                 \
  bool core##Method(const CoreNode &form, llvm::ArrayRef<SyntaxAttr> decorators);
#define KINA_CORE_EXPR(head, Method, least, most, usage) Expr core##Method(const CoreNode &form);
#include "CoreForms.def"

  //===--- State -------------------------------------------------------------===//

  Lexer lexer;
  mlir::MLIRContext *context;
  mlir::StringAttr filename;
  mlir::OpBuilder builder;
  bool onlyStructure;
  llvm::SmallVector<uint32_t> lineStarts;

  llvm::SmallVector<Token, 4> lookahead;
  uint32_t lexOffset = 0;
  uint32_t lastEnd = 0;
  Tok lastKind = Tok::Eof;
  /// The open brackets at this point, outermost first.
  llvm::SmallVector<Token> open;

  /// Of the item that is being parsed, as far as it was read.
  llvm::StringRef itemName;
  unsigned nesting = 0;
  /// The deepest expression of the region that is being parsed.
  unsigned maxHeight = 0;
  unsigned errors = 0;
  uint32_t lastError = ~0u;
  /// The last comment that may be a division.
  uint32_t doubtful = 0;
  bool stopped = false;
  /// Inside the condition of a check, where `(a + b = c)` is an equation.
  bool inCheck = false;
  /// `parseComparison` took `=`: the levels above give up the expression at once.
  bool tookEqSign = false;
  /// The column at which the current item begins.
  unsigned itemColumn = 1;
  /// An item began inside a block that was not closed.
  bool leaveBlocks = false;
};

} // namespace kina::surface

#endif
