//===- Quads.h - transposition by blocks of four ----------------*- C++ -*-===//
//
// The 128-bit blocks of a vector hold four floats each. Loading them from rows that lie apart, and transposing the
// 4 x 4 elements in the blocks of four vectors, turns rows into columns at one shuffle per vector and step.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_QUADS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_QUADS_H
#undef CK_LIB_RUNTIME_KERNELS_QUADS_H
#else
#define CK_LIB_RUNTIME_KERNELS_QUADS_H
#endif

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Quads of p, p + stride, ... as the 128-bit blocks of a vector.
HWY_INLINE F32 loadQuads(const float *p, int64_t stride) {
#if HWY_TARGET == HWY_AVX3
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(p));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(p + stride), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(p + 2 * stride), 2);
  return F32{_mm512_insertf32x4(v, _mm_loadu_ps(p + 3 * stride), 3)};
#else
  return F32{_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride), 1)};
#endif
}

/// The quads at rows[0] + offset, rows[4] + offset, ...
HWY_INLINE F32 gatherQuads(const float *const *rows, int64_t offset) {
#if HWY_TARGET == HWY_AVX3
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + offset));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[4] + offset), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[8] + offset), 2);
  return F32{_mm512_insertf32x4(v, _mm_loadu_ps(rows[12] + offset), 3)};
#else
  return F32{
      _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + offset)), _mm_loadu_ps(rows[4] + offset), 1)};
#endif
}

/// Stores the 128-bit blocks of v at rows[0] + offset, rows[4] + offset, ...
HWY_INLINE void scatterQuads(F32 v, float *const *rows, int64_t offset) {
#if HWY_TARGET == HWY_AVX3
  _mm_storeu_ps(rows[0] + offset, _mm512_castps512_ps128(v.raw));
  _mm_storeu_ps(rows[4] + offset, _mm512_extractf32x4_ps(v.raw, 1));
  _mm_storeu_ps(rows[8] + offset, _mm512_extractf32x4_ps(v.raw, 2));
  _mm_storeu_ps(rows[12] + offset, _mm512_extractf32x4_ps(v.raw, 3));
#else
  _mm_storeu_ps(rows[0] + offset, _mm256_castps256_ps128(v.raw));
  _mm_storeu_ps(rows[4] + offset, _mm256_extractf128_ps(v.raw, 1));
#endif
}

/// Transposes the 4 x 4 elements in each 128-bit block of four vectors.
HWY_INLINE void transposeQuads(F32 &v0, F32 &v1, F32 &v2, F32 &v3) {
  const F32Tag d;
  const hn::Repartition<double, F32Tag> wide;
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, v2, v3));
  v0 = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
  v1 = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
  v2 = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
  v3 = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
}
#endif

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_QUADS_H
