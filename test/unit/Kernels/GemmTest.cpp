//===- GemmTest.cpp - the GEMM engine against double precision ------------===//
//
// Every path of the engine (dot products, strips, tiles) in every layout, instruction set and epilogue. Operands end at
// a page that cannot be touched, and NaN lies between their rows, so that one stray read fails a test.
//
//===----------------------------------------------------------------------===//
#include "linear/Gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace ck;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Elements whose last one ends at an inaccessible page; NaN at first.
template <class Element = float> class Guarded {
public:
  explicit Guarded(int64_t count) : count(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = (static_cast<size_t>(count) * sizeof(Element) + page - 1) / page * page;
    bytes = used + page;
    base = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base, MAP_FAILED);
    EXPECT_EQ(mprotect(base + used, page, PROT_NONE), 0);
    elements = reinterpret_cast<Element *>(base + used) - count;
    std::memset(static_cast<void *>(elements), 0xff, static_cast<size_t>(count) * sizeof(Element));
  }
  ~Guarded() { munmap(base, bytes); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  Element *data() { return elements; }
  Element &operator[](int64_t i) { return elements[i]; }
  const int64_t count;

private:
  char *base;
  size_t bytes;
  Element *elements;
};

/// A matrix with a gap of NaN behind each row (or column).
struct Matrix {
  Matrix(int64_t rows, int64_t cols, bool transposed, int64_t gap = 3)
      : rows(rows), cols(cols), strideRow(transposed ? 1 : cols + gap), strideCol(transposed ? rows + gap : 1),
        memory(rows && cols ? (rows - 1) * strideRow + (cols - 1) * strideCol + 1 : 0) {}
  void fill(std::mt19937 &random) {
    std::uniform_real_distribution<float> value(-1, 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        at(i, j) = value(random);
  }
  float &at(int64_t i, int64_t j) { return memory[i * strideRow + j * strideCol]; }

  const int64_t rows, cols, strideRow, strideCol;
  Guarded<> memory;
};

double activate(GemmActivation activation, double x, double cap) {
  switch (activation) {
  case GemmActivation::None:
    return x;
  case GemmActivation::Silu:
    return x / (1 + std::exp(-x));
  case GemmActivation::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case GemmActivation::GeluErf:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case GemmActivation::GeluQuick:
    return x / (1 + std::exp(-1.702 * x));
  case GemmActivation::Relu:
    return std::max(x, 0.0);
  case GemmActivation::Relu2:
    return x > 0 ? x * x : 0;
  case GemmActivation::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case GemmActivation::Tanh:
    return std::tanh(x);
  case GemmActivation::Softcap:
    return cap * std::tanh(x / cap);
  }
  return kNaN;
}

struct Size {
  int64_t m, n, k;
};

class GemmTest : public testing::TestWithParam<ck_isa> {
protected:
  void SetUp() override {
    if (GetParam() > ck_best_isa())
      GTEST_SKIP() << "this machine has no " << ck_isa_name(GetParam());
    useThreads(2);
  }
  void useThreads(int threads) {
    context.reset(ck_context_create(threads));
    ASSERT_TRUE(context);
    ASSERT_EQ(ck_context_reserve_thread_scratch(context.get(), 4 * kGemmThreadFloats), CK_OK);
  }
  void run(GemmProblem &problem) {
    Guarded<> packed(gemmPackedFloats(problem.m, problem.k));
    problem.packed = packed.data();
    ASSERT_EQ(gemm(context.get(), GetParam(), problem), CK_OK) << ck_context_error(context.get());
  }

  static GemmTarget targetOf(Matrix &b, Matrix &c, float *bias = nullptr) {
    GemmTarget target;
    target.b = b.memory.data();
    target.bK = b.strideRow;
    target.bN = b.strideCol;
    target.n = b.cols;
    target.bias = bias;
    target.c = c.memory.data();
    target.strideM = c.strideRow;
    return target;
  }
  static GemmProblem problemOf(Matrix &a, const GemmTarget &target) {
    GemmProblem problem;
    problem.m = a.rows;
    problem.k = a.cols;
    problem.a = a.memory.data();
    problem.aM = a.strideRow;
    problem.aK = a.strideCol;
    problem.targets = &target;
    return problem;
  }

