//===- Nesting.cpp - Which derivatives are innermost ----------------------===//

#include "Kina/Transforms/AD/Nesting.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kina {

StringRef getCalleeName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<CallOp, GradOp, VJPOp, JVPOp>([](auto op) { return op.getCallee(); })
      .Default([](Operation *) { return StringRef(); });
}

/// Whether running the function can reach a derivative.
static bool reachesDerivative(const SymbolTable &symbols, StringRef name, llvm::StringSet<> &seen) {
  auto function = symbols.lookup<FuncOp>(name);
  if (!function || !seen.insert(name).second)
    return false;
  return function
      .walk([&](Operation *op) {
        bool found = isDerivative(op) || (isa<CallOp>(op) && reachesDerivative(symbols, getCalleeName(op), seen));
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Derivatives::Derivatives(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (isDerivative(op))
      all.push_back(op);
  });
  if (all.empty())
    return;
  SymbolTable symbols(module);
  for (Operation *op : all)
    if (llvm::StringSet<> seen; !reachesDerivative(symbols, getCalleeName(op), seen))
      innermost.push_back(op);
}

} // namespace kina
