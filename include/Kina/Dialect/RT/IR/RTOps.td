//===- RTOps.td - Operations of the run-time dialect -----*- tablegen -*-===//

#ifndef KINA_RT_OPS_TD
#define KINA_RT_OPS_TD

include "Kina/Dialect/RT/IR/RTDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

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

def RT_AssumeOp : RT_Op<"assume", [MemoryEffects<[MemWrite<RT_CallState>]>]> {
  let summary = "a condition that was proved to hold here";
  let description = [{
    Becomes `llvm.intr.assume`, from which the optimiser learns bounds of a size and what it is a multiple of. Upstream's
    operation itself has effects that bufferization cannot see through. If the condition does not hold, nothing
    is known of what happens behind it.

    Example: `kina_rt.assume %isMultiple`
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
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

//===----------------------------------------------------------------------===//
// Tapes that grow
//===----------------------------------------------------------------------===//

/// A buffer for those who only pass it on and free it: so bufferisation leaves it alone, and
/// its deallocation is that of every other buffer.
def RT_Tape : Type<CPred<"$_self == ::kina::rt::getTapeType($_self.getContext())">, "tape of the run time",
                   "::mlir::MemRefType">,
              BuildableType<"::kina::rt::getTapeType($_builder.getContext())">;

def RT_TapeNewOp : RT_Op<"tape_new"> {
  let summary = "a tape without frames that takes as many as come";
  let description = [{
    Every frame is a buffer of the type `frame`, row by row, whose open sizes are `sizes`. The
    tape is freed with its frames, by `memref.dealloc` or when the call ends.

    Example: `%tape = kina_rt.tape_new(%n) of memref<?x4xf32>`
  }];
  let arguments = (ins Variadic<Index>:$sizes, TypeAttrOf<AnyMemRef>:$frame);
  let results = (outs Res<RT_Tape, "", [MemAlloc]>:$tape);
  let assemblyFormat = "(`(` $sizes^ `)`)? `of` $frame attr-dict";
  let hasVerifier = 1;
}

// What it reads is the tape: so it stays where it is, before the tape is freed, but goes away
// when nobody uses the frame.
def RT_TapeFrameOp : RT_Op<"tape_frame", [DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a frame of a tape, to be written or read";
  let description = [{
    The frame whose number is `at`, from 0; there is memory for it from now on, or the call
    ends (K0806). It stays where it is as long as the tape lives, and holds what was last
    written into it, at first zeros. It is a name of the tape for those who decide when that is freed; only
    the tape itself can be freed or handed on.

    Example: `%frame = kina_rt.tape_frame %tape[%i](%n) : memref<?x4xf32>`
  }];
  let arguments = (ins Arg<RT_Tape, "", [MemRead]>:$tape, Index:$at, Variadic<Index>:$sizes);
  let results = (outs AnyMemRef:$frame);
  let assemblyFormat = "$tape `[` $at `]` (`(` $sizes^ `)`)? attr-dict `:` type($frame)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