  /// Runs one size with A and B in the given orders and compares each element.
  void check(Size size, bool transposeA, bool transposeB) {
    SCOPED_TRACE(testing::Message() << "m " << size.m << " n " << size.n << " k " << size.k
                                    << (transposeA ? " T" : " N") << (transposeB ? "T" : "N"));
    std::mt19937 random(static_cast<unsigned>(size.m * 1000003 + size.n * 1009 + size.k));
    Matrix a(size.m, size.k, transposeA), b(size.k, size.n, transposeB), c(size.m, size.n, false);
    Guarded<> bias(size.n);
    a.fill(random), b.fill(random);
    for (int64_t j = 0; j < size.n; ++j)
      bias[j] = std::uniform_real_distribution<float>(-1, 1)(random);
    const GemmTarget target = targetOf(b, c, bias.data());
    GemmProblem problem = problemOf(a, target);
    run(problem);
    for (int64_t i = 0; i < size.m; ++i) {
      for (int64_t j = 0; j < size.n; ++j) {
        double sum = bias[j], magnitude = std::fabs(sum);
        for (int64_t k = 0; k < size.k; ++k) {
          const double term = static_cast<double>(a.at(i, k)) * b.at(k, j);
          sum += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(c.at(i, j), sum, 1e-6 * magnitude) << "row " << i << " column " << j;
      }
      for (int64_t gap = size.n; gap < c.strideRow && i + 1 < size.m; ++gap)
        ASSERT_TRUE(std::isnan(c.memory[i * c.strideRow + gap])) << "wrote behind row " << i;
    }
  }

  struct Destroy {
    void operator()(ck_context *ctx) const { ck_context_destroy(ctx); }
  };
  std::unique_ptr<ck_context, Destroy> context;
};

std::vector<Size> smallSizes() {
  std::vector<Size> sizes;
  for (int64_t m : {1, 3, 17, 31, 33})
    for (int64_t n : {1, 3, 17, 31, 33})
      for (int64_t k : {1, 3, 17, 31, 33})
        sizes.push_back({m, n, k});
  return sizes;
}

std::vector<Size> largeSizes() {
  std::vector<Size> sizes = {{172, 172, 172}, {172, 33, 999}, {33, 172, 999}, {999, 17, 172}, {17, 999, 172},
                             {999, 1, 33},    {1, 999, 999},  {5, 172, 999},  {999, 33, 3},   {3, 999, 31},
                             {7, 999, 172},   {1001, 33, 17}, {17, 1001, 33}, {33, 31, 1001}, {2, 9, 70000},
                             {16, 172, 513},  {513, 13, 257}, {100, 200, 512}};
  for (int64_t m = 1; m <= 50; ++m) // each split of the rows into tiles and panels
    sizes.push_back({m, 13, 37});
  for (int64_t n = 1; n <= 30; ++n)
    sizes.push_back({19, n, 37});
  return sizes;
}

TEST_P(GemmTest, RowsTimesRows) { // NT
  for (const auto &sizes : {smallSizes(), largeSizes()})
    for (Size size : sizes)
      ASSERT_NO_FATAL_FAILURE(check(size, false, true));
}

TEST_P(GemmTest, RowsTimesColumns) { // NN
  for (const auto &sizes : {smallSizes(), largeSizes()})
    for (Size size : sizes)
      ASSERT_NO_FATAL_FAILURE(check(size, false, false));
}

TEST_P(GemmTest, ColumnsTimesColumns) { // TN
  for (const auto &sizes : {smallSizes(), largeSizes()})
    for (Size size : sizes)
      ASSERT_NO_FATAL_FAILURE(check(size, true, false));
}

TEST_P(GemmTest, ColumnsTimesRows) { // TT
  for (const auto &sizes : {smallSizes(), largeSizes()})
    for (Size size : sizes)
      ASSERT_NO_FATAL_FAILURE(check(size, true, true));
}

TEST_P(GemmTest, StridedBothWays) {
  std::mt19937 random(5);
  for (int64_t m : {2, 40}) {
    Matrix a(m, 2 * 19, false), b(2 * 19, 2 * 15, false), c(m, 15, false);
    a.fill(random), b.fill(random);
    GemmTarget target = targetOf(b, c);
    target.bK = 2 * b.strideRow;
    target.bN = 2;
    target.n = 15;
    GemmProblem problem = problemOf(a, target);
    problem.k = 19;
    problem.aK = 2;
    run(problem);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 15; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 19; ++k)
          sum += static_cast<double>(a.at(i, 2 * k)) * b.at(2 * k, 2 * j);
        ASSERT_NEAR(c.at(i, j), sum, 1e-5);
      }
  }
}

