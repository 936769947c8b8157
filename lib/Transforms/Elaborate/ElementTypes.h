//===- ElementTypes.h - Inference of element types -------------*- C++ -*-===//
//
// A literal's element type is open until a use fixes it. Open types are
// `!kina.hole`s, joined by union-find; each class knows which element types it may
// still become, and which it becomes if nothing ever decides.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TRANSFORMS_ELABORATE_ELEMENTTYPES_H
#define KINA_LIB_TRANSFORMS_ELABORATE_ELEMENTTYPES_H

#include "Kina/Dialect/Kina/IR/KinaDialect.h"

namespace kina::elaborate {

/// A set of element types.
enum : unsigned {
  kF64 = 1,
  kF32 = 2,
  kF16 = 4,
  kBF16 = 8,
  kI64 = 16,
  kI32 = 32,
  kI8 = 64,
  kU8 = 128,
  kBool = 256,
  kFloats = kF64 | kF32 | kF16 | kBF16,
  kIntegers = kI64 | kI32 | kI8 | kU8,
  kNumbers = kFloats | kIntegers,
  kAnyElement = kNumbers | kBool
};

/// The set that holds just this type; 0 for one that is no element type.
unsigned maskOf(mlir::Type element);

class ElementTypes {
public:
  explicit ElementTypes(mlir::MLIRContext *context) : context(context) {}

  /// A new open type out of `mask`. It becomes `preferred` if that is still allowed in the
  /// end, else F32, else I32, else the first that is.
  mlir::Type fresh(unsigned mask, unsigned preferred);

  /// The element type as far as it is known: a concrete type, or the representative hole.
  mlir::Type resolve(mlir::Type element);
  /// The same for the element type inside a tensor; scalars and other types as they are.
  mlir::Type resolveIn(mlir::Type type);

  /// What the element type may still be.
  unsigned allowed(mlir::Type element);

  /// Makes both one type; false if no type is left.
  bool unify(mlir::Type a, mlir::Type b);
  /// Keeps only the types in `mask`; false if none is left.
  bool restrict(mlir::Type element, unsigned mask);

  /// The concrete type, decided now if it is still open.
  mlir::Type finalize(mlir::Type element);

private:
  struct Class {
    unsigned parent, mask, preferred;
  };
  unsigned find(unsigned id);
  mlir::Type typeOf(unsigned singleton);

  mlir::MLIRContext *context;
  llvm::SmallVector<Class> classes;
};

} // namespace kina::elaborate

#endif
