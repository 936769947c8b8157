//===- Questions.h - Random questions, by what it takes to decide them ----===//

#ifndef KINA_UNITTESTS_SOLVER_QUESTIONS_H
#define KINA_UNITTESTS_SOLVER_QUESTIONS_H

#include "Formula.h"
#include <random>

namespace kina::soak {

class Questions {
public:
  explicit Questions(unsigned seed) : random(seed) {}

  /// Sums, quotients by numbers, remainders, minima, maxima.
  Question linear();
  /// With products of names and quotients by names.
  Question product();
  /// Those of both that small values leave open most often.
  Question far();
  Question nonlinear();
  /// The same with one fact less, one more, or other least values.
  Question vary(const Question &question);

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

private:
  /// One of these, as often as their weights say.
  Question oneOf(std::initializer_list<std::pair<unsigned, void (Questions::*)()>> families);
  bool chance(int64_t oneOf) { return pick(1, oneOf) == 1; }
  void begin(const char *family, unsigned names, bool anyLeast);
  ExprPtr someName() { return name(pick(0, question.names - 1)); }
  ExprPtr linearExpr(unsigned depth);
  FormulaPtr someRelation(ExprPtr a, ExprPtr b);
  FormulaPtr formula(unsigned depth);

  void shapes();
  void integers();
  void reshape();
  void planted();
  void remainders();
  void diophantine();
  void rounding();
  void extrema();
  void windows();
  void finite();
  void factors();
  void squares();
  void quotients();

  std::mt19937 random;
  Question question;
};

} // namespace kina::soak

#endif
