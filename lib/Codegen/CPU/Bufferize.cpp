//===- Bufferize.cpp - Tensors to buffers ---------------------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"

namespace kina {
#define GEN_PASS_DEF_BUFFERIZE
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

namespace {
struct BufferizePass : public kina::impl::BufferizeBase<BufferizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto readOnly = BoolAttr::get(&getContext(), false);
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          if (isa<TensorType>(function.getArgumentTypes()[i]))
            function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                                readOnly);

    IRRewriter rewriter(&getContext());
    if (failed(bufferization::eliminateEmptyTensors(rewriter, module)))
      return signalPassFailure();

    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(module);
  }
};
} // namespace
