//===- Surface.h - The kina_surface dialect --------------------*- C++ -*-===//
//
// Declarations of the surface dialect: the syntax tree, the expression type and the
// operations, and the traits that keep their form.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SURFACE_H
#define KINA_SURFACE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include <optional>

namespace kina::surface {
namespace detail {
llvm::LogicalResult verifySurfaceRegions(mlir::Operation *op);
llvm::LogicalResult verifyExprTree(mlir::Operation *op);
} // namespace detail

/// Every region is empty or has one block without arguments that ends in
/// `kina_surface.yield`. Which regions may be empty is the operation's affair.
template <typename ConcreteOp>
class SurfaceRegions : public mlir::OpTrait::TraitBase<ConcreteOp, SurfaceRegions> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifySurfaceRegions(op);
  }
};

/// The one result is used exactly once, by an operation of the same block.
template <typename ConcreteOp>
class SurfaceExprTree : public mlir::OpTrait::TraitBase<ConcreteOp, SurfaceExprTree> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyExprTree(op);
  }
};
} // namespace kina::surface

#include "Kina/Dialect/Surface/IR/SurfaceDialect.h.inc"
#include "Kina/Dialect/Surface/IR/SurfaceEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceTypes.h.inc"

#define GET_OP_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceOps.h.inc"

namespace kina::surface {
/// Whether a node of this kind is a dimension, predicate, type, literal or pattern.
bool isDim(SyntaxKind kind);
bool isPred(SyntaxKind kind);
bool isType(SyntaxKind kind);
bool isLiteral(SyntaxKind kind);
bool isPattern(SyntaxKind kind);

/// The source spelling of a dimension, predicate, type, place or literal, in one
/// canonical spacing; for messages.
std::string spell(SyntaxAttr syntax);

/// The same for the result type of a function; `rowFollows`: an effect row stands behind it.
std::string spellResultType(SyntaxAttr type, bool rowFollows);

/// The nodes of an array that is known to hold syntax; none for a null array.
inline auto syntaxRange(mlir::ArrayAttr array) {
  llvm::ArrayRef<mlir::Attribute> nodes;
  if (array)
    nodes = array.getValue();
  return llvm::map_range(nodes, [](mlir::Attribute a) { return llvm::cast<SyntaxAttr>(a); });
}
} // namespace kina::surface

#endif
