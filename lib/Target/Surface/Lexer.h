//===- Lexer.h - Tokens of the native form and of the core form -*- C++ -*-===//
//
// The lexer works on demand from a byte offset, so that the parser can read the same
// text again under other rules: `t.1.0` has integers where `1.0` would be a float, the
// `>=` of `tensor<F64, [N]>= x` is a `>` and a `=`, and a core form has its own tokens.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TARGET_SURFACE_LEXER_H
#define KINA_LIB_TARGET_SURFACE_LEXER_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace kina::surface {

enum class Tok : uint8_t {
  Eof,
  // Text that is no token.
  UnknownChar,
  OpenString,
  // With text.
  Ident,
  DType,
  Int,
  Float,
  String,
// Reserved words and punctuation.
#define KINA_KEYWORD(name, text) name,
#define KINA_PUNCT(name, text) name,
#include "Tokens.def"
  // Of the core form only.
  CoreSymbol,
  CoreKeyword,
};

/// How a token is written, for messages; the class of token for those with text.
llvm::StringRef spelling(Tok kind);
bool isReserved(Tok kind);

struct Token {
  Tok kind = Tok::Eof;
  llvm::StringRef text;
  /// Offset of the first byte.
  uint32_t begin = 0;
  /// Offset behind the last byte.
  uint32_t end = 0;
  /// Offset of a `//` between the token before and this one on the former's line, with
  /// text behind it; else kNoComment.
  uint32_t comment = kNoComment;
  /// A type argument and a call follow this identifier: `ID < ID > (`.
  bool generic = false;
  /// First token of its line.
  bool startsLine = false;

  static constexpr uint32_t kNoComment = ~0u;
  bool is(Tok other) const { return kind == other; }
};

class Lexer {
public:
  /// `inCore`: native text inside the brackets of a core form, where `;` begins a comment
  /// and `//` does not.
  explicit Lexer(llvm::StringRef text, bool inCore = false) : text(text), inCore(inCore) {}

  /// The native token at or behind `offset`. With `noFloat` digits are an integer,
  /// whatever follows.
  Token lexNative(uint32_t offset, bool noFloat = false) const;

  /// The core form's token at or behind `offset`; `;` comments are skipped, and
  /// `commentParen` is set to the first one with a `)` in it, if it is unset.
  Token lexCore(uint32_t offset, uint32_t &commentParen) const;

  llvm::StringRef getText() const { return text; }

private:
  Token make(Tok kind, uint32_t begin, uint32_t end) const;
  Token lexWord(uint32_t begin) const;
  Token lexNumber(uint32_t begin, bool noFloat) const;
  Token lexString(uint32_t begin) const;
  Token lexUnknown(uint32_t begin, uint32_t from) const;
  bool isGenericCall(uint32_t offset) const;
  char at(uint32_t offset) const { return offset < text.size() ? text[offset] : '\0'; }

  llvm::StringRef text;
  bool inCore;
};

} // namespace kina::surface

#endif
