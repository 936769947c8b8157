//===- RuntimeCalls.cpp - Functions and texts of the run time -------------===//

#include "RuntimeCalls.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace kina;

static constexpr llvm::StringLiteral kConstantPrefix = "_kina_constant_";

RuntimeCalls::RuntimeCalls(ModuleOp module) : module(module) {
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getSymName().starts_with(kConstantPrefix))
      constants[global.getValueAttr()] = global;
}

LLVM::LLVMFuncOp RuntimeCalls::getFunction(StringRef name, Type result, ArrayRef<Type> arguments,
                                           bool isVarArg) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, arguments, isVarArg));
}

Value RuntimeCalls::getConstant(OpBuilder &builder, Location loc, Type type, Attribute value) {
  LLVM::GlobalOp &global = constants[value];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal,
                                    (kConstantPrefix + Twine(constants.size() - 1)).str(), value);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value RuntimeCalls::getText(OpBuilder &builder, Location loc, StringRef text) {
  std::string terminated = text.str();
  terminated.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  return getConstant(builder, loc, type, builder.getStringAttr(terminated));
}

Value RuntimeCalls::getIntegers(OpBuilder &builder, Location loc, ArrayRef<int64_t> values) {
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
  if (values.empty())
    return LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
  return getConstant(builder, loc, type, builder.getI64TensorAttr(values));
}
