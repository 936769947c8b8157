//===- NormalForm.h - What oriented facts and their sums settle -----------===//
//
// Equations among the facts that give a name are oriented: `D = H*K` replaces D, `N mod B =
// 0` replaces N by B times a fresh name; other equations replace their leading product.
// What is then equal in normal form, or bounded by it, or follows from inequalities by
// adding multiples of them up, is settled.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_SOLVER_NORMALFORM_H
#define KINA_LIB_SOLVER_NORMALFORM_H

#include "Problem.h"

namespace kina::solver {

/// Whether no quotient, minimum or maximum occurs.
bool hasOnlyNames(DimAttr dim);

/// The dimension divided by what all its terms have in common: a number, and atoms that are
/// at least 1. It has the same sign.
DimAttr withoutCommonFactor(DimAttr dim, LeastLookup least);

/// The facts in the form in which goals are decided by them; made once for many goals.
class NormalForm {
public:
  /// A name and what it is replaced with, in which no replaced name occurs.
  struct Rule {
    llvm::StringRef name;
    DimAttr value;
  };

  explicit NormalForm(mlir::MLIRContext *context) : context(context) {}
  /// One more fact. What comes of all does not depend on where a copy was made on the way.
  void add(PredAttr fact, LeastLookup least);

  /// Whether the facts exclude each other, as far as this can tell.
  bool isContradictory() const { return contradictory; }
  /// Whether the goal holds under the facts, as far as this can tell. `least` says of the
  /// goal's names what `add`'s said of those of the facts.
  bool follows(PredAttr goal, LeastLookup least) const;

  llvm::ArrayRef<Rule> getRules() const { return rules; }
  /// What the facts are otherwise, after all replacements: zeros, what is not negative, and
  /// predicates that are neither.
  llvm::ArrayRef<DimAttr> getEquations() const { return equations; }
  llvm::ArrayRef<DimAttr> getSlacks() const { return slacks; }
  llvm::ArrayRef<PredAttr> getOthers() const { return others; }
  /// Least values found in the facts, and those of the names that the rules brought in.
  std::optional<int64_t> getLeast(llvm::StringRef name) const {
    auto it = raised.find(name);
    return it == raised.end() ? std::nullopt : std::optional(it->second);
  }
  /// Whether a coefficient left 64 bits, so that something was not used.
  bool overflowed() const { return overflow; }

  /// The goal or dimension after all replacements; null on overflow.
  PredAttr rewrite(PredAttr pred, LeastLookup least) const;
  DimAttr rewrite(DimAttr dim, LeastLookup least) const;

private:
  void absorb(PredAttr fact, LeastLookup least);
  std::optional<Rule> orient(DimAttr zero, LeastLookup least);
  void apply(Rule rule, LeastLookup least);
  void addSlack(DimAttr slack);
  /// The slacks and equations that share names with `dim`, directly or through others, the
  /// nearest first; `sizes` gets how many there are up to each distance.
  void collectNear(DimAttr dim, llvm::SmallVectorImpl<std::pair<DimAttr, bool>> &near,
                   llvm::SmallVectorImpl<size_t> &sizes) const;
  DimAttr simplify(DimAttr dim, LeastLookup least) const;
  DimAttr simplify(DimAtomAttr atom, LeastLookup least) const;
  DimAttr divide(DimAttr a, DimAttr d, LeastLookup least) const;
  DimAttr reduce(DimAttr dim) const;
  bool isNonNegative(DimAttr dim, LeastLookup least) const;
  bool isExcluded(DimAttr dim, bool isZero, LeastLookup least) const;
  bool isExcluded(DimAttr dim, bool isZero, llvm::ArrayRef<std::pair<DimAttr, bool>> facts, LeastLookup least) const;

  mlir::MLIRContext *context;
  bool contradictory = false, overflow = false;
  llvm::SmallVector<Rule> rules;
  llvm::DenseMap<llvm::StringRef, unsigned> ruleOf;
  /// How many facts were looked at, and the names about which something new was found.
  unsigned absorbed = 0;
  llvm::SmallVector<llvm::StringRef> touched;
  /// Zero; leading product first. With coefficient 1 or -1, it is replaced.
  llvm::SmallVector<DimAttr> equations;
  /// Not negative; of those that differ in a number only the least.
  llvm::SmallVector<DimAttr> slacks;
  /// What is neither: `or`, `!=`.
  llvm::SmallVector<PredAttr> others;
  llvm::DenseMap<llvm::StringRef, int64_t> raised;
};

} // namespace kina::solver

#endif
