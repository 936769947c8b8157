//===- KinaToSMT.h - Predicates over sizes as SMT-LIB ----------*- C++ -*-===//
//
// The one encoding of predicates for an SMT solver, through the upstream `smt` dialect and
// its exporter: what `--dump-smt` writes is what the solver reads.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_CONVERSION_KINATOSMT_H
#define KINA_CONVERSION_KINATOSMT_H

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kina {

/// What is to be refuted: all facts hold and the goal does not.
struct SMTQuestion {
  llvm::ArrayRef<PredAttr> facts;
  /// Null stands for what is never true.
  PredAttr goal;
  /// All names that occur, and the least value of each; INT64_MIN for none.
  llvm::ArrayRef<llvm::StringRef> names;
  llvm::ArrayRef<int64_t> least;
};

/// Makes questions into `smt.solver` operations in a context of its own, which the dialect
/// of the attributes need not know.
class SMTEncoder {
public:
  SMTEncoder();

  /// A module with one `smt.solver`. A divisor that occurs is at least 1.
  mlir::OwningOpRef<mlir::ModuleOp> encode(const SMTQuestion &question);
  /// The same as SMT-LIB, with `(check-sat)` at its end. The constant of the name with index
  /// i is called `getSymbol(name, i)`.
  std::string toSMTLIB(const SMTQuestion &question);
  static std::string getSymbol(llvm::StringRef name, size_t index);

private:
  mlir::MLIRContext context;
};

} // namespace kina

#endif
