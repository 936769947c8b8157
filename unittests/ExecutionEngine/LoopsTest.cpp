//===- LoopsTest.cpp - Carried tensors allocate nothing an iteration ------===//
//
// Every case runs for a few and for many iterations: the values are compared with those of
// plain C++, and the number of allocations must be the same.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

using namespace kina;
using namespace kina::test;

namespace {

/// A module with `@f(%x, %y, %n)`: `while (i < n)` over two carried tensors, whose body computes
/// what it yields from %a and %b.
std::string makeLoop(llvm::StringRef body, llvm::StringRef yields) {
  return (R"(
    #id = affine_map<(d0) -> (d0)>
    #rev = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<?xf64>, %y: tensor<?xf64>, %n: index)
        -> (tensor<?xf64>, tensor<?xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %size = tensor.dim %x, %c0 : tensor<?xf64>
      %r:3 = scf.while (%i = %c0, %a = %x, %b = %y)
          : (index, tensor<?xf64>, tensor<?xf64>) -> (index, tensor<?xf64>, tensor<?xf64>) {
        %c = arith.cmpi slt, %i, %n : index
        scf.condition(%c) %i, %a, %b : index, tensor<?xf64>, tensor<?xf64>
      } do {
      ^bb0(%i: index, %a: tensor<?xf64>, %b: tensor<?xf64>):
        %next = arith.addi %i, %c1 : index
        %even = arith.remui %i, %c2 : index
        %cond = arith.cmpi eq, %even, %c0 : index
)" + body + "        scf.yield %next, " +
          yields + R"( : index, tensor<?xf64>, tensor<?xf64>
      }
      return %r#1, %r#2 : tensor<?xf64>, tensor<?xf64>
    })")
      .str();
}

/// `%name = a * 0.5 + b`, a fresh tensor.
std::string combine(llvm::StringRef name, llvm::StringRef a, llvm::StringRef b) {
  return ("        %e_" + name + " = tensor.empty(%size) : tensor<?xf64>\n        %" + name +
          R"( = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins()" + a + ", " + b + " : tensor<?xf64>, tensor<?xf64>) outs(%e_" + name +
          R"( : tensor<?xf64>) {
        ^bb0(%p: f64, %q: f64, %o: f64):
          %half = arith.constant 0.5 : f64
          %t = arith.mulf %p, %half : f64
          %u = arith.addf %t, %q : f64
          linalg.yield %u : f64
        } -> tensor<?xf64>
)").str();
}

using Vector = std::vector<double>;
using StepFn = std::function<void(Vector &a, Vector &b, int64_t i)>;

Vector combined(const Vector &a, const Vector &b) {
  Vector result;
  for (auto [p, q] : llvm::zip_equal(a, b))
    result.push_back(p * 0.5 + q);
  return result;
}

/// Runs the loop for `few` and `many` iterations and compares.
void check(llvm::StringRef text, const StepFn &step, int64_t many = 1000) {
  SCOPED_TRACE(text.str());
  auto jit = compile(text);
  ASSERT_TRUE(jit);
  Vector x{1, 2, 3, 4, 5}, y{0.5, -1, 0.25, 8, -3};
  uint64_t allocations = 0;
  for (int64_t n : {int64_t(0), int64_t(1), int64_t(2), int64_t(7), many}) {
    SCOPED_TRACE(n);
    ContextPtr context(kina_context_create(nullptr));
    auto result = jit->call("f", {f64({5}, x), f64({5}, y), index(n)}, context.get());
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    Vector a = x, b = y;
    for (int64_t i = 0; i < n; ++i)
      step(a, b, i);
    EXPECT_EQ(toVector((*result)[0]), a);
    EXPECT_EQ(toVector((*result)[1]), b);
    kina_allocation_statistics statistics = getStatistics(context);
    if (n == 0)
      allocations = statistics.allocations;
    EXPECT_EQ(statistics.allocations, allocations) << "the loop allocates";
    EXPECT_EQ(statistics.live_bytes, 0u);
  }
}

