//===- Passes.td - Code generation for the CPU -----------*- tablegen -*-===//

#ifndef KINA_CODEGEN_CPU_PASSES_TD
#define KINA_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def BoundInlining : Pass<"kina-bound-inlining", "::mlir::ModuleOp"> {
  let summary = "Keep a function from being inlined where that would blow up the code";
  let description = [{
    Inlining lets loops keep their scratch buffers, but a chain of functions that each call
    the one before twice doubles at every link. A function that would have more than
    `limit` operations with all its calls inlined is marked `no_inline`, and counts as one
    operation in its callers. Functions that are small enough stay as they are.
  }];
  let options = [Option<"limit", "limit", "unsigned", "4096", "Operations after inlining">];
}

def ContractToFMA : Pass<"kina-contract-to-fma"> {
  let summary = "Give f32 and f64 contractions an explicit fused multiply-add";
  let description = [{
    Rewrites the region of every contraction on f32 or f64 accumulators from a product and
    a sum to `math.fma`, generalising named operations. A contraction is a single FMA chain
    in index order by definition, on every target; so the rewrite happens before anything
    is fused or cloned. Products and sums of other operations stay two roundings.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def FuseElementwise : Pass<"kina-fuse-elementwise"> {
  let summary = "Fuse element-wise operations where no work is repeated";
  let description = [{
    Fuses a `linalg.generic` into its only user unless the user would evaluate an element
    of it several times: a producer goes into a reduction only through a permutation of
    its loops, so never into a matmul.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def HoistInvariants : Pass<"kina-hoist-invariants"> {
  let summary = "Move what a loop does not change in front of it";
  let description = [{
    Loop-invariant code motion on tensors. Unlike upstream's `loop-invariant-code-motion` it leaves reads of a part of a
    tensor (`tensor.extract`, `tensor.extract_slice`) where they are, with what is computed of them, unless offsets and
    sizes are constants inside of the tensor: what the program reads is in bounds only behind the test, and where the
    loop runs at all.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ResolveCarriedCopies : Pass<"kina-resolve-carried-copies"> {
  let summary = "Write what a loop yields into the buffers it carries";
  let description = [{
    What a loop yields is a parallel copy into its carried values. This pass spells it out
    on tensors with `linalg.copy`, in an order in which nothing is overwritten before it is
    read; a cycle (a swap, a rotation) is broken by one
    scratch tensor that the loop carries as well, so that it is allocated once. A tensor
    that only the condition region computes gets such a scratch tensor too. In a loop, an
    `scf.if` writes its result into the carried value, or into a scratch tensor where that
    is still read.

    Afterwards One-Shot Bufferize keeps every carried tensor in one buffer, without
    `allow-return-allocs-from-loops`.

    Precondition: a carried tensor keeps its shape, as Kina's types guarantee.

    Example: the body of a loop that swaps `%x` and `%y`,
    ```mlir
    scf.yield %y, %x : tensor<8xf32>, tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = linalg.copy ins(%y : tensor<8xf32>) outs(%scratch : tensor<8xf32>) -> tensor<8xf32>
    %1 = linalg.copy ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
    %2 = linalg.copy ins(%0 : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %2, %1, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def Bufferize : Pass<"kina-bufferize", "::mlir::ModuleOp"> {
  let summary = "Bufferise tensors in place; arguments of functions are read only";
  let description = [{
    Removes empty tensors whose contents end in a known place, then runs One-Shot
    Bufferize across function boundaries with identity layouts; a `linalg.copy` becomes a
    `memref.copy`, which folds where it copies a buffer onto itself. Arguments of public
    functions are never written. An allocation that would leave a loop is an error:
    `--kina-resolve-carried-copies` comes first.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def HoistLoopAllocations : Pass<"kina-hoist-loop-allocations"> {
  let summary = "Allocate scratch buffers once, before their loop";
  let description = [{
    Moves every `memref.alloc` in an `scf.for` or `scf.while` before the outermost loop
    that leaves its sizes unchanged and doesn't carry the buffer to the next iteration,
    together with the computation of the sizes. A buffer that isn't carried is dead at the
    end of the iteration, so all iterations may share it.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def LinalgToLoops : Pass<"kina-linalg-to-loops"> {
  let summary = "Lower linalg on buffers to loops, contiguous innermost";
  let description = [{
    Chooses the loop order by the strides of the operands: the innermost loop runs along
    rows (a matmul becomes i-k-j). An accumulator of innermost reduction loops stays in a
    register. Reduction loops keep their order, so every element sees its terms in index
    order. Copies of strided buffers become loops as well.

    A sum of f32, f16 or bf16 (a `linalg.generic` or `linalg.reduce` that yields its
    accumulator plus a term) adds term t, in row-major order of the reduced axes, to the f64
    partial sum t mod 64; then the upper half of the partial sums is added to the lower half
    until one is left, which is rounded once. That order is part of the sum's meaning: it
    depends neither on the shape nor on the loops.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect"];
}

def LowerExpandShape : Pass<"kina-lower-expand-shape"> {
  let summary = "Turn every expansion of a buffer's shape into a cast with strides";
  let description = [{
    Rewrites `memref.expand_shape` to `memref.reinterpret_cast` with the sizes that the
    operation names and strides computed from them and from its source, whatever the layout
    and however many sizes of a group are open.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CheckAllocations : Pass<"kina-check-allocations"> {
  let summary = "End the call where the size of a buffer doesn't fit into 64 bits";
  let description = [{
    Puts a `kina_rt.check` (K0806) before every `memref.alloc` and `kina_rt.tape_new` whose sizes are
    not all known:
    no size is negative, and the bytes, computed without wrapping, are at most 2^62. A size of
    0 counts as 1 for that, so that strides and products of some sizes don't wrap either. A
    buffer that is known to be too large gets a check that always fails. Allocations in one
    block with the same sizes share a check.
  }];
  let dependentDialects = ["::kina::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def ConvertRTToLLVM : Pass<"kina-convert-rt-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn run-time operations into calls of the run-time library";
  let description = [{
    A check becomes an `scf.if` around a call of the noreturn function `kina_rt_fail`;
    texts become constants, the location comes from the operation. Tapes become calls that
    give the address of a buffer. Runs while control flow is structured.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def ConvertToLLVM : Pass<"kina-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn scalars, buffers, branches and functions into LLVM in one conversion";
  let description = [{
    Applies the patterns of `convert-math-to-llvm`, `convert-arith-to-llvm`,
    `finalize-memref-to-llvm`, `convert-index-to-llvm`, `convert-func-to-llvm` and
    `convert-cf-to-llvm` together, which takes a third of the time of one after the other.
    Memory comes from MLIR's generic functions of aligned allocation, which
    `--kina-finalize-llvm` binds. Control flow is branches by then.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmitEntryPoints : Pass<"kina-emit-entry-points", "::mlir::ModuleOp"> {
  let summary = "Give every public function its entry of the C ABI";
  let description = [{
    For each public function `f` with a body adds `_kina_entry_f` of type `kina_entry`
    (kina/runtime.h), or `m_f` in a module that gets the name `m` by the option `module`, which
    then also has the constant `m_kina_abi_version`. The entry takes borrowed DLPack tensors, checks them (K0802), calls `f`, and
    delivers the results into the caller's destinations, or hands the buffers over.
    Runs after bufferisation, while functions are still `func.func`. Element types that
    buffers don't tell apart (ui8) come from the attribute `kina.function_type`.
  }];
  let options = [Option<"module", "module", "std::string", [{""}],
                        "What the names of entries begin with, an identifier of C">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def WidenSmallFloats : Pass<"kina-widen-small-floats"> {
  let summary = "Compute f16 and bf16 operations in f32";
  let description = [{
    Every operation of `arith` and `math` on f16 or bf16 computes in f32 and rounds its
    result once. The conversions carry no `contract` flag, so that none is folded away.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MathToLibm : Pass<"kina-math-to-libm", "::mlir::ModuleOp"> {
  let summary = "Call libm for the functions that no instruction computes exactly";
  let description = [{
    Everything in `math` but sqrt, fma, abs, copysign, ceil, floor, round-to-even, trunc and
    integer operations becomes a call of the C library, whose results are within an ulp;
    the rest is exact as an LLVM intrinsic.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def ReportCopies : Pass<"kina-report-copies"> {
  let summary = "Tell which loops copy whole tensors that could be updated in place";
  let description = [{
    Runs behind everything that could remove a copy. A copy of a whole buffer in a loop is told
    (K0701) if it was made because only a part of the tensor is written, or because the tensor
    of one state goes on as another state; once for each place in the source. A note says what
    keeps the old values alive, as far as that is known. Nothing is changed.
  }];
}

def NarrowLocations : Pass<"kina-narrow-locations", "::mlir::ModuleOp"> {
  let summary = "Leave every operation one position in the source";
  let description = [{
    A location becomes the position where its innermost range begins: for code that was
    inlined, the one in the callee. The translation to LLVM IR knows no ranges, and what it
    knows of inlining needs functions that are gone. With
    `--ensure-debug-info-scope-on-llvm-func` after this pass, compiled code carries DWARF
    lines of the `.kina` source.
  }];
}

def FinalizeLLVM : Pass<"kina-finalize-llvm", "::mlir::ModuleOp"> {
  let summary = "Bind allocation to the run-time library and set the target";
  let description = [{
    Renames MLIR's generic allocation functions to `kina_rt_alloc` and `kina_rt_free`, and sets
    target triple and data layout of the host, without which LLVM turns a memset into a
    loop over bytes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
