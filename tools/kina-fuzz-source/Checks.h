//===- Checks.h - What must hold for every input ----------------*- C++ -*-===//

#ifndef KINA_TOOLS_KINA_FUZZ_SOURCE_CHECKS_H
#define KINA_TOOLS_KINA_FUZZ_SOURCE_CHECKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kina {

/// Puts texts through the compiler in this process and says what is wrong with how it took them.
class Checker {
public:
  /// The last stage that an accepted program goes through, a name of Pipelines.h.
  explicit Checker(llvm::StringRef lastStage);
  ~Checker();

  /// Kina source: the import, both printers, elaboration and all stages to the last one. Every
  /// error has a code and a place in the text, none is an internal one, a stage fails exactly if
  /// it reports an error, printing and reading again gives the same. Empty if all holds, else
  /// what does not.
  std::string checkSource(llvm::StringRef text);

  /// Typed MLIR through `pipeline`: any error is fine, but a failure has one. With `random` the
  /// module is changed first; an invalid one is left out.
  std::string checkIR(llvm::StringRef text, llvm::StringRef pipeline, std::mt19937_64 *random = nullptr);

  /// The module that checkIR would take, in generic form.
  std::string printChanged(llvm::StringRef text, std::mt19937_64 &random);

  /// The operations and types that the dialects have, and the reserved words.
  std::vector<std::string> getWords();

  /// Texts that went through all stages.
  unsigned getAcceptedCount() const { return accepted; }
  /// How many errors and warnings had each code.
  const std::map<std::string, unsigned> &getCodes() const { return codes; }

private:
  class Run;
  std::string checkStages(llvm::StringRef text);
  std::string checkKeepGoing(llvm::StringRef text);
  void renew();

  unsigned lastStage;
  /// Renewed now and then, because what it interns stays.
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned uses = 0;
  unsigned accepted = 0;
  std::map<std::string, unsigned> codes;
};

} // namespace kina

#endif
