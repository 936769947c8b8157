//===- ForwardMode.cpp - Functions with tangents --------------------------===//
//
// Forward mode needs no effect: a tangent is computed right behind its value. So a
// function is emitted once more, every active operation followed by its pushforward, and
// structured control flow carries tangents beside the values: one more result per active
// result, one more carried value per active carried value. A tangent that is zero for
// certain is absent, and becomes zeros only where control flow or a caller needs a value.
// The tangent of a tape, which the gradient of a loop keeps, is a tape of the tangents.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Activity.h"
#include "Kina/Transforms/AD/Nesting.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_FORWARDMODEPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

/// A function with tangents: it takes those of the active arguments behind its arguments
/// and returns those of the `active` results behind its results.
struct Pushforward {
  FuncOp function;
  SmallVector<unsigned> active;
};

class Forward {
public:
  explicit Forward(ModuleOp module) : symbols(module) {}

  /// Replaces the operation by a call.
  LogicalResult expand(JVPOp jvp);

private:
  /// Made once per callee, pattern of active arguments and pattern of wanted results.
  FailureOr<Pushforward *> getPushforward(FuncOp callee, const BitVector &activeArgs, const BitVector &wanted,
                                          Location loc);
  /// A call of it, and the results' tangents: null for those that are zero or not wanted.
  FailureOr<std::pair<CallOp, SmallVector<Value>>> emitCall(OpBuilder &builder, Location loc, StringRef callee,
                                                            ValueRange operands, ValueRange tangents,
                                                            TypeRange results, const BitVector &wanted,
                                                            DictionaryAttr subst);

  ModuleOp getModule() { return cast<ModuleOp>(symbols.getOp()); }

  SymbolTable symbols;
  ActivityAnalysis analysis;
  std::map<std::tuple<std::string, std::string, std::string>, Pushforward> pushforwards;

  friend class FunctionEmitter;
};

/// Emits one function with tangents. Values are those of the original.
class FunctionEmitter {
public:
  FunctionEmitter(Forward &forward, FuncOp original) : forward(forward), original(original) {}

  FailureOr<Pushforward> emit(StringRef name, const BitVector &activeArgs, const BitVector &wanted);

private:
  /// The block's operations, without its terminator.
  LogicalResult emitBlock(OpBuilder &builder, Block &block);
  LogicalResult emitRule(OpBuilder &builder, DifferentiableOpInterface op);
  LogicalResult emitCall(OpBuilder &builder, CallOp op);
  /// An operation whose regions have no arguments and yield its results.
  LogicalResult emitRegions(OpBuilder &builder, Operation &op);
  LogicalResult emitWhile(OpBuilder &builder, WhileOp op);

  /// The positions of the values that have tangents which somebody needs.
  SmallVector<unsigned> activeOf(ValueRange values) const {
    SmallVector<unsigned> active;
    for (auto [i, value] : llvm::enumerate(values))
      if (varied.contains(value) && useful.contains(value))
        active.push_back(i);
    return active;
  }
  /// What the values are called here, then the tangents of those at `active`.
  SmallVector<Value> withTangents(OpBuilder &builder, Location loc, ValueRange values, ArrayRef<unsigned> active) {
    SmallVector<Value> all = llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); });
    for (unsigned i : active) {
      Value tangent = tangents.lookup(values[i]);
      all.push_back(tangent ? tangent : RuleBuilder(builder, loc).zerosLike(all[i]));
    }
    return all;
  }
  /// Names `values` and the tangents of those at `active`, which stand in `emitted` one after the other.
  void define(ValueRange values, ArrayRef<unsigned> active, ValueRange emitted) {
    mapping.map(values, emitted.take_front(values.size()));
    for (auto [i, tangent] : llvm::zip(active, emitted.drop_front(values.size())))
      tangents[values[i]] = tangent;
  }
  static SmallVector<Type> withTangentTypes(TypeRange types, ArrayRef<unsigned> active) {
    SmallVector<Type> all(types);
    for (unsigned i : active)
      all.push_back(types[i]);
    return all;
  }

  Forward &forward;
  FuncOp original;
  ActivityAnalysis::ValueSet varied, useful;
  IRMapping mapping;
  /// Only looked up.
  llvm::DenseMap<Value, Value> tangents;
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The dictionaries of arguments or results, and empty ones for what comes behind them.
ArrayAttr padAttrs(ArrayAttr attrs, unsigned size) {
  if (!attrs)
    return {};
  SmallVector<Attribute> padded(attrs.getValue());
  padded.resize(size, DictionaryAttr::get(attrs.getContext()));
  return ArrayAttr::get(attrs.getContext(), padded);
}

