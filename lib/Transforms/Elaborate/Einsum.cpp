//===- Einsum.cpp - Sums of products, named by letters --------------------===//
//
// `einsum("bhsd,bhtd->bhst", q, k)` becomes products of two at a time, from left to right.
// Letters that nothing later needs are summed at once; those that two operands share and
// nothing later needs are contracted by a matrix product, whose rows, columns and
// contracted axis are the other letters, flattened.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

namespace {

/// A tensor, or a scalar, with a letter for each axis.
struct Term {
  Value value;
  std::string letters;

  DimAttr sizeOf(char letter) const { return getShape(value.getType())[letters.find(letter)]; }
};

class Contraction {
public:
  explicit Contraction(OperationCall &call) : call(call), e(call.e) {}

  Val run();

private:
  bool parse(StringRef text);
  bool readOperands();
  bool isNeeded(char letter, size_t from) const;
  /// Sums over the letters that neither the result nor the operands from `from` on have.
  Term sumUnneeded(Term term, size_t from, StringRef shared);
  Term multiply(const Term &a, const Term &b, size_t from);
  /// The term with its axes in another order.
  Term transpose(const Term &term, StringRef letters);
  /// The sizes of the letters in either term.
  SmallVector<DimAttr> sizesOf(StringRef letters, const Term &a, const Term &b);
  DimAttr countOf(StringRef letters, const Term &term);

