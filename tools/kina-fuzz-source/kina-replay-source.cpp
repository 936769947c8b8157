//===- kina-replay-source.cpp - Checks programs and wrong ones made of them ===//
//
// The checks of kina-fuzz-source without libFuzzer, for ordinary builds: the files as they
// are, then `--mutations` changed ones. A changed input depends on the seed, its number and
// the files alone, so that one that fails can be made again: `--first=NUMBER --mutations=1
// --print`.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Mutator.h"

#include "Kina/InitAll.h"
#include "Kina/Pipelines/Pipelines.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <sys/resource.h>
#include <sys/time.h>

using namespace kina;
namespace cl = llvm::cl;
using llvm::StringRef;

namespace {

/// A file, or a part of one that `// -----` divides.
struct Entry {
  std::string name, text;
};

bool addFile(StringRef path, std::vector<Entry> &entries) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
  if (!buffer) {
    llvm::errs() << path << ": " << buffer.getError().message() << '\n';
    return false;
  }
  llvm::SmallVector<StringRef> parts;
  (*buffer)->getBuffer().split(parts, "// -----\n");
  for (StringRef part : parts)
    entries.push_back({path.str(), part.str()});
  return true;
}

/// All files below a folder whose names end as `suffix` says, in the order of their names.
bool addFolder(StringRef folder, StringRef suffix, std::vector<Entry> &entries) {
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(suffix))
      paths.push_back(it->path());
  if (error) {
    llvm::errs() << folder << ": " << error.message() << '\n';
    return false;
  }
  llvm::sort(paths);
  return llvm::all_of(paths, [&](StringRef path) { return addFile(path, entries); });
}

/// Ends the process, with a trace that names the input, if one takes longer than it may.
void limitTime(unsigned seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

size_t peakMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return size_t(usage.ru_maxrss) << 10;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::list<std::string> inputs(cl::Positional, cl::desc("files and folders"), cl::OneOrMore);
  cl::opt<std::string> suffix("suffix", cl::desc("How the files of folders end"), cl::init(".kina"));
  cl::opt<unsigned> mutations("mutations", cl::desc("Changed inputs to check"), cl::init(0));
  cl::opt<unsigned> first("first", cl::desc("The number of the first of them"), cl::init(0));
  cl::opt<unsigned> seed("seed", cl::desc("What the changes depend on"), cl::init(1));
  cl::opt<std::string> stage("stage", cl::desc("The last stage: " + getStageNames()), cl::init("verified"));
  cl::opt<std::string> pipeline("pipeline", cl::desc("The inputs are MLIR, for this pipeline of passes"));
  // Where MLIR's own parser gives a text up, it destroys operations before their users, which
  // spoils the memory of all that follows if a value was used outside of its region.
  cl::opt<bool> asText("as-text", cl::desc("Change the text of MLIR too, not modules alone"));
  cl::opt<unsigned> maxSize("max-size", cl::desc("Bytes of an input"), cl::init(8192));
  cl::opt<unsigned> timeLimit("time-limit", cl::desc("Seconds of processor time for an input"), cl::init(10));
  cl::opt<double> slow("slow", cl::desc("Name inputs that take more seconds"), cl::init(2));
  cl::opt<unsigned> memoryLimit("memory-limit", cl::desc("MiB for all"), cl::init(2048));
  cl::opt<bool> print("print", cl::desc("Print the inputs instead"));
  cl::opt<bool> codes("codes", cl::desc("Count the errors of each code"));
  cl::opt<bool> keepGoing("keep-going", cl::desc("Do not stop at the first input that fails"));
  cl::ParseCommandLineOptions(argc, argv, "Checks programs, and wrong ones made of them\n");
  if (!findStage(stage)) {
    llvm::errs() << "no stage '" << stage << "'\n";
    return 2;
  }

  std::vector<Entry> entries;
  for (const std::string &input : inputs)
    if (!(llvm::sys::fs::is_directory(input) ? addFolder(input, suffix, entries) : addFile(input, entries)))
      return 2;
  if (entries.empty()) {
    llvm::errs() << "no input\n";
    return 2;
  }
  registerAllPasses();
  Checker checker(stage);
  Mutator mutator(checker.getWords());
  // As a crash does, it ends with a trace.
  std::signal(SIGPROF, [](int) { std::abort(); });

  unsigned failures = 0;
  double slowest = 0;
  auto take = [&](const std::string &name, StringRef text, std::mt19937_64 *random = nullptr) {
    if (print) {
      llvm::outs() << (random ? checker.printChanged(text, *random) : text.str());
      return true;
    }
    llvm::PrettyStackTraceFormat trace("the input: %s\n", name.c_str());
    limitTime(timeLimit);
    auto begin = std::chrono::steady_clock::now();
    std::string problem = pipeline.empty() ? checker.checkSource(text) : checker.checkIR(text, pipeline, random);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    limitTime(0);
    slowest = std::max(slowest, seconds);
    if (problem.empty() && peakMemory() >> 20 > memoryLimit)
      problem = "memory: " + std::to_string(peakMemory() >> 20) + " MiB";
    if (seconds > slow)
      llvm::errs() << name << ": " << llvm::formatv("{0:F1} s\n", seconds).str();
    if (problem.empty())
      return true;
    ++failures;
    llvm::errs() << name << ": " << problem << '\n';
    return keepGoing.getValue();
  };

  if (!print || mutations == 0)
    for (const Entry &entry : entries)
      if (!take(entry.name, entry.text))
        return 1;
  for (unsigned number = first; number < first + mutations; ++number) {
    std::seed_seq sequence{unsigned(seed), number};
    std::mt19937_64 random(sequence);
    const Entry &entry = entries[random() % entries.size()];
    bool inMemory = !pipeline.empty() && !(asText && random() % 2);
    std::string text =
        inMemory ? entry.text
                 : mutator.mutate(entry.text, entries[random() % entries.size()].text, maxSize, random);
    if (!take(entry.name + ", --seed=" + std::to_string(seed) + " --first=" + std::to_string(number), text,
              inMemory ? &random : nullptr))
      return 1;
  }
  if (codes)
    for (const auto &[code, count] : checker.getCodes())
      llvm::outs() << code << ' ' << count << '\n';
  if (!print)
    llvm::outs() << entries.size() << " inputs and " << mutations << " changed ones: " << checker.getAcceptedCount()
                 << " accepted, " << failures << " failures, the slowest "
                 << llvm::formatv("{0:F2} s, {1} MiB\n", slowest, peakMemory() >> 20);
  return failures ? 1 : 0;
}
