//===- Call.cpp - What compiled code calls --------------------------------===//
//
// The call that runs in a thread is found through a thread-local pointer, so that
// compiled code carries no context through its functions.
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace kina::runtime;

static thread_local Call *currentCall = nullptr;

/// The most bytes of one tensor: what compiled code adds to a size doesn't overflow.
static constexpr int64_t kMaxBytes = int64_t(1) << 62;

/// Takes the block off its call.
static void detach(Block *block) {
  block->unlink();
  if (block->context)
    block->context->statistics.live_bytes -= block->bytes;
  block->context = nullptr;
}

static void freeBlock(Block *block) {
  detach(block);
  block->memory->vtable->deallocate(block->memory, block, block->bytes + sizeof(Block),
                                    alignof(Block), nullptr);
}

/// Leaves the running call; its context holds the error.
[[noreturn]] static void leave() {
  // Compiled code only runs below kina_rt_call; anything else has no place to report to.
  if (!currentCall)
    abort();
  longjmp(currentCall->exit, 1);
}

/// Writes `text` with every `{i}` replaced by value i.
static void format(char *out, size_t size, const char *text, int32_t count,
                   const int64_t *values) {
  size_t used = 0;
  while (*text && used + 1 < size) {
    char *end;
    long index;
    if (*text == '{' && text[1] >= '0' && text[1] <= '9' &&
        (index = strtol(text + 1, &end, 10)) < count && *end == '}') {
      int written = snprintf(out + used, size - used, "%" PRId64, values[index]);
      used = used + written < size ? used + written : size - 1;
      text = end + 1;
      continue;
    }
    out[used++] = *text++;
  }
  out[used] = '\0';
}

static void deleteHandedOver(kina_tensor *tensor) {
  freeBlock(static_cast<Block *>(tensor->owner));
}

/// Where the elements of a tensor that has some begin.
static char *getElements(const kina_tensor *tensor) {
  return static_cast<char *>(tensor->dl.data) + tensor->dl.byte_offset;
}

/// Gives the caller the result that the block holds.
static void deliver(Block *block) {
  kina_tensor *tensor = block->result;
  if (tensor->dl.data) {
    if (block->resultBytes != 0)
      memcpy(getElements(tensor), block->payload(), block->resultBytes);
    freeBlock(block);
    return;
  }
  detach(block);
  tensor->dl.data = block->payload();
  tensor->dl.device = {kDLCPU, 0};
  tensor->dl.strides = nullptr;
  tensor->dl.byte_offset = 0;
  tensor->owner = block;
  tensor->deleter = deleteHandedOver;
}

int32_t kina_rt_call(kina_context *context, int32_t version, kina_rt_body body,
                     kina_tensor *const *args, kina_tensor *const *results) {
  if (!context)
    return KINA_ERROR_ARGUMENT;
  if (version != KINA_ABI_VERSION) {
    char text[128];
    snprintf(text, sizeof(text),
             "this code was compiled for version %d of the ABI, but the run-time library has "
             "version %d",
             int(version), KINA_ABI_VERSION);
    return kina_context_set_error(context, KINA_ERROR_VERSION, text);
  }
  Call call;
  call.context = context;
  call.caller = currentCall;
  call.blocks.previous = call.blocks.next = &call.blocks;
  context->clearError();
  context->steps = 0;
  context->started = context->reported = getSeconds();
  currentCall = &call;
  // Nothing in `call` that is needed later changes its place between here and a jump back:
  // the list is reached through memory, the rest is constant.
  if (_setjmp(call.exit) == 0)
    body(args, results);
  currentCall = call.caller;
  while (call.blocks.next != &call.blocks) {
    Block *block = call.blocks.next;
    if (block->result && context->code == KINA_OK)
      deliver(block);
    else
      freeBlock(block);
  }
  return context->code;
}

void *kina_rt_alloc(int64_t alignment, int64_t bytes) {
  Call *call = currentCall;
  if (!call)
    leave();
  kina_context *context = call->context;
  void *memory = nullptr;
  if (alignment > int64_t(alignof(Block)) || bytes < 0 || bytes > kMaxBytes ||
      context->memory->vtable->allocate(context->memory, size_t(bytes) + sizeof(Block),
                                        alignof(Block), nullptr, &memory) != KINA_MEMORY_OK)
    kina_rt_fail(KINA_ERROR_MEMORY, "out of memory: {0} bytes wanted", nullptr, 0, 0, 1, bytes);
  auto *block = static_cast<Block *>(memory);
  *block = {&call->blocks, call->blocks.next, context->memory, context, size_t(bytes),
            nullptr, 0, nullptr};
  block->next->previous = block;
  call->blocks.next = block;
  kina_allocation_statistics &statistics = context->statistics;
  ++statistics.allocations;
  statistics.live_bytes += size_t(bytes);
  if (statistics.live_bytes > statistics.peak_bytes)
    statistics.peak_bytes = statistics.live_bytes;
  return block->payload();
}

