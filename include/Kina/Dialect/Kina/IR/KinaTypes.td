//===- KinaTypes.td - Tensors, continuations, tapes ------*- tablegen -*-===//

#ifndef KINA_TYPES_TD
#define KINA_TYPES_TD

include "Kina/Dialect/Kina/IR/KinaAttrs.td"

class Kina_Type<string name, string mnem, list<Trait> traits = []>
    : TypeDef<Kina_Dialect, name, traits> {
  let mnemonic = mnem;
}

def Kina_TensorType : Kina_Type<"Tensor", "tensor"> {
  let summary = "a tensor with symbolic dimensions and a placement";
  let description = [{
    Element types are f64, f32, f16, bf16, i64, i32, i8, ui8 and i1. A rank-0 tensor on
    the host does not exist: it is the builtin scalar. The placement is `@host` where
    none is written.

    Example: `!kina.tensor<f32, [B, S, 8*q], @cuda:global(0)>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType, ArrayRefParameter<"::kina::DimAttr">:$shape,
                    "::kina::PlacementAttr":$placement);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                        "::llvm::ArrayRef<::kina::DimAttr>":$shape), [{
      return $_get(elementType.getContext(), elementType, shape,
                   PlacementAttr::getHost(elementType.getContext()));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    DimAttr getDim(unsigned axis) const { return getShape()[axis]; }
    bool hasStaticShape() const;
  }];
}

def Kina_HoleType : Kina_Type<"Hole", "hole"> {
  let summary = "an element type that is not inferred yet";
  let description = [{
    Stands for an element type while a function is elaborated; none is left in the
    output of `--kina-elaborate`.
  }];
  let parameters = (ins "unsigned":$id);
  let assemblyFormat = "`<` $id `>`";
}

def Kina_ContType : Kina_Type<"Cont", "cont"> {
  let summary = "a captured continuation, resumed at most once";
  let parameters = (ins "::mlir::Type":$resume, ArrayRefParameter<"::mlir::Type">:$results);
  let hasCustomAssemblyFormat = 1;
}

def Kina_RefType : Kina_Type<"Ref", "ref"> {
  let summary = "a variable that can be assigned to";
  let description = [{
    Local to its function, and gone after `--kina-lower-effects`: there it is a value
    that branches yield and loops carry.

    Example: `!kina.ref<f64>`.
  }];
  let parameters = (ins "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $valueType `>`";
}

def Kina_CotangentsType : Kina_Type<"Cotangents", "cotangents"> {
  let summary = "a linear map from the values of one differentiation to their cotangents";
  let description = [{
    The payload of `ReverseModeAD.RecordVJP` maps one of these to the next. It is
    opaque: seeded at a value, read at a value, and gone after `--kina-lower-effects`.
  }];
}

def Kina_TapeType : Kina_Type<"Tape", "tape"> {
  let summary = "what the iterations of a loop leave for its reverse, by iteration";
  let description = [{
    The stack of pending closures of a loop, defunctionalised: the closures have one
    code, so a tape for each residual is what is left of them. A `bounded` tape has room
    for a number of frames that is known where it is made; a `growable` one takes as
    many as come. The element is a scalar or a tensor, and no tape.

    Example: `!kina.tape<!kina.tensor<f64, [N]>, bounded>`.
  }];
  let parameters = (ins "::mlir::Type":$element, EnumParameter<Kina_TapeForm>:$form);
  let assemblyFormat = "`<` $element `,` $form `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

// Every predicate takes a scalar or a tensor, because a rank-0 tensor is a scalar.
class Kina_ElementIs<string pred, string what>
    : Type<CPred<"::kina::isScalarOrTensorOf($_self, [](::mlir::Type t) { return " # pred # "; })">, what>;

// What has no shape: an element type, or `index`.
def Kina_Scalar : Type<CPred<"!::llvm::isa<::kina::TensorType>($_self) && "
    "::kina::isScalarOrTensorOf($_self, [](::mlir::Type) { return true; })">, "Kina scalar">;
def Kina_Tensor : Type<CPred<"::llvm::isa<::kina::TensorType>($_self)">, "Kina tensor", "::kina::TensorType">;
def Kina_Tape : Type<CPred<"::llvm::isa<::kina::TapeType>($_self)">, "tape", "::kina::TapeType">;
// What can have a cotangent, and what is one.
def Kina_Value : Type<Or<[CPred<"::llvm::isa<::kina::TapeType>($_self)">,
    CPred<"::kina::isScalarOrTensorOf($_self, [](::mlir::Type) { return true; })">]>, "Kina tensor, scalar or tape">;
def Kina_Any : Kina_ElementIs<"true", "Kina tensor or scalar">;
def Kina_Cotangent : Type<CPred<"::kina::hasTangent($_self)">, "float tensor, scalar or tape">;
def Kina_Float : Kina_ElementIs<"::llvm::isa<::mlir::FloatType>(t)", "float tensor or scalar">;
def Kina_Number : Kina_ElementIs<"::llvm::isa<::mlir::FloatType>(t) || !t.isInteger(1)", "number tensor or scalar">;
def Kina_Integer : Kina_ElementIs<"!::llvm::isa<::mlir::FloatType>(t) && !t.isInteger(1)", "integer tensor or scalar">;
def Kina_IntegerOrBool : Kina_ElementIs<"!::llvm::isa<::mlir::FloatType>(t)", "integer or boolean tensor or scalar">;
def Kina_Bool : Kina_ElementIs<"t.isInteger(1)", "boolean tensor or scalar">;

#endif
