//===- Utils.h - What the lowerings to linalg share ------------*- C++ -*-===//

#ifndef KINA_LIB_CONVERSION_KINATOLINALG_UTILS_H
#define KINA_LIB_CONVERSION_KINATOLINALG_UTILS_H

#include "Kina/Conversion/KinaToLinalg.h"
#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kina {

/// Codes of run-time checks, the digits of a diagnostic code.
enum RuntimeCode : unsigned { kRequiresCode = 801, kArgumentCode = 802, kIndexCode = 803, kDivisionCode = 804 };

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The dimension as an index: a constant, or a `kina.dim` for `resolveDims`.
mlir::Value getDimValue(mlir::OpBuilder &builder, mlir::Location loc, DimAttr dim);
mlir::OpFoldResult getDimSize(mlir::OpBuilder &builder, mlir::Location loc, DimAttr dim);
llvm::SmallVector<mlir::OpFoldResult> getDimSizes(mlir::OpBuilder &builder, mlir::Location loc,
                                                  llvm::ArrayRef<DimAttr> dims);

/// `?` for what is no constant.
int64_t getStaticSize(DimAttr dim);
llvm::SmallVector<int64_t> getStaticSizes(llvm::ArrayRef<DimAttr> dims);

/// Whether a tensor of the shape is known to have no element. Upstream's slices know no
/// offset inside an axis of size 0, so that what is empty is not sliced.
bool isEmpty(llvm::ArrayRef<DimAttr> shape);

/// The signless type of an element (ui8 is i8).
mlir::Type getStorageType(mlir::Type elementType);

/// An uninitialised tensor of the shape; `elementType` is that of Kina.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<DimAttr> shape,
                        mlir::Type elementType);
/// A tensor of the shape, filled with the scalar.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<DimAttr> shape,
                         mlir::Value scalar);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

mlir::Value createIndex(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// A constant of the (signless) type.
mlir::Value createScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// Emits the scalar computation of an element-wise operation on converted operands.
mlir::Value emitScalar(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands);

/// `kina.cast` of a scalar, `from` and `to` being Kina's element types.
mlir::Value emitCast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type from,
                     mlir::Type to);

/// An integer element used as a position, as an index.
mlir::Value emitPosition(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type from);

/// a + b, integers wrap.
mlir::Value emitAdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

using BodyBuilder = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// A `linalg.generic` with one result, which is written into `out`; the body gets the
/// elements of inputs and then of `out`.
mlir::Value createGeneric(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs, mlir::Value out,
                          llvm::ArrayRef<mlir::AffineMap> maps,
                          llvm::ArrayRef<mlir::utils::IteratorType> iterators, BodyBuilder body);

/// The same over parallel loops, one per axis of `out`, every operand being of its shape.
mlir::Value createPointwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                            mlir::Value out, BodyBuilder body);

/// The sum of products of two factors over the reduction loops, each element one chain that
/// starts at that of `outs`, or at +0 where it is null: fused multiply-adds on f32 and f64.
/// 16-bit floats accumulate in f32. The maps are those of the factors and the result, whose
/// shape is given with Kina's element type.
mlir::Value createProductSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                             mlir::Value outs, llvm::ArrayRef<DimAttr> shape, mlir::Type element,
                             llvm::ArrayRef<mlir::AffineMap> maps,
                             llvm::ArrayRef<mlir::utils::IteratorType> iterators);

/// Ends the call (K0802) unless the value of the dimension, an index, fits into the integer type.
void createRangeCheck(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DimAttr dim,
                      mlir::IntegerType type);

/// Ends the call with the code and the message unless the condition holds.
void createCheck(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, RuntimeCode code,
                 const llvm::Twine &message, mlir::ValueRange values = {});

/// 0 <= position < extent, or K0803.
void createPositionCheck(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value position, mlir::Value extent,
                         int64_t axis);

} // namespace kina

#endif