TEST_P(GemmTest, ActivatesAndAccumulates) {
  const Size sizes[] = {{1, 37, 20}, {5, 37, 20}, {40, 37, 300}};
  for (int kind = 0; kind <= static_cast<int>(GemmActivation::Softcap); ++kind)
    for (bool accumulate : {false, true})
      for (bool transposeB : {false, true})
        for (Size size : sizes) {
          SCOPED_TRACE(testing::Message() << "activation " << kind << " m " << size.m << (accumulate ? " +=" : " ="));
          std::mt19937 random(7);
          Matrix a(size.m, size.k, false), b(size.k, size.n, transposeB), c(size.m, size.n, false);
          Guarded<> bias(size.n);
          a.fill(random), b.fill(random), c.fill(random);
          for (int64_t j = 0; j < size.n; ++j)
            bias[j] = 0.25f * static_cast<float>(j % 7) - 0.5f;
          std::vector<float> before(size.m * size.n);
          for (int64_t i = 0; i < size.m * size.n; ++i)
            before[i] = c.at(i / size.n, i % size.n);
          const GemmTarget target = targetOf(b, c, bias.data());
          GemmProblem problem = problemOf(a, target);
          problem.activation = static_cast<GemmActivation>(kind);
          problem.cap = 2.5f;
          problem.accumulate = accumulate;
          run(problem);
          for (int64_t i = 0; i < size.m; ++i)
            for (int64_t j = 0; j < size.n; ++j) {
              double sum = bias[j];
              for (int64_t k = 0; k < size.k; ++k)
                sum += static_cast<double>(a.at(i, k)) * b.at(k, j);
              const double expected =
                  activate(problem.activation, sum, problem.cap) + (accumulate ? before[i * size.n + j] : 0);
              ASSERT_NEAR(c.at(i, j), expected, 2e-5 * std::max(1.0, std::fabs(expected)));
            }
        }
}

TEST_P(GemmTest, ManyTargetsAndHeads) {
  constexpr int64_t kK = 40, kWidth = 10;
  const int64_t heads[] = {6, 2, 3};
  for (int64_t m : {1, 4, 21, 64}) {
    std::mt19937 random(static_cast<unsigned>(m));
    Matrix a(m, kK, false);
    a.fill(random);
    std::vector<std::unique_ptr<Matrix>> weights, outputs;
    std::vector<GemmTarget> targets;
    for (int64_t h : heads) {
      weights.push_back(std::make_unique<Matrix>(kK, h * kWidth, true));
      weights.back()->fill(random);
      outputs.push_back(std::make_unique<Matrix>(h * m, kWidth, false, 0)); // [h, m, width]
      targets.push_back(targetOf(*weights.back(), *outputs.back()));
      targets.back().strideM = kWidth;
      targets.back().cN = {1, kWidth, m * kWidth};
    }
    GemmProblem problem = problemOf(a, targets[0]);
    problem.targets = targets.data();
    problem.count = 3;
    run(problem);
    for (size_t t = 0; t < targets.size(); ++t)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < targets[t].n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < kK; ++k)
            sum += static_cast<double>(a.at(i, k)) * weights[t]->at(k, j);
          ASSERT_NEAR(outputs[t]->at(j / kWidth * m + i, j % kWidth), sum, 1e-5) << "target " << t;
        }
  }
}

