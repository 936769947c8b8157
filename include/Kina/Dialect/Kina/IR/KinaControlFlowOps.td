//===- KinaControlFlowOps.td - Structured control flow ---*- tablegen -*-===//

#ifndef KINA_CONTROL_FLOW_OPS_TD
#define KINA_CONTROL_FLOW_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

def Kina_IfOp : Kina_Op<"if", [DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getRegionInvocationBounds"]>,
                               RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "one of two regions, by a boolean";
  let description = [{
    The regions capture values from outside and yield the results. Without results the
    second region may be empty.

    ```mlir
    %r = kina.if %c -> (f64) {
      kina.yield %a : f64
    } else {
      kina.yield %b : f64
    }
    ```
  }];
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, MaxSizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition (`->` `(` type($results)^ `)`)? $thenRegion (`else` $elseRegion^)? attr-dict";
  let hasVerifier = 1;
}

def Kina_WhileOp : Kina_Op<"while", [DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
                                     RecursiveMemoryEffects, SingleBlock, Kina_OwnershipOpInterface]> {
  let summary = "a loop that carries values while a condition holds";
  let description = [{
    The first region gets the carried values and ends in `kina.condition`, which may
    forward extra values. Carried values pass through it unchanged, so a tensor that is
    carried stays in its buffer. The second region gets carried and extra values and
    yields the next carried values. The results are carried and extra values after the
    test that failed: the condition runs once more than the body. `checkpoint` is the
    user's `@checkpoint`. `trip_bound` is an upper bound of the number of iterations
    that is known to hold.

    ```mlir
    %r:2 = kina.while (%x = %x0, %i = %zero) : f64, i32 {
      %c = kina.cmp lt, %i, %n : i32
      kina.condition(%c)
    } do {
    ^bb0(%x: f64, %i: i32):
      ...
      kina.yield %x1, %i1 : f64, i32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inits, OptionalAttr<Kina_CheckpointAttr>:$checkpoint,
                       OptionalAttr<Kina_DimAttr>:$trip_bound);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$after);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inits, "::mlir::TypeRange":$extras)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBeforeBody() { return &getBefore().front(); }
    ::mlir::Block *getAfterBody() { return &getAfter().front(); }
    ConditionOp getConditionOp();
    YieldOp getYieldOp();
    unsigned getNumCarried() { return getInits().size(); }
  }];
}

def Kina_ConditionOp : Kina_Op<"condition", [Pure, HasParent<"WhileOp">, Terminator, Kina_OwnershipOpInterface,
                                             DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "ends the condition of a loop";
  let description = [{ Goes on while the operand is true; `extras` are handed to the body and to the results. }];
  let arguments = (ins I1:$condition, Variadic<AnyType>:$extras);
  let assemblyFormat = "`(` $condition `)` ($extras^ `:` type($extras))? attr-dict";
}

def Kina_YieldOp : Kina_Op<"yield", [Pure, ReturnLike, Terminator, Kina_OwnershipOpInterface,
                                     ParentOneOf<["IfOp", "WhileOp", "RematOp", "HandleOp", "PerformOp", "GlobalOp"]>]> {
  let summary = "ends a region with its values";
  let description = [{ The values become results of the enclosing operation, or the next carried values of a loop. }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Kina_RematOp : Kina_Op<"remat", [DeclareOpInterfaceMethods<RegionBranchOpInterface>, RecursiveMemoryEffects,
                                     SingleBlock, NoRegionArguments]> {
  let summary = "a region that reverse mode runs again instead of taping it";
  let description = [{
    Forward it is just its body. Reverse mode keeps only what the region captures, and
    re-runs it, taped, before it reverses it. Every checkpointing schedule is a nest of
    these.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` `(` type($results)^ `)`)? $body attr-dict";
  let hasVerifier = 1;
}

#endif
