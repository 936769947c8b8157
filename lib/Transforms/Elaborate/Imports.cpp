//===- Imports.cpp - The items of other files -----------------------------===//

#include "SurfacePasses.h"

#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Target/Surface/Import.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;
using namespace kina;

namespace {

class Importer {
public:
  LogicalResult resolve(ModuleOp module) {
    // A file that imports itself does so by its own name.
    SmallString<128> own;
    StringRef filename = filenameOf(module.getLoc());
    if (llvm::sys::fs::exists(filename) && !llvm::sys::fs::real_path(filename, own)) {
      seen.insert(own.str().str());
      stack.push_back(own.str().str());
    }
    return resolveIn(module);
  }

private:
  static StringRef filenameOf(Location loc) {
    if (auto file = loc->findInstanceOf<FileLineColLoc>())
      return file.getFilename().getValue();
    return {};
  }

  LogicalResult resolveIn(ModuleOp module) {
    bool ok = true;
    for (auto import : llvm::to_vector(module.getOps<surface::ImportOp>())) {
      ok &= succeeded(take(module, import));
      import.erase();
    }
    return success(ok);
  }

  LogicalResult take(ModuleOp module, surface::ImportOp import) {
    Location loc = import.getLoc();
    SmallString<128> path(import.getPath());
    if (!llvm::sys::path::is_absolute(path)) {
      path = llvm::sys::path::parent_path(filenameOf(loc));
      llvm::sys::path::append(path, import.getPath());
    }
    auto unreadable = [&](const Twine &why) {
      return emitError(loc, DiagCode::K0119, "cannot import '" + path + "': " + why);
    };
    SmallString<128> real;
    if (std::error_code error = llvm::sys::fs::real_path(path, real))
      return unreadable(error.message());
    // Devices and pipes need have no end.
    if (!llvm::sys::fs::is_regular_file(real))
      return unreadable("it is no file");
    std::string name = real.str().str();
    if (llvm::is_contained(stack, name))
      return emitError(loc, DiagCode::K0120,
                       "'" + path + "' is imported by itself" +
                           (stack.back() == name ? Twine() : Twine(", through other files")));
    if (!seen.insert(name).second)
      return success();
    auto buffer = llvm::MemoryBuffer::getFile(real, /*IsText=*/false);
    if (!buffer)
      return unreadable(buffer.getError().message());
    OwningOpRef<ModuleOp> imported =
        importKinaSource((*buffer)->getBuffer(), path, import.getContext());
    if (!imported)
      return failure();
    stack.push_back(name);
    LogicalResult result = resolveIn(*imported);
    stack.pop_back();
    module.getBody()->getOperations().splice(Block::iterator(import),
                                             imported->getBody()->getOperations());
    return result;
  }

  std::set<std::string> seen;
  /// The files that are being read, the outermost first.
  SmallVector<std::string> stack;
};

} // namespace

LogicalResult kina::elaborate::resolveImports(ModuleOp module) { return Importer().resolve(module); }