TEST(Loops, InPlace) {
  check(makeLoop(R"(
        %v = tensor.extract %a[%c0] : tensor<?xf64>
        %w = tensor.insert %v into %b[%c1] : tensor<?xf64>
)",
                 "%a, %w"),
        [](Vector &a, Vector &b, int64_t) { b[1] = a[0]; });
}

TEST(Loops, Swap) {
  check(makeLoop("", "%b, %a"), [](Vector &a, Vector &b, int64_t) { std::swap(a, b); });
}

TEST(Loops, Fibonacci) {
  check(makeLoop(combine("s", "%a", "%b"), "%b, %s"), [](Vector &a, Vector &b, int64_t) {
    Vector s = combined(a, b);
    a = b;
    b = s;
  });
}

TEST(Loops, Leapfrog) {
  check(makeLoop(combine("v", "%b", "%a") + combine("w", "%a", "%v"), "%w, %v"),
        [](Vector &a, Vector &b, int64_t) {
          Vector v = combined(b, a), w = combined(a, v);
          a = w;
          b = v;
        },
        50);
}

TEST(Loops, BothFreshFromBoth) {
  check(makeLoop(combine("v", "%a", "%b") + combine("w", "%b", "%a"), "%v, %w"),
        [](Vector &a, Vector &b, int64_t) {
          Vector v = combined(a, b), w = combined(b, a);
          a = v;
          b = w;
        },
        50);
}

TEST(Loops, SameValueTwice) {
  check(makeLoop(combine("v", "%a", "%b"), "%v, %v"), [](Vector &a, Vector &b, int64_t) {
    a = b = combined(a, b);
  },
        50);
}

TEST(Loops, BranchSwaps) {
  check(makeLoop(R"(
        %s:2 = scf.if %cond -> (tensor<?xf64>, tensor<?xf64>) {
          scf.yield %b, %a : tensor<?xf64>, tensor<?xf64>
        } else {
          scf.yield %a, %b : tensor<?xf64>, tensor<?xf64>
        }
)",
                 "%s#0, %s#1"),
        [](Vector &a, Vector &b, int64_t i) {
          if (i % 2 == 0)
            std::swap(a, b);
        });
}

TEST(Loops, BranchOverlaps) {
  check(makeLoop(R"(
        %s = scf.if %cond -> (tensor<?xf64>) {
          scf.yield %b : tensor<?xf64>
        } else {
          scf.yield %a : tensor<?xf64>
        }
)",
                 "%s, %a"),
        [](Vector &a, Vector &b, int64_t i) {
          Vector s = i % 2 == 0 ? b : a;
          b = a;
          a = s;
        });
}

TEST(Loops, BranchUpdatesInPlace) {
  check(makeLoop(R"(
        %s = scf.if %cond -> (tensor<?xf64>) {
          %v = tensor.extract %b[%c0] : tensor<?xf64>
          %w = tensor.insert %v into %a[%c1] : tensor<?xf64>
          scf.yield %w : tensor<?xf64>
        } else {
          scf.yield %a : tensor<?xf64>
        }
)",
                 "%s, %b"),
        [](Vector &a, Vector &b, int64_t i) {
          if (i % 2 == 0)
            a[1] = b[0];
        });
}

TEST(Loops, NestedBranches) {
  check(makeLoop(R"(
        %s = scf.if %cond -> (tensor<?xf64>) {
          %zero = tensor.extract %a[%c0] : tensor<?xf64>
          %f = arith.constant 2.0 : f64
          %less = arith.cmpf olt, %zero, %f : f64
          %u = scf.if %less -> (tensor<?xf64>) {
)" + combine("v", "%a", "%b") +
                     R"(
            scf.yield %v : tensor<?xf64>
          } else {
            scf.yield %b : tensor<?xf64>
          }
          scf.yield %u : tensor<?xf64>
        } else {
          scf.yield %a : tensor<?xf64>
        }
)",
                 "%s, %b"),
        [](Vector &a, Vector &b, int64_t i) {
          if (i % 2 == 0)
            a = a[0] < 2 ? combined(a, b) : b;
        },
        100);
}

