//===- Checks.cpp - What must hold for every input ------------------------===//

#include "Checks.h"
#include "IRMutator.h"

#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/InitAll.h"
#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Support/DiagnosticPrinter.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Target/Surface/Export.h"
#include "Kina/Target/Surface/Import.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace kina;

static constexpr StringRef kFileName = "fuzz.kina";

/// One text on its way. Collects what the diagnostics do wrong.
class Checker::Run {
public:
  Run(Checker &checker, StringRef text, bool source)
      : codes(checker.codes), source(source), printer(checker.context.get(), llvm::nulls(), {/*color=*/false, /*json=*/text.size() % 2 == 1}),
        handler(checker.context.get(), [this](Diagnostic &diag) {
          take(diag);
          // The printer gets it too, to be tested as well.
          return failure();
        }) {
    printer.addSource(kFileName, text);
    text.split(lines, '\n');
  }

  void fail(const Twine &what) {
    if (problem.empty())
      problem = what.str();
  }
  bool isGood() const { return problem.empty(); }
  std::string takeProblem() { return std::move(problem); }

  /// Something that reports an error exactly if it fails. Whether it went well.
  bool attempt(StringRef what, function_ref<LogicalResult()> action) {
    unsigned before = errors;
    bool ok = succeeded(action());
    if (ok && errors != before)
      fail(what + " succeeds in spite of an error: " + lastError);
    if (!ok && errors == before)
      fail(what + " fails without an error");
    return ok && isGood();
  }

private:
  void take(Diagnostic &diag) {
    std::string text = diag.str();
    if (diag.getSeverity() == DiagnosticSeverity::Error) {
      ++errors;
      lastError = text;
    }
    if (!source)
      return;
    std::optional<DiagCode> code = splitDiagCode(text).first;
    if (code)
      ++codes[stringifyDiagCode(*code).str()];
    if (!code && diag.getSeverity() != DiagnosticSeverity::Remark)
      fail("a diagnostic without code: " + text);
    else if (code && getStage(*code) == DiagStage::Internal)
      fail("an internal error: " + text);
    checkLocation(diag, /*needed=*/true);
    for (Diagnostic &note : diag.getNotes())
      checkLocation(note, /*needed=*/false);
  }

  void checkLocation(Diagnostic &diag, bool needed) {
    auto range = diag.getLocation()->findInstanceOf<FileLineColRange>();
    if (!range) {
      if (needed)
        fail("a diagnostic without place: " + diag.str());
      return;
    }
    if (range.getFilename() != kFileName)
      return;
    auto isInside = [&](unsigned line, unsigned column) {
      // A range may end behind the line's end, where something is missing.
      return line >= 1 && line <= lines.size() && column >= 1 && column <= lines[line - 1].size() + 2;
    };
    std::pair start(range.getStartLine(), range.getStartColumn()), end(range.getEndLine(), range.getEndColumn());
    if (!isInside(start.first, start.second) || !isInside(end.first, end.second) || end < start)
      fail("a place outside of the text, " + Twine(start.first) + ":" + Twine(start.second) + " to " + Twine(end.first) +
           ":" + Twine(end.second) + ": " + diag.str());
  }

  std::map<std::string, unsigned> &codes;
  bool source;
  unsigned errors = 0;
  std::string lastError, problem;
  SmallVector<StringRef> lines;
  DiagnosticPrinter printer;
  ScopedDiagnosticHandler handler;
};

Checker::Checker(StringRef stage) : lastStage(findStage(stage).value_or(0)) { renew(); }
Checker::~Checker() = default;

