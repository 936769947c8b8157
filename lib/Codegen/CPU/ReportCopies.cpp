//===- ReportCopies.cpp - Which loops copy whole tensors ------------------===//
//
// Nothing is predicted here: what is reported is a copy that the code makes. Of the copies
// in loops, those count that an update in place would have avoided: of a tensor of which
// only a part is written, or of the tensor of one state that goes on as another one.
//
//===----------------------------------------------------------------------===//

#include "CopyReasons.h"
#include "Kina/Codegen/CPU/Passes.h"
#include "Kina/Support/Diagnostics.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace kina {
#define GEN_PASS_DEF_REPORTCOPIES
#include "Kina/Codegen/CPU/Passes.h.inc"
} // namespace kina

using namespace mlir;
using namespace kina;

namespace {

/// The buffer that `value` shows, or a part of it.
Value getBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether the value shows all of its buffer, with more than one element.
bool isWhole(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto type = cast<MemRefType>(value.getType());
  return !value.getDefiningOp<ViewLikeOpInterface>() && (!type.hasStaticShape() || type.getNumElements() > 1);
}

/// Whether the operation itself reads or writes the buffer.
template <typename EffectTy>
bool touches(Operation *op, Value buffer) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op->getNumRegions() != 0)
    return false;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<EffectTy>(effect.getEffect()) && effect.getValue() && isa<MemRefType>(effect.getValue().getType()) &&
           getBuffer(effect.getValue()) == buffer;
  });
}

/// Where in the source it is, for a comparison.
FileLineColRange getRange(Operation *op) { return op->getLoc()->findInstanceOf<FileLineColRange>(); }

/// Whether one of the copy's buffers gets a part written by what the copy was made for.
bool isForPart(memref::CopyOp copy) {
  Value source = getBuffer(copy.getSource()), target = getBuffer(copy.getTarget());
  return llvm::any_of(*copy->getBlock(), [&](Operation &op) {
    Value buffer;
    if (auto store = dyn_cast<memref::StoreOp>(op))
      buffer = getBuffer(store.getMemRef());
    else if (auto part = dyn_cast<memref::SubViewOp>(op))
      buffer = getBuffer(part.getSource());
    return buffer && (buffer == source || buffer == target) && getRange(&op) == getRange(copy);
  });
}

/// What reads the old values that the copy keeps, in the rest of the iteration.
Operation *findReader(memref::CopyOp copy) {
  Value buffer = getBuffer(copy.getSource());
  Operation *reader = nullptr;
  for (Operation *op = copy->getNextNode(); op && !reader; op = op->getNextNode()) {
    if (auto over = dyn_cast<memref::CopyOp>(op); over && over.getTarget() == copy.getSource())
      break;
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (!touches<MemoryEffects::Read>(inner, buffer) || getRange(inner) == getRange(copy))
        return WalkResult::advance();
      reader = inner;
      return WalkResult::interrupt();
    });
  }
  return reader;
}

struct ReportCopiesPass : kina::impl::ReportCopiesBase<ReportCopiesPass> {
  void runOnOperation() override {
    DiagnosticSorter sorter(&getContext());
    llvm::DenseSet<std::pair<Operation *, Attribute>> told;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto loop = copy->getParentOfType<LoopLikeOpInterface>();
      std::optional<TakenOver> takenOver = getTakenOver(copy.getLoc());
      FileLineColRange range = getRange(copy);
      if (!loop || !range || !isWhole(copy.getSource()) || !isWhole(copy.getTarget()) ||
          !(takenOver || isForPart(copy)) || !told.insert({loop, range}).second)
        return;
      InFlightDiagnostic diag = emitRemark(copy.getLoc(), DiagCode::K0701, "every iteration copies a whole tensor here");
      Value buffer = getBuffer(copy.getSource());
      if (takenOver) {
        auto quote = [](StringRef name) { return name.empty() ? std::string("one state") : ("'" + name + "'").str(); };
        diag.attachNote() << "the tensor of " << quote(takenOver->from) << " goes on as "
                          << (takenOver->to.empty() ? "another state" : quote(takenOver->to));
      } else if (Operation *reader = findReader(copy)) {
        diag.attachNote(reader->getLoc()) << "what the tensor was before is read here";
      } else if (!loop->isAncestor(buffer.getParentBlock()->getParentOp()) &&
                 !loop->walk([&](Operation *op) {
                        return touches<MemoryEffects::Write>(op, buffer) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
                      }).wasInterrupted()) {
        diag.attachNote() << "the next iteration needs the tensor as it was";
      }
    });
  }
};
} // namespace
