//===- Explain.cpp - kinac explain: what a diagnostic code means ----------===//

#include "CommandLine.h"

#include "Kina/Support/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kina {

/// A line of a page as text: of a link its name, and the document that it leads to.
static void printLine(StringRef line) {
  if (line.consume_front("## ")) {
    outs() << line.upper() << '\n';
    return;
  }
  line.consume_front("# ");
  for (size_t link; (link = line.find("](")) != StringRef::npos;) {
    auto [before, name] = line.take_front(link).rsplit('[');
    auto [target, behind] = line.drop_front(link + 2).split(')');
    outs() << before << name;
    if (target.consume_front("../"))
      outs() << " (docs/" << target.split('#').first << ')';
    line = behind;
  }
  outs() << line << '\n';
}

/// The page as text: the names of examples are nothing to read here.
static void printPage(StringRef page) {
  bool set = false;
  for (StringRef rest = page; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (line.starts_with("```")) {
      if (!set)
        outs() << '\n';
      for (; !rest.starts_with("```") && !rest.empty(); rest = rest.split('\n').second)
        outs() << "    " << rest.split('\n').first << '\n';
      rest = rest.split('\n').second;
      outs() << '\n';
      rest.consume_front("\n");
      set = true;
      continue;
    }
    set = false;
    // A block has its empty lines already.
    if (line.empty() && (rest.starts_with("```") || rest.empty()))
      continue;
    printLine(line);
  }
}

int explainCommand(const CommandLine &line) {
  if (line.input.empty()) {
    outs() << "kinac explain CODE tells what a code means, with an example.\n\n";
    for (DiagCode code : getDiagCodes())
      outs() << stringifyDiagCode(code) << "  " << getTitle(code) << '\n';
    return 0;
  }
  StringRef digits = StringRef(line.input).ltrim("Kk");
  std::string wanted = "K" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits.str();
  std::vector<std::string> names;
  for (DiagCode code : getDiagCodes()) {
    if (stringifyDiagCode(code) == wanted) {
      printPage(getPage(code));
      return 0;
    }
    names.push_back(stringifyDiagCode(code).str());
  }
  errs() << "kinac: there is no code `" << line.input << "`" << didYouMean(wanted, names)
         << "\n(`kinac explain` lists all)\n";
  return 2;
}

} // namespace kina
