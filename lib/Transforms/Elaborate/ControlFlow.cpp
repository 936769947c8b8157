//===- ControlFlow.cpp - if, while, for -----------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

void Elaborator::flatten(const Val &val, SmallVectorImpl<Value> &leaves) {
  if (val.isValue())
    leaves.push_back(val.value);
  for (const Val &member : val.members)
    flatten(member, leaves);
}

Val Elaborator::rebuild(const Val &pattern, ValueRange &values) {
  Val result = pattern;
  result.pred = {};
  result.implied = {};
  result.overflows = result.mayWrap = false;
  if (pattern.isValue()) {
    result.value = values.front();
    values = values.drop_front();
    // Its value is another one now.
    if (result.sym)
      result.sym = freshAtom();
  }
  for (Val &member : result.members)
    member = rebuild(member, values);
  return result;
}

bool sameStructure(const Val &a, const Val &b) {
  return a.kind == b.kind && a.members.size() == b.members.size() && a.names == b.names &&
         llvm::all_of(llvm::zip(a.members, b.members),
                      [](auto pair) { return sameStructure(std::get<0>(pair), std::get<1>(pair)); });
}

LogicalResult Elaborator::coerceLeaves(const Val &val, const Val &goal, Location loc, const Twine &what, DiagCode code,
                                       SmallVectorImpl<Value> &leaves) {
  SmallVector<Value> from, to;
  flatten(val, from);
  flatten(goal, to);
  bool bad = false;
  for (auto [value, like] : llvm::zip(from, to)) {
    FailureOr<Value> same = coerce(loc, value, like.getType(), what, code);
    bad |= failed(same);
    if (succeeded(same))
      leaves.push_back(*same);
  }
  return failure(bad);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

/// How a mask gets the shape of what it is to choose from, if its own begins or ends that one.
static void attachMaskOf(Elaborator &e, InFlightDiagnostic &diag, Value mask, ArrayRef<DimAttr> shape) {
  ArrayRef<DimAttr> have = getShape(mask.getType());
  std::string text = e.sourceOf(mask);
  if (text.empty())
    text = "..";
  if (have.size() >= shape.size())
    return;
  auto same = [&](ArrayRef<DimAttr> part) {
    return llvm::all_of(llvm::zip(have, part), [&](auto pair) { return e.sameDim(std::get<0>(pair), std::get<1>(pair)); });
  };
  if (!same(shape.take_back(have.size()))) {
    if (!same(shape))
      return;
    SmallVector<DimAttr> column(have);
    column.resize(shape.size(), DimAttr::getConstant(e.getContext(), 1));
    text = "reshape(" + text + ", " + e.spellShape(column) + ")";
  }
  attachHelp(diag) << "repeat the mask, 'broadcast(" << text << ", " << e.spellShape(shape) << ")'";
}

Val Elaborator::evaluateIf(surface::IfOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  Val cond = evaluate(op.getCond(), scope);
  FailureOr<Value> condition = asValue(cond, op.getCond().getLoc(), "a condition");
  if (failed(condition))
    return Val::error();
  if (!elementTypes.restrict(getElementType(condition->getType()), kBool)) {
    InFlightDiagnostic diag =
        report(op.getCond().getLoc(), DiagCode::K0404, "a condition is a boolean, not " + spell(condition->getType()));
    attachComparison(diag, *condition);
    return Val::error();
  }
  cond = toHost(cond, op.getCond().getLoc(), DiagCode::K0404, "a condition");
  if (cond.isError())
    return Val::error();
  condition = cond.value;
  bool hasElse = !op.getElseRegion().empty();

  // A mask chooses element by element: both arms are evaluated, here.
  if (getRank(condition->getType()) > 0) {
    if (!hasElse) {
      report(loc, DiagCode::K0404, "an 'if' over a mask needs an 'else'");
      return Val::error();
    }
    Block *block = builder.getInsertionBlock();
    Operation *before = block->empty() ? nullptr : &block->back();
    Val a = evaluateBlock(op.getThenRegion(), std::make_shared<Scope>(scope, current));
    Val b = evaluateBlock(op.getElseRegion(), std::make_shared<Scope>(scope, current));
    Operation *inside = before ? before->getNextNode() : block->empty() ? nullptr : &block->front();
    for (; inside; inside = inside->getNextNode())
      if (inside
              ->walk([](Operation *op) {
                return isa<CheckOp, BindDimOp, DropOp, PerformOp, ResumeOp, AssignOp>(op) ? WalkResult::interrupt()
                                                                                          : WalkResult::advance();
              })
              .wasInterrupted()) {
        InFlightDiagnostic diag = report(inside->getLoc(), DiagCode::K0404,
                                         "both arms of a mask's 'if' are evaluated, so this cannot depend on the mask");
        attachHelp(diag) << "write it before the 'if'";
        return Val::error();
      }
    Location first = op.getThenRegion().front().getTerminator()->getLoc();
    Location second = op.getElseRegion().front().getTerminator()->getLoc();
    FailureOr<Value> x = asValue(a, first, "an arm of a mask's 'if'"),
                     y = asValue(b, second, "an arm of a mask's 'if'");
    if (failed(x) || failed(y))
      return Val::error();
    ArrayRef<DimAttr> shape = getShape(condition->getType());
    for (Value *arm : {&*x, &*y}) {
      ArrayRef<DimAttr> have = getShape(arm->getType());
      if (have.empty())
        continue;
      bool fits = have.size() == shape.size();
      for (size_t i = 0; fits && i < have.size(); ++i)
        fits = settle(makeRelation(PredKind::EQ, have[i], shape[i])) != Truth::Refuted;
      if (!fits) {
        InFlightDiagnostic diag = report(op.getCond().getLoc(), DiagCode::K0404,
                                         "the mask has type " + spell(condition->getType()) +
                                             ", but an arm has type " + spell(arm->getType()));
        diag.attachNote(arm == &*x ? first : second) << "this arm";
        attachMaskOf(*this, diag, *condition, have);
        return Val::error();
      }
      FailureOr<Value> same =
          coerce(loc, *arm, withShape(arm->getType(), shape), "an arm of a mask's 'if'", DiagCode::K0404);
      if (failed(same))
        return Val::error();
      *arm = *same;
    }
    if (!unifyElements(*x, *y, loc))
      return Val::error();
    SmallVector<Value, 3> all{*condition, *x, *y};
    if (failed(requireOnePlace(all, loc)))
      return Val::error();
    PlacementAttr place = getPlacement(all[0].getType());
    auto choice = SelectOp::create(builder, loc, all[0], broadcastTo(all[1], shape, loc, place),
                                   broadcastTo(all[2], shape, loc, place));
    choice->setAttr(kArmsAttrName, builder.getUnitAttr());
    return Val::of(choice);
  }

  // What the condition says of sizes is a fact in its arm.
  auto branch = IfOp::create(builder, loc, TypeRange(), *condition);
  auto arm = [&](Region &source, Region &target, PredAttr fact) -> Val {
    OpBuilder::InsertionGuard guard(builder);
    size_t facts = current->facts.size();
    if (fact)
      addFact(fact);
    builder.setInsertionPointToEnd(&target.emplaceBlock());
    Val val = source.empty() ? Val::unit() : evaluateBlock(source, std::make_shared<Scope>(scope, current));
    current->facts.resize(facts);
    return val;
  };
  size_t outerVars = current->shapeVars.size();
  Val a = arm(op.getThenRegion(), branch.getThenRegion(), cond.pred ? cond.pred : cond.implied);
  Val b = arm(op.getElseRegion(), branch.getElseRegion(), cond.pred ? makeNot(cond.pred) : PredAttr());
  auto valueLoc = [&](Region &arm) { return arm.empty() ? loc : arm.front().getTerminator()->getLoc(); };
  Location first = valueLoc(op.getThenRegion()), second = valueLoc(op.getElseRegion());
  auto give = [&](InFlightDiagnostic diag) {
    diag.report();
    discard(branch);
    return Val::error();
  };
  /// The arms' types differ, in `mine` of the first and `theirs` of the second if these are known.
  auto differ = [&](Value mine = {}, Value theirs = {}) {
    InFlightDiagnostic diag =
        report(second, DiagCode::K0402, "branch types differ: " + spell(a) + " and " + spell(b));
    diag.attachNote(first) << "the other arm gives " << spell(a);
    if (a.kind == Val::Kind::Unit || b.kind == Val::Kind::Unit)
      attachValueOfBlock(diag, a.kind == Val::Kind::Unit ? op.getThenRegion() : op.getElseRegion());
    else if (mine && !elementTypes.unify(getElementType(mine.getType()), getElementType(theirs.getType())))
      attachCast(diag, mine, theirs);
    else if (mine && !attachReshape(diag, theirs, getShape(mine.getType())))
      (void)attachReshape(diag, mine, getShape(theirs.getType()));
    return give(std::move(diag));
  };
  if (a.isError() || b.isError()) {
    discard(branch);
    return Val::error();
  }
  if (!hasElse)
    a = Val::unit(); // A statement: its value, if any, is dropped.
  if (!a.isFirstOrder() || !b.isFirstOrder()) {
    const Val &escapes = a.isFirstOrder() ? b : a;
    return give(report(a.isFirstOrder() ? second : first, escapeCode(escapes),
                       "an arm of an 'if' gives " + spell(escapes) +
                           ", but only tensors, scalars and tuples of them can leave it"));
  }
  if (!sameStructure(a, b))
    return differ();
  // A size that is bound in an arm does not exist behind it.
  auto boundInside = [&](StringRef name) {
    return llvm::any_of(llvm::drop_begin(current->shapeVars, outerVars), [&](auto &var) { return var.first == name; });
  };
  if (failed(requireKnownSizes(a, boundInside, op.getThenRegion().front().getTerminator()->getLoc(),
                               "an arm of an 'if'"))) {
    discard(branch);
    return Val::error();
  }
  SmallVector<Value> x, y;
  flatten(a, x);
  flatten(b, y);
  // Types of both arms are made those of the first.
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    for (auto [mine, theirs] : llvm::zip(y, x)) {
      if (!elementTypes.unify(getElementType(mine.getType()), getElementType(theirs.getType())) ||
          getRank(mine.getType()) != getRank(theirs.getType()))
        return differ(theirs, mine);
      NoteScope other(*this);
      other.add("the other arm gives " + spell(theirs.getType()), first);
      FailureOr<Value> same = coerce(second, mine, theirs.getType(), "the second arm", DiagCode::K0402);
      if (failed(same)) {
        discard(branch);
        return Val::error();
      }
      mine = *same;
    }
    YieldOp::create(builder, hasElse ? op.getElseRegion().front().getTerminator()->getLoc() : loc, y);
    builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    YieldOp::create(builder, op.getThenRegion().front().getTerminator()->getLoc(), x);
  }
  auto typed = IfOp::create(builder, loc, TypeRange(ValueRange(x)), *condition);
  typed.getThenRegion().takeBody(branch.getThenRegion());
  typed.getElseRegion().takeBody(branch.getElseRegion());
  branch.erase();
  ValueRange results = typed.getResults();
  return rebuild(a, results);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The states of a loop: their names, and the structure and values they start with.
struct States {
  SmallVector<StringRef> names;
  SmallVector<Location> locs;
  std::vector<Val> inits;
  SmallVector<Value> leaves;
};
} // namespace

