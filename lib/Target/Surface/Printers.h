//===- Printers.h - Surface operations as text -----------------*- C++ -*-===//

#ifndef KINA_LIB_TARGET_SURFACE_PRINTERS_H
#define KINA_LIB_TARGET_SURFACE_PRINTERS_H

#include "Kina/Dialect/Surface/IR/Surface.h"

namespace kina::surface {

/// The module's items in native form. Malformed operations give text that does not read
/// back as the same; none is an error here.
std::string printNative(mlir::ModuleOp module);

/// The same in core form.
std::string printCore(mlir::ModuleOp module);

/// The keyword of each of `count` arguments, empty for those without one.
inline llvm::SmallVector<llvm::StringRef> keywordsOf(std::optional<mlir::ArrayAttr> keywords,
                                                     size_t count) {
  llvm::SmallVector<llvm::StringRef> result(count);
  if (keywords)
    for (auto [keyword, attr] : llvm::zip(result, keywords->getAsRange<mlir::StringAttr>()))
      keyword = attr.getValue();
  return result;
}

/// Whether a literal is a number with the sign that belongs to the least integer.
inline bool isLeastInteger(mlir::Operation *op) {
  auto literal = llvm::dyn_cast<LiteralOp>(op);
  return literal && literal.getKind() == LiteralKind::Int && literal.getInt() == INT64_MIN;
}

/// The statement or value that ends a region, null if the region is empty.
inline YieldOp yieldOf(mlir::Region &region) {
  return region.empty() ? YieldOp() : llvm::dyn_cast<YieldOp>(region.front().back());
}

/// Whether a region has nothing but its value's expression.
inline bool isExprRegion(mlir::Region &region) {
  YieldOp yield = yieldOf(region);
  return yield && yield.getValue() && !yield.getDecorators() &&
         llvm::all_of(region.front().without_terminator(),
                      [](mlir::Operation &op) { return op.getNumResults() == 1; });
}

} // namespace kina::surface

#endif
