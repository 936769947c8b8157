//===- Pullbacks.cpp - Emitting recorded pullbacks backwards --------------===//

#include "Kina/Transforms/AD/Pullbacks.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace kina {

/// On a specialised function: the results of the original that it leaves out.
static constexpr llvm::StringLiteral kAbsentResultsAttrName = "kina.absent_results";

SymbolRefAttr getRecordVJPAttr(MLIRContext *context) {
  return SymbolRefAttr::get(context, kReverseModeName, {FlatSymbolRefAttr::get(context, kRecordVJPName)});
}

bool isRecordVJP(Operation *op, TagAttr tag) {
  auto perform = dyn_cast<PerformOp>(op);
  return perform && perform.getTagAttr() == tag && perform.getPerformed() == getRecordVJPAttr(op->getContext());
}

void CotangentMap::add(OpBuilder &builder, Location loc, Value primal, Value cotangent) {
  Value &slot = map[primal];
  slot = RuleBuilder(builder, loc).accumulate(slot, cotangent);
}

void PullbackEmitter::emitReverse(OpBuilder &builder, ArrayRef<PerformOp> performs, CotangentMap &cotangents,
                                  const IRMapping &mapping) {
  for (PerformOp perform : llvm::reverse(performs)) {
    SmallVector<Value> arguments;
    for (Value primal : perform.getPrimals())
      arguments.push_back(cotangents.lookup(primal));
    if (llvm::none_of(arguments, [](Value cotangent) { return static_cast<bool>(cotangent); }))
      continue;
    for (Value target : perform.getTargets())
      arguments.push_back(cotangents.lookup(target));
    SmallVector<Value> results = cloneBlock(builder, perform.getVjp().front(), arguments, mapping);
    for (auto [target, result] : llvm::zip(perform.getTargets(), results))
      if (result)
        cotangents.set(target, result);
  }
}

SmallVector<Value> PullbackEmitter::cloneBlock(OpBuilder &builder, Block &block, ValueRange arguments,
                                               IRMapping mapping) {
  llvm::DenseSet<Value> absent;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) {
    if (value)
      mapping.map(argument, value);
    else
      absent.insert(argument);
  }
  return cloneBody(builder, block, std::move(mapping), absent);
}

void PullbackEmitter::cloneRemat(OpBuilder &builder, RematOp op, IRMapping &mapping, llvm::DenseSet<Value> &absent) {
  auto draft = RematOp::create(builder, op.getLoc(), op.getResultTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&draft.getBody());
  SmallVector<Value> kept, names;
  for (auto [result, value] : llvm::zip(op.getResults(), cloneBody(builder, op.getBody().front(), mapping, absent))) {
    if (!value) {
      absent.insert(result);
      continue;
    }
    kept.push_back(value);
    names.push_back(result);
  }
  YieldOp::create(builder, op.getLoc(), kept);
  builder.setInsertionPoint(draft);
  auto clone = RematOp::create(builder, op.getLoc(), ValueRange(kept).getTypes());
  clone.getBody().takeBody(draft.getBody());
  draft.erase();
  mapping.map(ValueRange(names), clone.getResults());
}

