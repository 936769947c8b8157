//===- PromoteRefs.cpp - Variables become values --------------------------===//
//
// A variable has no address, so at every place its value is known: branches yield the
// variables that are assigned in them, loops carry them.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/AD/Handlers.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kina {
namespace {

class Promoter {
public:
  /// The values of the variables that exist at one place.
  using State = llvm::DenseMap<Value, Value>;

  LogicalResult run(Block &block, State &state);

private:
  LogicalResult runIf(IfOp op, State &state, ArrayRef<Value> assigned);
  LogicalResult runWhile(WhileOp op, State &state, ArrayRef<Value> assigned);
  LogicalResult runReverseMode(HandleOp op, State &state, ArrayRef<Value> assigned);

  /// The variables of the state that are assigned in the operation's regions, in order.
  static SmallVector<Value> getAssigned(Operation *op, const State &state) {
    llvm::SetVector<Value> assigned;
    op->walk([&](AssignOp assign) {
      if (state.contains(assign.getRef()))
        assigned.insert(assign.getRef());
    });
    return assigned.takeVector();
  }

  static SmallVector<Value> read(const State &state, ArrayRef<Value> refs) {
    return llvm::map_to_vector(refs, [&](Value ref) { return state.lookup(ref); });
  }

  static void write(State &state, ArrayRef<Value> refs, ValueRange values) {
    for (auto [ref, value] : llvm::zip(refs, values))
      state[ref] = value;
  }
};

LogicalResult Promoter::run(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto ref = dyn_cast<RefOp>(op)) {
      state[ref] = ref.getInit();
    } else if (auto deref = dyn_cast<DerefOp>(op)) {
      deref.replaceAllUsesWith(state.lookup(deref.getRef()));
      deref.erase();
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      state[assign.getRef()] = assign.getValue();
      assign.erase();
    } else if (op.getNumRegions()) {
      SmallVector<Value> assigned = getAssigned(&op, state);
      if (auto branch = dyn_cast<IfOp>(op)) {
        if (failed(runIf(branch, state, assigned)))
          return failure();
      } else if (auto loop = dyn_cast<WhileOp>(op)) {
        if (failed(runWhile(loop, state, assigned)))
          return failure();
      } else if (auto handle = dyn_cast<HandleOp>(op); handle && handle.getTagAttr() && !assigned.empty()) {
        if (failed(runReverseMode(handle, state, assigned)))
          return failure();
      } else if (!assigned.empty()) {
        return emitError(op.getLoc(), DiagCode::K0601, "a variable is assigned in '")
               << op.getName() << "', which is not lowered";
      } else {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            if (State copy = state; failed(run(inner, copy)))
              return failure();
      }
    }
  }
  // Variables have no uses left at the end of the block that declares them.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<RefOp>(op))
      op.erase();
  return success();
}

LogicalResult Promoter::runIf(IfOp op, State &state, ArrayRef<Value> assigned) {
  OpBuilder builder(op);
  if (!assigned.empty() && op.getElseRegion().empty()) {
    builder.createBlock(&op.getElseRegion());
    YieldOp::create(builder, op.getLoc());
  }
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region->empty())
      continue;
    State copy = state;
    if (failed(run(region->front(), copy)))
      return failure();
    Operation *yield = region->front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), read(copy, assigned));
  }
  if (assigned.empty())
    return success();
  builder.setInsertionPoint(op);
  SmallVector<Type> types(op.getResultTypes());
  llvm::append_range(types, ValueRange(read(state, assigned)).getTypes());
  auto typed = IfOp::create(builder, op.getLoc(), types, op.getCondition());
  typed.getThenRegion().takeBody(op.getThenRegion());
  typed.getElseRegion().takeBody(op.getElseRegion());
  op->replaceAllUsesWith(typed.getResults().take_front(op.getNumResults()));
  write(state, assigned, typed.getResults().take_back(assigned.size()));
  op.erase();
  return success();
}

