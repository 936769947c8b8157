//===- RuntimeTest.cpp - The C ABI without a compiler ---------------------===//
//
// Bodies written by hand stand for compiled code.
//
//===----------------------------------------------------------------------===//

#include "kina/runtime.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Tensor {
  explicit Tensor(std::vector<int64_t> sizes, std::vector<double> values = {})
      : shape(std::move(sizes)), data(std::move(values)) {
    memset(&tensor, 0, sizeof(tensor));
    tensor.dl.data = data.empty() ? nullptr : data.data();
    tensor.dl.device = {kDLCPU, 0};
    tensor.dl.dtype = {kDLFloat, 64, 1};
    tensor.dl.ndim = int32_t(shape.size());
    tensor.dl.shape = shape.data();
  }
  std::vector<int64_t> shape;
  std::vector<double> data;
  kina_tensor tensor;
};

constexpr int32_t kF64 = kDLFloat * 256 + 64;
const int64_t kAny[] = {-1, -1, -1};

struct RuntimeTest : testing::Test {
  RuntimeTest()
      : memory(kina_memory_counting_create(kina_memory_host())),
        context(kina_context_create(memory)) {}
  ~RuntimeTest() override {
    kina_context_destroy(context);
    kina_memory_statistics statistics;
    kina_memory_counting_read(memory, &statistics);
    EXPECT_EQ(statistics.live_bytes, 0u);
    EXPECT_EQ(statistics.allocations, statistics.deallocations);
    memory->vtable->destroy(memory);
  }
  int32_t run(kina_rt_body body, std::vector<kina_tensor *> args = {},
              std::vector<kina_tensor *> results = {}) {
    return kina_rt_call(context, KINA_ABI_VERSION, body, args.data(), results.data());
  }
  std::string message() { return kina_context_message(context); }
  kina_allocation_statistics statistics() {
    kina_allocation_statistics out;
    kina_context_statistics(context, &out);
    return out;
  }

  kina_memory_resource *memory;
  kina_context *context;
};

/// Doubles argument 0 into result 0.
void doubleBody(kina_tensor *const *args, kina_tensor *const *results) {
  auto *in = static_cast<const double *>(kina_rt_argument(args, 0, "", kF64, 1, kAny));
  int64_t size = args[0]->dl.shape[0];
  auto *out = static_cast<double *>(kina_rt_alloc(64, size * 8));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % 64, 0u);
  for (int64_t i = 0; i < size; ++i)
    out[i] = 2 * in[i];
  kina_rt_result(results, 0, kF64, 1, &size, out, out);
}

TEST_F(RuntimeTest, Version) { EXPECT_EQ(kina_abi_version(), KINA_ABI_VERSION); }

TEST_F(RuntimeTest, CodeOfAnotherVersionIsRefused) {
  Tensor x({1}, {1}), y({0});
  kina_tensor *args[] = {&x.tensor}, *results[] = {&y.tensor};
  EXPECT_EQ(kina_rt_call(context, KINA_ABI_VERSION + 1, doubleBody, args, results),
            KINA_ERROR_VERSION);
  EXPECT_EQ(message(), "this code was compiled for version 2 of the ABI, but the run-time library "
                       "has version 1");
  EXPECT_EQ(y.tensor.dl.data, nullptr);
  EXPECT_EQ(kina_rt_call(nullptr, KINA_ABI_VERSION, doubleBody, args, results),
            KINA_ERROR_ARGUMENT);
  ASSERT_EQ(run(doubleBody, {&x.tensor}, {&y.tensor}), KINA_OK);
  kina_tensor_release(&y.tensor);
}

TEST_F(RuntimeTest, ResultsComeAtTheEnd) {
  // The second result does not fit, so the first is not written either.
  auto body = [](kina_tensor *const *args, kina_tensor *const *results) {
    doubleBody(args, results);
    int64_t size = 1;
    kina_rt_result(results, 1, kF64, 1, &size, nullptr, args[0]->dl.data);
  };
  Tensor x({1}, {3}), y({1}, {0}), z({2}, {0, 0});
  EXPECT_EQ(run(body, {&x.tensor}, {&y.tensor, &z.tensor}), KINA_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "result 1 has size 2 at axis 0, expected 1");
  EXPECT_EQ(y.data[0], 0);
  // The first is written over the argument that the second is.
  Tensor w({1}, {0});
  EXPECT_EQ(run(body, {&x.tensor}, {&x.tensor, &w.tensor}), KINA_OK);
  EXPECT_EQ(x.data[0], 6);
  EXPECT_EQ(w.data[0], 3);
  EXPECT_EQ(run(body, {&x.tensor}, {&y.tensor, &y.tensor}), KINA_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "result 1 overlaps a result before it");
}

