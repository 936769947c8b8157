//===- Passes.h - Transformations of the typed core ------------*- C++ -*-===//

#ifndef KINA_TRANSFORMS_PASSES_H
#define KINA_TRANSFORMS_PASSES_H

#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace kina {

#define GEN_PASS_DECL
#include "Kina/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Kina/Transforms/Passes.h.inc"

} // namespace kina

#endif
