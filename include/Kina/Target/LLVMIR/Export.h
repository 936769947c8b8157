//===- Export.h - Lowered modules to LLVM IR -------------------*- C++ -*-===//

#ifndef KINA_TARGET_LLVMIR_EXPORT_H
#define KINA_TARGET_LLVMIR_EXPORT_H

namespace kina {

/// Registers `--kina-to-llvmir`: a module of the LLVM dialect, as `--kina-lower-to-llvm`
/// makes it, to the text of LLVM IR. Whatever is not lowered is upstream's located error.
void registerLLVMIRExportTranslation();

} // namespace kina

#endif
