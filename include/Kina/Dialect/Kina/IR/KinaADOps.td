//===- KinaADOps.td - Differentiation --------------------*- tablegen -*-===//

#ifndef KINA_AD_OPS_TD
#define KINA_AD_OPS_TD

include "Kina/Dialect/Kina/IR/KinaEffectOps.td"

class Kina_DerivativeOp<string mnemonic, list<Trait> traits = []>
    : Kina_Op<mnemonic, traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Kina_OwnershipOpInterface]> {
  let extraClassDeclaration = [{
    /// The arguments of the callee come first; cotangents and tangents are only read.
    bool consumesOperand(unsigned operand, ::kina::ParameterConsumption consumes) {
      return operand < getInputs().size() && consumes(getCalleeAttr(), operand);
    }
  }];
}

def Kina_GradOp : Kina_DerivativeOp<"grad"> {
  let summary = "the gradient of a scalar function";
  let description = [{
    Calls `callee`, whose first result is a float scalar (the loss, K0603), and returns
    the cotangents of the operands named by `wrt` (indices), each of its operand's type.
    With `value` all of the callee's results come before them.

    ```mlir
    %l, %dw = kina.grad @loss(%w, %x) subst {B = #kina.dim<B>} wrt [0] value
        : (!kina.tensor<f64, [B]>, !kina.tensor<f64, [B]>) -> (f64, !kina.tensor<f64, [B]>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs, Kina_Subst:$subst,
                       DenseI64ArrayAttr:$wrt, UnitAttr:$value);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `subst` $subst `wrt` $wrt (`value` $value^)? attr-dict
    `:` functional-type($inputs, $results)
  }];
}

def Kina_VJPOp : Kina_DerivativeOp<"vjp", [AttrSizedOperandSegments]> {
  let summary = "the pullback of a function at a point, applied to cotangents";
  let description = [{
    `cotangents` has one operand per float result of the callee, of that result's type.
    The results are the cotangents of the operands named by `wrt`; with `value` the
    callee's results come first.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       Variadic<AnyType>:$cotangents, Kina_Subst:$subst, DenseI64ArrayAttr:$wrt,
                       UnitAttr:$value);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)` `of` `(` ($cotangents^ `:` type($cotangents))? `)`
    `subst` $subst `wrt` $wrt (`value` $value^)? attr-dict (`->` type($results)^)?
  }];
}

