//===- Literals.cpp - Tensors written as text -----------------------------===//

#include "Kina/ExecutionEngine/Literals.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace kina;

namespace {

class LiteralParser {
public:
  LiteralParser(llvm::StringRef text, DType dtype) : text(text), dtype(dtype) {}

  llvm::Expected<Tensor> parse() {
    if (llvm::Error error = parseValue(0))
      return error;
    skipSpace();
    if (position != text.size())
      return fail("unexpected text after the value");
    llvm::Expected<Tensor> tensor = Tensor::create(dtype, shape);
    if (!tensor)
      return tensor;
    for (auto [i, number] : llvm::enumerate(numbers)) {
      if (number.isInteger)
        tensor->setInteger(i, number.integer);
      else
        tensor->setDouble(i, number.real);
    }
    return tensor;
  }

private:
  /// Deeper literals are no tensors anyone works with, and would exhaust the stack.
  static constexpr unsigned kMaxRank = 32;

  struct Number {
    bool isInteger;
    int64_t integer;
    double real;
  };

  llvm::Error fail(const llvm::Twine &message) {
    return llvm::createStringError(message + " at character " + llvm::Twine(position + 1) +
                                   " of the literal");
  }

  void skipSpace() {
    while (position < text.size() && llvm::isSpace(text[position]))
      ++position;
  }
  bool consume(char c) {
    skipSpace();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  /// Records the size of an axis, or compares it with that of the lists before.
  llvm::Error setSize(unsigned axis, int64_t size) {
    if (axis < shape.size() && shape[axis] >= 0 && shape[axis] != size)
      return fail("this list has " + llvm::Twine(size) + " elements, the one before has " +
                  llvm::Twine(shape[axis]) + ":");
    shape[axis] = size;
    return llvm::Error::success();
  }

  llvm::Error parseValue(unsigned depth) {
    skipSpace();
    if (position == text.size())
      return fail("expected a value");
    if (text[position] != '[') {
      if (rank && *rank != depth)
        return fail("expected a list");
      rank = depth;
      return parseNumber();
    }
    ++position;
    if (rank && depth >= *rank)
      return fail("expected a number, as before, not a list");
    if (depth == kMaxRank)
      return fail("lists are nested more than " + llvm::Twine(kMaxRank) + " deep");
    if (shape.size() == depth)
      shape.push_back(-1);
    int64_t size = 0;
    if (!consume(']')) {
      do {
        skipSpace();
        if (size != 0 && position < text.size() && text[position] == ']')
          break; // a trailing comma
        if (llvm::Error error = parseValue(depth + 1))
          return error;
        ++size;
      } while (consume(','));
      if (!consume(']'))
        return fail("expected ',' or ']'");
    } else if (!rank) {
      rank = depth + 1;
    }
    return setSize(depth, size);
  }

  llvm::Error parseNumber() {
    size_t start = position;
    while (position < text.size() && (llvm::isAlnum(text[position]) || text[position] == '.' ||
                                      text[position] == '+' || text[position] == '-'))
      ++position;
    llvm::StringRef word = text.slice(start, position);
    auto failHere = [&](const llvm::Twine &message) {
      position = start;
      return fail(message);
    };
    if (word == "true" || word == "false") {
      if (dtype != DType::Bool)
        return failHere("expected a number of type " + toString(dtype) + ", not a boolean,");
      numbers.push_back({true, word == "true", 0});
      return llvm::Error::success();
    }
    if (dtype == DType::Bool)
      return failHere("expected true or false");

    llvm::StringRef digits = word;
    digits.consume_front("+");
    int64_t integer;
    auto end = std::from_chars(digits.begin(), digits.end(), integer);
    if (!digits.empty() && end.ptr == digits.end() && end.ec == std::errc()) {
      if (!inRange(integer))
        return failHere(word + " does not fit into " + toString(dtype));
      if (dtype > DType::BF16 || double(integer) == 0) {
        // -0 is a float of its own.
        bool negativeZero = dtype <= DType::BF16 && digits.starts_with("-");
        numbers.push_back({!negativeZero, integer, -0.0});
      } else {
        numbers.push_back({false, 0, double(integer)});
      }
      return llvm::Error::success();
    }
    bool isLong = !digits.empty() && end.ptr == digits.end();
    if (dtype > DType::BF16)
      return failHere(isLong ? word + " does not fit into " + toString(dtype)
                             : "expected an integer, but found `" + word + "`");
    double real;
    llvm::StringRef magnitude = digits;
    bool negative = magnitude.consume_front("-");
    if (magnitude == "inf" || magnitude == "Infinity") {
      real = negative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
    } else if (magnitude == "nan" || magnitude == "NaN") {
      real = std::numeric_limits<double>::quiet_NaN();
    } else {
      auto [last, error] = std::from_chars(digits.begin(), digits.end(), real);
      if (magnitude.empty() || !(llvm::isDigit(magnitude[0]) || magnitude[0] == '.') ||
          last != digits.end() || error == std::errc::invalid_argument)
        return failHere("expected a number, but found `" + word + "`");
      if (error == std::errc::result_out_of_range)
        return failHere(word + " does not fit into " + toString(dtype));
    }
    numbers.push_back({false, 0, real});
    return llvm::Error::success();
  }

  bool inRange(int64_t value) const {
    switch (dtype) {
    case DType::I32:
      return value == int32_t(value);
    case DType::I8:
      return value == int8_t(value);
    case DType::U8:
      return value == uint8_t(value);
    default:
      return true;
    }
  }

  llvm::StringRef text;
  DType dtype;
  size_t position = 0;
  std::optional<unsigned> rank;
  llvm::SmallVector<int64_t> shape;
  std::vector<Number> numbers;
};

} // namespace

llvm::Expected<Tensor> kina::parseLiteral(llvm::StringRef text, DType dtype) {
  return LiteralParser(text, dtype).parse();
}
