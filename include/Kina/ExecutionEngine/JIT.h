//===- JIT.h - Compiling and calling functions in process ------*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_JIT_H
#define KINA_EXECUTIONENGINE_JIT_H

#include "Kina/ExecutionEngine/NativeCode.h"
#include "Kina/ExecutionEngine/Signature.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace kina {

/// Owns a context of the run-time library.
struct ContextDeleter {
  void operator()(kina_context *context) const { kina_context_destroy(context); }
};
using ContextPtr = std::unique_ptr<kina_context, ContextDeleter>;

/// The compiled functions of one module. Calls from several threads are safe, each with a
/// context of its own. The MLIR context of the module must outlive it.
class JIT {
public:
  /// Compiles every public function of `module`, which is left as it is: linalg on tensors, or
  /// any later stage before the LLVM dialect. The context needs registerCPUCodegenDialects.
  /// Diagnostics go to the context's handler. A module has no need of a name here.
  static llvm::Expected<std::unique_ptr<JIT>> create(mlir::ModuleOp module,
                                                     const NativeOptions &options = {});
  ~JIT();

  /// In the order of the module.
  llvm::SmallVector<llvm::StringRef> getFunctionNames() const;
  /// Null if there is no such function.
  const Signature *getSignature(llvm::StringRef name) const;

  /// Calls `name`. A failed check is a CallError, as is an unknown name; `context` tells limits,
  /// progress and memory, and has the same error afterwards; without one a fresh one is used.
  llvm::Expected<llvm::SmallVector<Tensor>> call(llvm::StringRef name,
                                                 llvm::ArrayRef<Tensor> arguments,
                                                 kina_context *context = nullptr) const;

  /// The entry of the C ABI; null if there is no such function.
  kina_entry getEntry(llvm::StringRef name) const;

private:
  JIT();

  struct Function {
    Signature signature;
    kina_entry entry = nullptr;
  };
  std::unique_ptr<llvm::orc::LLJIT> engine;
  llvm::MapVector<llvm::StringRef, std::unique_ptr<Function>> functions;
};

} // namespace kina

#endif
