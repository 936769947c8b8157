//===- NarrowLocations.cpp - One source position an operation -------------===//

#include "Kina/Codegen/CPU/Passes.h"

namespace kina {
#define GEN_PASS_DEF_NARROWLOCATIONS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

namespace {
struct NarrowLocationsPass : public kina::impl::NarrowLocationsBase<NarrowLocationsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      auto range = op->getLoc()->findInstanceOf<FileLineColRange>();
      op->setLoc(range ? Location(FileLineColLoc::get(range.getFilename(), range.getStartLine(),
                                                      range.getStartColumn()))
                       : UnknownLoc::get(op->getContext()));
    });
  }
};
} // namespace
