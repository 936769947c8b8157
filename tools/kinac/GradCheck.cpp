//===- GradCheck.cpp - kinac grad-check -----------------------------------===//
//
// Compares the pullback of a function, applied to a random cotangent, with central
// differences along random directions: for L(x) = <ct, f(x)> the number <grad L, d>
// against (L(x + h d) - L(x - h d))/2h.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Support/Diagnostics.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;

namespace kina {

/// The gradient wrapper calls the pullback of `function`: its parameters are those of the
/// function, then one cotangent per float result; its results the cotangents of `wrt`.
static FuncOp buildPullback(FuncOp function, ArrayRef<int64_t> wrt) {
  MLIRContext *context = function.getContext();
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  SmallVector<Type> inputs(function.getArgumentTypes()), results;
  llvm::append_range(inputs, llvm::make_filter_range(function.getResultTypes(), hasTangent));
  for (int64_t index : wrt)
    results.push_back(function.getArgumentTypes()[index]);

  OpBuilder builder(context);
  builder.setInsertionPointAfter(function);
  std::string name = function.getSymName().str() + ".pullback";
  FuncOp pullback = FuncOp::create(builder, function.getLoc(), name, FunctionType::get(context, inputs, results));
  if (ArrayAttr vars = function.getShapeVarsAttr())
    pullback.setShapeVarsAttr(vars);
  if (ArrayAttr clauses = function.getPreconditionsAttr())
    pullback.setPreconditionsAttr(clauses);
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    FunctionOpInterface(pullback).setArgAttrs(index, FunctionOpInterface(function).getArgAttrs(index));
  symbols.insert(pullback);
  pullback.setVisibility(SymbolTable::Visibility::Public);

  Block *body = builder.createBlock(&pullback.getBody(), {}, inputs,
                                    SmallVector<Location>(inputs.size(), function.getLoc()));
  SmallVector<NamedAttribute> subst;
  for (StringRef variable : function.getShapeVarNames())
    subst.push_back(builder.getNamedAttr(variable, DimAttr::getName(context, variable)));
  ValueRange arguments = body->getArguments();
  auto vjp = VJPOp::create(builder, function.getLoc(), results, FlatSymbolRefAttr::get(function.getSymNameAttr()),
                           arguments.take_front(function.getNumArguments()),
                           arguments.drop_front(function.getNumArguments()), builder.getDictionaryAttr(subst),
                           builder.getDenseI64ArrayAttr(wrt), UnitAttr());
  ReturnOp::create(builder, function.getLoc(), vjp.getResults());
  return pullback;
}

namespace {
/// What suits the least precise element type in play.
struct Precision {
  double step, tolerance, roundoff;
};

class GradCheck {
public:
  GradCheck(Session &session, const JIT &jit, std::string pullback, SmallVector<Tensor> arguments,
            SmallVector<int64_t> wrt, std::vector<std::string> names)
      : session(session), jit(jit), pullback(std::move(pullback)), arguments(std::move(arguments)),
        wrt(std::move(wrt)), names(std::move(names)), random(session.getLine().seed + 1) {}

  int run() {
    if (!prepare())
      return 1;
    size_t width = 9;
    for (int64_t index : wrt)
      width = std::max(width, names[index].size());
    llvm::outs() << llvm::left_justify("parameter", width)
                 << llvm::formatv("  {0,-14}  {1,14}  {2,14}  {3,9}\n", "shape", "derivative", "difference", "rel.error");
    Verdict overall = Verdict::Agrees;
    auto check = [&](const std::string &label, const std::string &shape, ArrayRef<int64_t> along, unsigned directions) {
      Sample worst;
      // One direction that tells is enough: another may have met a flat place.
      bool decided = directions == 0;
      for (unsigned i = 0; i < directions; ++i) {
        std::optional<Sample> sample = compare(along);
        if (!sample)
          return false;
        if (i == 0 || !(sample->error <= worst.error))
          worst = *sample;
        decided |= sample->decided;
      }
      Verdict verdict = !(worst.error <= precision.tolerance) ? Verdict::Differs
                        : decided                             ? Verdict::Agrees
                                                              : Verdict::Undecided;
      overall = std::max(overall, verdict);
      if (!(worst.error <= largest))
        largest = worst.error;
      llvm::outs() << llvm::left_justify(label, width) << llvm::formatv("  {0,-14}  ", shape)
                   << llvm::format("%14.7g  %14.7g  %9.1e  %s\n", worst.derivative, worst.difference, worst.error,
                                   verdict == Verdict::Agrees    ? "ok"
                                   : verdict == Verdict::Differs ? "DIFFERS"
                                                                 : "undecided");
      return true;
    };
    for (int64_t index : wrt)
      if (!check(names[index], toString(arguments[index].getShape()), {index}, 3))
        return 1;
    if (wrt.size() > 1 && !check("all", "", wrt, 5))
      return 1;
    const std::string &name = session.getLine().function;
    StringRef text = overall == Verdict::Agrees    ? "derivatives agree with differences"
                     : overall == Verdict::Differs ? "DERIVATIVES DIFFER from differences"
                                                   : "undecided: rounding hides the difference";
    llvm::outs() << name << ": " << text;
    llvm::outs() << llvm::format(" (largest relative error %.1e, tolerance %.1e)\n", largest, precision.tolerance);
    return overall == Verdict::Agrees ? 0 : 1;
  }

private:
  /// From good to bad.
  enum class Verdict { Agrees, Undecided, Differs };

