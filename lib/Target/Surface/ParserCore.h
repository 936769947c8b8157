//===- ParserCore.h - Native text inside of a core form --------*- C++ -*-===//

#ifndef KINA_LIB_TARGET_SURFACE_PARSERCORE_H
#define KINA_LIB_TARGET_SURFACE_PARSERCORE_H

#include "Parser.h"

#include "llvm/Support/SaveAndRestore.h"

namespace kina::surface {

template <typename ParseFn>
auto Parser::inNative(const CoreNode &form, ParseFn parse) -> decltype(parse()) {
  bool bracket = form.isBracket();
  // The text ends with the form, so that no recovery runs on behind it.
  llvm::SaveAndRestore bounded(
      lexer, Lexer(lexer.getText().take_front(form.end), /*inCore=*/true));
  llvm::SaveAndRestore noBrackets(open, llvm::SmallVector<Token>());
  llvm::SaveAndRestore outerIndent(itemColumn, itemColumn);
  lastEnd = bracket ? form.token.begin + 1 : form.token.begin;
  resetTo(lastEnd);
  auto result = parse();
  if (result && !at(bracket ? Tok::RSquare : Tok::Eof)) {
    if (bracket)
      errorExpected("']'");
    else
      error(peek().begin, form.end, DiagCode::K0117,
            "unexpected '" + lexer.getText().slice(peek().begin, form.end) + "' in '" +
                form.token.text.take_front(40) + "'");
    result = {};
  }
  lookahead.clear();
  lexOffset = form.end;
  lastEnd = form.end;
  return result;
}

} // namespace kina::surface

#endif
