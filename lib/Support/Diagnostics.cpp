//===- Diagnostics.cpp - Diagnostics with codes ---------------------------===//

#include "Kina/Support/Diagnostics.h"

#include "mlir/IR/Location.h"

#include <set>

using namespace kina;
using namespace mlir;

namespace {
struct CodeInfo {
  StringRef name;
  DiagStage stage;
  StringRef title;
};

constexpr CodeInfo kCodes[] = {
#define KINA_DIAGNOSTIC(code, stage, title) {#code, DiagStage::stage, title},
#include "Kina/Support/DiagnosticCodes.def"
};
} // namespace

static constexpr DiagCode kAll[] = {
#define KINA_DIAGNOSTIC(code, stage, title) DiagCode::code,
#include "Kina/Support/DiagnosticCodes.def"
};

ArrayRef<DiagCode> kina::getDiagCodes() { return kAll; }
StringRef kina::stringifyDiagCode(DiagCode code) { return kCodes[unsigned(code)].name; }
StringRef kina::getTitle(DiagCode code) { return kCodes[unsigned(code)].title; }
DiagStage kina::getStage(DiagCode code) { return kCodes[unsigned(code)].stage; }

std::pair<std::optional<DiagCode>, StringRef> kina::splitDiagCode(StringRef message) {
  if (message.size() < 7 || message[0] != 'K' || message.substr(5, 2) != ": ")
    return {std::nullopt, message};
  for (auto [index, info] : llvm::enumerate(kCodes))
    if (info.name == message.take_front(5))
      return {DiagCode(index), message.drop_front(7)};
  return {std::nullopt, message};
}

InFlightDiagnostic kina::emitError(Location loc, DiagCode code, const Twine &message) {
  return mlir::emitError(loc) << stringifyDiagCode(code) << ": " << message;
}

InFlightDiagnostic kina::emitWarning(Location loc, DiagCode code, const Twine &message) {
  return mlir::emitWarning(loc) << stringifyDiagCode(code) << ": " << message;
}

InFlightDiagnostic kina::emitRemark(Location loc, DiagCode code, const Twine &message) {
  return mlir::emitRemark(loc) << stringifyDiagCode(code) << ": " << message;
}

//===----------------------------------------------------------------------===//
// DiagnosticSorter
//===----------------------------------------------------------------------===//

DiagnosticSorter::DiagnosticSorter(MLIRContext *context) : context(context) {
  handler.emplace(context, [this](Diagnostic &diagnostic) {
    diagnostics.push_back(std::move(diagnostic));
    return success();
  });
}

DiagnosticSorter::~DiagnosticSorter() {
  handler.reset();
  using Start = std::tuple<StringRef, unsigned, unsigned>;
  SmallVector<std::pair<Start, size_t>> order;
  for (auto [index, diagnostic] : llvm::enumerate(diagnostics)) {
    auto file = diagnostic.getLocation()->findInstanceOf<FileLineColRange>();
    order.push_back({file ? Start(file.getFilename().getValue(), file.getStartLine(), file.getStartColumn()) : Start(),
                     index});
  }
  llvm::sort(order);
  std::set<std::pair<Start, std::string>> told;
  for (auto &[start, index] : order) {
    std::string text = diagnostics[index].str();
    for (Diagnostic &note : diagnostics[index].getNotes())
      text += note.str();
    if (told.insert({start, text}).second)
      context->getDiagEngine().emit(std::move(diagnostics[index]));
  }
}