  struct Sample {
    double derivative = 0, difference = 0, error = 0;
    /// Whether a wrong derivative would have been seen.
    bool decided = false;
  };

  std::optional<SmallVector<Tensor>> call(StringRef function, ArrayRef<Tensor> values) {
    llvm::Expected<SmallVector<Tensor>> results = jit.call(function, values);
    if (results)
      return std::move(*results);
    session.report(results.takeError());
    return std::nullopt;
  }

  Tensor clone(const Tensor &tensor) {
    Tensor copy = llvm::cantFail(Tensor::create(tensor.getDType(), tensor.getShape()));
    if (size_t bytes = tensor.getNumBytes())
      std::memcpy(copy.getData(), tensor.getData(), bytes);
    return copy;
  }

  double normal() { return distribution(random); }

  /// Makes the cotangents and the gradient.
  bool prepare() {
    std::optional<SmallVector<Tensor>> values = call(session.getLine().function, arguments);
    if (!values)
      return false;
    DType least = DType::F64;
    auto take = [&](const Tensor &tensor) { least = std::max(least, tensor.getDType()); };
    for (int64_t index : wrt)
      take(arguments[index]);
    unsigned floats = llvm::count_if(*values, [](const Tensor &tensor) { return tensor.isFloat(); });
    for (const Tensor &value : *values) {
      if (!value.isFloat())
        continue;
      take(value);
      Tensor cotangent = llvm::cantFail(Tensor::create(value.getDType(), value.getShape()));
      // A single loss is differentiated as it is.
      bool single = floats == 1 && value.getRank() == 0;
      for (int64_t i = 0; i < value.getNumElements(); ++i)
        cotangent.setDouble(i, single ? 1.0 : normal());
      cotangents.push_back(std::move(cotangent));
    }
    static const Precision precisions[] = {
        {1e-4, 1e-6, 0x1p-53}, {1e-2, 1e-2, 0x1p-24}, {1e-1, 1e-1, 0x1p-11}, {1e-1, 1e-1, 0x1p-8}};
    precision = precisions[static_cast<unsigned>(least)];
    precision.step = session.getLine().epsilon.value_or(precision.step);
    precision.tolerance = session.getLine().tolerance.value_or(precision.tolerance);
    extrapolate = least == DType::F64;

    SmallVector<Tensor> all(arguments);
    llvm::append_range(all, cotangents);
    std::optional<SmallVector<Tensor>> pulled = call(pullback, all);
    if (!pulled)
      return false;
    gradients = std::move(*pulled);
    return true;
  }

  /// <ct, f(x)>, and the sum of the magnitudes of its terms.
  std::optional<std::pair<double, double>> loss(ArrayRef<Tensor> values) {
    std::optional<SmallVector<Tensor>> results = call(session.getLine().function, values);
    if (!results)
      return std::nullopt;
    double sum = 0, size = 0;
    const Tensor *cotangent = cotangents.begin();
    for (const Tensor &result : *results) {
      if (!result.isFloat())
        continue;
      for (int64_t i = 0; i < result.getNumElements(); ++i) {
        double term = result.getDouble(i) * cotangent->getDouble(i);
        sum += term;
        size += std::abs(term);
      }
      ++cotangent;
    }
    return std::pair(sum, size);
  }

