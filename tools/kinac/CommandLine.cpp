//===- CommandLine.cpp - What the user asked kinac to do ------------------===//

#include "CommandLine.h"

#include "Kina/Pipelines/Pipelines.h"
#include "Kina/Target/AOT/CHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kina {

std::string didYouMean(StringRef name, ArrayRef<std::string> candidates) {
  StringRef best;
  unsigned bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string &candidate : candidates)
    if (unsigned distance = name.edit_distance(candidate, true, bestDistance); distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  return best.empty() ? "" : (", did you mean `" + best + "`?").str();
}

void printHelp() {
  outs() << R"(Compiles and runs Kina programs.

usage:
  kinac FILE                                compile, and report every error
  kinac -o OUT.so [options] FILE            make a shared object and the C header OUT.h
  kinac --emit=STAGE [-o OUT] FILE          print the program after a stage
  kinac check FILE                          check only: names, types, sizes, places, ownership
  kinac explain [CODE]                      what a code such as K0301 means; all codes
  kinac run FILE [FUNCTION] [options]       compile and call a function (default: main)
  kinac grad-check FILE [FUNCTION] [options]
                                            compare derivatives with differences

FILE is Kina source (.kina, or - for standard input) or typed MLIR (.mlir).

arguments of run and grad-check:
  --arg NAME=VALUE     once per parameter: a NumPy file (x=x.npy) or a literal of the
                       parameter's element type (n=3, flag=true, 'c=[[1, 2], [3, 4]]')

results of run:
  --out FILE.npy       write a result to a NumPy file, once per result, in their order
  --json               print the results as one JSON array
  --batch CALLS.json   compile once and make many calls: a JSON array of objects
                       {"function": "f", "arguments": {"x": "x.npy"}, "out": ["y.npy"]};
                       prints one line of JSON for each call
  --max-steps N        stop after N iterations of loops that nothing else bounds

machine code:
  -o OUT.so, -o OUT.o  a shared object or an object file, with a C header beside it
  --emit=so|obj|header the same by name; header alone prints the C header
  --mcpu CPU           the processor to compile for (default: native, this machine's)
  --module-name NAME   what the names of its functions begin with (default: OUT)
  --static-runtime     make the run-time library a part of the shared object

grad-check:
  --wrt x,y            the parameters to check (default: all of float type)
  --eps E              step of the differences (default: by element type)
  --tol T              largest relative error that passes (default: by element type)
  --seed N             of the random directions and cotangents (default: 0)

general:
  -O0 -O1 -O2 -O3      how long to optimise (default: -O2)
  --timing             print what compiling and running took
  --remarks            tell what costs time: whole tensors that loops copy (not of check)
  --smt-stats          print how obligations on sizes were decided
  --dump-smt DIR       write those that reach the solver there, as SMT-LIB
  --error-format=text|json
  --color=auto|always|never
  --version, --help

stages of --emit, each with the kina-opt flags that do the same:
)";
  for (const Stage &stage : getStages())
    outs() << "  " << left_justify(stage.name, 10) << left_justify((stage.from + " -> " + stage.to).str(), 52)
           << stage.flags << '\n';
  outs() << R"(
Exit status: 0 success, 1 an error in the program or when it ran, 2 a wrong command line.
)";
}

namespace {
class Parser {
public:
  Parser(ArrayRef<const char *> args) : args(args) {}

