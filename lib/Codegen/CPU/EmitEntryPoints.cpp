//===- EmitEntryPoints.cpp - The C ABI of public functions ----------------===//
//
// For `f` this adds `_kina_body_f`, which turns DLPack tensors into buffers, calls `f` and
// delivers its results, and the entry, which runs that as a call of a context. The split
// is what lets an error jump out: the run time's frame lies between the two.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Dialect/Kina/IR/KinaDialect.h"
#include "RuntimeCalls.h"

#include "kina/runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace kina {
#define GEN_PASS_DEF_EMITENTRYPOINTS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;
using namespace kina;

/// The name, after the module's, of the constant that holds the version of the ABI.
static constexpr llvm::StringLiteral kVersionName = "kina_abi_version";

/// code * 256 + bits of DLPack for an element type, 0 if it has none. `isUnsigned` tells what a
/// signless 8-bit integer stands for.
static int32_t getDLType(Type type, bool isUnsigned) {
  auto pack = [](DLDataTypeCode code, unsigned bits) { return int32_t(code * 256 + bits); };
  if (type.isIndex())
    return pack(kDLInt, 64);
  if (type.isInteger(1))
    return pack(kDLBool, 8);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned bits = integer.getWidth();
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
      return 0;
    return pack(isUnsigned || integer.isUnsigned() ? kDLUInt : kDLInt, bits);
  }
  if (type.isBF16())
    return pack(kDLBfloat, 16);
  if (type.isF16() || type.isF32() || type.isF64())
    return pack(kDLFloat, type.getIntOrFloatBitWidth());
  return 0;
}

/// Whether the typed signature says ui8 for a value that is i8 by now.
static bool isUnsigned(func::FuncOp function, unsigned index, bool isResult) {
  auto attribute = function->getAttrOfType<TypeAttr>(kFunctionTypeAttrName);
  auto type = attribute ? dyn_cast<FunctionType>(attribute.getValue()) : FunctionType();
  if (!type)
    return false;
  ArrayRef<Type> types = isResult ? type.getResults() : type.getInputs();
  Type element = index < types.size() ? kina::getElementType(types[index]) : Type();
  return element && element.isUnsignedInteger();
}

/// Removes Kina's attributes, which LLVM has no form for.
static void dropTypedSignature(func::FuncOp function) {
  StringRef prefix = KinaDialect::getDialectNamespace();
  auto isKinas = [&](NamedAttribute attribute) {
    return attribute.getName().getValue().split('.').first == prefix;
  };
  for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
    if (isKinas(attribute))
      function->removeDiscardableAttr(attribute.getName());
  FunctionOpInterface interface(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (NamedAttribute attribute : llvm::to_vector(interface.getArgAttrs(i)))
      if (isKinas(attribute))
        function.removeArgAttr(i, attribute.getName());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    for (NamedAttribute attribute : llvm::to_vector(interface.getResultAttrs(i)))
      if (isKinas(attribute))
        function.removeResultAttr(i, attribute.getName());
}

namespace {

class EntryEmitter {
public:
  /// `prefix` begins the names of entries.
  EntryEmitter(ModuleOp module, RuntimeCalls &calls, StringRef prefix)
      : context(module.getContext()), prefix(prefix), calls(calls), converter(context),
        pointer(LLVM::LLVMPointerType::get(context)), i32(IntegerType::get(context, 32)),
        i64(IntegerType::get(context, 64)), nothing(LLVM::LLVMVoidType::get(context)) {}

  LogicalResult emit(func::FuncOp function) {
    Location loc = function.getLoc();
    OpBuilder builder(context);
    builder.setInsertionPointAfter(function);
    auto body = LLVM::LLVMFuncOp::create(
        builder, loc, ("_kina_body_" + function.getSymName()).str(),
        LLVM::LLVMFunctionType::get(nothing, {pointer, pointer}), LLVM::Linkage::Internal);
    auto entry = LLVM::LLVMFuncOp::create(
        builder, loc, (prefix + function.getSymName()).str(),
        LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer}));

    Block *block = body.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    SmallVector<Value> arguments;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto name = function.getArgAttrOfType<StringAttr>(index, kNameArgAttrName);
      Value argument = emitArgument(builder, loc, block->getArgument(0), index,
                                    name ? name.getValue() : "", type,
                                    isUnsigned(function, index, /*isResult=*/false));
      if (!argument)
        return function.emitError("argument ")
               << index << " of type " << type << " has no form in the C ABI";
      arguments.push_back(argument);
    }
    auto call = func::CallOp::create(builder, loc, function, arguments);
    for (auto [index, result] : llvm::enumerate(call.getResults()))
      if (failed(emitResult(builder, loc, block->getArgument(1), index, result,
                            isUnsigned(function, index, /*isResult=*/true))))
        return function.emitError("result ")
               << index << " of type " << result.getType() << " has no form in the C ABI";
    LLVM::ReturnOp::create(builder, loc, ValueRange());

    block = entry.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    auto run = calls.getFunction("kina_rt_call", i32, {pointer, i32, pointer, pointer, pointer});
    auto status = LLVM::CallOp::create(
        builder, loc, run,
        ValueRange{block->getArgument(0), integer(builder, loc, i32, KINA_ABI_VERSION),
                   LLVM::AddressOfOp::create(builder, loc, body), block->getArgument(1),
                   block->getArgument(2)});
    LLVM::ReturnOp::create(builder, loc, status.getResults());
    return success();
  }

