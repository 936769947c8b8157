//===- CommandLine.h - What the user asked kinac to do ---------*- C++ -*-===//

#ifndef KINA_TOOLS_KINAC_COMMANDLINE_H
#define KINA_TOOLS_KINAC_COMMANDLINE_H

#include "Kina/Pipelines/Pipelines.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kina {

struct CommandLine {
  enum class Command { Compile, Run, Check, GradCheck, Explain, Help, Version };

  Command command = Command::Compile;
  /// The file, or the code to explain.
  std::string input;
  /// The function of run and grad-check.
  std::string function = "main";
  /// What is written.
  enum class Output { Nothing, Stage, Object, SharedObject, Header };
  Output emit = Output::Nothing;
  /// The stage that is written.
  unsigned stage = 0;
  /// The file of -o; "" for standard output.
  std::string output;
  /// Of machine code that is written: the processor, what the names of functions begin with,
  /// and whether the run-time library becomes a part of it.
  std::string cpu = "native", moduleName;
  bool staticRuntime = false;
  /// `x=3` as ("x", "3"), in order.
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::string> outs;
  /// The file of --batch; "" for a single call.
  std::string batch;
  bool json = false, timing = false;
  /// Effort of LLVM's optimisations, 0 to 3.
  unsigned optLevel = 2;
  uint64_t maxSteps = 0;
  /// The parameters of --wrt; empty for all of float type.
  std::vector<std::string> wrt;
  std::optional<double> epsilon, tolerance;
  uint64_t seed = 0;
  /// Of --dump-smt, --smt-stats and --remarks.
  StageOptions stages;
  /// Of diagnostics: `text` or `json`; `auto`, `always` or `never`.
  std::string errorFormat = "text", color = "auto";
};

/// Reads the command line. An error is printed, with what to do; then nothing comes back.
std::optional<CommandLine> parseCommandLine(llvm::ArrayRef<const char *> args);

/// Prints the page of the code that stands where a file would, or the list of all; returns the
/// exit status.
int explainCommand(const CommandLine &line);

/// The text of --help.
void printHelp();

/// `, did you mean `x`?` for the candidate closest to `name`, "" if none is close.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> candidates);

} // namespace kina

#endif
