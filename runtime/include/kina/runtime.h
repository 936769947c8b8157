/*===- runtime.h - The C ABI of compiled Kina functions -----------*- C -*-===*\
|*                                                                            *|
|* An exported function `f` of a compiled module `m` is the symbol `m_f` of   *|
|* type kina_entry; the int32_t `m_kina_abi_version` is the KINA_ABI_VERSION  *|
|* that the module was compiled for. A function returns 0 or the number of a  *|
|* K08xx code, and never aborts: code, message, values and source location    *|
|* stand in the context, everything that the call allocated has been freed.   *|
|*                                                                            *|
|* Ownership in one place:                                                    *|
|*  - arguments are borrowed for the call and never written;                  *|
|*  - a result whose `dl.data` is set is written there, and stays the         *|
|*    caller's; where `dl.data` is NULL the function hands over a buffer, and *|
|*    the caller gives it back with kina_tensor_release;                      *|
|*  - results come when the call has succeeded: a failure writes none and     *|
|*    hands none over. So a destination may be the memory of an argument, but *|
|*    not that of another destination;                                        *|
|*  - strings that a context returns live until its next call or its end;     *|
|*  - a context serves one call at a time; different contexts may be used     *|
|*    from different threads at once. Only kina_context_interrupt may be      *|
|*    called while a call is running (from any thread or a signal handler).   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef KINA_RUNTIME_H
#define KINA_RUNTIME_H

#include "kina/dlpack.h"
#include "kina/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KINA_ABI_VERSION 1

/** KINA_ABI_VERSION of the library that was loaded. */
KINA_EXPORT int32_t kina_abi_version(void);

/** Status codes: the digits of the K08xx and K09xx codes. */
typedef enum {
  KINA_OK = 0,
  KINA_ERROR_REQUIRES = 801,
  KINA_ERROR_ARGUMENT = 802,
  KINA_ERROR_INDEX = 803,
  KINA_ERROR_DIVISION = 804,
  KINA_ERROR_STOPPED = 805,
  KINA_ERROR_MEMORY = 806,
  KINA_ERROR_SINGULAR = 807, /**< Reserved: no operation gives it yet. */
  KINA_ERROR_VERSION = 808,
  KINA_ERROR_INTERNAL = 900
} kina_status;

/*===----------------------------------------------------------------------===*\
|* Tensors                                                                    *|
\*===----------------------------------------------------------------------===*/

/** A DLTensor with an owner: a pointer to one is a pointer to its DLTensor. Scalars have
    ndim 0; index values are 64-bit integers, booleans are bytes 0 and 1 (kDLBool, 8 bits). */
typedef struct kina_tensor {
  DLTensor dl;
  /** NULL if borrowed. Frees `dl.data`, not this structure and not `dl.shape`. */
  void (*deleter)(struct kina_tensor *self);
  void *owner; /* for the deleter */
} kina_tensor;

/** A tensor over memory of the caller's, for an argument or a destination. `data` and the
    `ndim` sizes at `shape` have to outlive its use; ndim 0 is a scalar, and needs no shape.
    With `data` NULL it takes a result that the function hands over, whose sizes are then
    stored at `shape`. The element type is a DLDataTypeCode and its bits. */
static inline kina_tensor kina_tensor_view(void *data, DLDataTypeCode code, uint8_t bits,
                                           int32_t ndim, int64_t *shape) {
  kina_tensor tensor;
  tensor.dl.data = data;
  tensor.dl.device.device_type = kDLCPU;
  tensor.dl.device.device_id = 0;
  tensor.dl.ndim = ndim;
  tensor.dl.dtype.code = (uint8_t)code;
  tensor.dl.dtype.bits = bits;
  tensor.dl.dtype.lanes = 1;
  tensor.dl.shape = shape;
  tensor.dl.strides = NULL;
  tensor.dl.byte_offset = 0;
  tensor.deleter = NULL;
  tensor.owner = NULL;
  return tensor;
}

/** Calls the deleter, if any, and clears `dl.data`. */
KINA_EXPORT void kina_tensor_release(kina_tensor *tensor);

/*===----------------------------------------------------------------------===*\
|* Contexts                                                                   *|
\*===----------------------------------------------------------------------===*/

typedef struct kina_context kina_context;

/** The type of every exported function. `args` and `results` are arrays of pointers, one a
    parameter or result. A result states its ndim and points `dl.shape` to that many sizes:
    they are checked if `dl.data` is set, filled in otherwise. */
typedef int32_t (*kina_entry)(kina_context *context, kina_tensor *const *args,
                              kina_tensor *const *results);

/** A context that allocates from `memory`, which the caller keeps alive as long as the
    context and every result handed over; NULL: kina_memory_host(). NULL if out of memory. */
KINA_EXPORT kina_context *kina_context_create(kina_memory_resource *memory);
KINA_EXPORT void kina_context_destroy(kina_context *context);

