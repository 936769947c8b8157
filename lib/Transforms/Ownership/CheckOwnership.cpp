//===- CheckOwnership.cpp - Every tensor is consumed once on every path ---===//
//
// What an operation consumes, OwnershipOpInterface says; all else only reads. The body of
// a function is walked in the order in which it runs, with the values that were consumed
// on the way, where and how. Paths that meet again are joined: what was consumed on one
// of them is consumed from there on.
//
// - A loop's body is walked once. What comes from outside and is consumed at its end
//   would be gone in the next iteration.
// - The body of a handle runs up to a `perform`, there the case of the operation starts.
//   A case that does not resume ends the path; one that does runs again at the next
//   `perform`, so it may only read what comes from outside. What it is given is the
//   payload of the `perform`: once the rest has consumed that, the case's name of it is gone.
// - A parameter is consumed if the function consumes it on some path, and else borrowed,
//   whatever the caller does with it. That is known for all functions beforehand.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/SourceNames.h"
#include "Kina/Support/DeepStack.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/Ownership.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_CHECKOWNERSHIPPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

/// Whether values of this type are owned by somebody; all others are copied freely.
bool isOwned(Type type) { return isa<TensorType>(type); }

/// Whether the value belongs to the module.
bool isModuleLevel(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result && (isa<GetGlobalOp>(result.getOwner()) || isBorrowed(result));
}

/// The case that a perform runs; null if nothing around it handles the operation.
Block *findCase(PerformOp perform) {
  for (Region *region = perform->getParentRegion(); region; region = region->getParentRegion()) {
    auto handle = dyn_cast<HandleOp>(region->getParentOp());
    if (!handle || region != &handle.getBody())
      continue;
    for (auto [operation, body] : llvm::zip(handle.getOperations(), handle.getCases()))
      if (operation == perform.getPerformedAttr() &&
          llvm::equal(perform.getPayload().getTypes(), TypeRange(body.getArgumentTypes()).drop_back()))
        return &body.front();
  }
  return nullptr;
}

/// Whether a path through the case may resume.
bool mayResume(Block *handled) { return !handled->getArguments().back().use_empty(); }

bool isDefinedIn(Value value, Region *region) { return region->isAncestor(value.getParentRegion()); }

