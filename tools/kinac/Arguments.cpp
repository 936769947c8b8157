//===- Arguments.cpp - Arguments and signatures as users write them -------===//

#include "Arguments.h"

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/ExecutionEngine/Literals.h"
#include "Kina/ExecutionEngine/Npy.h"
#include "Kina/Support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace kina {

std::vector<std::string> getParameterNames(FuncOp function) {
  std::vector<std::string> names;
  llvm::StringMap<unsigned> uses, seen;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto name = function.getArgAttrOfType<StringAttr>(index, kNameArgAttrName);
    names.push_back(name && !name.empty() ? name.str() : "arg" + std::to_string(index));
    ++uses[names.back()];
  }
  for (std::string &name : names)
    if (uses[name] > 1) {
      unsigned member = seen[name]++;
      name += "." + std::to_string(member);
    }
  return names;
}

static std::string describeType(Type type, const Spellings &spellings) {
  Type element = kina::getElementType(type);
  std::optional<DType> dtype = element ? kina::getDType(element) : std::nullopt;
  static const llvm::StringLiteral names[] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I8", "U8", "Bool", "Index"};
  std::string text;
  if (!dtype) {
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  text = names[static_cast<unsigned>(*dtype)].str();
  if (!isa<kina::TensorType>(type))
    return text;
  std::string dims = llvm::join(llvm::map_range(kina::getShape(type), [&](DimAttr dim) { return spellings.spell(dim); }), ", ");
  return "tensor<" + text + ", [" + dims + "]>";
}

std::string describeSignature(FuncOp function) {
  Spellings spellings(function);
  std::string text = function.getSymName().str() + "(";
  std::vector<std::string> names = getParameterNames(function);
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    text += (index ? ", " : "") + names[index] + ": " + describeType(type, spellings);
  text += ")";
  ArrayRef<Type> results = function.getResultTypes();
  if (results.empty())
    return text;
  std::string list = llvm::join(llvm::map_range(results, [&](Type type) { return describeType(type, spellings); }), ", ");
  return text + " -> " + (results.size() == 1 ? list : "(" + list + ")");
}

/// `f64` as NumPy calls it.
static StringRef numpyName(DType dtype) {
  static const llvm::StringLiteral names[] = {"float64", "float32", "float16", "ml_dtypes.bfloat16", "int64",
                                              "int32",   "int8",    "uint8",   "bool",               "int64"};
  return names[static_cast<unsigned>(dtype)];
}

FailureOr<SmallVector<Tensor>> readArguments(Session &session, FuncOp function,
                                             ArrayRef<std::pair<std::string, std::string>> given) {
  std::vector<std::string> names = getParameterNames(function);
  bool failed = false;
  auto complain = [&](const Twine &message) {
    failed = true;
    InFlightDiagnostic diag = session.error();
    diag << "K0802: " << message;
    attachHelp(diag) << "the function is " << describeSignature(function);
  };

  llvm::StringMap<StringRef> values;
  for (const auto &[name, value] : given) {
    if (!llvm::is_contained(names, name))
      complain("`" + function.getSymName() + "` has no parameter `" + name + "`" + didYouMean(name, names));
    else if (!values.insert({name, value}).second)
      complain("argument `" + Twine(name) + "` is given twice");
  }
  SmallVector<std::string> missing;
  for (const std::string &name : names)
    if (!values.contains(name))
      missing.push_back("`" + name + "`");
  if (!missing.empty())
    complain("no value is given for " + llvm::join(missing, ", ") + "; use --arg NAME=VALUE");
  if (failed)
    return failure();

  SmallVector<Tensor> arguments;
  Spellings spellings(function);
  for (auto [name, type] : llvm::zip(names, function.getArgumentTypes())) {
    Type element = kina::getElementType(type);
    std::optional<DType> dtype = element ? kina::getDType(element) : std::nullopt;
    if (!dtype) {
      complain("parameter `" + Twine(name) + "` is no tensor or scalar, so no value can be given for it");
      return failure();
    }
    StringRef value = values.lookup(name);
    bool file = value.ends_with(".npy");
    if (!file && llvm::sys::fs::is_directory(value)) {
      complain("argument `" + Twine(name) + "`: `" + value + "` is a directory, not a number or a .npy file");
      return failure();
    }
    llvm::Expected<Tensor> tensor = file ? readNpy(value) : parseLiteral(value, *dtype);
    if (!tensor) {
      std::string message = llvm::toString(tensor.takeError());
      complain("argument `" + Twine(name) + "`: " + message +
               (!file && llvm::sys::fs::exists(value) ? "; a file of numbers needs the extension .npy" : ""));
      return failure();
    }
    std::string where = "argument `" + name + "`" + (file ? (" (" + value + ")").str() : "");
    bool sameType = tensor->getDType() == *dtype || (*dtype == DType::Index && tensor->getDType() == DType::I64);
    if (!sameType) {
      failed = true;
      InFlightDiagnostic diag = session.error();
      diag << "K0802: " << where << " has element type " << toString(tensor->getDType()) << ", but `"
           << function.getSymName() << "` takes " << describeType(type, spellings);
      attachHelp(diag) << "nothing is converted silently; in NumPy: x.astype("
                       << (*dtype == DType::BF16 ? "" : "np.") << numpyName(*dtype) << ")";
      continue;
    }
    ArrayRef<DimAttr> dims = kina::getShape(type);
    bool fits = tensor->getRank() == static_cast<int64_t>(dims.size());
    for (size_t axis = 0; fits && axis < dims.size(); ++axis)
      if (std::optional<int64_t> size = dims[axis].getConstantValue())
        fits = *size == tensor->getShape()[axis];
    if (!fits)
      complain(where + " has shape " + toString(tensor->getShape()) + ", but `" + function.getSymName() + "` takes " +
               describeType(type, spellings));
    arguments.push_back(std::move(*tensor));
  }
  if (failed)
    return failure();
  return arguments;
}

} // namespace kina
