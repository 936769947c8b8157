//===- DiagnosticPages.cpp - What the codes mean, at length ---------------===//
//
// The table is made of docs/diagnostics when the build is configured.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Diagnostics.h"

using llvm::StringRef;

static constexpr struct {
  StringRef code, text;
} kPages[] = {
#include "DiagnosticPages.inc"
};

StringRef kina::getPage(DiagCode code) {
  for (const auto &page : kPages)
    if (page.code == stringifyDiagCode(code))
      return page.text;
  return {};
}
