//===- SourceNames.cpp - What the source says of a value ------------------===//

#include "Kina/Dialect/Kina/IR/SourceNames.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kina {

/// Between the names of one value; no name has it.
static constexpr StringLiteral kSeparator = ",";

/// The strings for each result of an operation with several, if it has names.
static ArrayAttr getResultNames(Operation *op) {
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  auto names = fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
  return names && names.size() == op->getNumResults() && llvm::all_of(names, llvm::IsaPred<StringAttr>) ? names
                                                                                                        : ArrayAttr();
}

/// What the location says, which is all there is while a function is under construction.
static SmallVector<StringRef> getLocationNames(Value value) {
  StringRef joined;
  if (auto result = dyn_cast<OpResult>(value); result && result.getOwner()->getNumResults() > 1) {
    if (ArrayAttr names = getResultNames(result.getOwner()))
      joined = cast<StringAttr>(names[result.getResultNumber()]).getValue();
  } else if (auto named = dyn_cast<NameLoc>(value.getLoc())) {
    joined = named.getName().getValue();
  }
  SmallVector<StringRef> names;
  joined.split(names, kSeparator, /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return names;
}

SmallVector<StringRef> getSourceNames(Value value) {
  SmallVector<StringRef> names = getLocationNames(value);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast_or_null<FuncOp>(argument.getOwner()->getParentOp());
        function && argument.getArgNumber() < function.getNumArguments())
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameArgAttrName);
          name && !llvm::is_contained(names, name.getValue()))
        names.insert(names.begin(), name.getValue());
  return names;
}

void addSourceName(Value value, StringRef name, bool alias) {
  SmallVector<StringRef> known = getLocationNames(value);
  if (llvm::is_contained(known, name) || (!alias && !known.empty()))
    return;
  known.push_back(name);
  auto joined = StringAttr::get(value.getContext(), llvm::join(known, kSeparator));
  auto result = dyn_cast<OpResult>(value);
  if (!result || result.getOwner()->getNumResults() == 1) {
    Location loc = value.getLoc();
    if (auto named = dyn_cast<NameLoc>(loc))
      loc = named.getChildLoc();
    value.setLoc(NameLoc::get(joined, loc));
    return;
  }
  Operation *op = result.getOwner();
  SmallVector<Attribute> names(op->getNumResults(), StringAttr::get(op->getContext()));
  Location loc = op->getLoc();
  if (ArrayAttr before = getResultNames(op)) {
    names.assign(before.begin(), before.end());
    loc = cast<FusedLoc>(loc).getLocations().front();
  }
  names[result.getResultNumber()] = joined;
  op->setLoc(FusedLoc::get({loc}, ArrayAttr::get(op->getContext(), names), op->getContext()));
}

void setBorrowed(OpResult result) {
  result.getOwner()->setAttr(kBorrowArgAttrName, UnitAttr::get(result.getContext()));
}

bool isBorrowed(OpResult result) { return result.getOwner()->hasAttr(kBorrowArgAttrName); }

bool isBorrowed(OpOperand &operand) {
  auto numbers = operand.getOwner()->getAttrOfType<DenseI64ArrayAttr>(kBorrowedOperandsAttrName);
  return numbers && llvm::is_contained(numbers.asArrayRef(), static_cast<int64_t>(operand.getOperandNumber()));
}

void setBorrowed(OpOperand &operand) {
  if (isBorrowed(operand))
    return;
  Operation *op = operand.getOwner();
  SmallVector<int64_t> numbers;
  if (auto known = op->getAttrOfType<DenseI64ArrayAttr>(kBorrowedOperandsAttrName))
    llvm::append_range(numbers, known.asArrayRef());
  numbers.push_back(operand.getOperandNumber());
  op->setAttr(kBorrowedOperandsAttrName, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

} // namespace kina
