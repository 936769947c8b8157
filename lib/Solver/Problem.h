//===- Problem.h - A question in the form in which the stages take it -----===//
//
// The facts that bear on the goal, without connectives where that is possible, and the
// names of both with their least values. Every stage takes for granted that the divisors
// that occur are at least 1: they have obligations of their own, decided before.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_SOLVER_PROBLEM_H
#define KINA_LIB_SOLVER_PROBLEM_H

#include "Kina/Solver/Solver.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallSet.h"

namespace kina::solver {

/// Without `and`, `not` inside is gone.
using Facts = llvm::SmallVector<PredAttr, 8>;

/// What the least value of a name is; INT64_MIN for none.
using LeastLookup = llvm::function_ref<int64_t(llvm::StringRef)>;

struct Problem {
  Facts facts;
  /// Null stands for what is never true: the question is then whether the facts contradict
  /// each other.
  PredAttr goal;
  /// In order of first appearance, the goal's first.
  llvm::SmallVector<llvm::StringRef, 8> names;
  /// Of each name.
  llvm::SmallVector<int64_t, 8> least;
  /// Where each name stands, if they are many.
  llvm::DenseMap<llvm::StringRef, unsigned> position;

  void addName(llvm::StringRef name, int64_t lowest);

  /// INT64_MIN for a name that is not one of them.
  int64_t getLeast(llvm::StringRef name) const;
  /// Whether a product of names or a quotient by one occurs.
  bool isNonlinear() const;
};

/// What a search for values says under which all facts hold and the goal is true, or false.
struct Outcome {
  enum Kind { Excluded, Found, Open } kind = Open;
  /// Of Found: of the problem's names. They were evaluated.
  llvm::SmallVector<int64_t, 8> values;
  /// Of Open: why.
  Cause cause = Cause::Incomplete;
};

/// Distance from 0, the measure of a counterexample.
inline uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

/// The order of values of one name: 0, 1, -1, 2, -2, ..
inline bool isSimpler(int64_t a, int64_t b) {
  return magnitude(a) != magnitude(b) ? magnitude(a) < magnitude(b) : a > b;
}

/// The order of counterexamples: by the sum of magnitudes, then by the names in order.
bool isSimpler(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// `b - a` of `a <= b`, one less of `a < b`: what is not negative if the relation holds. Null
/// for other predicates and on overflow.
DimAttr getSlack(PredAttr relation);

/// The names of a polynomial's atoms; and whether `name` is among them.
bool mentions(DimAttr dim, llvm::StringRef name);

/// Numbers in the order of their first appearance. (A hash set of LLVM's keeps two numbers for itself.)
using ConstantSet = llvm::SetVector<int64_t, llvm::SmallVector<int64_t>, llvm::SmallSet<int64_t, 8>>;

/// Adds the numbers that occur.
void collectConstants(PredAttr pred, ConstantSet &constants);

} // namespace kina::solver

#endif
