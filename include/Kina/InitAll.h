//===- InitAll.h - Registers everything Kina has ---------------*- C++ -*-===//
//
// What a tool calls; a tool itself is then twenty lines.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_INITALL_H
#define KINA_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kina {

/// Kina's dialects and the upstream ones that its pipelines read or write.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Interfaces that are attached from outside: derivative rules, bufferization.
void registerAllExtensions(mlir::DialectRegistry &registry);

/// Kina's passes and pipelines, and the upstream passes they are made of.
void registerAllPasses();

} // namespace kina

#endif
