//===- RTDialect.td - The run-time dialect ---------------*- tablegen -*-===//

#ifndef KINA_RT_DIALECT_TD
#define KINA_RT_DIALECT_TD

include "mlir/IR/OpBase.td"

def RT_Dialect : Dialect {
  let name = "kina_rt";
  let summary = "what the generated code asks of the run-time library";
  let description = [{
    Every operation is one function of the C ABI in kina/runtime.h. What holds here:
    an operation acts on the call that runs in the current thread, so none takes a
    context. The dialect appears with `--kina-lower-to-linalg` and ends with
    `--kina-convert-rt-to-llvm`.
  }];
  let cppNamespace = "::kina::rt";
}

#endif