  OperationCall &call;
  Elaborator &e;
  SmallVector<Term> terms;
  std::string result;
};

bool Contraction::parse(StringRef text) {
  auto [inputs, output] = text.split("->");
  auto letters = [](StringRef part, std::string &into) {
    for (char c : part)
      if (c != ' ' && (!llvm::isAlpha(c) || into.find(c) != std::string::npos))
        return false;
      else if (c != ' ')
        into.push_back(c);
    return true;
  };
  bool good = text.contains("->") && letters(output, result);
  SmallVector<StringRef> parts;
  inputs.split(parts, ',');
  for (StringRef part : parts)
    good &= letters(part, terms.emplace_back().letters);
  if (good)
    return true;
  InFlightDiagnostic diag = call.error(DiagCode::K0205);
  diag << "'" << text << "' does not say what 'einsum' computes";
  attachHelp(diag) << "write a letter for each axis, each once in an operand, such as \"ij,jk->ik\"";
  return false;
}

bool Contraction::readOperands() {
  // The first of each letter, against which the others are checked.
  std::string seen;
  SmallVector<DimAttr> sizes;
  for (auto [number, term] : llvm::enumerate(terms)) {
    term.value = call.value("operand " + std::to_string(number));
    if (!call.requireNumber(term.value) || !e.unifyElements(terms.front().value, term.value, call.loc))
      return false;
    SmallVector<DimAttr> shape(getShape(term.value.getType()));
    if (shape.size() != term.letters.size()) {
      call.error(DiagCode::K0201) << "'einsum' names the axes '" << term.letters << "' of operand " << number
                                  << " (0-based), which is " << e.spell(term.value.getType());
      return false;
    }
    for (auto [letter, size] : llvm::zip(term.letters, shape)) {
      size_t first = seen.find(letter);
      if (first == std::string::npos) {
        seen.push_back(letter);
        sizes.push_back(size);
      } else if (failed(e.oblige(call.loc, makeRelation(PredKind::EQ, size, sizes[first]), ObligationKind::contraction,
                                 "'" + Twine(letter) + "' of 'einsum' has size '" + call.e.spell(sizes[first]) +
                                     "', and size '" + call.e.spell(size) + "' in operand " + Twine(number) +
                                     " (0-based)"))) {
        return false;
      } else {
        size = sizes[first];
      }
    }
    if (getShape(term.value.getType()) != ArrayRef(shape))
      term.value = ReshapeOp::create(e.builder, call.loc, withShape(term.value.getType(), shape), term.value,
                                     /*checked=*/true);
  }
  for (char letter : result)
    if (seen.find(letter) == std::string::npos) {
      call.error(DiagCode::K0205) << "no operand of 'einsum' has the axis '" << StringRef(&letter, 1)
                                  << "' of the result";
      return false;
    }
  return true;
}

bool Contraction::isNeeded(char letter, size_t from) const {
  return result.find(letter) != std::string::npos || llvm::any_of(ArrayRef(terms).drop_front(from), [&](const Term &t) {
           return t.letters.find(letter) != std::string::npos;
         });
}

Term Contraction::sumUnneeded(Term term, size_t from, StringRef shared) {
  SmallVector<int64_t> axes;
  std::string kept;
  for (auto [axis, letter] : llvm::enumerate(term.letters))
    if (isNeeded(letter, from) || shared.contains(letter))
      kept.push_back(letter);
    else
      axes.push_back(axis);
  if (axes.empty())
    return term;
  return {SumOp::create(e.builder, call.loc, term.value, axes, false), kept};
}

Term Contraction::transpose(const Term &term, StringRef letters) {
  if (term.letters == letters)
    return term;
  SmallVector<int64_t> perm = llvm::map_to_vector(
      letters, [&](char letter) { return static_cast<int64_t>(term.letters.find(letter)); });
  return {TransposeOp::create(e.builder, call.loc, term.value, perm), letters.str()};
}

SmallVector<DimAttr> Contraction::sizesOf(StringRef letters, const Term &a, const Term &b) {
  return llvm::map_to_vector(letters, [&](char letter) {
    return (a.letters.find(letter) != std::string::npos ? a : b).sizeOf(letter);
  });
}

DimAttr Contraction::countOf(StringRef letters, const Term &term) {
  DimAttr count = productOf(e.context, sizesOf(letters, term, term));
  if (!count)
    call.error(DiagCode::K0204) << "the number of rows or columns in 'einsum' leaves 64 bits";
  return count;
}

Term Contraction::multiply(const Term &a, const Term &b, size_t from) {
  std::string batch, contracted, rows, columns;
  for (char letter : a.letters)
    (b.letters.find(letter) == std::string::npos ? rows : isNeeded(letter, from) ? batch : contracted)
        .push_back(letter);
  for (char letter : b.letters)
    if (a.letters.find(letter) == std::string::npos)
      columns.push_back(letter);
  std::string letters = batch + rows + columns;
  SmallVector<DimAttr> shape = sizesOf(letters, a, b);
  if (contracted.empty()) {
    // Element by element.
    auto widen = [&](const Term &term, const std::string &own) {
      Value value = transpose(term, batch + own).value;
      SmallVector<DimAttr> aligned;
      for (auto [letter, size] : llvm::zip(letters, shape))
        aligned.push_back(term.letters.find(letter) == std::string::npos ? DimAttr::getConstant(e.context, 1) : size);
      return e.broadcastTo(reshape(e, value, aligned, call.loc), shape, call.loc);
    };
    return {MulOp::create(e.builder, call.loc, widen(a, rows), widen(b, columns)), letters};
  }
  SmallVector<DimAttr> leading = sizesOf(batch, a, b);
  DimAttr depth = countOf(contracted, a), height = countOf(rows, a), width = countOf(columns, b);
  if (!depth || !height || !width)
    return {};
  // A factor whose contracted axes stand on the other side is read so, and not moved.
  auto factor = [&](const Term &term, const std::string &first, const std::string &second, DimAttr m, DimAttr n,
                    bool &isTransposed) {
    isTransposed = term.letters == batch + second + first && term.letters != batch + first + second;
    SmallVector<DimAttr> matrix(leading);
    llvm::append_range(matrix, isTransposed ? ArrayRef{n, m} : ArrayRef{m, n});
    return reshape(e, isTransposed ? term.value : transpose(term, batch + first + second).value, matrix, call.loc);
  };
  bool transposeA = false, transposeB = false;
  Value left = factor(a, rows, contracted, height, depth, transposeA);
  Value right = factor(b, contracted, columns, depth, width, transposeB);
  Value product = MatmulOp::create(e.builder, call.loc, left, right, Value(), transposeA, transposeB);
  return {reshape(e, product, shape, call.loc), letters};
}

Val Contraction::run() {
  const Val *text = call.find("axes");
  if (!text || text->kind != Val::Kind::String) {
    call.error(DiagCode::K0205) << "'einsum' takes a string first, einsum(\"ij,jk->ik\", a, b)";
    return Val::error();
  }
  if (!parse(text->text) || !readOperands())
    return Val::error();
  Term product = sumUnneeded(terms.front(), 1, "");
  for (size_t next = 1; next < terms.size(); ++next) {
    product = multiply(product, sumUnneeded(terms[next], next + 1, product.letters), next + 1);
    if (!product.value)
      return Val::error();
  }
  return Val::of(transpose(product, result).value);
}

} // namespace

Val einsum(OperationCall &call) { return Contraction(call).run(); }

} // namespace kina::elaborate
