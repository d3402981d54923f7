//===- swiglu_ggml.cpp - the gated unit with the peer's exponential -------===//
//
// a / (1 + E(-a)) * b with E, the exponential of degree 5 that the peer's processors with AVX-512 evaluate: 1 + j in
// one chain of fused operations, then one scaling. Its groups of 16 columns are vectors there; columns behind the last
// whole group go through the C library. Every instruction set gives these bits.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/swiglu_ggml.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kGroup = 16;

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE F32 fused(F32 a, F32 b, F32 c) { return set(std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c))); }
/// y 2^n for integral |n| <= 192, rounded once.
HWY_INLINE F32 scaled(F32 y, F32 n) {
  const float power = hn::GetLane(n);
  return std::fabs(power) <= 192 ? set(std::ldexp(hn::GetLane(y), static_cast<int>(power))) : y;
}

#else

HWY_INLINE F32 fused(F32 a, F32 b, F32 c) { return fma(a, b, c); }
/// y 2^n for integral |n| <= 192, rounded once: the first factor leaves y a normal number.
HWY_INLINE F32 scaled(F32 y, F32 n) {
  const I32 whole = hn::NearestInt(n), half = hn::ShiftRight<1>(whole), bias = hn::Set(I32Tag(), 127);
  const auto power = [=](I32 e) HWY_ATTR { return hn::BitCast(F32Tag(), hn::ShiftLeft<23>(e + bias)); };
  return y * power(half) * power(whole - half);
}

#endif

HWY_INLINE F32 peerExp(F32 x) {
  const F32 shift = set(0x1.8p23f), z = fused(x, set(0x1.715476p+0f), shift), n = z - shift;
  const F32 b = fused(n, set(-0x1.7f7d1cp-20f), fused(n, set(-0x1.62e4p-1f), x)), u = b * b;
  const F32 high = fused(set(0x1.0e4020p-7f), b, set(0x1.573e2ep-5f));
  const F32 middle = fused(set(0x1.555e66p-3f), b, set(0x1.fffdb6p-2f));
  const F32 y = fused(fused(high, u, middle), u, fused(set(0x1.ffffecp-1f), b, set(1.0f)));
  const F32 limit = hn::IfThenElse(n > zero(), set(std::numeric_limits<float>::infinity()), zero());
  return hn::IfThenElse(hn::Abs(n) > set(192.0f), limit, scaled(y, n));
}

HWY_INLINE F32 peerGate(F32 gate, F32 up) { return gate / (set(1.0f) + peerExp(hn::Neg(gate))) * up; }

} // namespace

CK_KERNEL(swiglu_forward_ggml) {
  const int64_t F = args->F, groups = F / kGroup * kGroup;
  const int64_t chunk = std::min(std::max<int64_t>(F, 1), kTaskElements), chunks = ceilDiv(F, chunk);
  parallelRange(ctx, args->T * chunks, rowsPerTask(chunk), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t t = i / chunks, from = i % chunks * chunk, to = std::min(from + chunk, F);
      const float *gate = args->gate + t * 2 * F, *up = gate + F;
      float *output = args->output + t * F;
      for (int64_t f = from; f < std::min(to, groups); f += kLanes)
        store(peerGate(load(gate + f), load(up + f)), output + f);
      for (int64_t f = std::max(from, groups); f < to; ++f)
        output[f] = gate[f] / (1.0f + std::exp(-gate[f])) * up[f];
    }
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
