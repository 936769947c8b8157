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
#include "llvm/ADT/MapVector.h"

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

/// Whether the value may show less than its buffer, or in another form.
bool isView(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return static_cast<bool>(value.getDefiningOp<ViewLikeOpInterface>());
}

/// Whether the value shows all of its buffer, with more than one element.
bool isWhole(Value value) {
  auto type = cast<MemRefType>(value.getType());
  return !isView(value) && (!type.hasStaticShape() || type.getNumElements() > 1);
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

/// Whether what the copy was made for writes a part of one of its buffers.
bool isForPart(memref::CopyOp copy, Operation *loop) {
  Value source = getBuffer(copy.getSource()), target = getBuffer(copy.getTarget());
  return loop
      ->walk([&](Operation *op) {
        Value written;
        if (auto store = dyn_cast<memref::StoreOp>(op))
          written = store.getMemRef();
        else if (auto other = dyn_cast<memref::CopyOp>(op))
          written = other.getTarget();
        if (!written || !llvm::is_contained({source, target}, getBuffer(written)) || getRange(op) != getRange(copy))
          return WalkResult::advance();
        // What lies deeper and is no view writes all of it, element by element.
        bool isElement = isa<memref::StoreOp>(op) && op->getBlock() == copy->getBlock();
        return isElement || isView(written) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
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
    // Copies of one place in the source are one remark.
    llvm::MapVector<std::pair<Operation *, Attribute>, SmallVector<memref::CopyOp>> places;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto loop = copy->getParentOfType<LoopLikeOpInterface>();
      FileLineColRange range = getRange(copy);
      if (loop && range && isWhole(copy.getSource()) && isWhole(copy.getTarget()) &&
          (getTakenOver(copy.getLoc()) || isForPart(copy, loop)))
        places[{loop, range}].push_back(copy);
    });
    for (auto &[place, copies] : places)
      report(place.first, copies);
  }

  void report(Operation *loop, ArrayRef<memref::CopyOp> copies) {
    memref::CopyOp copy = copies.front();
    InFlightDiagnostic diag = emitRemark(copy.getLoc(), DiagCode::K0701, "every iteration copies a whole tensor here");
    for (memref::CopyOp other : copies)
      if (std::optional<TakenOver> names = getTakenOver(other.getLoc())) {
        diag.attachNote() << "the tensor of " << (names->from.empty() ? "one state" : "'" + names->from + "'")
                          << " goes on as " << (names->to.empty() ? "another state" : "'" + names->to + "'");
        return;
      }
    if (Operation *reader = findReader(copy)) {
      diag.attachNote(reader->getLoc()) << "what the tensor was before is read here";
      return;
    }
    Value buffer = getBuffer(copy.getSource());
    bool isFromOutside = !loop->isAncestor(buffer.getParentBlock()->getParentOp());
    auto writes = [&](Operation *op) {
      return touches<MemoryEffects::Write>(op, buffer) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (isFromOutside && !loop->walk(writes).wasInterrupted())
      diag.attachNote() << "the next iteration needs the tensor as it was";
  }
};
} // namespace
