//===- Run.cpp - kinac run ------------------------------------------------===//

#include "Arguments.h"

#include "Kina/ExecutionEngine/Json.h"
#include "Kina/ExecutionEngine/Npy.h"
#include "Kina/Support/OutputFiles.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <cstring>

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// Interrupts and progress
//===----------------------------------------------------------------------===//

static std::atomic<kina_context *> running;

/// The first Ctrl-C ends the call at its next poll; code that does not poll ends with the
/// second.
static void onInterrupt(int) {
  if (kina_context *context = running.exchange(nullptr))
    kina_context_interrupt(context);
  std::signal(SIGINT, SIG_DFL);
}

static void onProgress(void *shown, uint64_t steps, double seconds) {
  if (seconds < 1)
    return;
  *static_cast<bool *>(shown) = true;
  llvm::errs() << llvm::format("\r%.1f s, %llu loop steps\x1b[K", seconds, (unsigned long long)steps);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Larger tensors are cut to the ends of their axes.
static constexpr int64_t kMostShown = 1000, kEnds = 3;

static void printValue(llvm::raw_ostream &os, const Tensor &tensor, unsigned axis, int64_t offset, bool cut) {
  if (axis == tensor.getRank()) {
    llvm::Expected<Tensor> scalar = Tensor::create(tensor.getDType(), {});
    if (!scalar)
      return llvm::consumeError(scalar.takeError());
    size_t bytes = getNumBytes(tensor.getDType());
    std::memcpy(scalar->getData(), static_cast<const char *>(tensor.getData()) + offset * bytes, bytes);
    return printJson(os, *scalar);
  }
  int64_t size = tensor.getShape()[axis], stride = 1;
  for (int64_t inner : tensor.getShape().drop_front(axis + 1))
    stride *= inner;
  bool last = axis + 1 == tensor.getRank();
  auto separate = [&] {
    os << ',';
    if (last)
      os << ' ';
    else
      os << '\n' << std::string(axis + 1, ' ');
  };
  os << '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i)
      separate();
    if (cut && size > 2 * kEnds && i == kEnds) {
      os << "...";
      i = size - kEnds - 1;
      continue;
    }
    printValue(os, tensor, axis + 1, offset + i * stride, cut);
  }
  os << ']';
}

static void printReadable(llvm::raw_ostream &os, ArrayRef<Tensor> results) {
  for (auto [index, result] : llvm::enumerate(results)) {
    if (results.size() > 1)
      os << "result " << index << ":" << (result.getRank() > 1 ? "\n" : " ");
    printValue(os, result, 0, 0, result.getNumElements() > kMostShown);
    os << '\n';
  }
}

bool writeResults(Session &session, ArrayRef<std::string> outs, ArrayRef<Tensor> results) {
  SmallVector<OutputFile> files;
  for (auto [path, result] : llvm::zip(outs, results))
    files.push_back({path, [&result](llvm::raw_ostream &os) { printNpy(os, result); }});
  if (llvm::Error failure = writeFiles(files)) {
    session.report(std::move(failure));
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

int runCommand(Session &session) {
  const CommandLine &line = session.getLine();
  if (failed(session.load()) || failed(session.advanceTo("typed")))
    return 1;
  FuncOp function = session.selectFunction(line.function);
  if (!function)
    return 1;
  if (!line.outs.empty() && line.outs.size() != function.getNumResults()) {
    session.error() << "`" << line.function << "` has " << function.getNumResults() << " results, but --out is given "
                    << line.outs.size() << " times";
    return 2;
  }
  // The call may take hours; what is wrong with its files is said before.
  if (llvm::Error failure = checkOutputPaths(line.outs)) {
    session.report(std::move(failure));
    return 1;
  }
  FailureOr<SmallVector<Tensor>> arguments = readArguments(session, function, line.arguments);
  if (failed(arguments))
    return 1;
  std::unique_ptr<JIT> jit = session.compile();
  if (!jit)
    return 1;

  ContextPtr context(kina_context_create(nullptr));
  if (!context) {
    session.error() << "K0806: out of memory";
    return 1;
  }
  kina_context_set_max_steps(context.get(), line.maxSteps);
  bool progressShown = false;
  if (llvm::errs().is_displayed())
    kina_context_set_progress(context.get(), onProgress, &progressShown, 0.25);
  running = context.get();
  std::signal(SIGINT, onInterrupt);
  std::optional<SmallVector<Tensor>> results;
  llvm::Error failure = llvm::Error::success();
  double seconds = measure([&] {
    llvm::Expected<SmallVector<Tensor>> called = jit->call(line.function, *arguments, context.get());
    if (called)
      results = std::move(*called);
    else
      failure = llvm::joinErrors(std::move(failure), called.takeError());
  });
  running = nullptr;
  std::signal(SIGINT, SIG_DFL);
  session.addTime("running", seconds);
  if (progressShown)
    llvm::errs() << "\r\x1b[K";
  if (failure) {
    session.report(std::move(failure));
    return 1;
  }
  llvm::consumeError(std::move(failure));

  if (!line.outs.empty() && !writeResults(session, line.outs, *results))
    return 1;
  if (line.json) {
    printJson(llvm::outs(), *results);
    llvm::outs() << '\n';
  } else if (line.outs.empty()) {
    printReadable(llvm::outs(), *results);
  }
  return 0;
}

} // namespace kina
