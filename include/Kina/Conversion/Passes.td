//===- Passes.td - Conversions between dialects ----------*- tablegen -*-===//

#ifndef KINA_CONVERSION_PASSES_TD
#define KINA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalgPass : Pass<"kina-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower typed Kina to linalg, tensor, scf, arith and math";
  let description = [{
    Precondition: no differentiation is left (`--kina-ad`), no obligation is open, and
    all tensors are on the host. Every `kina.func` becomes a `func.func` over builtin
    tensors, with `?` for symbolic sizes; the typed signature stays as discardable
    attributes (`kina.function_type`, `kina.shape_vars`, `kina.requires`). Symbols and
    their visibility never change.

    Shape variables become sizes of the arguments, computed at the entry of each function.
    Public functions check there that their arguments agree on them (K0802) and that their
    preconditions hold (K0801). What can fail when executed is a `kina_rt.check`, outermost
    loops hold a `kina_rt.poll`. Facts that were proved about a size alone (its multiples and bounds, `kina.assume`) become
    `kina_rt.assume`. A size that is computed with in fewer than 64 bits is tested to fit (K0802). Floats keep IEEE semantics: no operation is marked fast.
    Sums run in index order, matrix products are chains of fused multiply-adds.

    Example:
    ```mlir
    kina.func @f(%x: !kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N">]} {
      %0 = kina.sum %x axes [0] : !kina.tensor<f64, [N]>
      kina.return %0 : f64
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<?xf64>) -> f64 {
      %empty = tensor.empty() : tensor<f64>
      %zero = linalg.fill ins(%cst : f64) outs(%empty : tensor<f64>) -> tensor<f64>
      %sum = linalg.generic {... iterator_types = ["reduction"]} ins(%x) outs(%zero) { ... }
      %0 = tensor.extract %sum[] : tensor<f64>
      return %0 : f64
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::kina::rt::RTDialect"
  ];
}

#endif
