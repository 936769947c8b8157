//===- Passes.td - Conversions between dialects ----------*- tablegen -*-===//

#ifndef KINA_CONVERSION_PASSES_TD
#define KINA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalgPass : Pass<"kina-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower typed Kina to linalg, tensor, scf, arith and math";
  let description = [{
    Precondition: no differentiation is left (`--kina-ad`) and all tensors are on the
    host. Every `kina.func` becomes a `func.func` over builtin tensors, with `?` for
    symbolic sizes; the typed signature stays as discardable attributes, from which
    entry checks are made. Symbols and their visibility never change.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif
