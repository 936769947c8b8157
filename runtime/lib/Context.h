//===- Context.h - What a context and a running call hold ------*- C++ -*-===//

#pragma once

#include "kina/runtime.h"

#include <atomic>
#include <chrono>
#include <csetjmp>

namespace kina::runtime {

using Clock = std::chrono::steady_clock;

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
  kina::runtime::Clock::time_point started, reported;

  kina_allocation_statistics statistics = {};

  void clearError();
  void setLocation(const char *file, int32_t line, int32_t column);
};
