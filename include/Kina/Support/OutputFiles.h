//===- OutputFiles.h - Files that tools write ------------------*- C++ -*-===//

#ifndef KINA_SUPPORT_OUTPUTFILES_H
#define KINA_SUPPORT_OUTPUTFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>

namespace kina {

struct OutputFile {
  std::string path;
  std::function<void(llvm::raw_ostream &)> print;
};

/// Whether files could be written at all of `paths`: none is a directory, and no two are the
/// same file. Nothing is written. The error names the path.
llvm::Error checkOutputPaths(llvm::ArrayRef<std::string> paths);

/// Writes files that belong together, after the checks of checkOutputPaths. A file appears
/// whole or not at all, and none appears if one of them can't be written. A link stays a
/// link: what it leads to is replaced. What is no file (a pipe, a device, the standard
/// output under a name of its own) is written to as it is. The error names the path.
llvm::Error writeFiles(llvm::ArrayRef<OutputFile> files);

} // namespace kina

#endif