  /// One random direction in the parameters `along`.
  std::optional<Sample> compare(ArrayRef<int64_t> along) {
    int64_t count = 0;
    for (int64_t index : along)
      count += arguments[index].getNumElements();
    // Between one fixed step for each element, too long in many dimensions, and one for
    // the whole vector, lost in rounding.
    double scale = 1 / std::pow(std::max<double>(count, 1), 0.25);
    SmallVector<SmallVector<double>> directions;
    for (int64_t index : along) {
      auto &direction = directions.emplace_back();
      for (int64_t i = 0; i < arguments[index].getNumElements(); ++i)
        direction.push_back(scale * normal());
    }

    double magnitude = 0, size = 0;
    bool moved = count == 0, changed = false;
    // The difference along the step as it was rounded, and the derivative along that.
    auto atStep = [&](double step) -> std::optional<std::pair<double, double>> {
      SmallVector<Tensor> up(arguments), down(arguments);
      double derivative = 0;
      for (auto [index, direction] : llvm::zip(along, directions)) {
        Tensor higher = clone(arguments[index]), lower = clone(arguments[index]);
        const Tensor &gradient = gradients[llvm::find(wrt, index) - wrt.begin()];
        for (auto [i, slope] : llvm::enumerate(direction)) {
          double x = arguments[index].getDouble(i);
          higher.setDouble(i, x + step * slope);
          lower.setDouble(i, x - step * slope);
          double term = gradient.getDouble(i) * (higher.getDouble(i) - lower.getDouble(i)) / (2 * step);
          moved |= higher.getDouble(i) != lower.getDouble(i);
          derivative += term;
          magnitude += term * term;
        }
        up[index] = higher;
        down[index] = lower;
      }
      auto plus = loss(up), minus = loss(down);
      if (!plus || !minus)
        return std::nullopt;
      changed |= plus->first != minus->first;
      size = std::max({size, plus->second, minus->second});
      return std::pair(derivative, (plus->first - minus->first) / (2 * step));
    };
    auto coarse = atStep(precision.step);
    if (!coarse)
      return std::nullopt;
    auto [derivative, difference] = *coarse;
    if (extrapolate) {
      auto fine = atStep(precision.step / 2);
      if (!fine)
        return std::nullopt;
      // Richardson: the errors in step^2 cancel.
      derivative = (4 * fine->first - derivative) / 3;
      difference = (4 * fine->second - difference) / 3;
    }
    // Along some directions the terms nearly cancel; their size is what counts then. The
    // difference itself is no better than its rounding.
    double noise = 16 * precision.roundoff * size / precision.step;
    double expected = std::max({std::abs(derivative), std::abs(difference), 0.1 * std::sqrt(magnitude)});
    double hidden = noise / precision.tolerance;
    double error = std::abs(derivative - difference) / std::max({expected, hidden, 1e-300});
    // A parameter without influence has no size to compare with: there the value must not
    // change at all, and be small enough to show a change of the size of the tolerance.
    bool still = moved && !changed && derivative == 0 && noise <= precision.tolerance;
    return Sample{derivative, difference, error, hidden <= expected || still};
  }

  Session &session;
  const JIT &jit;
  std::string pullback;
  SmallVector<Tensor> arguments;
  SmallVector<int64_t> wrt;
  std::vector<std::string> names;
  std::mt19937_64 random;
  std::normal_distribution<double> distribution;
  SmallVector<Tensor> cotangents, gradients;
  Precision precision{};
  bool extrapolate = false;
  double largest = 0;
};
} // namespace

int gradCheckCommand(Session &session) {
  const CommandLine &line = session.getLine();
  if (failed(session.load()) || failed(session.advanceTo("typed")))
    return 1;
  FuncOp function = session.selectFunction(line.function);
  if (!function)
    return 1;
  std::vector<std::string> names = getParameterNames(function);

  SmallVector<int64_t> wrt;
  for (const std::string &name : line.wrt) {
    auto it = llvm::find(names, name);
    std::string problem;
    if (it == names.end())
      problem = "is no parameter" + didYouMean(name, names);
    else if (!hasTangent(function.getArgumentTypes()[it - names.begin()]))
      problem = "is no float and has no derivative";
    if (!problem.empty()) {
      InFlightDiagnostic diag = session.error();
      diag << "--wrt names `" << name << "`, which " << problem;
      attachHelp(diag) << "the function is " << describeSignature(function);
      return 1;
    }
    wrt.push_back(it - names.begin());
  }
  if (line.wrt.empty())
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      if (hasTangent(type))
        wrt.push_back(index);
  llvm::sort(wrt);
  wrt.erase(llvm::unique(wrt), wrt.end());
  NameSet sizes;
  for (Type type : function.getResultTypes())
    collectNames(type, sizes);
  SmallVector<StringRef> variables = function.getShapeVarNames();
  StringRef problem;
  if (wrt.empty())
    problem = "has no parameter of float type";
  else if (llvm::none_of(function.getResultTypes(), hasTangent))
    problem = "has no result of float type";
  else if (llvm::any_of(sizes, [&](StringRef name) { return !llvm::is_contained(variables, name); }))
    problem = "has a result whose size depends on data";
  if (!problem.empty()) {
    InFlightDiagnostic diag = session.error();
    diag << "`" << line.function << "` " << problem << ", so there is no derivative to check";
    attachHelp(diag) << "the function is " << describeSignature(function);
    return 1;
  }

  FailureOr<SmallVector<Tensor>> arguments = readArguments(session, function, line.arguments);
  if (failed(arguments))
    return 1;
  std::string pullback = buildPullback(function, wrt).getSymName().str();
  std::unique_ptr<JIT> jit = session.compile();
  if (!jit)
    return 1;
  int status = 1;
  double seconds = measure([&] {
    status = GradCheck(session, *jit, pullback, std::move(*arguments), std::move(wrt), std::move(names)).run();
  });
  session.addTime("checking", seconds);
  return status;
}

} // namespace kina
