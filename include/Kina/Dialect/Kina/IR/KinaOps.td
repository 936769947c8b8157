//===- KinaOps.td - All operations, by concern -----------*- tablegen -*-===//

#ifndef KINA_OPS_TD
#define KINA_OPS_TD

include "Kina/Dialect/Kina/IR/KinaFunctionOps.td"
include "Kina/Dialect/Kina/IR/KinaControlFlowOps.td"
include "Kina/Dialect/Kina/IR/KinaEffectOps.td"
include "Kina/Dialect/Kina/IR/KinaADOps.td"
include "Kina/Dialect/Kina/IR/KinaRefinementOps.td"
include "Kina/Dialect/Kina/IR/KinaElementwiseOps.td"
include "Kina/Dialect/Kina/IR/KinaTensorOps.td"
include "Kina/Dialect/Kina/IR/KinaReductionOps.td"
include "Kina/Dialect/Kina/IR/KinaNetworkOps.td"
include "Kina/Dialect/Kina/IR/KinaRandomOps.td"
include "Kina/Dialect/Kina/IR/KinaPlacementOps.td"

#endif