TEST_P(GemmTest, GroupedAxes) {
  // Every axis of A and B in groups, as heads are, in each combination of contiguous axes.
  constexpr int64_t kM = 45, kN = 70, kK = 300, kWidth = 20, kGap = 7;
  const auto offsets = [](const GemmAxis &axis, int64_t count) {
    std::vector<int64_t> list(count);
    for (int64_t i = 0; i < count; ++i)
      list[i] = axis.group ? i / axis.group * axis.groupStride + i % axis.group * axis.stride : i * axis.stride;
    return list;
  };
  for (int layout = 0; layout < 32; ++layout) {
    SCOPED_TRACE(testing::Message() << "layout " << layout);
    const bool transposeA = layout & 1, transposeB = layout & 2, groupRows = layout & 4, groupSteps = layout & 8;
    // The groups of one axis lie one behind the other; the other axis runs within a group.
    const auto axes = [&](int64_t outer, int64_t inner, bool outerGroups, bool innerGroups) {
      const int64_t width = innerGroups ? kWidth : inner + kGap, rows = outerGroups ? kWidth : outer;
      const GemmAxis in = innerGroups ? GemmAxis(1, kWidth, rows * width) : GemmAxis(1);
      const GemmAxis out =
          outerGroups ? GemmAxis(width, kWidth, rows * width * (innerGroups ? (inner + kWidth - 1) / kWidth : 1))
                      : GemmAxis(width);
      return std::pair{out, in};
    };
    auto [aM, aK] = axes(kM, kK, groupRows, groupSteps);
    if (transposeA)
      std::tie(aK, aM) = axes(kK, kM, groupSteps, groupRows);
    auto [bK, bN] = axes(kK, kN, groupSteps, layout & 16);
    if (transposeB)
      std::tie(bN, bK) = axes(kN, kK, layout & 16, groupSteps);
    const std::vector<int64_t> atM = offsets(aM, kM), atK = offsets(aK, kK), rowsB = offsets(bK, kK),
                               atN = offsets(bN, kN);
    std::mt19937 random(static_cast<unsigned>(layout));
    Guarded<> a(atM.back() + atK.back() + 1), b(rowsB.back() + atN.back() + 1);
    for (int64_t k = 0; k < kK; ++k) {
      for (int64_t m : atM)
        a[m + atK[k]] = std::uniform_real_distribution<float>(-1, 1)(random);
      for (int64_t n : atN)
        b[rowsB[k] + n] = std::uniform_real_distribution<float>(-1, 1)(random);
    }
    Matrix c(kM, kN, false);
    GemmTarget target;
    target.b = b.data(), target.bK = bK, target.bN = bN, target.n = kN;
    target.c = c.memory.data(), target.strideM = c.strideRow;
    for (int64_t rows : {int64_t(3), kM}) {
      GemmProblem problem;
      problem.m = rows, problem.k = kK;
      problem.a = a.data(), problem.aM = aM, problem.aK = aK;
      problem.targets = &target;
      run(problem);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < kN; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < kK; ++k)
            sum += double(a[atM[i] + atK[k]]) * b[rowsB[k] + atN[j]];
          ASSERT_NEAR(c.at(i, j), sum, 2e-5) << "row " << i << " column " << j;
        }
    }
  }
}

TEST_P(GemmTest, CutAlongSteps) {
  for (int64_t m : {9, 40, 64})
    for (int64_t n : {1, 33, 700, 1024})
      for (int64_t k : {1024, 1500, 4099}) {
        SCOPED_TRACE(testing::Message() << "m " << m << " n " << n << " k " << k);
        std::mt19937 random(23);
        Matrix a(m, k, false), b(k, n, false);
        Guarded<> bias(n), parts(gemmPartsFloats(m, n));
        a.fill(random), b.fill(random);
        for (int64_t j = 0; j < n; ++j)
          bias[j] = static_cast<float>(j % 5);
        std::vector<float> first;
        for (int threads : {1, 3}) {
          useThreads(threads);
          Matrix c(m, n, false);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j)
              c.at(i, j) = 1;
          const GemmTarget target = targetOf(b, c, bias.data());
          GemmProblem problem = problemOf(a, target);
          problem.activation = GemmActivation::Relu;
          problem.accumulate = true;
          problem.parts = parts.data();
          ASSERT_EQ(gemm(context.get(), GetParam(), problem), CK_OK);
          for (int64_t i = 0; i < m; i += 13)
            for (int64_t j = 0; j < n; j += 7) {
              double sum = bias[j];
              for (int64_t step = 0; step < k; ++step)
                sum += double(a.at(i, step)) * b.at(step, j);
              ASSERT_NEAR(c.at(i, j), 1 + std::max(sum, 0.0), 1e-4) << i << " " << j;
            }
          if (first.empty())
            first.assign(c.memory.data(), c.memory.data() + c.memory.count);
          ASSERT_EQ(std::memcmp(first.data(), c.memory.data(), first.size() * sizeof(float)), 0);
        }
      }
}

