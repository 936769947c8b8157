//===- Explain.cpp - kinac explain ----------------------------------------===//

#include "CommandLine.h"

#include "Kina/Support/Diagnostics.h"
#include "Kina/Support/Explanations.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kina {

namespace {
struct Code {
  StringRef name;
  DiagStage stage;
  StringRef title;
};
} // namespace

static constexpr Code codes[] = {
#define KINA_DIAGNOSTIC(code, stage, title) {#code, DiagStage::stage, title},
#include "Kina/Support/DiagnosticCodes.def"
};

static StringRef describe(DiagStage stage) {
  switch (stage) {
  case DiagStage::Parse:
    return "text";
  case DiagStage::Names:
    return "names, and what is not built";
  case DiagStage::Structure:
    return "ranks, element types and arguments";
  case DiagStage::Effects:
    return "effects and derivatives";
  case DiagStage::Placement:
    return "places";
  case DiagStage::Ownership:
    return "ownership";
  case DiagStage::Refinement:
    return "sizes";
  case DiagStage::RunTime:
    return "when a program runs";
  case DiagStage::Internal:
    return "the compiler itself";
  }
  llvm_unreachable("all stages handled");
}

/// All codes, in their order, under what they are about.
static void list() {
  std::optional<DiagStage> last;
  for (const Code &code : codes) {
    if (code.stage != last)
      outs() << (last ? "\n" : "") << describe(code.stage) << ":\n";
    last = code.stage;
    outs() << "  " << code.name << "  " << code.title << '\n';
  }
}

int explainCommand(const CommandLine &line) {
  if (line.input.empty()) {
    list();
    return 0;
  }
  // As a message shows it, or as it is typed in haste.
  std::string wanted = StringRef(line.input).upper();
  StringRef name = StringRef(wanted).trim("[]:");
  for (const Code &code : codes)
    if (code.name == name) {
      StringRef page = getExplanation(name);
      if (page.empty())
        outs() << "# " << code.name << ": " << code.title << '\n';
      outs() << page;
      return 0;
    }
  std::vector<std::string> names;
  for (const Code &code : codes)
    names.push_back(code.name.str());
  errs() << "kinac: there is no code `" << line.input << "`" << didYouMean(name, names)
         << "\n(`kinac explain` lists all codes)\n";
  return 2;
}

} // namespace kina
