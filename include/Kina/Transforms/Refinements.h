//===- Refinements.h - Obligations and what is said of them ----*- C++ -*-===//
//
// An obligation is a predicate over sizes that has to hold at a place of the program. The
// elaborator makes them, `--kina-verify-refinements` settles them, and both tell of one that
// fails in the same words.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_TRANSFORMS_REFINEMENTS_H
#define KINA_TRANSFORMS_REFINEMENTS_H

#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/Solver/Solver.h"
#include "Kina/Support/Diagnostics.h"

namespace kina {

struct Obligation {
  mlir::Location loc;
  PredAttr pred;
  ObligationKind kind;
  /// What is wrong where it fails, with the source spellings.
  std::string text;
  /// Added to every message about it.
  llvm::ArrayRef<NoteAttr> notes;
};

/// What is known where an obligation stands, who decides, and how the user writes sizes there.
struct Surroundings {
  solver::Solver &solver;
  llvm::ArrayRef<PredAttr> facts;
  ValueLookup least;
  const Spellings &spellings;
};

/// What an error is that an obligation of this kind may fail.
DiagCode getCode(ObligationKind kind);

/// The name of a size in the source: a size that is bound more than once has a number behind
/// it, what is known only at run time has no name ("").
llvm::StringRef getSourceName(llvm::StringRef name);
/// The predicate over names of the source only.
bool hasSourceNames(PredAttr pred);

/// The positions of the facts that speak of one of these names, or of one that such a fact
/// ties to them.
llvm::SmallVector<unsigned> findRelated(llvm::ArrayRef<llvm::StringRef> names, llvm::ArrayRef<PredAttr> facts);
llvm::SmallVector<unsigned> findRelated(PredAttr goal, llvm::ArrayRef<PredAttr> facts);

/// The error that the obligation is not proved: `answer` is no Proved. Of what is known, those
/// facts are told without which the answer would be another one.
mlir::InFlightDiagnostic reportUnproved(const Obligation &obligation, const solver::Answer &answer,
                                        const Surroundings &surroundings);

/// Adds the clause that would make it hold. `function` is the name of the function whose
/// shape variables `isShapeVar` knows.
void suggestClause(mlir::InFlightDiagnostic &diag, PredAttr clause, llvm::StringRef function,
                   llvm::function_ref<bool(llvm::StringRef)> isShapeVar, const Spellings &spellings);

/// `in this call B = 2*N, H = 8`, or "" where every variable is itself.
std::string spellInstantiation(mlir::DictionaryAttr subst, const Spellings &spellings);

} // namespace kina

#endif