/// From the start of one range of the source to the end of another.
static Location spanTo(Location from, Location to) {
  auto first = dyn_cast<FileLineColRange>(from), last = dyn_cast<FileLineColRange>(to);
  if (!first || !last || first.getFilename() != last.getFilename())
    return from;
  return FileLineColRange::get(first.getFilename(), first.getStartLine(), first.getStartColumn(), last.getEndLine(),
                               last.getEndColumn());
}

static FailureOr<States> evaluateStates(Elaborator &e, ArrayAttr syntax, OperandRange inits, const ScopePtr &scope) {
  States states;
  bool bad = false;
  for (auto [node, init] : llvm::zip(surface::syntaxRange(syntax), inits)) {
    Val val = e.decay(e.evaluate(init, scope));
    if (val.kind == Val::Kind::List)
      val = e.listToTensor(val, init.getLoc());
    if (val.isError()) {
      bad = true;
      continue;
    }
    if (!val.isFirstOrder()) {
      e.report(init.getLoc(), Elaborator::escapeCode(val),
               "a loop state is a tensor, a scalar or a tuple of them, not " + e.spell(val));
      bad = true;
      continue;
    }
    if (!node.getChildren().empty()) {
      FailureOr<Ty> type = e.elaborateType(node.getChild(0), *scope);
      if (failed(type) || failed(e.checkDeclared(val, *type, init.getLoc(), "state '" + node.getText() + "'"))) {
        bad = true;
        continue;
      }
    }
    if (llvm::is_contained(states.names, node.getText())) {
      e.report(node.getLocation(), DiagCode::K0114, "loop state '" + node.getText() + "' is declared twice");
      bad = true;
    }
    states.names.push_back(node.getText());
    states.locs.push_back(spanTo(node.getLocation(), init.getLoc()));
    states.inits.push_back(std::move(val));
  }
  if (bad)
    return failure();
  for (const Val &val : states.inits)
    e.flatten(val, states.leaves);
  return states;
}

