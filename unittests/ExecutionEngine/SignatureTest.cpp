//===- SignatureTest.cpp - Entry checks -----------------------------------===//

#include "Compile.h"

using namespace kina;
using namespace kina::test;

namespace {

/// A signature over builtin types as --kina-lower-to-linalg leaves it.
struct SignatureTest : testing::Test {
  void parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext(), "test.mlir");
    ASSERT_TRUE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto parsed = Signature::get(function);
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    signature = std::move(*parsed);
  }
  std::string check(llvm::ArrayRef<Tensor> arguments) {
    llvm::Error error = signature.check(arguments);
    return error ? llvm::toString(std::move(error)) : "";
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  Signature signature;
};

TEST_F(SignatureTest, SolvesInAnyOrder) {
  parse(R"(
    func.func private @f(tensor<?x?xf64> {kina.name = "a"}, tensor<?xf64> {kina.name = "b"},
                         index {kina.name = "m", kina.dim = "M"}, tensor<?xf64>)
        attributes {
          kina.function_type = (!kina.tensor<f64, [B*H, 8*q]>, !kina.tensor<f64, [T + 1]>, index,
                                !kina.tensor<f64, [B + M]>) -> (),
          kina.shape_vars = [#kina.var<"B">, #kina.var<"H">, #kina.var<"q">, #kina.var<"T">,
                             #kina.var<"M">]})");
  auto call = [&](int64_t bh, int64_t q8, int64_t t1, int64_t m, int64_t bm) {
    return check({f64({bh, q8}, {}), f64({t1}, {}), test::index(m), f64({bm}, {})});
  };
  EXPECT_EQ(call(6, 16, 4, 5, 7), "");
  EXPECT_EQ(call(6, 15, 4, 5, 7),
            "error[K0802]: argument `a` has size 15 at axis 1, which is not of the form `8*q`");
  EXPECT_EQ(call(7, 16, 4, 5, 7), "error[K0802]: argument `a` has size 7 at axis 0, which is not "
                                  "of the form `B*H` (B = 2)");
  EXPECT_EQ(call(6, 16, 1, 5, 7), "error[K0802]: `T` is 0, but must be at least 1");
  EXPECT_EQ(call(6, 16, 4, 0, 2), "error[K0802]: `M` is 0, but must be at least 1");
}

TEST_F(SignatureTest, SizesAgree) {
  parse(R"(
    func.func private @f(tensor<?x?xf64>, tensor<?x3xf64>)
        attributes {
          kina.function_type = (!kina.tensor<f64, [N, K]>, !kina.tensor<f64, [K + 1, 3]>) -> (),
          kina.shape_vars = [#kina.var<"N"> = 0, #kina.var<"K">]})");
  EXPECT_EQ(check({f64({0, 2}, {}), f64({3, 3}, {})}), "");
  EXPECT_EQ(check({f64({1, 2}, {}), f64({2, 3}, {})}),
            "error[K0802]: argument 1 has size 2 at axis 0, expected 3 = `K + 1` (K = 2)");
  EXPECT_EQ(check({f64({1, 2}, {}), f64({3, 4}, {})}),
            "error[K0802]: argument 1 has size 4 at axis 1, expected 3");
}

TEST_F(SignatureTest, RequiresIsChecked) {
  parse(R"(
    func.func private @f(tensor<?xf64>)
        attributes {
          kina.function_type = (!kina.tensor<f64, [D]>) -> (),
          kina.shape_vars = [#kina.var<"D">],
          kina.requires = [#kina.clause<<8 <= D>, runtime, "D >= 8", loc("f.kina":4:9)>]})");
  EXPECT_EQ(check({f64({8}, {})}), "");
  EXPECT_EQ(check({f64({7}, {})}),
            "f.kina:4:9: error[K0801]: `f` requires D >= 8, but D = 7");
}

TEST_F(SignatureTest, UnsignedBytes) {
  parse(R"(
    func.func private @f(tensor<?xi8>)
        attributes {kina.function_type = (!kina.tensor<ui8, [N]>) -> (),
                    kina.shape_vars = [#kina.var<"N">]})");
  EXPECT_EQ(check({makeTensor(DType::U8, {2}, {1, 255})}), "");
  EXPECT_EQ(check({makeTensor(DType::I8, {2}, {1, 2})}),
            "error[K0802]: argument 0 has element type i8, expected ui8");
}

TEST_F(SignatureTest, WithoutTypedForm) {
  parse("func.func private @f(tensor<2x?xf32>, i1)");
  EXPECT_EQ(check({makeTensor(DType::F32, {2, 9}, {}), makeTensor(DType::Bool, {}, {1})}), "");
  EXPECT_EQ(check({makeTensor(DType::F32, {3, 9}, {}), makeTensor(DType::Bool, {}, {1})}),
            "error[K0802]: argument 0 has size 3 at axis 0, expected 2");
}

} // namespace