FailureOr<Pushforward> FunctionEmitter::emit(StringRef name, const BitVector &activeArgs, const BitVector &wanted) {
  Block &body = original.getBody().front();
  Operation *end = body.getTerminator();
  for (unsigned i : activeArgs.set_bits())
    varied.insert(body.getArgument(i));
  SmallVector<unsigned> results(wanted.set_bits());
  for (unsigned i : results)
    useful.insert(end->getOperand(i));
  if (failed(forward.analysis.propagateVaried(body, varied)) || failed(forward.analysis.propagateUseful(body, useful)))
    return failure();

  SmallVector<unsigned> args(activeArgs.set_bits());
  auto function = cast<FuncOp>(original->cloneWithoutRegions());
  function.setSymName(name);
  function.setPrivate();
  // Forward mode differentiates the function itself.
  function.removeCustomVjpAttr();
  OpBuilder builder(original.getContext());
  SmallVector<Type> inputs = withTangentTypes(original.getArgumentTypes(), args);
  SmallVector<Location> locations =
      llvm::map_to_vector(body.getArguments(), [](BlockArgument argument) { return argument.getLoc(); });
  for (unsigned i : args)
    locations.push_back(body.getArgument(i).getLoc());
  Block *entry = builder.createBlock(&function.getBody(), {}, inputs, locations);
  define(body.getArguments(), args, entry->getArguments());
  forward.symbols.insert(function, std::next(original->getIterator()));

  LogicalResult emitted = emitBlock(builder, body);
  // What is zero for certain is left out.
  llvm::erase_if(results, [&](unsigned i) { return !tangents.lookup(end->getOperand(i)); });
  SmallVector<Value> returned = withTangents(builder, end->getLoc(), end->getOperands(), results);
  ReturnOp::create(builder, end->getLoc(), returned);
  function.setFunctionType(builder.getFunctionType(inputs, ValueRange(returned).getTypes()));
  if (ArrayAttr attrs = padAttrs(function.getArgAttrsAttr(), inputs.size()))
    function.setArgAttrsAttr(attrs);
  if (ArrayAttr attrs = padAttrs(function.getResAttrsAttr(), returned.size()))
    function.setResAttrsAttr(attrs);
  if (failed(emitted))
    return failure();
  // Each sum has both of its terms by now.
  function.walk([](AccumulateOp op) { lowerAccumulate(op); });
  return Pushforward{function, std::move(results)};
}

FailureOr<Pushforward *> Forward::getPushforward(FuncOp callee, const BitVector &activeArgs, const BitVector &wanted,
                                                 Location loc) {
  auto [it, isNew] = pushforwards.try_emplace({callee.getSymName().str(), toKey(activeArgs), toKey(wanted)});
  if (!isNew) {
    if (it->second.function)
      return &it->second;
    emitError(loc, DiagCode::K0604, "no derivative through recursion: '") << callee.getSymName() << "' calls itself";
    return failure();
  }
  if (callee.isExternal()) {
    emitError(loc, DiagCode::K0604, "no derivative for '")
        << callee.getSymName() << "', which is declared without a body";
    return failure();
  }
  std::string name;
  for (unsigned n = 0; name.empty() || symbols.lookup(name); ++n)
    name = (callee.getSymName() + ".jvp." + Twine(n)).str();
  FailureOr<Pushforward> made = FunctionEmitter(*this, callee).emit(name, activeArgs, wanted);
  if (failed(made))
    return failure();
  it->second = std::move(*made);
  return &it->second;
}