private:
  Value integer(OpBuilder &builder, Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }

  /// The address of field `offset` of the DLTensor of tensor `index` in `tensors`.
  Value fieldOf(OpBuilder &builder, Location loc, Value tensors, unsigned index,
                size_t offset) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, tensors,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    Value tensor = LLVM::LoadOp::create(builder, loc, pointer, place);
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), tensor,
                               ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }

  Value emitArgument(OpBuilder &builder, Location loc, Value tensors, unsigned index,
                     StringRef name, Type type, bool isUnsigned) {
    auto memref = dyn_cast<MemRefType>(type);
    int32_t dtype = getDLType(memref ? memref.getElementType() : type, isUnsigned);
    if (dtype == 0 || (memref && !memref.getLayout().isIdentity()))
      return nullptr;
    SmallVector<int64_t> shape;
    if (memref)
      shape.assign(memref.getShape().begin(), memref.getShape().end());
    auto check = calls.getFunction("kina_rt_argument", pointer,
                                   {pointer, i32, pointer, i32, i32, pointer});
    Value data = LLVM::CallOp::create(
                     builder, loc, check,
                     ValueRange{tensors, integer(builder, loc, i32, index),
                                calls.getText(builder, loc, name),
                                integer(builder, loc, i32, dtype),
                                integer(builder, loc, i32, shape.size()),
                                calls.getIntegers(builder, loc, shape)})
                     .getResult();
    if (!memref) {
      if (type.isInteger(1)) {
        Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), data);
        return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, byte,
                                    integer(builder, loc, builder.getI8Type(), 0));
      }
      Type stored = converter.convertType(type);
      Value value = LLVM::LoadOp::create(builder, loc, stored, data);
      if (stored == type)
        return value;
      return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0);
    }

    Value sizes = LLVM::LoadOp::create(
        builder, loc, pointer, fieldOf(builder, loc, tensors, index, offsetof(DLTensor, shape)));
    SmallVector<Value> extents;
    for (int64_t axis = 0; axis < memref.getRank(); ++axis) {
      if (!memref.isDynamicDim(axis)) {
        extents.push_back(integer(builder, loc, i64, memref.getDimSize(axis)));
        continue;
      }
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, sizes,
                                        ArrayRef<LLVM::GEPArg>{int32_t(axis)});
      extents.push_back(LLVM::LoadOp::create(builder, loc, i64, place));
    }
    return calls.getBuffer(builder, loc, memref, data, extents);
  }

  LogicalResult emitResult(OpBuilder &builder, Location loc, Value tensors, unsigned index,
                           Value value, bool isUnsigned) {
    auto memref = dyn_cast<MemRefType>(value.getType());
    int32_t dtype = getDLType(memref ? memref.getElementType() : value.getType(), isUnsigned);
    if (dtype == 0 || (memref && !memref.getLayout().isIdentity()))
      return failure();
    auto deliver = calls.getFunction(
        "kina_rt_result", nothing, {pointer, i32, i32, i32, pointer, pointer, pointer});
    Value one = integer(builder, loc, i64, 1);
    Value shape, allocated, data;
    int64_t rank = memref ? memref.getRank() : 0;
    if (!memref) {
      shape = allocated = LLVM::ZeroOp::create(builder, loc, pointer);
      Type stored = converter.convertType(value.getType());
      if (stored != value.getType())
        value = UnrealizedConversionCastOp::create(builder, loc, stored, value).getResult(0);
      if (stored.isInteger(1)) {
        stored = builder.getI8Type();
        value = LLVM::ZExtOp::create(builder, loc, stored, value);
      }
      data = LLVM::AllocaOp::create(builder, loc, pointer, stored, one);
      LLVM::StoreOp::create(builder, loc, value, data);
    } else {
      Value cast = UnrealizedConversionCastOp::create(builder, loc, converter.convertType(memref),
                                                      value)
                       .getResult(0);
      MemRefDescriptor descriptor(cast);
      allocated = descriptor.allocatedPtr(builder, loc);
      data = descriptor.alignedPtr(builder, loc);
      shape = LLVM::AllocaOp::create(builder, loc, pointer, i64,
                                     integer(builder, loc, i64, std::max<int64_t>(rank, 1)));
      for (int64_t axis = 0; axis < rank; ++axis) {
        Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, shape,
                                          ArrayRef<LLVM::GEPArg>{int32_t(axis)});
        LLVM::StoreOp::create(builder, loc, descriptor.size(builder, loc, axis), place);
      }
    }
    LLVM::CallOp::create(builder, loc, deliver,
                         ValueRange{tensors, integer(builder, loc, i32, index),
                                    integer(builder, loc, i32, dtype),
                                    integer(builder, loc, i32, rank), shape, allocated, data});
    return success();
  }

  MLIRContext *context;
  StringRef prefix;
  RuntimeCalls &calls;
  LLVMTypeConverter converter;
  Type pointer, i32, i64, nothing;
};