LogicalResult Promoter::runWhile(WhileOp op, State &state, ArrayRef<Value> assigned) {
  unsigned carried = op.getNumCarried(), count = assigned.size();
  if (!assigned.empty()) {
    // Carried values come before the extra ones.
    OpBuilder builder(op);
    SmallVector<Value> inits(op.getInits());
    llvm::append_range(inits, read(state, assigned));
    auto typed = WhileOp::create(builder, op.getLoc(), inits, TypeRange(op.getResultTypes()).drop_front(carried));
    typed.setCheckpointAttr(op.getCheckpointAttr());
    typed.setTripBoundAttr(op.getTripBoundAttr());
    for (auto [from, to] :
         {std::pair(&op.getBefore(), &typed.getBefore()), std::pair(&op.getAfter(), &typed.getAfter())}) {
      to->takeBody(*from);
      for (auto [index, ref] : llvm::enumerate(assigned))
        to->insertArgument(carried + index, cast<RefType>(ref.getType()).getValueType(), op.getLoc());
    }
    SmallVector<Value> results(typed.getResults().take_front(carried));
    llvm::append_range(results, typed.getResults().drop_front(carried + count));
    op->replaceAllUsesWith(results);
    op.erase();
    op = typed;
  }
  for (bool condition : {true, false}) {
    Block &block = condition ? *op.getBeforeBody() : *op.getAfterBody();
    SmallVector<Value> entry(block.getArguments().slice(carried, count));
    State copy = state;
    write(copy, assigned, entry);
    if (failed(run(block, copy)))
      return failure();
    SmallVector<Value> end = read(copy, assigned);
    if (!condition)
      block.getTerminator()->insertOperands(carried, end);
    else if (end != entry)
      return emitError(op.getLoc(), DiagCode::K0601,
                       "a variable is assigned in a loop condition, which is not lowered");
  }
  write(state, assigned, op.getResults().slice(carried, count));
  return success();
}

/// The body of the handler of reverse mode runs once, where it stands; what it assigns are
/// further values of the handle, before the cotangents.
LogicalResult Promoter::runReverseMode(HandleOp op, State &state, ArrayRef<Value> assigned) {
  Location loc = op.getLoc();
  State copy = state;
  if (failed(run(op.getBody().front(), copy)))
    return failure();
  unsigned own = op.getNumResults() - 1;
  SmallVector<Value> values = read(copy, assigned);
  SmallVector<Type> types(op.getResultTypes());
  types.insert(types.begin() + own, ValueRange(values).getTypes().begin(), ValueRange(values).getTypes().end());
  Block &body = op.getBody().front(), &last = op.getReturnRegion().front(), &record = op.getCases().front().front();
  body.getTerminator()->insertOperands(own, values);
  SmallVector<Value> passed;
  for (Value value : values)
    passed.push_back(last.addArgument(value.getType(), loc));
  last.getTerminator()->insertOperands(own, passed);
  // The case resumes and pulls; it hands the values through.
  auto resume = cast<ResumeOp>(record.front());
  OpBuilder builder(resume);
  record.getArgument(1).setType(ContType::get(op.getContext(), builder.getNoneType(), types));
  auto resumed = ResumeOp::create(builder, loc, types, resume.getContinuation(), ValueRange());
  auto drop = [&](ResultRange results) {
    SmallVector<Value> kept(results.take_front(own));
    kept.push_back(results.back());
    return kept;
  };
  resume->replaceAllUsesWith(drop(resumed.getResults()));
  resume.erase();
  record.getTerminator()->insertOperands(own, resumed.getResults().slice(own, values.size()));
  builder.setInsertionPoint(op);
  auto typed = HandleOp::create(builder, loc, types, op.getOperations(), op.getTagAttr(), /*casesCount=*/1);
  for (auto [from, to] : llvm::zip(op->getRegions(), typed->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(drop(typed.getResults()));
  write(state, assigned, typed.getResults().slice(own, values.size()));
  op.erase();
  return success();
}

} // namespace

LogicalResult promoteRefs(FuncOp function) {
  bool any = function.walk([](RefOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!any)
    return success();
  Promoter::State state;
  return Promoter().run(function.getBody().front(), state);
}

} // namespace kina
