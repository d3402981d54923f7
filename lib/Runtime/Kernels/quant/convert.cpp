//===- convert.cpp - floats of 32 and 16 bits -----------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/convert.cpp"
#include "hwy/foreach_target.h"

#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

const hn::Rebind<uint16_t, I32Tag> d16;

/// Round to nearest, ties to even; a NaN stays one.
struct NarrowBF16 {
  static uint16_t one(float x) { return floatToBF16(x); }
  static HWY_INLINE void vector(F32 x, uint16_t *to) {
    const hn::RebindToUnsigned<I32Tag> d;
    const auto bits = hn::BitCast(d, x), high = hn::ShiftRight<16>(bits);
    const auto tie = hn::Add(hn::Set(d, 0x7fff), hn::And(high, hn::Set(d, 1)));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, tie)), quiet = hn::Or(high, hn::Set(d, 0x40));
    const auto isNaN = hn::RebindMask(d, hn::Ne(x, x));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(I32Tag(), hn::IfThenElse(isNaN, quiet, rounded))), d16, to);
  }
};

struct NarrowF16 {
  static uint16_t one(float x) { return floatToHalf(x); }
  static HWY_INLINE void vector(F32 x, uint16_t *to) {
#if HWY_TARGET == HWY_SCALAR
    *to = one(hn::GetLane(x));
#else
    const hn::Rebind<hwy::float16_t, F32Tag> half;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(half, x)), d16, to);
#endif
  }
};

template <class Narrow> int32_t narrow(ck_context *ctx, const float *from, int64_t n, uint16_t *to) {
  parallelRange(ctx, n, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
      Narrow::vector(load(from + i), to + i);
    for (; i < end; ++i)
      to[i] = Narrow::one(from[i]);
  });
  return CK_OK;
}

template <class Format> int32_t widen(ck_context *ctx, const uint16_t *from, int64_t n, float *to) {
  parallelRange(ctx, n, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    decodeRow<Format>(reinterpret_cast<const uint8_t *>(from + begin), end - begin, to + begin);
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(convert_f32_bf16) { return narrow<NarrowBF16>(ctx, args->input, args->N, args->output); }
CK_KERNEL(convert_f32_f16) { return narrow<NarrowF16>(ctx, args->input, args->N, args->output); }
CK_KERNEL(convert_bf16_f32) { return widen<DecodeBF16>(ctx, args->input, args->N, args->output); }
CK_KERNEL(convert_f16_f32) { return widen<DecodeF16>(ctx, args->input, args->N, args->output); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
