//===- LowerHandlers.cpp - Handlers become structured control flow --------===//
//
// Static continuation-passing style. The continuation of a perform is the rest of its
// block, then the rest of the blocks around it, then the return region. So at a perform
// the operation's case is written down up to where it resumes; then
//
// - what follows the resumption runs behind everything else (`Post`), in a branch by a
//   flag with what it captures where the perform may not have been reached; where the
//   perform is reached any number of times, what each captures goes on a stack of tapes,
//   and a loop takes it off again, last first;
// - where the case ends without resuming the rest must not run (`exit`): it moves into the
//   other arm, or behind a flag; a loop carries that flag and the handle's value and stops.
//
// Every operation of the body stays in one place: nothing is duplicated but the cases.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Handlers.h"
#include "Kina/Transforms/AD/Loops.h"
#include "Kina/Transforms/AD/Pullbacks.h"
#include "Kina/Transforms/AD/RuleBuilder.h"
#include "Kina/Transforms/Ownership.h"

using namespace mlir;

namespace kina {
namespace {

class HandlerLowering {
public:
  explicit HandlerLowering(HandleOp handle) : handle(handle) {}
  ~HandlerLowering() {
    for (Operation *marker : removed)
      marker->destroy();
  }

  /// Replaces the handle by what it does.
  LogicalResult lower();

private:
  /// What a case does after it has resumed: takes the handle's value and what it captures,
  /// which are the marker's operands, and yields another value.
  struct Post {
    std::unique_ptr<Block> code;
    Location loc;
  };
  /// Whether a post is due, and what its captures are then.
  struct Due {
    Value flag;
    SmallVector<Value> captures;
  };
  using DueMap = llvm::MapVector<Operation *, Due>;

  /// What the performs in an operation leave due when some of them are in its loops. Each
  /// has a tape for each capture that is defined in the operation, and a number of frames;
  /// where there are several, one more tape says which of them it was.
  struct Stack {
    struct Entry {
      Operation *marker;
      Post post;
      Value count;
      /// Variables that hold the tapes, with the places of the captures.
      SmallVector<std::pair<unsigned, Value>> tapes;
    };
    SmallVector<Entry> entries;
    /// Variables; `kinds` is null where there is one entry, whose count is all of them.
    Value count, kinds;
  };

  /// What a block gives when it ends: in the handle's body the handle's value; in a
  /// branch or loop its own results, then whether it left the handle and with what, then
  /// for each post in it whether it is due and its captures.
  struct Answer {
    bool isHandles = false;
    SmallVector<Type> own;
    /// What a loop carries on when it is left; a branch gives zeros.
    SmallVector<Value> rest;
    bool mayExit = false;
    /// The markers, with the numbers and types of the captures that are defined inside.
    SmallVector<std::pair<Operation *, SmallVector<std::pair<unsigned, Type>>>> posts;
    SmallVector<Type> types;
  };

  LogicalResult expand(PerformOp perform);
  SmallVector<Value> expandCase(OpBuilder &builder, Block::iterator at, IRMapping &mapping,
                                SmallVector<Operation *> around, Value continuation, TypeRange resumed);
  std::unique_ptr<Block> clonePost(Block::iterator at, IRMapping mapping, SmallVector<Operation *> around,
                                   ValueRange resumed);
  LogicalResult checkPosts();

  SmallVector<Value> run(Block *block, Block::iterator at, const Answer &answer, DueMap due);
  SmallVector<Value> end(Block *block, const Answer &answer, const DueMap &due);
  SmallVector<Value> exit(OpBuilder &builder, ValueRange values, const Answer &answer, const DueMap &due);
  void appendDue(OpBuilder &builder, const Answer &answer, const DueMap &due, SmallVectorImpl<Value> &values);
  SmallVector<Value> runRestInArm(IfOp branch, bool exitsInThen, const Answer &answer, const DueMap &due);
  Answer getAnswer(Operation *op);
  ResultRange rebuild(IfOp op, const Answer &inner);
  ResultRange rebuild(WhileOp op, const Answer &inner);
  SmallVector<Value> apply(OpBuilder &builder, Post &post, ValueRange values, ValueRange captures);
  bool repeatsPost(Operation *op);
  Stack stackPosts(Operation *op);
  SmallVector<Value> unwind(OpBuilder &builder, Stack &stack, ValueRange values);
  SmallVector<Value> applyTop(OpBuilder &builder, Stack &stack, unsigned number, Value kind, ValueRange counts,
                              ValueRange values);
  void eraseBehind(Operation *op);

