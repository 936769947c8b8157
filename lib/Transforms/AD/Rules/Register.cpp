//===- Register.cpp - Registration of the derivative rules ----------------===//

#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "Kina/Transforms/AD/Rules.h"

void kina::registerKinaDifferentiation(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, KinaDialect *) {
    attachElementwiseRules(*context);
    attachTensorRules(*context);
    attachReductionRules(*context);
    attachTapeRules(*context);
    attachNetworkRules(*context);
  });
}
