//===- RecordCalls.cpp - Pullbacks of calls: pairs and custom rules -------===//

#include "Recorder.h"
#include "Kina/Support/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

FailureOr<PerformOp> Recorder::recordCall(CallOp call, const BitVector &activeOperands,
                                          const BitVector &activeResults, Place place) {
  TagAttr tag = place.tag;
  auto callee = symbols.lookup<FuncOp>(call.getCallee());
  if (callee.getCustomVjp())
    return recordCustom(call, callee, activeOperands, activeResults, tag);
  if (callee.isExternal()) {
    emitError(call.getLoc(), DiagCode::K0604, "no derivative for '")
        << callee.getSymName() << "', which is declared without a body";
    return failure();
  }
  FailureOr<Pair *> found = getPair(call, callee, activeOperands, activeResults, place);
  if (failed(found))
    return failure();
  Pair &pair = **found;

  Location loc = call.getLoc();
  OpBuilder builder(call);
  SmallVector<Type> types;
  for (Type type : pair.forward.getResultTypes())
    types.push_back(substitute(type, call.getSubst()));
  if (llvm::is_contained(types, Type())) {
    emitError(loc, DiagCode::K0204, "a dimension of a residual of '") << callee.getSymName() << "' overflows";
    return failure();
  }
  auto forward = CallOp::create(builder, loc, types, pair.forward.getSymName(), call.getOperands(),
                                call.getSubst(), call.getArgAttrsAttr(), ArrayAttr());
  for (auto [result, replacement] : llvm::zip(call.getResults(), forward.getResults()))
    replaceValue(result, replacement);
  eraseOp(call);

  PerformOp perform = createPerform(forward, activeOperands, [&] {
    BitVector wide = activeResults;
    wide.resize(forward.getNumResults());
    return wide;
  }(), tag, builder);
  SmallVector<Value> given = getCotangents(perform, builder), operands;
  for (DimAttr dim : pair.dims) {
    DimAttr here = substitute(dim, forward.getSubst());
    operands.push_back(DimOp::create(builder, loc, builder.getIndexType(), here));
  }
  for (Residual residual : pair.residuals)
    operands.push_back(residual.from == Residual::Argument ? forward.getOperand(residual.index)
                                                           : forward.getResult(residual.index));
  unsigned cotangents = activeResults.count();
  llvm::append_range(operands, ArrayRef<Value>(given).take_front(cotangents));
  // A value that is several arguments: its accumulator goes to the first of them.
  llvm::MapVector<Value, Value> accumulators;
  for (auto [target, accumulator] :
       llvm::zip(perform.getTargets(), ArrayRef<Value>(given).drop_front(cotangents)))
    accumulators[target] = accumulator;
  llvm::DenseSet<Value> taken;
  for (unsigned i : activeOperands.set_bits()) {
    Value operand = forward.getOperand(i);
    operands.push_back(taken.insert(operand).second ? accumulators[operand]
                                                    : AbsentOp::create(builder, loc, operand.getType()).getResult());
  }
  SmallVector<Type> results;
  for (unsigned i : activeOperands.set_bits())
    results.push_back(forward.getOperand(i).getType());
  auto reverse = CallOp::create(builder, loc, results, pair.reverse.getSymName(), operands, forward.getSubst(),
                                ArrayAttr(), ArrayAttr());
  taken.clear();
  unsigned next = 0;
  for (unsigned i : activeOperands.set_bits()) {
    Value &accumulator = accumulators[forward.getOperand(i)], result = reverse.getResult(next++);
    accumulator = taken.insert(forward.getOperand(i)).second
                      ? result
                      : RuleBuilder(builder, loc).accumulate(accumulator, result);
  }
  SmallVector<Value> yielded;
  for (auto &entry : accumulators)
    yielded.push_back(entry.second);
  YieldOp::create(builder, loc, yielded);
  return perform;
}

