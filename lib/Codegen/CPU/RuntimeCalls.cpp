//===- RuntimeCalls.cpp - Functions and texts of the run time -------------===//

#include "RuntimeCalls.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace kina;

static constexpr llvm::StringLiteral kConstantPrefix = "_kina_constant_";

RuntimeCalls::RuntimeCalls(ModuleOp module) : module(module), converter(module.getContext()) {
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

Value RuntimeCalls::getBuffer(OpBuilder &builder, Location loc, MemRefType type, Value data,
                              ValueRange sizes) {
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setConstantOffset(builder, loc, 0);
  Value stride = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    descriptor.setSize(builder, loc, axis, sizes[axis]);
    descriptor.setStride(builder, loc, axis, stride);
    stride = LLVM::MulOp::create(builder, loc, stride, sizes[axis]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}
