//===- KinaBase.td - Base classes of operations ----------*- tablegen -*-===//

#ifndef KINA_BASE_TD
#define KINA_BASE_TD

include "Kina/Dialect/Kina/IR/KinaTypes.td"
include "Kina/Dialect/Kina/IR/KinaInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kina_Op<string mnemonic, list<Trait> traits = []> : Op<Kina_Dialect, mnemonic, traits>;

// A dimension list, one entry per axis.
def Kina_DimArrayAttr : TypedArrayAttrBase<
    Attr<CPred<"::llvm::isa<::kina::DimAttr>($_self)">, "dimension">, "list of dimensions"> {
  let constBuilderCall = "$0";
}
def Kina_Subst : Attr<CPred<"::kina::isSubstitution($_self)">, "substitution of shape variables"> {
  let storageType = "::mlir::DictionaryAttr";
  let returnType = "::mlir::DictionaryAttr";
  let convertFromStorage = "$_self";
}

// Marks an operation that has a derivative. The rule is an external model of
// DifferentiableOpInterface (lib/Transforms/AD/Rules), so that this library knows
// nothing of differentiation; a unit test checks that every marked operation has one.
def Kina_Differentiable : NativeOpTrait<"HasDerivative"> {
  let cppNamespace = "::kina";
}

#endif
