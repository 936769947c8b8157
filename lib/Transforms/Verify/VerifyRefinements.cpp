//===- VerifyRefinements.cpp - Discharge what elaboration left open -------===//
//
// Elaboration settles what normal form and the facts of the function settle. What is
// left is looked at once more, since passes in between may have substituted sizes; what
// stays open is an error, never silently assumed.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/Passes.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kina {
#define GEN_PASS_DEF_VERIFYREFINEMENTSPASS
#include "Kina/Transforms/Passes.h.inc"

namespace {

struct VerifyRefinementsPass : impl::VerifyRefinementsPassBase<VerifyRefinementsPass> {
  void runOnOperation() override {
    bool bad = false;
    getOperation().walk([&](FuncOp function) {
      llvm::StringMap<int64_t> least;
      if (ArrayAttr vars = function.getShapeVarsAttr())
        for (auto var : vars.getAsRange<ShapeVarAttr>())
          least[var.getName()] = var.getLeast();
      auto lookup = [&](StringRef name) -> std::optional<int64_t> {
        auto it = least.find(name);
        return it == least.end() ? std::nullopt : std::optional(it->second);
      };
      function.walk([&](ObligationOp obligation) {
        if (decide(obligation.getPred(), lookup).value_or(false)) {
          obligation.erase();
          return;
        }
        bad = true;
        InFlightDiagnostic diag = emitError(obligation.getLoc(), DiagCode::K0308, "could not decide: ")
                                  << obligation.getText();
        diag.attachNote() << "'" << toString(obligation.getPred())
                          << "' does not follow by normal form from what is known here; this is no claim that it fails";
        attachHelp(diag) << "state it with 'requires', with 'check " << toString(obligation.getPred())
                         << ";', or with 'assume'";
      });
    });
    if (bad)
      signalPassFailure();
  }
};

} // namespace
} // namespace kina
