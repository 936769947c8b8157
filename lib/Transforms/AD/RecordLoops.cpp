//===- RecordLoops.cpp - Pullbacks of loops -------------------------------===//
//
// All iterations of a loop leave the same closures, so the stack of pending closures is a
// tape for each residual, and the pullback is a loop over the iterations that ran, last
// first. It never asks the condition again. Cotangents of the carried values are its
// carries, and so are accumulators of the active values that the body captures: they go
// through every level of a loop that was cut into segments, with no sums per segment, and
// so have the same bits however it was cut.
//
// What is kept:
//   taped    the residuals of every iteration, where a bound of their number is known;
//   growable the same where none is, on tapes that the run time makes longer as they fill;
//   stride   the carried values of every g-th iteration, g doubling whenever `slots` of
//            them are there; the pullback runs each segment again, taped;
//   replay   the initial values only: the pullback runs the loop again, taped, with the
//            number of iterations that is known by then. A loop in a loop is kept so,
//            for a tape is no frame of a tape.
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "Kina/Support/Diagnostics.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

class LoopRecorder {
public:
  LoopRecorder(Recorder &recorder, WhileOp loop, Recorder::Place place)
      : recorder(recorder), place(place), loop(loop), builder(loop), loc(loop.getLoc()), slots(recorder.options.slots) {}

  FailureOr<PerformOp> record();

private:
  /// What a pullback gets for the loop: cotangents of carried values and accumulators of
  /// captured ones.
  struct Cotangents {
    SmallVector<Value> carried, captured;
  };

  // The plan.
  bool isInside(Value value) const { return body->isAncestor(value.getParentBlock()->getParentOp()); }
  std::optional<unsigned> getCarriedIndex(Value value) const;
  /// Whether the reverse can compute the value from the number of the iteration alone.
  bool isCheap(Value value) const;
  /// Decides how the reverse gets the value.
  void plan(Value value);
  /// The value in an iteration of the reverse; what is kept is in `mapping`.
  Value recover(Value value, Value iteration, IRMapping &mapping);

  // The parts.
  RuleBuilder rules() { return RuleBuilder(builder, loc); }
  /// The forward loop with more carried values; its yield still lacks them.
  void extendLoop(ValueRange inits);
  /// Pushes what is kept in the block at iteration `at`; updates the tapes.
  void pushKept(Block *block, Value at, MutableArrayRef<Value> tapes);
  SmallVector<Value> createTapes(Value bound);
  /// The recorded body, run `count` times from the states; returns the tapes.
  SmallVector<Value> emitReplay(Value count, ValueRange states, ValueRange tapes);
  /// The pullbacks of the iterations `base + count - 1` to `base`.
  Cotangents emitSweep(Value count, Value base, ValueRange tapes, const Cotangents &given);

  /// Both, on tapes of their own. What they keep does not leave them: a derivative of this
  /// derivative runs them again rather than keep tapes.
  Cotangents emitSegment(Value count, Value base, ValueRange states, Value bound, const Cotangents &given);
  Cotangents split(ValueRange values) const {
    return {SmallVector<Value>(values.take_front(active.size())), SmallVector<Value>(values.drop_front(active.size()))};
  }

  // The forms. Each changes the forward loop and gives what emits its pullback.
  using Pullback = std::function<Cotangents(const Cotangents &)>;
  Pullback keepTaped(const TripBound &bound);
  Pullback keepReplay();
  Pullback keepStride();
  Value getSlot(Value number, Value factor);

  Recorder &recorder;
  Recorder::Place place;
  /// The forward loop.
  WhileOp loop;
  /// The loop whose body is recorded: the forward one, or a copy.
  WhileOp body;
  OpBuilder builder;
  Location loc;
  /// States that a doubling stride keeps: a power of two.
  int64_t slots;
  Recorder::Performs performs;
  SmallVector<unsigned> active;
  llvm::SetVector<Value> captured, needed, kept;
  llvm::DenseSet<Value> planned;
  /// The body's own names for the carried values, what it yields, and the counters.
  SmallVector<Value> arguments, yielded, inits;
  SmallVector<std::optional<Induction>> inductions;
};

