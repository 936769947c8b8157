//===- TypesTest.cpp - A wrong size in a type is found after every stage --===//
//
// Sizes are proved once. What later passes do to types is checked by the operations alone,
// after each pass: here every size of every type is made wrong, one after the other.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/InitAll.h"
#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Target/Surface/Import.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <iostream>
#include <map>

using namespace mlir;
using namespace kina;

namespace {

constexpr llvm::StringLiteral kProgram = R"(
fn helper(x: tensor<F64, [R, C]>, w: tensor<F64, [C, 2*D]>) -> tensor<F64, [R, D]> requires R >= 2 {
  let y = x @ w;
  y[:, 0:D] * y[:, D:]
}

fn loss(w: tensor<F64, [C, 2*D]>, x: tensor<F64, [N, C]>) -> F64 {
  let y = helper(concat([x, x], axis=0), w);
  sum(transpose(y, [1, 0]))
}

@export
fn step(w: &tensor<F64, [C, 2*D]>, x: &tensor<F64, [N, C]>, n: I32) -> (tensor<F64, [C, 2*D]>, F64) {
  for (i in 0..n) [v = copy(w), best = 0.0] {
    let (l, g) = value_and_grad(loss, wrt=w)(v, x);
    let scaled = if (l > best) { g } else { 2.0 * g };
    (v - 0.1 * scaled, max(l, best))
  }
}
)";

class TypesTest : public ::testing::Test {
protected:
  TypesTest() {
    registerAllDialects(registry);
    registerAllExtensions(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  }

  /// All that is told goes into `said`.
  OwningOpRef<ModuleOp> compile(StringRef text, StringRef stage) {
    OwningOpRef<ModuleOp> module = importKinaSource(text, "test.kina", context.get());
    EXPECT_TRUE(module);
    if (!module)
      return {};
    PassManager pm(context.get());
    buildStages(pm, 0, *findStage(stage));
    if (succeeded(pm.run(*module)))
      return module;
    ADD_FAILURE() << stage.str() << ": " << said;
    return {};
  }

  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  std::string said;
};

/// The type with the size of one axis one larger.
kina::TensorType grow(kina::TensorType type, unsigned axis) {
  SmallVector<DimAttr> shape(type.getShape());
  shape[axis] = addDims(shape[axis], DimAttr::getConstant(type.getContext(), 1));
  return cast<kina::TensorType>(withShape(type, shape));
}

/// What may have any size as far as the operation can tell: it makes it, or whether it is right
/// takes a proof. Users of the value may tell.
bool isFree(Value value) {
  return isa_and_nonnull<ReshapeOp>(value.getDefiningOp()) || value.use_empty();
}

TEST_F(TypesTest, EveryWrongSizeIsFound) {
  std::vector<std::pair<std::string, std::string>> programs{{"program", kProgram.str()}};
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::recursive_directory_iterator it(KINA_EXAMPLES, error), end; it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".kina"))
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths)
    programs.push_back({path, (*llvm::MemoryBuffer::getFile(path))->getBuffer().str()});
  ASSERT_GT(programs.size(), 5u);

  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diag) { said = diag.str(); });
  std::map<std::string, unsigned> missed;
  unsigned found = 0, free = 0;
  for (auto &[name, text] : programs)
    for (StringRef stage : {"typed", "verified", "ad"}) {
      OwningOpRef<ModuleOp> module = compile(text, stage);
      ASSERT_TRUE(module) << name;
      SmallVector<Value> values;
      module->walk([&](Operation *op) {
        llvm::append_range(values, op->getResults());
        for (Region &region : op->getRegions())
          for (Block &block : region)
            llvm::append_range(values, block.getArguments());
      });
      // A few dozen of each program, so that it takes seconds.
      constexpr size_t kMost = 200;
      size_t stride = values.size() / kMost + 1;
      for (size_t index = 0; index < values.size(); index += stride) {
        Value value = values[index];
        auto type = dyn_cast<kina::TensorType>(value.getType());
        if (!type || type.getRank() == 0)
          continue;
        unsigned axis = index % type.getRank();
        value.setType(grow(type, axis));
        bool isFound = failed(verify(*module));
        value.setType(type);
        if (isFound) {
          ++found;
          EXPECT_FALSE(said.empty());
        } else if (isFree(value)) {
          ++free;
        } else {
          Operation *op = value.getDefiningOp();
          ++missed[(op ? op->getName().getStringRef().str() : "argument of " + value.getParentBlock()->getParentOp()->getName().getStringRef().str()) +
                   " in " + stage.str()];
        }
      }
      EXPECT_TRUE(succeeded(verify(*module)));
    }
  std::cout << found << " wrong sizes found, " << free << " free" << std::endl;
  for (auto &[what, count] : missed)
    ADD_FAILURE() << what << ": " << count << " missed";
  EXPECT_GT(found, 500u);
}

/// A pass that makes a mistake is stopped right behind it, whatever stage it follows.
struct PlantedPass : PassWrapper<PlantedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlantedPass)
  void runOnOperation() override {
    getOperation().walk([](MatmulOp op) {
      auto type = cast<kina::TensorType>(op.getType());
      op.getResult().setType(grow(type, type.getRank() - 1));
    });
  }
};

TEST_F(TypesTest, PassesAreChecked) {
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diag) { said += diag.str() + "\n"; });
  for (StringRef stage : {"typed", "owned", "verified", "ad"}) {
    OwningOpRef<ModuleOp> module = compile(kProgram, stage);
    ASSERT_TRUE(module);
    PassManager pm(context.get());
    pm.addPass(std::make_unique<PlantedPass>());
    // Were the mistake not found, this would run.
    buildStages(pm, *findStage("ad"), *findStage("linalg"));
    said.clear();
    EXPECT_TRUE(failed(pm.run(*module))) << stage.str();
    EXPECT_NE(said.find("'kina.matmul' op"), std::string::npos) << said;
  }
}

} // namespace
