//===- KinaDialect.h - Attributes, types, interfaces of kina ---*- C++ -*-===//
//
// Operations are in KinaOps.h; arithmetic on dimensions is in Dim.h.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_DIALECT_KINA_IR_KINADIALECT_H
#define KINA_DIALECT_KINA_IR_KINADIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/BitVector.h"

#include "Kina/Dialect/Kina/IR/KinaDialect.h.inc"

#include "Kina/Dialect/Kina/IR/KinaEnums.h.inc"

namespace kina {
class DimAttr;
class DimTermAttr;
class DimAtomAttr;
class PredAttr;
} // namespace kina

#define GET_ATTRDEF_CLASSES
#include "Kina/Dialect/Kina/IR/KinaAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "Kina/Dialect/Kina/IR/KinaTypes.h.inc"

namespace kina {

/// Names of the argument attribute that makes an `index` argument a shape variable.
inline constexpr llvm::StringLiteral kDimArgAttrName = "kina.dim";
/// On a kina.select that chooses between the arms of an `if` over a mask.
inline constexpr llvm::StringLiteral kArmsAttrName = "kina.arms";
/// Argument attribute of a borrowed parameter (`&`).
inline constexpr llvm::StringLiteral kBorrowArgAttrName = "kina.borrow";
/// Argument attribute with the source name of a parameter.
inline constexpr llvm::StringLiteral kNameArgAttrName = "kina.name";

/// The function attributes in which `--kina-lower-to-linalg` keeps the typed signature: the
/// function type over `!kina.tensor`, the shape variables (`#kina.var`) and the `requires`
/// clauses (`#kina.clause`).
inline constexpr llvm::StringLiteral kFunctionTypeAttrName = "kina.function_type";
inline constexpr llvm::StringLiteral kShapeVarsAttrName = "kina.shape_vars";
inline constexpr llvm::StringLiteral kRequiresAttrName = "kina.requires";

/// f64, f32, f16, bf16, i64, i32, i8, ui8, i1.
bool isElementType(mlir::Type type);

/// The element type of a tensor, the type itself of a scalar (index included), null of
/// anything else.
mlir::Type getElementType(mlir::Type type);

/// The dimensions of a tensor; none for a scalar.
llvm::ArrayRef<DimAttr> getShape(mlir::Type type);
inline unsigned getRank(mlir::Type type) { return getShape(type).size(); }

/// The placement of a tensor; `@host` for a scalar.
PlacementAttr getPlacement(mlir::Type type);

/// The tensor of this shape, or the scalar where the rank is 0 and the place the host.
mlir::Type getTensorOrScalar(mlir::Type elementType, llvm::ArrayRef<DimAttr> shape,
                             PlacementAttr placement);

/// The same shape and place with another element type.
mlir::Type withElementType(mlir::Type type, mlir::Type elementType);
/// The same element type and place with another shape.
mlir::Type withShape(mlir::Type type, llvm::ArrayRef<DimAttr> shape);

bool isScalarOrTensorOf(mlir::Type type, llvm::function_ref<bool(mlir::Type)> element);

/// Whether values of this type have tangents: float scalars and tensors do, and tapes of them.
bool hasTangent(mlir::Type type);

/// Whether the attribute is a dictionary of dimensions and placements.
bool isSubstitution(mlir::Attribute attribute);

/// Result type of a reduction; `elementType` null keeps the operand's.
mlir::LogicalResult inferReduction(std::optional<mlir::Location> loc, mlir::Type operand,
                                   llvm::ArrayRef<int64_t> axes, bool keepdims,
                                   mlir::Type elementType,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
/// Axes in range, sorted, without repetition.
mlir::LogicalResult verifyReduction(mlir::Operation *op, mlir::Type operand,
                                    llvm::ArrayRef<int64_t> axes);

/// The type of a box with these sizes of the operand, without the dropped axes.
mlir::Type getBoxType(mlir::Type operand, llvm::ArrayRef<mlir::Attribute> sizes,
                      llvm::ArrayRef<int64_t> dropped);

/// The number of positions of a kernel on a padded axis; null on overflow.
DimAttr getConvolvedSize(DimAttr size, DimAttr kernel, int64_t stride, int64_t padding, int64_t dilation);
/// Input, kernel and output of a convolution against each other and the attributes.
mlir::LogicalResult verifyConvolution(mlir::Operation *op, TensorType input, TensorType kernel, TensorType output,
                                      llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> padding,
                                      llvm::ArrayRef<int64_t> dilation, int64_t groups);
/// The largest stride, padding, dilation and number of groups of a convolution.
inline constexpr int64_t kMaxConvolutionAttribute = INT32_MAX;

/// Random numbers of this type can be drawn.
mlir::LogicalResult verifyDraw(mlir::Operation *op, mlir::Type type);

/// Whether the function of this name consumes the parameter of this number.
using ParameterConsumption = llvm::function_ref<bool(mlir::FlatSymbolRefAttr, unsigned)>;

/// Attribute of a module in which ownership means nothing any more: its tensors are values,
/// which any number of operations may use (`--kina-ad` leaves that).
inline constexpr llvm::StringLiteral kValueSemanticsAttrName = "kina.value_semantics";

/// Attribute of a function that exists for its errors alone: an instance of a generic function that nothing calls
/// (`--kina-verify-refinements` removes it).
inline constexpr llvm::StringLiteral kOnlyCheckedAttrName = "kina.only_checked";

/// See Kina_Differentiable in KinaBase.td.
template <typename ConcreteType>
class HasDerivative : public mlir::OpTrait::TraitBase<ConcreteType, HasDerivative> {};

} // namespace kina

#include "Kina/Dialect/Kina/IR/KinaInterfaces.h.inc"

#endif
