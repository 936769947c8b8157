//===- Signature.cpp - Entry checks ---------------------------------------===//

#include "Kina/ExecutionEngine/Signature.h"

#include "Kina/Dialect/Kina/IR/Dim.h"

using namespace mlir;
using namespace kina;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

char CallError::ID;

CallError::CallError(const kina_context *context)
    : code(kina_context_code(context)), message(kina_context_message(context)),
      file(kina_context_file(context)), line(kina_context_line(context)),
      column(kina_context_column(context)) {
  for (int32_t i = 0; i < kina_context_num_values(context); ++i)
    values.push_back(kina_context_value(context, i));
}

void CallError::log(llvm::raw_ostream &os) const {
  if (!file.empty())
    os << file << ':' << line << ':' << column << ": ";
  os << "error[K" << llvm::format("%04d", code) << "]: " << message;
}

//===----------------------------------------------------------------------===//
// Reading a signature
//===----------------------------------------------------------------------===//

/// Describes a value of builtin type `type`, whose typed form is `typed` if it is known.
static std::optional<Signature::Parameter> describe(Type type, Type typed) {
  Signature::Parameter parameter;
  Type element = type;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!shaped.hasRank())
      return std::nullopt;
    element = shaped.getElementType();
    parameter.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
  }
  // Buffers don't tell ui8 from i8; the typed form does.
  if (Type typedElement = typed ? kina::getElementType(typed) : Type())
    element = typedElement;
  std::optional<DType> dtype = kina::getDType(element);
  if (!dtype)
    return std::nullopt;
  parameter.dtype = *dtype;
  if (typed && isa<kina::TensorType>(typed)) {
    ArrayRef<DimAttr> dims = kina::getShape(typed);
    if (dims.size() == parameter.shape.size())
      parameter.dims.assign(dims.begin(), dims.end());
  }
  return parameter;
}

llvm::Expected<Signature> Signature::get(func::FuncOp function) {
  Signature signature;
  signature.name = function.getSymName().str();
  FunctionType typed;
  if (auto attribute = function->getAttrOfType<TypeAttr>(kFunctionTypeAttrName))
    typed = dyn_cast<FunctionType>(attribute.getValue());
  if (typed && (typed.getNumInputs() != function.getNumArguments() ||
                typed.getNumResults() != function.getNumResults()))
    typed = nullptr;

  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::optional<Parameter> parameter = describe(type, typed ? typed.getInput(index) : Type());
    if (!parameter)
      return llvm::createStringError("parameter " + std::to_string(index) + " of " +
                                     signature.name + " has no form in the C ABI");
    if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameArgAttrName))
      parameter->name = name.str();
    if (auto variable = function.getArgAttrOfType<StringAttr>(index, kDimArgAttrName))
      parameter->variable = DimAttr::getName(function.getContext(), variable.getValue());
    signature.parameters.push_back(std::move(*parameter));
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    std::optional<Parameter> result = describe(type, typed ? typed.getResult(index) : Type());
    if (!result)
      return llvm::createStringError("result " + std::to_string(index) + " of " +
                                     signature.name + " has no form in the C ABI");
    signature.results.push_back(std::move(*result));
  }
  if (auto variables = function->getAttrOfType<ArrayAttr>(kShapeVarsAttrName))
    for (auto variable : variables.getAsRange<ShapeVarAttr>())
      signature.variables.push_back(variable);
  if (auto clauses = function->getAttrOfType<ArrayAttr>(kRequiresAttrName))
    for (auto clause : clauses.getAsRange<ClauseAttr>())
      signature.clauses.push_back(clause);
  return signature;
}

//===----------------------------------------------------------------------===//
// Checking a call
//===----------------------------------------------------------------------===//

