//===- Enumeration.h - Small values, in the order of their sum ------------===//

#ifndef KINA_LIB_SOLVER_ENUMERATION_H
#define KINA_LIB_SOLVER_ENUMERATION_H

#include "NormalForm.h"

namespace kina::solver {

/// The facts and the goal as straight-line code over the values of names: what decides
/// whether an assignment counts, and the only thing that does.
class Program {
public:
  /// Code that computes names by the rules of `form` where there are any; the names that are
  /// left, and those that the rules brought in, are the inputs.
  Program(const Problem &problem, llvm::ArrayRef<NormalForm::Rule> rules);

  size_t getNumInputs() const { return inputs.size(); }
  llvm::StringRef getInput(size_t index) const { return inputs[index]; }

  /// Gives an input its value, those before having theirs, and computes what depends on
  /// nothing after it. False if that excludes the assignment: a fact fails, the goal has
  /// not the wanted truth, a name is below its least value, a divisor below 1 or a value
  /// beyond 64 bits.
  bool assign(size_t input, int64_t value, bool goalIs);
  /// What depends on no input at all.
  bool start(bool goalIs);
  /// Whether all facts hold and the goal is `goalIs` under values of all inputs.
  bool accepts(llvm::ArrayRef<int64_t> values, bool goalIs);
  /// After all inputs were assigned, the value of a name of the problem.
  int64_t getValue(size_t name) const { return registers[nameRegister[name]]; }
  llvm::SmallVector<int64_t, 8> getValues() const;
  /// Whether some value left 64 bits, so that assignments were excluded for no reason of theirs.
  bool overflowed() const { return overflow; }

private:
  enum class Code : uint8_t { Input, Constant, Add, Mul, FloorDiv, Min, Max, EQ, NE, LE, LT, And, Or, Not };
  struct Instruction {
    Code code;
    unsigned a = 0, b = 0;
  };
  struct Check {
    unsigned reg;
    /// Least value; a truth value has 1.
    int64_t least;
  };

  unsigned emit(Code code, unsigned a, unsigned b, unsigned level);
  unsigned emitConstant(int64_t value);
  unsigned compile(DimAttr dim);
  unsigned compile(DimAtomAttr atom);
  unsigned compile(PredAttr pred);
  bool run(unsigned level, bool goalIs);

  llvm::ArrayRef<NormalForm::Rule> rules;
  llvm::SmallDenseMap<llvm::StringRef, unsigned, 8> ruleOf;
  llvm::SmallVector<llvm::StringRef, 8> inputs;
  llvm::SmallVector<Instruction> code;
  llvm::SmallVector<int64_t> registers;
  /// Number of inputs that must have a value: 0 depends on none.
  llvm::SmallVector<unsigned> levelOf;
  llvm::DenseMap<mlir::Attribute, unsigned> known;
  llvm::DenseMap<llvm::StringRef, unsigned> named;
  /// By level.
  llvm::SmallVector<llvm::SmallVector<unsigned>> order;
  llvm::SmallVector<llvm::SmallVector<Check>> checks;
  std::optional<unsigned> goalRegister;
  bool overflow = false;
  llvm::SmallVector<unsigned> nameRegister;
};

/// What a search through small values found.
struct Search {
  /// Of the problem's names; the simplest.
  std::optional<llvm::SmallVector<int64_t, 8>> found;
  /// Nothing was found and there is nothing else.
  bool exhaustive = false;
  /// There is nothing simpler anywhere.
  bool isSimplest = false;
};

/// The simplest values within 8 of the least ones under which the facts hold and the goal is
/// `goalIs` (a null goal is always false). Beyond them, values near the numbers that occur
/// are tried.
Search enumerate(const Problem &problem, const NormalForm &form, bool goalIs);

/// The simplest of all values under which the facts hold and the goal is `goalIs`, given some
/// of them; nothing if too many have to be tried.
std::optional<llvm::SmallVector<int64_t, 8>> findSimplest(const Problem &problem, const NormalForm &form, bool goalIs,
                                                          llvm::ArrayRef<int64_t> values);

} // namespace kina::solver

#endif
