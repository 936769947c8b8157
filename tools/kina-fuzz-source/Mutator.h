//===- Mutator.h - Wrong programs from right ones --------------*- C++ -*-===//

#ifndef KINA_TOOLS_KINA_FUZZ_SOURCE_MUTATOR_H
#define KINA_TOOLS_KINA_FUZZ_SOURCE_MUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>
#include <vector>

namespace kina {

/// Changes text by tokens and by what stands in brackets, so that most of it stays as it was
/// and the change is met late. It knows no grammar: Kina and the text of MLIR are the same to it.
class Mutator {
public:
  /// `words` may be put anywhere.
  explicit Mutator(std::vector<std::string> words) : words(std::move(words)) {}

  /// A changed `text`, of at most `maxSize` bytes; pieces may come from `donor`. The same
  /// state of `random` gives the same text on every machine.
  std::string mutate(llvm::StringRef text, llvm::StringRef donor, size_t maxSize,
                     std::mt19937_64 &random) const;

private:
  std::vector<std::string> words;
};

} // namespace kina

#endif
