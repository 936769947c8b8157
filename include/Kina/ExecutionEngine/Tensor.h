//===- Tensor.h - Host tensors of the execution engine ---------*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_TENSOR_H
#define KINA_EXECUTIONENGINE_TENSOR_H

#include "kina/runtime.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace mlir {
class Type;
} // namespace mlir

namespace kina {

/// The element types that cross the boundary of compiled code. `Index` is a 64-bit integer
/// that MLIR calls `index`.
enum class DType { F64, F32, F16, BF16, I64, I32, I8, U8, Bool, Index };

/// `f64`, `bf16`, `ui8`, `i1`, `index` as MLIR spells them.
llvm::StringRef toString(DType dtype);
DLDataType toDLType(DType dtype);
inline size_t getNumBytes(DType dtype) { return toDLType(dtype).bits / 8; }
/// Nothing if `type` isn't one of them.
std::optional<DType> getDType(mlir::Type type);

/// A compact, row-major tensor in host memory. Copies share the data, which is freed with the
/// last of them; a rank-0 tensor is a scalar.
class Tensor {
public:
  Tensor() = default;

  /// A tensor of zeros, 64-byte aligned. Fails if a size is negative, or if there is no memory
  /// for it.
  static llvm::Expected<Tensor> create(DType dtype, llvm::ArrayRef<int64_t> shape);

  /// Takes over what a compiled function handed over; `tensor` no longer owns it.
  static Tensor adopt(DType dtype, kina_tensor &tensor);

  DType getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const;
  size_t getNumBytes() const { return getNumElements() * kina::getNumBytes(dtype); }

  void *getData() { return data.get(); }
  const void *getData() const { return data.get(); }
  template <typename T> llvm::MutableArrayRef<T> getAs() {
    return {static_cast<T *>(getData()), getNumBytes() / sizeof(T)};
  }
  template <typename T> llvm::ArrayRef<T> getAs() const {
    return {static_cast<const T *>(getData()), getNumBytes() / sizeof(T)};
  }

  /// The element at `position` in row-major order as the nearest double, or as an integer
  /// (0 for a float that isn't one).
  double getDouble(int64_t position) const;
  int64_t getInteger(int64_t position) const;
  /// Rounds to the element type (ties to even); integers wrap, and booleans are value != 0.
  void setDouble(int64_t position, double value);
  void setInteger(int64_t position, int64_t value);

  /// Whether the elements are floats.
  bool isFloat() const { return dtype <= DType::BF16; }

private:
  DType dtype = DType::F64;
  llvm::SmallVector<int64_t> shape;
  std::shared_ptr<void> data;
};

/// The number of elements; nothing if a size is negative or the product leaves 2^62.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape);

/// `[2, 3]`.
std::string toString(llvm::ArrayRef<int64_t> shape);

} // namespace kina

#endif
