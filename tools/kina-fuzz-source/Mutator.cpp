//===- Mutator.cpp - Wrong programs from right ones -----------------------===//

#include "Mutator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace kina;
using llvm::StringRef;

namespace {

bool isWord(char c) { return llvm::isAlnum(c) || c == '_'; }
bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// A token with the space and the comments before it.
struct Token {
  std::string space, text;

  bool isOpener() const { return text == "(" || text == "[" || text == "{"; }
  bool isCloser() const { return text == ")" || text == "]" || text == "}"; }
  bool isSeparator() const { return text == "," || text == ";"; }
  bool isNumber() const { return llvm::isDigit(text[0]); }
  bool isName() const { return isWord(text.back()) && !isNumber(); }
};

/// What is left behind the last token has no text.
std::vector<Token> tokenize(StringRef text) {
  std::vector<Token> tokens;
  size_t at = 0;
  auto run = [&](llvm::function_ref<bool(char)> member) {
    while (at < text.size() && member(text[at]))
      ++at;
  };
  while (true) {
    size_t begin = at;
    while (at < text.size() && (isSpace(text[at]) || text.substr(at).starts_with("//")))
      if (isSpace(text[at]))
        ++at;
      else
        run([](char c) { return c != '\n'; });
    size_t from = at;
    if (at < text.size()) {
      char c = text[at++];
      bool sigil = StringRef("%!@#^").contains(c) && at < text.size() && isWord(text[at]);
      if (llvm::isDigit(c))
        run([&](char d) { return isWord(d) || (d == '.' && at + 1 < text.size() && llvm::isDigit(text[at + 1])); });
      else if (isWord(c))
        run(isWord);
      else if (sigil)
        run([](char d) { return isWord(d) || d == '.'; });
      else if (c == '"') {
        run([](char d) { return d != '"' && d != '\n'; });
        at += at < text.size();
      } else if (at < text.size() &&
                 llvm::is_contained({"->", "=>", ":=", "::", "==", "!=", "<=", ">=", "&&", "||", "**", ".."},
                                    text.substr(at - 1, 2)))
        ++at;
    }
    tokens.push_back({text.slice(begin, from).str(), text.slice(from, at).str()});
    if (from == text.size())
      return tokens;
  }
}

/// Tokens from `begin` up to `end`.
struct Piece {
  size_t begin, end;
};

class Edit {
public:
  Edit(StringRef text, StringRef donor, const std::vector<std::string> &words, size_t maxSize, std::mt19937_64 &random)
      : tokens(tokenize(text)), donor(tokenize(donor)), words(words), maxSize(maxSize), random(random) {}

  void step();
  std::string str() const {
    std::string text;
    for (const Token &token : tokens)
      text += token.space + token.text;
    return text;
  }

private:
  size_t below(size_t count) { return random() % count; }
  bool chance(unsigned percent) { return below(100) < percent; }

  /// A bracket with what it holds, a member of a list, a statement or a line: what could stand
  /// alone.
  Piece pick(const std::vector<Token> &from) {
    size_t at = below(from.size() - 1);
    switch (below(5)) {
    case 0:
      return {at, at + 1};
    case 3: {
      // A line.
      auto begins = [&](size_t token) { return StringRef(from[token].space).contains('\n'); };
      while (at > 0 && !begins(at))
        --at;
      size_t end = at + 1;
      while (end + 1 < from.size() && !begins(end))
        ++end;
      return {at, end};
    }
    case 1:
      // The bracket that opens next.
      while (at + 1 < from.size() && !from[at].isOpener())
        ++at;
      if (at + 1 == from.size())
        return pick(from);
      return {at, closeOf(from, at)};
    case 2:
      return {at, endOf(from, at)};
    default:
      // From the separator or opener before.
      while (at > 0 && !from[at - 1].isSeparator() && !from[at - 1].isOpener() && !from[at - 1].isCloser())
        --at;
      return {at, endOf(from, at)};
    }
  }

  /// Behind the closer of the bracket at `at`, which may have none.
  static size_t closeOf(const std::vector<Token> &from, size_t at) {
    size_t depth = 0, last = from.size() - 1;
    for (; at < last; ++at) {
      depth += from[at].isOpener();
      if (from[at].isCloser() && depth > 0 && --depth == 0)
        return at + 1;
    }
    return last;
  }

  /// Where a list's member or a statement ends that contains the token at `at`.
  static size_t endOf(const std::vector<Token> &from, size_t at) {
    size_t begin = at, last = from.size() - 1;
    for (size_t depth = 0; at < last; ++at) {
      if (depth == 0 && at > begin && (from[at].isSeparator() || from[at].isCloser()))
        return at;
      depth += from[at].isOpener();
      depth -= from[at].isCloser() && depth > 0;
    }
    return last;
  }

  size_t sizeOf(llvm::ArrayRef<Token> part) {
    size_t size = 0;
    for (const Token &token : part)
      size += token.space.size() + token.text.size();
    return size;
  }

  std::vector<Token> copy(const std::vector<Token> &from, Piece piece) {
    return {from.begin() + piece.begin, from.begin() + piece.end};
  }