TEST(Loops, CarriedIsReadAfterItsBranch) {
  check(makeLoop(R"(
        %s = scf.if %cond -> (tensor<?xf64>) {
          scf.yield %b : tensor<?xf64>
        } else {
          scf.yield %a : tensor<?xf64>
        }
)" + combine("v", "%a", "%s"),
                 "%s, %v"),
        [](Vector &a, Vector &b, int64_t i) {
          Vector s = i % 2 == 0 ? b : a, v = combined(a, s);
          a = s;
          b = v;
        },
        20);
}

TEST(Loops, SelectBetweenTensors) {
  check(makeLoop(R"(
        %s = arith.select %cond, %a, %b : tensor<?xf64>
        %t = arith.select %cond, %b, %a : tensor<?xf64>
)",
                 "%t, %s"),
        [](Vector &a, Vector &b, int64_t i) {
          if (i % 2 == 0)
            std::swap(a, b);
        });
}

TEST(Loops, NestedLoopSwapsInside) {
  check(makeLoop(R"(
        %c3 = arith.constant 3 : index
        %s:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%p0 = %a, %q0 = %b)
            -> (tensor<?xf64>, tensor<?xf64>) {
)" + combine("v", "%p0", "%q0") +
                     R"(
          scf.yield %q0, %v : tensor<?xf64>, tensor<?xf64>
        }
)",
                 "%s#1, %s#0"),
        [](Vector &a, Vector &b, int64_t) {
          for (int j = 0; j < 3; ++j) {
            Vector v = combined(a, b);
            a = b;
            b = v;
          }
          std::swap(a, b);
        },
        30);
}

TEST(Loops, InnerLoopOnlyReads) {
  check(makeLoop(R"(
        %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%p0 = %a) -> (tensor<?xf64>) {
          scf.yield %p0 : tensor<?xf64>
        }
)" + combine("v", "%a", "%b"),
                 "%v, %s"),
        [](Vector &a, Vector &b, int64_t) {
          Vector v = combined(a, b);
          b = a;
          a = v;
        },
        30);
}

TEST(Loops, FunctionInLoopIsInlined) {
  std::string text = makeLoop("        %v = func.call @g(%a, %b) : (tensor<?xf64>, tensor<?xf64>)"
                              " -> tensor<?xf64>\n",
                              "%b, %v");
  text += R"(
    func.func private @g(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %size = tensor.dim %x, %c0 : tensor<?xf64>
)" + combine("v", "%x", "%y") +
          "      return %v : tensor<?xf64>\n    }\n";
  check(text,
        [](Vector &a, Vector &b, int64_t) {
          Vector v = combined(a, b);
          a = b;
          b = v;
        },
        30);
}

TEST(Loops, RotationOfThreeAndAliasedInits) {
  auto jit = compile(R"(
    func.func @f(%x: tensor<3xf64>, %n: index) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f64
      %k = arith.constant dense<[7.0, 8.0, 9.0]> : tensor<3xf64>
      %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %k)
          -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
        %v = tensor.extract %a[%c0] : tensor<3xf64>
        %w = arith.addf %v, %one : f64
        %d = tensor.insert %w into %a[%c0] : tensor<3xf64>
        scf.yield %b, %c, %d : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
      }
      return %r#0, %r#1, %r#2 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
    })");
  ASSERT_TRUE(jit);
  uint64_t allocations = 0;
  for (int64_t n : {0, 1, 2, 3, 10000}) {
    ContextPtr context(kina_context_create(nullptr));
    auto result = jit->call("f", {f64({3}, {1, 2, 3}), index(n)}, context.get());
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    Vector a{1, 2, 3}, b = a, c{7, 8, 9};
    for (int64_t i = 0; i < n; ++i) {
      Vector d = a;
      d[0] += 1;
      a = b;
      b = c;
      c = d;
    }
    EXPECT_EQ(toVector((*result)[0]), a);
    EXPECT_EQ(toVector((*result)[1]), b);
    EXPECT_EQ(toVector((*result)[2]), c);
    if (n == 0)
      allocations = getStatistics(context).allocations;
    EXPECT_EQ(getStatistics(context).allocations, allocations);
  }
}

