//===- RuntimeCalls.h - Functions and texts of the run time ----*- C++ -*-===//
//
// What several passes need to call the run-time library from the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_CODEGEN_CPU_RUNTIMECALLS_H
#define KINA_LIB_CODEGEN_CPU_RUNTIMECALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace kina {

/// Declares functions and constants in one module, each once.
class RuntimeCalls {
public:
  explicit RuntimeCalls(mlir::ModuleOp module);

  /// The function `name` of the run-time library, declared if it isn't yet.
  mlir::LLVM::LLVMFuncOp getFunction(llvm::StringRef name, mlir::Type result,
                                     llvm::ArrayRef<mlir::Type> arguments,
                                     bool isVarArg = false);

  /// The address of a constant NUL-terminated text.
  mlir::Value getText(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);

  /// The address of a constant array of 64-bit integers.
  mlir::Value getIntegers(mlir::OpBuilder &builder, mlir::Location loc,
                          llvm::ArrayRef<int64_t> values);

private:
  mlir::Value getConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                          mlir::Attribute value);

  mlir::ModuleOp module;
  llvm::MapVector<mlir::Attribute, mlir::LLVM::GlobalOp> constants;
};

} // namespace kina

#endif