namespace {

/// The values of shape variables.
class Assignment {
public:
  std::optional<int64_t> lookup(StringRef name) const {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  void bind(StringRef name, int64_t value) { values[name] = value; }

  std::optional<int64_t> evaluate(DimAttr dim) const {
    return kina::evaluate(dim, [this](StringRef name) { return lookup(name); });
  }
  /// The value with `name` standing for `value`.
  std::optional<int64_t> evaluate(DimAttr dim, StringRef unknown, int64_t value) const {
    return kina::evaluate(dim, [&](StringRef name) {
      return name == unknown ? std::optional(value) : lookup(name);
    });
  }

  /// The names in `dim` that have no value yet.
  SmallVector<StringRef> getUnknowns(DimAttr dim) const {
    NameSet names;
    collectNames(dim, names);
    SmallVector<StringRef> unknowns;
    for (StringRef name : names)
      if (!lookup(name))
        unknowns.push_back(name);
    return unknowns;
  }

  /// `N = 3, M = 4` for the names given.
  std::string describe(const NameSet &names) const {
    std::string text;
    for (StringRef name : names)
      if (std::optional<int64_t> value = lookup(name))
        text += (Twine(text.empty() ? "" : ", ") + name + " = " + Twine(*value)).str();
    return text;
  }

private:
  llvm::StringMap<int64_t> values;
};

/// An axis of an argument and what its size must be.
struct Equation {
  DimAttr dim;
  int64_t size;
  std::string where;
};

} // namespace

static llvm::Error fail(int32_t code, const Twine &message, ArrayRef<int64_t> values = {}) {
  auto error = std::make_unique<CallError>(code, message.str());
  error->values.assign(values.begin(), values.end());
  return llvm::Error(std::move(error));
}

/// `argument 1` or `argument "x"`.
static std::string nameArgument(const Signature::Parameter &parameter, size_t index) {
  if (parameter.name.empty())
    return "argument " + std::to_string(index);
  return "argument `" + parameter.name + "`";
}

/// Solves `equation` for its one unknown. A linear dimension takes equal steps, which three
/// values show unless it only looks linear there; the solution is put in to make sure.
static std::optional<int64_t> solve(const Assignment &assignment, const Equation &equation,
                                    StringRef unknown) {
  auto at = [&](int64_t value) { return assignment.evaluate(equation.dim, unknown, value); };
  std::optional<int64_t> zero = at(0), one = at(1), two = at(2);
  int64_t slope, second, difference;
  if (!zero || !one || !two || llvm::SubOverflow(*one, *zero, slope) ||
      llvm::SubOverflow(*two, *one, second) || slope != second || slope == 0 ||
      llvm::SubOverflow(equation.size, *zero, difference))
    return std::nullopt;
  int64_t value = difference / slope;
  std::optional<int64_t> check = at(value);
  return check && *check == equation.size ? std::optional(value) : std::nullopt;
}

llvm::Error Signature::check(ArrayRef<Tensor> arguments) const {
  if (arguments.size() != parameters.size())
    return fail(KINA_ERROR_ARGUMENT, "`" + Twine(name) + "` takes " + Twine(parameters.size()) +
                                         " arguments, but got " + Twine(arguments.size()),
                {int64_t(arguments.size()), int64_t(parameters.size())});

  Assignment assignment;
  SmallVector<Equation> equations;
  for (auto [index, parameter, argument] : llvm::enumerate(parameters, arguments)) {
    std::string what = nameArgument(parameter, index);
    if (argument.getDType() != parameter.dtype &&
        !(parameter.dtype == DType::Index && argument.getDType() == DType::I64))
      return fail(KINA_ERROR_ARGUMENT, Twine(what) + " has element type " +
                                           toString(argument.getDType()) + ", expected " +
                                           toString(parameter.dtype));
    if (argument.getRank() != int64_t(parameter.shape.size()))
      return fail(KINA_ERROR_ARGUMENT,
                  Twine(what) + " has rank " + Twine(argument.getRank()) + ", expected " +
                      Twine(parameter.shape.size()),
                  {argument.getRank(), int64_t(parameter.shape.size())});
    for (auto [axis, size] : llvm::enumerate(argument.getShape())) {
      if (!ShapedType::isDynamic(parameter.shape[axis]) && size != parameter.shape[axis])
        return fail(KINA_ERROR_ARGUMENT,
                    Twine(what) + " has size " + Twine(size) + " at axis " + Twine(axis) +
                        ", expected " + Twine(parameter.shape[axis]),
                    {size, parameter.shape[axis]});
      if (!parameter.dims.empty())
        equations.push_back({parameter.dims[axis], size,
                             what + " has size " + std::to_string(size) + " at axis " +
                                 std::to_string(axis)});
    }
    if (parameter.variable)
      equations.push_back({parameter.variable, argument.getInteger(0),
                           what + " is " + std::to_string(argument.getInteger(0))});
  }

  // Each round takes every equation whose names are known or all but one; it ends when a round
  // finds nothing, so any order of the parameters will do.
  auto describeKnown = [&](DimAttr dim) {
    NameSet names;
    collectNames(dim, names);
    std::string known = assignment.describe(names);
    return known.empty() ? "" : " (" + known + ")";
  };
  bool progress = true;
  while (progress && !equations.empty()) {
    progress = false;
    SmallVector<Equation> open;
    for (const Equation &equation : equations) {
      SmallVector<StringRef> unknowns = assignment.getUnknowns(equation.dim);
      if (unknowns.size() > 1) {
        open.push_back(equation);
        continue;
      }
      if (unknowns.empty()) {
        std::optional<int64_t> expected = assignment.evaluate(equation.dim);
        progress = true;
        if (!expected)
          return fail(KINA_ERROR_ARGUMENT, Twine(equation.where) + ", but `" +
                                               toString(equation.dim) + "` has no value" +
                                               describeKnown(equation.dim));
        if (*expected != equation.size)
          return fail(KINA_ERROR_ARGUMENT,
                      Twine(equation.where) + ", expected " + Twine(*expected) + " = `" +
                          toString(equation.dim) + "`" + describeKnown(equation.dim),
                      {equation.size, *expected});
        continue;
      }
      if (std::optional<int64_t> value = solve(assignment, equation, unknowns.front())) {
        assignment.bind(unknowns.front(), *value);
        progress = true;
        continue;
      }
      open.push_back(equation);
    }
    equations = std::move(open);
  }
  if (!equations.empty())
    return fail(KINA_ERROR_ARGUMENT, Twine(equations.front().where) +
                                         ", which is not of the form `" +
                                         toString(equations.front().dim) + "`" +
                                         describeKnown(equations.front().dim),
                {equations.front().size});

  for (ShapeVarAttr variable : variables)
    if (std::optional<int64_t> value = assignment.lookup(variable.getName());
        value && *value < variable.getLeast())
      return fail(KINA_ERROR_ARGUMENT,
                  "`" + Twine(variable.getName()) + "` is " + Twine(*value) +
                      ", but must be at least " + Twine(variable.getLeast()),
                  {*value, variable.getLeast()});

  for (ClauseAttr clause : clauses) {
    if (clause.getMode() == ClauseMode::Trusted)
      continue;
    std::optional<bool> holds = kina::evaluate(
        clause.getPred(), [&](StringRef variable) { return assignment.lookup(variable); });
    if (holds && *holds)
      continue;
    NameSet names;
    collectNames(clause.getPred(), names);
    std::string text = clause.getText().str();
    if (text.empty())
      text = toString(clause.getPred());
    auto error = std::make_unique<CallError>(
        KINA_ERROR_REQUIRES, "`" + name + "` requires " + text + ", but " +
                                 assignment.describe(names));
    for (StringRef variable : names)
      if (std::optional<int64_t> value = assignment.lookup(variable))
        error->values.push_back(*value);
    if (auto range = LocationAttr(clause.getLoc()).findInstanceOf<FileLineColRange>()) {
      error->file = range.getFilename().str();
      error->line = range.getStartLine();
      error->column = range.getStartColumn();
    }
    return llvm::Error(std::move(error));
  }
  return llvm::Error::success();
}