void kina_rt_free(void *address) {
  for (Block *block = address ? Block::of(address) : nullptr, *next; block; block = next) {
    next = block->attached;
    freeBlock(block);
  }
}

void kina_rt_fail(int32_t code, const char *message, const char *file, int32_t line,
                  int32_t column, int32_t count, ...) {
  if (!currentCall)
    leave();
  kina_context *context = currentCall->context;
  context->code = code;
  context->numValues = count < kMaxValues ? count : kMaxValues;
  va_list values;
  va_start(values, count);
  for (int32_t i = 0; i < context->numValues; ++i)
    context->values[i] = va_arg(values, int64_t);
  va_end(values);
  format(context->message, sizeof(context->message), message, context->numValues,
         context->values);
  context->setLocation(file, line, column);
  leave();
}

void kina_rt_poll(const char *file, int32_t line, int32_t column) {
  if (!currentCall)
    leave();
  kina_context *context = currentCall->context;
  ++context->steps;
  if (context->interrupted.load(std::memory_order_relaxed)) {
    context->interrupted.store(false, std::memory_order_relaxed);
    kina_rt_fail(KINA_ERROR_STOPPED, "interrupted after {0} iterations", file, line, column, 1,
                 int64_t(context->steps));
  }
  if (context->maxSteps != 0 && context->steps > context->maxSteps)
    kina_rt_fail(KINA_ERROR_STOPPED, "the loop did not end within {0} iterations", file, line,
                 column, 1, int64_t(context->maxSteps));
  if (context->progress) {
    double now = getSeconds();
    if (now - context->reported >= context->progressInterval) {
      context->reported = now;
      context->progress(context->progressUser, context->steps, now - context->started);
    }
  }
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static void describe(char *out, size_t size, int32_t dtype) {
  static const char *const names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  int32_t code = dtype / 256;
  snprintf(out, size, "%s%d", code >= 0 && code < 7 ? names[code] : "unknown", int(dtype % 256));
}

/// Fails the call unless `tensor` is a host tensor of this dtype and rank, compact and row-major.
/// In messages it is called `what`, in which `{0}` stands for the index.
static void checkTensor(const char *what, const kina_tensor *tensor, int32_t index, int32_t dtype,
                        int32_t rank, bool hasData) {
  char text[256];
  if (!tensor) {
    snprintf(text, sizeof(text), "%s is missing", what);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 1, int64_t(index));
  }
  const DLTensor &dl = tensor->dl;
  int32_t actual = dl.dtype.code * 256 + dl.dtype.bits;
  if (dl.dtype.lanes != 1) {
    snprintf(text, sizeof(text), "%s has vectors of {1} lanes as elements, expected scalars", what);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 2, int64_t(index), int64_t(dl.dtype.lanes));
  }
  if (actual != dtype) {
    char expectedName[32], actualName[32];
    describe(expectedName, sizeof(expectedName), dtype);
    describe(actualName, sizeof(actualName), actual);
    snprintf(text, sizeof(text), "%s has element type %s, expected %s", what, actualName,
             expectedName);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 1, int64_t(index));
  }
  if (dl.ndim != rank) {
    snprintf(text, sizeof(text), "%s has rank {1}, expected {2}", what);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 3, int64_t(index), int64_t(dl.ndim),
                 int64_t(rank));
  }
  if (rank > 0 && !dl.shape) {
    snprintf(text, sizeof(text), "%s has no shape", what);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 1, int64_t(index));
  }
  if (!hasData)
    return;
  if (dl.device.device_type != kDLCPU) {
    snprintf(text, sizeof(text), "%s is not in host memory", what);
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 1, int64_t(index));
  }
  bool isEmpty = false;
  int64_t bytes = dl.dtype.bits / 8;
  for (int32_t axis = rank; axis-- > 0;) {
    if (dl.shape[axis] < 0) {
      snprintf(text, sizeof(text), "%s has size {1} at axis {2}", what);
      kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 3, int64_t(index), dl.shape[axis],
                   int64_t(axis));
    }
    // Compiled code multiplies sizes in any grouping, with a 0 among them or without.
    if (__builtin_mul_overflow(bytes, dl.shape[axis] ? dl.shape[axis] : 1, &bytes) ||
        bytes > kMaxBytes) {
      snprintf(text, sizeof(text), "%s has a shape beyond 64 bits: size {1} at axis {2}", what);
      kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 3, int64_t(index), dl.shape[axis],
                   int64_t(axis));
    }
    isEmpty |= dl.shape[axis] == 0;
  }
  if (isEmpty)
    return; // no address is read, whatever strides and data say
  int64_t stride = 1;
  for (int32_t axis = rank; dl.strides && axis-- > 0; stride *= dl.shape[axis])
    if (dl.shape[axis] != 1 && dl.strides[axis] != stride) {
      snprintf(text, sizeof(text), "%s is not compact and row-major: stride {1} at axis {2}",
               what);
      kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 3, int64_t(index), dl.strides[axis],
                   int64_t(axis));
    }
  uintptr_t address = reinterpret_cast<uintptr_t>(dl.data) + dl.byte_offset;
  if (!dl.data || address % (dl.dtype.bits / 8) != 0) {
    snprintf(text, sizeof(text), "%s has %s data", what, dl.data ? "misaligned" : "no");
    kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 1, int64_t(index));
  }
}