TEST_F(RuntimeTest, AllocationsMayBeLargerThanTheirResult) {
  auto body = [](kina_tensor *const *, kina_tensor *const *results) {
    auto *out = static_cast<double *>(kina_rt_alloc(64, 64));
    out[0] = 1;
    out[1] = 2;
    int64_t size = 1;
    kina_rt_result(results, 0, kF64, 1, &size, out, out);
  };
  Tensor y({1}, {0, 7});
  ASSERT_EQ(run(body, {}, {&y.tensor}), KINA_OK);
  EXPECT_EQ(y.data, (std::vector<double>{1, 7}));
}

TEST_F(RuntimeTest, ResultIsHandedOver) {
  Tensor x({3}, {1, 2, 3}), y({0});
  ASSERT_EQ(run(doubleBody, {&x.tensor}, {&y.tensor}), KINA_OK);
  ASSERT_EQ(y.shape[0], 3);
  EXPECT_EQ(static_cast<double *>(y.tensor.dl.data)[2], 6);
  EXPECT_EQ(statistics().live_bytes, 0u);
  EXPECT_EQ(statistics().allocations, 1u);
  kina_tensor_release(&y.tensor);
  EXPECT_EQ(y.tensor.dl.data, nullptr);
  kina_tensor_release(&y.tensor); // nothing is left to free
}

TEST_F(RuntimeTest, ResultIsCopiedToItsDestination) {
  Tensor x({2}, {1, 2}), y({2}, {0, 0});
  ASSERT_EQ(run(doubleBody, {&x.tensor}, {&y.tensor}), KINA_OK);
  EXPECT_EQ(y.data[1], 4);
  Tensor small({1}, {0});
  EXPECT_EQ(run(doubleBody, {&x.tensor}, {&small.tensor}), KINA_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "result 0 has size 1 at axis 0, expected 2");
}

TEST_F(RuntimeTest, ArgumentIsReturnedAsCopy) {
  auto body = [](kina_tensor *const *args, kina_tensor *const *results) {
    auto *in = const_cast<void *>(kina_rt_argument(args, 0, "", kF64, 1, kAny));
    int64_t size = 1;
    kina_rt_result(results, 0, kF64, 1, &size, in, in);
  };
  Tensor x({1}, {7}), y({0});
  ASSERT_EQ(run(body, {&x.tensor}, {&y.tensor}), KINA_OK);
  EXPECT_NE(y.tensor.dl.data, x.tensor.dl.data);
  EXPECT_EQ(static_cast<double *>(y.tensor.dl.data)[0], 7);
  kina_tensor_release(&y.tensor);
}

TEST_F(RuntimeTest, BadArguments) {
  auto expect = [&](kina_tensor *argument, const char *text) {
    Tensor y({0});
    EXPECT_EQ(run(doubleBody, {argument}, {&y.tensor}), KINA_ERROR_ARGUMENT);
    EXPECT_EQ(message(), text);
    EXPECT_EQ(y.tensor.dl.data, nullptr);
  };
  expect(nullptr, "argument 0 is missing");
  Tensor rank({1, 1}, {1});
  expect(&rank.tensor, "argument 0 has rank 2, expected 1");
  Tensor type({1}, {1});
  type.tensor.dl.dtype = {kDLFloat, 32, 1};
  expect(&type.tensor, "argument 0 has element type float32, expected float64");
  Tensor none({1});
  expect(&none.tensor, "argument 0 has no data");
  Tensor device({1}, {1});
  device.tensor.dl.device.device_type = kDLCUDA;
  expect(&device.tensor, "argument 0 is not in host memory");
  Tensor strided({2}, {1, 2, 3, 4});
  int64_t two = 2;
  strided.tensor.dl.strides = &two;
  expect(&strided.tensor, "argument 0 is not compact and row-major: stride 2 at axis 0");
  Tensor misaligned({1}, {1, 2});
  misaligned.tensor.dl.byte_offset = 4;
  expect(&misaligned.tensor, "argument 0 has misaligned data");
  Tensor negative({-1}, {1});
  expect(&negative.tensor, "argument 0 has size -1 at axis 0");
  for (int64_t size : {int64_t(1) << 60, (int64_t(1) << 61) + 1, INT64_MAX}) {
    Tensor huge({size}, {1});
    expect(&huge.tensor, ("argument 0 has a shape beyond 64 bits: size " + std::to_string(size) +
                          " at axis 0")
                             .c_str());
  }
}