SmallVector<Value> PullbackEmitter::cloneBody(OpBuilder &builder, Block &block, IRMapping mapping,
                                              llvm::DenseSet<Value> &absent) {
  auto isAbsent = [&](Value value) { return absent.contains(value); };
  auto materialize = [&](Value value, Location loc) {
    if (isAbsent(value))
      mapping.map(value, RuleBuilder(builder, loc).zeros(value.getType()));
  };
  for (Operation &op : block.without_terminator()) {
    if (isa<AbsentOp>(op)) {
      absent.insert(op.getResult(0));
      continue;
    }
    if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      Value a = accumulate.getAccumulator(), b = accumulate.getContribution();
      if (isAbsent(a) && isAbsent(b)) {
        absent.insert(accumulate);
        continue;
      }
      if (isAbsent(a) || isAbsent(b)) {
        mapping.map(accumulate.getResult(), mapping.lookupOrDefault(isAbsent(a) ? b : a));
        continue;
      }
    }
    if (auto present = dyn_cast<PresentOp>(op)) {
      Value bound = mapping.lookupOrDefault(present.getBound());
      mapping.map(present.getResult(),
                  isAbsent(present.getCotangent())
                      ? TapeZerosOp::create(builder, op.getLoc(), present.getType(), bound).getResult()
                      : mapping.lookupOrDefault(present.getCotangent()));
      continue;
    }
    if (auto slice = dyn_cast<SliceOp>(op); slice && isAbsent(slice.getOperand())) {
      absent.insert(slice);
      continue;
    }
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && matmul.getOuts() && isAbsent(matmul.getOuts())) {
      materialize(matmul.getLhs(), op.getLoc());
      materialize(matmul.getRhs(), op.getLoc());
      auto chain = MatmulOp::create(builder, op.getLoc(), mapping.lookupOrDefault(matmul.getLhs()),
                                    mapping.lookupOrDefault(matmul.getRhs()), Value(), matmul.getTransposeA(),
                                    matmul.getTransposeB());
      mapping.map(matmul.getResult(), chain.getResult());
      continue;
    }
    if (auto call = dyn_cast<CallOp>(op); call && llvm::any_of(call.getOperands(), isAbsent)) {
      auto callee = symbols.lookup<FuncOp>(call.getCallee());
      BitVector missing(call.getNumOperands());
      SmallVector<Value> operands;
      for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
        if (isAbsent(operand))
          missing.set(i);
        else
          operands.push_back(mapping.lookupOrDefault(operand));
      }
      if (callee && !callee.isExternal()) {
        FuncOp special = specialize(callee, missing);
        ArrayRef<int64_t> left;
        if (auto attr = special->getAttrOfType<DenseI64ArrayAttr>(kAbsentResultsAttrName))
          left = attr.asArrayRef();
        SmallVector<Value> kept;
        for (auto [i, result] : llvm::enumerate(call.getResults())) {
          if (llvm::is_contained(left, static_cast<int64_t>(i)))
            absent.insert(result);
          else
            kept.push_back(result);
        }
        auto clone = CallOp::create(builder, op.getLoc(), ValueRange(kept).getTypes(), special.getSymName(), operands,
                                    call.getSubst(), ArrayAttr(), ArrayAttr());
        mapping.map(ValueRange(kept), clone.getResults());
        continue;
      }
    }
    // What is run again gives the bits of what is not: an absent cotangent stays absent.
    if (auto remat = dyn_cast<RematOp>(op)) {
      cloneRemat(builder, remat, mapping, absent);
      continue;
    }
    for (Value operand : op.getOperands())
      materialize(operand, op.getLoc());
    for (Region &region : op.getRegions())
      visitUsedValuesDefinedAbove(region, [&](OpOperand *use) { materialize(use->get(), op.getLoc()); });
    builder.clone(op, mapping);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(isAbsent(value) ? Value() : mapping.lookupOrDefault(value));
  return results;
}

FuncOp PullbackEmitter::specialize(FuncOp callee, const BitVector &absent) {
  std::string name = (callee.getSymName() + ".absent").str();
  for (unsigned i : absent.set_bits())
    name += "_" + std::to_string(i);
  if (auto known = symbols.lookup<FuncOp>(name))
    return known;

  Block &body = callee.getBody().front();
  auto special = cast<FuncOp>(callee->cloneWithoutRegions());
  special.setSymName(name);
  // What the callee leaves out is no result of its own.
  special->removeAttr(kAbsentResultsAttrName);
  OpBuilder builder(callee.getContext());
  SmallVector<Type> inputs;
  SmallVector<Location> locations;
  for (BlockArgument argument : body.getArguments())
    if (!absent[argument.getArgNumber()]) {
      inputs.push_back(argument.getType());
      locations.push_back(argument.getLoc());
    }
  if (ArrayAttr attrs = callee.getArgAttrsAttr()) {
    SmallVector<Attribute> kept;
    for (auto [i, attr] : llvm::enumerate(attrs))
      if (!absent[i])
        kept.push_back(attr);
    special.setArgAttrsAttr(builder.getArrayAttr(kept));
  }
  symbols.insert(special, std::next(callee->getIterator()));

  Block *entry = builder.createBlock(&special.getBody(), {}, inputs, locations);
  SmallVector<Value> arguments(body.getNumArguments());
  for (unsigned i = 0, next = 0; i < arguments.size(); ++i)
    if (!absent[i])
      arguments[i] = entry->getArgument(next++);
  SmallVector<Value> kept;
  SmallVector<int64_t> left;
  for (auto [i, result] : llvm::enumerate(cloneBlock(builder, body, arguments, IRMapping()))) {
    if (result)
      kept.push_back(result);
    else
      left.push_back(i);
  }
  ReturnOp::create(builder, body.getTerminator()->getLoc(), kept);
  special.setFunctionType(builder.getFunctionType(inputs, ValueRange(kept).getTypes()));
  if (!left.empty())
    special->setAttr(kAbsentResultsAttrName, builder.getDenseI64ArrayAttr(left));
  return special;
}

} // namespace kina