static void checkSizes(const char *what, const kina_tensor *tensor, int32_t index, int32_t rank,
                       const int64_t *shape) {
  for (int32_t axis = 0; axis < rank; ++axis)
    if (shape[axis] >= 0 && tensor->dl.shape[axis] != shape[axis]) {
      char text[128];
      snprintf(text, sizeof(text), "%s has size {1} at axis {2}, expected {3}", what);
      kina_rt_fail(KINA_ERROR_ARGUMENT, text, nullptr, 0, 0, 4, int64_t(index),
                   tensor->dl.shape[axis], int64_t(axis), shape[axis]);
    }
}

const void *kina_rt_argument(kina_tensor *const *args, int32_t index, const char *name,
                             int32_t dtype, int32_t rank, const int64_t *shape) {
  char what[128] = "argument {0}";
  if (name && *name)
    snprintf(what, sizeof(what), "argument `%s`", name);
  const kina_tensor *tensor = args ? args[index] : nullptr;
  checkTensor(what, tensor, index, dtype, rank, /*hasData=*/true);
  checkSizes(what, tensor, index, rank, shape);
  return getElements(tensor);
}

void kina_rt_result(kina_tensor *const *results, int32_t index, int32_t dtype, int32_t rank,
                    const int64_t *shape, void *allocated, const void *data) {
  constexpr const char *what = "result {0}";
  kina_tensor *tensor = results ? results[index] : nullptr;
  bool hasData = tensor && tensor->dl.data;
  checkTensor(what, tensor, index, dtype, rank, hasData);
  size_t bytes = size_t(dtype % 256) / 8;
  for (int32_t axis = 0; axis < rank; ++axis)
    bytes *= size_t(shape[axis]);
  if (hasData)
    checkSizes(what, tensor, index, rank, shape);
  else
    for (int32_t axis = 0; axis < rank; ++axis)
      tensor->dl.shape[axis] = shape[axis];

  // Only the list tells whether the buffer is ours to give away: a constant or an argument may
  // come back as a result.
  Call *call = currentCall;
  Block *block = nullptr;
  for (Block *it = call->blocks.next; it != &call->blocks; it = it->next) {
    if (!it->result) {
      if (it->payload() == allocated)
        block = it;
      continue;
    }
    bool overlaps = hasData && it->result->dl.data &&
                    getElements(tensor) < getElements(it->result) + it->resultBytes &&
                    getElements(it->result) < getElements(tensor) + bytes;
    if (it->result == tensor || overlaps)
      kina_rt_fail(KINA_ERROR_ARGUMENT, "result {0} overlaps a result before it", nullptr, 0, 0, 1,
                   int64_t(index));
  }
  // Nothing reaches the caller before the call has succeeded: a later result may fail a check,
  // and a destination may be the memory of an argument that is still read.
  if (!block || data != allocated) {
    void *copy = kina_rt_alloc(alignof(Block), int64_t(bytes));
    if (bytes != 0)
      memcpy(copy, data, bytes);
    if (block)
      freeBlock(block);
    block = Block::of(copy);
  }
  block->result = tensor;
  block->resultBytes = bytes;
}
