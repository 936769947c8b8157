//===- CHeader.cpp - The C header of a compiled module --------------------===//

#include "Kina/Target/AOT/CHeader.h"

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/Pipelines/Pipelines.h"

#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace kina {

llvm::Expected<std::vector<Signature>> getPublicSignatures(ModuleOp module) {
  std::vector<Signature> signatures;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (auto typed = dyn_cast<FuncOp>(*function))
      if (ArrayAttr effects = typed.getEffectsAttr(); effects && !effects.empty())
        return llvm::createStringError("`" + function.getName() +
                                       "` performs effects that nothing handles, so it has no "
                                       "form in the C ABI");
    // Source has no such names, but MLIR does.
    if (toCIdentifier(function.getName()) != function.getName())
      return llvm::createStringError("the name of `" + function.getName() +
                                     "` is no identifier of C");
    llvm::Expected<Signature> signature = Signature::get(function);
    if (!signature)
      return signature.takeError();
    signatures.push_back(std::move(*signature));
  }
  if (signatures.empty())
    return llvm::createStringError("the module exports no function");
  return signatures;
}

std::string toCIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  return text;
}

namespace {

struct CType {
  llvm::StringLiteral name, code;
};

/// The names of the parameters of one function in C.
class ParameterNames {
public:
  /// A name that no other parameter has, and no word of C or of the header.
  std::string add(StringRef wanted) {
    static const llvm::StringSet<> reserved = {
        "alignas",   "alignof",  "and",       "asm",      "auto",     "bool",     "break",
        "case",      "catch",    "char",      "class",    "compl",    "concept",  "const",
        "consteval", "constexpr", "constinit", "continue", "decltype", "default",  "delete",
        "do",        "double",   "else",      "enum",     "explicit", "export",   "extern",
        "false",     "float",    "for",       "friend",   "goto",     "if",       "inline",
        "int",       "long",     "mutable",   "namespace", "new",     "noexcept", "not",
        "nullptr",   "operator", "or",        "private",  "protected", "public",  "register",
        "requires",  "restrict", "return",    "short",    "signed",   "sizeof",   "static",
        "struct",    "switch",   "template",  "this",     "throw",    "true",     "try",
        "typedef",   "typeid",   "typename",  "typeof",   "union",    "unsigned", "using",
        "virtual",   "void",     "volatile",  "while",    "xor",      "NULL",     "context",
        "args",      "results",  "kina_context", "kina_tensor", "int32_t"};
    std::string name = toCIdentifier(wanted);
    while (reserved.contains(name) || !seen.insert(name).second)
      name += "_";
    return name;
  }

private:
  llvm::StringSet<> seen;
};

class HeaderPrinter {
public:
  HeaderPrinter(llvm::raw_ostream &os, StringRef module) : os(os), module(module) {}

  void print(ArrayRef<Signature> signatures) {
    std::string guard = "KINA_MODULE_" + toCIdentifier(StringRef(module).upper()) + "_H";
    os << "/* The functions of the compiled Kina module `" << module << "`, made by kinac.\n"
       << " *\n"
       << " * Every function returns a kina_status: KINA_OK, or\n"
       << " *   KINA_ERROR_REQUIRES  a `requires` clause or a `check` does not hold,\n"
       << " *   KINA_ERROR_ARGUMENT  an argument or a destination has a wrong element type, rank,\n"
       << " *                        size, layout, alignment or device,\n"
       << " *   KINA_ERROR_INDEX, KINA_ERROR_DIVISION  the computation failed,\n"
       << " *   KINA_ERROR_STOPPED   an interrupt, or the limit on loop steps,\n"
       << " *   KINA_ERROR_MEMORY    out of memory,\n"
       << " *   KINA_ERROR_VERSION   the run-time library has another version of the ABI.\n"
       << " * The context then has message, values and source location. See kina/runtime.h.\n"
       << " */\n"
       << "#ifndef " << guard << "\n#define " << guard << "\n\n"
       << "#include \"kina/runtime.h\"\n\n"
       << "#if KINA_ABI_VERSION != " << KINA_ABI_VERSION << "\n"
       << "#error \"" << module << " was compiled for version " << KINA_ABI_VERSION
       << " of Kina's ABI, and kina/runtime.h has another\"\n"
       << "#endif\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << "/** The KINA_ABI_VERSION that the module was compiled for. */\n"
       << "extern const int32_t " << module << "_kina_abi_version;\n";
    llvm::StringSet<> names;
    for (const Signature &signature : signatures)
      names.insert(signature.getName());
    for (const Signature &signature : signatures)
      printFunction(signature, names);
    os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  }

private:
  static CType getCType(DType dtype) {
    switch (dtype) {
    case DType::F64:
      return {"double", "kDLFloat, 64"};
    case DType::F32:
      return {"float", "kDLFloat, 32"};
    case DType::F16:
      return {"float16", "kDLFloat, 16"};
    case DType::BF16:
      return {"bfloat16", "kDLBfloat, 16"};
    case DType::I64:
    case DType::Index:
      return {"int64_t", "kDLInt, 64"};
    case DType::I32:
      return {"int32_t", "kDLInt, 32"};
    case DType::I8:
      return {"int8_t", "kDLInt, 8"};
    case DType::U8:
      return {"uint8_t", "kDLUInt, 8"};
    case DType::Bool:
      return {"uint8_t", "kDLBool, 8"};
    }
    llvm_unreachable("covered");
  }

