//===- Questions.cpp - Random questions, by what it takes to decide them --===//

#include "Questions.h"
#include <numeric>

namespace kina::soak {

using F = Formula::Kind;

void Questions::begin(const char *family, unsigned names, bool anyLeast) {
  question = Question();
  question.family = family;
  question.names = names;
  for (unsigned index = 0; index < names; ++index) {
    static constexpr int64_t others[] = {0, 2, 5, INT64_MIN};
    question.least[index] = anyLeast && chance(4) ? others[pick(0, 3)] : 1;
  }
}

//===----------------------------------------------------------------------===//
// Anything
//===----------------------------------------------------------------------===//

ExprPtr Questions::linearExpr(unsigned depth) {
  ExprPtr sum = number(pick(-6, 6));
  for (unsigned count = pick(1, 2); count > 0; --count)
    sum = sum + pick(-3, 4) * someName();
  if (depth == 0)
    return sum;
  switch (pick(0, 8)) {
  case 0:
    return sum + floordiv(linearExpr(depth - 1), number(pick(2, 6)));
  case 1:
    return sum - ceildiv(linearExpr(depth - 1), number(pick(2, 6)));
  case 2:
    return sum + mod(linearExpr(depth - 1), number(pick(2, 6)));
  case 3:
    return smaller(sum, linearExpr(depth - 1));
  case 4:
    return larger(sum, linearExpr(depth - 1));
  default:
    return sum;
  }
}

FormulaPtr Questions::someRelation(ExprPtr a, ExprPtr b) {
  static constexpr F kinds[] = {F::EQ, F::LE, F::LE, F::LT, F::NE, F::GE, F::GT};
  return relation(kinds[pick(0, 6)], a, b);
}

FormulaPtr Questions::formula(unsigned depth) {
  if (depth > 0 && chance(5))
    switch (pick(0, 2)) {
    case 0:
      return join(F::And, {formula(depth - 1), formula(depth - 1)});
    case 1:
      return join(F::Or, {formula(depth - 1), formula(depth - 1)});
    default:
      return join(F::Not, {formula(depth - 1)});
    }
  return someRelation(linearExpr(1), linearExpr(1));
}

/// Anything linear; half of the goals follow in some way from the facts.
void Questions::shapes() {
  begin("any linear", pick(1, 3), true);
  for (unsigned count = pick(0, 3); count > 0; --count)
    question.facts.push_back(formula(1));
  question.goal = formula(1);
  if (!question.facts.empty() && chance(2) && question.facts[0]->a)
    question.goal = question.facts[0]->a <= question.facts[0]->b + linearExpr(0);
}

/// Integers that may be, or are, negative, and what is left of them.
void Questions::integers() {
  begin("integers", pick(1, 2), false);
  for (unsigned index = 0; index < question.names; ++index)
    question.least[index] = INT64_MIN;
  for (unsigned count = pick(0, 2); count > 0; --count)
    question.facts.push_back(chance(4) ? formula(0) : someName() <= number(-pick(1, 9)));
  ExprPtr divisor = number(pick(2, 6)), sum = linearExpr(0);
  ExprPtr part = chance(2) ? floordiv(sum, divisor) : chance(2) ? ceildiv(sum, divisor) : mod(sum, divisor);
  question.goal = someRelation(pick(1, 3) * part, chance(2) ? linearExpr(0) : number(pick(-4, 4)));
}

/// The number of elements before and after a reshape, with factors that facts relate.
void Questions::reshape() {
  begin("reshape", pick(2, 4), false);
  auto factor = [&]() -> ExprPtr {
    switch (pick(0, 4)) {
    case 0:
      return number(pick(1, 6));
    case 1:
      return someName() + pick(0, 2);
    case 2:
      return floordiv(pick(1, 4) * someName(), number(pick(2, 4)));
    default:
      return someName();
    }
  };
  // What a fact says a name is.
  std::optional<std::pair<int64_t, ExprPtr>> equal;
  for (unsigned count = pick(0, 2); count > 0; --count)
    switch (pick(0, 3)) {
    case 0:
      equal = {0, name(pick(1, question.names - 1)) * factor()};
      question.facts.push_back(name(0) == equal->second);
      break;
    case 1:
      question.facts.push_back(mod(someName(), number(pick(2, 4))) == number(0));
      break;
    case 2:
      question.facts.push_back(mod(name(0), name(1)) == number(0));
      break;
    default:
      question.facts.push_back(someName() <= someName());
    }
  ExprPtr a = factor(), b = factor(), c = factor();
  ExprPtr before = a * (b * c);
  ExprPtr after = chance(2) ? (c * a) * (chance(3) ? factor() : b) : factor() * factor();
  if (equal && chance(2))
    after = rewrite(before, [&](const ExprPtr &expr) {
      return expr->kind == Expr::Kind::Name && expr->number == equal->first ? equal->second : nullptr;
    });
  question.goal = relation(chance(4) ? F::LE : F::EQ, before, after);
}

//===----------------------------------------------------------------------===//
// What small values leave open
//===----------------------------------------------------------------------===//

/// Facts that are true of values far from 0, and a goal that is true or false of them.
void Questions::planted() {
  begin("planted", pick(1, 3), true);
  Values values{};
  for (unsigned index = 0; index < question.names; ++index)
    values[index] = chance(4) && question.least[index] == INT64_MIN ? -pick(1, 3000) : pick(5, 3000);
  auto statement = [&](bool isTrue) -> FormulaPtr {
    ExprPtr sum = pick(1, 7) * someName();
    if (chance(2))
      sum = sum + (chance(3) ? -1 : 1) * pick(1, 7) * someName();
    if (chance(3))
      sum = floordiv(sum + pick(-9, 9), number(pick(2, 30)));
    int64_t value = evaluate(*sum, values).value();
    int64_t modulus = pick(2, 40), rest = evaluate(*mod(sum, number(modulus)), values).value();
    int64_t off = isTrue ? 0 : pick(1, modulus - 1);
    switch (pick(0, 4)) {
    case 0:
      return mod(sum, number(modulus)) == number((rest + off) % modulus);
    case 1:
      return sum == number(value + (isTrue ? 0 : pick(1, 5)));
    case 2:
      return sum <= number(isTrue ? value + pick(0, 9) : value - pick(1, 9));
    case 3:
      return sum >= number(isTrue ? value - pick(0, 9) : value + pick(1, 9));
    default:
      return isTrue ? sum != number(value + pick(1, 5)) : sum != number(value);
    }
  };
  for (unsigned count = pick(1, 3); count > 0; --count)
    question.facts.push_back(statement(true));
  question.goal = statement(chance(2));
  question.witnesses.push_back(values);
}

/// Remainders by several numbers, which give one by their product, or nearly do.
void Questions::remainders() {
  begin("remainders", 1, false);
  static constexpr int64_t moduli[][3] = {{3, 5, 7}, {4, 9, 5}, {7, 11, 13}, {8, 15, 7}, {17, 19, 1}, {9, 16, 5}};
  auto &chosen = moduli[pick(0, 5)];
  int64_t value = pick(1, 4000), whole = 1;
  ExprPtr x = name(0);
  for (int64_t modulus : chosen) {
    whole *= modulus;
    // A factor that has an inverse; without one less is known.
    int64_t factor = chance(3) ? pick(1, modulus) : 1, shift = chance(3) ? pick(-4, 9) : 0;
    ExprPtr sum = factor * x + shift;
    if (modulus > 1)
      question.facts.push_back(mod(sum, number(modulus)) ==
                               number(evaluate(*mod(sum, number(modulus)), {value}).value()));
  }
  int64_t rest = value % whole;
  switch (pick(0, 3)) {
  case 0:
    question.goal = mod(x, number(whole)) == number(chance(2) ? rest : (rest + pick(1, whole - 1)) % whole);
    break;
  case 1:
    question.goal = x >= number(rest + (chance(2) ? pick(0, 3) : 0));
    break;
  case 2:
    question.goal = mod(x, number(whole)) != number(chance(2) ? rest : pick(0, whole - 1));
    break;
  default:
    question.goal = x != number(value + (chance(2) ? pick(1, 9) : 0));
  }
  question.witnesses.push_back({value});
}

/// An equation between multiples, which says what the remainders are.
void Questions::diophantine() {
  int64_t p = pick(2, 13), q = pick(2, 13);
  while (std::gcd(p, q) != 1 || p == q)
    q = pick(2, 13);
  int64_t a = pick(1, 400), b = pick(1, 400);
  if (chance(2)) {
    begin("equation", 2, false);
    ExprPtr x = name(0), y = name(1);
    bool sum = chance(2);
    question.facts.push_back(sum ? p * x + q * y == number(p * a + q * b) : p * x == q * y + (p * a - q * b));
    switch (pick(0, 3)) {
    case 0:
      question.goal = mod(x, number(q)) == number((a + (chance(2) ? 0 : pick(1, q - 1))) % q);
      break;
    case 1:
      question.goal = mod(y, number(p)) != number(pick(0, p - 1));
      break;
    case 2:
      question.facts.push_back(y >= number(std::max<int64_t>(1, b - pick(0, 50))));
      question.goal = x + y <= number(a + b + pick(-60, 200));
      break;
    default:
      question.goal = mod(x + y, number(p)) == number((a + b) % p);
    }
    question.witnesses.push_back({a, b});
    return;
  }
  // Both sides have a remainder by what their factors share.
  begin("equation", 3, false);
  int64_t shared = pick(2, 6), c = pick(1, 400);
  int64_t left = shared * pick(1, 4), right = shared * pick(1, 4);
  int64_t off = shared * pick(-20, 20);
  ExprPtr x = name(0), y = name(1), z = name(2);
  question.facts.push_back(left * x + right * y == shared * z + off);
  if (chance(2))
    question.facts.push_back(mod(z, number(left / shared + 1)) == number(c % (left / shared + 1)));
  ExprPtr far = left * x - right * y;
  question.goal = chance(2) ? mod(far, number(shared)) == number(chance(2) ? 0 : pick(0, shared - 1))
                            : 2 * (left * x + right * y) != shared * (2 * z + pick(1, 40)) + 2 * off;
}

/// Quotients of quotients, and what rounding loses.
void Questions::rounding() {
  begin("rounding", pick(1, 2), false);
  int64_t p = pick(2, 9), q = pick(2, 9), shift = pick(-3, 12);
  ExprPtr n = name(0), top = chance(2) ? n + shift : pick(2, 5) * n + shift;
  if (question.names == 2 && chance(2))
    top = top + pick(1, 3) * name(1);
  bool off = chance(3);
  ExprPtr rest = number(off ? pick(-2, 2) : 0);
  switch (pick(0, 7)) {
  case 0:
    question.goal = floordiv(floordiv(top, number(p)), number(q)) == floordiv(top, number(p * q)) + rest;
    break;
  case 1:
    question.goal = ceildiv(ceildiv(top, number(p)), number(q)) == ceildiv(top, number(p * q)) + rest;
    break;
  case 2:
    question.goal = floordiv(ceildiv(top, number(p)), number(q)) <= ceildiv(floordiv(top, number(q)), number(p)) + rest;
    break;
  case 3:
    question.goal = p * ceildiv(top, number(p)) <= top + (p - 1 + (off ? pick(-2, 2) : 0));
    break;
  case 4:
    question.goal = floordiv(top, number(p)) + floordiv(top + p * q, number(p * q)) <=
                    2 * floordiv(top, number(p)) + pick(off ? -3 : 1, 2);
    break;
  case 5:
    question.facts.push_back(mod(top, number(p)) == number(pick(0, p - 1)));
    question.goal = floordiv(top, number(p)) == ceildiv(top - (p - 1) + pick(off ? -2 : 0, off ? 2 : 0), number(p));
    break;
  case 6:
    question.goal = mod(mod(top, number(p * q)), number(p)) == mod(top, number(off ? q : p));
    break;
  default:
    question.goal = 2 * floordiv(top, number(2 * p)) <= floordiv(top, number(p)) + (off ? -1 : 0);
  }
}

/// Orders of minima, maxima and alternatives.
void Questions::extrema() {
  begin("extrema", 3, true);
  ExprPtr a = name(0), b = name(1), c = name(2);
  int64_t off = chance(3) ? pick(-2, 1) : 0;
  ExprPtr u = chance(2) ? a : pick(1, 3) * a + pick(0, 4), v = chance(2) ? b : b + pick(0, 9);
  switch (pick(0, 6)) {
  case 0:
    question.facts = {smaller(u, v) <= c, u != v, c < u};
    question.goal = v <= c + off;
    break;
  case 1:
    question.goal = smaller(u, v) + larger(u, v) == u + v + off;
    break;
  case 2:
    question.goal = smaller(larger(u, v), c) <= larger(smaller(u, c), smaller(v, c)) + off;
    break;
  case 3:
    question.facts = {join(F::Or, {u <= c, v <= c}), join(F::Or, {u > c, v <= c + off})};
    question.goal = off ? v <= c : join(F::Or, {v <= c, u <= c - 1});
    break;
  case 4:
    question.facts = {c == larger(u, v), smaller(u, v) >= number(10)};
    question.goal = 2 * c >= u + v + off + (chance(2) ? 0 : 1);
    break;
  case 5:
    question.facts = {larger(u, c) < v};
    question.goal = smaller(v, u + 1) == u + (1 + off);
    break;
  default:
    question.facts = {u != v, join(F::Not, {join(F::And, {u < v, v > c})})};
    question.goal = join(F::Or, {v < u, v <= c + off});
  }
}

/// How many windows fit, and that the last one ends inside.
void Questions::windows() {
  begin("windows", 3, false);
  ExprPtr n = name(0), o = name(1), i = name(2);
  int64_t width = pick(1, 9), step = pick(2, 6), pad = pick(0, 4);
  int64_t off = chance(3) ? pick(-3, 3) : 0;
  question.facts = {n + 2 * pad >= number(width), o == floordiv(n + (2 * pad - width), number(step)) + 1};
  switch (pick(0, 4)) {
  case 0:
    question.goal = step * (o - 1) + width <= n + (2 * pad + off);
    break;
  case 1:
    question.goal = step * o + width > n + (2 * pad + off);
    break;
  case 2:
    question.facts.push_back(i <= o);
    question.goal = step * (i - 1) + width <= n + (2 * pad + off);
    break;
  case 3:
    question.facts.push_back(mod(n + (2 * pad - width), number(step)) == number(0));
    question.goal = step * (o - 1) + width == n + (2 * pad + off);
    break;
  default:
    question.facts.push_back(i > o);
    question.goal = step * i + width > n + (2 * pad + step + off);
  }
}

/// Names with both bounds, of which all values can be tried.
void Questions::finite() {
  begin("finite", pick(1, 2), false);
  ExprPtr x = name(0), y = name(question.names - 1);
  static constexpr int64_t primes[] = {3, 5, 7, 11, 13};
  int64_t p = primes[pick(0, 4)];
  question.facts = {x <= number(pick(2, 40)), y <= number(pick(2, 20))};
  if (chance(3))
    question.facts.push_back(x >= number(pick(0, 9)));
  switch (pick(0, 3)) {
  case 0: // No square leaves what is left by a number that is none.
    question.goal = mod(x * x, number(p)) != number(pick(0, p - 1));
    break;
  case 1:
    question.goal = mod(x * x + y * y, number(4)) != number(chance(2) ? 3 : 2);
    break;
  case 2:
    question.goal = mod(pick(1, 6) * x * x + pick(1, 6) * y, number(p)) <= mod(x * y + pick(0, 5), number(p)) + pick(0, p);
    break;
  default:
    question.goal = x * x * y <= number(pick(100, 40000));
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Products that are a number, or bounded.
void Questions::factors() {
  static constexpr int64_t primes[] = {11, 13, 17, 19, 23, 29, 31};
  int64_t p = primes[pick(0, 6)], q = primes[pick(0, 6)];
  begin("factors", 2, false);
  ExprPtr x = name(0), y = name(1);
  question.witnesses.push_back({p, q});
  int64_t low = pick(2, 9);
  switch (pick(0, 6)) {
  case 0:
    question.facts = {x * y == number(p * q), x >= number(low), y >= number(low)};
    question.goal = chance(2) ? x <= number(std::max(p, q)) : x <= y;
    break;
  case 1:
    question.facts = {x * y == number(p * q), x > number(1), y > number(1)};
    question.goal = chance(2) ? x + y == number(p + q) : x + y != number(p + q + (chance(2) ? 0 : 2));
    break;
  case 2:
    question.facts = {x * y <= number(p * q), x >= number(p)};
    question.goal = y <= number(q + (chance(2) ? 0 : -1));
    break;
  case 3:
    question.facts = {x * x == number(p * p) + (y - q)};
    question.goal = chance(2) ? y >= number(q + 1 - p * p) : y != number(q + (chance(2) ? 0 : 1));
    break;
  case 4:
    question.facts = {x * y >= number(p * q), x <= number(p)};
    question.goal = y >= number(q + (chance(2) ? 0 : 1));
    break;
  case 5:
    question.facts = {x * y == number(p * q), x >= number(p), y >= number(q + (chance(3) ? -1 : 0))};
    question.goal = x == number(p);
    break;
  default:
    question.facts = {x * (y + 1) == number(p * (q + 1)), x > number(p / 2)};
    question.goal = chance(2) ? y <= number(2 * (q + 1)) : y != number(q);
  }
}

/// What squares and products of bounds are.
void Questions::squares() {
  begin("squares", pick(2, 4), chance(2));
  unsigned last = question.names - 1;
  ExprPtr a = name(0), b = name(1), c = name(std::min(2u, last)), d = name(std::min(3u, last));
  int64_t off = chance(2) ? 0 : pick(-2, 1);
  switch (pick(0, 8)) {
  case 0:
    question.goal = 2 * a * b <= a * a + b * b + off;
    break;
  case 1:
    question.facts = {a * a == b * b, a >= number(0), b >= number(0)};
    question.goal = a == b + off;
    break;
  case 2:
    question.facts = {a * a <= b * b, b >= number(0)};
    question.goal = a <= b + off;
    break;
  case 3:
    question.facts = {a <= c, b <= d, a >= number(0), b >= number(0)};
    question.goal = a * b <= c * d + off;
    break;
  case 4:
    question.facts = {a < b, a >= number(1)};
    question.goal = a * a + a < b * b + (chance(2) ? off : 1);
    break;
  case 5:
    question.facts = {a > b, b > c, c >= number(0)};
    question.goal = (a - b) * (b - c) >= number(1 - off);
    break;
  case 6:
    question.goal = a * a + b * b + c * c >= a * b + b * c + c * a + off;
    break;
  case 7:
    question.facts = {a * b == c * d, a < c, a >= number(1), b >= number(1), c >= number(1), d >= number(1)};
    question.goal = d < b + off;
    break;
  default:
    question.facts = {a * b >= number(pick(1, 40)), a > number(0)};
    question.goal = b > number(off);
  }
}

/// Quotients by sizes.
void Questions::quotients() {
  begin("quotients", 3, false);
  ExprPtr n = name(0), d = name(1), k = name(2);
  int64_t off = chance(2) ? 0 : pick(-2, 1);
  switch (pick(0, 7)) {
  case 0:
    question.goal = floordiv(n, d) * d <= n + off;
    break;
  case 1:
    question.facts = {n >= k * d};
    question.goal = floordiv(n, d) >= k - off;
    break;
  case 2:
    question.facts = {n < k * d};
    question.goal = floordiv(n, d) < k + off;
    break;
  case 3:
    question.facts = {mod(n, d) == number(0), n >= d + 1};
    question.goal = floordiv(n, d) >= number(2 - off);
    break;
  case 4:
    question.facts = {d <= k};
    question.goal = floordiv(n, k) <= floordiv(n, d) + off;
    break;
  case 5:
    question.facts = {k == ceildiv(n, d)};
    question.goal = chance(2) ? k * d >= n - off : (k - 1) * d < n + off;
    break;
  case 6:
    question.goal = floordiv(n * d + k, d) == n + floordiv(k, d) + off;
    break;
  default:
    question.facts = {mod(n, d) == number(0), mod(n, k) == number(0)};
    question.goal = chance(2) ? n >= d + off : mod(n, d * k) == number(0);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

Question Questions::oneOf(std::initializer_list<std::pair<unsigned, void (Questions::*)()>> families) {
  unsigned total = 0;
  for (auto &[weight, family] : families)
    total += weight;
  int64_t chosen = pick(1, total);
  for (auto &[weight, family] : families)
    if ((chosen -= weight) <= 0) {
      (this->*family)();
      break;
    }
  return question;
}

Question Questions::linear() {
  return oneOf({{4, &Questions::shapes},
                {1, &Questions::integers},
                {3, &Questions::planted},
                {1, &Questions::remainders},
                {1, &Questions::diophantine},
                {1, &Questions::rounding},
                {1, &Questions::extrema},
                {1, &Questions::windows}});
}

Question Questions::product() {
  return oneOf({{4, &Questions::reshape},
                {2, &Questions::factors},
                {1, &Questions::squares},
                {1, &Questions::finite},
                {1, &Questions::quotients}});
}

Question Questions::far() {
  return oneOf({{2, &Questions::planted}, {1, &Questions::diophantine}, {1, &Questions::extrema}, {1, &Questions::windows}});
}

Question Questions::nonlinear() { return oneOf({{2, &Questions::factors}, {1, &Questions::squares}}); }

Question Questions::vary(const Question &given) {
  Question other = given;
  switch (pick(0, 2)) {
  case 0:
    if (!other.facts.empty()) {
      other.facts.erase(other.facts.begin() + pick(0, other.facts.size() - 1));
      break;
    }
    [[fallthrough]];
  case 1:
    question = other;
    other.facts.push_back(someRelation(someName(), number(pick(0, 9))));
    break;
  default:
    // A size may be a divisor, so no least value goes below 1 here.
    if (int64_t &least = other.least[pick(0, other.names - 1)]; least >= 1)
      ++least;
  }
  return other;
}

} // namespace kina::soak
