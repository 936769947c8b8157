//===- Literals.h - Tensors written as text --------------------*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_LITERALS_H
#define KINA_EXECUTIONENGINE_LITERALS_H

#include "Kina/ExecutionEngine/Tensor.h"

namespace kina {

/// Reads `3`, `1e-3`, `true`, `[1, 2, 3]`, `[[1, 2], [3, 4]]` as elements of `dtype`. An integer
/// may stand for a float, not the other way round; `inf` and `nan` are floats. Errors say at
/// which character.
llvm::Expected<Tensor> parseLiteral(llvm::StringRef text, DType dtype);

} // namespace kina

#endif
