//===- SurfaceOps.td - All operations of the surface -----*- tablegen -*-===//

#ifndef KINA_SURFACE_OPS_TD
#define KINA_SURFACE_OPS_TD

include "Kina/Dialect/Surface/IR/SurfaceExprOps.td"
include "Kina/Dialect/Surface/IR/SurfaceItemOps.td"
include "Kina/Dialect/Surface/IR/SurfaceStmtOps.td"

#endif
