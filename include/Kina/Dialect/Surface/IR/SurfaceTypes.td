//===- SurfaceTypes.td - The one type of the surface -----*- tablegen -*-===//

#ifndef KINA_SURFACE_TYPES_TD
#define KINA_SURFACE_TYPES_TD

include "Kina/Dialect/Surface/IR/SurfaceDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Surface_Expr : TypeDef<Surface_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "an expression whose type is not known yet";
  let description = [{
    The edge between an expression and the one operation that uses it. Types begin to
    exist with `--kina-elaborate`.
  }];
}

#endif
