//===- quant_linear.cpp - linear layers of packed quantised weights -------===//
//
// Activations are quantised, weights lie in groups of 16 rows. A task takes some groups and all rows of the input: it
// unpacks a chunk of 256 steps of a group once, multiplies it with every panel of the input, and goes on to the next
// chunk. One row of input has no use for unpacked chunks; see quantRow.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/quant_linear.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmEpilogue.h"
#include "linear/QuantTile.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Rows of the input that a task takes at a time: their sums and the panels stay in near caches. The maps state the
/// thread scratch in these terms.
constexpr int64_t kQuantBlockM = 504;

constexpr int64_t inputBlockBytes(QuantInput input) {
  return input == QuantInput::Q8_0 ? 34 : input == QuantInput::Q8_1 ? 36 : 292;
}

/// C[m,n] = act(A W^T + bias), A in 8 bits and W packed.
struct QuantProblem {
  int64_t m, n, k;
  const uint8_t *a, *w;
  const float *bias;
  float *c;
  uint8_t *panels; ///< m * k / 32 * kPanelBytes
  float cap;       ///< of a soft cap, 0 = none
};

/// Fills the panels of rows [begin, end).
template <class Format, QuantInput kInput> void fillPanel(const QuantProblem &p, int64_t begin, int64_t end) {
  const int64_t rows = end - begin, blocks = p.k / 32;
  uint8_t *const panel = p.panels + begin * blocks * kPanelBytes;
  constexpr int64_t kBlock = kInput == QuantInput::Q8_K ? 256 : 32;
  const int64_t rowBytes = p.k / kBlock * inputBlockBytes(kInput);
  for (int64_t block = 0; block < blocks; block += 8) {
    const int64_t count = std::min<int64_t>(8, blocks - block);
    const PanelChunk to(panel + block * rows * kPanelBytes, rows, count);
    for (int64_t row = 0; row < rows; ++row)
      fillPanelRow<Format, kInput>(p.a + (begin + row) * rowBytes, block, count, rows, row, to);
  }
}

/// One group of 16 rows of W for rows [begin, end) of A, which begin with a panel.
template <class Format, bool kVnni>
void multiplyGroup(const QuantProblem &p, int64_t group, int64_t begin, int64_t end, float *sums) {
  const int64_t blocks = p.k / 32;
  constexpr int64_t kChunkBytes = kQuantChunk / Format::kElements * kQuantRows * Format::kBytes;
  const uint8_t *const weights = p.w + group * kQuantRows * (p.k / Format::kElements) * Format::kBytes;
#if HWY_TARGET != HWY_SCALAR
  if (end - begin == 1 && p.m == 1)
    return quantRow<Format, kVnni>(weights, p.panels, blocks, sums);
#endif
  QuantChunk chunk;
  for (int64_t block = 0; block < blocks; block += 8) {
    const int64_t count = std::min<int64_t>(8, blocks - block);
    unpackChunk<Format>(weights + block / 8 * kChunkBytes, count, chunk);
    for (int64_t row = begin; row < end; row += kQuantPanel) {
      const int64_t rows = std::min<int64_t>(kQuantPanel, end - row);
      const PanelChunk panel(p.panels + (row * blocks + block * rows) * kPanelBytes, rows, count);
      quantTileOf<Format, kVnni>(rows)(chunk, panel, count, block == 0, sums + (row - begin) * kQuantRows);
    }
  }
}

