//===- Helps.cpp - What would mend a program, where that can be told ------===//
//
// A help is attached only where what it says makes the error go away.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

/// How a call with the value is spelled; `..` stands for what is long or has no text.
static std::string orDots(std::string text) { return text.empty() ? ".." : text; }

void Elaborator::attachCast(InFlightDiagnostic &diag, Value a, Value b) {
  // What is written with an exponent may be meant as an integer, what has a dot is a float.
  for (Value operand : {a, b})
    if (!StringRef(sourceOf(operand)).contains('.') && attachInteger(diag, operand))
      return;
  // What loses least: the operand of the lesser type is converted. An open literal is what its
  // default is; nothing is converted to a type that it does not have.
  auto rank = [&](Value value) {
    switch (maskOf(elementTypes.resolve(getElementType(value.getType())))) {
    case kBool:
      return 0;
    case kI8:
    case kU8:
      return 1;
    case kI32:
      return 2;
    case kI64:
      return 3;
    case kF16:
    case kBF16:
      return 4;
    case kF64:
      return 6;
    default:
      return elementTypes.allowed(getElementType(value.getType())) & ~kFloats ? 2 : 5;
    }
  };
  Value from = rank(a) < rank(b) ? a : b, to = from == a ? b : a;
  Type goal = elementTypes.resolve(getElementType(to.getType()));
  std::string type = isa<HoleType>(goal) ? (rank(to) == 2 ? "I32" : "F32") : spell(goal);
  std::string text = sourceOf(from);
  attachHelp(diag) << "convert " << (text.empty() ? "one " : "") << "with cast(" << orDots(text) << ", " << type << ")";
}

bool Elaborator::attachInteger(InFlightDiagnostic &diag, Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!number)
    return false;
  llvm::APSInt integer(64, /*isUnsigned=*/false);
  bool exact = false;
  if (number.getValue().convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact) != llvm::APFloat::opOK || !exact)
    return false;
  attachHelp(diag) << "an integer is written without a dot and without an exponent: '" << integer.getSExtValue() << "'";
  return true;
}

void Elaborator::attachComparison(InFlightDiagnostic &diag, Value value) {
  std::string text = orDots(sourceOf(value));
  if (elementTypes.allowed(getElementType(value.getType())) & kBool) {
    if (getRank(value.getType()) > 0)
      attachHelp(diag) << "make one of it, 'any(" << text << ")' or 'all(" << text << ")'";
    return;
  }
  attachHelp(diag) << "compare it, for example '" << text << " != 0'";
}

void Elaborator::attachSubscript(InFlightDiagnostic &diag, Value base, Value sub) {
  if (getRank(sub.getType()) == 0) {
    (void)attachInteger(diag, sub);
    return;
  }
  std::string text = orDots(sourceOf(base)), positions = orDots(sourceOf(sub));
  unsigned mask = elementTypes.allowed(getElementType(sub.getType()));
  if (mask & kBool)
    attachHelp(diag) << "a mask chooses element by element, 'if (" << positions << ") { " << text << " } else { 0.0 }'";
  else if (mask & kIntegers)
    attachHelp(diag) << "take elements at the positions of a tensor, 'gather(" << text << ", " << positions << ")'";
}

bool Elaborator::attachReshape(InFlightDiagnostic &diag, Value value, ArrayRef<DimAttr> shape) {
  ArrayRef<DimAttr> have = getShape(value.getType());
  DimAttr before = productOf(context, have), after = productOf(context, shape);
  if (before && after && sameDim(before, after) && (!have.empty() || isa<TensorType>(value.getType()))) {
    attachHelp(diag) << "write 'reshape(" << orDots(sourceOf(value)) << ", " << spellShape(shape) << ")'";
    return true;
  }
  if (have.size() > shape.size())
    return false;
  for (auto [dim, goal] : llvm::zip(have, shape.take_back(have.size())))
    if (!dim.isConstant(1) && !sameDim(dim, goal))
      return false;
  attachHelp(diag) << "repeat it, 'broadcast(" << orDots(sourceOf(value)) << ", " << spellShape(shape) << ")'";
  return true;
}

std::string Elaborator::suggestTrailingAxes(Value a, Value b) {
  if (getRank(a.getType()) > getRank(b.getType()))
    std::swap(a, b);
  ArrayRef<DimAttr> less = getShape(a.getType()), more = getShape(b.getType());
  if (less.empty() || less.size() == more.size())
    return {};
  for (auto [dim, goal] : llvm::zip(less, more))
    if (!dim.isConstant(1) && !sameDim(dim, goal))
      return {};
  // Where it fits as it stands nothing is to be said.
  if (llvm::all_of(llvm::zip(less, more.take_back(less.size())),
                   [&](auto pair) { return std::get<0>(pair).isConstant(1) || sameDim(std::get<0>(pair), std::get<1>(pair)); }))
    return {};
  SmallVector<DimAttr> shape(less);
  shape.resize(more.size(), DimAttr::getConstant(context, 1));
  return "help: axes are matched from the last one: write 'reshape(" + orDots(sourceOf(a)) + ", " + spellShape(shape) +
         ")'";
}

std::string Elaborator::suggestTranspose(Value a, Value b) {
  ArrayRef<DimAttr> left = getShape(a.getType()), right = getShape(b.getType());
  auto transposed = [&](Value operand) { return "help: write 'transpose(" + orDots(sourceOf(operand)) + ")'"; };
  if (right.size() >= 2 && sameDim(left.back(), right.back()))
    return transposed(b);
  if (left.size() >= 2 && sameDim(left[left.size() - 2], right[right.size() < 2 ? 0 : right.size() - 2]))
    return transposed(a);
  return {};
}

void Elaborator::attachValueOfBlock(InFlightDiagnostic &diag, Region &region) {
  auto yield = dyn_cast<surface::YieldOp>(region.front().getTerminator());
  if (!yield)
    return;
  if (!yield.getValue()) {
    if (isa_and_present<surface::DoOp>(yield->getPrevNode()))
      attachHelp(diag) << "the value of a block is its last expression: leave out the ';' behind it";
    else
      attachHelp(diag) << "the value of a block is the expression at its end";
    return;
  }
  if (auto branch = yield.getValue().getDefiningOp<surface::IfOp>(); branch && branch.getElseRegion().empty())
    attachHelp(diag) << "an 'if' has a value only with an 'else'";
}

SmallVector<NoteAttr> Elaborator::collectNotes(Location loc) {
  SmallVector<NoteAttr> all;
  for (Value operand : operands)
    if (Value expr = expressions.lookup(operand); expr && expr.getLoc() != loc && getRank(operand.getType()) > 0)
      all.push_back(NoteAttr::get(context, spell(operand.getType()), expr.getLoc()));
  llvm::append_range(all, notes);
  return all;
}

} // namespace kina::elaborate
