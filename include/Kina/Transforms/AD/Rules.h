//===- Rules.h - Registration of the derivative rules ----------*- C++ -*-===//
//
// Rules are external models of DifferentiableOpInterface, one registration function
// per dialect, so that the dialect itself knows nothing of differentiation.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_AD_RULES_H
#define KINA_TRANSFORMS_AD_RULES_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace kina {

/// Attaches a rule to every operation of the kina dialect that is marked
/// Kina_Differentiable.
void registerKinaDifferentiation(mlir::DialectRegistry &registry);

/// Its parts, by concern of the operations.
void attachElementwiseRules(mlir::MLIRContext &context);
void attachTensorRules(mlir::MLIRContext &context);
void attachReductionRules(mlir::MLIRContext &context);
void attachTapeRules(mlir::MLIRContext &context);
void attachNetworkRules(mlir::MLIRContext &context);

} // namespace kina

#endif