struct EmitEntryPointsPass : public kina::impl::EmitEntryPointsBase<EmitEntryPointsPass> {
  using EmitEntryPointsBase::EmitEntryPointsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    RuntimeCalls calls(module);
    std::string prefix = this->module.empty() ? "_kina_entry_" : this->module + "_";
    EntryEmitter emitter(module, calls, prefix);
    if (!this->module.empty()) {
      auto builder = OpBuilder::atBlockEnd(module.getBody());
      LLVM::GlobalOp::create(builder, module.getLoc(), builder.getI32Type(), /*isConstant=*/true,
                             LLVM::Linkage::External, (prefix + kVersionName).str(),
                             builder.getI32IntegerAttr(KINA_ABI_VERSION));
    }
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      if (!function.isPublic())
        continue;
      if (!this->module.empty() && function.getSymName() == kVersionName) {
        function.emitError("a function of a compiled module cannot be called `") << kVersionName << '`';
        return signalPassFailure();
      }
      if (failed(emitter.emit(function)))
        return signalPassFailure();
    }

    // A program may well name a function `exp` or `main`: only the entries keep names that
    // others see. The typed signature has served.
    // `SymbolTable::rename` walks the module for each; all references change in one walk.
    SymbolTable symbols(module);
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> renamed;
    for (func::FuncOp function : functions) {
      auto name = StringAttr::get(&getContext(), "_kina_function_" + function.getSymName());
      if (symbols.lookup(name)) {
        function.emitError("a function cannot be called `") << name.getValue() << "`, a name of compiled code";
        return signalPassFailure();
      }
      renamed[function.getSymNameAttr()] = FlatSymbolRefAttr::get(name);
    }
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FlatSymbolRefAttr reference) -> std::optional<Attribute> {
      FlatSymbolRefAttr other = renamed.lookup(reference.getAttr());
      return other ? std::optional<Attribute>(other) : std::nullopt;
    });
    module->walk([&](Operation *op) { replacer.replaceElementsIn(op); });
    for (func::FuncOp function : functions) {
      function.setSymNameAttr(renamed[function.getSymNameAttr()].getAttr());
      function.setPrivate();
      dropTypedSignature(function);
      function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(&getContext(),
                                                               LLVM::Linkage::Internal));
    }
  }
};

} // namespace