TEST_P(GemmTest, LargeResultsGoPastTheCaches) {
  constexpr int64_t kM = 2053, kN = 4096, kK = 3;
  std::mt19937 random(29);
  Matrix a(kM, kK, true), b(kK, kN, false);
  a.fill(random), b.fill(random);
  std::unique_ptr<float, decltype(&std::free)> memory(static_cast<float *>(std::aligned_alloc(64, kM * kN * 4)),
                                                      &std::free);
  Matrix none(0, 0, false);
  GemmTarget target = targetOf(b, none);
  target.c = memory.get();
  target.strideM = kN;
  GemmProblem problem = problemOf(a, target);
  run(problem);
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t j = i % 17; j < kN; j += 17) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k)
        sum += double(a.at(i, k)) * b.at(k, j);
      ASSERT_NEAR(memory.get()[i * kN + j], sum, 1e-6);
    }
}

TEST_P(GemmTest, BitsDoNotDependOnThreads) {
  for (bool transposeB : {false, true})
    for (Size size : {Size{1, 999, 172}, Size{6, 333, 600}, Size{70, 333, 600}, Size{600, 40, 300}}) {
      std::mt19937 random(11);
      Matrix a(size.m, size.k, false), b(size.k, size.n, transposeB);
      a.fill(random), b.fill(random);
      std::vector<float> first;
      for (int threads : {1, 2, 3, 8}) {
        useThreads(threads);
        Matrix c(size.m, size.n, false, 0);
        const GemmTarget target = targetOf(b, c);
        GemmProblem problem = problemOf(a, target);
        run(problem);
        if (first.empty())
          first.assign(c.memory.data(), c.memory.data() + c.memory.count);
        ASSERT_EQ(std::memcmp(first.data(), c.memory.data(), first.size() * sizeof(float)), 0)
            << threads << " threads, m " << size.m;
      }
    }
}

TEST_P(GemmTest, ScratchStaysWithinItsBounds) {
  // What kernel maps promise, element by element.
  const auto bound = [](Size size) {
    const int64_t rows = std::min<int64_t>((size.m + 15) / 16 * 16, 256), cols = std::min(size.n, kGemmBlockN);
    return cols * (rows + std::min((size.k + 15) / 16 * 16, kGemmBlockK) + kGemmPad);
  };
  for (bool transposeB : {false, true})
    for (Size size : {Size{17, 5, 700}, Size{255, 300, 300}, Size{257, 191, 520}, Size{513, 13, 257}, Size{600, 2, 300},
                      Size{1030, 7, 260}, Size{1030, 300, 1024}, Size{530, 700, 255}})
      for (bool packed : {false, true}) {
        if (packed && !transposeB)
          continue;
        SCOPED_TRACE(testing::Message() << "m " << size.m << " n " << size.n << " k " << size.k);
        std::mt19937 random(19);
        Matrix a(size.m, size.k, false, 0), b(size.k, size.n, transposeB, 0), c(size.m, size.n, false);
        a.fill(random), b.fill(random);
        const int64_t most = packed ? bound(size) : kGemmThreadFloats;
        constexpr int64_t kGuard = 4096;
        ASSERT_EQ(ck_context_reserve_thread_scratch(context.get(), 4 * (kGemmThreadFloats + kGuard)), CK_OK);
        for (int thread = 0; thread < 2; ++thread)
          std::memset(ck_thread_scratch(context.get(), thread), 0xff, 4 * (kGemmThreadFloats + kGuard));
        const GemmTarget target = targetOf(b, c);
        GemmProblem problem = problemOf(a, target);
        Guarded<> room(gemmPackedFloats(size.m, size.k));
        problem.packed = packed ? room.data() : nullptr;
        ASSERT_EQ(gemm(context.get(), GetParam(), problem), CK_OK);
        for (int thread = 0; thread < 2; ++thread) {
          const auto *scratch = static_cast<const uint32_t *>(ck_thread_scratch(context.get(), thread));
          for (int64_t i = most; i < kGemmThreadFloats + kGuard; ++i)
            ASSERT_EQ(scratch[i], 0xffffffffu) << "at " << i;
        }
      }
}

