//===- Explanations.h - A page for every diagnostic code -------*- C++ -*-===//
//
// The pages of docs/diagnostics, as `kinac explain` prints them.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_SUPPORT_EXPLANATIONS_H
#define KINA_SUPPORT_EXPLANATIONS_H

#include "llvm/ADT/StringRef.h"

namespace kina {

/// The page of a code such as `K0301`, in Markdown; empty if there is none. Lives as long as the program.
llvm::StringRef getExplanation(llvm::StringRef code);

} // namespace kina

#endif
