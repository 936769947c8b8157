//===- Memory.cpp - Host memory and the adaptors ------------------------------===//
//
// No exception leaves an allocation function; all counts are atomic, because a
// result may be released by another thread than the one that made it.
//
//===----------------------------------------------------------------------===//

#include "Context.h"

using namespace kina::runtime;

namespace {

/// JAX copies what is aligned to less, and a cache line or an AVX-512 vector is as long.
constexpr size_t kHostAlignment = 64;

/// The C++ face of a resource: `Self` has `take`, `put` and `end`.
template <typename Self>
class Resource : public kina_memory_resource {
protected:
  constexpr Resource(int32_t deviceType, int32_t deviceId)
      : kina_memory_resource{&table, deviceType, deviceId} {}

  void end() { free(this); }

private:
  static kina_memory_status allocate(kina_memory_resource *self, size_t bytes, size_t alignment,
                                     kina_stream stream, void **out) {
    *out = nullptr;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      return KINA_MEMORY_INVALID;
    return bytes == 0 ? KINA_MEMORY_OK
                      : static_cast<Self *>(self)->take(bytes, alignment, stream, out);
  }
  static void deallocate(kina_memory_resource *self, void *address, size_t bytes,
                         size_t alignment, kina_stream stream) {
    if (address)
      static_cast<Self *>(self)->put(address, bytes, alignment, stream);
  }
  static void destroy(kina_memory_resource *self) { static_cast<Self *>(self)->end(); }

  static constexpr kina_memory_vtable table = {sizeof(kina_memory_vtable), allocate, deallocate,
                                               destroy};
};

class HostMemory : public Resource<HostMemory> {
public:
  constexpr HostMemory() : Resource(kDLCPU, 0) {}

  kina_memory_status take(size_t bytes, size_t alignment, kina_stream, void **out) {
    if (alignment < kHostAlignment)
      alignment = kHostAlignment;
    if (posix_memalign(out, alignment, bytes) != 0)
      *out = nullptr;
    return *out ? KINA_MEMORY_OK : KINA_MEMORY_EXHAUSTED;
  }
  void put(void *address, size_t, size_t, kina_stream) { free(address); }
  void end() {}
};

template <typename Self>
class Adaptor : public Resource<Self> {
public:
  explicit Adaptor(kina_memory_resource *upstream)
      : Resource<Self>(upstream->device_type, upstream->device_id), upstream(upstream) {}

  using Resource<Self>::end;
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) {
    upstream->vtable->deallocate(upstream, address, bytes, alignment, stream);
  }

protected:
  kina_memory_status forward(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    return upstream->vtable->allocate(upstream, bytes, alignment, stream, out);
  }

private:
  kina_memory_resource *upstream;
};

class CountingAdaptor : public Adaptor<CountingAdaptor> {
public:
  using Adaptor::Adaptor;

  void read(kina_memory_statistics &out) const {
    out = {allocations.load(), deallocations.load(), failures.load(), live.load(), peak.load()};
  }

  kina_memory_status take(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    kina_memory_status status = forward(bytes, alignment, stream, out);
    if (status != KINA_MEMORY_OK) {
      ++failures;
      return status;
    }
    ++allocations;
    uint64_t now = live += bytes, seen = peak;
    while (now > seen && !peak.compare_exchange_weak(seen, now)) {
    }
    return status;
  }
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) {
    Adaptor::put(address, bytes, alignment, stream);
    ++deallocations;
    live -= bytes;
  }

private:
  std::atomic<uint64_t> allocations{0}, deallocations{0}, failures{0}, live{0}, peak{0};
};

class LimitAdaptor : public Adaptor<LimitAdaptor> {
public:
  LimitAdaptor(kina_memory_resource *upstream, size_t limit) : Adaptor(upstream), limit(limit) {}

  kina_memory_status take(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    size_t before = used.fetch_add(bytes);
    bool fits = bytes <= limit && before <= limit - bytes;
    kina_memory_status status =
        fits ? forward(bytes, alignment, stream, out) : KINA_MEMORY_EXHAUSTED;
    if (status != KINA_MEMORY_OK)
      used -= bytes;
    return status;
  }
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) {
    Adaptor::put(address, bytes, alignment, stream);
    used -= bytes;
  }

private:
  const size_t limit;
  std::atomic<size_t> used{0};
};

class FaultAdaptor : public Adaptor<FaultAdaptor> {
public:
  FaultAdaptor(kina_memory_resource *upstream, uint64_t n) : Adaptor(upstream), victim(n) {}

  kina_memory_status take(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    return ++count == victim ? KINA_MEMORY_EXHAUSTED : forward(bytes, alignment, stream, out);
  }

private:
  const uint64_t victim;
  std::atomic<uint64_t> count{0};
};

} // namespace

kina_memory_resource *kina_memory_host(void) {
  static constinit HostMemory host;
  return &host;
}

kina_memory_resource *kina_memory_counting_create(kina_memory_resource *upstream) {
  return create<CountingAdaptor>(upstream);
}

void kina_memory_counting_read(const kina_memory_resource *counting, kina_memory_statistics *out) {
  static_cast<const CountingAdaptor *>(counting)->read(*out);
}

kina_memory_resource *kina_memory_limit_create(kina_memory_resource *upstream, size_t limit) {
  return create<LimitAdaptor>(upstream, limit);
}

kina_memory_resource *kina_memory_fault_create(kina_memory_resource *upstream, uint64_t n) {
  return create<FaultAdaptor>(upstream, n);
}
