//===- SurfaceBase.td - Base classes of the surface's ops -*- tablegen -*-===//

#ifndef KINA_SURFACE_BASE_TD
#define KINA_SURFACE_BASE_TD

include "Kina/Dialect/Surface/IR/SurfaceAttrs.td"
include "Kina/Dialect/Surface/IR/SurfaceTypes.td"

// Checks the form of every region: empty where the op allows it, else one block without
// arguments that ends in `kina_surface.yield`.
def Surface_Regions : NativeOpTrait<"SurfaceRegions"> {
  let cppNamespace = "::kina::surface";
}

// The result is used exactly once, in the same block.
def Surface_ExprTree : NativeOpTrait<"SurfaceExprTree"> {
  let cppNamespace = "::kina::surface";
}

class Surface_Op<string mnemonic, list<Trait> traits = []>
    : Op<Surface_Dialect, mnemonic, traits>;

class Surface_ExprOp<string mnemonic, list<Trait> traits = []>
    : Surface_Op<mnemonic, traits # [Surface_ExprTree]> {
  let results = (outs Surface_Expr:$result);
}

class Surface_StmtOp<string mnemonic, list<Trait> traits = []>
    : Surface_Op<mnemonic, traits>;

class Surface_ItemOp<string mnemonic, list<Trait> traits = []>
    : Surface_Op<mnemonic, traits # [HasParent<"::mlir::ModuleOp">]>;

#endif