FailureOr<std::pair<CallOp, SmallVector<Value>>>
Forward::emitCall(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, ValueRange tangents,
                  TypeRange results, const BitVector &wanted, DictionaryAttr subst) {
  auto callee = symbols.lookup<FuncOp>(name);
  BitVector activeArgs(operands.size());
  SmallVector<Value> all(operands);
  for (auto [i, tangent] : llvm::enumerate(tangents))
    if (tangent) {
      activeArgs.set(i);
      all.push_back(tangent);
    }
  FailureOr<Pushforward *> found = getPushforward(callee, activeArgs, wanted, loc);
  if (failed(found))
    return failure();
  auto &[function, active] = **found;
  SmallVector<Type> types(results);
  for (unsigned i : active)
    types.push_back(results[i]);
  auto call = CallOp::create(builder, loc, types, function.getSymName(), all, subst, ArrayAttr(), ArrayAttr());
  SmallVector<Value> resultTangents(results.size());
  for (auto [i, tangent] : llvm::zip(active, call.getResults().drop_front(results.size())))
    resultTangents[i] = tangent;
  return std::pair(call, std::move(resultTangents));
}

LogicalResult Forward::expand(JVPOp jvp) {
  OpBuilder builder(jvp);
  Location loc = jvp.getLoc();
  auto callee = symbols.lookup<FuncOp>(jvp.getCallee());
  SmallVector<Value> tangents(jvp.getInputs().size());
  for (auto [i, tangent] : llvm::zip(jvp.getWrt(), jvp.getTangents()))
    tangents[i] = tangent;
  SmallVector<Type> results = llvm::map_to_vector(
      callee.getResultTypes(), [&](Type type) { return substitute(type, jvp.getSubst()); });
  BitVector wanted(results.size());
  unsigned next = jvp.getValue() ? results.size() : 0;
  for (auto [i, type] : llvm::enumerate(results))
    if (hasTangent(type))
      wanted[i] = !jvp.getResult(next++).use_empty();
  auto emitted = emitCall(builder, loc, jvp.getCallee(), jvp.getInputs(), tangents, results, wanted, jvp.getSubst());
  if (failed(emitted))
    return failure();
  SmallVector<Value> replacements;
  if (jvp.getValue())
    llvm::append_range(replacements, emitted->first.getResults().take_front(results.size()));
  for (auto [result, tangent] : llvm::zip(emitted->first.getResults(), emitted->second))
    if (hasTangent(result.getType()))
      replacements.push_back(tangent ? tangent : RuleBuilder(builder, loc).zerosLike(result));
  jvp->replaceAllUsesWith(replacements);
  jvp.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitBlock(OpBuilder &builder, Block &block) {
  bool ok = true;
  for (Operation &op : block.without_terminator()) {
    if (activeOf(op.getResults()).empty()) {
      builder.clone(op, mapping);
      continue;
    }
    LogicalResult emitted =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](CallOp call) { return emitCall(builder, call); })
            .Case([&](WhileOp loop) { return emitWhile(builder, loop); })
            .Case<IfOp, RematOp>([&](Operation *op) { return emitRegions(builder, *op); })
            .Case([&](DifferentiableOpInterface rule) { return emitRule(builder, rule); })
            .Default([&](Operation *op) {
              return emitError(op->getLoc(), DiagCode::K0604, "no derivative for '") << op->getName() << "'";
            });
    if (succeeded(emitted))
      continue;
    // Go on, so that all that is wrong is reported together.
    ok = false;
    builder.clone(op, mapping);
  }
  return success(ok);
}