TEST_F(RuntimeTest, StridesOfUnitAxesAndEmptyTensorsDoNotMatter) {
  Tensor unit({1}, {1}), y({1}, {0});
  int64_t any = 77;
  unit.tensor.dl.strides = &any;
  EXPECT_EQ(run(doubleBody, {&unit.tensor}, {&y.tensor}), KINA_OK);
  Tensor empty({0}), out({9});
  EXPECT_EQ(run(doubleBody, {&empty.tensor}, {&out.tensor}), KINA_OK);
  EXPECT_EQ(out.shape[0], 0);
  kina_tensor_release(&out.tensor);
}

TEST_F(RuntimeTest, FailureFreesEverything) {
  auto body = [](kina_tensor *const *, kina_tensor *const *results) {
    void *a = kina_rt_alloc(64, 1000);
    kina_rt_alloc(64, 2000);
    int64_t size = 1;
    kina_rt_result(results, 0, kF64, 1, &size, a, a); // must not reach the caller
    kina_rt_fail(KINA_ERROR_INDEX, "index {0} is outside of [0, {1}) {2}", "f.kina", 3, 7, 2,
                 int64_t(5), int64_t(4));
  };
  Tensor y({0});
  EXPECT_EQ(run(body, {}, {&y.tensor}), KINA_ERROR_INDEX);
  EXPECT_EQ(y.tensor.dl.data, nullptr);
  EXPECT_EQ(message(), "index 5 is outside of [0, 4) {2}");
  EXPECT_STREQ(kina_context_file(context), "f.kina");
  EXPECT_EQ(kina_context_line(context), 3);
  EXPECT_EQ(kina_context_column(context), 7);
  ASSERT_EQ(kina_context_num_values(context), 2);
  EXPECT_EQ(kina_context_value(context, 0), 5);
  EXPECT_EQ(statistics().live_bytes, 0u);
  EXPECT_EQ(statistics().peak_bytes, 3000u);

  Tensor x({1}, {1});
  EXPECT_EQ(run(doubleBody, {&x.tensor}, {&y.tensor}), KINA_OK);
  EXPECT_EQ(message(), "");
  EXPECT_EQ(kina_context_num_values(context), 0);
  kina_tensor_release(&y.tensor);
}

TEST_F(RuntimeTest, EveryAllocationMayFail) {
  for (uint64_t n = 1; n <= 3; ++n) {
    kina_memory_resource *fault = kina_memory_fault_create(memory, n);
    kina_context *inner = kina_context_create(fault);
    auto body = [](kina_tensor *const *, kina_tensor *const *) {
      kina_rt_alloc(64, 100);
      kina_rt_free(kina_rt_alloc(64, 200));
    };
    int32_t status = kina_rt_call(inner, KINA_ABI_VERSION, body, nullptr, nullptr);
    EXPECT_EQ(status, n <= 2 ? KINA_ERROR_MEMORY : KINA_OK);
    if (n == 2) {
      EXPECT_STREQ(kina_context_message(inner), "out of memory: 200 bytes wanted");
    }
    kina_context_destroy(inner);
    fault->vtable->destroy(fault);
  }
}

