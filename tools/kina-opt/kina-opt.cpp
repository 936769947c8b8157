//===- kina-opt.cpp - The optimizer driver --------------------------------===//

#include "Kina/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kina::registerAllDialects(registry);
  kina::registerAllExtensions(registry);
  kina::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Kina optimizer driver\n", registry));
}
