//===- Session.cpp - One program on its way through the compiler ----------===//

#include "Session.h"

#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Target/Surface/Import.h"
#include "Kina/Transforms/Passes.h"

#include "kina/runtime.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;

namespace kina {

double measure(llvm::function_ref<void()> body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Session::Session(const CommandLine &line) : line(line) {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  DiagnosticPrinterOptions options;
  options.color = shouldColor(line.color, llvm::errs());
  options.json = line.errorFormat == "json";
  options.explain = true;
  printer = std::make_unique<DiagnosticPrinter>(context.get(), llvm::errs(), options);
}

std::optional<unsigned> Session::findStageIndex(StringRef name) { return findStage(name); }

InFlightDiagnostic Session::error() { return mlir::emitError(UnknownLoc::get(context.get())); }

void Session::report(llvm::Error failure) {
  llvm::handleAllErrors(
      std::move(failure),
      [&](const CallError &call) {
        Location loc = UnknownLoc::get(context.get());
        if (!call.file.empty())
          loc = FileLineColLoc::get(context.get(), call.file, call.line, call.column);
        InFlightDiagnostic diag = mlir::emitError(loc);
        diag << llvm::formatv("K{0,0+4}: ", call.code).str() << call.message;
        if (call.code == KINA_ERROR_MEMORY)
          attachHelp(diag) << "a loop that is differentiated keeps less with '@checkpoint' before it";
      },
      [&](const llvm::ErrorInfoBase &other) { error() << other.message(); });
}

bool Session::measure(StringRef what, llvm::function_ref<llvm::Error()> body) {
  unsigned before = printer->getErrorCount();
  llvm::Error failure = llvm::Error::success();
  addTime(what, kina::measure([&] { failure = llvm::joinErrors(std::move(failure), body()); }));
  if (!failure)
    return true;
  if (printer->getErrorCount() == before)
    report(std::move(failure));
  else
    llvm::consumeError(std::move(failure));
  return false;
}

void Session::addTime(StringRef what, double seconds) { times.push_back({what.str(), seconds}); }

void Session::printTimes() {
  if (!line.timing)
    return;
  double total = 0;
  for (const auto &[what, seconds] : times) {
    llvm::errs() << llvm::formatv("{0,10:F1} ms  {1}\n", seconds * 1e3, what);
    total += seconds;
  }
  llvm::errs() << llvm::formatv("{0,10:F1} ms  in all\n", total * 1e3);
}

/// Whether brackets nest deeper than any program's do. MLIR's parser recurses with them and
/// would exhaust the stack.
static bool nestsTooDeeply(StringRef text) {
  constexpr unsigned limit = 1000;
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > limit)
        return true;
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}' || (c == '>' && text[i - 1] != '-'))) {
      --depth;
    }
  }
  return false;
}

LogicalResult Session::load() {
  // Until the checks that follow have said theirs; the printer's end prints what nothing followed.
  printer->hold();
  bool failedToLoad = false;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  double seconds = kina::measure([&] {
    auto file = llvm::MemoryBuffer::getFileOrSTDIN(line.input, /*IsText=*/false);
    if (!file) {
      error() << "cannot read `" << line.input << "`: " << file.getError().message();
      failedToLoad = true;
      return;
    }
    buffer = std::move(*file);
    StringRef text = buffer->getBuffer();
    text.consume_front(kByteOrderMark);
    StringRef name = line.input == "-" ? StringRef("<stdin>") : StringRef(line.input);
    printer->addSource(name, text.size() > (16u << 20) ? StringRef() : text);
    StringRef path = line.input;
    if (path.ends_with(".mlir") && nestsTooDeeply(text)) {
      error() << "K0107: `" << line.input << "` is nested more than 1000 levels deep";
    } else if (path.ends_with(".mlir") || path.ends_with(".mlirbc")) {
      llvm::SourceMgr sources;
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name, /*RequiresNullTerminator=*/false),
                                 llvm::SMLoc());
      module = parseSourceFile<ModuleOp>(sources, context.get());
    } else {
      module = importKinaSource(text, name, context.get(), /*keepGoing=*/true);
    }
    failedToLoad = !module;
  });
  if (failedToLoad) {
    if (printer->getErrorCount() == 0)
      error() << "`" << line.input << "` cannot be read as a program";
    return failure();
  }
  if (module->getBody()->empty() && line.command != CommandLine::Command::Check) {
    error() << "`" << line.input << "` is empty: it defines no function";
    return failure();
  }
  addTime("reading and parsing", seconds);
  return success();
}

