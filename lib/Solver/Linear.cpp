//===- Linear.cpp - Polynomial relations as linear ones over monomials ----===//

#include "Linear.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace kina::solver {

/// Columns beyond these stay undefined, so that no goal takes long.
static constexpr size_t kMaxColumns = 64;
static constexpr size_t kMaxRows = 256;

void LinearSystem::add(DimAttr dim, bool isEquation) {
  if (!dim || rows.size() >= kMaxRows)
    return;
  Row row;
  row.isEquation = isEquation;
  uint64_t content = 0;
  for (DimTermAttr term : dim.getTerms()) {
    if (term.getFactors().empty()) {
      row.constant = term.getCoefficient();
      continue;
    }
    auto monomial = DimTermAttr::get(context, 1, term.getFactors());
    auto [it, inserted] = columnOf.try_emplace(monomial, columns.size());
    if (inserted)
      columns.push_back(monomial);
    row.entries.push_back({it->second, term.getCoefficient()});
    content = std::gcd(content, magnitude(term.getCoefficient()));
  }
  if (row.entries.empty()) {
    contradictory |= isEquation ? row.constant != 0 : row.constant < 0;
    return;
  }
  if (content > 1 && content <= static_cast<uint64_t>(INT64_MAX)) {
    int64_t divisor = static_cast<int64_t>(content);
    if (isEquation && row.constant % divisor != 0) {
      contradictory = true;
      return;
    }
    for (auto &[column, coefficient] : row.entries)
      coefficient /= divisor;
    row.constant = llvm::divideFloorSigned(row.constant, divisor);
  }
  rows.push_back(std::move(row));
}

void LinearSystem::define(DimTermAttr monomial) {
  ArrayRef<DimAtomAttr> factors = monomial.getFactors();
  auto toDim = [&](ArrayRef<DimAtomAttr> product) {
    return DimAttr::get(context, {DimTermAttr::get(context, 1, product)});
  };
  auto lowOf = [&](DimAttr dim) {
    return rangeOf(dim, [&](StringRef name) -> std::optional<int64_t> { return least(name); }).low;
  };
  auto constant = [&](int64_t value) { return DimAttr::getConstant(context, value); };

  DimAttr whole = toDim(factors);
  if (std::optional<int64_t> low = lowOf(whole); low && *low != INT64_MIN)
    addNonNegative(subDims(whole, constant(*low)));

  DimAtomAttr previous;
  for (auto [index, atom] : llvm::enumerate(factors)) {
    if (atom == previous)
      continue;
    previous = atom;
    SmallVector<DimAtomAttr> others(factors);
    others.erase(others.begin() + index);
    DimAttr rest = others.empty() ? constant(1) : toDim(others);
    std::optional<int64_t> low = lowOf(rest);
    // (x - least x) * (rest - least rest) is not negative.
    if (!others.empty() && low && *low != INT64_MIN)
      if (std::optional<int64_t> mine = lowOf(toDim({atom})); mine && *mine != INT64_MIN)
        addNonNegative(mulDims(subDims(toDim({atom}), constant(*mine)), subDims(rest, constant(*low))));
    if (atom.getKind() == AtomKind::Name || !low || *low < 0)
      continue;
    if (atom.getKind() != AtomKind::FloorDiv) {
      bool isMin = atom.getKind() == AtomKind::Min;
      for (DimAttr arg : atom.getArgs()) {
        DimAttr difference = subDims(arg, toDim({atom}));
        addNonNegative(mulDims(isMin ? difference : negDim(difference), rest));
      }
      continue;
    }
    // 0 <= a - d*q < d, times the rest. A divisor that is no number would bring ever more
    // products: it has to stand beside its quotient already.
    DimAttr a = atom.getArgs()[0], d = atom.getArgs()[1];
    if (!d.isConstant() && !others.empty()) {
      if (d.getTerms().size() != 1 || d.getTerms()[0].getCoefficient() != 1)
        continue;
      if (!takeFactors(others, d.getTerms()[0]))
        continue;
      rest = others.empty() ? constant(1) : toDim(others);
      if (std::optional<int64_t> less = lowOf(rest); !less || *less < 0)
        continue;
    }
    DimAttr remainder = subDims(a, mulDims(d, toDim({atom})));
    addNonNegative(mulDims(remainder, rest));
    addNonNegative(mulDims(subDims(subDims(d, remainder), constant(1)), rest));
  }
}

void LinearSystem::addDefinitions() {
  for (; defined < columns.size() && defined < kMaxColumns; ++defined)
    define(columns[defined]);
}

bool LinearSystem::isRationallyEmpty() const {
  if (contradictory)
    return true;
  presburger::Simplex simplex(columns.size());
  SmallVector<llvm::DynamicAPInt> coefficients(columns.size() + 1);
  for (const Row &row : rows) {
    llvm::fill(coefficients, llvm::DynamicAPInt(0));
    for (auto [column, coefficient] : row.entries)
      coefficients[column] = llvm::DynamicAPInt(coefficient);
    // Not assigned as a number: that would take an int.
    coefficients.back() = llvm::DynamicAPInt(row.constant);
    if (row.isEquation)
      simplex.addEquality(coefficients);
    else
      simplex.addInequality(coefficients);
    if (simplex.isEmpty())
      return true;
  }
  return false;
}

} // namespace kina::solver