def Kina_JVPOp : Kina_DerivativeOp<"jvp", [AttrSizedOperandSegments]> {
  let summary = "the pushforward of a function at a point, applied to tangents";
  let description = [{
    `tangents` has one operand per entry of `wrt`. The results are the tangents of the
    callee's float results; with `value` the callee's results come first.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       Variadic<AnyType>:$tangents, Kina_Subst:$subst, DenseI64ArrayAttr:$wrt,
                       UnitAttr:$value);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)` `along` `(` ($tangents^ `:` type($tangents))? `)`
    `subst` $subst `wrt` $wrt (`value` $value^)? attr-dict (`->` type($results)^)?
  }];
}

def Kina_WatchOp : Kina_Op<"watch", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "a name of its own for a value whose cotangent is wanted";
  let description = [{
    The identity. `f(x, x)` differentiated in its first parameter needs two values that
    are told apart.
  }];
  let arguments = (ins Kina_Any:$operand);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Kina_SeedOp : Kina_Op<"seed", [Pure, AttrSizedOperandSegments,
    RangedTypesMatchWith<"cotangents have the types of the values", "values", "cotangents", "$_self">]> {
  let summary = "the map that holds the given cotangents and nothing else";
  let description = [{ One cotangent per value, of the value's type. }];
  let arguments = (ins Variadic<Kina_Any>:$values, Variadic<Kina_Any>:$cotangents);
  let results = (outs Kina_Cotangents:$result);
  let assemblyFormat = "$values `with` $cotangents attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Kina_PullOp : Kina_Op<"pull", [Pure]> {
  let summary = "applies a recorded pullback to a map of cotangents";
  let description = [{ The payload of RecordVJP, called; adds its contributions to the map. }];
  let arguments = (ins AnyType:$vjp, Kina_Cotangents:$cotangents);
  let results = (outs Kina_Cotangents:$result);
  let assemblyFormat = "$vjp `(` $cotangents `)` attr-dict `:` type($vjp)";
  let hasVerifier = 1;
}

def Kina_CotangentOfOp : Kina_Op<"cotangent_of", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "reads the cotangent of a value";
  let description = [{ Of the value's type; zeros where nothing contributed. }];
  let arguments = (ins Kina_Any:$value, Kina_Cotangents:$cotangents);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$value `in` $cotangents attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Kina_AbsentOp : Kina_Op<"absent", [Pure]> {
  let summary = "a symbolic zero: a cotangent that is not there";
  let description = [{
    Never lowered. Rules are built against it and fold it away, so that no zero is
    materialised, and none is added.
  }];
  let results = (outs Kina_Value:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Kina_AccumulateOp : Kina_Op<"accumulate", [Pure, SameOperandsAndResultType]> {
  let summary = "accumulator plus contribution";
  let description = [{
    An addition, except that an accumulator `kina.absent` makes it the contribution, and
    a contribution `kina.absent` makes it the accumulator.
  }];
  let arguments = (ins Kina_Cotangent:$accumulator, Kina_Cotangent:$contribution);
  let results = (outs Kina_Cotangent:$result);
  let assemblyFormat = "$accumulator `,` $contribution attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Tapes
//===----------------------------------------------------------------------===//

def Kina_TapeNewOp : Kina_Op<"tape_new"> {
  let summary = "a tape without frames";
  let description = [{ `bound`, which a bounded tape needs, is the number of frames it has room for. }];
  let arguments = (ins Optional<Index>:$bound);
  let results = (outs Res<Kina_Tape, "", [MemAlloc]>:$tape);
  let assemblyFormat = "(`bound` $bound^)? attr-dict `:` type($tape)";
  let hasVerifier = 1;
}

def Kina_TapeZerosOp : Kina_Op<"tape_zeros"> {
  let summary = "a tape full of zeros";
  let description = [{
    The cotangent of a tape is a tape; this one is that of a tape nobody reads. `bound`
    is the number of its frames; those of a growable tape come with zeros in them.
  }];
  let arguments = (ins Index:$bound);
  let results = (outs Res<Kina_Tape, "", [MemAlloc]>:$tape);
  let assemblyFormat = "$bound attr-dict `:` type($tape)";
}

def Kina_TapeLengthOp : Kina_Op<"tape_length", [Pure]> {
  let summary = "the number of frames that a tape has room for";
  let arguments = (ins Kina_Tape:$tape);
  let results = (outs Index:$length);
  let assemblyFormat = "$tape attr-dict `:` type($tape)";
}

def Kina_TapeAddOp : Kina_Op<"tape_add", [Pure, SameOperandsAndResultType, Kina_Differentiable]> {
  let summary = "the sum of two tapes, frame by frame";
  let arguments = (ins Kina_Tape:$lhs, Kina_Tape:$rhs);
  let results = (outs Kina_Tape:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Kina_PresentOp : Kina_Op<"present", [Pure, AllTypesMatch<["cotangent", "result"]>]> {
  let summary = "the cotangent of a tape, zeros if it is absent";
  let description = [{
    Frames are added to it one by one, so it has to be there; `bound` is the number of
    frames of the tape. Ends in `--kina-lower-effects`.
  }];
  let arguments = (ins Kina_Tape:$cotangent, Index:$bound);
  let results = (outs Kina_Tape:$result);
  let assemblyFormat = "$cotangent `bound` $bound attr-dict `:` type($cotangent)";
}

class Kina_TapeFrameOp<string mnemonic, list<Trait> traits = []> : Kina_Op<mnemonic, traits # [
    Pure, TypesMatchWith<"the value has the element type of the tape", "tape", "value",
                         "::llvm::cast<::kina::TapeType>($_self).getElement()">]>;

def Kina_TapePushOp : Kina_TapeFrameOp<"tape_push", [Kina_Differentiable, AllTypesMatch<["tape", "result"]>]> {
  let summary = "the tape with the frame of an iteration";
  let description = [{
    `at` is the number of the frame, from 0. The operand is not used afterwards, so that
    the frame is written where it is.
  }];
  let arguments = (ins Kina_Tape:$tape, Index:$at, AnyType:$value);
  let results = (outs Kina_Tape:$result);
  let assemblyFormat = "$tape `at` $at `,` $value attr-dict `:` type($tape)";
}

def Kina_TapeReadOp : Kina_TapeFrameOp<"tape_read", [Kina_Differentiable]> {
  let summary = "the frame of an iteration";
  let description = [{ `at` is the number of a frame that was pushed. }];
  let arguments = (ins Kina_Tape:$tape, Index:$at);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$tape `at` $at attr-dict `:` type($tape)";
}

#endif
