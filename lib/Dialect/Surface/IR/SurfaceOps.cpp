//===- SurfaceOps.cpp - Verifiers of the surface's operations -------------===//

#include "Kina/Dialect/Surface/IR/Surface.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kina::surface;

//===----------------------------------------------------------------------===//
// Traits
//===----------------------------------------------------------------------===//

LogicalResult kina::surface::detail::verifySurfaceRegions(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock() || region.front().getNumArguments() != 0)
      return op->emitOpError() << "region #" << region.getRegionNumber()
                               << " must have one block without arguments";
    if (region.front().empty() || !isa<YieldOp>(region.front().back()))
      return op->emitOpError() << "region #" << region.getRegionNumber()
                               << " must end in 'kina_surface.yield'";
  }
  return success();
}

LogicalResult kina::surface::detail::verifyExprTree(Operation *op) {
  Value value = op->getResult(0);
  if (!value.hasOneUse())
    return op->emitOpError("an expression must be used exactly once, so that expressions are "
                           "trees");
  if ((*value.user_begin())->getBlock() != op->getBlock())
    return op->emitOpError("an expression must be used in its own block");
  return success();
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static LogicalResult verifyArray(Operation *op, ArrayAttr array, StringRef what,
                                 function_ref<bool(SyntaxKind)> test) {
  for (SyntaxAttr node : syntaxRange(array))
    if (!test(node.getKind()))
      return op->emitOpError() << "a node of kind '" << stringifySyntaxKind(node.getKind())
                               << "' cannot stand among the " << what;
  return success();
}

static auto isKind(SyntaxKind wanted) {
  return [wanted](SyntaxKind kind) { return kind == wanted; };
}

static LogicalResult verifyOne(Operation *op, SyntaxAttr node, StringRef what,
                               function_ref<bool(SyntaxKind)> test) {
  if (node && !test(node.getKind()))
    return op->emitOpError() << "a node of kind '" << stringifySyntaxKind(node.getKind())
                             << "' cannot be the " << what;
  return success();
}

static LogicalResult verifyDecorators(Operation *op, std::optional<ArrayAttr> decorators) {
  return verifyArray(op, decorators.value_or(ArrayAttr()), "decorators",
                     isKind(SyntaxKind::Decorator));
}

static LogicalResult verifyKeywords(Operation *op, std::optional<ArrayAttr> keywords,
                                    size_t arguments) {
  if (keywords && keywords->size() != arguments)
    return op->emitOpError() << "has " << arguments << " arguments but " << keywords->size()
                             << " keywords";
  return success();
}

static LogicalResult verifyStates(Operation *op, ArrayAttr states, size_t inits) {
  if (states.size() != inits)
    return op->emitOpError() << "has " << states.size() << " states but " << inits
                             << " first values";
  return verifyArray(op, states, "states", isKind(SyntaxKind::State));
}

static LogicalResult verifyNotEmpty(Operation *op, Region &region) {
  if (region.empty())
    return op->emitOpError() << "region #" << region.getRegionNumber() << " must not be empty";
  return success();
}

static LogicalResult verifyYieldsValue(Operation *op, Region &region) {
  if (failed(verifyNotEmpty(op, region)))
    return failure();
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (yield && !yield.getValue())
    return op->emitOpError() << "region #" << region.getRegionNumber() << " must yield a value";
  return success();
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

LiteralKind LiteralOp::getKind() {
  return TypeSwitch<Attribute, LiteralKind>(getValue())
      .Case<BoolAttr>([](auto) { return LiteralKind::Bool; })
      .Case<FloatAttr>([](auto) { return LiteralKind::Float; })
      .Case<StringAttr>([](auto) { return LiteralKind::String; })
      .Default([](auto) { return LiteralKind::Int; });
}

LogicalResult LiteralOp::verify() {
  Attribute value = getValue();
  auto integer = dyn_cast<IntegerAttr>(value);
  auto real = dyn_cast<FloatAttr>(value);
  if (isa<BoolAttr, StringAttr>(value) || (integer && integer.getType().isSignlessInteger(64)) ||
      (real && real.getType().isF64()))
    return success();
  return emitOpError("the value must be an i64, an f64, a string or a boolean");
}

LogicalResult PlaceOp::verify() {
  return verifyOne(*this, getPlace(), "place", isKind(SyntaxKind::Place));
}

LogicalResult TypeExprOp::verify() {
  return verifyOne(*this, getType(), "type", isKind(SyntaxKind::TypeTensor));
}

LogicalResult TupleOp::verify() {
  if (getMembers().empty())
    return emitOpError("must have a member; `()` is 'kina_surface.unit'");
  if (getNames() && getNames()->size() != getMembers().size())
    return emitOpError() << "has " << getMembers().size() << " members but "
                         << getNames()->size() << " names";
  return success();
}

LogicalResult SliceOp::verify() {
  if (!isa<IndexOp, ListOp>(*getResult().user_begin()))
    return emitOpError("must be a subscript of 'kina_surface.index' or an element of "
                       "'kina_surface.list'");
  return success();
}

StringRef CallOp::getKeyword(unsigned index) {
  if (!getKeywords())
    return {};
  return cast<StringAttr>((*getKeywords())[index]).getValue();
}

LogicalResult CallOp::verify() {
  if (failed(verifyKeywords(*this, getKeywords(), getArgs().size())))
    return failure();
  return verifyOne(*this, getTypeArgument().value_or(SyntaxAttr()), "type argument",
                   [](SyntaxKind kind) {
                     return kind == SyntaxKind::DType || kind == SyntaxKind::Name;
                   });
}

std::optional<unsigned> FieldOp::getIndex() {
  unsigned index;
  if (getMember().getAsInteger(10, index))
    return std::nullopt;
  return index;
}

Location FieldOp::getMemberLocation() {
  auto range = dyn_cast<FileLineColRange>(getLoc());
  if (!range || range.getEndColumn() <= getMember().size())
    return getLoc();
  return FileLineColRange::get(range.getFilename(), range.getEndLine(),
                               range.getEndColumn() - getMember().size(), range.getEndColumn());
}

LogicalResult FieldOp::verify() {
  if (getMember().empty())
    return emitOpError("must name a member");
  return success();
}

LogicalResult IndexOp::verify() {
  if (getSubscripts().empty())
    return emitOpError("must have a subscript");
  return success();
}

LogicalResult PerformOp::verify() { return verifyKeywords(*this, getKeywords(), getArgs().size()); }

LogicalResult IfOp::verify() { return verifyNotEmpty(*this, getThenRegion()); }

LogicalResult WhileOp::verify() {
  if (failed(verifyStates(*this, getStates(), getInits().size())) ||
      failed(verifyYieldsValue(*this, getCond())))
    return failure();
  return verifyNotEmpty(*this, getBody());
}

LogicalResult ForOp::verify() {
  if (failed(verifyOne(*this, getVar(), "induction variable", isKind(SyntaxKind::Name))) ||
      failed(verifyStates(*this, getStates(), getInits().size())))
    return failure();
  return verifyNotEmpty(*this, getBody());
}

LogicalResult HandleOp::verify() {
  if (failed(verifyYieldsValue(*this, getBody())))
    return failure();
  if (getCases().size() != getCaseRegions().size())
    return emitOpError() << "has " << getCases().size() << " cases but "
                         << getCaseRegions().size() << " case regions";
  for (Region &region : getCaseRegions())
    if (failed(verifyYieldsValue(*this, region)))
      return failure();
  return verifyArray(*this, getCases(), "cases", [](SyntaxKind kind) {
    return kind == SyntaxKind::ReturnCase || kind == SyntaxKind::EffectCase;
  });
}

LogicalResult LambdaOp::verify() {
  if (failed(verifyArray(*this, getParams(), "parameters", isKind(SyntaxKind::Param))) ||
      failed(verifyOne(*this, getReturnType().value_or(SyntaxAttr()), "return type", isType)))
    return failure();
  return verifyNotEmpty(*this, getBody());
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

LogicalResult LetOp::verify() {
  if (failed(verifyOne(*this, getPattern(), "pattern", isPattern)) ||
      failed(verifyOne(*this, getType().value_or(SyntaxAttr()), "type", isType)))
    return failure();
  return verifyDecorators(*this, getDecorators());
}

LogicalResult AssumeOp::verify() { return verifyOne(*this, getPred(), "predicate", isPred); }

LogicalResult YieldOp::verify() {
  if (getDecorators() && !getValue())
    return emitOpError("decorators need an expression to stand before");
  return verifyDecorators(*this, getDecorators());
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

LogicalResult FnOp::verify() {
  if (failed(verifyArray(*this, getParams(), "parameters", isKind(SyntaxKind::Param))) ||
      failed(verifyOne(*this, getReturnType().value_or(SyntaxAttr()), "return type", isType)) ||
      failed(verifyArray(*this, getShapeVars().value_or(ArrayAttr()), "shape variables",
                         isKind(SyntaxKind::ShapeVar))) ||
      failed(verifyArray(*this, getEffects().value_or(ArrayAttr()), "effects",
                         isKind(SyntaxKind::Name))) ||
      failed(verifyArray(*this, getRequiresClauses().value_or(ArrayAttr()), "requires clauses",
                         isPred)) ||
      failed(verifyDecorators(*this, getDecorators())))
    return failure();
  return verifyNotEmpty(*this, getBody());
}

LogicalResult GlobalOp::verify() {
  if (failed(verifyOne(*this, getType().value_or(SyntaxAttr()), "type", isType)) ||
      failed(verifyDecorators(*this, getDecorators())))
    return failure();
  if (!getInit().empty())
    return verifyYieldsValue(*this, getInit());
  if (!getType())
    return emitOpError("must have a type or a value");
  return success();
}

LogicalResult EffectOp::verify() {
  if (getOperations().empty())
    return emitOpError("must have an operation");
  return verifyArray(*this, getOperations(), "operations", isKind(SyntaxKind::EffectOp));
}

LogicalResult TypeAliasOp::verify() {
  if (failed(verifyOne(*this, getType(), "type", isType)))
    return failure();
  return verifyArray(*this, getShapeVars().value_or(ArrayAttr()), "shape variables",
                     isKind(SyntaxKind::ShapeVar));
}

#define GET_OP_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceOps.cpp.inc"
