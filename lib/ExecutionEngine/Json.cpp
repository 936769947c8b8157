//===- Json.cpp - Results as JSON -----------------------------------------===//

#include "Kina/ExecutionEngine/Json.h"

#include <charconv>
#include <cmath>

using namespace kina;

static void printElement(llvm::raw_ostream &os, const Tensor &tensor, int64_t position) {
  if (tensor.getDType() == DType::Bool) {
    os << (tensor.getInteger(position) ? "true" : "false");
    return;
  }
  if (!tensor.isFloat()) {
    os << tensor.getInteger(position);
    return;
  }
  double value = tensor.getDouble(position);
  if (std::isnan(value)) {
    os << "NaN";
    return;
  }
  if (std::isinf(value)) {
    os << (value < 0 ? "-Infinity" : "Infinity");
    return;
  }
  // The shortest digits depend on the width; 16-bit floats are exact as f32.
  char digits[64];
  auto end = tensor.getDType() == DType::F64
                 ? std::to_chars(digits, digits + sizeof(digits), value)
                 : std::to_chars(digits, digits + sizeof(digits), float(value));
  llvm::StringRef text(digits, end.ptr - digits);
  os << text;
  // `3` would read back as an integer.
  if (text.find_first_of(".e") == llvm::StringRef::npos)
    os << ".0";
}

static void printAxis(llvm::raw_ostream &os, const Tensor &tensor, unsigned axis,
                      int64_t &position) {
  if (axis == tensor.getShape().size()) {
    printElement(os, tensor, position++);
    return;
  }
  os << '[';
  for (int64_t i = 0; i < tensor.getShape()[axis]; ++i) {
    if (i != 0)
      os << ", ";
    printAxis(os, tensor, axis + 1, position);
  }
  os << ']';
}

void kina::printJson(llvm::raw_ostream &os, const Tensor &tensor) {
  int64_t position = 0;
  printAxis(os, tensor, 0, position);
}

void kina::printJson(llvm::raw_ostream &os, llvm::ArrayRef<Tensor> tensors) {
  os << '[';
  llvm::interleaveComma(tensors, os, [&](const Tensor &tensor) { printJson(os, tensor); });
  os << ']';
}
