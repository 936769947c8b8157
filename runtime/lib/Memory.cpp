//===- Memory.cpp - Host memory and the adaptors ------------------------------===//
//
// No exception leaves an allocation function; all counts are atomic, because a
// result may be released by another thread than the one that made it.
//
//===----------------------------------------------------------------------===//

#include "kina/dlpack.h"
#include "kina/memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

/// JAX copies what is aligned to less, and a cache line or an AVX-512 vector is as long.
constexpr size_t kHostAlignment = 64;

/// The C++ face of a resource: overriding two functions fills the table.
class Resource : public kina_memory_resource {
public:
  Resource(int32_t deviceType, int32_t deviceId) {
    static const kina_memory_vtable table = {
        sizeof(kina_memory_vtable),
        [](kina_memory_resource *self, size_t bytes, size_t alignment, kina_stream stream,
           void **out) { return static_cast<Resource *>(self)->get(bytes, alignment, stream, out); },
        [](kina_memory_resource *self, void *address, size_t bytes, size_t alignment,
           kina_stream stream) {
          if (address)
            static_cast<Resource *>(self)->put(address, bytes, alignment, stream);
        },
        [](kina_memory_resource *self) { static_cast<Resource *>(self)->end(); }};
    vtable = &table;
    device_type = deviceType;
    device_id = deviceId;
  }
  virtual ~Resource() = default;

protected:
  virtual kina_memory_status allocate(size_t bytes, size_t alignment, kina_stream stream,
                                      void **out) = 0;
  virtual void put(void *address, size_t bytes, size_t alignment, kina_stream stream) = 0;
  virtual void end() { delete this; }

private:
  kina_memory_status get(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    *out = nullptr;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      return KINA_MEMORY_INVALID;
    return bytes == 0 ? KINA_MEMORY_OK : allocate(bytes, alignment, stream, out);
  }
};

class HostMemory final : public Resource {
public:
  HostMemory() : Resource(kDLCPU, 0) {}

private:
  kina_memory_status allocate(size_t bytes, size_t alignment, kina_stream, void **out) override {
    if (alignment < kHostAlignment)
      alignment = kHostAlignment;
    if (posix_memalign(out, alignment, bytes) != 0)
      *out = nullptr;
    return *out ? KINA_MEMORY_OK : KINA_MEMORY_EXHAUSTED;
  }
  void put(void *address, size_t, size_t, kina_stream) override { free(address); }
  void end() override {}
};

class Adaptor : public Resource {
public:
  explicit Adaptor(kina_memory_resource *upstream)
      : Resource(upstream->device_type, upstream->device_id), upstream(upstream) {}

protected:
  kina_memory_status forward(size_t bytes, size_t alignment, kina_stream stream, void **out) {
    return upstream->vtable->allocate(upstream, bytes, alignment, stream, out);
  }
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) override {
    upstream->vtable->deallocate(upstream, address, bytes, alignment, stream);
  }

private:
  kina_memory_resource *upstream;
};

class CountingAdaptor final : public Adaptor {
public:
  using Adaptor::Adaptor;

  void read(kina_memory_statistics &out) const {
    out = {allocations.load(), deallocations.load(), failures.load(), live.load(), peak.load()};
  }

private:
  kina_memory_status allocate(size_t bytes, size_t alignment, kina_stream stream,
                              void **out) override {
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
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) override {
    Adaptor::put(address, bytes, alignment, stream);
    ++deallocations;
    live -= bytes;
  }

  std::atomic<uint64_t> allocations{0}, deallocations{0}, failures{0}, live{0}, peak{0};
};

class LimitAdaptor final : public Adaptor {
public:
  LimitAdaptor(kina_memory_resource *upstream, size_t limit) : Adaptor(upstream), limit(limit) {}

private:
  kina_memory_status allocate(size_t bytes, size_t alignment, kina_stream stream,
                              void **out) override {
    size_t before = used.fetch_add(bytes);
    bool fits = bytes <= limit && before <= limit - bytes;
    kina_memory_status status =
        fits ? forward(bytes, alignment, stream, out) : KINA_MEMORY_EXHAUSTED;
    if (status != KINA_MEMORY_OK)
      used -= bytes;
    return status;
  }
  void put(void *address, size_t bytes, size_t alignment, kina_stream stream) override {
    Adaptor::put(address, bytes, alignment, stream);
    used -= bytes;
  }

  const size_t limit;
  std::atomic<size_t> used{0};
};

class FaultAdaptor final : public Adaptor {
public:
  FaultAdaptor(kina_memory_resource *upstream, uint64_t n) : Adaptor(upstream), victim(n) {}

private:
  kina_memory_status allocate(size_t bytes, size_t alignment, kina_stream stream,
                              void **out) override {
    return ++count == victim ? KINA_MEMORY_EXHAUSTED : forward(bytes, alignment, stream, out);
  }

  const uint64_t victim;
  std::atomic<uint64_t> count{0};
};

} // namespace

kina_memory_resource *kina_memory_host(void) {
  // Never destroyed: a result may be released while static objects are torn down.
  alignas(HostMemory) static char storage[sizeof(HostMemory)];
  static HostMemory *host = new (storage) HostMemory;
  return host;
}

kina_memory_resource *kina_memory_counting_create(kina_memory_resource *upstream) {
  return new (std::nothrow) CountingAdaptor(upstream);
}

void kina_memory_counting_read(const kina_memory_resource *counting, kina_memory_statistics *out) {
  static_cast<const CountingAdaptor *>(counting)->read(*out);
}

kina_memory_resource *kina_memory_limit_create(kina_memory_resource *upstream, size_t limit) {
  return new (std::nothrow) LimitAdaptor(upstream, limit);
}

kina_memory_resource *kina_memory_fault_create(kina_memory_resource *upstream, uint64_t n) {
  return new (std::nothrow) FaultAdaptor(upstream, n);
}
