//===- Z3.cpp - The last stage, and small counterexamples with it ---------===//

#include "Z3.h"
#include "Enumeration.h"

using namespace mlir;

namespace kina::solver {

/// Questions asked, and values tried, to make one counterexample smaller.
static constexpr unsigned kMaxQuestions = 64;
static constexpr unsigned kMaxTried = 4000;

SMTQuestion toQuestion(const Problem &problem, bool goalIs, Facts &storage) {
  storage = problem.facts;
  PredAttr refuted = problem.goal;
  if (goalIs && problem.goal) {
    storage.push_back(problem.goal);
    refuted = {};
  }
  return {storage, refuted, problem.names, problem.least};
}

Outcome Z3::search(const Problem &problem, bool goalIs, Worker::Clock::time_point deadline) {
  Outcome outcome;
  if (goalIs && !problem.goal) {
    outcome.kind = Outcome::Excluded;
    return outcome;
  }
  Facts storage;
  std::string question = encoder.toSMTLIB(toQuestion(problem, goalIs, storage));
  std::string what = "z3 " + std::to_string(stepLimit) + " " + std::to_string(timeLimit) +
                     (problem.isNonlinear() ? " nonlinear" : " linear");
  Worker::Reply reply = worker.ask(what, question, deadline);
  if (Cause cause = reply.getCause(); cause != Cause::None) {
    outcome.cause = cause;
    return outcome;
  }
  if (reply.text == "unsat") {
    outcome.kind = Outcome::Excluded;
    return outcome;
  }
  if (reply.text == "unknown limit")
    outcome.cause = Cause::Limit;
  SmallVector<StringRef> words;
  StringRef(reply.text).split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.empty() || words[0] != "sat")
    return outcome;
  // A name that the model leaves out may have any value.
  SmallVector<int64_t> values;
  for (auto [index, name, least] : llvm::enumerate(problem.names, problem.least)) {
    int64_t value = least == INT64_MIN ? 0 : least;
    std::string symbol = SMTEncoder::getSymbol(name, index) + "=";
    for (StringRef word : llvm::drop_begin(words))
      if (word.consume_front(symbol) && word.getAsInteger(10, value)) {
        outcome.cause = Cause::Overflow;
        return outcome;
      }
    values.push_back(value);
  }
  Program program(problem, {});
  SmallVector<int64_t> inputs;
  for (size_t input = 0; input < program.getNumInputs(); ++input)
    inputs.push_back(values[llvm::find(problem.names, program.getInput(input)) - problem.names.begin()]);
  if (!program.accepts(inputs, goalIs)) {
    // Values beyond 64 bits in between, or a model that is none.
    if (program.overflowed())
      outcome.cause = Cause::Overflow;
    return outcome;
  }
  outcome.kind = Outcome::Found;
  outcome.values = program.getValues();
  return outcome;
}

SmallVector<int64_t, 8> Z3::minimize(const Problem &problem, bool goalIs, ArrayRef<int64_t> values,
                                     Worker::Clock::time_point deadline) {
  SmallVector<int64_t, 8> best(values);
  if (problem.names.empty())
    return best;
  MLIRContext *context = problem.goal ? problem.goal.getContext() : problem.facts[0].getContext();
  auto constant = [&](uint64_t value) { return DimAttr::getConstant(context, static_cast<int64_t>(value)); };
  // The magnitude of a name that may be negative is max(n, -n).
  auto magnitudeOf = [&](size_t index) {
    DimAttr name = DimAttr::getName(context, problem.names[index]);
    return problem.least[index] >= 0 ? name : maxDims({name, negDim(name)});
  };
  auto bestAt = [&](size_t index) { return magnitude(best[index]); };
  unsigned questions = 0;
  Problem bounded = problem;
  // The least value of `measure` for which the facts in `bounded` can be had.
  auto minimizeMeasure = [&](DimAttr measure, uint64_t low, llvm::function_ref<uint64_t()> current) {
    while (low < current() && current() <= static_cast<uint64_t>(INT64_MAX)) {
      if (!measure || ++questions > kMaxQuestions)
        return false;
      uint64_t middle = low + (current() - low) / 2;
      bounded.facts.push_back(makeRelation(PredKind::LE, measure, constant(middle)));
      Outcome outcome = search(bounded, goalIs, deadline);
      bounded.facts.pop_back();
      if (outcome.kind == Outcome::Open)
        return false;
      if (outcome.kind == Outcome::Found)
        best = outcome.values;
      else
        low = middle + 1;
    }
    return true;
  };
  auto total = [&] {
    uint64_t sum = 0;
    for (size_t index = 0; index < best.size(); ++index)
      sum = llvm::SaturatingAdd(sum, bestAt(index));
    return sum;
  };
  DimAttr sum = constant(0);
  uint64_t low = 0;
  for (size_t index = 0; index < best.size(); ++index) {
    sum = addDims(sum, magnitudeOf(index));
    low = llvm::SaturatingAdd(low, problem.least[index] > 0 ? magnitude(problem.least[index]) : 0);
  }
  if (!minimizeMeasure(sum, low, total))
    return best;
  bounded.facts.push_back(makeRelation(PredKind::LE, sum, constant(total())));
  for (size_t index = 0; index + 1 < best.size(); ++index) {
    DimAttr name = magnitudeOf(index);
    if (!minimizeMeasure(name, problem.least[index] > 0 ? problem.least[index] : 0, [&] { return bestAt(index); }))
      return best;
    bounded.facts.push_back(makeRelation(PredKind::EQ, name, constant(bestAt(index))));
  }
  return best;
}

SmallVector<int64_t, 8> descend(const Problem &problem, const NormalForm &form, bool goalIs, ArrayRef<int64_t> values) {
  SmallVector<int64_t, 8> best(values);
  Program program(problem, form.getRules());
  // What the rules brought in cannot be read off the values.
  SmallVector<int64_t> inputs, low;
  for (size_t input = 0; input < program.getNumInputs(); ++input) {
    StringRef name = program.getInput(input);
    auto it = llvm::find(problem.names, name);
    if (it == problem.names.end())
      return best;
    inputs.push_back(best[it - problem.names.begin()]);
    int64_t least = std::max(problem.getLeast(name), form.getLeast(name).value_or(INT64_MIN));
    low.push_back(least > 0 ? least : 0);
  }
  unsigned tried = 0;
  for (bool changed = true; changed && tried < kMaxTried;) {
    changed = false;
    for (size_t input = 0; input < inputs.size(); ++input) {
      // Towards the least value by half the distance, a quarter, ..
      for (uint64_t part = 1; part != 0 && tried < kMaxTried;) {
        int64_t from = inputs[input];
        uint64_t distance = magnitude(from) - std::min(magnitude(from), magnitude(low[input]));
        uint64_t step = distance / part;
        if (step == 0)
          break;
        int64_t delta = static_cast<int64_t>(step);
        inputs[input] = from < 0 ? from + delta : from - delta;
        ++tried;
        if (program.accepts(inputs, goalIs) && isSimpler(program.getValues(), best)) {
          best = program.getValues();
          changed = true;
        } else {
          inputs[input] = from;
          part *= 2;
        }
      }
    }
  }
  return best;
}

} // namespace kina::solver
