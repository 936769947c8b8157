//===- Continuations.cpp - A continuation is resumed at most once ---------===//

#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/Ownership.h"

using namespace mlir;

namespace kina {

bool resumes(Operation *op, Value continuation) {
  return op
      ->walk([&](ResumeOp resume) {
        return resume.getContinuation() == continuation ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Checks that no path through the block resumes twice; `first` is what resumed before.
static LogicalResult checkOnce(Block &block, Value continuation, ResumeOp &first) {
  for (Operation &op : block) {
    if (auto resume = dyn_cast<ResumeOp>(op); resume && resume.getContinuation() == continuation) {
      if (first) {
        InFlightDiagnostic diag = emitError(op.getLoc(), DiagCode::K0602, "the continuation is resumed twice");
        diag.attachNote(first.getLoc()) << "the first time";
        return diag;
      }
      first = resume;
    } else if (auto branch = dyn_cast<IfOp>(op)) {
      ResumeOp before = first;
      for (Region &region : branch->getRegions())
        if (ResumeOp inArm = before; !region.empty()) {
          if (failed(checkOnce(region.front(), continuation, inArm)))
            return failure();
          first = inArm ? inArm : first;
        }
    } else if (resumes(&op, continuation)) {
      return emitError(op.getLoc(), DiagCode::K0602,
                       "the continuation is resumed in a loop, and so perhaps more than once");
    }
  }
  return success();
}

LogicalResult checkContinuations(HandleOp handle) {
  bool bad = false;
  for (Region &region : handle.getCases()) {
    Value continuation = region.front().getArguments().back();
    Operation *escape = nullptr;
    for (Operation *user : continuation.getUsers())
      if (!isa<ResumeOp>(user))
        escape = user;
    ResumeOp first;
    if (escape)
      bad |= failed(emitError(escape->getLoc(), DiagCode::K0605, "the continuation leaves its case"));
    else
      bad |= failed(checkOnce(region.front(), continuation, first));
  }
  return failure(bad);
}

} // namespace kina
