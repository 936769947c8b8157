//===- JITTest.cpp - Calling compiled functions ---------------------------===//

#include "Compile.h"

#include <cmath>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace kina;
using namespace kina::test;

namespace {

/// C = C0 + A B with a FMA chain in index order, as the language defines it.
std::vector<double> matmul(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b, int m, int k,
                           int n) {
  std::vector<double> c(m * n, 0.0);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        c[i * n + j] = std::fma(a[i * k + l], b[l * n + j], c[i * n + j]);
  return c;
}

std::vector<double> sample(int size, double seed) {
  std::vector<double> values;
  for (int i = 0; i < size; ++i)
    values.push_back(std::sin(seed + 1.7 * i));
  return values;
}

constexpr llvm::StringLiteral kMatmul = R"mlir(
  func.func @matmul(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %m = tensor.dim %a, %c0 : tensor<?x?xf64>
    %n = tensor.dim %b, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
    %r = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%fill : tensor<?x?xf64>) -> tensor<?x?xf64>
    return %r : tensor<?x?xf64>
  }
  func.func @matmul_nt(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f64
    %m = tensor.dim %a, %c0 : tensor<?x?xf64>
    %n = tensor.dim %b, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
    %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                        affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%fill : tensor<?x?xf64>) -> tensor<?x?xf64>
    return %r : tensor<?x?xf64>
  }
)mlir";

TEST(JIT, MatmulIsOneChainOfFMAs) {
  auto jit = compile(kMatmul);
  ASSERT_TRUE(jit);
  for (auto [m, k, n] : {std::tuple(1, 1, 1), std::tuple(5, 7, 3), std::tuple(33, 64, 17),
                         std::tuple(2, 0, 3)}) {
    std::vector<double> a = sample(m * k, 0.1), b = sample(k * n, 0.7);
    auto result = jit->call("matmul", {f64({m, k}, a), f64({k, n}, b)});
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    std::vector<double> expected = matmul(a, b, m, k, n);
    EXPECT_EQ(toVector((*result)[0]), expected);
    std::vector<double> transposed(n * k);
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < n; ++j)
        transposed[j * k + i] = b[i * n + j];
    result = jit->call("matmul_nt", {f64({m, k}, a), f64({n, k}, transposed)});
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    EXPECT_EQ(toVector((*result)[0]), expected);
  }
}

TEST(JIT, ScalarsOfEveryType) {
  auto jit = compile(R"mlir(
    func.func @same(%a: f64, %b: f32, %c: f16, %d: bf16, %e: i64, %f: i32, %g: i8, %h: i1,
                    %i: index) -> (f64, f32, f16, bf16, i64, i32, i8, i1, index) {
      return %a, %b, %c, %d, %e, %f, %g, %h, %i
          : f64, f32, f16, bf16, i64, i32, i8, i1, index
    }
    func.func @add(%c: f16, %d: bf16, %h: i1) -> (f16, bf16, i1) {
      %0 = arith.addf %c, %c : f16
      %1 = arith.addf %d, %d : bf16
      %true = arith.constant true
      %2 = arith.xori %h, %true : i1
      return %0, %1, %2 : f16, bf16, i1
    })mlir");
  ASSERT_TRUE(jit);
  llvm::SmallVector<Tensor> arguments;
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32,
                      DType::I8, DType::Bool, DType::Index})
    arguments.push_back(makeTensor(dtype, {}, {dtype == DType::Bool ? 1. : -2.}));
  auto result = jit->call("same", arguments);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  for (auto [argument, value] : llvm::zip_equal(arguments, *result)) {
    EXPECT_EQ(argument.getDType(), value.getDType());
    EXPECT_EQ(argument.getDouble(0), value.getDouble(0));
  }
  result = jit->call("add", {makeTensor(DType::F16, {}, {1.5}), makeTensor(DType::BF16, {}, {-3}),
                             makeTensor(DType::Bool, {}, {1})});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ((*result)[0].getDouble(0), 3);
  EXPECT_EQ((*result)[1].getDouble(0), -6);
  EXPECT_EQ((*result)[2].getInteger(0), 0);
}

TEST(JIT, BF16RoundsOnceAnOperation) {
  auto jit = compile(R"mlir(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<?xbf16>) -> tensor<?xbf16> {
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<?xbf16>) outs(%x : tensor<?xbf16>) {
      ^bb0(%a: bf16, %o: bf16):
        %0 = arith.mulf %a, %a : bf16
        %1 = math.exp %0 : bf16
        linalg.yield %1 : bf16
      } -> tensor<?xbf16>
      return %r : tensor<?xbf16>
    })mlir");
  ASSERT_TRUE(jit);
  Tensor x = makeTensor(DType::BF16, {4}, {0.1, 1.3, -0.77, 2.1});
  auto result = jit->call("f", {x});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  for (int i = 0; i < 4; ++i) {
    Tensor square = makeTensor(DType::BF16, {}, {float(x.getDouble(i)) * float(x.getDouble(i))});
    Tensor expected = makeTensor(DType::BF16, {}, {std::exp(float(square.getDouble(0)))});
    EXPECT_EQ((*result)[0].getDouble(i), expected.getDouble(0));
  }
}

