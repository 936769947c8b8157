//===- OutputFiles.cpp - Files that tools write ---------------------------===//
//
// Files are written beside their places and renamed. llvm::sys::fs::TempFile is not used:
// every one of them leaves an entry in the list of files that a signal removes, which is
// searched from its start each time, so that thousands of files take quadratic time.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/OutputFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>
#include <optional>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace kina {

namespace {
struct Target {
  llvm::StringRef given;
  /// Where the links lead.
  llvm::SmallString<128> place;
  fs::file_status status;
  /// The descriptor that is open on it already, if it is one of the standard streams.
  std::optional<int> stream;

  bool isReplaced() const { return !stream && (!fs::exists(status) || fs::is_regular_file(status)); }
};
} // namespace

static llvm::Error fail(llvm::StringRef given, const llvm::Twine &reason) {
  return llvm::createStringError("cannot write `" + given + "`: " + reason);
}

static llvm::Expected<Target> findTarget(llvm::StringRef given) {
  Target target;
  target.given = given;
  target.place = given;
  std::error_code error = fs::status(given, target.status);
  if (error && error != std::errc::no_such_file_or_directory)
    return fail(given, error.message());
  if (fs::is_directory(target.status))
    return fail(given, "it is a directory");
  if (given.empty() || path::is_separator(given.back()))
    return fail(given, "it names no file");
  // The name /dev/stdout leads to whatever file the shell opened. Another file in its place
  // would not be the output, and would lose what was there.
  if (fs::exists(target.status))
    for (int stream : {1, 2}) {
      fs::file_status opened;
      if (!fs::status(stream, opened) && opened.getUniqueID() == target.status.getUniqueID()) {
        target.stream = stream;
        return target;
      }
    }
  // A link may lead to a file that does not exist yet, so real_path won't do. A cycle has
  // been reported by the status.
  constexpr unsigned kMostLinks = 64;
  for (unsigned links = 0; links < kMostLinks && target.isReplaced(); ++links) {
    std::error_code noLink;
    llvm::SmallString<128> next(std::filesystem::read_symlink(target.place.str().str(), noLink).string());
    if (noLink)
      break;
    if (path::is_relative(next)) {
      llvm::SmallString<128> from(path::parent_path(target.place));
      path::append(from, next);
      next = from;
    }
    target.place = next;
  }
  return target;
}

/// A text that two paths share if they are the same file.
static std::string getIdentity(const Target &target) {
  llvm::SmallString<128> parent(path::parent_path(target.place)), real;
  if (fs::real_path(parent.empty() ? "." : llvm::StringRef(parent), real))
    real = parent;
  path::append(real, path::filename(target.place));
  return real.str().str();
}

static llvm::Expected<std::vector<Target>> findTargets(llvm::ArrayRef<std::string> paths) {
  std::vector<Target> targets;
  std::vector<std::string> identities;
  for (llvm::StringRef given : paths) {
    llvm::Expected<Target> target = findTarget(given);
    if (!target)
      return target.takeError();
    if (target->isReplaced()) {
      std::string identity = getIdentity(*target);
      if (llvm::is_contained(identities, identity))
        return fail(given, "two results would be written to this file");
      identities.push_back(std::move(identity));
    }
    targets.push_back(std::move(*target));
  }
  return targets;
}

llvm::Error checkOutputPaths(llvm::ArrayRef<std::string> paths) {
  llvm::Expected<std::vector<Target>> targets = findTargets(paths);
  return targets ? llvm::Error::success() : targets.takeError();
}

/// Prints to an open descriptor.
static std::error_code print(const OutputFile &file, int descriptor, bool close) {
  llvm::raw_fd_ostream os(descriptor, close);
  file.print(os);
  if (close)
    os.close();
  else
    os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

/// Writes the file beside its place; `beside` names it, even after a failure if it exists.
static std::error_code printBeside(const OutputFile &file, llvm::StringRef place, llvm::SmallVectorImpl<char> &beside) {
  constexpr unsigned kMostTries = 128;
  std::error_code error;
  for (unsigned i = 0; i < kMostTries; ++i) {
    // The name does not grow with that of the file, which may be as long as names can be.
    llvm::SmallString<32> name;
    fs::createUniquePath(".kina-%%%%%%%%%%.tmp", name, /*MakeAbsolute=*/false);
    llvm::SmallString<128> candidate(path::parent_path(place));
    path::append(candidate, name);
    int descriptor;
    error = fs::openFileForWrite(candidate, descriptor, fs::CD_CreateNew);
    if (error == std::errc::file_exists)
      continue;
    if (error)
      return error;
    beside.assign(candidate.begin(), candidate.end());
    return print(file, descriptor, /*close=*/true);
  }
  return error;
}

static std::error_code printInto(const OutputFile &file, const Target &target) {
  if (target.stream) {
    // What this process has buffered for the stream comes first.
    llvm::outs().flush();
    return print(file, *target.stream, /*close=*/false);
  }
  int descriptor;
  if (std::error_code error = fs::openFileForWrite(target.given, descriptor, fs::CD_OpenExisting))
    return error;
  return print(file, descriptor, /*close=*/true);
}

llvm::Error writeFiles(llvm::ArrayRef<OutputFile> files) {
  std::vector<std::string> paths;
  for (const OutputFile &file : files)
    paths.push_back(file.path);
  llvm::Expected<std::vector<Target>> targets = findTargets(paths);
  if (!targets)
    return targets.takeError();

  std::vector<llvm::SmallString<128>> beside(files.size());
  llvm::scope_exit cleanUp([&] {
    for (const auto &name : beside)
      if (!name.empty())
        fs::remove(name);
  });
  for (auto [file, target, name] : llvm::zip_equal(files, *targets, beside))
    if (target.isReplaced())
      if (std::error_code error = printBeside(file, target.place, name))
        return fail(target.given, error.message());
  // What is written here can't be taken back, so the files that can fail were first.
  for (auto [file, target] : llvm::zip_equal(files, *targets))
    if (!target.isReplaced())
      if (std::error_code error = printInto(file, target))
        return fail(target.given, error.message());
  for (auto [target, name] : llvm::zip_equal(*targets, beside))
    if (!name.empty()) {
      if (std::error_code error = fs::rename(name, target.place))
        return fail(target.given, error.message());
      name.clear();
    }
  return llvm::Error::success();
}

} // namespace kina