TEST(Loops, TensorComputedByTheCondition) {
  auto jit = compile(R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, f64) {
      %c0 = arith.constant 0 : index
      %size = tensor.dim %x, %c0 : tensor<?xf64>
      %limit = arith.constant 1000.0 : f64
      %r:3 = scf.while (%a = %x) : (tensor<?xf64>) -> (tensor<?xf64>, f64, tensor<?xf64>) {
        %e = tensor.empty(%size) : tensor<?xf64>
        %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%a : tensor<?xf64>) outs(%e : tensor<?xf64>) {
        ^bb0(%p: f64, %o: f64):
          %t = arith.addf %p, %p : f64
          linalg.yield %t : f64
        } -> tensor<?xf64>
        %v = tensor.extract %d[%c0] : tensor<?xf64>
        %c = arith.cmpf olt, %v, %limit : f64
        scf.condition(%c) %d, %v, %a : tensor<?xf64>, f64, tensor<?xf64>
      } do {
      ^bb0(%d: tensor<?xf64>, %v: f64, %a: tensor<?xf64>):
        scf.yield %d : tensor<?xf64>
      }
      return %r#0, %r#2, %r#1 : tensor<?xf64>, tensor<?xf64>, f64
    })");
  ASSERT_TRUE(jit);
  ContextPtr context(kina_context_create(nullptr));
  auto result = jit->call("f", {f64({2}, {1, 3})}, context.get());
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(toVector((*result)[0]), (Vector{1024, 3072}));
  EXPECT_EQ(toVector((*result)[1]), (Vector{512, 1536}));
  EXPECT_EQ((*result)[2].getDouble(0), 1024);
  EXPECT_LE(getStatistics(context).allocations, 4u);
}

TEST(Loops, MatmulChain) {
  auto jit = compile(R"(
    func.func @f(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>, %n: index) -> tensor<?x?xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x?xf64> {
        %m = tensor.dim %a, %c0 : tensor<?x?xf64>
        %k = tensor.dim %w, %c1 : tensor<?x?xf64>
        %e = tensor.empty(%m, %k) : tensor<?x?xf64>
        %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
        %p = linalg.matmul ins(%a, %w : tensor<?x?xf64>, tensor<?x?xf64>)
            outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
        scf.yield %p : tensor<?x?xf64>
      }
      return %r : tensor<?x?xf64>
    })");
  ASSERT_TRUE(jit);
  uint64_t allocations = 0;
  for (int64_t n : {0, 1, 2, 5}) {
    ContextPtr context(kina_context_create(nullptr));
    auto result = jit->call("f", {f64({1, 2}, {1, 2}), f64({2, 2}, {1, 1, 1, 0}), index(n)},
                            context.get());
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    double a = 1, b = 2;
    for (int64_t i = 0; i < n; ++i)
      std::tie(a, b) = std::pair(a + b, a);
    EXPECT_EQ(toVector((*result)[0]), (Vector{a, b}));
    if (n == 0)
      allocations = getStatistics(context).allocations;
    EXPECT_EQ(getStatistics(context).allocations, allocations);
  }
}

/// The numbers of the closing note: 10^6 iterations of each kind of carry.
TEST(Loops, AMillionIterations) {
  for (const std::string &text :
       {makeLoop("        %v = tensor.extract %a[%c0] : tensor<?xf64>\n"
                 "        %w = tensor.insert %v into %b[%c1] : tensor<?xf64>\n",
                 "%a, %w"),
        makeLoop("", "%b, %a"), makeLoop(combine("s", "%a", "%b"), "%b, %s")}) {
    auto jit = compile(text);
    ASSERT_TRUE(jit);
    uint64_t counts[2], peaks[2];
    for (int i = 0; i < 2; ++i) {
      ContextPtr context(kina_context_create(nullptr));
      auto result = jit->call("f", {f64({2}, {1, 2}), f64({2}, {3, 4}), index(i ? 1000000 : 1)},
                              context.get());
      ASSERT_TRUE(bool(result));
      counts[i] = getStatistics(context).allocations;
      peaks[i] = getStatistics(context).peak_bytes;
    }
    EXPECT_EQ(counts[0], counts[1]);
    EXPECT_EQ(peaks[0], peaks[1]);
  }
}

