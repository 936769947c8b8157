/*===- memory.h - Memory resources --------------------------------*- C -*-===*\
|*                                                                            *|
|* Where the memory of compiled code comes from: a table of functions and a   *|
|* pointer, so that any language can supply one. Not std::pmr, which throws   *|
|* and knows neither streams nor devices.                                     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef KINA_MEMORY_H
#define KINA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KINA_EXPORT __attribute__((visibility("default")))
#else
#define KINA_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  KINA_MEMORY_OK = 0,
  KINA_MEMORY_EXHAUSTED = 1,
  KINA_MEMORY_INVALID = 2,
  KINA_MEMORY_DEVICE_ERROR = 3
} kina_memory_status;

/** A queue of work on a device (cudaStream_t); NULL means at once. */
typedef struct kina_stream_s *kina_stream;

typedef struct kina_memory_resource kina_memory_resource;

typedef struct {
  /** sizeof this table: later versions append members. */
  uint32_t size;
  /** Stores the address of `bytes` bytes at `*out`. `alignment` is a power of two, else
      KINA_MEMORY_INVALID. 0 bytes succeed with NULL. On failure `*out` is NULL. */
  kina_memory_status (*allocate)(kina_memory_resource *self, size_t bytes, size_t alignment,
                                 kina_stream stream, void **out);
  /** Takes back what `allocate` gave, with the same `bytes` and `alignment`; NULL is ignored.
      Work queued on `stream` before this may still use the memory. */
  void (*deallocate)(kina_memory_resource *self, void *address, size_t bytes, size_t alignment,
                     kina_stream stream);
  /** Ends the resource. Everything it gave out must have come back. */
  void (*destroy)(kina_memory_resource *self);
} kina_memory_vtable;

struct kina_memory_resource {
  const kina_memory_vtable *vtable;
  int32_t device_type; /* a DLDeviceType */
  int32_t device_id;
};

/** The process's host memory, aligned to at least 64 bytes. Safe from any thread; never
    destroyed (its `destroy` does nothing). */
KINA_EXPORT kina_memory_resource *kina_memory_host(void);

typedef struct {
  uint64_t allocations;   /* successful calls of `allocate` with more than 0 bytes */
  uint64_t deallocations; /* of the same */
  uint64_t failures;
  uint64_t live_bytes;
  uint64_t peak_bytes;
} kina_memory_statistics;

/* Adaptors. Each forwards to `upstream`, which the caller keeps alive and still owns; the
   caller owns the adaptor and ends it by `vtable->destroy`. NULL if there is no memory.
   All are safe from any thread if their upstream is. */

/** Counts what passes through. */
KINA_EXPORT kina_memory_resource *kina_memory_counting_create(kina_memory_resource *upstream);
/** Reads the counts of a resource made by kina_memory_counting_create. */
KINA_EXPORT void kina_memory_counting_read(const kina_memory_resource *counting,
                                           kina_memory_statistics *out);
/** Refuses what would bring the live bytes above `limit`. */
KINA_EXPORT kina_memory_resource *kina_memory_limit_create(kina_memory_resource *upstream,
                                                           size_t limit);
/** Refuses the `n`-th allocation (from 1), to test every error path. */
KINA_EXPORT kina_memory_resource *kina_memory_fault_create(kina_memory_resource *upstream,
                                                           uint64_t n);

#ifdef __cplusplus
}
#endif

#endif /* KINA_MEMORY_H */