std::optional<unsigned> LoopRecorder::getCarriedIndex(Value value) const {
  auto *at = llvm::find(arguments, value);
  return at == arguments.end() ? std::nullopt : std::optional<unsigned>(at - arguments.begin());
}

bool LoopRecorder::isCheap(Value value) const {
  if (!isInside(value) || isFree(value))
    return true;
  if (std::optional<unsigned> carried = getCarriedIndex(value))
    return inductions[*carried].has_value();
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  // An empty tape is as good as another one.
  if (isa<TapeNewOp, TapeZerosOp>(op))
    return op->getNumOperands() == 0 || isCheap(op->getOperand(0));
  bool isScalar = getRank(value.getType()) == 0 && isa<AddOp, SubOp, MulOp, NegOp, CastOp, MinOp, MaxOp, CmpOp>(op) &&
                  llvm::none_of(op->getOperandTypes(), [](Type type) { return hasTangent(type); });
  bool isRead = isa<SliceOp>(op) && !isInside(op->getOperand(0));
  return (isScalar || isRead) && llvm::all_of(op->getOperands(), [&](Value operand) { return isCheap(operand); });
}

void LoopRecorder::plan(Value value) {
  if (!planned.insert(value).second || isCheap(value))
    return;
  // The operand is not larger, and often the residual of another pullback.
  if (Operation *op = value.getDefiningOp(); op && isa<BroadcastOp, ReshapeOp, TransposeOp>(op))
    plan(op->getOperand(0));
  else
    kept.insert(value);
}

