//===- Tensor.cpp - Host tensors of the execution engine ------------------===//

#include "Kina/ExecutionEngine/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace kina;

llvm::StringRef kina::toString(DType dtype) {
  static constexpr llvm::StringLiteral names[] = {"f64", "f32", "f16", "bf16", "i64",
                                                  "i32", "i8",  "ui8", "i1",   "index"};
  return names[unsigned(dtype)];
}

DLDataType kina::toDLType(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return {kDLFloat, 64, 1};
  case DType::F32:
    return {kDLFloat, 32, 1};
  case DType::F16:
    return {kDLFloat, 16, 1};
  case DType::BF16:
    return {kDLBfloat, 16, 1};
  case DType::I64:
  case DType::Index:
    return {kDLInt, 64, 1};
  case DType::I32:
    return {kDLInt, 32, 1};
  case DType::I8:
    return {kDLInt, 8, 1};
  case DType::U8:
    return {kDLUInt, 8, 1};
  case DType::Bool:
    return {kDLBool, 8, 1};
  }
  llvm_unreachable("every element type is listed");
}

std::optional<DType> kina::getDType(mlir::Type type) {
  if (type.isIndex())
    return DType::Index;
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.isUnsigned())
    return integer.getWidth() == 8 ? std::optional(DType::U8) : std::nullopt;
  switch (integer.getWidth()) {
  case 64:
    return DType::I64;
  case 32:
    return DType::I32;
  case 8:
    return DType::I8;
  case 1:
    return DType::Bool;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> kina::getNumElements(llvm::ArrayRef<int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      empty = true;
    else if (product > (int64_t(1) << 62) / size)
      return std::nullopt;
    else
      product *= size;
  }
  return empty ? 0 : product;
}

std::string kina::toString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [axis, size] : llvm::enumerate(shape))
    text += (axis ? ", " : "") + std::to_string(size);
  return text + "]";
}

llvm::Expected<Tensor> Tensor::create(DType dtype, llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> elements = kina::getNumElements(shape);
  size_t width = kina::getNumBytes(dtype);
  if (!elements || *elements > (int64_t(1) << 62) / int64_t(width))
    return llvm::createStringError("a tensor of shape " + kina::toString(shape) +
                                   " does not fit into memory");
  // Never empty, so that even a tensor without elements has an address.
  size_t bytes = std::max<size_t>(*elements * width, 1);
  kina_memory_resource *host = kina_memory_host();
  void *address;
  if (host->vtable->allocate(host, bytes, 64, nullptr, &address) != KINA_MEMORY_OK)
    return llvm::createStringError("no memory for a tensor of shape " + kina::toString(shape));
  memset(address, 0, bytes);
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data = std::shared_ptr<void>(address, [=](void *owned) {
    host->vtable->deallocate(host, owned, bytes, 64, nullptr);
  });
  return tensor;
}

Tensor Tensor::adopt(DType dtype, kina_tensor &result) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape.assign(result.dl.shape, result.dl.shape + result.dl.ndim);
  void *address = static_cast<char *>(result.dl.data) + result.dl.byte_offset;
  kina_tensor owner = result;
  owner.dl.shape = nullptr;
  tensor.data =
      std::shared_ptr<void>(address, [owner](void *) mutable { kina_tensor_release(&owner); });
  result.dl.data = nullptr;
  result.deleter = nullptr;
  return tensor;
}

int64_t Tensor::getNumElements() const { return *kina::getNumElements(shape); }

static const llvm::fltSemantics &getSemantics(DType dtype) {
  return dtype == DType::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

double Tensor::getDouble(int64_t position) const {
  switch (dtype) {
  case DType::F64:
    return getAs<double>()[position];
  case DType::F32:
    return getAs<float>()[position];
  case DType::F16:
  case DType::BF16:
    return llvm::APFloat(getSemantics(dtype), llvm::APInt(16, getAs<uint16_t>()[position]))
        .convertToDouble();
  default:
    return double(getInteger(position));
  }
}

int64_t Tensor::getInteger(int64_t position) const {
  switch (dtype) {
  case DType::I64:
  case DType::Index:
    return getAs<int64_t>()[position];
  case DType::I32:
    return getAs<int32_t>()[position];
  case DType::I8:
    return getAs<int8_t>()[position];
  case DType::U8:
  case DType::Bool:
    return getAs<uint8_t>()[position];
  default: {
    double value = getDouble(position);
    return value >= -9.2e18 && value <= 9.2e18 ? int64_t(value) : 0;
  }
  }
}

void Tensor::setDouble(int64_t position, double value) {
  switch (dtype) {
  case DType::F64:
    getAs<double>()[position] = value;
    return;
  case DType::F32:
    getAs<float>()[position] = float(value);
    return;
  case DType::F16:
  case DType::BF16: {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(getSemantics(dtype), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    getAs<uint16_t>()[position] = rounded.bitcastToAPInt().getZExtValue();
    return;
  }
  case DType::Bool:
    return setInteger(position, value != 0);
  default:
    return setInteger(position, value >= -9.2e18 && value <= 9.2e18 ? int64_t(value) : 0);
  }
}

void Tensor::setInteger(int64_t position, int64_t value) {
  switch (dtype) {
  case DType::I64:
  case DType::Index:
    getAs<int64_t>()[position] = value;
    return;
  case DType::I32:
    getAs<int32_t>()[position] = int32_t(value);
    return;
  case DType::I8:
    getAs<int8_t>()[position] = int8_t(value);
    return;
  case DType::U8:
    getAs<uint8_t>()[position] = uint8_t(value);
    return;
  case DType::Bool:
    getAs<uint8_t>()[position] = value != 0;
    return;
  default:
    return setDouble(position, double(value));
  }
}
