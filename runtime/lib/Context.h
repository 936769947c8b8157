//===- Context.h - What a context and a running call hold ------*- C++ -*-===//
//
// The library is C++ that needs nothing of the C++ library at run time, so that a program in
// any language can be linked with it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "kina/runtime.h"

#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <ctime>
#include <new>
#include <type_traits>

namespace kina::runtime {

/// A time that never goes back.
inline double getSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// An object on the heap, for `free` to end; nullptr without memory.
template <typename T, typename... Args>
T *create(Args... args) {
  static_assert(std::is_trivially_destructible_v<T>);
  void *memory = malloc(sizeof(T));
  return memory ? new (memory) T(args...) : nullptr;
}

/// An error has no more values than this; a check with more reports the first ones.
constexpr int32_t kMaxValues = 16;

/// The header of every allocation of compiled code: a node of the list of its call. It takes
/// 64 bytes, so that what follows keeps the alignment of the resource.
struct alignas(64) Block {
  Block *previous;
  Block *next;
  kina_memory_resource *memory;
  kina_context *context; // nullptr once handed over
  size_t bytes;          // of the payload
  kina_tensor *result;   // that receives it when the call succeeds, or nullptr
  size_t resultBytes;    // of the result; an allocation may be larger
  Block *attached;       // that kina_rt_free frees with it, or nullptr

  void *payload() { return this + 1; }
  static Block *of(void *payload) { return static_cast<Block *>(payload) - 1; }
  void unlink() {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
};
static_assert(sizeof(Block) == 64);

/// A running call. Compiled code holds nothing that needs unwinding but its memory, so an
/// error jumps here and frees what the list holds.
struct Call {
  kina_context *context;
  Call *caller;
  Block blocks; // the list's head
  std::jmp_buf exit;
};

} // namespace kina::runtime

struct kina_context {
  kina_memory_resource *memory;

  // Fixed storage: reporting an error must not need memory.
  int32_t code = 0;
  char message[1024] = "";
  char file[1024] = "";
  int32_t line = 0, column = 0;
  int32_t numValues = 0;
  int64_t values[kina::runtime::kMaxValues] = {};

  uint64_t maxSteps = 0;
  uint64_t steps = 0;
  std::atomic<bool> interrupted{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "set from signal handlers");

  kina_progress progress = nullptr;
  void *progressUser = nullptr;
  double progressInterval = 0;
  double started = 0, reported = 0;

  kina_allocation_statistics statistics = {};

  void clearError();
  void setLocation(const char *file, int32_t line, int32_t column);
};