Value LoopRecorder::recover(Value value, Value iteration, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (!isInside(value))
    return value;
  if (isFree(value))
    return recompute(builder, value, mapping);
  if (std::optional<unsigned> carried = getCarriedIndex(value)) {
    Value now = emitInduction(builder, loc, *inductions[*carried], inits[*carried], iteration, mapping);
    mapping.map(value, now);
    return now;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    recover(operand, iteration, mapping);
  Operation *clone = builder.clone(*op, mapping);
  // The forward run has checked it.
  if (auto slice = dyn_cast<SliceOp>(clone))
    slice.setInBounds(true);
  return mapping.lookup(value);
}

void LoopRecorder::extendLoop(ValueRange more) {
  SmallVector<Value> operands(loop.getInits());
  llvm::append_range(operands, more);
  builder.setInsertionPoint(loop);
  auto extended = WhileOp::create(builder, loc, operands, TypeRange());
  extended->setDiscardableAttrs(llvm::to_vector(loop->getDiscardableAttrs()));
  extended.setCheckpointAttr(loop.getCheckpointAttr());
  extended.setTripBoundAttr(loop.getTripBoundAttr());
  extended.getBefore().takeBody(loop.getBefore());
  extended.getAfter().takeBody(loop.getAfter());
  for (Value value : more) {
    extended.getBeforeBody()->addArgument(value.getType(), loc);
    extended.getAfterBody()->addArgument(value.getType(), loc);
  }
  for (auto [result, replacement] : llvm::zip(loop.getResults(), extended.getResults()))
    recorder.replaceValue(result, replacement);
  bool isOwn = body == loop;
  recorder.eraseOp(loop);
  loop = extended;
  if (isOwn)
    body = extended;
}

SmallVector<Value> LoopRecorder::createTapes(Value bound) {
  return llvm::map_to_vector(kept, [&](Value value) -> Value {
    auto form = bound ? TapeForm::Bounded : TapeForm::Growable;
    return TapeNewOp::create(builder, loc, TapeType::get(builder.getContext(), value.getType(), form), bound);
  });
}

void LoopRecorder::pushKept(Block *block, Value at, MutableArrayRef<Value> tapes) {
  // A frame is written before anything can change the buffer of what it holds.
  OpBuilder::InsertionGuard guard(builder);
  for (auto [value, tape] : llvm::zip(kept, tapes)) {
    if (isa<BlockArgument>(value))
      builder.setInsertionPointToStart(block);
    else
      builder.setInsertionPointAfter(value.getDefiningOp());
    tape = TapePushOp::create(builder, loc, tape, at, value);
  }
}

SmallVector<Value> LoopRecorder::emitReplay(Value count, ValueRange states, ValueRange tapes) {
  RuleBuilder k = rules();
  SmallVector<Value> operands{k.index(0)};
  llvm::append_range(operands, states);
  llvm::append_range(operands, tapes);
  auto replay = WhileOp::create(builder, loc, operands, TypeRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(replay.getBeforeBody());
  Value more = k.cmp(CmpPredicate::lt, replay.getBeforeBody()->getArgument(0), count);
  ConditionOp::create(builder, loc, more, ValueRange());

  Block *block = replay.getAfterBody();
  Operation *end = body.getYieldOp();
  block->getOperations().splice(block->end(), body.getAfterBody()->getOperations());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    recorder.replaceValue(argument, block->getArgument(1 + i));
    for (Value &value : yielded)
      if (value == argument)
        value = block->getArgument(1 + i);
    if (kept.contains(argument)) {
      // Keeps its place, which says which tape is its own.
      SmallVector<Value> names(kept.takeVector());
      llvm::replace(names, argument, Value(block->getArgument(1 + i)));
      kept.insert(names.begin(), names.end());
    }
    if (needed.remove(argument))
      needed.insert(block->getArgument(1 + i));
    argument = block->getArgument(1 + i);
  }
  recorder.eraseOp(body);
  body = replay;
  SmallVector<Value> filled(block->getArguments().drop_front(1 + states.size()));
  pushKept(block, block->getArgument(0), filled);
  builder.setInsertionPoint(end);
  SmallVector<Value> next{k.add(block->getArgument(0), k.index(1))};
  llvm::append_range(next, yielded);
  llvm::append_range(next, filled);
  end->setOperands(next);
  return SmallVector<Value>(replay.getResults().drop_front(1 + states.size()));
}

LoopRecorder::Cotangents LoopRecorder::emitSweep(Value count, Value base, ValueRange tapes, const Cotangents &given) {
  RuleBuilder k = rules();
  SmallVector<Value> operands{count};
  llvm::append_range(operands, given.carried);
  llvm::append_range(operands, given.captured);
  WhileOp sweep = k.createCountdown(operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = sweep.getAfterBody();
  builder.setInsertionPointToEnd(block);
  ValueRange carried = block->getArguments().slice(1, active.size()),
             accumulators = block->getArguments().drop_front(1 + active.size());
  Value at = k.sub(block->getArgument(0), k.index(1)), iteration = base ? k.add(base, at) : at;
  IRMapping mapping;
  for (auto [value, tape] : llvm::zip(kept, tapes))
    mapping.map(value, TapeReadOp::create(builder, loc, value.getType(), tape, at));
  for (Value value : needed)
    recover(value, iteration, mapping);
  CotangentMap cotangents;
  for (auto [target, accumulator] : llvm::zip(captured, accumulators))
    cotangents.set(target, accumulator);
  for (auto [i, cotangent] : llvm::zip(active, carried))
    if (recorder.isActive(yielded[i]))
      cotangents.add(builder, loc, yielded[i], cotangent);
  PullbackEmitter(recorder.symbols).emitReverse(builder, performs, cotangents, mapping);
  SmallVector<Value> next{at};
  for (unsigned i : active) {
    Value cotangent = cotangents.lookup(arguments[i]);
    next.push_back(cotangent ? cotangent : k.zerosLike(arguments[i]));
  }
  llvm::append_range(next, cotangents.lookupAll(captured.getArrayRef()));
  YieldOp::create(builder, loc, next);
  return split(sweep.getResults().drop_front(1));
}

LoopRecorder::Cotangents LoopRecorder::emitSegment(Value count, Value base, ValueRange states, Value bound,
                                                   const Cotangents &given) {
  SmallVector<Type> types(ValueRange(given.carried).getTypes());
  llvm::append_range(types, ValueRange(given.captured).getTypes());
  auto segment = RematOp::create(builder, loc, types);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&segment.getBody());
  SmallVector<Value> tapes = emitReplay(count, states, createTapes(bound));
  Cotangents results = emitSweep(count, base, tapes, given);
  llvm::append_range(results.carried, results.captured);
  YieldOp::create(builder, loc, results.carried);
  return split(segment.getResults());
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

LoopRecorder::Pullback LoopRecorder::keepTaped(const TripBound &bound) {
  RuleBuilder k = rules();
  builder.setInsertionPoint(loop);
  SmallVector<Value> extra{k.index(0)};
  llvm::append_range(extra, createTapes(bound.count));
  unsigned first = loop.getNumCarried();
  extendLoop(extra);
  Block *block = loop.getAfterBody();
  Value count = block->getArgument(first);
  SmallVector<Value> tapes(block->getArguments().drop_front(first + 1));
  pushKept(block, count, tapes);
  if (bound.count && !bound.isProven) {
    builder.setInsertionPointToStart(block);
    CheckOp::create(builder, loc, k.cmp(CmpPredicate::lt, count, bound.count),
                    "the loop runs longer than its bound, for which its derivative has room");
  }
  Operation *end = block->getTerminator();
  builder.setInsertionPoint(end);
  SmallVector<Value> next{k.add(count, k.index(1))};
  llvm::append_range(next, tapes);
  end->insertOperands(first, next);
  return [this, first](const Cotangents &given) {
    return emitSweep(loop.getResult(first), Value(), loop.getResults().drop_front(first + 1), given);
  };
}

LoopRecorder::Pullback LoopRecorder::keepReplay() {
  RuleBuilder k = rules();
  builder.setInsertionPoint(loop);
  unsigned first = loop.getNumCarried();
  extendLoop(k.index(0));
  Operation *end = loop.getYieldOp();
  builder.setInsertionPoint(end);
  end->insertOperands(first, k.add(loop.getAfterBody()->getArgument(first), k.index(1)));
  return [this, first](const Cotangents &given) {
    Value count = loop.getResult(first);
    return kept.empty() ? emitSweep(count, Value(), {}, given) : emitSegment(count, Value(), inits, count, given);
  };
}

// At stride g the states of iterations 0, g, 2g, ... are there. When K of them are, every
// second one is given up and g doubles. Nothing moves: with K a power of two and g = 2^l,
// the q-th state is in the slot whose number is q with its bits rotated left by l, which
// leaves the even ones where they are and gives the next ones the slots of the odd ones.
// `factor` is 2^(l mod log2 K).
Value LoopRecorder::getSlot(Value number, Value factor) {
  RuleBuilder k = rules();
  Value shifted = k.mul(number, factor);
  return k.add(k.make<AndOp>(shifted, k.index(slots - 1)), k.div(shifted, k.index(slots)));
}

LoopRecorder::Pullback LoopRecorder::keepStride() {
  // Without residuals there is nothing to run again.
  if (kept.empty())
    return keepReplay();
  RuleBuilder k = rules();
  builder.setInsertionPoint(loop);
  Value limit = k.index(slots);
  unsigned first = loop.getNumCarried();
  // iteration, the next one to keep, states kept, stride, factor, a tape of each state.
  SmallVector<Value> extra{k.index(0), k.index(0), k.index(0), k.index(1), k.index(1)};
  for (Value init : inits)
    extra.push_back(TapeNewOp::create(
        builder, loc, TapeType::get(builder.getContext(), init.getType(), TapeForm::Bounded), limit));
  constexpr unsigned kCount = 0, kNext = 1, kNumber = 2, kStride = 3, kFactor = 4, kTapes = 5;
  extendLoop(extra);
  Block *block = loop.getAfterBody();
  auto own = block->getArguments().drop_front(first);
  builder.setInsertionPointToStart(block);
  Value isDue = k.cmp(CmpPredicate::eq, own[kCount], own[kNext]);
  auto keep = IfOp::create(builder, loc, TypeRange(ValueRange(own.drop_front(kNext))), isDue);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&keep.getThenRegion());
    Value isFull = k.cmp(CmpPredicate::eq, own[kNumber], limit);
    Value stride = k.select(isFull, k.add(own[kStride], own[kStride]), own[kStride]);
    Value number = k.select(isFull, k.index(slots / 2), own[kNumber]);
    Value twice = k.add(own[kFactor], own[kFactor]);
    Value factor =
        k.select(isFull, k.select(k.cmp(CmpPredicate::eq, twice, limit), k.index(1), twice), own[kFactor]);
    Value slot = getSlot(number, factor);
    SmallVector<Value> next{k.add(own[kCount], stride), k.add(number, k.index(1)), stride, factor};
    for (auto [tape, state] : llvm::zip(own.drop_front(kTapes), block->getArguments()))
      next.push_back(TapePushOp::create(builder, loc, tape, slot, state));
    YieldOp::create(builder, loc, next);
    builder.createBlock(&keep.getElseRegion());
    YieldOp::create(builder, loc, own.drop_front(kNext));
  }
  Operation *end = block->getTerminator();
  builder.setInsertionPoint(end);
  SmallVector<Value> next{k.add(own[kCount], k.index(1))};
  llvm::append_range(next, keep.getResults());
  end->insertOperands(first, next);

  return [this, first](const Cotangents &given) {
    RuleBuilder k = rules();
    ValueRange results = loop.getResults().drop_front(first);
    Value count = results[kCount], stride = results[kStride], factor = results[kFactor];
    ValueRange states = results.drop_front(kTapes);
    SmallVector<Value> operands{k.div(k.sub(k.add(count, stride), k.index(1)), stride)};
    llvm::append_range(operands, given.carried);
    llvm::append_range(operands, given.captured);
    WhileOp segments = k.createCountdown(operands);
    OpBuilder::InsertionGuard guard(builder);
    Block *block = segments.getAfterBody();
    builder.setInsertionPointToEnd(block);
    Value number = k.sub(block->getArgument(0), k.index(1)), base = k.mul(number, stride);
    Value length = k.make<MinOp>(stride, k.sub(count, base));
    Value slot = getSlot(number, factor);
    SmallVector<Value> from;
    for (auto [tape, init] : llvm::zip(states, inits))
      from.push_back(TapeReadOp::create(builder, loc, init.getType(), tape, slot));
    Cotangents inner = emitSegment(length, base, from, stride, split(block->getArguments().drop_front(1)));
    SmallVector<Value> next{number};
    llvm::append_range(next, inner.carried);
    llvm::append_range(next, inner.captured);
    YieldOp::create(builder, loc, next);
    return split(segments.getResults().drop_front(1));
  };
}

