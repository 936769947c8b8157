//===- CHeader.h - The C header of a compiled module -----------*- C++ -*-===//

#ifndef KINA_TARGET_AOT_CHEADER_H
#define KINA_TARGET_AOT_CHEADER_H

#include "Kina/ExecutionEngine/Signature.h"

namespace kina {

/// The signatures of all public functions of a module, typed or lowered to linalg or buffers.
/// Fails if there is none, or one that the C ABI has no form for.
llvm::Expected<std::vector<Signature>> getPublicSignatures(mlir::ModuleOp module);

/// Prints a header for C99 and C++ that declares the functions of a compiled module, with what
/// a caller has to know: element types, sizes, ownership, preconditions, status codes.
void printCHeader(llvm::raw_ostream &os, llvm::StringRef module,
                  llvm::ArrayRef<Signature> signatures);

/// `name` as an identifier of C: other characters than letters, digits and `_` become `_`.
std::string toCIdentifier(llvm::StringRef name);

/// Registers `kina-translate --kina-to-c-header`.
void registerCHeaderTranslation();

} // namespace kina

#endif