void Checker::renew() {
  constexpr unsigned kUses = 500;
  if (context && ++uses < kUses)
    return;
  uses = 0;
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

std::vector<std::string> Checker::getWords() {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  MLIRContext words(registry, MLIRContext::Threading::DISABLED);
  words.loadDialect<KinaDialect>();
  std::vector<std::string> result = {
#define KINA_KEYWORD(name, text) text,
#define KINA_PUNCT(name, text) text,
#include "Tokens.def"
#define KINA_CORE_ITEM(head, Method, least, most, usage) "(" head,
#define KINA_CORE_STATEMENT(head, Method, least, most, usage) "(" head,
#define KINA_CORE_EXPR(head, Method, least, most, usage) "(" head,
#include "CoreForms.def"
      "F64", "F32", "F16", "BF16", "I64", "I32", "I8", "U8", "Bool", "Index", "unit", "Tensor",
      "float", "int", "any", "min", "max", "grad", "value_and_grad", "vjp", "jvp", "jacobian", "hessian",
      "wrt", "axis", "axes", "keepdims", "export", "checkpoint", "N", "x", "_",
  };
  for (RegisteredOperationName op : words.getRegisteredOperations())
    if (op.getDialectNamespace() == KinaDialect::getDialectNamespace())
      result.push_back(op.getStringRef().drop_front(KinaDialect::getDialectNamespace().size() + 1).str());
  return result;
}

static std::string printIR(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

std::string Checker::checkSource(StringRef text) {
  renew();
  unsigned before = accepted;
  std::string problem = checkStages(text);
  return problem.empty() && accepted == before ? checkKeepGoing(text) : problem;
}

/// As kinac does with what has errors: items without any go on to the later checks.
std::string Checker::checkKeepGoing(StringRef text) {
  Run run(*this, text, /*source=*/true);
  OwningOpRef<ModuleOp> module = importKinaSource(text, kFileName, context.get(), /*keepGoing=*/true);
  StageOptions options;
  options.keepGoing = true;
  for (unsigned stage = 1; module && stage <= *findStage("verified"); ++stage) {
    PassManager pm(context.get());
    buildStages(pm, stage - 1, stage, options);
    (void)pm.run(*module);
  }
  return run.takeProblem();
}

std::string Checker::checkStages(StringRef text) {
  Run run(*this, text, /*source=*/true);
  OwningOpRef<ModuleOp> module;
  if (!run.attempt("the import", [&] {
        module = importKinaSource(text, kFileName, context.get());
        return success(bool(module));
      }))
    return run.takeProblem();
  if (failed(verify(*module)))
    return "the imported module is invalid";

  // Any module that came from text has both forms, and the one says what the other does.
  std::string native, core, again;
  auto print = [&](ModuleOp from, SourceForm form, std::string &to) {
    llvm::raw_string_ostream os(to);
    return run.attempt("printing", [&] { return exportKinaSource(from, form, os); });
  };
  if (!print(*module, SourceForm::Native, native) || !print(*module, SourceForm::Core, core))
    return run.takeProblem();
  OwningOpRef<ModuleOp> fromCore = importKinaSource(core, "core", context.get());
  if (!fromCore)
    return "the core form cannot be read:\n" + core;
  if (!print(*fromCore, SourceForm::Native, again))
    return run.takeProblem();
  if (native != again)
    return "native form, then core form, then native form gives\n" + again + "instead of\n" + native;

  for (unsigned stage = 1; stage <= lastStage; ++stage) {
    StringRef name = getStages()[stage].name;
    PassManager pm(context.get());
    getStages()[stage].build(pm, StageOptions());
    if (!run.attempt(name, [&] { return pm.run(*module); }))
      return run.takeProblem();
    if (failed(verify(*module)))
      return "the module is invalid after " + name.str();
    if (name != "typed" && name != "ad")
      continue;
    std::string printed = printIR(*module);
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(printed, context.get());
    if (!parsed)
      return run.takeProblem() + "\nthe module of " + name.str() + " cannot be read again:\n" + printed;
    if (std::string twice = printIR(*parsed); twice != printed)
      return "the module of " + name.str() + " reads as another one:\n" + twice + "instead of\n" + printed;
  }
  ++accepted;
  return run.takeProblem();
}

/// Whether brackets nest deeper than the parser of MLIR, which recurses, could bear.
static bool nestsDeeply(StringRef text) {
  size_t depth = 0, deepest = 0;
  for (char c : text) {
    depth += StringRef("([{<").contains(c);
    depth -= StringRef(")]}").contains(c) && depth > 0;
    deepest = std::max(deepest, depth);
  }
  return deepest > 500;
}

std::string Checker::checkIR(StringRef text, StringRef pipeline, std::mt19937_64 *random) {
  if (nestsDeeply(text))
    return "";
  renew();
  Run run(*this, text, /*source=*/false);
  OwningOpRef<ModuleOp> module;
  ParserConfig config(context.get());
  if (!run.attempt("the parser", [&] {
        module = parseSourceString<ModuleOp>(text, config, kFileName);
        return success(bool(module));
      }))
    return run.takeProblem();
  if (random) {
    mutateIR(*module, *random);
    if (failed(verify(*module)))
      return "";
  }
  PassManager pm(context.get());
  if (failed(parsePassPipeline(pipeline, pm, llvm::errs())))
    return "no pipeline";
  if (run.attempt("the pipeline", [&] { return pm.run(*module); }))
    ++accepted;
  return run.takeProblem();
}

std::string Checker::printChanged(StringRef text, std::mt19937_64 &random) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return text.str();
  mutateIR(*module, random);
  std::string result;
  llvm::raw_string_ostream os(result);
  module->print(os, OpPrintingFlags().printGenericOpForm());
  return result;
}