  bool hasMarker(Operation *op, bool exits) {
    return op
        ->walk([&](Operation *inner) {
          bool found = exits ? this->exits.contains(inner) : posts.contains(inner) || this->exits.contains(inner);
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
  /// Whether every path through the block leaves the handle.
  bool alwaysExits(Region &region) {
    return !region.empty() && llvm::any_of(region.front(), [&](Operation &op) {
      auto branch = dyn_cast<IfOp>(op);
      return exits.contains(&op) ||
             (branch && alwaysExits(branch.getThenRegion()) && alwaysExits(branch.getElseRegion()));
    });
  }
  static Value boolean(OpBuilder &builder, Location loc, bool value) {
    return ConstantOp::create(builder, loc, builder.getBoolAttr(value));
  }
  static void appendZeros(OpBuilder &builder, Location loc, TypeRange types, SmallVectorImpl<Value> &values) {
    for (Type type : types)
      values.push_back(RuleBuilder(builder, loc).zeros(type));
  }

  HandleOp handle;
  /// Operations that stand for leaving the handle, with its value as operands and, for
  /// what is dead then, what the perform would have resumed with as results.
  llvm::DenseSet<Operation *> exits;
  /// Operations that stand for a resumption that something follows.
  llvm::MapVector<Operation *, Post> posts;
  SmallVector<Operation *> removed;
};

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Writes down what follows `at` in the case, and behind the branches `around` it.
std::unique_ptr<Block> HandlerLowering::clonePost(Block::iterator at, IRMapping mapping,
                                                  SmallVector<Operation *> around, ValueRange resumed) {
  auto code = std::make_unique<Block>();
  for (Value value : resumed)
    mapping.map(value, code->addArgument(value.getType(), handle.getLoc()));
  OpBuilder builder(handle.getContext());
  builder.setInsertionPointToEnd(code.get());
  for (;; ++at) {
    if (!at->hasTrait<OpTrait::IsTerminator>()) {
      builder.clone(*at, mapping);
      continue;
    }
    SmallVector<Value> yielded =
        llvm::map_to_vector(at->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
    if (around.empty()) {
      YieldOp::create(builder, at->getLoc(), yielded);
      return code;
    }
    Operation *branch = around.pop_back_val();
    mapping.map(branch->getResults(), yielded);
    at = branch->getIterator();
  }
}

/// Writes down the case from `at` on and returns what it resumes with. What follows a
/// branch that resumes belongs to both of its arms; `around` are the branches that `at`
/// stands in.
SmallVector<Value> HandlerLowering::expandCase(OpBuilder &builder, Block::iterator at, IRMapping &mapping,
                                               SmallVector<Operation *> around, Value continuation, TypeRange resumed) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  for (;; ++at) {
    Operation *op = &*at;
    Location loc = op->getLoc();
    if (auto resume = dyn_cast<ResumeOp>(op); resume && resume.getContinuation() == continuation) {
      Post post{clonePost(std::next(at), mapping, around, resume.getResults()), loc};
      // Nothing follows where its value is the case's.
      if (post.code->getOperations().size() != 1 ||
          !llvm::equal(post.code->getTerminator()->getOperands(), post.code->getArguments())) {
        llvm::SetVector<Value> captures;
        post.code->walk([&](Operation *inner) {
          for (Value value : inner->getOperands()) {
            Block *block = value.getParentBlock();
            while (block && block != post.code.get())
              block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr;
            if (!block)
              captures.insert(value);
          }
        });
        for (Value capture : captures) {
          Value argument = post.code->addArgument(capture.getType(), loc);
          post.code->walk([&](Operation *inner) { inner->replaceUsesOfWith(capture, argument); });
        }
        Operation *marker = UnrealizedConversionCastOp::create(builder, loc, TypeRange(), captures.getArrayRef());
        posts.insert({marker, std::move(post)});
      }
      return mapped(resume.getValues());
    }
    auto branch = dyn_cast<IfOp>(op);
    if (branch && resumes(branch, continuation)) {
      auto copy = IfOp::create(builder, loc, resumed, mapping.lookupOrDefault(branch.getCondition()));
      around.push_back(branch);
      for (auto [from, to] : llvm::zip(branch->getRegions(), copy->getRegions())) {
        OpBuilder inner = OpBuilder::atBlockEnd(&to.emplaceBlock());
        IRMapping own = mapping;
        bool empty = from.empty();
        SmallVector<Operation *> outer(around);
        if (empty)
          outer.pop_back();
        SmallVector<Value> values =
            expandCase(inner, empty ? std::next(at) : from.front().begin(), own, outer, continuation, resumed);
        YieldOp::create(inner, loc, values);
      }
      return SmallVector<Value>(copy.getResults());
    }
    if (!op->hasTrait<OpTrait::IsTerminator>()) {
      builder.clone(*op, mapping);
      continue;
    }
    SmallVector<Value> yielded = mapped(op->getOperands());
    if (around.empty()) {
      Operation *marker = UnrealizedConversionCastOp::create(builder, loc, resumed, yielded);
      exits.insert(marker);
      return SmallVector<Value>(marker->getResults());
    }
    Operation *enclosing = around.pop_back_val();
    mapping.map(enclosing->getResults(), yielded);
    at = enclosing->getIterator();
  }
}

LogicalResult HandlerLowering::expand(PerformOp perform) {
  for (auto [operation, region] : llvm::zip(handle.getOperations(), handle.getCases())) {
    Block &block = region.front();
    auto type = cast<ContType>(block.getArguments().back().getType());
    SmallVector<Type> resumed;
    if (auto tuple = dyn_cast<TupleType>(type.getResume()))
      llvm::append_range(resumed, tuple.getTypes());
    else if (!isa<NoneType>(type.getResume()))
      resumed.push_back(type.getResume());
    if (operation != perform.getPerformedAttr() || !llvm::equal(resumed, perform.getResultTypes()) ||
        !llvm::equal(ValueRange(block.getArguments().drop_back()).getTypes(), perform.getPayload().getTypes()))
      continue;
    OpBuilder builder(perform);
    IRMapping mapping;
    mapping.map(block.getArguments().drop_back(), perform.getPayload());
    // A derivative between the two does not see what the handler does.
    for (Operation *op = perform->getParentOp(); op != handle; op = op->getParentOp())
      if (auto inner = dyn_cast<HandleOp>(op))
        for (BlockArgument argument : block.getArguments().drop_back())
          if (hasTangent(argument.getType())) {
            auto detached = DetachOp::create(builder, perform.getLoc(), mapping.lookup(argument));
            detached->setAttr(kOutsideOfAttrName, inner.getTagAttr());
            mapping.map(argument, detached.getResult());
          }
    SmallVector<Value> values = expandCase(builder, block.begin(), mapping, {}, block.getArguments().back(), resumed);
    perform->replaceAllUsesWith(values);
    perform.erase();
    return success();
  }
  return emitError(perform.getLoc(), DiagCode::K0601, "no case of the handler takes these types");
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

void HandlerLowering::appendDue(OpBuilder &builder, const Answer &answer, const DueMap &due,
                                SmallVectorImpl<Value> &values) {
  Location loc = handle.getLoc();
  for (auto &[marker, captures] : answer.posts) {
    auto it = due.find(marker);
    values.push_back(it == due.end() ? boolean(builder, loc, false) : it->second.flag);
    for (auto [index, type] : captures)
      values.push_back(it == due.end() ? RuleBuilder(builder, loc).zeros(type) : it->second.captures[index]);
  }
}

/// What the block gives where its own end is reached.
SmallVector<Value> HandlerLowering::end(Block *block, const Answer &answer, const DueMap &due) {
  Operation *terminator = block->getTerminator();
  SmallVector<Value> values(terminator->getOperands());
  OpBuilder builder(terminator);
  terminator->erase();
  builder.setInsertionPointToEnd(block);
  if (answer.isHandles) {
    Block &last = handle.getReturnRegion().front();
    IRMapping mapping;
    mapping.map(last.getArguments(), values);
    for (Operation &op : last.without_terminator())
      builder.clone(op, mapping);
    return llvm::map_to_vector(last.getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }
  if (answer.mayExit) {
    values.push_back(boolean(builder, handle.getLoc(), false));
    appendZeros(builder, handle.getLoc(), handle.getResultTypes(), values);
  }
  appendDue(builder, answer, due, values);
  return values;
}

/// What the block gives where the handle is left with these values.
SmallVector<Value> HandlerLowering::exit(OpBuilder &builder, ValueRange exitValues, const Answer &answer,
                                         const DueMap &due) {
  if (answer.isHandles)
    return SmallVector<Value>(exitValues);
  SmallVector<Value> values(answer.rest);
  if (values.empty())
    appendZeros(builder, handle.getLoc(), answer.own, values);
  values.push_back(boolean(builder, handle.getLoc(), true));
  llvm::append_range(values, exitValues);
  appendDue(builder, answer, due, values);
  return values;
}

SmallVector<Value> HandlerLowering::apply(OpBuilder &builder, Post &post, ValueRange values, ValueRange captures) {
  IRMapping mapping;
  mapping.map(post.code->getArguments().take_front(values.size()), values);
  mapping.map(post.code->getArguments().drop_front(values.size()), captures);
  for (Operation &op : post.code->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(post.code->getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Whether the operation has a loop in which something follows a resumption.
bool HandlerLowering::repeatsPost(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        auto loop = posts.contains(inner) ? inner->getParentOfType<WhileOp>() : WhileOp();
        return loop && op->isAncestor(loop) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The most often that something in the operation is run, where that is known before it: it
/// is a loop, and `where` are in no other loop of it.
static Value emitMostRuns(OpBuilder &builder, Operation *op, ArrayRef<Operation *> where) {
  auto loop = dyn_cast<WhileOp>(op);
  if (!loop || llvm::any_of(where, [&](Operation *inner) { return inner->getParentOfType<WhileOp>() != loop; }))
    return {};
  TripBound bound = emitTripBound(builder, loop);
  return bound.isProven ? bound.count : Value();
}

/// Lets the performs in the operation keep what follows them on a stack. The variables are
/// declared before it.
HandlerLowering::Stack HandlerLowering::stackPosts(Operation *op) {
  Stack stack;
  OpBuilder builder(op);
  MLIRContext *context = builder.getContext();
  SmallVector<Operation *> markers;
  op->walk([&](Operation *inner) {
    if (posts.contains(inner))
      markers.push_back(inner);
  });
  Location loc = handle.getLoc();
  RuleBuilder k(builder, loc);
  Value most = emitMostRuns(builder, op, markers), all = most;
  auto form = most ? TapeForm::Bounded : TapeForm::Growable;
  auto createTape = [&](Type element, Value bound) -> Value {
    return RefOp::create(builder, loc, TapeNewOp::create(builder, loc, TapeType::get(context, element, form), bound));
  };
  stack.count = RefOp::create(builder, loc, k.index(0));
  if (markers.size() > 1) {
    if (most)
      all = k.mul(most, k.index(markers.size()));
    stack.kinds = createTape(builder.getIndexType(), all);
  }
  for (Operation *marker : markers) {
    Stack::Entry entry{marker, std::move(posts.find(marker)->second), stack.count, {}};
    if (stack.kinds)
      entry.count = RefOp::create(builder, loc, k.index(0));
    for (auto [i, capture] : llvm::enumerate(marker->getOperands()))
      if (op->isAncestor(capture.getParentBlock()->getParentOp()))
        entry.tapes.push_back({i, createTape(capture.getType(), most)});
    posts.erase(marker);
    stack.entries.push_back(std::move(entry));
  }
  for (auto [number, entry] : llvm::enumerate(stack.entries)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(entry.marker);
    auto push = [&](Value variable, Value at, Value value) {
      Value tape = DerefOp::create(builder, loc, cast<RefType>(variable.getType()).getValueType(), variable);
      AssignOp::create(builder, loc, variable, TapePushOp::create(builder, loc, tape, at, value));
    };
    auto advance = [&](Value variable) {
      Value at = DerefOp::create(builder, loc, builder.getIndexType(), variable);
      AssignOp::create(builder, loc, variable, k.add(at, k.index(1)));
      return at;
    };
    Value at = advance(entry.count);
    for (auto [i, tape] : entry.tapes)
      push(tape, at, entry.marker->getOperand(i));
    if (stack.kinds) {
      Value top = advance(stack.count);
      push(stack.kinds, top, k.index(number));
    }
    entry.marker->remove();
    removed.push_back(entry.marker);
  }
  return stack;
}

/// Applies the post that is the last on the stack, of those from `number` on; gives the
/// numbers of frames that are left and the handle's values.
SmallVector<Value> HandlerLowering::applyTop(OpBuilder &builder, Stack &stack, unsigned number, Value kind,
                                             ValueRange counts, ValueRange values) {
  Stack::Entry &entry = stack.entries[number];
  Location loc = entry.post.loc;
  RuleBuilder k(builder, loc);
  auto applyThis = [&] {
    SmallVector<Value> left(counts), captures(entry.marker->getOperands());
    left[number] = k.sub(counts[number], k.index(1));
    for (auto [i, variable] : entry.tapes) {
      Value tape = DerefOp::create(builder, loc, cast<RefType>(variable.getType()).getValueType(), variable);
      captures[i] = TapeReadOp::create(builder, loc, captures[i].getType(), tape, left[number]);
    }
    llvm::append_range(left, apply(builder, entry.post, values, captures));
    return left;
  };
  if (number + 1 == stack.entries.size())
    return applyThis();
  SmallVector<Type> types(counts.getTypes());
  llvm::append_range(types, values.getTypes());
  auto choice = IfOp::create(builder, loc, types, k.cmp(CmpPredicate::eq, kind, k.index(number)));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&choice.getThenRegion());
  YieldOp::create(builder, loc, applyThis());
  builder.createBlock(&choice.getElseRegion());
  YieldOp::create(builder, loc, applyTop(builder, stack, number + 1, kind, counts, values));
  return SmallVector<Value>(choice.getResults());
}

/// Runs what is on the stack, last first.
SmallVector<Value> HandlerLowering::unwind(OpBuilder &builder, Stack &stack, ValueRange values) {
  Location loc = handle.getLoc();
  RuleBuilder k(builder, loc);
  Type index = builder.getIndexType();
  unsigned own = stack.kinds ? stack.entries.size() : 0;
  SmallVector<Value> inits{DerefOp::create(builder, loc, index, stack.count)};
  if (stack.kinds)
    for (Stack::Entry &entry : stack.entries)
      inits.push_back(DerefOp::create(builder, loc, index, entry.count));
  llvm::append_range(inits, values);
  WhileOp loop = k.createCountdown(inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = loop.getAfterBody();
  builder.setInsertionPointToEnd(block);
  Value top = k.sub(block->getArgument(0), k.index(1)), kind;
  ValueRange counts = block->getArguments().slice(1, own), given = block->getArguments().drop_front(1 + own);
  if (stack.kinds) {
    Value tape = DerefOp::create(builder, loc, cast<RefType>(stack.kinds.getType()).getValueType(), stack.kinds);
    kind = TapeReadOp::create(builder, loc, index, tape, top);
  } else {
    counts = block->getArguments().take_front(1);
  }
  SmallVector<Value> next = applyTop(builder, stack, 0, kind, counts, given);
  if (stack.kinds)
    next.insert(next.begin(), top);
  YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults().drop_front(1 + own));
}

/// Erases what follows in the block, which is never reached.
void HandlerLowering::eraseBehind(Operation *op) {
  while (&op->getBlock()->back() != op) {
    Operation *dead = &op->getBlock()->back();
    dead->walk([&](Operation *inner) {
      posts.erase(inner);
      exits.erase(inner);
    });
    dead->dropAllUses();
    dead->erase();
  }
}

/// What the branch or loop gives, which is not rewritten yet.
HandlerLowering::Answer HandlerLowering::getAnswer(Operation *op) {
  Answer answer;
  llvm::append_range(answer.own, op->getResultTypes());
  answer.mayExit = hasMarker(op, /*exits=*/true);
  answer.types = answer.own;
  if (answer.mayExit) {
    answer.types.push_back(IntegerType::get(op->getContext(), 1));
    llvm::append_range(answer.types, handle.getResultTypes());
  }
  op->walk([&](Operation *inner) {
    auto post = posts.find(inner);
    if (post == posts.end())
      return;
    SmallVector<std::pair<unsigned, Type>> captures;
    answer.types.push_back(IntegerType::get(op->getContext(), 1));
    for (auto [index, capture] : llvm::enumerate(inner->getOperands()))
      if (op->isAncestor(capture.getParentBlock()->getParentOp())) {
        captures.push_back({index, capture.getType()});
        answer.types.push_back(capture.getType());
      }
    answer.posts.push_back({inner, captures});
  });
  return answer;
}

ResultRange HandlerLowering::rebuild(IfOp op, const Answer &inner) {
  OpBuilder builder(op);
  auto typed = IfOp::create(builder, op.getLoc(), inner.types, op.getCondition());
  if (op.getElseRegion().empty()) {
    builder.createBlock(&op.getElseRegion());
    YieldOp::create(builder, op.getLoc());
  }
  for (auto [from, to] : llvm::zip(op->getRegions(), typed->getRegions())) {
    to.takeBody(from);
    SmallVector<Value> values = run(&to.front(), to.front().begin(), inner, {});
    builder.setInsertionPointToEnd(&to.front());
    YieldOp::create(builder, op.getLoc(), values);
  }
  return typed.getResults();
}

/// Whether running the operation once more can neither fail nor be seen.
bool isHarmless(Operation &op) {
  return isa<ConstantOp, DimOp, CmpOp, NotOp, AndOp, OrOp, NegOp, AddOp, SubOp, MulOp, AbsOp, DerefOp>(op) &&
         getRank(op.getResult(0).getType()) == 0;
}

ResultRange HandlerLowering::rebuild(WhileOp op, const Answer &given) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned carried = op.getNumCarried(), added = given.types.size() - given.own.size();
  SmallVector<Value> inits(op.getInits());
  inits.push_back(boolean(builder, loc, false));
  appendZeros(builder, loc, handle.getResultTypes(), inits);
  TypeRange extras = TypeRange(op.getResultTypes()).drop_front(carried);
  auto typed = WhileOp::create(builder, loc, inits, extras);
  typed.setCheckpointAttr(op.getCheckpointAttr());
  typed.setTripBoundAttr(op.getTripBoundAttr());
  for (auto [from, to] : llvm::zip(op->getRegions(), typed->getRegions())) {
    to.takeBody(from);
    for (unsigned i = 0; i < added; ++i)
      to.insertArgument(carried + i, inits[carried + i].getType(), loc);
  }
  Block *before = typed.getBeforeBody(), *after = typed.getAfterBody();

  // The condition is not run again once the handle is left.
  Value left = before->getArgument(carried);
  ConditionOp condition = typed.getConditionOp();
  builder.setInsertionPoint(condition);
  if (llvm::all_of(before->without_terminator(), isHarmless)) {
    Value goesOn = NotOp::create(builder, loc, left);
    condition.getConditionMutable().assign(AndOp::create(builder, loc, goesOn, condition.getCondition()));
  } else {
    SmallVector<Type> types(condition->getOperandTypes());
    auto guard = IfOp::create(builder, loc, types, left);
    builder.createBlock(&guard.getThenRegion());
    SmallVector<Value> stopped{boolean(builder, loc, false)};
    appendZeros(builder, loc, extras, stopped);
    YieldOp::create(builder, loc, stopped);
    Block *tests = builder.createBlock(&guard.getElseRegion());
    tests->getOperations().splice(tests->end(), before->getOperations(), before->begin(), guard->getIterator());
    builder.setInsertionPointToEnd(tests);
    YieldOp::create(builder, loc, condition->getOperands());
    condition->setOperands(guard.getResults());
  }

  // A body that is left yields what it got.
  Answer inner = given;
  inner.own.clear();
  inner.rest.assign(after->args_begin(), after->args_begin() + carried);
  SmallVector<Value> values = run(after, after->begin(), inner, {});
  builder.setInsertionPointToEnd(after);
  YieldOp::create(builder, loc, values);
  // Extra results come last.
  return typed.getResults();
}

/// Where one arm always leaves the handle, the rest of the block belongs to the other arm.
SmallVector<Value> HandlerLowering::runRestInArm(IfOp op, bool exitsInThen, const Answer &answer, const DueMap &due) {
  OpBuilder builder(op);
  Block *block = op->getBlock();
  Region &other = exitsInThen ? op.getElseRegion() : op.getThenRegion();
  if (other.empty()) {
    builder.createBlock(&other);
    YieldOp::create(builder, op.getLoc());
  }
  Block &arm = other.front();
  op->replaceAllUsesWith(arm.getTerminator()->getOperands());
  arm.getTerminator()->erase();
  arm.getOperations().splice(arm.end(), block->getOperations(), std::next(op->getIterator()), block->end());
  builder.setInsertionPointToEnd(block);
  auto typed = IfOp::create(builder, op.getLoc(), answer.types, op.getCondition());
  for (auto [from, to] : llvm::zip(op->getRegions(), typed->getRegions())) {
    to.takeBody(from);
    SmallVector<Value> values = run(&to.front(), to.front().begin(), answer, due);
    builder.setInsertionPointToEnd(&to.front());
    YieldOp::create(builder, op.getLoc(), values);
  }
  op.erase();
  return SmallVector<Value>(typed.getResults());
}

/// Rewrites the block from `at` on and returns what it gives; its terminator is gone then.
SmallVector<Value> HandlerLowering::run(Block *block, Block::iterator at, const Answer &answer, DueMap due) {
  OpBuilder builder(block, block->end());
  for (;;) {
    Operation *op = &*at++;
    if (op->hasTrait<OpTrait::IsTerminator>())
      return end(block, answer, due);
    if (exits.contains(op)) {
      SmallVector<Value> values(op->getOperands());
      eraseBehind(op);
      exits.erase(op);
      op->erase();
      return exit(builder, values, answer, due);
    }
    if (auto post = posts.find(op); post != posts.end()) {
      op->remove();
      removed.push_back(op);
      if (answer.isHandles) {
        SmallVector<Value> values = run(block, at, answer, std::move(due));
        builder.setInsertionPointToEnd(block);
        return apply(builder, post->second, values, op->getOperands());
      }
      builder.setInsertionPoint(block, at);
      due[op] = {boolean(builder, op->getLoc(), true), SmallVector<Value>(op->getOperands())};
      builder.setInsertionPointToEnd(block);
      continue;
    }
    if (!op->getNumRegions() || !hasMarker(op, /*exits=*/false))
      continue;
    auto branch = dyn_cast<IfOp>(op);
    if (branch && (alwaysExits(branch.getThenRegion()) || alwaysExits(branch.getElseRegion())))
      return runRestInArm(branch, alwaysExits(branch.getThenRegion()), answer, due);

    std::optional<Stack> stack;
    if (answer.isHandles && repeatsPost(op)) {
      stack = stackPosts(op);
      if (!hasMarker(op, /*exits=*/true)) {
        SmallVector<Value> values = run(block, at, answer, std::move(due));
        builder.setInsertionPointToEnd(block);
        return unwind(builder, *stack, values);
      }
    }
    Answer inner = getAnswer(op);
    ResultRange results = branch ? rebuild(branch, inner) : rebuild(cast<WhileOp>(op), inner);
    // A loop's extra results come behind what is added here.
    unsigned own = branch ? op->getNumResults() : cast<WhileOp>(op).getNumCarried();
    unsigned added = inner.types.size() - inner.own.size();
    SmallVector<Value> replaced(results.take_front(own));
    llvm::append_range(replaced, results.drop_front(own + added));
    op->replaceAllUsesWith(replaced);
    op->erase();
    ValueRange more = results.slice(own, added);
    Value left;
    SmallVector<Value> leftWith;
    if (inner.mayExit) {
      left = more.front();
      llvm::append_range(leftWith, more.slice(1, handle.getNumResults()));
      more = more.drop_front(1 + handle.getNumResults());
    }
    for (auto &[marker, captures] : inner.posts) {
      // One that is gone was never reached.
      if (!posts.contains(marker)) {
        more = more.drop_front(1 + captures.size());
        continue;
      }
      Due &one = due[marker];
      one.flag = more.front();
      more = more.drop_front();
      one.captures.assign(marker->operand_begin(), marker->operand_end());
      for (auto [index, type] : captures) {
        one.captures[index] = more.front();
        more = more.drop_front();
      }
    }
    SmallVector<Value> values;
    if (left) {
      auto guard = IfOp::create(builder, handle.getLoc(), answer.types, left);
      Block *exited = builder.createBlock(&guard.getThenRegion());
      values = exit(builder, leftWith, answer, due);
      builder.setInsertionPointToEnd(exited);
      YieldOp::create(builder, handle.getLoc(), values);
      Block *rest = builder.createBlock(&guard.getElseRegion());
      rest->getOperations().splice(rest->end(), block->getOperations(), at, guard->getIterator());
      values = run(rest, rest->begin(), answer, due);
      builder.setInsertionPointToEnd(rest);
      YieldOp::create(builder, handle.getLoc(), values);
      values.assign(guard.result_begin(), guard.result_end());
    } else {
      values = run(block, at, answer, due);
    }
    builder.setInsertionPointToEnd(block);
    if (!answer.isHandles)
      return values;
    if (stack)
      return unwind(builder, *stack, values);
    for (auto &[marker, captures] : llvm::reverse(inner.posts)) {
      if (!due.contains(marker))
        continue;
      Post &post = posts.find(marker)->second;
      auto when = IfOp::create(builder, post.loc, handle.getResultTypes(), due[marker].flag);
      builder.createBlock(&when.getThenRegion());
      YieldOp::create(builder, post.loc, apply(builder, post, values, due[marker].captures));
      builder.createBlock(&when.getElseRegion());
      YieldOp::create(builder, post.loc, values);
      values.assign(when.result_begin(), when.result_end());
      builder.setInsertionPointToEnd(block);
    }
    return values;
  }
}

/// Whether a size of the values is born in the loop.
static bool bindsSizeOf(WhileOp loop, ValueRange values) {
  NameSet used;
  for (Type type : values.getTypes())
    collectNames(type, used);
  return loop
      .walk([&](BindDimOp bind) {
        return llvm::is_contained(used, bind.getName()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Reports what cannot be kept for later, and what cannot be left.
LogicalResult HandlerLowering::checkPosts() {
  for (auto &[marker, post] : posts) {
    StringRef what;
    Operation *at = marker->getParentOp();
    for (; what.empty() && at != handle; at = what.empty() ? at->getParentOp() : at)
      if (auto loop = dyn_cast<WhileOp>(at)) {
        if (loop.getBefore().isAncestor(marker->getParentRegion()))
          what = "a loop condition";
        else if (bindsSizeOf(loop, marker->getOperands()))
          what = "a loop in which a size that it needs is born";
      } else if (!isa<IfOp>(at)) {
        what = isa<HandleOp>(at) ? "what is differentiated" : "a segment that is run again";
      }
    if (what.empty())
      continue;
    InFlightDiagnostic diag = emitError(post.loc, DiagCode::K0601, "this handler is not lowered: something ")
                              << "follows the resumption, and it is performed in " << what;
    diag.attachNote(at->getLoc()) << (isa<WhileOp>(at) ? "the loop" : isa<HandleOp>(at) ? "the derivative" : "the segment");
    attachHelp(diag) << "let the case end in the resumption, and keep what it computes in a ref";
    return diag;
  }
  for (Operation *marker : exits)
    for (Operation *op = marker->getParentOp(); op != handle; op = op->getParentOp())
      if (!isa<IfOp, WhileOp>(op) ||
          (isa<WhileOp>(op) && cast<WhileOp>(op).getBefore().isAncestor(marker->getParentRegion())))
        return emitError(marker->getLoc(), DiagCode::K0601,
                         "this handler is not lowered: its case does not resume, and it is performed in ")
               << (isa<HandleOp>(op)  ? "what is differentiated"
                   : isa<WhileOp>(op) ? "a loop condition"
                                      : "a segment that is run again");
  return success();
}

LogicalResult HandlerLowering::lower() {
  if (failed(checkContinuations(handle)))
    return failure();
  SmallVector<PerformOp> open;
  collectOpenPerforms(handle.getBody(), open);
  for (PerformOp perform : open)
    if (answers(handle, perform) && failed(expand(perform)))
      return failure();
  if (failed(checkPosts()))
    return failure();
  Answer answer;
  answer.isHandles = true;
  llvm::append_range(answer.types, handle.getResultTypes());
  Block &body = handle.getBody().front();
  SmallVector<Value> values = run(&body, body.begin(), answer, {});
  handle->getBlock()->getOperations().splice(handle->getIterator(), body.getOperations());
  handle->replaceAllUsesWith(values);
  handle.erase();
  return success();
}

/// A continuation that is resumed under another handler would run under both.
LogicalResult checkResume(ResumeOp resume) {
  Operation *owner = resume.getContinuation().getParentBlock()->getParentOp();
  Operation *inner = resume;
  for (Operation *op = resume->getParentOp(); op != owner; inner = op, op = op->getParentOp())
    if (auto handle = dyn_cast<HandleOp>(op); handle && handle.getBody().isAncestor(inner->getParentRegion())) {
      InFlightDiagnostic diag =
          emitError(resume.getLoc(), DiagCode::K0601, "this handler is not lowered: it resumes under another handler");
      diag.attachNote(op->getLoc()) << "the other handler";
      return diag;
    }
  return success();
}

} // namespace

/// Whether a derivative in the operation is one of a function that performs effects.
static bool differentiatesEffects(Operation *root, SymbolTable &symbols) {
  return root
      ->walk([&](Operation *op) {
        SmallVector<PerformOp> open;
        if (isa<GradOp, VJPOp, JVPOp>(op))
          if (auto callee = symbols.lookup<FuncOp>(op->getAttrOfType<FlatSymbolRefAttr>("callee").getValue()))
            collectOpenPerforms(callee.getBody(), open);
        return open.empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether a call, and not only a derivative, names the function.
static bool isCalled(FuncOp function, ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(function, module);
  return uses && llvm::any_of(*uses, [](const SymbolTable::SymbolUse &use) {
           return !isa<GradOp, VJPOp, JVPOp>(use.getUser());
         });
}

LogicalResult lowerHandlers(ModuleOp module) {
  SmallVector<HandleOp> handles;
  // Functions whose handlers are left as they are, and whether some wait for a derivative.
  llvm::SmallPtrSet<Operation *, 4> waiting;
  bool ok = true, tagged = false, anyWaits = false;
  module.walk([&](Operation *op) {
    if (auto handle = dyn_cast<HandleOp>(op)) {
      tagged |= handle.getTagAttr() != nullptr;
      if (!handle.getTagAttr())
        handles.push_back(handle);
    } else if (auto resume = dyn_cast<ResumeOp>(op); resume && failed(checkResume(resume))) {
      waiting.insert(op->getParentOfType<FuncOp>());
      ok = false;
    }
  });
  // The walk meets inner handles first. After an error the rest of the function stays.
  SymbolTable symbols(module);
  for (HandleOp handle : handles) {
    auto function = handle->getParentOfType<FuncOp>();
    if (waiting.contains(function))
      continue;
    if (differentiatesEffects(handle, symbols)) {
      waiting.insert(function);
      anyWaits = true;
    } else if (failed(HandlerLowering(handle).lower())) {
      waiting.insert(function);
      ok = false;
    }
  }
  for (auto function : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
    if (waiting.contains(function))
      continue;
    SmallVector<PerformOp> open;
    collectOpenPerforms(function.getBody(), open);
    // A function that says that it performs effects was elaborated in place where it is
    // called, and one that is differentiated is so when it is expanded.
    if (!open.empty() && !isCalled(function, module)) {
      bool differentiated = !SymbolTable::symbolKnownUseEmpty(function, module);
      if (differentiated && anyWaits)
        continue;
      if (!differentiated && (function.getEffectsAttr() || function.isPrivate())) {
        function.erase();
        continue;
      }
    }
    for (PerformOp perform : open)
      emitError(perform.getLoc(), DiagCode::K0601, "effect '")
          << perform.getPerformed().getRootReference().getValue() << "' is performed without a handler";
    ok &= open.empty() && succeeded(promoteRefs(function));
  }
  // Reverse mode declares its effect itself, and ends it.
  for (auto effect : llvm::make_early_inc_range(module.getOps<EffectOp>()))
    if (effect.getSymName() == kReverseModeName ? !tagged && !anyWaits : !anyWaits)
      effect.erase();
  return success(ok);
}

} // namespace kina