TEST_F(RuntimeTest, LimitAndAbsurdSizes) {
  kina_memory_resource *limit = kina_memory_limit_create(memory, 1000);
  void *a, *b;
  EXPECT_EQ(limit->vtable->allocate(limit, 600, 8, nullptr, &a), KINA_MEMORY_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  EXPECT_EQ(limit->vtable->allocate(limit, 600, 8, nullptr, &b), KINA_MEMORY_EXHAUSTED);
  EXPECT_EQ(b, nullptr);
  EXPECT_EQ(limit->vtable->allocate(limit, SIZE_MAX, 8, nullptr, &b), KINA_MEMORY_EXHAUSTED);
  EXPECT_EQ(limit->vtable->allocate(limit, 8, 3, nullptr, &b), KINA_MEMORY_INVALID);
  EXPECT_EQ(limit->vtable->allocate(limit, 0, 8, nullptr, &b), KINA_MEMORY_OK);
  limit->vtable->deallocate(limit, a, 600, 8, nullptr);
  limit->vtable->destroy(limit);

  EXPECT_EQ(run([](kina_tensor *const *, kina_tensor *const *) { kina_rt_alloc(64, -8); }),
            KINA_ERROR_MEMORY);
  EXPECT_EQ(run([](kina_tensor *const *, kina_tensor *const *) { kina_rt_alloc(64, INT64_MAX); }),
            KINA_ERROR_MEMORY);
}

void endless(kina_tensor *const *, kina_tensor *const *) {
  for (;;)
    kina_rt_poll("f.kina", 9, 1);
}

TEST_F(RuntimeTest, MaxSteps) {
  kina_context_set_max_steps(context, 1000);
  EXPECT_EQ(run(endless), KINA_ERROR_STOPPED);
  EXPECT_EQ(message(), "the loop did not end within 1000 iterations");
  EXPECT_EQ(kina_context_steps(context), 1001u);
  EXPECT_EQ(kina_context_line(context), 9);
}

kina_context *interruptedContext;

TEST_F(RuntimeTest, InterruptFromSignalAndThread) {
  interruptedContext = context;
  std::signal(SIGALRM, [](int) { kina_context_interrupt(interruptedContext); });
  std::thread sender([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::raise(SIGALRM);
  });
  EXPECT_EQ(run(endless), KINA_ERROR_STOPPED);
  sender.join();
  std::signal(SIGALRM, SIG_DFL);
  EXPECT_EQ(message().rfind("interrupted after ", 0), 0u);
  // It was consumed.
  EXPECT_EQ(run([](kina_tensor *const *, kina_tensor *const *) { kina_rt_poll("", 0, 0); }),
            KINA_OK);
}

TEST_F(RuntimeTest, Progress) {
  int reports = 0;
  kina_context_set_progress(
      context,
      [](void *user, uint64_t steps, double seconds) {
        ++*static_cast<int *>(user);
        EXPECT_GT(steps, 0u);
        EXPECT_GE(seconds, 0.001);
      },
      &reports, 0.001);
  kina_context_set_max_steps(context, 2000000);
  EXPECT_EQ(run(endless), KINA_ERROR_STOPPED);
  EXPECT_GE(reports, 2);
}

TEST_F(RuntimeTest, ThreadsHaveCallsOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      kina_context *own = kina_context_create(memory);
      for (int i = 0; i < 1000; ++i) {
        auto body = [](kina_tensor *const *args, kina_tensor *const *) {
          kina_rt_alloc(64, 100);
          kina_rt_fail(KINA_ERROR_INDEX, "{0}", "", 0, 0, 1, args[0]->dl.shape[0]);
        };
        Tensor x({id * 1000 + i}, {1});
        kina_tensor *args[] = {&x.tensor};
        EXPECT_EQ(kina_rt_call(own, KINA_ABI_VERSION, body, args, nullptr), KINA_ERROR_INDEX);
        EXPECT_EQ(kina_context_value(own, 0), id * 1000 + i);
      }
      kina_context_destroy(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(RuntimeTest, CallsNest) {
  auto body = [](kina_tensor *const *, kina_tensor *const *) {
    kina_rt_alloc(64, 10);
    kina_context *inner = kina_context_create(nullptr);
    kina_context_interrupt(inner);
    EXPECT_EQ(kina_rt_call(inner, KINA_ABI_VERSION, endless, nullptr, nullptr), KINA_ERROR_STOPPED);
    kina_context_destroy(inner);
    kina_rt_alloc(64, 10);
  };
  EXPECT_EQ(run(body), KINA_OK);
  EXPECT_EQ(statistics().peak_bytes, 20u);
}

/// Writes and reads `count` frames of `bytes` bytes.
template <int64_t bytes, int64_t count>
void fillTape(kina_tensor *const *, kina_tensor *const *) {
  void *tape = kina_rt_tape_new(bytes);
  // A call that fails is left by longjmp, past every destructor.
  static std::vector<unsigned char *> frames;
  frames.assign(count, nullptr);
  for (int64_t i = 0; i < count; ++i) {
    auto *frame = static_cast<unsigned char *>(kina_rt_tape_frame(tape, i));
    for (int64_t j = 0; j < bytes; ++j)
      frame[j] = (unsigned char)(i * 31 + j);
    frames[i] = frame;
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(frames[0]) % 64, 0u);
  int64_t wrong = 0;
  for (int64_t i = count; i-- > 0;) {
    auto *frame = static_cast<unsigned char *>(kina_rt_tape_frame(tape, i));
    wrong += frame != frames[i];
    for (int64_t j = 0; j < bytes; ++j)
      wrong += frame[j] != (unsigned char)(i * 31 + j);
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(RuntimeTest, TapesGrow) {
  auto expectBytes = [&](kina_rt_body body, uint64_t bytes, uint64_t chunks) {
    kina_context *own = kina_context_create(memory);
    EXPECT_EQ(kina_rt_call(own, KINA_ABI_VERSION, body, nullptr, nullptr), KINA_OK);
    kina_allocation_statistics out;
    kina_context_statistics(own, &out);
    kina_context_destroy(own);
    EXPECT_EQ(out.live_bytes, 0u);
    EXPECT_EQ(out.allocations, chunks + 1);
    // The tape itself has 1 KiB at most.
    EXPECT_GE(out.peak_bytes, bytes);
    EXPECT_LE(out.peak_bytes, 2 * bytes + 4096 + 1024);
  };
  expectBytes(fillTape<1, 100000>, 100000, 5);
  expectBytes(fillTape<4, 100000>, 400000, 7);
  expectBytes(fillTape<24, 1000>, 24000, 4);
  expectBytes(fillTape<5000, 40>, 200000, 6);
  expectBytes(fillTape<4096, 1>, 4096, 1);
  expectBytes(fillTape<0, 100>, 0, 0);
}

TEST_F(RuntimeTest, TapesAreFreedWithTheirFrames) {
  auto body = [](kina_tensor *const *, kina_tensor *const *) {
    kina_rt_alloc(64, 100);
    for (int i = 0; i < 10; ++i) {
      void *tape = kina_rt_tape_new(1000);
      for (int64_t at = 100; at-- > 0;)
        kina_rt_tape_frame(tape, at);
      void *other = kina_rt_tape_new(8);
      kina_rt_tape_frame(other, 0);
      kina_rt_free(tape);
      kina_rt_free(other);
    }
  };
  EXPECT_EQ(run(body), KINA_OK);
  EXPECT_LT(statistics().peak_bytes, 2 * 100000 + 2 * 4096 + 2 * 1024 + 100u);
}

TEST_F(RuntimeTest, TapesRunOutOfMemory) {
  kina_memory_resource *limit = kina_memory_limit_create(memory, 100000);
  kina_context *own = kina_context_create(limit);
  EXPECT_EQ(kina_rt_call(own, KINA_ABI_VERSION, fillTape<1000, 30>, nullptr, nullptr), KINA_OK);
  EXPECT_EQ(kina_rt_call(own, KINA_ABI_VERSION, fillTape<1000, 100>, nullptr, nullptr), KINA_ERROR_MEMORY);
  EXPECT_STREQ(kina_context_message(own), "out of memory: 64000 bytes wanted");
  EXPECT_EQ(kina_rt_call(own, KINA_ABI_VERSION, fillTape<1000, 30>, nullptr, nullptr), KINA_OK);
  kina_context_destroy(own);
  limit->vtable->destroy(limit);

  auto huge = [](kina_tensor *const *, kina_tensor *const *) {
    kina_rt_tape_frame(kina_rt_tape_new(int64_t(1) << 40), int64_t(1) << 40);
  };
  EXPECT_EQ(run(huge), KINA_ERROR_MEMORY);
  EXPECT_EQ(message(), "out of memory: frame 1099511627776 of 1099511627776 bytes wanted");
  for (kina_rt_body body : {
           kina_rt_body([](kina_tensor *const *, kina_tensor *const *) {
             kina_rt_tape_frame(kina_rt_tape_new(1), -1);
           }),
           kina_rt_body([](kina_tensor *const *, kina_tensor *const *) {
             kina_rt_tape_frame(kina_rt_tape_new(1), INT64_MAX);
           }),
           kina_rt_body([](kina_tensor *const *, kina_tensor *const *) {
             kina_rt_tape_frame(kina_rt_tape_new(int64_t(1) << 62), 1);
           }),
       })
    EXPECT_EQ(run(body), KINA_ERROR_MEMORY);
}

} // namespace
