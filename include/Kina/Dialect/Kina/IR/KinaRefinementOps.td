//===- KinaRefinementOps.td - Dimensions and facts -------*- tablegen -*-===//

#ifndef KINA_REFINEMENT_OPS_TD
#define KINA_REFINEMENT_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

def Kina_DimOp : Kina_Op<"dim", [Pure, ConstantLike]> {
  let summary = "the value of a dimension at run time";
  let description = [{
    The names in it are shape variables of the enclosing function, or bound by
    `kina.bind_dim`. The result is an index, another integer type or a float.

    ```mlir
    %0 = kina.dim <4*H> : index
    ```
  }];
  let arguments = (ins Kina_DimAttr:$value);
  let results = (outs Kina_Scalar:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Kina_DimSource : Type<And<[Kina_Scalar.predicate, CPred<"$_self.isIntOrIndex() && !$_self.isInteger(1)">]>,
                          "integer">;

def Kina_BindDimOp : Kina_Op<"bind_dim"> {
  let summary = "gives a name to a size that is born from data";
  let description = [{
    From here on `name` is a dimension, at least 1, checked when executed (K0801).

    ```mlir
    kina.bind_dim "K" = %n : index
    ```
  }];
  let arguments = (ins StrAttr:$name, Kina_DimSource:$value);
  let assemblyFormat = "$name `=` $value attr-dict `:` type($value)";
}

def Kina_ObligationOp : Kina_Op<"obligation"> {
  let summary = "what elaboration could not settle by normal form";
  let description = [{
    A predicate that has to hold here. The names in it are shape variables of the
    enclosing function. `--kina-verify-refinements` discharges it; `text` says what is
    wrong where it fails, with the source spellings, and `notes` (`#kina.note`) what else
    helps: the clause or parameter of a callee, its shape variables in this call.

    ```mlir
    kina.obligation shapes_equal <S = T>, "shapes differ at axis 0 (0-based): 'S' and 'T'"
    ```
  }];
  let arguments = (ins Kina_PredAttr:$pred, Kina_ObligationKind:$kind, StrAttr:$text,
                       OptionalAttr<TypedArrayAttrBase<
                           Attr<CPred<"::llvm::isa<::kina::NoteAttr>($_self)">, "note">, "list of notes">>:$notes);
  let assemblyFormat = "$kind $pred `,` $text (`notes` $notes^)? attr-dict";
}

def Kina_AssumeOp : Kina_Op<"assume"> {
  let summary = "a predicate that is trusted, or proved before";
  let description = [{
    A fact for what follows. `trusted` marks the user's own `assume`, which is tested when
    executed (K0801); a proved one is left by `--kina-verify-refinements` where it tells
    code generation of divisors and ranges.
  }];
  let arguments = (ins Kina_PredAttr:$pred, UnitAttr:$trusted);
  let assemblyFormat = "(`trusted` $trusted^)? $pred attr-dict";
}

def Kina_CheckOp : Kina_Op<"check"> {
  let summary = "a test made when executed";
  let description = [{ If the operand is false the call ends with status K0801 and the text. }];
  let arguments = (ins I1:$condition, StrAttr:$text);
  let assemblyFormat = "$condition `,` $text attr-dict";
}

#endif
