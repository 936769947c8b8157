//===- Compile.h - From text to a JIT, for the tests -----------*- C++ -*-===//

#ifndef KINA_UNITTESTS_EXECUTIONENGINE_COMPILE_H
#define KINA_UNITTESTS_EXECUTIONENGINE_COMPILE_H

#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/RT/IR/RT.h"
#include "Kina/ExecutionEngine/JIT.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace kina::test {

inline mlir::MLIRContext &getContext() {
  static mlir::MLIRContext &context = *[] {
    mlir::DialectRegistry registry;
    registerCPUCodegenDialects(registry);
    registry.insert<KinaDialect, rt::RTDialect>();
    auto *created = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return context;
}

/// Null, with a failed expectation, if `text` doesn't compile.
inline std::unique_ptr<JIT> compile(llvm::StringRef text, const NativeOptions &options = {}) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext(), "test.mlir");
  EXPECT_TRUE(module);
  if (!module)
    return nullptr;
  llvm::Expected<std::unique_ptr<JIT>> jit = JIT::create(*module, options);
  if (!jit) {
    ADD_FAILURE() << llvm::toString(jit.takeError());
    return nullptr;
  }
  return std::move(*jit);
}

inline Tensor makeTensor(DType dtype, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<double> values) {
  Tensor tensor = llvm::cantFail(Tensor::create(dtype, shape));
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setDouble(i, value);
  return tensor;
}
inline Tensor f64(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
  return makeTensor(DType::F64, shape, values);
}
inline Tensor index(int64_t value) {
  Tensor tensor = llvm::cantFail(Tensor::create(DType::Index, {}));
  tensor.setInteger(0, value);
  return tensor;
}

inline std::vector<double> toVector(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    values.push_back(tensor.getDouble(i));
  return values;
}

/// The error of a call that must fail.
inline CallError getError(llvm::Expected<llvm::SmallVector<Tensor>> result) {
  CallError found(0, "the call succeeded");
  if (!result)
    llvm::handleAllErrors(result.takeError(), [&](const CallError &error) { found = error; });
  return found;
}

inline kina_allocation_statistics getStatistics(const ContextPtr &context) {
  kina_allocation_statistics statistics;
  kina_context_statistics(context.get(), &statistics);
  return statistics;
}

} // namespace kina::test

#endif
