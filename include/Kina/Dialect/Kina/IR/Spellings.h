//===- Spellings.h - Sizes as the user wrote them --------------*- C++ -*-===//
//
// A dimension has one normal form, and no memory of what it was made from. What the user
// wrote for it stands beside it, in an attribute of the function, and is for messages only:
// the text of the normal form leads to the user's. Both mean the same over the same names,
// so a dimension that a pass has changed finds its own text, or none.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_DIALECT_KINA_IR_SPELLINGS_H
#define KINA_DIALECT_KINA_IR_SPELLINGS_H

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "llvm/ADT/StringMap.h"

namespace kina {

/// The dictionary of a function from normal forms to what the user wrote.
inline constexpr llvm::StringLiteral kSpellingsAttrName = "kina.spellings";

class Spellings {
public:
  Spellings() = default;
  /// What the function that `op` is or stands in, of any dialect, has in its attribute and in its clauses.
  explicit Spellings(mlir::Operation *op);

  /// As the user wrote it, or in normal form with those of its parts that the user wrote.
  std::string spell(DimAttr dim) const;
  std::string spell(PredAttr pred) const;
  /// The text that a normal form leads to; empty if there is none.
  llvm::StringRef find(llvm::StringRef normal) const {
    auto it = texts.find(normal);
    return it == texts.end() ? llvm::StringRef() : llvm::StringRef(it->second);
  }

  /// The user wrote `dim` as `a op b`, or as `function(a, b)`. What was written first counts.
  void addInfix(DimAttr dim, DimAttr a, llvm::StringRef op, DimAttr b);
  void addCall(DimAttr dim, llvm::StringRef function, DimAttr a, DimAttr b);
  void addRelation(PredAttr pred, DimAttr a, llvm::StringRef op, DimAttr b);
  /// A number of elements is the product of sizes in their order.
  void addProduct(DimAttr product, llvm::ArrayRef<DimAttr> sizes);

  /// Puts what is not in its clauses into the function's attribute.
  void attachTo(mlir::Operation *function) const;

private:
  void add(std::string normal, std::string text);

  llvm::StringMap<std::string> texts;
};

} // namespace kina

#endif
