//===- RulesTest.cpp - Every operation that promises a derivative has it --===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Transforms/AD/Rules.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace kina {
namespace {

TEST(RulesTest, MarkedOperationsHaveRules) {
  DialectRegistry registry;
  registry.insert<KinaDialect>();
  registerKinaDifferentiation(registry);
  MLIRContext context(registry);
  context.loadDialect<KinaDialect>();
  unsigned marked = 0;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("kina")) {
    if (name.hasTrait<HasDerivative>())
      ++marked;
    EXPECT_EQ(name.hasTrait<HasDerivative>(), name.hasInterface<DifferentiableOpInterface>())
        << name.getStringRef().str();
  }
  // A loop over nothing would pass as well.
  EXPECT_GT(marked, 50u);
}

TEST(RulesTest, WithoutRegistrationThereAreNone) {
  MLIRContext context;
  context.loadDialect<KinaDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("kina"))
    EXPECT_FALSE(name.hasInterface<DifferentiableOpInterface>()) << name.getStringRef().str();
}

} // namespace
} // namespace kina
