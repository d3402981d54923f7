//===- patch_projection.cpp - patches of a still image to tokens ----------===//
//
// A model of videos projects two frames at once; a still image stands for both. Pixels are rounded to bfloat16, weights
// are stored so, sums are f32. A task gathers the patches of a few tokens once and meets every weight with them.
//
//===----------------------------------------------------------------------===//
#include "ck/Support/Half.h"
#include "vision/Tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vision/patch_projection.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmStorage.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Tokens of a task: their patches stay in the caches while the weights stream by.
constexpr int64_t kTokens = 8;

HWY_INLINE F32 weightsAt(const uint16_t *from, int64_t n) {
  return n == kLanes ? StorageBF16::widen(from) : StorageBF16::widenN(from, n);
}

/// roundBias: as a library that takes the bias in bfloat16 adds it.
template <bool kRoundBias, typename Args> int32_t project(ck_context *ctx, const Args *args) {
  const int64_t C = args->C, A = args->A, B = args->B, P = args->P, N = args->N, T = args->T, m = args->merge_size;
  if (P < 1 || m < 1 || A % (P * m) != 0 || B % (P * m) != 0)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "an image of %lld by %lld is not made of tiles of %lld by %lld patches",
                   static_cast<long long>(A), static_cast<long long>(B), static_cast<long long>(m),
                   static_cast<long long>(m));
  const int64_t K = C * P * P, wide = B / P, tilesWide = wide / m;
  parallelRange(ctx, T, kTokens, [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    float *patches = static_cast<float *>(ck_thread_scratch(ctx, thread));
    for (int64_t k = begin; k < end; ++k) {
      const int64_t tile = k / (m * m), cell = k % (m * m);
      const int64_t y = tile / tilesWide * m + cell / m, x = tile % tilesWide * m + cell % m;
      float *patch = patches + (k - begin) * K;
      for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < P; ++i) {
          const float *pixels = args->image + (c * A + y * P + i) * B + x * P;
          for (int64_t j = 0; j < P; ++j)
            *patch++ = bf16ToFloat(floatToBF16(pixels[j]));
        }
    }
    for (int64_t n = 0; n < N; ++n) {
      const uint16_t *w0 = args->w0 + n * K, *w1 = args->w1 + n * K;
      const float bias = kRoundBias ? bf16ToFloat(floatToBF16(args->bias[n])) : args->bias[n];
      F32 sums[kTokens];
      for (F32 &sum : sums)
        sum = zero();
      for (int64_t i = 0; i < K; i += kLanes) {
        const int64_t lanes = std::min(kLanes, K - i);
        const F32 first = weightsAt(w0 + i, lanes), second = weightsAt(w1 + i, lanes);
        for (int64_t k = 0; k < end - begin; ++k) {
          const F32 pixel = loadN(patches + k * K + i, lanes);
          sums[k] = fma(pixel, second, fma(pixel, first, sums[k]));
        }
      }
      for (int64_t k = begin; k < end; ++k)
        args->output[k * N + n] = floatToBF16(bias + sumLanes(sums[k - begin]));
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(patch_projection_image_bf16_native_storage) { return project<false>(ctx, args); }
CK_KERNEL(patch_projection_image_bf16_pytorch_onednn_conv3d_storage) { return project<true>(ctx, args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
