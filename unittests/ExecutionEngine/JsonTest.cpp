//===- JsonTest.cpp - Results as JSON -------------------------------------===//

#include "Kina/ExecutionEngine/Json.h"
#include "gtest/gtest.h"

#include <limits>

using namespace kina;

static Tensor make(DType dtype, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
  Tensor tensor = llvm::cantFail(Tensor::create(dtype, shape));
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setDouble(i, value);
  return tensor;
}

static std::string print(llvm::ArrayRef<Tensor> tensors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printJson(os, tensors);
  return text;
}

TEST(Json, Numbers) {
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(print({make(DType::F64, {4}, {0.1, 1.0 / 3, 3, -0.0})}),
            "[[0.1, 0.3333333333333333, 3.0, -0.0]]");
  EXPECT_EQ(print({make(DType::F32, {3}, {0.1, 1e20, 16777216})}), "[[0.1, 1e+20, 16777216.0]]");
  EXPECT_EQ(print({make(DType::F64, {3}, {inf, -inf, std::numeric_limits<double>::quiet_NaN()})}),
            "[[Infinity, -Infinity, NaN]]");
  EXPECT_EQ(print({make(DType::F64, {2}, {5e-324, 1.7976931348623157e308})}),
            "[[5e-324, 1.7976931348623157e+308]]");
  EXPECT_EQ(print({make(DType::F16, {}, {0.5}), make(DType::BF16, {}, {-2})}), "[0.5, -2.0]");
}

TEST(Json, IntegersAndShapes) {
  Tensor wide = make(DType::I64, {}, {});
  wide.setInteger(0, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(print({wide, make(DType::U8, {2, 2}, {1, 2, 254, 255}), make(DType::Bool, {2}, {1, 0}),
                   make(DType::F32, {2, 0}, {}), make(DType::F32, {0}, {})}),
            "[-9223372036854775808, [[1, 2], [254, 255]], [true, false], [[], []], []]");
  EXPECT_EQ(print({}), "[]");
}