FailureOr<PerformOp> LoopRecorder::record() {
  // The choice.
  TripBound bound;
  TapeChoice choice = recorder.options.tape;
  if (CheckpointAttr checkpoint = loop.getCheckpointAttr(); checkpoint && checkpoint.getKind() == "slots") {
    slots = llvm::bit_floor<uint64_t>(std::clamp<int64_t>(checkpoint.getValue(), 1, int64_t(1) << 30));
    // One state is the one that the loop starts with.
    choice = slots == 1 ? TapeChoice::Replay : TapeChoice::Stride;
  }
  // What a derivative keeps is no state to copy: its loops are taped or run again.
  bool carriesTapes = llvm::any_of(loop.getInits().getTypes(), llvm::IsaPred<TapeType>);
  if (carriesTapes && choice == TapeChoice::Stride)
    choice = TapeChoice::Auto;
  if (place.inLoop)
    choice = TapeChoice::Replay;
  if (choice == TapeChoice::Auto || choice == TapeChoice::Bounded || choice == TapeChoice::Growable)
    bound = emitTripBound(builder, loop);
  // Room for the frames that come, not for those that might.
  if (choice == TapeChoice::Growable && !bound.isExact)
    bound = {};
  bool isTaped = choice == TapeChoice::Growable || (choice == TapeChoice::Bounded && bound.count) ||
                 (choice == TapeChoice::Auto && bound.count && (bound.isExact || bound.isStatic));

  inits.assign(loop.getInits().begin(), loop.getInits().end());
  body = loop;
  if (!isTaped) {
    builder.setInsertionPointAfter(loop);
    IRMapping clones;
    body = cast<WhileOp>(builder.clone(*loop, clones));
    recorder.copyActivity(loop, clones);
  }
  if (failed(recorder.recordBlock(*body.getAfterBody(), {place.tag, /*inLoop=*/true}, performs)))
    return failure();

  arguments.assign(body.getAfterBody()->args_begin(), body.getAfterBody()->args_end());
  yielded.assign(body.getYieldOp().getOperands().begin(), body.getYieldOp().getOperands().end());
  for (unsigned i = 0; i < body.getNumCarried(); ++i) {
    inductions.push_back(getInduction(body, i));
    if (recorder.isActive(body.getBeforeBody()->getArgument(i)))
      active.push_back(i);
  }
  captured = recorder.getCapturedTargets(body, {body.getAfterBody()}, performs);
  for (Value value : getCaptured(performs))
    if (isInside(value)) {
      needed.insert(value);
      plan(value);
    }
  for (Value value : kept)
    if (isa<TapeType>(value.getType())) {
      emitError(loc, DiagCode::K0604, "no derivative of this derivative of a loop: each iteration would keep a tape");
      return failure();
    }

  Pullback pullback = isTaped                                             ? keepTaped(bound)
                      : choice == TapeChoice::Replay || carriesTapes ? keepReplay()
                                                                     : keepStride();

  // The perform.
  SmallVector<Value> primals;
  for (unsigned i : active)
    if (recorder.isActive(loop.getResult(i)))
      primals.push_back(loop.getResult(i));
  llvm::SetVector<Value> targets = captured;
  for (unsigned i : active)
    if (recorder.isActive(inits[i]))
      targets.insert(inits[i]);
  PerformOp perform = recorder.createPerform(loop, primals, targets.getArrayRef(), place.tag, builder);
  RuleBuilder k = rules();
  SmallVector<Value> all = recorder.getCotangents(perform, builder);
  Cotangents given;
  unsigned next = 0;
  for (unsigned i : active)
    given.carried.push_back(recorder.isActive(loop.getResult(i)) ? all[next++] : k.zerosLike(inits[i]));
  given.captured.assign(all.begin() + next, all.begin() + next + captured.size());
  CotangentMap cotangents;
  for (auto [target, accumulator] : llvm::zip(targets, llvm::drop_begin(all, next)))
    cotangents.set(target, accumulator);
  Cotangents first = pullback(given);
  for (auto [target, cotangent] : llvm::zip(captured, first.captured))
    cotangents.set(target, cotangent);
  for (auto [i, cotangent] : llvm::zip(active, first.carried))
    if (targets.contains(inits[i]))
      cotangents.add(builder, loc, inits[i], cotangent);
  YieldOp::create(builder, loc, cotangents.lookupAll(targets.getArrayRef()));
  for (PerformOp inner : performs)
    recorder.eraseOp(inner);
  // A copy that nobody had to run again.
  if (body != loop && body->getBlock() == loop->getBlock())
    recorder.eraseOp(body);
  return perform;
}