  void replace(Piece piece, llvm::ArrayRef<Token> part) {
    tokens.erase(tokens.begin() + piece.begin, tokens.begin() + piece.end);
    tokens.insert(tokens.begin() + piece.begin, part.begin(), part.end());
  }

  /// A word that stands in the text or is one of the language's.
  std::string anyWord() {
    if (!words.empty() && chance(40))
      return words[below(words.size())];
    for (unsigned tries = 0; tries < 8; ++tries)
      if (const Token &token = tokens[below(tokens.size())]; !token.text.empty() && token.isName())
        return token.text;
    return "x";
  }

  /// Another name of the text with the same sigil as `name`; without one, any word.
  std::string nameLike(StringRef name) {
    if (isWord(name[0]))
      return anyWord();
    std::vector<StringRef> names;
    for (const Token &token : tokens)
      if (token.text.size() > 1 && token.text[0] == name[0])
        names.push_back(token.text);
    return names[below(names.size())].str();
  }

  std::string anyNumber() {
    static const char *const numbers[] = {"0", "1", "2", "3", "7", "-1", "64", "127", "128", "255", "256", "1000000",
                                          "2147483647", "2147483648", "4294967295", "4294967296", "4611686018427387904",
                                          "9223372036854775807", "9223372036854775808", "18446744073709551615",
                                          "18446744073709551616", "340282366920938463463374607431768211456", "0.0", "0.5",
                                          "1e-400", "1e308", "1e400", "3.5", "1e5", "00"};
    return numbers[below(std::size(numbers))];
  }

  std::vector<Token> tokens, donor;
  const std::vector<std::string> &words;
  size_t maxSize;
  std::mt19937_64 &random;
};

void Edit::step() {
  if (tokens.size() < 2) {
    tokens.insert(tokens.begin(), Token{"", anyWord()});
    return;
  }
  Piece piece = pick(tokens);
  std::vector<Token> part = copy(tokens, piece);
  size_t size = sizeOf(tokens), room = maxSize > size ? maxSize - size : 0;
  switch (below(14)) {
  case 0: // Take away.
    replace(piece, {});
    break;
  case 1: // Repeat, mostly once.
    if (sizeOf(part) < room) {
      size_t most = room / std::max<size_t>(1, sizeOf(part));
      size_t count = chance(80) ? 1 : std::min<size_t>(most, 1 + below(chance(20) ? 400 : 10));
      std::vector<Token> all;
      for (size_t i = 0; i < count; ++i)
        all.insert(all.end(), part.begin(), part.end());
      replace({piece.begin, piece.begin}, all);
    }
    break;
  case 2: // Move somewhere else.
    replace(piece, {});
    {
      size_t to = below(tokens.size());
      replace({to, to}, part);
    }
    break;
  case 3: // Replace by another piece of the same text.
    if (std::vector<Token> other = copy(tokens, pick(tokens)); sizeOf(other) < room)
      replace(piece, other);
    break;
  case 4: // Replace by a piece of another text, or put it before.
    if (donor.size() > 1)
      if (std::vector<Token> other = copy(donor, pick(donor)); sizeOf(other) < room)
        replace(chance(50) ? piece : Piece{piece.begin, piece.begin}, other);
    break;
  case 5: // Put into brackets, sometimes very deep.
    if (room > 2) {
      static const char *const brackets[] = {"()", "[]", "{}", "(-", "(f"};
      const char *pair = brackets[below(std::size(brackets))];
      size_t count = chance(90) ? 1 : std::min<size_t>(room / 2, 1 + below(chance(20) ? 3000 : 30));
      std::string opener(pair[0] == '(' && pair[1] != ')' ? StringRef(pair).str() : std::string(1, pair[0]));
      std::vector<Token> all(count, Token{"", opener});
      all.insert(all.end(), part.begin(), part.end());
      if (chance(95))
        all.resize(all.size() + count, Token{"", std::string(1, pair[0] == '(' ? ')' : pair[1])});
      if (sizeOf(all) < room)
        replace(piece, all);
    }
    break;
  case 6: // A byte, rarely one that no text has.
    if (Token &token = tokens[piece.begin]; !token.text.empty())
      token.text[below(token.text.size())] = chance(10) ? char(below(256)) : char(' ' + below(95));
    break;
  case 7:
    replace({piece.begin, piece.begin}, Token{" ", anyWord()});
    break;
  default: // Another word for a word, another number for a number.
    for (size_t tries = 0; tries < 16; ++tries) {
      Token &token = tokens[below(tokens.size() - 1)];
      if (token.text.empty() || !isWord(token.text.back()))
        continue;
      token.text = token.isNumber() ? anyNumber() : nameLike(token.text);
      break;
    }
  }
}

} // namespace

std::string Mutator::mutate(StringRef text, StringRef donor, size_t maxSize, std::mt19937_64 &random) const {
  Edit edit(text.take_front(maxSize), donor.take_front(maxSize), words, maxSize, random);
  do
    edit.step();
  while (random() % 3 == 0);
  std::string result = edit.str();
  result.resize(std::min(result.size(), maxSize));
  return result;
}
