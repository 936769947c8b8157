//===- RuntimeCalls.h - Functions and texts of the run time ----*- C++ -*-===//
//
// What several passes need to call the run-time library from the LLVM dialect, and to make
// buffers of what it gives them.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_CODEGEN_CPU_RUNTIMECALLS_H
#define KINA_LIB_CODEGEN_CPU_RUNTIMECALLS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
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

  /// The buffer at `data`, which lies row by row; `sizes` has an i64 for each axis.
  mlir::Value getBuffer(mlir::OpBuilder &builder, mlir::Location loc, mlir::MemRefType type,
                        mlir::Value data, mlir::ValueRange sizes);

private:
  mlir::Value getConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                          mlir::Attribute value);

  mlir::ModuleOp module;
  mlir::LLVMTypeConverter converter;
  llvm::MapVector<mlir::Attribute, mlir::LLVM::GlobalOp> constants;
};

} // namespace kina

#endif
