//===- EffectOps.cpp - Effects and handlers -------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/Dim.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace kina {

LogicalResult EffectOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<OperationOp>(op))
      return op.emitOpError() << "cannot stand in a kina.effect, which holds kina.operation only";
  return success();
}

//===----------------------------------------------------------------------===//
// PerformOp
//===----------------------------------------------------------------------===//

LogicalResult PerformOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // RecordVJP's payload is a region of any type; the effect that declares it is built in.
  if (getTag())
    return success();
  auto operation = symbols.lookupNearestSymbolFrom<OperationOp>(*this, getPerformedAttr());
  if (!operation)
    return emitOpError() << getPerformedAttr() << " is no kina.operation of a kina.effect";
  if (operation.getType().getNumInputs() != getPayload().size())
    return emitOpError() << "has " << getPayload().size() << " payload values, but " << getPerformedAttr()
                         << " takes " << operation.getType().getNumInputs();
  if (operation.getType().getNumResults() != getNumResults())
    return emitOpError() << "has " << getNumResults() << " results, but " << getPerformedAttr() << " resumes with "
                         << operation.getType().getNumResults();
  return success();
}

LogicalResult PerformOp::verifyRegions() {
  if (getVjp().empty()) {
    if (getTag())
      return emitOpError() << "with a tag needs the pullback's region";
    return success();
  }
  if (!getTag())
    return emitOpError() << "with a pullback's region needs a tag";
  SmallVector<Type> expected(getPrimals().getTypes());
  llvm::append_range(expected, getTargets().getTypes());
  if (!llvm::equal(getVjp().front().getArgumentTypes(), expected))
    return emitOpError() << "the pullback must take the cotangents of (" << getPrimals().getTypes()
                         << ") and accumulators for (" << getTargets().getTypes() << ")";
  auto yield = dyn_cast<YieldOp>(getVjp().front().getTerminator());
  if (!yield || yield.getOperandTypes() != getTargets().getTypes())
    return emitOpError() << "the pullback must yield (" << getTargets().getTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// HandleOp
//===----------------------------------------------------------------------===//

LogicalResult HandleOp::verifyRegions() {
  if (getOperations().size() != getCases().size())
    return emitOpError() << "has " << getCases().size() << " cases for " << getOperations().size() << " operations";
  for (Attribute operation : getOperations())
    if (!isa<SymbolRefAttr>(operation))
      return emitOpError() << "'operations' must hold symbol references, not " << operation;
  auto bodyYield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!bodyYield)
    return emitOpError() << "the body must end in kina.yield";
  if (bodyYield.getOperandTypes() != TypeRange(getReturnRegion().front().getArgumentTypes()))
    return emitOpError() << "the return region must take what the body yields, (" << bodyYield.getOperandTypes()
                         << ")";
  auto checkYield = [&](Region &region, StringRef what) -> LogicalResult {
    auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
    if (!yield || yield.getOperandTypes() != TypeRange(getResultTypes()))
      return emitOpError() << what << " must yield (" << getResultTypes() << ")";
    return success();
  };
  if (failed(checkYield(getReturnRegion(), "the return region")))
    return failure();
  for (Region &region : getCases()) {
    if (region.front().getNumArguments() == 0 || !isa<ContType>(region.front().getArguments().back().getType()))
      return emitOpError() << "a case must take its payload and then a continuation";
    auto continuation = cast<ContType>(region.front().getArguments().back().getType());
    if (!llvm::equal(continuation.getResults(), getResultTypes()))
      return emitOpError() << "a case's continuation must give (" << getResultTypes() << ")";
    if (failed(checkYield(region, "a case")))
      return failure();
  }
  return success();
}

bool answers(HandleOp handle, PerformOp perform) {
  return handle.getTagAttr() == perform.getTagAttr() &&
         llvm::is_contained(handle.getOperations(), perform.getPerformedAttr());
}

/// `active` are the functions that are looked at, which may not end otherwise.
static void collectOpenPerforms(Region &region, SmallVectorImpl<PerformOp> &performs,
                                SmallVectorImpl<Operation *> &active) {
  for (Operation &op : region.getOps()) {
    if (auto perform = dyn_cast<PerformOp>(op)) {
      if (!perform.getTagAttr())
        performs.push_back(perform);
      continue;
    }
    if (isa<GradOp, VJPOp, JVPOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(&op, op.getAttrOfType<FlatSymbolRefAttr>("callee"));
      if (callee && !llvm::is_contained(active, callee)) {
        active.push_back(callee);
        collectOpenPerforms(callee.getBody(), performs, active);
        active.pop_back();
      }
      continue;
    }
    auto handle = dyn_cast<HandleOp>(op);
    for (Region &inner : op.getRegions()) {
      size_t first = performs.size();
      collectOpenPerforms(inner, performs, active);
      if (handle && &inner == &handle.getBody())
        performs.erase(std::remove_if(performs.begin() + first, performs.end(),
                                      [&](PerformOp perform) { return answers(handle, perform); }),
                       performs.end());
    }
  }
}

void collectOpenPerforms(Region &region, SmallVectorImpl<PerformOp> &performs) {
  SmallVector<Operation *> active;
  collectOpenPerforms(region, performs, active);
}

LogicalResult ResumeOp::verify() {
  ContType type = getContinuation().getType();
  if (!llvm::equal(type.getResults(), getResultTypes()))
    return emitOpError() << "must give what its continuation gives, (" << type.getResults() << ")";
  SmallVector<Type> expected;
  if (auto tuple = dyn_cast<TupleType>(type.getResume()))
    llvm::append_range(expected, tuple.getTypes());
  else if (!isa<NoneType>(type.getResume()))
    expected.push_back(type.getResume());
  if (!llvm::equal(expected, getValues().getTypes()))
    return emitOpError() << "must resume with (" << expected << ")";
  return success();
}

} // namespace kina
