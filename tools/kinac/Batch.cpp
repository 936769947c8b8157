//===- Batch.cpp - kinac run --batch: many calls of one compilation -------===//
//
// For tests and scripts that call many functions of a file: the compiler starts once.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace kina {

namespace {
struct Call {
  std::string function;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::string> outs;
  FuncOp op;
};
} // namespace

/// Reads the array of calls; on failure an error has been reported.
static std::optional<std::vector<Call>> readCalls(Session &session, StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    session.error() << "cannot read `" << path << "`: " << file.getError().message();
    return std::nullopt;
  }
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    session.error() << "`" << path << "` is no JSON: " << llvm::toString(value.takeError());
    return std::nullopt;
  }
  auto malformed = [&](size_t index, const Twine &what) {
    session.error() << "`" << path << "`, call " << index << ": " << what.str();
    return std::nullopt;
  };
  const llvm::json::Array *array = value->getAsArray();
  if (!array) {
    session.error() << "`" << path << "` is not an array of calls";
    return std::nullopt;
  }
  std::vector<Call> calls;
  for (auto [index, element] : llvm::enumerate(*array)) {
    const llvm::json::Object *object = element.getAsObject();
    std::optional<StringRef> function = object ? object->getString("function") : std::nullopt;
    if (!function)
      return malformed(index, "it names no \"function\"");
    Call call;
    call.function = function->str();
    if (const llvm::json::Object *arguments = object->getObject("arguments"))
      for (const auto &[name, argument] : *arguments) {
        std::optional<StringRef> text = argument.getAsString();
        if (!text)
          return malformed(index, "the argument \"" + StringRef(name) + "\" is no string");
        call.arguments.push_back({name.str(), text->str()});
      }
    // The order of an object's members is not that of the file; diagnostics want a fixed one.
    llvm::sort(call.arguments);
    if (const llvm::json::Array *outs = object->getArray("out"))
      for (const llvm::json::Value &out : *outs) {
        std::optional<StringRef> text = out.getAsString();
        if (!text)
          return malformed(index, "a path of \"out\" is no string");
        call.outs.push_back(text->str());
      }
    calls.push_back(std::move(call));
  }
  return calls;
}

/// One line for each call, at once, so that a reader sees how far a crash let it get.
static void printStatus(StringRef function, int32_t status, StringRef message) {
  llvm::json::Object object{{"function", function}, {"status", status}};
  if (!message.empty())
    object["message"] = llvm::json::fixUTF8(message);
  llvm::outs() << llvm::json::Value(std::move(object)) << '\n';
  llvm::outs().flush();
}

int batchCommand(Session &session) {
  const CommandLine &line = session.getLine();
  std::optional<std::vector<Call>> calls = readCalls(session, line.batch);
  if (!calls || failed(session.load()) || failed(session.advanceTo("typed")))
    return 1;
  llvm::SetVector<FuncOp> functions;
  for (Call &call : *calls) {
    call.op = session.findFunction(call.function);
    if (!call.op)
      return 1;
    if (call.outs.size() != call.op.getNumResults()) {
      session.error() << "`" << call.function << "` has " << call.op.getNumResults() << " results, but \"out\" has "
                      << call.outs.size();
      return 1;
    }
    functions.insert(call.op);
  }
  session.keepPublic(functions.getArrayRef());
  // Compiling changes the signatures that arguments are checked against.
  std::vector<FailureOr<SmallVector<Tensor>>> arguments;
  for (Call &call : *calls)
    arguments.push_back(readArguments(session, call.op, call.arguments));
  std::unique_ptr<JIT> jit = session.compile();
  if (!jit)
    return 1;

  bool allPassed = true;
  double seconds = measure([&] {
    for (auto [call, values] : llvm::zip(*calls, arguments)) {
      auto fail = [&](int32_t status, StringRef message) {
        allPassed = false;
        printStatus(call.function, status, message);
      };
      if (failed(values)) {
        fail(802, "the arguments do not fit");
        continue;
      }
      ContextPtr context(kina_context_create(nullptr));
      if (!context) {
        fail(806, "out of memory");
        continue;
      }
      kina_context_set_max_steps(context.get(), line.maxSteps);
      llvm::Expected<SmallVector<Tensor>> results = jit->call(call.function, *values, context.get());
      if (!results) {
        int32_t status = 1;
        std::string message;
        llvm::handleAllErrors(
            results.takeError(),
            [&](const CallError &error) {
              status = error.code;
              message = error.message;
            },
            [&](const llvm::ErrorInfoBase &error) { message = error.message(); });
        fail(status, message);
      } else if (!writeResults(session, call.outs, *results)) {
        fail(1, "the results cannot be written");
      } else {
        printStatus(call.function, 0, "");
      }
    }
  });
  session.addTime("running", seconds);
  return allPassed ? 0 : 1;
}

} // namespace kina
