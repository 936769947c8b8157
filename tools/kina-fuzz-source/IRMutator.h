//===- IRMutator.h - Other modules from one --------------------*- C++ -*-===//

#ifndef KINA_TOOLS_KINA_FUZZ_SOURCE_IRMUTATOR_H
#define KINA_TOOLS_KINA_FUZZ_SOURCE_IRMUTATOR_H

#include "mlir/IR/BuiltinOps.h"

#include <random>

namespace kina {

/// Changes operands, attributes and operations of a module; what comes out may be invalid.
/// Most changes keep the types, so that many do not.
void mutateIR(mlir::ModuleOp module, std::mt19937_64 &random);

} // namespace kina

#endif
