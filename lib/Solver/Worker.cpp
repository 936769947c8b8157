//===- Worker.cpp - The process in which long searches run ----------------===//

#include "Worker.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace kina::solver {

/// More than any answer needs: what writes more writes rubbish.
static constexpr size_t kMaxAnswer = 1 << 20;

/// Where the worker is looked for, in this order.
static std::string findWorker(std::string &looked) {
  if (const char *given = std::getenv("KINA_SMT_WORKER"); given && *given)
    return given;
  llvm::SmallVector<std::string, 4> places;
  auto addBeside = [&](llvm::StringRef file) {
    llvm::StringRef folder = llvm::sys::path::parent_path(file);
    for (llvm::StringRef place : {"", "../libexec", "../bin"}) {
      llvm::SmallString<128> candidate(folder);
      llvm::sys::path::append(candidate, place, "kina-smt-worker");
      llvm::sys::path::remove_dots(candidate, /*remove_dot_dot=*/true);
      places.push_back(std::string(candidate));
    }
  };
  static int anchor;
  addBeside(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
  // Inside another program (Python, say) it is beside the library.
  Dl_info info;
  if (dladdr(&anchor, &info) && info.dli_fname) {
    llvm::SmallString<128> library;
    if (!llvm::sys::fs::real_path(info.dli_fname, library))
      addBeside(library);
  }
  for (const std::string &place : places)
    if (llvm::sys::fs::can_execute(place))
      return place;
  looked = "'" + places.front() + "'";
  return {};
}

Cause Worker::Reply::getCause() const {
  switch (status) {
  case Status::Answered:
    return Cause::None;
  case Status::Missing:
    return Cause::WorkerMissing;
  case Status::Died:
    return Cause::WorkerDied;
  case Status::TimedOut:
    return Cause::Limit;
  }
  llvm_unreachable("all ends handled");
}

Worker::Worker(std::string path) : path(std::move(path)) {}

std::string Worker::start() {
  std::string looked, program = path.empty() ? findWorker(looked) : path;
  if (program.empty())
    return "kina-smt-worker was not found (looked for " + looked + "; KINA_SMT_WORKER names another place)";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::string("no socket for kina-smt-worker: ") + std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // A group of its own, so that what it starts ends with it; and no blocked signal, or its own
  // alarm would not reach it.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  char *arguments[] = {program.data(), nullptr};
  int error = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    process = -1;
    return "'" + program + "' could not be started: " + std::strerror(error);
  }
  socket = ends[0];
  owner = getpid();
  ++starts;
  return {};
}

void Worker::stop() {
  if (socket >= 0)
    close(socket);
  socket = -1;
  if (process > 0 && owner == getpid()) {
    kill(-process, SIGKILL);
    kill(process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR)
      continue;
  }
  process = -1;
}

Worker::Reply Worker::exchange(llvm::StringRef request, llvm::StringRef prefix, Clock::time_point deadline) {
  std::string answer;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return {Status::TimedOut, "the time is up"};
    pollfd entry{socket, static_cast<short>(POLLIN | (request.empty() ? 0 : POLLOUT)), 0};
    int ready = poll(&entry, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR)
      return {Status::Died, std::strerror(errno)};
    if (ready <= 0)
      continue;
    if (!request.empty() && (entry.revents & POLLOUT)) {
      ssize_t sent = send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0)
        request = request.drop_front(sent);
      else if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return {Status::Died, "it ended before it read the question"};
    }
    if (entry.revents & (POLLIN | POLLHUP | POLLERR)) {
      char buffer[4096];
      ssize_t got = recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got == 0)
        return {Status::Died, "it ended without an answer"};
      if (got < 0) {
        if (errno == EAGAIN || errno == EINTR)
          continue;
        return {Status::Died, std::strerror(errno)};
      }
      answer.append(buffer, got);
      size_t end = answer.find('\n');
      if (end == std::string::npos) {
        if (answer.size() > kMaxAnswer)
          return {Status::Died, "it wrote no answer but rubbish"};
        continue;
      }
      llvm::StringRef line(answer.data(), end);
      if (!request.empty() || end + 1 != answer.size() || !line.consume_front(prefix))
        return {Status::Died, "it wrote no answer but rubbish"};
      return {Status::Answered, line.str()};
    }
  }
}

Worker::Reply Worker::ask(llvm::StringRef what, llvm::StringRef question, Clock::time_point deadline) {
  if (process > 0 && owner != getpid())
    stop();
  if (process < 0)
    if (std::string error = start(); !error.empty()) {
      problem = error;
      return {Status::Missing, error};
    }
  // The number of the question stands before its answer: an answer to another is none.
  std::string prefix = std::to_string(++questions) + " ";
  std::string request = prefix + what.str() + " " + std::to_string(question.size()) + "\n" + question.str();
  Reply reply = exchange(request, prefix, deadline);
  if (reply.status != Status::Answered) {
    problem = "kina-smt-worker: " + reply.text;
    stop();
  }
  return reply;
}

} // namespace kina::solver