template <class Format, QuantInput kInput, bool kVnni> int32_t multiply(ck_context *ctx, const QuantProblem &p) {
  if (p.m == 0 || p.n == 0)
    return CK_OK;
  GemmProblem epilogue;
  GemmTarget target;
  epilogue.activation = p.cap > 0 ? GemmActivation::Softcap : GemmActivation::None;
  epilogue.cap = p.cap;
  target.bias = p.bias;
  target.c = p.c;
  target.strideM = p.n;
  target.n = p.n;
  const auto finishGroup = [&](int64_t group, int64_t begin, int64_t end, const float *sums) HWY_ATTR {
    const int64_t n = group * kQuantRows;
    finish(epilogue, target, {sums, kQuantRows, begin, n, end - begin, std::min(kQuantRows, p.n - n)});
  };
  if (p.m <= kQuantPanel)
    fillPanel<Format, kInput>(p, 0, p.m);
  else
    parallelFor(ctx, ceilDiv(p.m, kQuantPanel), [&](int64_t i, int) HWY_ATTR {
      fillPanel<Format, kInput>(p, i * kQuantPanel, std::min(p.m, (i + 1) * kQuantPanel));
    });
  // Some 32 tasks share the work evenly. With few rows each is large enough to be worth handing out, and a stream long
  // enough that what is asked for behind its end is little.
  const int64_t groups = ceilDiv(p.n, kQuantRows), work = groups * kQuantRows * p.k * std::min<int64_t>(p.m, 4);
  const int64_t grain = ceilDiv(groups, std::clamp<int64_t>(work / (8 * kTaskElements), 1, 32));
  parallelRange(ctx, groups, grain, [&](int64_t first, int64_t last, int thread) HWY_ATTR {
    float *const sums = static_cast<float *>(ck_thread_scratch(ctx, thread));
    for (int64_t begin = 0; begin < p.m; begin += kQuantBlockM) {
      const int64_t end = std::min(p.m, begin + kQuantBlockM);
      for (int64_t group = first; group < last; ++group) {
        if (p.k == 0)
          std::fill(sums, sums + (end - begin) * kQuantRows, 0.0f);
        multiplyGroup<Format, kVnni>(p, group, begin, end, sums);
        finishGroup(group, begin, end, sums);
      }
    }
  });
  return CK_OK;
}

template <class Format, QuantInput kInput, bool kVnni, class Args> int32_t linear(ck_context *ctx, const Args &args) {
  return multiply<Format, kInput, kVnni>(ctx, {args.T, args.N, args.K, static_cast<const uint8_t *>(args.input),
                                               static_cast<const uint8_t *>(args.weight), args.bias, args.output,
                                               args.panels, 0});
}

template <class Format, QuantInput kInput, bool kVnni, class Args> int32_t head(ck_context *ctx, const Args &args) {
  return multiply<Format, kInput, kVnni>(ctx, {args.T, args.V, args.E, static_cast<const uint8_t *>(args.input),
                                               static_cast<const uint8_t *>(args.weight), nullptr, args.logits,
                                               args.panels, static_cast<float>(args.softcap)});
}

} // namespace

#define CK_PACKED_KERNELS(name, FORMAT, INPUT)                                                                         \
  CK_KERNEL(linear_packed_##name) { return linear<FORMAT, QuantInput::INPUT, false>(ctx, *args); }                     \
  CK_KERNEL(head_packed_##name) { return head<FORMAT, QuantInput::INPUT, false>(ctx, *args); }
#define CK_PACKED_VNNI_KERNELS(name, FORMAT, INPUT)                                                                    \
  extern "C" int32_t ckk_linear_packed_##name##__avx512_vnni(ck_context *ctx,                                          \
                                                             const ckk_linear_packed_##name##_args *args) {            \
    return linear<FORMAT, QuantInput::INPUT, true>(ctx, *args);                                                        \
  }                                                                                                                    \
  extern "C" int32_t ckk_head_packed_##name##__avx512_vnni(ck_context *ctx,                                            \
                                                           const ckk_head_packed_##name##_args *args) {                \
    return head<FORMAT, QuantInput::INPUT, true>(ctx, *args);                                                          \
  }
#define CK_ALL_FORMATS(KERNELS)                                                                                        \
  KERNELS(q4_0, PackedQ4_0, Q8_0)                                                                                      \
  KERNELS(q4_1, PackedQ4_1, Q8_1)                                                                                      \
  KERNELS(q5_0, PackedQ5_0, Q8_0)                                                                                      \
  KERNELS(q5_1, PackedQ5_1, Q8_1)                                                                                      \
  KERNELS(q8_0, PackedQ8_0, Q8_0)                                                                                      \
  KERNELS(q4_k, PackedQ4_K, Q8_K)                                                                                      \
  KERNELS(q5_k, PackedQ5_K, Q8_K)                                                                                      \
  KERNELS(q6_k, PackedQ6_K, Q8_K)

CK_ALL_FORMATS(CK_PACKED_KERNELS)
#if HWY_TARGET == HWY_AVX3
CK_ALL_FORMATS(CK_PACKED_VNNI_KERNELS)
#endif

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
