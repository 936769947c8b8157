//===- InitAll.cpp - Registers everything Kina has ------------------------===//

#include "Kina/InitAll.h"
#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Conversion/Passes.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/RT/IR/RT.h"
#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Transforms/AD/Rules.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void kina::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  registry.insert<KinaDialect, rt::RTDialect, surface::SurfaceDialect>();
}

void kina::registerAllExtensions(mlir::DialectRegistry &registry) {
  mlir::registerAllExtensions(registry);
  registerKinaDifferentiation(registry);
}

void kina::registerAllPasses() {
  mlir::registerAllPasses();
  registerKinaTransformsPasses();
  registerKinaConversionPasses();
  registerKinaCPUCodegenPasses();
  registerCPUCodegenPipelines();
  registerKinaPipelines();
}