TEST(JIT, ElementaryFunctionsAreThoseOfTheLibrary) {
  auto jit = compile(R"mlir(
    func.func @exp(%x: f64) -> (f64, f64, f64, f64, f64) {
      %0 = math.exp %x : f64
      %1 = math.log1p %x : f64
      %2 = math.erf %x : f64
      %3 = math.tanh %x : f64
      %4 = math.expm1 %x : f64
      return %0, %1, %2, %3, %4 : f64, f64, f64, f64, f64
    }
    func.func @sin(%x: f32) -> (f32, f32) {
      %0 = math.sin %x : f32
      %1 = math.rsqrt %x : f32
      return %0, %1 : f32, f32
    })mlir");
  ASSERT_TRUE(jit);
  double x = 1e-9;
  auto result = jit->call("exp", {f64({}, {x})});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ((*result)[0].getDouble(0), std::exp(x));
  EXPECT_EQ((*result)[1].getDouble(0), std::log1p(x));
  EXPECT_EQ((*result)[2].getDouble(0), std::erf(x));
  EXPECT_EQ((*result)[3].getDouble(0), std::tanh(x));
  EXPECT_EQ((*result)[4].getDouble(0), std::expm1(x));
  result = jit->call("sin", {makeTensor(DType::F32, {}, {1e8})});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(float((*result)[0].getDouble(0)), std::sin(1e8f));
  EXPECT_EQ(float((*result)[1].getDouble(0)), 1.0f / std::sqrt(1e8f));
}

TEST(JIT, ReductionsRunInIndexOrder) {
  auto jit = compile(R"mlir(
    func.func @rows(%x: tensor<?x?xf64>) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f64
      %m = tensor.dim %x, %c0 : tensor<?x?xf64>
      %empty = tensor.empty(%m) : tensor<?xf64>
      %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf64>) outs(%fill : tensor<?xf64>)
          dimensions = [1]
      return %r : tensor<?xf64>
    }
    func.func @columns(%x: tensor<?x?xf64>) -> tensor<?xf64> {
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %n = tensor.dim %x, %c1 : tensor<?x?xf64>
      %empty = tensor.empty(%n) : tensor<?xf64>
      %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf64>) outs(%fill : tensor<?xf64>)
          dimensions = [0]
      return %r : tensor<?xf64>
    }
    func.func @all(%x: tensor<?x?xf64>) -> f64 {
      %zero = arith.constant 0.0 : f64
      %empty = tensor.empty() : tensor<f64>
      %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<f64>) -> tensor<f64>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf64>) outs(%fill : tensor<f64>)
          dimensions = [0, 1]
      %s = tensor.extract %r[] : tensor<f64>
      return %s : f64
    })mlir");
  ASSERT_TRUE(jit);
  int m = 13, n = 37;
  std::vector<double> x = sample(m * n, 0.3), rows(m, 0.0), columns(n, 0.0);
  double all = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      rows[i] += x[i * n + j];
      columns[j] += x[i * n + j];
      all += x[i * n + j];
    }
  auto call = [&](llvm::StringRef name) {
    auto result = jit->call(name, {f64({m, n}, x)});
    EXPECT_TRUE(bool(result));
    return toVector((*result)[0]);
  };
  EXPECT_EQ(call("rows"), rows);
  EXPECT_EQ(call("columns"), columns);
  EXPECT_EQ(call("all"), std::vector<double>{all});
}

