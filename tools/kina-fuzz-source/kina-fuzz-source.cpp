//===- kina-fuzz-source.cpp - libFuzzer on Kina source --------------------===//
//
// Text that is changed by tokens, and by bytes where libFuzzer knows better, through the
// checks of Checks.h. `make fuzz-source` builds and runs it.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Mutator.h"

#include "Kina/InitAll.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace kina;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static Checker &getChecker() {
  static Checker checker("verified");
  return checker;
}

static const Mutator &getMutator() {
  static Mutator mutator(getChecker().getWords());
  return mutator;
}

static size_t give(const std::string &text, uint8_t *data, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}

static llvm::StringRef toText(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string problem = getChecker().checkSource(toText(data, size));
  if (!problem.empty()) {
    llvm::errs() << problem << '\n';
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  if (seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::mt19937_64 random(seed);
  return give(getMutator().mutate(toText(data, size), toText(data, size), maxSize, random), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize,
                                            uint8_t *out, size_t maxSize, unsigned seed) {
  std::mt19937_64 random(seed);
  return give(getMutator().mutate(toText(one, oneSize), toText(other, otherSize), maxSize, random), out, maxSize);
}

/// The shared MLIR is not instrumented: what it does to containers is unknown to us.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0";
}
