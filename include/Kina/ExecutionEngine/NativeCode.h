//===- NativeCode.h - From a module to optimised LLVM IR -------*- C++ -*-===//
//
// The way to machine code that the JIT and files share, so that both run the same code.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_EXECUTIONENGINE_NATIVECODE_H
#define KINA_EXECUTIONENGINE_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <functional>
#include <memory>

namespace kina {

struct NativeOptions {
  /// 0 to 3, as clang's.
  unsigned optLevel = 2;
  /// A processor that LLVM knows; `native` is this machine's.
  std::string cpu = "native";
  /// What the names of entries begin with; without it they are `_kina_entry_f`.
  std::string module;
  /// Whether the code carries the lines of its source.
  bool lineTables = false;
  /// Whether to tell which loops copy whole tensors.
  bool remarks = false;
  /// Called with the LLVM module before and after optimisation, if set.
  std::function<void(llvm::StringRef moment, const std::string &text)> dump;
};

/// Describes the machine that `options` ask for. Fails for a processor that does not exist.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> getTarget(const NativeOptions &options);

/// Compiles every public function of `module`, which is left as it is: linalg on tensors, or any
/// later stage before the LLVM dialect. Diagnostics go to the handler of its context.
llvm::Expected<std::unique_ptr<llvm::Module>> compileToLLVM(mlir::ModuleOp module,
                                                            llvm::LLVMContext &context,
                                                            llvm::TargetMachine &machine,
                                                            const NativeOptions &options);

} // namespace kina

#endif
