//===- Formula.h - Questions of the soak, and what is true of them --------===//
//
// A language of its own with an evaluator of its own: nothing of the compiler's normal form,
// of its splitting of facts and of its evaluation takes part in the judgement. What the
// solver is asked is built from it at the very end.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_UNITTESTS_SOLVER_FORMULA_H
#define KINA_UNITTESTS_SOLVER_FORMULA_H

#include "Kina/Dialect/Kina/IR/Dim.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kina::soak {

constexpr unsigned kMaxNames = 5;
using Values = std::array<int64_t, kMaxNames>;

struct Expr {
  enum class Kind { Number, Name, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max };
  Kind kind;
  /// The number, or which name it is.
  int64_t number = 0;
  std::shared_ptr<const Expr> a, b;
};
using ExprPtr = std::shared_ptr<const Expr>;

struct Formula {
  enum class Kind { EQ, NE, LE, LT, GE, GT, And, Or, Not };
  Kind kind;
  ExprPtr a, b;
  std::vector<std::shared_ptr<const Formula>> parts;
};
using FormulaPtr = std::shared_ptr<const Formula>;

ExprPtr number(int64_t value);
ExprPtr name(unsigned index);
ExprPtr make(Expr::Kind kind, ExprPtr a, ExprPtr b);
FormulaPtr relation(Formula::Kind kind, ExprPtr a, ExprPtr b);
FormulaPtr join(Formula::Kind kind, std::vector<FormulaPtr> parts);

inline ExprPtr operator+(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Add, a, b); }
inline ExprPtr operator-(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Sub, a, b); }
inline ExprPtr operator*(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Mul, a, b); }
inline ExprPtr operator*(int64_t a, ExprPtr b) { return number(a) * b; }
inline ExprPtr operator+(ExprPtr a, int64_t b) { return a + number(b); }
inline ExprPtr operator-(ExprPtr a, int64_t b) { return a - number(b); }
inline ExprPtr floordiv(ExprPtr a, ExprPtr b) { return make(Expr::Kind::FloorDiv, a, b); }
inline ExprPtr ceildiv(ExprPtr a, ExprPtr b) { return make(Expr::Kind::CeilDiv, a, b); }
inline ExprPtr mod(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Mod, a, b); }
inline ExprPtr smaller(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Min, a, b); }
inline ExprPtr larger(ExprPtr a, ExprPtr b) { return make(Expr::Kind::Max, a, b); }
inline FormulaPtr operator==(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::EQ, a, b); }
inline FormulaPtr operator!=(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::NE, a, b); }
inline FormulaPtr operator<=(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::LE, a, b); }
inline FormulaPtr operator<(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::LT, a, b); }
inline FormulaPtr operator>=(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::GE, a, b); }
inline FormulaPtr operator>(ExprPtr a, ExprPtr b) { return relation(Formula::Kind::GT, a, b); }

/// The value; nothing if a divisor is below 1 or a number leaves 62 bits.
std::optional<int64_t> evaluate(const Expr &expr, const Values &values);
std::optional<bool> evaluate(const Formula &formula, const Values &values);

/// The names that occur, one bit each.
unsigned getNames(const Expr &expr);
unsigned getNames(const Formula &formula);

/// `A`, `B`, ..
std::string nameOf(unsigned index);
std::string toString(const Expr &expr);
std::string toString(const Formula &formula);

/// For the solver; null if a coefficient leaves 64 bits.
DimAttr toDim(mlir::MLIRContext *context, const Expr &expr);
PredAttr toPred(mlir::MLIRContext *context, const Formula &formula);

/// Replaces what `change` does not return null for, from the leaves up.
using Change = llvm::function_ref<ExprPtr(const ExprPtr &)>;
ExprPtr rewrite(const ExprPtr &expr, Change change);
FormulaPtr rewrite(const FormulaPtr &formula, Change change);

struct Question {
  /// What kind it is, for the table.
  const char *family = "";
  unsigned names = 0;
  /// Of each name; INT64_MIN for one that may be anything.
  Values least{};
  std::vector<FormulaPtr> facts;
  FormulaPtr goal;
  /// Values for which the facts were made true, maybe far from 0.
  std::vector<Values> witnesses;

  /// The truth of the goal; nothing if the values do not count, a fact or a least value failing.
  std::optional<bool> goalUnder(const Values &values) const;
};

} // namespace kina::soak

#endif
