//===- Export.cpp - The translations --export-kina and --export-core ------===//

#include "Kina/Target/Surface/Export.h"
#include "Kina/Support/DeepStack.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Target/Surface/Import.h"
#include "Lexer.h"
#include "Printers.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

/// The module without locations, which syntax nodes carry as well.
static OwningOpRef<ModuleOp> withoutLocations(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LocationAttr loc) -> std::pair<Attribute, WalkResult> {
    return {UnknownLoc::get(loc.getContext()), WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(*copy);
  return copy;
}

static LogicalResult exportSource(ModuleOp module, SourceForm form, raw_ostream &os) {
  for (Operation &op : *module.getBody())
    if (!isa_and_nonnull<SurfaceDialect>(op.getDialect())) {
      InFlightDiagnostic diag = emitError(op.getLoc(), DiagCode::K0118)
                                << "'" << op.getName() << "' is not of the surface dialect and has no source form";
      attachHelp(diag) << "'kinac --emit=surface' prints a program in that dialect";
      return diag;
    }

  std::string text = form == SourceForm::Native ? printNative(module) : printCore(module);
  // Operations can say what no text says; reading the text again finds it, whatever it is.
  std::string problem;
  OwningOpRef<ModuleOp> again;
  {
    ScopedDiagnosticHandler first(module.getContext(), [&](Diagnostic &diagnostic) {
      if (problem.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
        problem = diagnostic.str();
      return success();
    });
    again = importKinaSource(text, "exported", module.getContext());
  }
  if (!again)
    return emitError(module.getLoc(), DiagCode::K0118)
           << "the module has no source form: its text would say \"" << problem << "\"";
  OwningOpRef<ModuleOp> wanted = withoutLocations(module), found = withoutLocations(*again);
  auto other = found->getBody()->begin(), end = found->getBody()->end();
  for (auto [op, original] : llvm::zip(*wanted->getBody(), *module.getBody())) {
    if (other == end ||
        !OperationEquivalence::isEquivalentTo(&op, &*other,
                                              OperationEquivalence::IgnoreLocations))
      return emitError(original.getLoc(), DiagCode::K0118,
                       "this item has no source form: its text would be another one");
    ++other;
  }
  os << text;
  return success();
}

LogicalResult kina::exportKinaSource(ModuleOp module, SourceForm form, raw_ostream &os) {
  LogicalResult result = failure();
  runOnDeepStack([&] { result = exportSource(module, form, os); });
  return result;
}

/// Whether the input is Kina source; else it is text or bytecode of MLIR.
static bool isKinaSource(StringRef text) {
  switch (Lexer(text).lexNative(0).kind) {
  case Tok::KwFn:
  case Tok::KwLet:
  case Tok::KwEffect:
  case Tok::KwType:
  case Tok::KwImport:
  case Tok::At:
  case Tok::LParen:
    return true;
  default:
    return false;
  }
}

static LogicalResult translate(const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &os,
                               MLIRContext *context, SourceForm form) {
  context->loadDialect<SurfaceDialect>();
  const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
  OwningOpRef<ModuleOp> module =
      isKinaSource(buffer->getBuffer())
          ? importKinaSource(buffer->getBuffer(), buffer->getBufferIdentifier(), context)
          : parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return failure();
  return exportKinaSource(*module, form, os);
}

void kina::registerExportKinaTranslations() {
  static TranslateRegistration native(
      "export-kina", "write Kina source or its surface dialect in native form",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &os, MLIRContext *context) {
        return translate(sources, os, context, SourceForm::Native);
      });
  static TranslateRegistration core(
      "export-core", "write Kina source or its surface dialect in core form",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &os, MLIRContext *context) {
        return translate(sources, os, context, SourceForm::Core);
      });
}
