//===- ControlFlowOps.cpp - Structured control flow -----------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace kina {

/// Checks that the yield at the end of the region has the given types.
static LogicalResult verifyYield(Operation *op, Region &region, TypeRange expected, StringRef what) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError() << what << " must end in kina.yield";
  if (yield.getOperandTypes() != expected)
    return yield.emitOpError() << "yields (" << yield.getOperandTypes() << "), but " << what << " needs ("
                               << expected << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (failed(verifyYield(*this, getThenRegion(), getResultTypes(), "the first region")))
    return failure();
  if (getElseRegion().empty())
    return getNumResults() == 0 ? success() : emitOpError() << "with results needs a second region";
  return verifyYield(*this, getElseRegion(), getResultTypes(), "the second region");
}

void IfOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
    return;
  }
  regions.push_back(RegionSuccessor(&getThenRegion()));
  if (!getElseRegion().empty())
    regions.push_back(RegionSuccessor(&getElseRegion()));
  else
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

void IfOp::getRegionInvocationBounds(ArrayRef<Attribute> operands, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.assign(2, InvocationBounds(0, 1));
}

//===----------------------------------------------------------------------===//
// WhileOp
//===----------------------------------------------------------------------===//

void WhileOp::build(OpBuilder &builder, OperationState &state, ValueRange inits, TypeRange extras) {
  state.addOperands(inits);
  SmallVector<Type> all(inits.getTypes());
  llvm::append_range(all, extras);
  state.addTypes(all);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.addRegion(), {}, inits.getTypes(), SmallVector<Location>(inits.size(), state.location));
  builder.createBlock(state.addRegion(), {}, all, SmallVector<Location>(all.size(), state.location));
}

ConditionOp WhileOp::getConditionOp() { return cast<ConditionOp>(getBeforeBody()->getTerminator()); }
YieldOp WhileOp::getYieldOp() { return cast<YieldOp>(getAfterBody()->getTerminator()); }

// `kina.while (%x = %x0, ...) : types (-> extra types)? before do after attrs`
ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, extras;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands))
    return failure();
  if (!arguments.empty() && (parser.parseColon() || parser.parseTypeList(types)))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    if (parser.parseLParen() || parser.parseTypeList(extras) || parser.parseRParen())
      return failure();
  if (parser.resolveOperands(operands, types, at, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  result.addTypes(types);
  result.addTypes(extras);
  Region *before = result.addRegion(), *after = result.addRegion();
  SMLoc attributesAt;
  if (parser.parseRegion(*before, arguments) || parser.parseKeyword("do") || parser.parseRegion(*after) ||
      parser.getCurrentLocation(&attributesAt) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  // An attribute of the wrong kind would be lost in silence when it becomes a property.
  return verifyInherentAttrs(result.name, result.attributes,
                             [&] { return parser.emitError(attributesAt) << "'" << result.name << "' op "; });
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBeforeBody()->getArguments(), getInits()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  if (!getInits().empty())
    printer << " : " << getInits().getTypes();
  if (getNumResults() > getNumCarried())
    printer << " -> (" << TypeRange(getResultTypes()).drop_front(getNumCarried()) << ')';
  printer << ' ';
  printer.printRegion(getBefore(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getAfter());
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult WhileOp::verify() {
  TypeRange carried = getInits().getTypes();
  if (getNumResults() < carried.size() || TypeRange(getResultTypes()).take_front(carried.size()) != carried)
    return emitOpError() << "results must begin with the carried types (" << carried << ")";
  if (getBeforeBody()->getArgumentTypes() != carried)
    return emitOpError() << "the condition must take the carried types (" << carried << "), not ("
                         << getBeforeBody()->getArgumentTypes() << ")";
  auto condition = dyn_cast<ConditionOp>(getBeforeBody()->getTerminator());
  if (!condition)
    return emitOpError() << "the first region must end in kina.condition";
  if (condition.getExtras().getTypes() != TypeRange(getResultTypes()).drop_front(carried.size()))
    return condition.emitOpError() << "forwards (" << condition.getExtras().getTypes()
                                   << "), but the loop's extra results are ("
                                   << TypeRange(getResultTypes()).drop_front(carried.size()) << ")";
  if (getAfterBody()->getArgumentTypes() != getResultTypes())
    return emitOpError() << "the body must take (" << getResultTypes() << "), not ("
                         << getAfterBody()->getArgumentTypes() << ")";
  return verifyYield(*this, getAfter(), carried, "the body");
}

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) { return getInits(); }

void WhileOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  // Control goes parent -> condition -> (body -> condition)* -> parent. What arrives at
  // the body from the condition are the carried values, which are arguments of the
  // condition region and no operands of its terminator; so only the extra values are
  // listed there, and the carried ones are left out of this view.
  if (point.isParent() || point.getTerminatorPredecessorOrNull()->getParentRegion() == &getAfter()) {
    regions.push_back(RegionSuccessor(&getBefore(), getBefore().getArguments()));
    return;
  }
  regions.push_back(RegionSuccessor(&getAfter(), getAfter().getArguments().drop_front(getNumCarried())));
  regions.push_back(RegionSuccessor(getOperation(), getResults().drop_front(getNumCarried())));
}

MutableOperandRange ConditionOp::getMutableSuccessorOperands(RegionSuccessor) { return getExtrasMutable(); }

//===----------------------------------------------------------------------===//
// RematOp
//===----------------------------------------------------------------------===//

LogicalResult RematOp::verify() { return verifyYield(*this, getBody(), getResultTypes(), "the region"); }

void RematOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.push_back(RegionSuccessor(&getBody()));
  else
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

} // namespace kina
