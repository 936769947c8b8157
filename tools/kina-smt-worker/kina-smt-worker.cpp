//===- kina-smt-worker.cpp - Searches that may take long ------------------===//
//
// Reads questions from standard input and writes an answer to each on a line of standard
// output; lib/Solver/Worker.cpp is the other end. A question is a line `number kind
// options.. length` and as many bytes as it says:
//
//   presburger            sparse rows (see below); `empty`, or `sample` and the values
//   z3 steps milliseconds linear|nonlinear
//                         SMT-LIB; `unsat`, `sat` and `symbol=value`.., `unknown limit|incomplete`
//
// Whoever asks kills this process when the time is up. An alarm ends it should nobody do.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#ifdef KINA_HAVE_Z3
#include <z3++.h>
#endif
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir::presburger;

/// `columns rows`, then of each row `=` or `>` (not negative), the number of its entries,
/// `column coefficient` of each, and the constant.
static std::string answerPresburger(const std::string &question) {
  std::istringstream in(question);
  unsigned columns = 0, rows = 0;
  in >> columns >> rows;
  IntegerPolyhedron polyhedron(PresburgerSpace::getSetSpace(in ? columns : 0));
  for (unsigned row = 0; in && row < rows; ++row) {
    char kind = 0;
    unsigned entries = 0;
    in >> kind >> entries;
    llvm::SmallVector<llvm::DynamicAPInt> coefficients(columns + 1);
    for (unsigned entry = 0; in && entry < entries; ++entry) {
      unsigned column = 0;
      int64_t coefficient = 0;
      in >> column >> coefficient;
      if (column < columns)
        coefficients[column] = llvm::DynamicAPInt(coefficient);
    }
    int64_t constant = 0;
    in >> constant;
    coefficients[columns] = llvm::DynamicAPInt(constant);
    if (kind == '=')
      polyhedron.addEquality(coefficients);
    else
      polyhedron.addInequality(coefficients);
  }
  if (!in)
    return "error the question is not readable";
  std::optional<llvm::SmallVector<llvm::DynamicAPInt, 8>> sample = polyhedron.findIntegerSample();
  if (!sample)
    return "empty";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "sample";
  for (const llvm::DynamicAPInt &value : *sample)
    os << ' ' << value;
  return text;
}

#ifdef KINA_HAVE_Z3
static std::string answerZ3(const std::string &question, unsigned steps, unsigned milliseconds, bool isNonlinear) {
  // One context serves linear goals; what nonlinear ones leave behind makes later ones fail.
  static std::unique_ptr<z3::context> context;
  if (!context)
    context = std::make_unique<z3::context>();
  std::string text;
  try {
    z3::context &c = *context;
    // The plain solver: the default one spends milliseconds on choosing tactics, and hangs on
    // nonlinear goals that this gives up on.
    z3::solver solver(c, z3::solver::simple());
    z3::params params(c);
    params.set("arith.solver", 2u);
    params.set("rlimit", steps);
    params.set("timeout", milliseconds);
    solver.set(params);
    z3::expr_vector assertions = c.parse_string(question.c_str());
    for (unsigned index = 0; index < assertions.size(); ++index)
      solver.add(assertions[index]);
    switch (solver.check()) {
    case z3::unsat:
      text = "unsat";
      break;
    case z3::unknown: {
      std::string reason = solver.reason_unknown();
      bool isLimit = reason.find("cancel") != std::string::npos || reason.find("limit") != std::string::npos ||
                     reason.find("timeout") != std::string::npos;
      text = isLimit ? "unknown limit" : "unknown incomplete";
      break;
    }
    case z3::sat: {
      text = "sat";
      z3::model model = solver.get_model();
      for (unsigned index = 0; index < model.num_consts(); ++index) {
        z3::func_decl constant = model.get_const_decl(index);
        int64_t value = 0;
        if (Z3_get_numeral_int64(c, model.get_const_interp(constant), &value))
          text += " " + constant.name().str() + "=" + std::to_string(value);
        else
          text += " " + constant.name().str() + "=large";
      }
      break;
    }
    }
  } catch (const z3::exception &error) {
    std::string message = error.msg();
    for (char &c : message)
      if (c == '\n')
        c = ' ';
    text = "error " + message;
    isNonlinear = true;
  }
  if (isNonlinear)
    context.reset();
  return text;
}
#endif

int main() {
#if !__has_feature(address_sanitizer)
  rlimit memory{};
  if (getrlimit(RLIMIT_AS, &memory) == 0) {
    memory.rlim_cur = std::min<rlim_t>(memory.rlim_max, rlim_t(4) << 30);
    setrlimit(RLIMIT_AS, &memory);
  }
#endif
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream head(line);
    std::string number, kind, form;
    unsigned steps = 0, milliseconds = 2000;
    size_t length = 0;
    head >> number >> kind;
    if (kind == "z3")
      head >> steps >> milliseconds >> form;
    head >> length;
    std::string question(head ? length : 0, '\0');
    if (!head || !std::cin.read(question.data(), static_cast<std::streamsize>(length)))
      return 1;
    alarm(milliseconds / 1000 + 3);
    std::string answer;
    if (kind == "presburger")
      answer = answerPresburger(question);
#ifdef KINA_HAVE_Z3
    else if (kind == "z3")
      answer = answerZ3(question, steps, milliseconds, form != "linear");
#endif
    else
      answer = "error built without " + kind;
    alarm(0);
    std::cout << number << ' ' << answer << '\n' << std::flush;
  }
}
