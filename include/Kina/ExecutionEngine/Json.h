//===- Json.h - Results as JSON --------------------------------*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_JSON_H
#define KINA_EXECUTIONENGINE_JSON_H

#include "Kina/ExecutionEngine/Tensor.h"

#include "llvm/Support/raw_ostream.h"

namespace kina {

/// Prints a number or nested arrays, each number with the fewest digits that read back as the
/// same value. `NaN`, `Infinity` and `-Infinity` are spelled so, as Python's json module does.
void printJson(llvm::raw_ostream &os, const Tensor &tensor);

/// Prints one array with an element for each tensor.
void printJson(llvm::raw_ostream &os, llvm::ArrayRef<Tensor> tensors);

} // namespace kina

#endif
