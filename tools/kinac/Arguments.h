//===- Arguments.h - Arguments and signatures as users write them -*- C++ -*-===//

#ifndef KINA_TOOLS_KINAC_ARGUMENTS_H
#define KINA_TOOLS_KINAC_ARGUMENTS_H

#include "Session.h"

namespace kina {

/// What `--arg` calls each parameter: its source name; the members of a tuple `p` are
/// `p.0`, `p.1`, and a nameless parameter is `arg0`.
std::vector<std::string> getParameterNames(FuncOp function);

/// `f(x: tensor<F64, [N]>, n: Index) -> F64`.
std::string describeSignature(FuncOp function);

/// Reads one tensor per parameter from the files and literals `given`, pairs of a
/// parameter's name and its value. Fails after a diagnostic.
mlir::FailureOr<llvm::SmallVector<Tensor>>
readArguments(Session &session, FuncOp function, llvm::ArrayRef<std::pair<std::string, std::string>> given);

/// Writes one file per result; on failure there is none of them.
bool writeResults(Session &session, llvm::ArrayRef<std::string> paths, llvm::ArrayRef<Tensor> results);

} // namespace kina

#endif
