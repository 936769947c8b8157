//===- Parser.cpp - Tokens, errors and recovery of the parser -------------===//

#include "Parser.h"

#include "Kina/Support/DiagnosticPrinter.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

Parser::Parser(StringRef text, StringRef filename, MLIRContext *context, bool onlyStructure)
    : lexer(text), context(context), filename(StringAttr::get(context, filename)),
      builder(context), onlyStructure(onlyStructure) {
  lineStarts.push_back(0);
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

const Token &Parser::peek(unsigned ahead) {
  static const Token eof;
  if (stopped)
    return eof;
  while (lookahead.size() <= ahead) {
    lookahead.push_back(lexer.lexNative(lexOffset));
    lexOffset = lookahead.back().end;
  }
  return lookahead[ahead];
}

static Tok closerOf(Tok opener) {
  switch (opener) {
  case Tok::LParen:
    return Tok::RParen;
  case Tok::LSquare:
    return Tok::RSquare;
  default:
    return Tok::RBrace;
  }
}

static bool isOpener(Tok kind) {
  return kind == Tok::LParen || kind == Tok::LSquare || kind == Tok::LBrace;
}

static bool isCloser(Tok kind) {
  return kind == Tok::RParen || kind == Tok::RSquare || kind == Tok::RBrace;
}

Token Parser::consume() {
  Token token = peek();
  if (stopped)
    return token;
  lookahead.erase(lookahead.begin());
  lastEnd = token.end;
  lastKind = token.kind;
  if (isOpener(token.kind)) {
    open.push_back(token);
  } else if (isCloser(token.kind)) {
    // A closer ends the nearest bracket of its kind; what stands open inside of it was
    // reported already.
    for (size_t i = open.size(); i > 0; --i)
      if (closerOf(open[i - 1].kind) == token.kind) {
        open.truncate(i - 1);
        break;
      }
  }
  return token;
}

bool Parser::accept(Tok kind) {
  if (!at(kind))
    return false;
  consume();
  return true;
}

void Parser::resetTo(uint32_t offset, bool noFloat) {
  if (stopped)
    return;
  lookahead.clear();
  lookahead.push_back(lexer.lexNative(offset, noFloat));
  lexOffset = lookahead.back().end;
}

bool Parser::acceptGreater() {
  if (at(Tok::GreaterEq)) {
    uint32_t middle = peek().begin + 1;
    resetTo(middle);
    lastEnd = middle;
    lastKind = Tok::Greater;
    return true;
  }
  return accept(Tok::Greater);
}

bool Parser::expect(Tok kind, StringRef where) {
  if (accept(kind))
    return true;
  errorExpected("'" + spelling(kind) + "'" + where);
  return false;
}

bool Parser::expectClose(Tok kind, uint32_t opener, StringRef what, StringRef orElse) {
  if (accept(kind))
    return true;
  const Token &found = peek();
  // What can't stand inside brackets says that the bracket was forgotten; anything else
  // says that the text before the closer is wrong.
  bool forgotten = isCloser(found.kind) || startsItem() ||
                   (kind == Tok::RBrace && found.is(Tok::Greater)) ||
                   llvm::is_contained({Tok::Eof, Tok::Semi, Tok::LBrace, Tok::Arrow, Tok::FatArrow,
                                       Tok::Assign, Tok::KwLet, Tok::KwElse, Tok::KwRequires,
                                       Tok::KwWith, Tok::KwAssume, Tok::KwCheck},
                                      found.kind);
  if (found.is(Tok::UnknownChar) || found.is(Tok::OpenString)) {
    reportTokenProblem(found);
    return false;
  }
  StringRef help = kind == Tok::RBrace ? StringRef() : slipHint(/*behindOperand=*/true);
  if (!mayReport(found.begin))
    return false;
  InFlightDiagnostic diag =
      forgotten
          ? emitError(locationOf(found), DiagCode::K0101)
                << "expected '" << spelling(kind) << "' to close this " << what << ", found "
                << describe(found)
          : emitError(locationOf(found), DiagCode::K0104)
                << "expected " << orElse << "'" << spelling(kind) << "', found " << describe(found);
  diag.attachNote(location(opener, opener + 1)) << "opened here";
  // A comment that was meant to be a division may hold the closer.
  if (doubtful > opener && doubtful < found.begin) {
    StringRef comment = lexer.getText().slice(doubtful, lexer.getText().find('\n', doubtful));
    if (comment.contains(spelling(kind)))
      diag.attachNote(location(doubtful, doubtful + 2)) << "what stands behind this is a comment";
  }
  if (!help.empty())
    attachHelp(diag) << help;
  return false;
}

/// Whether an expression goes on with it behind an operand. Parentheses and brackets do, too, but a
/// statement begins with them as well.
static bool isOperator(const Token &token) {
  return llvm::is_contained({Tok::Cons, Tok::EqEq, Tok::NotEq, Tok::Less, Tok::LessEq, Tok::Greater,
                             Tok::GreaterEq, Tok::AndAnd, Tok::OrOr, Tok::StarStar, Tok::Dot, Tok::At,
                             Tok::Plus, Tok::Minus, Tok::Star, Tok::Slash, Tok::Percent, Tok::KwAnd,
                             Tok::KwOr, Tok::KwMod, Tok::KwFloorDiv, Tok::KwCeilDiv},
                            token.kind);
}

bool Parser::expectSemi(StringRef where) {
  if (accept(Tok::Semi))
    return true;
  const Token &found = peek();
  if (found.is(Tok::UnknownChar) || found.is(Tok::OpenString)) {
    reportTokenProblem(found);
    return false;
  }
  StringRef help = slipHint(/*behindOperand=*/true);
  if (found.is(Tok::Equal))
    help = lastKind == Tok::RSquare
               ? "a tensor is not assigned to: bind a new one, `let x = update(x, [i], 1.0);`, or carry it as a loop state"
               : "there is no assignment: bind a new value, `let y = 1.0;`, carry it as a loop state, or assign to a "
                 "ref, `c := 1.0;`";
  bool forgotten = help.empty() && lastKind == Tok::RBrace && !isOperator(found);
  if (help.empty() && lastKind == Tok::RBrace)
    help = forgotten ? "a statement keeps its ';' after '}'"
                     : "an `if`, a loop or a block is no operand: parenthesise it to go on behind it";
  // The place where the ';' belongs, unless the text goes on behind it on the same line.
  bool behind = forgotten || found.startsLine || found.is(Tok::Eof) || found.is(Tok::RBrace);
  uint32_t begin = behind ? lastEnd : found.begin;
  uint32_t end = behind ? lastEnd + 1 : found.end;
  if (!mayReport(found.begin))
    return false;
  InFlightDiagnostic diag = emitError(location(begin, end), DiagCode::K0104)
                            << "expected ';' " << where << ", found " << describe(found);
  if (found.comment != Token::kNoComment && found.comment == doubtful)
    diag.attachNote(location(doubtful, doubtful + 2)) << "what stands behind this is a comment";
  if (!help.empty())
    attachHelp(diag) << help;
  return false;
}

Token Parser::expectName(StringRef what) {
  if (at(Tok::Ident))
    return consume();
  const Token &found = peek();
  if (isReserved(found.kind)) {
    error(found.begin, found.end, DiagCode::K0105,
          "'" + found.text + "' is a reserved word and cannot be " + what);
    return {};
  }
  errorExpected(what);
  return {};
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

std::pair<unsigned, unsigned> Parser::lineAndColumn(uint32_t offset) {
  auto next = llvm::upper_bound(lineStarts, offset);
  unsigned line = next - lineStarts.begin();
  return {line, offset - lineStarts[line - 1] + 1};
}

Location Parser::location(uint32_t begin, uint32_t end) {
  auto [line, column] = lineAndColumn(begin);
  auto [endLine, endColumn] = lineAndColumn(std::max(begin, end));
  if (line == endLine)
    return FileLineColRange::get(filename, line, column, endColumn);
  return FileLineColRange::get(filename, line, column, endLine, endColumn);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool Parser::mayReport(uint32_t offset) {
  if (stopped || offset == lastError)
    return false;
  lastError = offset;
  // The first error that is not shown is reported, so that whoever prints knows of it.
  if (++errors > kErrorLimit)
    fatal();
  return true;
}

void Parser::error(uint32_t begin, uint32_t end, DiagCode code, const Twine &message,
                   StringRef help) {
  if (!mayReport(begin))
    return;
  InFlightDiagnostic diag = emitError(location(begin, end), code, message);
  if (!help.empty())
    attachHelp(diag) << help;
}

std::string Parser::describe(const Token &token) {
  if (token.is(Tok::Eof))
    return "the end of the file";
  if (token.is(Tok::String))
    return "a string";
  // A long word would drown the message.
  if (token.text.size() > 40)
    return ("'" + token.text.take_front(37) + "...'").str();
  return ("'" + token.text + "'").str();
}

void Parser::reportTokenProblem(const Token &token) {
  if (token.is(Tok::OpenString)) {
    error(token.begin, token.end, DiagCode::K0108, "this string is not closed on its line");
    return;
  }
  StringRef text = token.text;
  size_t at = text.find_if([](char c) { return (unsigned char)c >= 0x80; });
  if (at == StringRef::npos) {
    StringRef help = llvm::StringSwitch<StringRef>(text)
                         .Case("'", "strings stand in double quotes")
                         .Case("#", "a comment begins with '//'")
                         .Case("^", "the power of x is `x ** n`")
                         .Case("~", "negation is `not x`")
                         .Case("?", "a choice is `if (c) { a } else { b }`")
                         .Default("");
    std::string shown = (unsigned char)text[0] < 0x20 || text[0] == 0x7F
                            ? llvm::formatv("{0:x2}", unsigned((unsigned char)text[0])).str()
                            : ("'" + text.take_front(1) + "'").str();
    error(token.begin, token.begin + 1, DiagCode::K0103, "unknown character " + shown, help);
    return;
  }
  size_t end = at + 1;
  while (end < text.size() && ((unsigned char)text[end] & 0xC0) == 0x80)
    ++end;
  std::string message = ("unknown character '" + text.slice(at, end) + "'").str();
  if (text.size() > end - at && text.size() <= 40)
    message += (" in identifier '" + text + "'").str();
  error(token.begin + at, token.begin + end, DiagCode::K0103, message,
        "names are made of the letters a to z, digits and '_'");
}

/// Behind an operand a relation or `=` is a slip of its own; before one only what no
/// operand begins with.
StringRef Parser::slipHint(bool behindOperand) {
  const Token &found = peek();
  switch (found.kind) {
  case Tok::Ident:
    if (behindOperand && lastKind == Tok::RBrace && (found.text == "elif" || found.text == "elsif"))
      return "a second condition is `else if (..) { .. }`";
    return {};
  case Tok::Plus:
    if (!behindOperand && lastKind == Tok::Plus && found.begin == lastEnd)
      return "there is no `++`: bind a new value, `let y = x + 1;`, or carry it as a loop state";
    return {};
  case Tok::DotDot:
    return behindOperand ? "" : "there is no `...`: an axis is taken whole by `:`, and axes at the end may be left out";
  case Tok::Cons:
    return behindOperand ? "" : "a slice `a:b` has no step";
  case Tok::Colon:
    if (behindOperand && !open.empty() && open.back().is(Tok::LSquare))
      return "a slice `a:b` has no step";
    return {};
  case Tok::Equal:
    if (behindOperand)
      return "comparison is `==`; a ref is assigned with `:=`";
    if (found.begin == lastEnd && llvm::is_contained({Tok::Plus, Tok::Minus, Tok::Star, Tok::Slash,
                                                      Tok::At, Tok::Percent},
                                                     lastKind))
      return "there is no compound assignment: bind a new value, `let y = x + 1.0;`, carry it "
             "as a loop state, or assign to a ref, `c := !c + 1.0;`";
    return {};
  case Tok::Greater:
    if (behindOperand && lastKind == Tok::Int && at(Tok::LParen, 1))
      return "a size is no type: it is given by keyword, `f(.., N=3)`";
    [[fallthrough]];
  case Tok::EqEq:
  case Tok::NotEq:
  case Tok::Less:
  case Tok::LessEq:
  case Tok::GreaterEq:
    return behindOperand ? "comparisons do not chain: write `a < b and b < c`" : "";
  case Tok::KwReturn:
    return "the value of a block is its last expression; there is no `return` statement";
  case Tok::Dot:
    if (at(Tok::Int, 1) && peek(1).begin == found.end)
      return "a float has digits on both sides of its dot: `0.5`";
    return {};
  default:
    return {};
  }
}

/// What an error at `token` underlines: at the end of the file the last line of text.
Location Parser::locationOf(const Token &token) {
  if (token.is(Tok::Eof) && lastEnd > 0)
    return location(lastEnd, lastEnd + 1);
  return location(token.begin, token.end);
}

void Parser::errorExpected(const Twine &what) { errorExpected(what, {}); }

void Parser::errorExpected(const Twine &what, StringRef help) {
  const Token &found = peek();
  if (found.is(Tok::UnknownChar) || found.is(Tok::OpenString))
    return reportTokenProblem(found);
  if (help.empty())
    help = slipHint(/*behindOperand=*/false);
  if (!mayReport(found.begin))
    return;
  InFlightDiagnostic diag = emitError(locationOf(found), DiagCode::K0104)
                            << "expected " << what << ", found " << describe(found);
  if (!help.empty())
    attachHelp(diag) << help;
}

void Parser::warnAboutComment() {
  const Token &next = peek();
  if (next.comment == Token::kNoComment)
    return;
  StringRef text = lexer.getText();
  size_t end = std::min(text.find('\n', next.comment), text.size());
  StringRef comment = text.slice(next.comment + 2, end).trim();
  // Two words in a row are prose, not an operand.
  bool lastWord = false;
  SmallVector<StringRef> words;
  llvm::SplitString(comment, words, " \t");
  for (StringRef word : words) {
    bool isWord = llvm::isAlpha(word.front()) && llvm::all_of(word, [](char c) {
                    return llvm::isAlnum(c) || c == '_';
                  });
    if (isWord && lastWord)
      return;
    lastWord = isWord;
  }
  doubtful = next.comment;
  InFlightDiagnostic diag =
      emitWarning(location(next.comment, next.comment + 2), DiagCode::K0109,
                  "'//' starts a comment; the text behind it is not read");
  attachHelp(diag) << "integer division is `/`; if this is a comment, put it behind a ';' or on "
                      "a line of its own";
}

Parser::Nested::Nested(Parser &parser)
    : parser(parser), ok(++parser.nesting <= kNestingLimit) {
  if (ok)
    return;
  const Token &at = parser.peek();
  parser.error(at.begin, at.end, DiagCode::K0107,
               "nested more than " + Twine(kNestingLimit) + " levels deep");
  parser.fatal();
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

/// Whether an item begins here. A function counts only at the start of a line and not
/// further in than the item around it; else it is an attempt to nest functions.
bool Parser::startsItem() {
  switch (peek().kind) {
  case Tok::KwFn:
    return at(Tok::Ident, 1) && peek().startsLine &&
           lineAndColumn(peek().begin).second <= itemColumn;
  case Tok::KwEffect:
  case Tok::KwImport:
  case Tok::KwType:
    return true;
  default:
    return false;
  }
}

void Parser::recover(size_t height) {
  while (!at(Tok::Eof)) {
    if (startsItem()) {
      leaveBlocks = true;
      return;
    }
    // A ';' can only be inside braces: brackets that stand open around it were forgotten.
    bool braced = false;
    for (size_t i = height; i < open.size(); ++i)
      braced |= open[i].is(Tok::LBrace);
    if (!braced && at(Tok::Semi)) {
      open.truncate(std::min(open.size(), height));
      consume();
      return;
    }
    if (!braced && at(Tok::RBrace)) {
      open.truncate(std::min(open.size(), height));
      return;
    }
    // A stray closer must not close what is open around the statement.
    SmallVector<Token> outer(open.begin(), open.begin() + std::min(open.size(), height));
    consume();
    if (open.size() < outer.size())
      open = outer;
  }
}

void Parser::recoverItem() {
  leaveBlocks = false;
  while (!at(Tok::Eof)) {
    if (startsItem() || (open.empty() && at(Tok::KwFn) && at(Tok::Ident, 1)))
      break;
    if (open.empty() && (at(Tok::KwLet) || (at(Tok::At) && peek().startsLine)))
      break;
    if (open.empty() && at(Tok::LParen) && peek().startsLine &&
        lineAndColumn(peek().begin).second <= itemColumn)
      break;
    bool braced = llvm::any_of(open, [](const Token &t) { return t.is(Tok::LBrace); });
    Tok kind = consume().kind;
    if ((kind == Tok::Semi && !braced) ||
        (kind == Tok::RBrace && braced &&
         llvm::none_of(open, [](const Token &t) { return t.is(Tok::LBrace); })))
      break;
  }
  open.clear();
}