  /// `double[N][2*K]`.
  static std::string describe(const Signature::Parameter &parameter, const Spellings &spellings) {
    std::string text = getCType(parameter.dtype).name.str();
    for (auto [axis, size] : llvm::enumerate(parameter.shape))
      text += "[" +
              (!parameter.dims.empty()          ? spellings.spell(parameter.dims[axis])
               : ShapedType::isDynamic(size) ? "?"
                                                : std::to_string(size)) +
              "]";
    return text;
  }

  void printTable(StringRef array, ArrayRef<Signature::Parameter> parameters, const Spellings &spellings) {
    std::vector<std::array<std::string, 3>> rows;
    size_t widths[2] = {0, 0};
    for (const Signature::Parameter &parameter : parameters) {
      rows.push_back({parameter.name, describe(parameter, spellings), getCType(parameter.dtype).code.str()});
      for (int column : {0, 1})
        widths[column] = std::max(widths[column], rows.back()[column].size());
    }
    for (auto [index, row] : llvm::enumerate(rows)) {
      os << " *   " << array << "[" << index << "]  ";
      if (widths[0])
        os << llvm::left_justify(row[0], widths[0]) << "  ";
      os << llvm::left_justify(row[1], widths[1]) << "  (" << row[2] << ")";
      if (DimAttr variable = parameters[index].variable)
        os << ", the size " << toString(variable);
      os << "\n";
    }
  }

  void printFunction(const Signature &signature, const llvm::StringSet<> &names) {
    std::string symbol = module.str() + "_" + signature.getName().str();
    os << "\n/** " << signature.getName() << "\n *\n";
    if (!signature.getParameters().empty()) {
      os << " * Arguments, borrowed for the call and never written; sizes in row-major order:\n";
      printTable("args", signature.getParameters(), signature.getSpellings());
    }
    if (!signature.getResults().empty()) {
      os << " * Results, each written to the caller's memory at `dl.data`, or, where that is NULL,\n"
         << " * handed over to the caller, who ends it by kina_tensor_release:\n";
      printTable("results", signature.getResults(), signature.getSpellings());
    }
    std::string least = llvm::join(
        llvm::map_range(signature.getVariables(),
                        [](ShapeVarAttr variable) {
                          return (variable.getName() + " >= " + Twine(variable.getLeast())).str();
                        }),
        ", ");
    if (!least.empty())
      os << " * Sizes: " << least << ".\n";
    for (ClauseAttr clause : signature.getClauses()) {
      std::string text = clause.getText().empty() ? toString(clause.getPred()) : clause.getText().str();
      // A clause may be spread over lines, and must not end the comment.
      SmallVector<StringRef> words;
      llvm::SplitString(text, words);
      text = llvm::join(words, " ");
      for (size_t at; (at = text.find("*/")) != std::string::npos;)
        text.insert(at + 1, " ");
      os << " * Requires " << text
         << (clause.getMode() == ClauseMode::Trusted ? " (not checked)" : "") << ".\n";
    }
    os << " */\n"
       << "int32_t " << symbol
       << "(kina_context *context, kina_tensor *const *args, kina_tensor *const *results);\n";
    // The other name may be taken by a function of the program.
    if (!names.contains((signature.getName() + "_call").str()))
      printCall(signature, symbol);
  }

  void printCall(const Signature &signature, StringRef symbol) {
    ParameterNames names;
    std::vector<std::string> arguments, results;
    for (auto [index, parameter] : llvm::enumerate(signature.getParameters()))
      arguments.push_back(
          names.add(parameter.name.empty() ? "arg" + std::to_string(index) : parameter.name));
    for (size_t index = 0; index < signature.getResults().size(); ++index)
      results.push_back(names.add("result" + std::to_string(index)));
    os << "\n/** The same, with arguments and results one by one. */\n";
    std::string line = ("static inline int32_t " + symbol + "_call(kina_context *context").str();
    for (const auto &list : {arguments, results})
      for (const std::string &name : list) {
        std::string parameter = "kina_tensor *" + name;
        line += ",";
        if (line.size() + parameter.size() > kWidth) {
          os << line << "\n";
          line = "   ";
        }
        line += " " + parameter;
      }
    os << line << ") {\n";
    auto array = [&](StringRef name, ArrayRef<std::string> elements) -> std::string {
      if (elements.empty())
        return "NULL";
      os << "  kina_tensor *" << name << "[] = {" << llvm::join(elements, ", ") << "};\n";
      return name.str();
    };
    std::string args = array("args", arguments), outs = array("results", results);
    os << "  return " << symbol << "(context, " << args << ", " << outs << ");\n}\n";
  }

  /// Longer lists of parameters go on in the next line.
  static constexpr size_t kWidth = 98;

  llvm::raw_ostream &os;
  StringRef module;
};

} // namespace

void printCHeader(llvm::raw_ostream &os, StringRef module, ArrayRef<Signature> signatures) {
  HeaderPrinter(os, module).print(signatures);
}

void registerCHeaderTranslation() {
  static llvm::cl::opt<std::string> name(
      "module-name", llvm::cl::desc("What the names of a C header begin with"),
      llvm::cl::init("kina_module"));
  static TranslateFromMLIRRegistration registration(
      "kina-to-c-header", "The C header of a module in typed or later form",
      [](Operation *op, llvm::raw_ostream &os) {
        auto module = dyn_cast<ModuleOp>(op);
        if (!module)
          return LogicalResult(op->emitError("expected a module"));
        llvm::Expected<std::vector<Signature>> signatures = getPublicSignatures(module);
        if (!signatures)
          return LogicalResult(op->emitError(llvm::toString(signatures.takeError())));
        printCHeader(os, toCIdentifier(name), *signatures);
        return success();
      },
      [](DialectRegistry &registry) { registerPipelineDialects(registry); });
}

} // namespace kina
