//===- Npy.h - NumPy files -------------------------------------*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_NPY_H
#define KINA_EXECUTIONENGINE_NPY_H

#include "Kina/ExecutionEngine/Tensor.h"

namespace kina {

/// Reads an array from the text of a `.npy` file (format versions 1 to 3): little or big endian,
/// in C or Fortran order. `V2` is bf16, as ml_dtypes writes it; other element types that Kina
/// lacks are errors.
llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes);

/// Reads the file at `path`. Errors name the file.
llvm::Expected<Tensor> readNpy(llvm::StringRef path);

/// Prints the text of a `.npy` file: format version 1, in C order.
void printNpy(llvm::raw_ostream &os, const Tensor &tensor);

/// Writes a `.npy` file as writeFiles does: it appears whole or not at all.
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);

} // namespace kina

#endif