/// Binds the names to the values, which get them, in a scope of their own. An integer is a new run-time
/// value there.
static ScopePtr bindStates(Elaborator &e, const States &states, ValueRange values, const ScopePtr &scope) {
  auto inner = std::make_shared<Scope>(scope, e.current);
  for (auto [name, loc, init] : llvm::zip(states.names, states.locs, states.inits)) {
    Val val = e.rebuild(init, values);
    SmallVector<Value> leaves;
    e.flatten(val, leaves);
    for (Value leaf : leaves)
      leaf.setLoc(loc);
    e.nameTensors(val, name, /*alias=*/false);
    inner->names[name.str()] = std::move(val);
  }
  return inner;
}

/// Converts what the body gives to the states' types.
static LogicalResult yieldStates(Elaborator &e, const States &states, Val val, ValueRange extra, Location loc) {
  OpBuilder &b = e.getBuilder();
  if (val.isError())
    return failure();
  // One state is yielded as it is, several as a tuple.
  std::vector<Val> members;
  if (states.names.size() == 1 && !(val.kind == Val::Kind::Tuple && val.members.size() == 1 && val.names.empty()))
    members.push_back(val);
  else if (states.names.empty())
    ; // nothing to yield
  else if (val.kind == Val::Kind::Tuple)
    members.assign(val.members.begin(), val.members.end());
  if (members.size() != states.names.size() || (val.kind == Val::Kind::Unit && !states.names.empty())) {
    InFlightDiagnostic diag =
        e.report(loc, DiagCode::K0504,
                 "the loop has " + Twine(states.names.size()) + (states.names.size() == 1 ? " state" : " states") +
                     ", but its body gives " + e.spell(val));
    if (val.kind == Val::Kind::Unit)
      attachHelp(diag) << "end the body with the next value of each state, or bind it, 'let " << states.names.front()
                       << " = ..;'";
    return diag;
  }
  SmallVector<Value> yielded;
  bool bad = false;
  for (auto [name, stateLoc, init, next] : llvm::zip(states.names, states.locs, states.inits, members)) {
    if (next.kind == Val::Kind::List)
      next = e.listToTensor(next, loc);
    if (next.isError()) {
      bad = true;
      continue;
    }
    Location nextLoc = e.locationOf(next, loc);
    SmallVector<Value> from, to;
    e.flatten(next, from);
    e.flatten(init, to);
    if (!sameStructure(init, next) || llvm::any_of(llvm::zip(from, to), [](auto pair) {
          return getRank(std::get<0>(pair).getType()) != getRank(std::get<1>(pair).getType());
        })) {
      InFlightDiagnostic diag = e.report(nextLoc, DiagCode::K0504,
                                         "loop state '" + name + "' starts as " + e.spell(init) +
                                             ", but the body gives " + e.spell(next));
      diag.attachNote(stateLoc) << "'" << name << "' starts here";
      bad = true;
      continue;
    }
    Elaborator::NoteScope start(e);
    start.add("'" + name + "' starts as " + e.spell(init), stateLoc);
    bad |= failed(
        e.coerceLeaves(next, init, nextLoc, "the next value of state '" + name + "'", DiagCode::K0504, yielded));
  }
  if (bad)
    return failure();
  llvm::append_range(yielded, extra);
  YieldOp::create(b, loc, yielded);
  return success();
}

