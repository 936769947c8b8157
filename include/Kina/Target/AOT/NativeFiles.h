//===- NativeFiles.h - Object files and shared objects ---------*- C++ -*-===//
//
// What a program without a compiler loads or links. Everything happens in this process; neither
// a compiler nor a linker is run.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TARGET_AOT_NATIVEFILES_H
#define KINA_TARGET_AOT_NATIVEFILES_H

#include "Kina/ExecutionEngine/NativeCode.h"

namespace kina {

/// An object file with the entries of all public functions of `module`, named after
/// `options.module`; see compileToLLVM.
llvm::Expected<std::string> emitObject(mlir::ModuleOp module, const NativeOptions &options);

struct LinkOptions {
  /// What the loader knows the shared object by.
  std::string name;
  /// Whether the run-time library becomes a part of the shared object; else it is looked up by
  /// the loader, beside the shared object too.
  bool staticRuntime = false;
};

/// A shared object from one object file, with lld as a library. The run-time library is the
/// one of this process, or the archive beside it.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object, const LinkOptions &options);

} // namespace kina

#endif