FailureOr<PerformOp> Recorder::recordCustom(CallOp call, FuncOp callee, const BitVector &activeOperands,
                                                  const BitVector &activeResults, TagAttr tag) {
  Location loc = call.getLoc();
  OpBuilder builder(call);
  PerformOp perform = createPerform(call, activeOperands, activeResults, tag, builder);
  RuleBuilder k(builder, loc);
  SmallVector<Value> operands(call.getOperands());
  llvm::append_range(operands, call.getResults());
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(call.getResults()))
    if (hasTangent(result.getType()))
      operands.push_back(activeResults[i] ? Value(perform.getVjp().getArgument(next++)) : k.zeros(result.getType()));

  SmallVector<unsigned> floats;
  for (auto [i, operand] : llvm::enumerate(call.getOperands()))
    if (hasTangent(operand.getType()))
      floats.push_back(i);
  auto pullback = symbols.lookup<FuncOp>(*callee.getCustomVjp());
  DictionaryAttr subst;
  if (pullback && pullback.getNumArguments() == operands.size())
    subst = solveSubstitution(pullback, ValueRange(operands).getTypes());
  if (!subst || pullback.getNumResults() != floats.size()) {
    InFlightDiagnostic error = emitError(loc, DiagCode::K0604, "no derivative for '");
    error << callee.getSymName() << "': its pullback '" << *callee.getCustomVjp()
          << "' must take the parameters, the results and the cotangents of the float results, and return "
          << "the cotangents of the float parameters";
    if (pullback)
      error.attachNote(pullback.getLoc()) << "the pullback is here";
    eraseOp(perform);
    return failure();
  }
  SmallVector<Type> results = llvm::map_to_vector(
      pullback.getResultTypes(), [&](Type type) { return substitute(type, subst); });
  auto pulled = CallOp::create(builder, loc, results, pullback.getSymName(), operands, subst, ArrayAttr(), ArrayAttr());
  llvm::MapVector<Value, Value> accumulators;
  for (Value target : perform.getTargets())
    accumulators[target] = perform.getVjp().getArgument(next++);
  for (auto [position, i] : llvm::enumerate(floats)) {
    if (!activeOperands[i])
      continue;
    Value &accumulator = accumulators[call.getOperand(i)];
    if (pulled.getResult(position).getType() != accumulator.getType()) {
      emitError(pullback.getLoc(), DiagCode::K0604, "the pullback of '")
          << callee.getSymName() << "' returns " << pulled.getResult(position).getType() << " where a cotangent of type "
          << accumulator.getType() << " is wanted";
      eraseOp(perform);
      return failure();
    }
    accumulator = k.accumulate(accumulator, pulled.getResult(position));
  }
  SmallVector<Value> yielded;
  for (auto &entry : accumulators)
    yielded.push_back(entry.second);
  YieldOp::create(builder, loc, yielded);
  return perform;
}

/// The shape variables that the argument types do not determine by a dimension of their
/// own, and so need an argument.
static SmallVector<StringRef> unsolvedNames(ArrayRef<StringRef> names, ArrayRef<Type> types) {
  return llvm::filter_to_vector(names, [&](StringRef name) {
    return llvm::none_of(types, [&](Type type) {
      return llvm::any_of(getShape(type), [&](DimAttr dim) { return dim.getSingleName() == name; });
    });
  });
}

