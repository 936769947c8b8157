//===- KinaEffectOps.td - Effects and handlers -----------*- tablegen -*-===//

#ifndef KINA_EFFECT_OPS_TD
#define KINA_EFFECT_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

def Kina_EffectOp : Kina_Op<"effect", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "declares an effect";
  let description = [{
    Its operations stand in its region.

    ```mlir
    kina.effect @Exit {
      kina.operation @Stop : (f64) -> ()
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
}

def Kina_OperationOp : Kina_Op<"operation", [Symbol, HasParent<"EffectOp">]> {
  let summary = "an operation of an effect: its payload and what it resumes with";
  let description = [{ Shape variables of the signature are bound at each `kina.perform`. }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$type,
                       OptionalAttr<ArrayAttr>:$shape_vars);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Kina_PerformOp : Kina_Op<"perform", [AttrSizedOperandSegments,
                                         DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "performs an operation of an effect";
  let description = [{
    The operands are the payload. `ReverseModeAD.RecordVJP` carries its payload, the
    pullback of the operation before it, as a region, and names the differentiation it
    belongs to by `tag`: `primals` are the values whose cotangents the pullback takes,
    `targets` those whose cotangents it adds to. The region's arguments are the
    cotangents of the primals, then an accumulator for each target; it yields the new
    cotangents of the targets. It captures residuals by SSA and is no first-class value.
    A cotangent that is not there is `kina.absent`. The result types of other operations
    are those of the signature, its shape variables bound by what is performed.

    ```mlir
    %y = kina.mul %a, %b : f64
    kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%y : f64) to (%a, %b : f64, f64) {
    ^bb0(%dy: f64, %da: f64, %db: f64):
      ...
      kina.yield %da1, %db1 : f64, f64
    }
    ```
  }];
  let arguments = (ins SymbolRefAttr:$performed, Variadic<AnyType>:$payload,
                       Variadic<Kina_Value>:$primals, Variadic<Kina_Value>:$targets,
                       OptionalAttr<Kina_TagAttr>:$tag);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region MaxSizedRegion<1>:$vjp);
  let assemblyFormat = [{
    $performed (`(` $payload^ `:` type($payload) `)`)? (`->` `(` type($results)^ `)`)?
    (`tag` $tag^ `of` `(` $primals `:` type($primals) `)` `to` `(` $targets `:` type($targets) `)`)?
    ($vjp^)? attr-dict
  }];
  let hasRegionVerifier = 1;
}

def Kina_HandleOp : Kina_Op<"handle", [RecursiveMemoryEffects]> {
  let summary = "runs a region under a handler";
  let description = [{
    Regions: the body, which yields; the return region, which gets what the body yields
    and yields the results; then one region per entry of `operations`, with the
    operation's payload and a `!kina.cont` as arguments, which yields the results. An
    operation whose signature has shape variables has one case for every type that is
    performed in the body. A case that does not resume leaves the handle at once. The
    continuation runs under the handle again, a case itself does not. With `tag` the handle answers
    the `RecordVJP`s of that tag only; the payload is then a function from
    `!kina.cotangents` to `!kina.cotangents`.

    The built-in handler of reverse mode, in which what comes after `kina.resume` is
    what runs behind the body in reverse order:

    ```mlir
    %y, %cts = kina.handle tag <0> -> (f64, !kina.cotangents) {
      %0 = kina.call @f(%x) subst {} : (f64) -> f64
      kina.yield %0 : f64
    } return {
    ^bb0(%r: f64):
      %seeded = kina.seed %r with %one : f64
      kina.yield %r, %seeded : f64, !kina.cotangents
    } cases [@ReverseModeAD::@RecordVJP] {
    ^bb0(%vjp: (!kina.cotangents) -> !kina.cotangents, %k: !kina.cont<none -> (f64, !kina.cotangents)>):
      %r, %c = kina.resume %k() : ...
      %c1 = kina.pull %vjp(%c)
      kina.yield %r, %c1 : f64, !kina.cotangents
    }
    %dx = kina.cotangent_of %x in %cts : f64
    ```
  }];
  let arguments = (ins ArrayAttr:$operations, OptionalAttr<Kina_TagAttr>:$tag);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, SizedRegion<1>:$returnRegion,
                        VariadicRegion<SizedRegion<1>>:$cases);
  let assemblyFormat = [{
    (`tag` $tag^)? (`->` `(` type($results)^ `)`)? $body `return` $returnRegion
    `cases` $operations $cases attr-dict
  }];
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

def Kina_RefValue : Type<CPred<"::llvm::isa<::kina::RefType>($_self)">, "variable", "::kina::RefType">;

def Kina_RefOp : Kina_Op<"ref", [Kina_OwnershipOpInterface, TypesMatchWith<"the variable holds a value of the operand's type", "init", "result",
                                                "::kina::RefType::get($_ctxt, $_self)">]> {
  let summary = "a new variable";
  let description = [{
    The state of a handler. A variable is never an operand of anything but `kina.deref`
    and `kina.assign`, so it needs no memory.

    ```mlir
    %c = kina.ref %zero : f64
    %x = kina.deref %c : f64
    kina.assign %c, %y : f64
    ```
  }];
  let arguments = (ins AnyType:$init);
  let results = (outs Kina_RefValue:$result);
  let assemblyFormat = "$init attr-dict `:` type($init)";
}

def Kina_DerefOp : Kina_Op<"deref", [TypesMatchWith<"the variable holds a value of the result's type", "result", "ref",
                                                    "::kina::RefType::get($_ctxt, $_self)">]> {
  let summary = "the value of a variable";
  let arguments = (ins Kina_RefValue:$ref);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$ref attr-dict `:` type($result)";
}

def Kina_AssignOp : Kina_Op<"assign", [Kina_OwnershipOpInterface, TypesMatchWith<"the variable holds a value of the operand's type", "value", "ref",
                                                      "::kina::RefType::get($_ctxt, $_self)">]> {
  let summary = "gives a variable another value";
  let arguments = (ins Kina_RefValue:$ref, AnyType:$value);
  let assemblyFormat = "$ref `,` $value attr-dict `:` type($value)";
}

def Kina_ContValue : Type<CPred<"::llvm::isa<::kina::ContType>($_self)">, "continuation", "::kina::ContType">;
def Kina_Cotangents : Type<CPred<"::llvm::isa<::kina::CotangentsType>($_self)">, "cotangents", "::kina::CotangentsType">,
                      BuildableType<"::kina::CotangentsType::get($_builder.getContext())">;

def Kina_ResumeOp : Kina_Op<"resume", [Kina_OwnershipOpInterface]> {
  let summary = "resumes a continuation, at most once";
  let description = [{ The results are those of the enclosing `kina.handle`. }];
  let arguments = (ins Kina_ContValue:$continuation, Variadic<AnyType>:$values);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $continuation `(` ($values^ `:` type($values))? `)` attr-dict `:` type($continuation) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif
