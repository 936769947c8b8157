//===- BoundInlining.cpp - A bound on what inlining makes -----------------===//
//
// Upstream's inliner has a threshold, but on the ratio of callee to caller at one call,
// which does not bound a chain of calls.
//
//===----------------------------------------------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"

namespace kina {
#define GEN_PASS_DEF_BOUNDINLINING
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

namespace {
struct BoundInliningPass : public kina::impl::BoundInliningBase<BoundInliningPass> {
  using BoundInliningBase::BoundInliningBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    // Callees first: what is done with a function depends on the size of those it calls.
    // A worklist, because chains of calls may be long.
    llvm::DenseMap<func::FuncOp, uint64_t> sizes;
    auto calleesOf = [&](func::FuncOp function) {
      SmallVector<func::FuncOp> callees;
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          callees.push_back(callee);
      });
      return callees;
    };
    for (auto root : getOperation().getOps<func::FuncOp>()) {
      SmallVector<std::pair<func::FuncOp, bool>> stack{{root, false}};
      while (!stack.empty()) {
        auto [function, ready] = stack.pop_back_val();
        if (sizes.contains(function))
          continue;
        SmallVector<func::FuncOp> callees = calleesOf(function);
        if (!ready) {
          stack.push_back({function, true});
          for (func::FuncOp callee : callees)
            if (!sizes.contains(callee))
              stack.push_back({callee, false});
          continue;
        }
        uint64_t size = 0;
        function.walk([&](Operation *) { ++size; });
        for (func::FuncOp callee : callees)
          size += sizes.lookup(callee);
        if (size > limit) {
          function.setNoInline(true);
          size = 1;
        }
        sizes[function] = size;
      }
    }
  }
};
} // namespace
