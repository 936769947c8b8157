//===- Lexer.cpp - Tokens of the native form and of the core form ---------===//

#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace kina::surface;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Classes of characters
//===----------------------------------------------------------------------===//

static bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isWord(char c) { return llvm::isAlnum(c) || c == '_'; }
static bool isAscii(char c) { return (unsigned char)c < 0x80; }

StringRef kina::surface::spelling(Tok kind) {
  switch (kind) {
  case Tok::Eof:
    return "the end of the file";
  case Tok::UnknownChar:
    return "an unknown character";
  case Tok::OpenString:
    return "an unfinished string";
  case Tok::Ident:
    return "a name";
  case Tok::DType:
    return "an element type";
  case Tok::Int:
    return "an integer";
  case Tok::Float:
    return "a float";
  case Tok::String:
    return "a string";
  case Tok::CoreSymbol:
    return "a symbol";
  case Tok::CoreKeyword:
    return "a keyword";
#define KINA_KEYWORD(name, text)                                                              \
  case Tok::name:                                                                             \
    return text;
#define KINA_PUNCT(name, text)                                                                \
  case Tok::name:                                                                             \
    return text;
#include "Tokens.def"
  }
  return "";
}

bool kina::surface::isReserved(Tok kind) {
  return kind == Tok::DType || (kind >= Tok::KwFn && kind <= Tok::KwFalse);
}

//===----------------------------------------------------------------------===//
// Native tokens
//===----------------------------------------------------------------------===//

Token Lexer::make(Tok kind, uint32_t begin, uint32_t end) const {
  Token token;
  token.kind = kind;
  token.begin = begin;
  token.end = end;
  token.text = text.slice(begin, end);
  return token;
}

Token Lexer::lexUnknown(uint32_t begin, uint32_t from) const {
  // The whole word, so that one mistake is one error.
  uint32_t end = from;
  while (end < text.size() && (isWord(text[end]) || !isAscii(text[end])))
    ++end;
  if (end == from)
    ++end;
  return make(Tok::UnknownChar, begin, end);
}

/// `ID < ID > (`, the identifier ending at `offset`: the only place where a comparison
/// and a type argument could be confused, and it always is the latter.
bool Lexer::isGenericCall(uint32_t offset) const {
  auto skip = [&] {
    while (isSpace(at(offset)))
      ++offset;
  };
  auto take = [&](char c) {
    skip();
    return at(offset) == c ? (++offset, true) : false;
  };
  if (!take('<'))
    return false;
  skip();
  if (!isWordStart(at(offset)))
    return false;
  while (isWord(at(offset)))
    ++offset;
  return take('>') && take('(');
}

Token Lexer::lexWord(uint32_t begin) const {
  uint32_t end = begin + 1;
  while (isWord(at(end)))
    ++end;
  if (!isAscii(at(end)))
    return lexUnknown(begin, end);
  StringRef word = text.slice(begin, end);
  Tok kind = llvm::StringSwitch<Tok>(word)
#define KINA_KEYWORD(name, text) .Case(text, Tok::name)
#include "Tokens.def"
                 .Cases({"F64", "F32", "F16", "BF16", "I64", "I32", "I8", "U8", "Bool"}, Tok::DType)
                 .Default(Tok::Ident);
  Token token = make(kind, begin, end);
  token.generic = kind == Tok::Ident && isGenericCall(end);
  return token;
}

Token Lexer::lexNumber(uint32_t begin, bool noFloat) const {
  auto digits = [&](uint32_t from) {
    while (llvm::isDigit(at(from)))
      ++from;
    return from;
  };
  auto exponent = [&](uint32_t from) {
    if (at(from) != 'e' && at(from) != 'E')
      return from;
    uint32_t sign = from + 1;
    if (at(sign) == '+' || at(sign) == '-')
      ++sign;
    return llvm::isDigit(at(sign)) ? digits(sign) : from;
  };
  uint32_t whole = digits(begin);
  if (noFloat)
    return make(Tok::Int, begin, whole);
  uint32_t end = whole;
  if (at(end) == '.' && llvm::isDigit(at(end + 1)))
    end = digits(end + 1);
  end = exponent(end);
  return make(end == whole ? Tok::Int : Tok::Float, begin, end);
}

Token Lexer::lexString(uint32_t begin) const {
  uint32_t end = begin + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n')
    ++end;
  if (at(end) != '"')
    return make(Tok::OpenString, begin, end);
  Token token = make(Tok::String, begin, end + 1);
  token.text = text.slice(begin + 1, end);
  return token;
}

Token Lexer::lexNative(uint32_t offset, bool noFloat) const {
  uint32_t comment = Token::kNoComment;
  bool newLine = offset == 0;
  while (offset < text.size()) {
    char c = text[offset];
    if (isSpace(c)) {
      newLine |= c == '\n';
      ++offset;
      continue;
    }
    if (inCore ? c != ';' : c != '/' || at(offset + 1) != '/')
      break;
    size_t end = std::min(text.find('\n', offset), text.size());
    if (!inCore && !newLine && !text.slice(offset + 2, end).trim().empty())
      comment = offset;
    offset = end;
  }

  Token token;
  char c = at(offset);
  if (offset >= text.size()) {
    token = make(Tok::Eof, text.size(), text.size());
  } else if (isWordStart(c)) {
    token = lexWord(offset);
  } else if (llvm::isDigit(c)) {
    token = lexNumber(offset, noFloat);
  } else if (c == '"') {
    token = lexString(offset);
  } else {
    StringRef rest = text.drop_front(offset);
    token = make(Tok::UnknownChar, offset, offset);
#define KINA_PUNCT(name, spelled)                                                             \
  if (token.end == offset && rest.starts_with(spelled))                                       \
    token = make(Tok::name, offset, offset + sizeof(spelled) - 1);
#include "Tokens.def"
    if (token.end == offset)
      token = lexUnknown(offset, offset);
  }
  token.comment = comment;
  token.startsLine = newLine;
  return token;
}

//===----------------------------------------------------------------------===//
// Tokens of the core form
//===----------------------------------------------------------------------===//

Token Lexer::lexCore(uint32_t offset, uint32_t &commentParen) const {
  while (offset < text.size()) {
    if (isSpace(text[offset])) {
      ++offset;
      continue;
    }
    if (text[offset] != ';')
      break;
    size_t end = std::min(text.find('\n', offset), text.size());
    if (commentParen == Token::kNoComment && text.slice(offset, end).contains(')'))
      commentParen = offset;
    offset = end;
  }
  if (offset >= text.size())
    return make(Tok::Eof, text.size(), text.size());
  switch (text[offset]) {
  case '(':
    return make(Tok::LParen, offset, offset + 1);
  case ')':
    return make(Tok::RParen, offset, offset + 1);
  case '[':
    return make(Tok::LSquare, offset, offset + 1);
  case ']':
    return make(Tok::RSquare, offset, offset + 1);
  case '"':
    return lexString(offset);
  case ':': {
    uint32_t end = offset + 1;
    if (!isWordStart(at(end)))
      return make(Tok::UnknownChar, offset, end);
    while (isWord(at(end)) || at(end) == '-')
      ++end;
    Token token = make(Tok::CoreKeyword, offset, end);
    token.text = text.slice(offset + 1, end);
    return token;
  }
  default:
    uint32_t end = offset;
    while (end < text.size() && !isSpace(text[end]) && !StringRef("()[]\";:").contains(text[end]))
      ++end;
    return make(Tok::CoreSymbol, offset, end);
  }
}