/// Whether an iteration makes tapes: it takes a derivative of a loop. What `kina.remat`
/// holds is its own.
static bool makesTapes(WhileOp loop) {
  return loop.getAfterBody()
      ->walk<WalkOrder::PreOrder>([](Operation *op) {
        if (isa<RematOp>(op))
          return WalkResult::skip();
        return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TapeType>) ? WalkResult::interrupt()
                                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

void Recorder::rematerializeBody(WhileOp loop) {
  Block *body = loop.getAfterBody();
  YieldOp yield = loop.getYieldOp();
  SmallVector<std::optional<Induction>> counters;
  for (unsigned i = 0; i < loop.getNumCarried(); ++i)
    counters.push_back(getInduction(loop, i));
  rematerialize(*body);
  OpBuilder builder(yield);
  RuleBuilder k(builder, loop.getLoc());
  for (auto [i, counter] : llvm::enumerate(counters)) {
    // A counter stays one that can be seen.
    if (!counter || !counter->step || !isFree(counter->step))
      continue;
    IRMapping mapping;
    Value argument = body->getArgument(i), step = recompute(builder, counter->step, mapping);
    yield->setOperand(i, counter->isNegative ? k.sub(argument, step) : k.add(argument, step));
  }
}

FailureOr<PerformOp> Recorder::recordWhile(WhileOp op, Place place) {
  // A tape is no frame of a tape, but what made it can be run again.
  if (bindsSizes(*op.getAfterBody()) ||
      (makesTapes(op) && llvm::none_of(op.getInits().getTypes(), llvm::IsaPred<TapeType>)))
    rematerializeBody(op);
  return LoopRecorder(*this, op, place).record();
}

} // namespace kina