TEST_P(GemmTest, NonFiniteValuesReachTheirRowsAndColumnsOnly) {
  for (bool transposeB : {false, true})
    for (int64_t m : {1, 6, 40}) {
      std::mt19937 random(13);
      Matrix a(m, 50, false), b(50, 29, transposeB), c(m, 29, false);
      a.fill(random), b.fill(random);
      a.at(m - 1, 20) = 0; // times infinity
      b.at(20, 28) = std::numeric_limits<float>::infinity();
      b.at(49, 3) = kNaN;
      a.at(0, 7) = m > 1 ? -std::numeric_limits<float>::infinity() : a.at(0, 7);
      const GemmTarget target = targetOf(b, c);
      GemmProblem problem = problemOf(a, target);
      run(problem);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < 29; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < 50; ++k)
            sum += static_cast<double>(a.at(i, k)) * b.at(k, j);
          if (std::isfinite(sum))
            ASSERT_NEAR(c.at(i, j), sum, 1e-5) << i << " " << j;
          else
            ASSERT_TRUE(std::isnan(sum) ? std::isnan(c.at(i, j)) : c.at(i, j) == sum) << i << " " << j;
        }
    }
}

TEST_P(GemmTest, EmptyExtents) {
  for (int64_t m : {1, 40}) {
    Matrix a(m, 0, false, 0), b(0, 21, true, 0), c(m, 21, false);
    Guarded<> bias(21);
    for (int64_t j = 0; j < 21; ++j)
      bias[j] = static_cast<float>(j) - 10;
    const GemmTarget target = targetOf(b, c, bias.data());
    GemmProblem problem = problemOf(a, target);
    problem.activation = GemmActivation::Relu;
    run(problem);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 21; ++j)
        ASSERT_EQ(c.at(i, j), std::max(bias[j], 0.0f)) << "no steps of K leave act(bias)";
  }
  Matrix a(0, 5, false), b(5, 4, true), c(0, 4, false);
  const GemmTarget noRows = targetOf(b, c);
  GemmProblem problem = problemOf(a, noRows);
  run(problem);
  Matrix rows(5, 5, false), noColumns(5, 0, true), empty(5, 0, false);
  const GemmTarget none = targetOf(noColumns, empty);
  problem = problemOf(rows, none);
  run(problem);
}

TEST_P(GemmTest, WidensBf16) {
  for (bool transposeB : {false, true})
    for (Size size : {Size{1, 29, 77}, Size{6, 29, 77}, Size{40, 29, 333}}) {
      std::mt19937 random(17);
      Matrix a(size.m, size.k, false), values(size.k, size.n, transposeB, 0), c(size.m, size.n, false);
      a.fill(random), values.fill(random);
      Guarded<uint16_t> bits(values.memory.count);
      for (int64_t i = 0; i < bits.count; ++i) {
        uint32_t word;
        std::memcpy(&word, &values.memory[i], 4);
        bits[i] = static_cast<uint16_t>(word >> 16);
        word &= 0xffff0000u;
        std::memcpy(&values.memory[i], &word, 4);
      }
      GemmTarget target = targetOf(values, c);
      target.b = bits.data();
      GemmProblem problem = problemOf(a, target);
      problem.type = GemmType::BF16;
      run(problem);
      for (int64_t i = 0; i < size.m; ++i)
        for (int64_t j = 0; j < size.n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < size.k; ++k)
            sum += static_cast<double>(a.at(i, k)) * values.at(k, j);
          ASSERT_NEAR(c.at(i, j), sum, 2e-5);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Isa, GemmTest, testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

} // namespace