FailureOr<Pair *> Recorder::getPair(CallOp call, FuncOp callee, const BitVector &activeOperands,
                                    const BitVector &activeResults, Place place) {
  Key key{callee.getSymName().str(), toKey(activeOperands), toKey(activeResults), place.inLoop};
  if (auto it = pairs.find(key); it != pairs.end())
    return it->second.get();

  OpBuilder builder(module.getContext());
  Location loc = callee.getLoc();
  auto pair = std::make_unique<Pair>();
  FuncOp forward = pair->forward = callee.clone();
  forward.setSymName(uniqueName(callee.getSymName() + ".fwd."));
  forward.setPrivate();
  symbols.insert(forward, std::next(callee->getIterator()));

  Block &body = forward.getBody().front();
  Operation *end = body.getTerminator();
  // The activity of the caller waits meanwhile.
  ActivityAnalysis::ValueSet outerVaried = std::exchange(varied, {}), outerUseful = std::exchange(useful, {});
  llvm::scope_exit restore([&] {
    varied = std::move(outerVaried);
    useful = std::move(outerUseful);
  });
  sinkConditionExtras(body);
  for (unsigned i : activeOperands.set_bits())
    varied.insert(body.getArgument(i));
  for (unsigned i : activeResults.set_bits())
    useful.insert(end->getOperand(i));
  Performs performs;
  if (failed(analysis.propagateVaried(body, varied)) || failed(analysis.propagateUseful(body, useful)))
    return failure();
  if (bindsSizes(body))
    rematerialize(body);
  if (failed(recordBlock(body, place, performs)))
    return failure();

  // What the pullbacks read: anew if it is free, else from the caller's operands or the
  // call's results, to which the rest is added.
  SmallVector<Value> kept, free, returned(end->getOperands());
  SmallVector<StringRef> names = forward.getShapeVarNames();
  for (Value value : getCaptured(performs)) {
    if (isFree(value)) {
      free.push_back(value);
      continue;
    }
    kept.push_back(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      pair->residuals.push_back({Residual::Argument, argument.getArgNumber()});
      continue;
    }
    auto *at = llvm::find(returned, value);
    if (at == returned.end()) {
      returned.push_back(value);
      at = std::prev(returned.end());
    }
    pair->residuals.push_back({Residual::Result, static_cast<unsigned>(at - returned.begin())});
  }

  // The reverse half.
  SmallVector<Type> inputs(ValueRange(kept).getTypes()), results;
  for (unsigned i : activeResults.set_bits())
    inputs.push_back(end->getOperand(i).getType());
  for (unsigned i : activeOperands.set_bits())
    results.push_back(body.getArgument(i).getType());
  // What gives sizes must still be there when accumulators, and one cotangent among
  // several, turn out to be absent.
  SmallVector<Type> lasting(activeResults.count() == 1 ? ArrayRef<Type>(inputs)
                                                       : ArrayRef<Type>(inputs).take_front(kept.size()));
  llvm::append_range(inputs, results);
  // Only the shape variables that it speaks of are its own.
  llvm::SetVector<StringRef> spoken;
  AttrTypeWalker walker;
  walker.addWalk([&](DimAtomAttr atom) {
    if (atom.getKind() == AtomKind::Name)
      spoken.insert(atom.getName());
  });
  auto speak = [&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  };
  for (Type type : inputs)
    walker.walk(type);
  for (PerformOp perform : performs)
    perform.getVjp().walk(speak);
  for (Value value : free)
    for (Value at = value; at; at = at.getDefiningOp()->getNumOperands() ? at.getDefiningOp()->getOperand(0) : Value())
      speak(at.getDefiningOp());
  SmallVector<Attribute> shapeVars;
  if (ArrayAttr all = forward.getShapeVarsAttr())
    for (auto var : all.getAsRange<ShapeVarAttr>())
      if (spoken.contains(var.getName()))
        shapeVars.push_back(var);
  llvm::erase_if(names, [&](StringRef name) { return !spoken.contains(name); });
  SmallVector<StringRef> unsolved = unsolvedNames(names, lasting);
  inputs.insert(inputs.begin(), unsolved.size(), builder.getIndexType());
  builder.setInsertionPointAfter(forward);
  FuncOp reverse = pair->reverse = FuncOp::create(
      builder, loc, uniqueName(callee.getSymName() + ".rev."), builder.getFunctionType(inputs, results));
  reverse.setPrivate();
  if (!shapeVars.empty())
    reverse.setShapeVarsAttr(builder.getArrayAttr(shapeVars));
  for (auto [i, name] : llvm::enumerate(unsolved)) {
    reverse.setArgAttr(i, kDimArgAttrName, builder.getStringAttr(name));
    pair->dims.push_back(DimAttr::getName(module.getContext(), name));
  }
  symbols.insert(reverse);
  Block *entry = builder.createBlock(&reverse.getBody(), {}, inputs, SmallVector<Location>(inputs.size(), loc));
  auto *argument = std::next(entry->args_begin(), unsolved.size());
  IRMapping mapping;
  for (Value value : kept)
    mapping.map(value, *argument++);
  for (Value value : free)
    recompute(builder, value, mapping);
  auto *seeds = argument;
  std::advance(argument, activeResults.count());
  CotangentMap cotangents;
  for (unsigned i : activeOperands.set_bits())
    cotangents.set(body.getArgument(i), *argument++);
  for (unsigned i : activeResults.set_bits())
    cotangents.add(builder, loc, end->getOperand(i), *seeds++);
  PullbackEmitter(symbols).emitReverse(builder, performs, cotangents, mapping);
  SmallVector<Value> gradients;
  for (unsigned i : activeOperands.set_bits())
    gradients.push_back(cotangents.lookup(body.getArgument(i)));
  ReturnOp::create(builder, end->getLoc(), gradients);

  // The forward half.
  for (PerformOp perform : performs)
    eraseOp(perform);
  end->setOperands(returned);
  forward.setFunctionType(builder.getFunctionType(forward.getArgumentTypes(), ValueRange(returned).getTypes()));
  if (ArrayAttr attrs = forward.getResAttrsAttr()) {
    SmallVector<Attribute> padded(attrs.getValue());
    padded.resize(returned.size(), builder.getDictionaryAttr({}));
    forward.setResAttrsAttr(builder.getArrayAttr(padded));
  }
  Pair *result = pair.get();
  pairs.emplace(std::move(key), std::move(pair));
  return result;
}

} // namespace kina