  std::optional<CommandLine> parse() {
    if (args.empty())
      return usage("no input file");
    static const std::pair<StringRef, CommandLine::Command> commands[] = {
        {"run", CommandLine::Command::Run},
        {"check", CommandLine::Command::Check},
        {"explain", CommandLine::Command::Explain},
        {"grad-check", CommandLine::Command::GradCheck}};
    // What is common to all commands may stand before the command.
    size_t first = 0;
    while (first < args.size() && (StringRef(args[first]) == "--timing" || StringRef(args[first]).starts_with("--color=") ||
                                   StringRef(args[first]).starts_with("--error-format=")))
      ++first;
    size_t commandAt = args.size();
    for (auto [name, command] : commands)
      if (first < args.size() && args[first] == name) {
        line.command = command;
        this->command = name;
        commandAt = first;
        break;
      }
    while (next < args.size()) {
      if (next == commandAt) {
        ++next;
        continue;
      }
      StringRef arg = args[next++];
      if (arg == "--help" || arg == "-h") {
        line.command = CommandLine::Command::Help;
        return line;
      }
      if (arg == "--version") {
        line.command = CommandLine::Command::Version;
        return line;
      }
      if (arg.size() > 1 && arg.starts_with("-")) {
        if (!parseOption(arg))
          return std::nullopt;
        continue;
      }
      positional.push_back(arg.str());
    }
    bool calls = line.command == CommandLine::Command::Run || line.command == CommandLine::Command::GradCheck;
    if (line.command == CommandLine::Command::Explain && positional.size() <= 1) {
      line.input = positional.empty() ? "" : positional[0];
      return line;
    }
    if (positional.empty())
      return usage(line.command == CommandLine::Command::Compile ? "no input file"
                                                                 : "`" + command + "` needs a file");
    line.input = positional[0];
    if (!finishOutput())
      return std::nullopt;
    if (calls && positional.size() > 1)
      line.function = positional[1];
    if (positional.size() > (calls ? 2 : 1)) {
      StringRef extra = positional[calls ? 2 : 1];
      std::string help;
      if (calls && extra.contains('='))
        help = ("; an argument is given as --arg " + extra).str();
      else if (!calls && line.command == CommandLine::Command::Compile)
        help = didYouMean(line.input, {"run", "check", "explain", "grad-check"});
      return usage("unexpected `" + extra + "`" + help);
    }
    if (!line.batch.empty() && (positional.size() > 1 || !line.arguments.empty() || !line.outs.empty() || line.json))
      return usage("with `--batch` the functions, arguments and results stand in `" + line.batch + "`");
    return line;
  }

private:
  std::nullopt_t usage(const Twine &message) {
    errs() << "kinac: " << message << "\n(`kinac --help` shows the usage)\n";
    return std::nullopt;
  }

  /// Whether the option belongs to the command; says so if not.
  bool belongs(StringRef option, bool yes, StringRef to) {
    if (!yes)
      usage("`" + option + "` belongs to " + to);
    return yes;
  }

  /// What -o and --emit mean together.
  bool finishOutput() {
    using Output = CommandLine::Output;
    StringRef extension = sys::path::extension(line.output);
    if (line.emit == Output::Nothing && !line.output.empty()) {
      line.emit = StringSwitch<Output>(extension)
                      .Case(".so", Output::SharedObject)
                      .Case(".o", Output::Object)
                      .Case(".h", Output::Header)
                      .Default(Output::Nothing);
      if (line.emit == Output::Nothing)
        return usage("`-o " + line.output +
                     "` is no .so, .o or .h file, so --emit=STAGE has to say what to write"),
               false;
    }
    bool binary = line.emit == Output::SharedObject || line.emit == Output::Object;
    if (binary && (line.output.empty() || line.output == "-"))
      return usage("machine code needs a file to go to; use -o FILE"), false;
    if (line.staticRuntime && line.emit != Output::SharedObject)
      return usage("`--static-runtime` belongs to shared objects"), false;
    if (line.cpu != "native" && !binary)
      return usage("`--mcpu` belongs to object files and shared objects"), false;
    if (!line.moduleName.empty() && !binary && line.emit != Output::Header)
      return usage("`--module-name` belongs to object files, shared objects and headers"), false;
    bool named = !line.moduleName.empty();
    if (!named) {
      bool toFile = !line.output.empty() && line.output != "-";
      StringRef source = line.input == "-" ? "module" : StringRef(line.input);
      line.moduleName = toCIdentifier(sys::path::stem(toFile ? StringRef(line.output) : source));
    } else if (line.moduleName != toCIdentifier(line.moduleName)) {
      return usage("`--module-name` needs an identifier of C, not `" + line.moduleName + "`"), false;
    }
    // With one of these, functions could have the names of the library's.
    if ((binary || line.emit == Output::Header) &&
        is_contained({"kina", "kina_context", "kina_memory", "kina_rt", "kina_tensor"}, line.moduleName))
      return usage("the name `" + line.moduleName + "` is the run-time library's; use " +
                   (named ? "another" : "--module-name")),
             false;
    return true;
  }

