//===- KinaToLinalg.h - From typed Kina to upstream dialects ---*- C++ -*-===//
//
// The parts of `--kina-lower-to-linalg`, for those who embed some of it. Patterns emit the
// sizes that they need as `kina.dim`, which stays legal until `resolveDims` computes each
// distinct dimension once per function from the shapes of its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_CONVERSION_KINATOLINALG_H
#define KINA_CONVERSION_KINATOLINALG_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kina {

#define GEN_PASS_DECL_LOWERTOLINALGPASS
#include "Kina/Conversion/Passes.h.inc"

/// Host tensors to builtin tensors (`?` for what is no constant), ui8 to i8, tapes to tensors
/// or tapes of the run time; everything else stays. A tensor on a device has no conversion.
class KinaToLinalgTypeConverter : public mlir::TypeConverter {
public:
  KinaToLinalgTypeConverter();
};

/// Operations that are a few simpler ones of Kina: mean, variance, norm, logsumexp,
/// softmax, layernorm, and whatever accumulates 16-bit floats, in f32. They fit a greedy rewrite too.
void populateKinaDecompositionPatterns(mlir::RewritePatternSet &patterns);

void populateKinaElementwiseToLinalgPatterns(const mlir::TypeConverter &converter,
                                             mlir::RewritePatternSet &patterns);
void populateKinaContractionToLinalgPatterns(const mlir::TypeConverter &converter,
                                             mlir::RewritePatternSet &patterns);
void populateKinaConvolutionToLinalgPatterns(const mlir::TypeConverter &converter,
                                             mlir::RewritePatternSet &patterns);
void populateKinaReductionToLinalgPatterns(const mlir::TypeConverter &converter,
                                           mlir::RewritePatternSet &patterns);
void populateKinaRandomToLinalgPatterns(const mlir::TypeConverter &converter,
                                        mlir::RewritePatternSet &patterns);
void populateKinaShapeToLinalgPatterns(const mlir::TypeConverter &converter,
                                       mlir::RewritePatternSet &patterns);
void populateKinaMakingToLinalgPatterns(const mlir::TypeConverter &converter,
                                        mlir::RewritePatternSet &patterns);
void populateKinaIndexingToLinalgPatterns(const mlir::TypeConverter &converter,
                                          mlir::RewritePatternSet &patterns);
/// Functions, calls, control flow, checks.
void populateKinaFunctionToLinalgPatterns(const mlir::TypeConverter &converter,
                                          mlir::RewritePatternSet &patterns);
/// Tapes: a tensor of the frames where their number is bounded, else one of the run time.
void populateKinaTapesToLinalgPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// All of the above.
void populateKinaToLinalgPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);

/// Replaces every `kina.dim`, `kina.bind_dim` and `kina.assume` of a lowered function that
/// carries `kina.function_type`. Shape variables are solved from the arguments at the entry
/// (in any order: `T+1` gives T). A public function checks there that its arguments agree on
/// them (K0802) and that its preconditions hold (K0801). Fails with K0203 where a
/// dimension cannot be computed.
mlir::LogicalResult resolveDims(mlir::func::FuncOp function);

} // namespace kina

#endif
