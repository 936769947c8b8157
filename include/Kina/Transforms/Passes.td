//===- Passes.td - Transformations of the typed core -----*- tablegen -*-===//

#ifndef KINA_TRANSFORMS_PASSES_TD
#define KINA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ElaboratePass : Pass<"kina-elaborate", "::mlir::ModuleOp"> {
  let summary = "Turn kina_surface into typed kina";
  let description = [{
    Precondition: the module holds `kina_surface` items. Resolves names, infers element
    types and shapes, specialises functions per use, and leaves what normal form cannot
    settle as obligations. Source order and names of functions never change. Errors are
    reported together, sorted by source; then the module is left as it was.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

#endif
