//===- Explanations.cpp - A page for every diagnostic code ----------------===//

#include "Kina/Support/Explanations.h"

#include <utility>

using namespace llvm;

StringRef kina::getExplanation(StringRef code) {
  static const std::pair<StringRef, StringRef> pages[] = {
#include "Explanations.inc"
  };
  for (const auto &[name, text] : pages)
    if (name == code)
      return text;
  return {};
}