LogicalResult Session::advanceTo(unsigned target) {
  unsigned reached = getReachedStage(*module);
  if (target < reached) {
    // A typed module may have its derivatives lowered or not; nothing earlier comes back.
    error() << "`" << line.input << "` is at stage '" << getStages()[reached].name << "' already, which comes after '"
            << getStages()[target].name << "'";
    return failure();
  }
  printer->hold();
  llvm::scope_exit told([&] { printer->release(); });
  // The checks of a program go on after an error with what has none, so that all errors are
  // told at once; what is compiled is without any.
  StageOptions options = line.stages;
  options.keepGoing = true;
  const unsigned checked = *findStage("verified");
  bool bad = printer->getErrorCount() > 0;
  for (unsigned stage = reached + 1; stage <= (bad ? checked : target); ++stage) {
    PassManager pm(context.get());
    buildStages(pm, stage - 1, stage, options);
    bool passed = false;
    double seconds = kina::measure([&] { passed = succeeded(pm.run(*module)); });
    addTime(("stage " + getStages()[stage].name).str(), seconds);
    if (!passed && printer->getErrorCount() == 0)
      error() << "K0900: stage '" << getStages()[stage].name << "' failed without saying why";
    bad |= !passed || printer->getErrorCount() > 0;
  }
  return failure(bad);
}

FuncOp Session::findFunction(StringRef name) {
  SmallVector<std::string> names;
  FuncOp found;
  for (auto function : module->getOps<FuncOp>()) {
    if (function.isExternal())
      continue;
    // The compiler's own functions have a dot in their names, which a program cannot write.
    if (!function.getSymName().contains('.'))
      names.push_back(function.getSymName().str());
    if (function.getSymName() == name)
      found = function;
  }
  if (!found) {
    InFlightDiagnostic diag = error();
    diag << "there is no function `" << name << "` in `" << line.input << "`" << didYouMean(name, names);
    if (names.empty())
      attachHelp(diag) << "it has no functions that could be called";
    else
      attachHelp(diag) << "its functions are " << llvm::join(names, ", ");
    return {};
  }
  if (ArrayAttr effects = found.getEffectsAttr(); effects && !effects.empty()) {
    kina::emitError(found.getLoc(), DiagCode::K0601,
                    "`" + name + "` performs effects that nothing handles, so it cannot be run on its own");
    return {};
  }
  return found;
}

void Session::keepPublic(ArrayRef<FuncOp> functions) {
  for (auto function : module->getOps<FuncOp>())
    function.setVisibility(llvm::is_contained(functions, function) ? SymbolTable::Visibility::Public
                                                                   : SymbolTable::Visibility::Private);
  // What these do not reach is not compiled, and its errors in later stages are not theirs.
  PassManager pm(module->getContext());
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(*module)))
    kina::emitError(module->getLoc(), DiagCode::K0900, "unused functions could not be removed");
}

FuncOp Session::selectFunction(StringRef name) {
  FuncOp found = findFunction(name);
  if (found)
    keepPublic(found);
  return found;
}

std::unique_ptr<JIT> Session::compile() {
  if (failed(advanceTo("linalg")))
    return nullptr;
  std::unique_ptr<JIT> jit;
  measure("code generation", [&] {
    NativeOptions options;
    options.optLevel = line.optLevel;
    options.remarks = line.stages.remarks;
    llvm::Expected<std::unique_ptr<JIT>> created = JIT::create(*module, options);
    if (created)
      jit = std::move(*created);
    return created.takeError();
  });
  return jit;
}

} // namespace kina