TEST(JIT, ViewsAndConstants) {
  auto jit = compile(R"mlir(
    func.func @column(%x: tensor<4x3xf64>) -> tensor<4xf64> {
      %r = tensor.extract_slice %x[0, 1] [4, 1] [1, 1] : tensor<4x3xf64> to tensor<4xf64>
      return %r : tensor<4xf64>
    }
    func.func @constant() -> tensor<3xf64> {
      %r = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
      return %r : tensor<3xf64>
    }
    func.func @same(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
      return %x, %x : tensor<?xf64>, tensor<?xf64>
    }
    func.func @set(%x: tensor<?xf64>) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %v = arith.constant 9.0 : f64
      %r = tensor.insert %v into %x[%c0] : tensor<?xf64>
      return %r : tensor<?xf64>
    })mlir");
  ASSERT_TRUE(jit);
  auto column = jit->call("column", {f64({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})});
  ASSERT_TRUE(bool(column)) << llvm::toString(column.takeError());
  EXPECT_EQ(toVector((*column)[0]), (std::vector<double>{1, 4, 7, 10}));
  auto constant = jit->call("constant", {});
  ASSERT_TRUE(bool(constant)) << llvm::toString(constant.takeError());
  (*constant)[0].setDouble(0, 77); // a result is the caller's
  constant = jit->call("constant", {});
  EXPECT_EQ(toVector((*constant)[0]), (std::vector<double>{1, 2, 3}));
  Tensor x = f64({2}, {1, 2});
  auto same = jit->call("same", {x});
  ASSERT_TRUE(bool(same)) << llvm::toString(same.takeError());
  EXPECT_NE((*same)[0].getData(), x.getData());
  EXPECT_NE((*same)[0].getData(), (*same)[1].getData());
  auto set = jit->call("set", {x});
  ASSERT_TRUE(bool(set)) << llvm::toString(set.takeError());
  EXPECT_EQ(toVector((*set)[0]), (std::vector<double>{9, 2}));
  EXPECT_EQ(toVector(x), (std::vector<double>{1, 2})) << "arguments are not written";
}

TEST(JIT, FailingCheckInNestedLoopFreesEverything) {
  auto jit = compile(R"mlir(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<?xf64>, %n: index, %bad: index) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<?xf64> {
        %t = scf.for %j = %c0 to %n step %c1 iter_args(%u = %s) -> tensor<?xf64> {
          %sum = arith.addi %i, %j : index
          %ok = arith.cmpi ne, %sum, %bad : index
          kina_rt.check %ok, 803, "index {0} is outside of [0, {1})" (%sum, %bad) : index, index loc("f.kina":12:5)
          %size = tensor.dim %x, %c0 : tensor<?xf64>
          %e = tensor.empty(%size) : tensor<?xf64>
          %v = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%u, %x : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) {
          ^bb0(%a: f64, %b: f64, %o: f64):
            %2 = arith.addf %a, %b : f64
            linalg.yield %2 : f64
          } -> tensor<?xf64>
          scf.yield %v : tensor<?xf64>
        }
        scf.yield %t : tensor<?xf64>
      }
      return %r : tensor<?xf64>
    })mlir");
  ASSERT_TRUE(jit);
  kina_memory_resource *memory = kina_memory_counting_create(kina_memory_host());
  ContextPtr context(kina_context_create(memory));
  Tensor x = f64({100}, std::vector<double>(100, 1.0));
  CallError error = getError(jit->call("f", {x, index(10), index(13)}, context.get()));
  EXPECT_EQ(error.code, 803);
  EXPECT_EQ(error.message, "index 13 is outside of [0, 13)");
  EXPECT_EQ(error.file, "f.kina");
  EXPECT_EQ(error.line, 12);
  EXPECT_EQ(error.column, 5);
  EXPECT_EQ(error.values, (llvm::SmallVector<int64_t>{13, 13}));
  kina_memory_statistics statistics;
  kina_memory_counting_read(memory, &statistics);
  EXPECT_GT(statistics.allocations, 0u);
  EXPECT_EQ(statistics.live_bytes, 0u);
  {
    auto result = jit->call("f", {x, index(10), index(99)}, context.get());
    ASSERT_TRUE(bool(result));
    EXPECT_EQ((*result)[0].getDouble(99), 101);
  }
  kina_memory_counting_read(memory, &statistics);
  EXPECT_EQ(statistics.live_bytes, 0u);

  // Every allocation of the call may fail.
  uint64_t perCall = getStatistics(context).allocations / 2;
  EXPECT_GE(perCall, 1u);
  for (uint64_t n = 1;; ++n) {
    kina_memory_resource *fault = kina_memory_fault_create(memory, n);
    ContextPtr failing(kina_context_create(fault));
    auto result = jit->call("f", {x, index(3), index(99)}, failing.get());
    bool ended = bool(result);
    if (!ended)
      EXPECT_EQ(getError(std::move(result)).code, KINA_ERROR_MEMORY);
    else
      result->clear();
    kina_memory_counting_read(memory, &statistics);
    EXPECT_EQ(statistics.live_bytes, 0u);
    fault->vtable->destroy(fault);
    if (ended)
      break;
  }
  context.reset();
  memory->vtable->destroy(memory);
}