/// A tape that grows in every iteration of an outer loop is freed there: n frames of 5 numbers
/// need less than twice their bytes, however often.
TEST(Loops, TapesAreFreedInTheLoop) {
  auto jit = compile(R"(
    func.func private @push(%tape: memref<i8>, %at: index, %size: index, %x: tensor<?xf64>) {
      %frame = kina_rt.tape_frame %tape[%at](%size) : memref<?xf64>
      bufferization.materialize_in_destination %x in writable %frame : (tensor<?xf64>, memref<?xf64>) -> ()
      return
    }
    func.func private @make(%n: index, %size: index, %x: tensor<?xf64>) -> memref<i8> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %tape = kina_rt.tape_new(%size) of memref<?xf64>
      %x1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
        func.call @push(%tape, %i, %size, %a) : (memref<i8>, index, index, tensor<?xf64>) -> ()
        %b = linalg.add ins(%a, %x : tensor<?xf64>, tensor<?xf64>) outs(%a : tensor<?xf64>) -> tensor<?xf64>
        scf.yield %b : tensor<?xf64>
      }
      return %tape : memref<i8>
    }
    func.func @f(%x: tensor<?xf64>, %n: index, %m: index, %c: i1) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %size = tensor.dim %x, %c0 : tensor<?xf64>
      %r = scf.for %j = %c0 to %m step %c1 iter_args(%sum = %x) -> tensor<?xf64> {
        %tape = scf.if %c -> memref<i8> {
          %t = func.call @make(%n, %size, %x) : (index, index, tensor<?xf64>) -> memref<i8>
          scf.yield %t : memref<i8>
        } else {
          %t = kina_rt.tape_new(%size) of memref<?xf64>
          scf.yield %t : memref<i8>
        }
        %frames = arith.select %c, %n, %c0 : index
        %s = scf.for %i = %c0 to %frames step %c1 iter_args(%a = %sum) -> tensor<?xf64> {
          %frame = kina_rt.tape_frame %tape[%i](%size) : memref<?xf64>
          %t = bufferization.to_tensor %frame restrict : memref<?xf64> to tensor<?xf64>
          %u = bufferization.alloc_tensor() copy(%t) : tensor<?xf64>
          %b = linalg.add ins(%a, %u : tensor<?xf64>, tensor<?xf64>) outs(%a : tensor<?xf64>) -> tensor<?xf64>
          scf.yield %b : tensor<?xf64>
        }
        scf.yield %s : tensor<?xf64>
      }
      return %r : tensor<?xf64>
    })");
  ASSERT_TRUE(jit);
  for (int64_t n : {0, 1, 1000})
    for (int64_t m : {1, 20})
      for (int64_t c : {0, 1}) {
        ContextPtr context(kina_context_create(nullptr));
        Tensor flag = llvm::cantFail(Tensor::create(DType::Bool, {}));
        flag.setInteger(0, c);
        auto result = jit->call("f", {f64({5}, {1, 2, 3, 4, 5}), index(n), index(m), flag}, context.get());
        ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
        double factor = 1 + (c ? double(m * n * (n + 1) / 2) : 0);
        EXPECT_EQ(toVector((*result)[0]), (Vector{factor, 2 * factor, 3 * factor, 4 * factor, 5 * factor}));
        EXPECT_LE(getStatistics(context).peak_bytes, uint64_t(2 * n * 40 + 4096 + 2 * 1024));
      }
}

} // namespace