LogicalResult FunctionEmitter::emitRule(OpBuilder &builder, DifferentiableOpInterface op) {
  SmallVector<Value> given(op->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (op.isDifferentiableIn(i))
      given[i] = tangents.lookup(operand);
  auto emitted = cast<DifferentiableOpInterface>(builder.clone(*op, mapping));
  if (llvm::none_of(given, [](Value tangent) { return static_cast<bool>(tangent); }))
    return success();
  FailureOr<SmallVector<Value>> results = emitted.emitJVP(builder, given);
  if (failed(results))
    return emitError(op.getLoc(), DiagCode::K0604, "no forward-mode derivative for this '") << op->getName() << "'";
  for (auto [result, tangent] : llvm::zip(op->getResults(), *results))
    if (tangent)
      tangents[result] = tangent;
  return success();
}

LogicalResult FunctionEmitter::emitCall(OpBuilder &builder, CallOp op) {
  SmallVector<Value> operands, given;
  for (Value operand : op.getOperands()) {
    operands.push_back(mapping.lookup(operand));
    given.push_back(tangents.lookup(operand));
  }
  BitVector wanted(op.getNumResults());
  for (unsigned i : activeOf(op.getResults()))
    wanted.set(i);
  auto emitted = forward.emitCall(builder, op.getLoc(), op.getCallee(), operands, given, op.getResultTypes(), wanted,
                                  op.getSubst());
  if (failed(emitted))
    return failure();
  mapping.map(op.getResults(), emitted->first.getResults().take_front(op.getNumResults()));
  for (auto [result, tangent] : llvm::zip(op.getResults(), emitted->second))
    if (tangent)
      tangents[result] = tangent;
  return success();
}

LogicalResult FunctionEmitter::emitRegions(OpBuilder &builder, Operation &op) {
  SmallVector<unsigned> active = activeOf(op.getResults());
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.addOperands(mapping.lookup(operand));
  state.addTypes(withTangentTypes(op.getResultTypes(), active));
  state.addAttributes(op.getAttrs());
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  Operation *emitted = builder.create(state);
  bool ok = true;
  for (auto [from, to] : llvm::zip(op.getRegions(), emitted->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    ok &= succeeded(emitBlock(builder, from.front()));
    Operation *end = from.front().getTerminator();
    YieldOp::create(builder, end->getLoc(), withTangents(builder, end->getLoc(), end->getOperands(), active));
  }
  define(op.getResults(), active, emitted->getResults());
  return success(ok);
}

LogicalResult FunctionEmitter::emitWhile(OpBuilder &builder, WhileOp op) {
  Block &before = *op.getBeforeBody(), &after = *op.getAfterBody();
  unsigned carried = op.getNumCarried();
  auto extras = ValueRange(after.getArguments()).drop_front(carried);
  ConditionOp condition = op.getConditionOp();
  // A carried value is active if it is in any iteration.
  SmallVector<unsigned> active = activeOf(before.getArguments()), activeExtras = activeOf(condition.getExtras());
  auto emitted = WhileOp::create(builder, op.getLoc(), withTangents(builder, op.getLoc(), op.getInits(), active),
                                 withTangentTypes(extras.getTypes(), activeExtras));
  emitted.setCheckpointAttr(op.getCheckpointAttr());
  emitted.setTripBoundAttr(op.getTripBoundAttr());
  emitted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  /// Names what comes out of the condition: carried values and extras, tangents behind each.
  auto defineForwarded = [&](ValueRange values, ValueRange all) {
    unsigned count = carried + active.size();
    define(values.take_front(carried), active, all.take_front(count));
    define(values.drop_front(carried), activeExtras, all.drop_front(count));
  };

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(emitted.getBeforeBody());
  define(before.getArguments(), active, emitted.getBeforeBody()->getArguments());
  bool ok = succeeded(emitBlock(builder, before));
  ConditionOp::create(builder, condition.getLoc(), mapping.lookup(condition.getCondition()),
                      withTangents(builder, condition.getLoc(), condition.getExtras(), activeExtras));

  builder.setInsertionPointToEnd(emitted.getAfterBody());
  defineForwarded(after.getArguments(), emitted.getAfterBody()->getArguments());
  ok &= succeeded(emitBlock(builder, after));
  YieldOp yield = op.getYieldOp();
  YieldOp::create(builder, yield.getLoc(), withTangents(builder, yield.getLoc(), yield.getOperands(), active));
  defineForwarded(op.getResults(), emitted.getResults());
  return success(ok);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class ForwardModePass : public impl::ForwardModePassBase<ForwardModePass> {
public:
  using ForwardModePassBase::ForwardModePassBase;

  void runOnOperation() override {
    SmallVector<JVPOp> innermost;
    for (Operation *op : Derivatives(getOperation()).innermost)
      if (auto jvp = dyn_cast<JVPOp>(op))
        innermost.push_back(jvp);
    if (innermost.empty())
      return;
    Forward forward(getOperation());
    for (JVPOp jvp : innermost)
      if (failed(forward.expand(jvp)))
        signalPassFailure();
  }
};

} // namespace
} // namespace kina
