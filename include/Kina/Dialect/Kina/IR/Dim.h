//===- Dim.h - Arithmetic on dimensions and predicates ---------*- C++ -*-===//
//
// The polynomial normal form of `#kina.dim`. Every constructor returns a null
// attribute when a coefficient leaves 64 bits or the expression grows beyond any use
// (K0204); a null operand makes a null
// result, so that a whole expression is checked once at its end.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_DIALECT_KINA_IR_DIM_H
#define KINA_DIALECT_KINA_IR_DIM_H

#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "llvm/ADT/SetVector.h"

namespace kina {

DimAttr addDims(DimAttr a, DimAttr b);
DimAttr subDims(DimAttr a, DimAttr b);
DimAttr mulDims(DimAttr a, DimAttr b);
DimAttr negDim(DimAttr a);

/// Rounds towards minus infinity. Folds only by a constant divisor that is not 0;
/// by the constant 0 the result is null.
DimAttr floorDivDims(DimAttr a, DimAttr b);
/// `-((-a) floordiv b)`.
DimAttr ceilDivDims(DimAttr a, DimAttr b);
/// `a - b*(a floordiv b)`.
DimAttr modDims(DimAttr a, DimAttr b);
DimAttr minDims(llvm::ArrayRef<DimAttr> dims);
DimAttr maxDims(llvm::ArrayRef<DimAttr> dims);

/// Takes the factors of `term` out of `factors`; false, with some of them taken, if one is not there.
bool takeFactors(llvm::SmallVectorImpl<DimAtomAttr> &factors, DimTermAttr term);

/// Product of the dimensions; 1 for none.
DimAttr productOf(mlir::MLIRContext *context, llvm::ArrayRef<DimAttr> dims);

/// What a name stands for, or null to leave it.
using DimLookup = llvm::function_ref<DimAttr(llvm::StringRef)>;
DimAttr substitute(DimAttr dim, DimLookup lookup);
PredAttr substitute(PredAttr pred, DimLookup lookup);
/// Replaces every dimension inside the type; null on overflow and if a size gets negative. `places` says what a
/// placement variable stands for, null to leave it.
mlir::Type substitute(mlir::Type type, DimLookup lookup,
                      llvm::function_ref<PlacementAttr(llvm::StringRef)> places = nullptr);
/// The lookup of a substitution dictionary (`kina.call`'s).
mlir::Type substitute(mlir::Type type, mlir::DictionaryAttr subst);
DimAttr substitute(DimAttr dim, mlir::DictionaryAttr subst);
PredAttr substitute(PredAttr pred, mlir::DictionaryAttr subst);

/// Replaces dimensions, predicates and places in all that is in the function or module. A
/// tensor of rank 0 that comes to the host is a scalar then, and what copies from the host to
/// the host, or makes a scalar of a scalar, is gone.
void substituteIn(mlir::Operation *root, DimLookup lookup, llvm::function_ref<PlacementAttr(llvm::StringRef)> places);

/// The value under an assignment; nothing if a name has no value, a divisor is zero or
/// the value leaves 64 bits.
using ValueLookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;
std::optional<int64_t> evaluate(DimAttr dim, ValueLookup lookup);

/// Whether a value of the type can be the number: everything fits into an index or a float.
bool fitsInto(int64_t value, mlir::Type type);
std::optional<bool> evaluate(PredAttr pred, ValueLookup lookup);

/// Adds every name in order of first appearance.
using NameSet = llvm::SetVector<llvm::StringRef>;
void collectNames(DimAttr dim, NameSet &names);
void collectNames(PredAttr pred, NameSet &names);
void collectNames(mlir::Type type, NameSet &names);

/// Adds every divisor of a floordiv in it that is not a constant.
void collectDivisors(DimAttr dim, llvm::SetVector<DimAttr> &divisors);

/// The relation `a kind b`, kind one of EQ NE LE LT.
PredAttr makeRelation(PredKind kind, DimAttr a, DimAttr b);
PredAttr makeAnd(llvm::ArrayRef<PredAttr> preds);
PredAttr makeOr(llvm::ArrayRef<PredAttr> preds);
PredAttr makeNot(PredAttr pred);

/// What normal form alone says of it, given that every name is at least its `least`
/// value (1 where `least` says nothing): true, false for every assignment, or nothing.
/// Polynomials with coefficients of one sign are bounded by their value at the least
/// values; everything else is left open.
std::optional<bool> decide(PredAttr pred, ValueLookup least);

/// What is known of a dimension's range; an absent end is unbounded.
struct DimRange {
  std::optional<int64_t> low, high;
};
/// Bounds of a polynomial whose names are at least their least values (1 where `least` says
/// nothing). Sound, not complete: a sum of terms is bounded term by term.
DimRange rangeOf(DimAttr dim, ValueLookup least);

/// Source spelling, e.g. `8*q + 1`.
std::string toString(DimAttr dim);
std::string toString(PredAttr pred);
void print(llvm::raw_ostream &os, DimAttr dim);
void print(llvm::raw_ostream &os, PredAttr pred);

/// `8*q + 1`, without the angle brackets; null with a diagnostic if it does not parse.
DimAttr parseDim(mlir::AsmParser &parser);

} // namespace kina

#endif
