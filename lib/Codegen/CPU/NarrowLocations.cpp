//===- NarrowLocations.cpp - Source ranges to positions -------------------===//

#include "Kina/Codegen/CPU/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace kina {
#define GEN_PASS_DEF_NARROWLOCATIONS
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;

namespace {
struct NarrowLocationsPass : public kina::impl::NarrowLocationsBase<NarrowLocationsPass> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FileLineColRange range) -> std::optional<Attribute> {
      return FileLineColLoc::get(range.getFilename(), range.getStartLine(),
                                 range.getStartColumn());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/false,
                                          /*replaceLocs=*/true, /*replaceTypes=*/false);
  }
};
} // namespace