TEST(JIT, CheckInsideGeneric) {
  auto jit = compile(R"mlir(
    #id = affine_map<(d0) -> (d0)>
    func.func @divide(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %n = tensor.dim %x, %c0 : tensor<?xi32>
      %e = tensor.empty(%n) : tensor<?xi32>
      %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%x, %y : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) {
      ^bb0(%a: i32, %b: i32, %o: i32):
        %ok = arith.cmpi ne, %b, %zero : i32
        %i = linalg.index 0 : index
        kina_rt.check %ok, 804, "division by zero at {0}" (%i) : index
        %q = arith.floordivsi %a, %b : i32
        linalg.yield %q : i32
      } -> tensor<?xi32>
      return %r : tensor<?xi32>
    })mlir");
  ASSERT_TRUE(jit);
  Tensor x = makeTensor(DType::I32, {3}, {7, -7, 9});
  auto result = jit->call("divide", {x, makeTensor(DType::I32, {3}, {2, 2, -3})});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(toVector((*result)[0]), (std::vector<double>{3, -4, -3}));
  CallError error = getError(jit->call("divide", {x, makeTensor(DType::I32, {3}, {1, 0, 1})}));
  EXPECT_EQ(error.code, 804);
  EXPECT_EQ(error.message, "division by zero at 1");
}

TEST(JIT, PollStopsAndInterrupts) {
  auto jit = compile(R"mlir(
    func.func @forever(%x: f64) -> f64 {
      %r = scf.while (%s = %x) : (f64) -> f64 {
        kina_rt.poll loc("f.kina":2:3)
        %c = arith.cmpf oge, %s, %x : f64
        scf.condition(%c) %s : f64
      } do {
      ^bb0(%s: f64):
        scf.yield %s : f64
      }
      return %r : f64
    })mlir");
  ASSERT_TRUE(jit);
  ContextPtr context(kina_context_create(nullptr));
  kina_context_set_max_steps(context.get(), 12345);
  CallError error = getError(jit->call("forever", {f64({}, {1})}, context.get()));
  EXPECT_EQ(error.code, KINA_ERROR_STOPPED);
  EXPECT_EQ(error.message, "the loop did not end within 12345 iterations");
  EXPECT_EQ(error.line, 2);
  kina_context_set_max_steps(context.get(), 0);
  std::thread other([&] {
    usleep(20000);
    kina_context_interrupt(context.get());
  });
  error = getError(jit->call("forever", {f64({}, {1})}, context.get()));
  other.join();
  EXPECT_EQ(error.code, KINA_ERROR_STOPPED);
}

TEST(JIT, BadCalls) {
  auto jit = compile(kMatmul);
  ASSERT_TRUE(jit);
  EXPECT_EQ(getError(jit->call("nothing", {})).message, "there is no function `nothing`");
  EXPECT_EQ(getError(jit->call("matmul", {})).message,
            "`matmul` takes 2 arguments, but got 0");
  EXPECT_EQ(getError(jit->call("matmul", {f64({2}, {}), f64({2, 2}, {})})).message,
            "argument 0 has rank 1, expected 2");
  EXPECT_EQ(getError(jit->call("matmul", {f64({2, 2}, {}), makeTensor(DType::F32, {2, 2}, {})}))
                .message,
            "argument 1 has element type float32, expected float64");
}

TEST(JIT, CallsFromSeveralThreads) {
  auto jit = compile(kMatmul);
  ASSERT_TRUE(jit);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      std::vector<double> a = sample(64, id), b = sample(64, id + 0.5);
      std::vector<double> expected = matmul(a, b, 8, 8, 8);
      for (int i = 0; i < 200; ++i) {
        auto result = jit->call("matmul", {f64({8, 8}, a), f64({8, 8}, b)});
        ASSERT_TRUE(bool(result));
        EXPECT_EQ(toVector((*result)[0]), expected);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

long getResidentPages() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident;
}

TEST(JIT, TenThousandCallsLeaveMemoryFlat) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "freed memory stays in the sanitizer's quarantine, so resident memory says nothing";
#endif
  auto jit = compile(kMatmul);
  ASSERT_TRUE(jit);
  Tensor a = f64({64, 64}, sample(4096, 1)), b = f64({64, 64}, sample(4096, 2));
  auto call = [&] {
    auto result = jit->call("matmul", {a, b});
    ASSERT_TRUE(bool(result));
  };
  for (int i = 0; i < 1000; ++i)
    call();
  long before = getResidentPages();
  for (int i = 0; i < 10000; ++i)
    call();
  long after = getResidentPages();
  RecordProperty("resident_pages_before", before);
  RecordProperty("resident_pages_after", after);
  // Each result has 8 pages: a leak would show as 80,000 of them.
  EXPECT_LE(after - before, 64);
}

} // namespace