/// Whether the value is one of a region of `op`.
bool isDefinedIn(Value value, Operation *op) {
  return op->isAncestor(value.getParentRegion()->getParentOp());
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Which parameters of functions and of handlers' cases are consumed.
class Consumers {
public:
  explicit Consumers(ModuleOp module) : symbols(module) {
    // Of a parameter that is passed on, the parameter that gets it decides.
    llvm::DenseMap<BlockArgument, SmallVector<OpOperand *>> passedTo;
    SmallVector<BlockArgument> consumed;
    auto add = [&](BlockArgument parameter) {
      if (!isOwned(parameter.getType()) || isBorrowed(parameter))
        return;
      // The last use of the list is the first of the program.
      for (OpOperand &use : parameter.getUses()) {
        if (kina::isBorrowed(use))
          continue;
        BlockArgument next;
        bool direct = asks(use, [&](BlockArgument callee) {
          next = callee;
          return false;
        });
        if (direct) {
          if (!consumer.contains(parameter))
            consumed.push_back(parameter);
          consumer[parameter] = &use;
        }
        if (next)
          passedTo[next].push_back(&use);
      }
    };
    module.walk([&](Operation *op) {
      if (auto function = dyn_cast<FuncOp>(op); function && !function.isExternal())
        llvm::for_each(function.getArguments(), add);
      if (auto handle = dyn_cast<HandleOp>(op))
        for (Region &handled : handle.getCases())
          llvm::for_each(handled.getArguments(), add);
    });
    for (size_t next = 0; next < consumed.size(); ++next)
      for (OpOperand *use : passedTo.lookup(consumed[next]))
        if (auto outer = cast<BlockArgument>(use->get()); consumer.insert({outer, use}).second)
          consumed.push_back(outer);
  }

  /// Whether the operation takes the operand over.
  bool consumes(OpOperand &use) const {
    return isOwned(use.get().getType()) &&
           asks(use, [&](BlockArgument parameter) { return consumer.contains(parameter); });
  }

  /// Where the parameter is consumed; null where it is borrowed.
  OpOperand *getConsumer(BlockArgument parameter) const { return consumer.lookup(parameter); }

  /// The parameter that the operand of a call, a derivative or a perform goes to.
  BlockArgument getParameter(OpOperand &use) const {
    BlockArgument parameter;
    asks(use, [&](BlockArgument callee) {
      parameter = callee;
      return false;
    });
    return parameter;
  }

  /// Whether the signature says that the parameter is only read.
  static bool isBorrowed(BlockArgument parameter) {
    auto function = dyn_cast<FuncOp>(parameter.getOwner()->getParentOp());
    return function && function.getArgAttr(parameter.getArgNumber(), kBorrowArgAttrName);
  }

private:
  /// What the operation says of the operand; of one that is a parameter's, what `of` says.
  bool asks(OpOperand &use, llvm::function_ref<bool(BlockArgument)> of) const {
    if (auto perform = dyn_cast<PerformOp>(use.getOwner())) {
      Block *handled = use.getOperandNumber() < perform.getPayload().size() ? findCase(perform) : nullptr;
      return handled && of(handled->getArgument(use.getOperandNumber()));
    }
    auto owner = dyn_cast<OwnershipOpInterface>(use.getOwner());
    return owner && owner.consumesOperand(use.getOperandNumber(), [&](FlatSymbolRefAttr callee, unsigned number) {
      auto function = symbols.lookup<FuncOp>(callee.getAttr());
      return function && !function.isExternal() && number < function.getNumArguments() &&
             of(function.getArgument(number));
    });
  }

  SymbolTable symbols;
  llvm::DenseMap<BlockArgument, OpOperand *> consumer;
};

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string quote(StringRef name) { return ("'" + name + "'").str(); }

/// The name of a loop state, "" if it has none.
StringRef getStateName(WhileOp loop, unsigned index) {
  SmallVector<StringRef> names = getSourceNames(loop.getBeforeBody()->getArgument(index));
  return names.empty() ? "" : names.front();
}

StringRef getName(Value value) {
  SmallVector<StringRef> names = getSourceNames(value);
  if (!names.empty())
    return names.front();
  auto loop = value.getDefiningOp<WhileOp>();
  unsigned index = loop ? cast<OpResult>(value).getResultNumber() : 0;
  return loop && index < loop.getNumCarried() ? getStateName(loop, index) : "";
}

/// How messages call the value.
std::string spell(Value value) {
  StringRef name = getName(value);
  return name.empty() ? "this value" : quote(name);
}

/// What takes the place of a use that consumes.
std::string spellCopy(Value value) {
  StringRef name = getName(value);
  return name.empty() ? "copy(..)" : ("'copy(" + name + ")'").str();
}

/// The function as users call it; behind a dot stands what element types it is for, or the
/// number of one without a name.
std::string spellCallee(FuncOp function) {
  auto [name, rest] = function.getSymName().split('.');
  return rest.starts_with("lambda") ? "the function" : quote(name);
}

/// The place of a use, as exactly as it is known.
Location getUseLoc(OpOperand &use) {
  if (auto loop = dyn_cast<WhileOp>(use.getOwner()))
    return loop.getBeforeBody()->getArgument(use.getOperandNumber()).getLoc();
  return use.getOwner()->getLoc();
}

/// Where the function is called in which the location lies, if it was elaborated in place there.
std::optional<Location> getCaller(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return getCaller(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return fused.getLocations().empty() ? std::nullopt : getCaller(fused.getLocations().front());
  if (auto site = dyn_cast<CallSiteLoc>(loc))
    return site.getCaller();
  return std::nullopt;
}

/// Whether both are the same text of the program.
bool isSameText(Location a, Location b) {
  auto text = a->findInstanceOf<FileLineColRange>();
  return text && text == b->findInstanceOf<FileLineColRange>();
}

/// The loop whose state the use begins or goes on, and the state's number.
std::pair<WhileOp, unsigned> getState(OpOperand &use) {
  Operation *op = use.getOwner();
  auto loop = dyn_cast<WhileOp>(isa<YieldOp>(op) ? op->getParentOp() : op);
  return {loop, use.getOperandNumber()};
}

/// How the use consumes, as the rest of a sentence about the value.
std::string describe(OpOperand &use, const Consumers &consumers) {
  Operation *op = use.getOwner();
  if (auto [loop, index] = getState(use); loop) {
    StringRef name = getStateName(loop, index);
    std::string state = name.empty() ? "of a loop state" : "of the loop state " + quote(name);
    return (op == loop ? "becomes the first value " : "becomes the next value ") + state;
  }
  if (auto yield = dyn_cast<YieldOp>(op)) {
    auto handle = dyn_cast<HandleOp>(yield->getParentOp());
    if (!handle)
      return isa<IfOp>(yield->getParentOp()) ? "is the value of this arm" : "is the value of this region";
    Region *region = yield->getParentRegion();
    if (region == &handle.getBody())
      return "is the value of the handled expression";
    if (region == &handle.getReturnRegion())
      return "is the value of the 'return' case";
    return "is the value of this case";
  }
  if (isa<ReturnOp>(op))
    return "is returned";
  if (isa<DropOp>(op))
    return "is dropped";
  if (isa<CopyToDeviceOp>(op))
    return "moves to a device";
  if (isa<CopyToHostOp>(op))
    return "moves to the host";
  if (isa<ResumeOp>(op))
    return "goes to the continuation";
  if (isa<RefOp, AssignOp>(op))
    return "is kept in a ref";
  if (auto perform = dyn_cast<PerformOp>(op))
    return "goes to the case of " + quote(perform.getPerformed().getLeafReference().getValue()) +
           ", which consumes it";
  if (BlockArgument parameter = consumers.getParameter(use)) {
    auto callee = cast<FuncOp>(parameter.getOwner()->getParentOp());
    StringRef name = getName(parameter);
    return "goes to " + (name.empty() ? std::string() : "parameter " + quote(name) + " of ") + spellCallee(callee) +
           ", which consumes it";
  }
  return ("is consumed by '" + op->getName().getStringRef() + "'").str();
}

/// Says of a parameter that it gets where it is consumed.
void attachConsumer(InFlightDiagnostic &diag, OpOperand &use, const Consumers &consumers) {
  BlockArgument parameter = consumers.getParameter(use);
  OpOperand *inside = parameter ? consumers.getConsumer(parameter) : nullptr;
  if (inside)
    diag.attachNote(getUseLoc(*inside)) << "there it " << describe(*inside, consumers);
}

/// Says which other names the value has.
void attachAliases(InFlightDiagnostic &diag, Value value) {
  SmallVector<StringRef> names = getSourceNames(value);
  for (StringRef alias : llvm::drop_begin(names, names.empty() ? 0 : 1))
    diag.attachNote(value.getLoc()) << quote(alias) << " is another name of " << quote(names.front());
}

//===----------------------------------------------------------------------===//
// The check of a function
//===----------------------------------------------------------------------===//

/// What happened on the paths that lead to a point.
struct State {
  /// What was consumed on some path, and by what.
  llvm::MapVector<Value, OpOperand *> consumed;
  bool reachable = true;
  /// The cases that have resumed.
  SmallVector<Block *> resumed;
  /// What the operation of a case was performed with.
  llvm::SetVector<std::pair<Value, BlockArgument>> given;

  void join(const State &other) {
    if (!other.reachable)
      return;
    if (!reachable) {
      *this = other;
      return;
    }
    for (auto &entry : other.consumed)
      consumed.insert(entry);
    for (Block *handled : other.resumed)
      if (!llvm::is_contained(resumed, handled))
        resumed.push_back(handled);
    given.insert_range(other.given);
  }

  /// From here on the value is gone, by whatever name a case has it.
  void markConsumed(Value value, OpOperand *use) {
    if (!consumed.insert({value, use}).second)
      return;
    for (auto [payload, argument] : given.getArrayRef().vec())
      if (payload == value)
        markConsumed(argument, use);
  }

  /// Forgets what belongs to the regions of an operation that is left.
  void leave(Operation *op) {
    consumed.remove_if([&](auto &entry) { return isDefinedIn(entry.first, op); });
    given.remove_if([&](auto &entry) { return isDefinedIn(entry.first, op) || isDefinedIn(entry.second, op); });
  }
  /// The same behind the body of a handle. Of what its cases were given it is still to be seen what is gone.
  void leaveBody(HandleOp handle) {
    auto isInBody = [&](Value value) {
      return isDefinedIn(value, &handle.getBody()) || isDefinedIn(value, &handle.getReturnRegion());
    };
    consumed.remove_if([&](auto &entry) { return isInBody(entry.first); });
    given.remove_if([&](auto &entry) { return isInBody(entry.first) || isDefinedIn(entry.second, handle); });
  }
};

class FunctionChecker {
public:
  FunctionChecker(const Consumers &consumers, bool strict) : consumers(consumers), strict(strict) {}

  /// Whether the function keeps the rules; reports what breaks them.
  bool run(FuncOp function) {
    State state;
    check(function.getBody().front(), state);
    if (strict)
      reportImplicitDrops(function);
    return !failed;
  }

private:
  void check(Block &block, State &state) {
    for (Operation &op : block)
      check(&op, state);
  }
  void check(Region &region, State &state) {
    for (Block &block : region)
      check(block, state);
  }

  void check(Operation *op, State &state) {
    for (OpOperand &use : op->getOpOperands())
      if (isOwned(use.get().getType()) && !consumers.consumes(use))
        read(use, state);
    for (OpOperand &use : op->getOpOperands())
      if (consumers.consumes(use))
        consume(use, state);
    if (auto branch = dyn_cast<IfOp>(op)) {
      State second = state;
      check(branch.getThenRegion(), state);
      check(branch.getElseRegion(), second);
      state.join(second);
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      checkLoop(loop, state);
    } else if (auto handle = dyn_cast<HandleOp>(op)) {
      checkHandle(handle, state);
    } else if (auto perform = dyn_cast<PerformOp>(op)) {
      if (Block *handled = findCase(perform)) {
        auto [entry, first] = entries.try_emplace(handled, state);
        if (!first)
          entry->second.join(state);
        for (auto [value, argument] : llvm::zip(perform.getPayload(), handled->getArguments()))
          if (isOwned(value.getType()))
            state.given.insert({value, argument});
        state.reachable &= mayResume(handled);
      }
    } else if (auto resume = dyn_cast<ResumeOp>(op)) {
      checkResume(resume, state);
    } else {
      for (Region &region : op->getRegions())
        check(region, state);
    }
    if (op->getNumRegions())
      state.leave(op);
  }

  void checkLoop(WhileOp loop, State &state) {
    size_t before = state.consumed.size();
    check(loop.getBefore(), state);
    State body = state;
    check(loop.getAfter(), body);
    // The path from the end of the body to its start.
    if (body.reachable)
      for (auto &[value, use] : llvm::drop_begin(body.consumed, before))
        if (use->get() == value && !isDefinedIn(value, loop) && reported.insert(value).second) {
          InFlightDiagnostic diag = report(getUseLoc(*use), DiagCode::K0502,
                                           spell(value) + " was consumed in the previous iteration: here it " +
                                               describe(*use, consumers));
          attachConsumer(diag, *use, consumers);
          diag.attachNote(loop.getLoc()) << "it comes from outside this loop";
          attachAliases(diag, value);
          attachHelp(diag) << "carry " << (getName(value).empty() ? "it" : spell(value))
                           << " as a state of the loop, or consume a copy, " << spellCopy(value);
        }
    // What a case was given in the body is gone for the case, whatever becomes of the body's own values.
    for (auto &[value, use] : body.consumed)
      if (use->get() != value)
        state.consumed.insert({value, use});
    for (auto [index, init] : llvm::enumerate(loop.getInits())) {
      BlockArgument state = loop.getAfterBody()->getArgument(index);
      if (!isOwned(state.getType()) || !state.use_empty() || !loop.getBeforeBody()->getArgument(index).use_empty())
        continue;
      StringRef name = getStateName(loop, index);
      InFlightDiagnostic diag =
          report(loop.getBeforeBody()->getArgument(index).getLoc(), DiagCode::K0503,
                 (name.empty() ? "a loop state" : "loop state " + quote(name)) +
                     " is never read: every iteration loses the tensor of the one before");
      if (!name.empty())
        attachHelp(diag) << "end its life in the body with 'drop(" << name << ");', or do not carry it";
    }
  }

  void checkHandle(HandleOp handle, State &state) {
    State ended = state;
    check(handle.getBody(), ended);
    check(handle.getReturnRegion(), ended);
    ended.leaveBody(handle);
    State after = ended;
    for (Region &handled : handle.getCases()) {
      auto entry = entries.find(&handled.front());
      State inside = entry == entries.end() ? state : entry->second;
      inside.leave(handle);
      starts.insert({&handled.front(), inside});
      ends.insert({&handled.front(), ended});
      check(handled, inside);
      if (entry != entries.end())
        after.join(inside);
    }
    state = after;
    // What is behind the handle is no part of its cases.
    llvm::erase_if(state.resumed, [&](Block *handled) { return handled->getParentOp() == handle; });
  }

  void checkResume(ResumeOp resume, State &state) {
    auto continuation = dyn_cast<BlockArgument>(resume.getContinuation());
    Block *handled = continuation ? continuation.getOwner() : nullptr;
    auto end = ends.find(handled);
    if (!state.reachable || end == ends.end())
      return;
    for (auto &[value, use] : state.consumed)
      if (use->get() == value && !isDefinedIn(value, handled->getParent()) && !starts.find(handled)->second.consumed.contains(value))
        reportRepeatedCase(value, *use, handled);
    if (!end->second.reachable) {
      state.reachable = false;
      return;
    }
    state.join(end->second);
    for (auto &[value, use] : end->second.consumed)
      for (auto [payload, argument] : state.given.getArrayRef().vec())
        if (payload == value)
          state.markConsumed(argument, use);
    if (!llvm::is_contained(state.resumed, handled))
      state.resumed.push_back(handled);
  }

  void reportRepeatedCase(Value value, OpOperand &use, Block *handled) {
    if (!reported.insert(value).second)
      return;
    auto handle = cast<HandleOp>(handled->getParentOp());
    auto operation = cast<SymbolRefAttr>(handle.getOperations()[handled->getParent()->getRegionNumber() - 2]);
    InFlightDiagnostic diag =
        report(getUseLoc(use), DiagCode::K0502,
               spell(value) + " was consumed when the case of " + quote(operation.getLeafReference().getValue()) +
                   " ran before: here it " + describe(use, consumers));
    diag.attachNote() << "a case that resumes runs at every 'perform', and this value comes from outside it";
    attachAliases(diag, value);
    attachHelp(diag) << "consume a copy, " << spellCopy(value);
  }

  void read(OpOperand &use, const State &state) {
    auto known = state.consumed.find(use.get());
    if (state.reachable && known != state.consumed.end())
      reportUse(use, *known->second, " is used after it was consumed");
  }

  void consume(OpOperand &use, State &state) {
    Value value = use.get();
    if (!state.reachable || reported.contains(value))
      return;
    if (auto known = state.consumed.find(value); known != state.consumed.end()) {
      if (known->second->getOwner() == use.getOwner())
        reportTwice(*known->second, use);
      else
        reportUse(use, *known->second, " is consumed a second time: here it " + describe(use, consumers));
      return;
    }
    if (llvm::any_of(use.getOwner()->getOpOperands(), [&](OpOperand &other) {
          return &other != &use && other.get() == value && !consumers.consumes(other);
        })) {
      reported.insert(value);
      InFlightDiagnostic diag = report(use.getOwner()->getLoc(), DiagCode::K0501,
                                       spell(value) + " is consumed and read at once: it " + describe(use, consumers));
      attachConsumer(diag, use, consumers);
      attachAliases(diag, value);
      attachHelp(diag) << "pass a copy to be consumed, " << spellCopy(value);
      return;
    }
    if (std::optional<std::string> why = getBorrow(use)) {
      reported.insert(value);
      InFlightDiagnostic diag = report(getUseLoc(use), DiagCode::K0505,
                                       spell(value) + " is borrowed and cannot be consumed, but here it " +
                                           describe(use, consumers));
      attachConsumer(diag, use, consumers);
      if (isBorrowed(use))
        diag.attachNote() << *why;
      else
        diag.attachNote(value.getLoc()) << *why;
      attachAliases(diag, value);
      attachHelp(diag) << "consume a copy, " << spellCopy(value);
      return;
    }
    for (Block *handled : state.resumed)
      if (!isDefinedIn(value, handled->getParent())) {
        reportRepeatedCase(value, use, handled);
        return;
      }
    state.markConsumed(value, &use);
  }

  /// Why the value is not owned here.
  std::optional<std::string> getBorrow(OpOperand &use) {
    Value value = use.get();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (Consumers::isBorrowed(argument))
        return "it is borrowed here";
      auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
      if (loop && argument.getOwner() == loop.getBeforeBody())
        return "a loop's condition only reads its states";
    } else if (isModuleLevel(value)) {
      return "a module-level value is borrowed everywhere";
    }
    if (isBorrowed(use))
      return "a function only reads what it takes with '&', and a function value what is around it";
    return std::nullopt;
  }

  void reportUse(OpOperand &use, OpOperand &consumed, const Twine &what) {
    Value value = use.get();
    if (!reported.insert(value).second)
      return;
    InFlightDiagnostic diag = report(getUseLoc(use), DiagCode::K0501, spell(value) + what);
    // The innermost branch that the use is not in says on which path it was consumed.
    IfOp branch;
    Operation *op = consumed.getOwner();
    Region *arm = nullptr;
    for (Region *region = op->getParentRegion(); region && !region->isAncestor(use.getOwner()->getParentRegion());
         region = region->getParentRegion())
      if (auto outer = dyn_cast<IfOp>(region->getParentOp()); outer && !branch) {
        branch = outer;
        arm = region;
      }
    Location place = getUseLoc(consumed);
    std::optional<Location> call = getCaller(place);
    StringRef path = !branch                          ? ""
                     : arm == &branch.getThenRegion() ? ", on the path where the condition holds"
                                                      : ", on the path where the condition does not hold";
    // The same text runs in several calls.
    if (call && isSameText(place, getUseLoc(use))) {
      diag.attachNote(*call) << spell(consumed.get()) << " is consumed in this call first" << path;
    } else {
      diag.attachNote(place) << spell(consumed.get()) << " is consumed here" << path << ": it "
                             << describe(consumed, consumers);
      if (call)
        diag.attachNote(*call) << "in this call";
    }
    attachConsumer(diag, consumed, consumers);
    if (consumed.get() != value)
      attachGiven(diag, value);
    if (branch)
      if (Operation *condition = branch.getCondition().getDefiningOp())
        diag.attachNote(condition->getLoc()) << "the condition";
    attachAliases(diag, value);
    auto [loop, index] = getState(consumed);
    if (loop && loop == op && loop->isProperAncestor(use.getOwner()) && !getStateName(loop, index).empty() &&
        getStateName(loop, index) != getName(value))
      attachHelp(diag) << "in the loop its value is that of " << quote(getStateName(loop, index))
                       << "; to keep the first one, start the state with " << spellCopy(value);
    else
      attachHelp(diag) << "consume a copy there, " << spellCopy(consumed.get());
  }

  /// Says of what a case is given where that comes from.
  void attachGiven(InFlightDiagnostic &diag, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto handle = argument ? dyn_cast<HandleOp>(argument.getOwner()->getParentOp()) : HandleOp();
    if (!handle)
      return;
    handle.getBody().walk([&](PerformOp perform) {
      if (findCase(perform) == argument.getOwner())
        diag.attachNote(perform.getLoc()) << spell(perform.getPayload()[argument.getArgNumber()]) << " is "
                                          << spell(value) << " in the case";
    });
  }

  /// One operation consumes the value as both operands.
  void reportTwice(OpOperand &first, OpOperand &second) {
    Value value = first.get();
    reported.insert(value);
    Operation *op = first.getOwner();
    std::string text = " is consumed twice: it ";
    if (auto [loop, index] = getState(first); loop) {
      StringRef one = getStateName(loop, index), other = getStateName(loop, getState(second).second);
      text = op == loop ? " becomes the first value of two loop states" : " becomes the next value of two loop states";
      if (!one.empty() && !other.empty())
        text += ", " + quote(one) + " and " + quote(other);
    } else if (isa<ReturnOp>(op)) {
      text = " is returned twice";
    } else {
      std::string one = describe(first, consumers), other = describe(second, consumers);
      text += one == other ? one + " at two places" : one + ", and " + other;
    }
    InFlightDiagnostic diag = report(getUseLoc(second), DiagCode::K0501, spell(value) + text);
    if (getUseLoc(first) != getUseLoc(second))
      diag.attachNote(getUseLoc(first)) << spell(value) << " is consumed here";
    attachAliases(diag, value);
    attachHelp(diag) << "give one of them a copy, " << spellCopy(value);
  }

  InFlightDiagnostic report(Location loc, DiagCode code, const Twine &message) {
    failed = true;
    return emitError(loc, code, message);
  }

  //===--------------------------------------------------------------------===//
  // Implicit drops
  //===--------------------------------------------------------------------===//

  /// The last use of a value consumes it; where a path has none, it is dropped. A `_` says so.
  void reportImplicitDrops(FuncOp function) {
    auto look = [&](Value value, Block &block) {
      if (isOwned(value.getType()) && !reported.contains(value) && !getSourceNames(value).empty())
        findDrops(value, block, value.getLoc());
    };
    for (BlockArgument parameter : function.getArguments())
      if (!Consumers::isBorrowed(parameter) && (function.isPublic() || consumers.getConsumer(parameter)))
        look(parameter, function.getBody().front());
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (!isModuleLevel(result))
          look(result, *op->getBlock());
      // What the condition reads is used in every iteration, and of no use at all is an error anyway.
      if (auto loop = dyn_cast<WhileOp>(op))
        for (BlockArgument state : loop.getAfterBody()->getArguments())
          if (loop.getBeforeBody()->getArgument(state.getArgNumber()).use_empty() && !state.use_empty())
            look(state, *loop.getAfterBody());
    });
  }

  /// Reports the paths through the block on which nothing uses the value.
  void findDrops(Value value, Block &block, Location path) {
    IfOp branch;
    for (Operation *user : value.getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!here)
        continue;
      auto inner = dyn_cast<IfOp>(here);
      if (!inner || here == user)
        return;
      if (!branch || branch->isBeforeInBlock(inner))
        branch = inner;
    }
    if (!branch)
      return reportDrop(value, path, " is dropped: nothing uses it on this path", "say so");
    for (Region *arm : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (arm->empty())
        reportDrop(value, branch.getLoc(), " is dropped where the condition does not hold", "say so in an 'else' arm");
      else
        findDrops(value, arm->front(), arm->front().getTerminator()->getLoc());
  }

  void reportDrop(Value value, Location loc, const Twine &what, StringRef help) {
    InFlightDiagnostic diag = report(loc, DiagCode::K0503, spell(value) + what);
    attachHelp(diag) << help << " with 'drop(" << getName(value) << ");'";
  }

  const Consumers &consumers;
  bool strict, failed = false;
  /// What has been reported, so that nothing is that follows from it.
  llvm::DenseSet<Value> reported;
  /// Of a case: the state in which it is entered, before it runs, and when what it resumes
  /// has ended.
  llvm::DenseMap<Block *, State> entries, starts, ends;
};

struct CheckOwnershipPass : impl::CheckOwnershipPassBase<CheckOwnershipPass> {
  using CheckOwnershipPassBase::CheckOwnershipPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module->hasAttr(kValueSemanticsAttrName))
      return;
    bool passed = true;
    {
      DiagnosticSorter sorter(&getContext());
      runOnDeepStack([&] {
        Consumers consumers(module);
        for (auto function : module.getOps<FuncOp>())
          if (!function.isExternal())
            passed &= FunctionChecker(consumers, strict).run(function);
        module.walk([&](HandleOp handle) {
          if (!handle.getTagAttr())
            passed &= succeeded(checkContinuations(handle));
        });
      });
    }
    if (!passed)
      return signalPassFailure();
    // Whose tensors they are has been checked in operations that nothing uses, too.
    IRRewriter rewriter(&getContext());
    for (auto function : module.getOps<FuncOp>())
      (void)runRegionDCE(rewriter, function->getRegions());
  }
};

} // namespace
} // namespace kina
