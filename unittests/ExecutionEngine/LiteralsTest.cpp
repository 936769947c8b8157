//===- LiteralsTest.cpp - Tensors written as text -------------------------===//

#include "Kina/ExecutionEngine/Literals.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace kina;

static Tensor parse(llvm::StringRef text, DType dtype) {
  auto tensor = parseLiteral(text, dtype);
  if (!tensor) {
    ADD_FAILURE() << text.str() << ": " << llvm::toString(tensor.takeError());
    return llvm::cantFail(Tensor::create(dtype, {}));
  }
  return *tensor;
}

static std::string getError(llvm::StringRef text, DType dtype) {
  auto tensor = parseLiteral(text, dtype);
  return tensor ? "no error" : llvm::toString(tensor.takeError());
}

TEST(Literals, Scalars) {
  EXPECT_EQ(parse("3", DType::F64).getDouble(0), 3);
  EXPECT_EQ(parse(" 1e-3 ", DType::F64).getDouble(0), 1e-3);
  EXPECT_EQ(parse("-.5", DType::F32).getDouble(0), -0.5);
  EXPECT_TRUE(std::signbit(parse("-0", DType::F64).getDouble(0)));
  EXPECT_EQ(parse("0.1", DType::F32).getDouble(0), double(0.1f));
  EXPECT_EQ(parse("-9223372036854775808", DType::I64).getInteger(0), INT64_MIN);
  EXPECT_EQ(parse("7", DType::Index).getInteger(0), 7);
  EXPECT_EQ(parse("true", DType::Bool).getInteger(0), 1);
  EXPECT_TRUE(std::isinf(parse("-inf", DType::F64).getDouble(0)));
  EXPECT_TRUE(std::isnan(parse("NaN", DType::F16).getDouble(0)));
}

TEST(Literals, Tensors) {
  Tensor matrix = parse("[[1, 2, 3], [4, 5, 6,],]", DType::I32);
  EXPECT_EQ(toString(matrix.getShape()), "[2, 3]");
  EXPECT_EQ(matrix.getInteger(5), 6);
  EXPECT_EQ(toString(parse("[]", DType::F64).getShape()), "[0]");
  EXPECT_EQ(toString(parse("[[], []]", DType::F64).getShape()), "[2, 0]");
  EXPECT_EQ(toString(parse("[[[true]]]", DType::Bool).getShape()), "[1, 1, 1]");
}

TEST(Literals, Errors) {
  EXPECT_EQ(getError("", DType::F64), "expected a value at character 1 of the literal");
  EXPECT_EQ(getError("1.5", DType::I32),
            "expected an integer, but found `1.5` at character 1 of the literal");
  EXPECT_EQ(getError("300", DType::U8), "300 does not fit into ui8 at character 1 of the literal");
  EXPECT_EQ(getError("99999999999999999999", DType::I64),
            "99999999999999999999 does not fit into i64 at character 1 of the literal");
  EXPECT_EQ(getError("1", DType::Bool), "expected true or false at character 1 of the literal");
  EXPECT_EQ(getError("true", DType::F32),
            "expected a number of type f32, not a boolean, at character 1 of the literal");
  EXPECT_EQ(getError("abc", DType::F64),
            "expected a number, but found `abc` at character 1 of the literal");
  EXPECT_EQ(getError("1 2", DType::F64),
            "unexpected text after the value at character 3 of the literal");
  EXPECT_EQ(getError("[1, 2", DType::F64), "expected ',' or ']' at character 6 of the literal");
  EXPECT_EQ(getError("[1, [2]]", DType::F64),
            "expected a number, as before, not a list at character 6 of the literal");
  EXPECT_EQ(getError("[[1], 2]", DType::F64), "expected a list at character 7 of the literal");
  EXPECT_EQ(getError("[[1, 2], [3]]", DType::F64),
            "this list has 1 elements, the one before has 2: at character 13 of the literal");
  EXPECT_EQ(getError("1e999", DType::F64), "1e999 does not fit into f64 at character 1 of the literal");
  EXPECT_EQ(getError(std::string(10000000, '['), DType::F64),
            "lists are nested more than 32 deep at character 34 of the literal");
  EXPECT_NE(getError("[1,,2]", DType::F64), "no error");
  EXPECT_NE(getError("[,]", DType::F64), "no error");
  EXPECT_NE(getError("-", DType::F64), "no error");
  EXPECT_NE(getError("+-1", DType::I32), "no error");
}
