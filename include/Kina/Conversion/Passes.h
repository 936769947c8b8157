//===- Passes.h - Conversions between dialects -----------------*- C++ -*-===//

#ifndef KINA_CONVERSION_PASSES_H
#define KINA_CONVERSION_PASSES_H

#include "Kina/Conversion/KinaToLinalg.h"

namespace kina {

#define GEN_PASS_REGISTRATION
#include "Kina/Conversion/Passes.h.inc"

} // namespace kina

#endif