/** What the last call returned, and where: KINA_OK, "" and 0 after a success. */
KINA_EXPORT int32_t kina_context_code(const kina_context *context);
KINA_EXPORT const char *kina_context_message(const kina_context *context);
KINA_EXPORT const char *kina_context_file(const kina_context *context);
KINA_EXPORT int32_t kina_context_line(const kina_context *context);
KINA_EXPORT int32_t kina_context_column(const kina_context *context);
/** The integers that the failed check looked at; `i` below kina_context_num_values. */
KINA_EXPORT int32_t kina_context_num_values(const kina_context *context);
KINA_EXPORT int64_t kina_context_value(const kina_context *context, int32_t i);

/** Records an error as a failing call would; for checks made before the entry is called.
    Returns `code`. */
KINA_EXPORT int32_t kina_context_set_error(kina_context *context, int32_t code,
                                           const char *message);

/** Ends loops whose trip count nobody knows after that many iterations in one call
    (K0805); 0: never. */
KINA_EXPORT void kina_context_set_max_steps(kina_context *context, uint64_t steps);
/** Iterations of such loops in the last or the running call. */
KINA_EXPORT uint64_t kina_context_steps(const kina_context *context);
/** Ends the running call at its next poll (K0805), or the next call if none is running.
    Async-signal-safe. */
KINA_EXPORT void kina_context_interrupt(kina_context *context);

typedef void (*kina_progress)(void *user, uint64_t steps, double seconds);
/** Calls `progress` from the polls of a call, at most once every `interval` seconds;
    NULL: never. It must return, and must not use the context. */
KINA_EXPORT void kina_context_set_progress(kina_context *context, kina_progress progress,
                                           void *user, double interval);

typedef struct {
  uint64_t allocations; /* since the context was made */
  uint64_t live_bytes;  /* of the running call; what was handed over is gone from it */
  uint64_t peak_bytes;
} kina_allocation_statistics;
KINA_EXPORT void kina_context_statistics(const kina_context *context,
                                         kina_allocation_statistics *out);

/*===----------------------------------------------------------------------===*\
|* For compiled code only. Each acts on the call that runs in this thread.    *|
\*===----------------------------------------------------------------------===*/

typedef void (*kina_rt_body)(kina_tensor *const *args, kina_tensor *const *results);

/** Runs `body`, which was compiled for `version` of the ABI, as a call of `context`, and
    returns its status: K0808 for another version than the library's, and K0802 if there is no
    context. */
KINA_EXPORT int32_t kina_rt_call(kina_context *context, int32_t version, kina_rt_body body,
                                 kina_tensor *const *args, kina_tensor *const *results);

/** Memory that belongs to the call: freed at its end, however it ends. Fails with K0806.
    `alignment` is at most 64. */
KINA_EXPORT void *kina_rt_alloc(int64_t alignment, int64_t bytes);
KINA_EXPORT void kina_rt_free(void *address);

/** A tape of frames of `bytes` bytes, which takes as many as come; for kina_rt_free. */
KINA_EXPORT void *kina_rt_tape_new(int64_t bytes);

/** Frame `at`, from 0, which keeps its place and what was written into it, at first zeros, as
    long as the tape lives. Frames lie without gaps between them, the first on a multiple of 64 bytes. Fails
    with K0806. */
KINA_EXPORT void *kina_rt_tape_frame(void *tape, int64_t at);

/** Ends the call. `{0}`, `{1}` ... in `message` stand for the `count` int64_t values. */
KINA_EXPORT void kina_rt_fail(int32_t code, const char *message, const char *file, int32_t line,
                              int32_t column, int32_t count, ...) __attribute__((noreturn));

/** One iteration of a loop that nothing bounds: counts, looks for an interrupt, reports. */
KINA_EXPORT void kina_rt_poll(const char *file, int32_t line, int32_t column);

/** The data of argument `index`, after checking device, dtype, rank, compactness, alignment
    and the sizes in `shape` that are not negative (K0802). `dtype` is code * 256 + bits; `name`
    stands in messages, unless it is "". */
KINA_EXPORT const void *kina_rt_argument(kina_tensor *const *args, int32_t index,
                                         const char *name, int32_t dtype, int32_t rank,
                                         const int64_t *shape);

/** Result `index` is `data`: at the end of the call it is copied to the caller's destination,
    or `allocated` is handed over. `allocated` may be NULL or foreign: then it is only read.
    Checks the destination as kina_rt_argument does, and its sizes against `shape` (K0802). */
KINA_EXPORT void kina_rt_result(kina_tensor *const *results, int32_t index, int32_t dtype,
                                int32_t rank, const int64_t *shape, void *allocated,
                                const void *data);

#ifdef __cplusplus
}

static_assert(offsetof(kina_tensor, dl) == 0, "a kina_tensor starts with its DLTensor");
#endif

#endif /* KINA_RUNTIME_H */
