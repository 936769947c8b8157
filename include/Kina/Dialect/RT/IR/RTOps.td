//===- RTOps.td - Operations of the run-time dialect -----*- tablegen -*-===//

#ifndef KINA_RT_OPS_TD
#define KINA_RT_OPS_TD

include "Kina/Dialect/RT/IR/RTDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class RT_Op<string mnemonic, list<Trait> traits = []> : Op<RT_Dialect, mnemonic, traits>;

/// The call in progress: whether it still runs, and what it has counted. A resource of its
/// own, so that loads and stores move freely past these operations, while they are neither
/// removed, duplicated nor exchanged among themselves.
def RT_CallState : Resource<"::kina::rt::CallState">;

def RT_CheckOp : RT_Op<"check", [MemoryEffects<[MemWrite<RT_CallState>]>]> {
  let summary = "end the call with an error unless a condition holds";
  let description = [{
    If `condition` is false, the code, the message, the values and the location of this
    operation are recorded in the context of the call, the memory of the call is freed, and
    its entry returns `code`: control does not come back. `{0}`, `{1}` ... in the message
    stand for the values.

    The operation may stand in the body of a `linalg.generic`. It then lives as long as that
    operation does: a result that nobody uses is not checked.

    Example:
    ```mlir
    kina_rt.check %ok, 803, "index {0} is outside of [0, {1})" (%i, %n) : index, index
    ```
  }];
  let arguments = (ins I1:$condition, I32Attr:$code, StrAttr:$message,
                       Variadic<AnySignlessIntegerOrIndex>:$values);
  let assemblyFormat = [{
    $condition `,` $code `,` $message (`(` $values^ `)` `:` type($values))? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def RT_PollOp : RT_Op<"poll", [MemoryEffects<[MemRead<RT_CallState>, MemWrite<RT_CallState>]>]> {
  let summary = "count one iteration of a loop that nothing bounds";
  let description = [{
    Stands in the body of every outermost loop, and of every inner loop whose trip count the
    program does not bound.
    Counts a step, reports progress, and ends the call with K0805 when the user interrupts
    it or the limit on steps is passed.

    Example: `kina_rt.poll`
  }];
  let assemblyFormat = "attr-dict";
}

#endif
