//===- DeepStack.h - Room for what recurses with the program ---*- C++ -*-===//

#ifndef KINA_SUPPORT_DEEPSTACK_H
#define KINA_SUPPORT_DEEPSTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ProgramStack.h"

namespace kina {

/// Runs `body` where expressions, calls and regions may nest as deeply as the parser and the
/// elaborator allow, in frames of a sanitizer too; only what is used of the stack takes memory.
inline void runOnDeepStack(llvm::function_ref<void()> body) { llvm::runOnNewStack(1u << 29, body); }

} // namespace kina

#endif