/// The loop's value: all states, of which a single name takes the first.
static Val loopValue(Elaborator &e, const States &states, ValueRange results) {
  std::vector<Val> members;
  for (const Val &init : states.inits)
    members.push_back(e.rebuild(init, results));
  if (members.empty())
    return Val::unit();
  Val val = Val::tuple(std::move(members));
  val.isLoop = true;
  return val;
}

/// Warns if what the condition reads is the same in every iteration. A `perform` may leave the
/// loop, and what a condition reads from memory may change.
static void warnIfEndless(WhileOp loop, Location loc) {
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  for (Operation &op : *before)
    if (!op.hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(&op))
      return;
  if (loop.getAfter().walk([](PerformOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  Operation *yield = after->getTerminator();
  for (auto [read, carried, next] : llvm::zip(before->getArguments(), after->getArguments(), yield->getOperands()))
    if (!read.use_empty() && next != carried)
      return;
  InFlightDiagnostic diag =
      emitWarning(loc, DiagCode::K0210, "nothing in the body changes what this condition reads");
  attachHelp(diag) << "the loop never ends, or never begins: carry what the condition reads as a state, and give its "
                      "next value in the body";
}

Val Elaborator::evaluateWhile(surface::WhileOp op, const ScopePtr &scope, CheckpointAttr checkpoint) {
  Location loc = op.getLoc();
  FailureOr<States> states = evaluateStates(*this, op.getStatesAttr(), op.getInits(), scope);
  if (failed(states))
    return Val::error();
  auto loop = WhileOp::create(builder, loc, ValueRange(states->leaves), TypeRange());
  if (checkpoint)
    loop.setCheckpointAttr(checkpoint);
  bool bad = false;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBeforeBody());
    Val cond = evaluateBlock(op.getCond(), bindStates(*this, *states, loop.getBeforeBody()->getArguments(), scope));
    Location condLoc = op.getCond().front().getTerminator()->getLoc();
    FailureOr<Value> condition = asValue(cond, op.getCond().getLoc(), "a loop condition");
    if (succeeded(condition))
      cond = toHost(cond, condLoc, DiagCode::K0404, "a loop condition");
    if (failed(condition) || cond.isError()) {
      bad = true;
    } else if (!isHostScalar(cond) || !elementTypes.restrict(getElementType(cond.getType()), kBool)) {
      InFlightDiagnostic diag = report(condLoc, DiagCode::K0404,
                                       "a loop condition is a boolean scalar, not " + spell(cond));
      attachComparison(diag, *condition);
      bad = true;
    } else {
      ConditionOp::create(builder, loc, cond.value, ValueRange());
      bad |= failed(requireNoEffects(loop.getBefore(), "a loop condition"));
    }
    builder.setInsertionPointToEnd(loop.getAfterBody());
    size_t facts = current->facts.size();
    Val next = evaluateBlock(op.getBody(), bindStates(*this, *states, loop.getAfterBody()->getArguments(), scope),
                             /*wantsTuple=*/true, states->names);
    Operation *yield = op.getBody().front().getTerminator();
    bad |= failed(yieldStates(*this, *states, std::move(next), {}, yield->getLoc()));
    current->facts.resize(facts);
  }
  if (bad) {
    discard(loop);
    return Val::error();
  }
  warnIfEndless(loop, op.getCond().front().getTerminator()->getLoc());
  return loopValue(*this, *states, loop.getResults());
}

Val Elaborator::evaluateFor(surface::ForOp op, const ScopePtr &scope, CheckpointAttr checkpoint) {
  Location loc = op.getLoc();
  Val lo = evaluate(op.getLo(), scope), hi = evaluate(op.getHi(), scope);
  FailureOr<Value> low = asValue(lo, loc, "a loop bound"), high = asValue(hi, loc, "a loop bound");
  FailureOr<States> states = evaluateStates(*this, op.getStatesAttr(), op.getInits(), scope);
  if (failed(low) || failed(high) || failed(states))
    return Val::error();
  if (llvm::is_contained(states->names, op.getVar().getText())) {
    report(op.getVar().getLocation(), DiagCode::K0114,
           "'" + op.getVar().getText() + "' is both the counter and a state of this loop");
    return Val::error();
  }
  for (auto [val, bound] : {std::pair(&lo, &*low), std::pair(&hi, &*high)}) {
    Location boundLoc = (val == &lo ? op.getLo() : op.getHi()).getLoc();
    *val = toHost(*val, boundLoc, DiagCode::K0206, "a loop bound");
    if (val->isError())
      return Val::error();
    *bound = val->value;
    if (!isHostScalar(*val) || !elementTypes.restrict(getElementType(val->getType()), kIntegers)) {
      InFlightDiagnostic diag = report(boundLoc, DiagCode::K0206, "a loop bound is an integer scalar, not " + spell(*val));
      if (val->isValue())
        (void)attachInteger(diag, val->value);
      return Val::error();
    }
  }
  if (!unifyElements(*low, *high, loc))
    return Val::error();
  // The counter is carried behind the states.
  SmallVector<Value> inits(states->leaves);
  inits.push_back(*low);
  auto loop = WhileOp::create(builder, loc, ValueRange(inits), TypeRange());
  if (checkpoint)
    loop.setCheckpointAttr(checkpoint);
  if (lo.sym && hi.sym && lo.sym.isConstant(0) && !isRuntime(hi.sym))
    loop.setTripBoundAttr(hi.sym);
  bool bad = false;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBeforeBody());
    (void)bindStates(*this, *states, loop.getBeforeBody()->getArguments(), scope);
    Value more = CmpOp::create(builder, loc, CmpPredicate::lt, loop.getBeforeBody()->getArguments().back(), *high);
    ConditionOp::create(builder, loc, more, ValueRange());
    builder.setInsertionPointToEnd(loop.getAfterBody());
    auto arguments = loop.getAfterBody()->getArguments();
    ScopePtr inner = bindStates(*this, *states, arguments, scope);
    Val counter = Val::of(arguments.back(), freshAtom());
    inner->names[op.getVar().getText().str()] = counter;
    // lo <= i < hi holds in the body.
    size_t facts = current->facts.size();
    auto isKnown = [&](const Val &val) {
      return val.sym && !val.mayWrap && (isRuntime(val.sym) || isExactSize(val));
    };
    if (isKnown(lo) && isKnown(hi)) {
      current->facts.push_back(makeRelation(PredKind::LE, lo.sym, counter.sym));
      current->facts.push_back(makeRelation(PredKind::LT, counter.sym, hi.sym));
    }
    Val next = evaluateBlock(op.getBody(), inner, /*wantsTuple=*/true, states->names);
    Value one = literalInt(1, loc).value;
    (void)elementTypes.unify(one.getType(), getElementType(arguments.back().getType()));
    Value advanced = AddOp::create(builder, loc, arguments.back(), one);
    Operation *yield = op.getBody().front().getTerminator();
    bad |= failed(yieldStates(*this, *states, std::move(next), advanced, yield->getLoc()));
    current->facts.resize(facts);
  }
  if (bad) {
    discard(loop);
    return Val::error();
  }
  return loopValue(*this, *states, loop.getResults().drop_back());
}

} // namespace kina::elaborate
