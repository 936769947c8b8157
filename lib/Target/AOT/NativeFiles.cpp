//===- NativeFiles.cpp - Object files and shared objects ------------------===//

#include "Kina/Target/AOT/NativeFiles.h"

#include "kina/runtime.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

using namespace kina;

llvm::Expected<std::string> kina::emitObject(mlir::ModuleOp module, const NativeOptions &options) {
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> target = getTarget(options);
  if (!target)
    return target.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = target->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> compiled =
      compileToLLVM(module, context, **machine, options);
  if (!compiled)
    return compiled.takeError();

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this target has no object files");
  passes.run(**compiled);
  return object.str().str();
}

/// The file that `symbol` of this process comes from; "" if there is none. What this process
/// was linked with is what the shared object will be, without a search for either.
static std::string getFileOf(const char *symbol) {
  void *address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info;
  llvm::SmallString<128> file;
  if (address && dladdr(address, &info) && info.dli_fname && !fs::real_path(info.dli_fname, file))
    return file.str().str();
  return "";
}

static llvm::Error fail(const llvm::Twine &message) { return llvm::createStringError(message); }

static llvm::Error failToWrite(llvm::StringRef file, std::error_code error) {
  return fail("cannot write the temporary file `" + file + "`: " + error.message());
}

llvm::Expected<std::string> kina::linkSharedObject(llvm::StringRef object,
                                                   const LinkOptions &options) {
  // lld takes and makes files only.
  llvm::SmallString<128> folder;
  if (std::error_code error = fs::createUniqueDirectory("kina", folder))
    return failToWrite(folder, error);
  llvm::scope_exit cleanUp([&] { fs::remove_directories(folder); });
  llvm::SmallString<128> input(folder), output(folder);
  path::append(input, "module.o");
  path::append(output, "module.so");
  {
    std::error_code error;
    llvm::raw_fd_ostream os(input, error);
    if (!error) {
      os << object;
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (error)
      return failToWrite(input, error);
  }

  std::string runtime = getFileOf("kina_rt_call");
  if (runtime.empty())
    return fail("the run-time library is not found");
  std::vector<std::string> args{"ld.lld", "-shared",     "-z",   "defs",   "--build-id=fast",
                                "-o",     output.c_str(), "-soname", options.name, input.c_str()};
  // Of libm, libc, the compiler's library (conversions of small floats on processors without
  // them) and the loader; nothing that a sanitizer would have replaced.
  std::vector<const char *> libraries{"cbrt", "gnu_get_libc_version", "__truncsfhf2"};
  if (options.staticRuntime) {
    llvm::SmallString<128> archive(path::parent_path(runtime));
    path::append(archive, "libkina_runtime_static.a");
    if (!fs::exists(archive))
      return fail("there is no `" + archive + "`, which --static-runtime needs");
    args.insert(args.end(), {"--whole-archive", archive.c_str(), "--no-whole-archive"});
    libraries.push_back("_r_debug");
  } else {
    args.insert(args.end(), {"-rpath", "$ORIGIN", runtime});
  }
  args.push_back("--as-needed");
  for (const char *symbol : libraries)
    if (std::string file = getFileOf(symbol); !file.empty())
      args.push_back(std::move(file));

  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  std::string messages;
  llvm::raw_string_ostream os(messages);
  // lld has one state for the process.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  lld::Result result = lld::lldMain(pointers, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return fail("linking failed: " + llvm::StringRef(messages).trim());
  auto linked = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!linked)
    return fail("cannot read `" + output + "`: " + linked.getError().message());
  return (*linked)->getBuffer().str();
}