  bool parseOption(StringRef arg) {
    auto [name, value] = arg.split('=');
    bool hasValue = arg.contains('=');
    using Command = CommandLine::Command;
    bool run = line.command == Command::Run, gradCheck = line.command == Command::GradCheck;
    bool compile = line.command == Command::Compile;

    auto flag = [&](bool &target) {
      if (hasValue)
        return usage("`" + name + "` takes no value"), false;
      target = true;
      return true;
    };
    auto text = [&](std::string &target) {
      if (!hasValue) {
        if (next == args.size())
          return usage("`" + name + "` needs a value"), false;
        value = args[next++];
      }
      target = value.str();
      return true;
    };
    auto choice = [&](std::string &target, ArrayRef<StringRef> choices) {
      if (!text(target))
        return false;
      if (!is_contained(choices, StringRef(target)))
        return usage("`" + name + "` is one of " + join(choices, ", ") + ", not `" + target + "`"), false;
      return true;
    };
    auto positive = [&](std::optional<double> &target) {
      std::string spelled;
      double number;
      if (!text(spelled))
        return false;
      if (StringRef(spelled).getAsDouble(number) || !(number > 0) || number > 1e300)
        return usage("`" + name + "` needs a positive number, not `" + spelled + "`"), false;
      target = number;
      return true;
    };
    auto integer = [&](uint64_t &target) {
      std::string spelled;
      if (!text(spelled))
        return false;
      if (StringRef(spelled).getAsInteger(10, target))
        return usage("`" + name + "` needs a number from 0, not `" + spelled + "`"), false;
      return true;
    };

    if (name == "--arg") {
      std::string spelled;
      if (!belongs(name, run || gradCheck, "`run` and `grad-check`") || !text(spelled))
        return false;
      auto [parameter, argument] = StringRef(spelled).split('=');
      if (!StringRef(spelled).contains('=') || parameter.trim().empty() || argument.trim().empty())
        return usage("`--arg` is followed by NAME=VALUE, not `" + spelled + "`"), false;
      line.arguments.push_back({parameter.trim().str(), argument.trim().str()});
      return true;
    }
    if (name == "--out") {
      std::string path;
      if (!belongs(name, run, "`run`") || !text(path))
        return false;
      line.outs.push_back(path);
      return true;
    }
    if (name == "--json")
      return belongs(name, run, "`run`") && flag(line.json);
    if (name == "--batch")
      return belongs(name, run, "`run`") && text(line.batch);
    if (name == "--max-steps")
      return belongs(name, run, "`run`") && integer(line.maxSteps);
    if (name == "--wrt") {
      std::string names;
      if (!belongs(name, gradCheck, "`grad-check`") || !text(names))
        return false;
      for (StringRef parameter : split(names, ','))
        line.wrt.push_back(parameter.trim().str());
      return true;
    }
    if (name == "--eps")
      return belongs(name, gradCheck, "`grad-check`") && positive(line.epsilon);
    if (name == "--tol")
      return belongs(name, gradCheck, "`grad-check`") && positive(line.tolerance);
    if (name == "--seed")
      return belongs(name, gradCheck, "`grad-check`") && integer(line.seed);
    if (name == "--emit") {
      std::string what;
      if (!belongs(name, compile, "plain compilation") || !text(what))
        return false;
      using Output = CommandLine::Output;
      line.emit = StringSwitch<Output>(what)
                      .Case("so", Output::SharedObject)
                      .Case("obj", Output::Object)
                      .Case("header", Output::Header)
                      .Default(Output::Stage);
      if (line.emit != Output::Stage)
        return true;
      std::optional<unsigned> index = findStage(what);
      if (!index)
        return usage("there is no stage `" + what + "`; the stages are " + getStageNames() +
                     ", and then obj, so and header"),
               false;
      line.stage = *index;
      return true;
    }
    if (name == "-o")
      return belongs(name, compile, "plain compilation") && text(line.output);
    if (name == "--mcpu")
      return belongs(name, compile, "plain compilation") && text(line.cpu);
    if (name == "--module-name")
      return belongs(name, compile, "plain compilation") && text(line.moduleName);
    if (name == "--static-runtime")
      return belongs(name, compile, "plain compilation") && flag(line.staticRuntime);
    if (name == "--timing")
      return flag(line.timing);
    if (name == "--remarks")
      return belongs(name, compile || run, "plain compilation and `run`") && flag(line.stages.remarks);
    if (name == "--smt-stats")
      return flag(line.stages.smtStats);
    if (name == "--dump-smt")
      return text(line.stages.dumpSmt);
    if (arg.size() == 3 && arg.starts_with("-O") && arg[2] >= '0' && arg[2] <= '3') {
      line.optLevel = arg[2] - '0';
      return true;
    }
    if (name == "--error-format")
      return choice(line.errorFormat, {"text", "json"});
    if (name == "--color")
      return choice(line.color, {"auto", "always", "never"});
    static const std::string options[] = {"--arg", "--out",  "--json",   "--batch", "--max-steps",    "--wrt",   "--eps",  "--tol",
                                          "--seed", "--emit", "--mcpu", "--module-name", "--static-runtime", "-O2", "--timing", "--remarks", "--smt-stats", "--dump-smt", "--error-format", "--color", "--help", "--version"};
    usage("unknown option `" + name + "`" + didYouMean(name, options));
    return false;
  }

  ArrayRef<const char *> args;
  size_t next = 0;
  std::string command;
  std::vector<std::string> positional;
  CommandLine line;
};
} // namespace

std::optional<CommandLine> parseCommandLine(ArrayRef<const char *> args) { return Parser(args).parse(); }

} // namespace kina
