//===- decode.cpp - attention of one query row over a cache ---------------===//
//
// Bound by reading the cache, so each key/value row is read once for all query heads of its group. The visible keys are
// cut into chunks of kChunk at fixed places; a task is one chunk of one key/value head and leaves, for each head, the
// largest score, the sum of exponentials and the weighted values. The chunks are then put together in ascending order.
//
//===----------------------------------------------------------------------===//
#include "attention/Visible.h"

CK_SAME_MASKS(ATTENTION_DECODE_CACHE_F32);

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/decode.cpp"
#include "hwy/foreach_target.h"

#include "VecMath.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Keys of a task; the map sizes its scratch by it.
constexpr int64_t kChunk = 128;

using Args = ckk_attention_decode_cache_f32_args;

/// Vectors of sums that leave room for operands in the registers.
constexpr int kSums = HWY_TARGET == HWY_AVX3 ? 16 : 8;

/// Calls body(first, integral_constant<int, n>) for groups of up to four heads that cover [0, heads).
template <typename Body> HWY_INLINE void overHeads(int64_t heads, Body body) {
  int64_t h = 0;
  for (; h + 4 <= heads; h += 4)
    body(h, std::integral_constant<int, 4>());
  switch (heads - h) {
  case 3:
    return body(h, std::integral_constant<int, 3>());
  case 2:
    return body(h, std::integral_constant<int, 2>());
  case 1:
    return body(h, std::integral_constant<int, 1>());
  }
}

/// What one call works on.
struct Decode {
  const Args &args;
  int64_t group, firstChunk, chunks;
  KeyRange keys;
  float scale, cap;

  /// Result of chunk c for head h: top, sum, then D values.
  float *partial(int64_t h, int64_t c) const { return args.partials + (h * chunks + c) * (args.D + 2); }
};

/// scores[h][key] = q[h] . k[key] for `Heads` heads and `Keys` keys.
template <int Heads, int Keys>
HWY_INLINE void dots(const float *q, const float *k, int64_t D, float *scores, int64_t scoreStep) {
  F32 sum[Heads][Keys];
  for (int h = 0; h < Heads; ++h)
    for (int j = 0; j < Keys; ++j)
      sum[h][j] = zero();
  const auto add = [&](int64_t d, auto read) HWY_ATTR {
    F32 row[Keys];
    for (int j = 0; j < Keys; ++j)
      row[j] = read(k + j * D + d);
    for (int h = 0; h < Heads; ++h) {
      const F32 query = read(q + h * D + d);
      for (int j = 0; j < Keys; ++j)
        sum[h][j] = fma(query, row[j], sum[h][j]);
    }
  };
  int64_t d = 0;
  for (; d + kLanes <= D; d += kLanes)
    add(d, [](const float *p) HWY_ATTR { return load(p); });
  if (d < D)
    add(d, [=](const float *p) HWY_ATTR { return loadN(p, D - d); });
  for (int h = 0; h < Heads; ++h)
    for (int j = 0; j < Keys; ++j)
      scores[h * scoreStep + j] = sumLanes(sum[h][j]);
}

/// Asks for `elements` floats that will be read soon. Going past the end of the cache is harmless.
HWY_INLINE void prefetch(const float *p, int64_t elements) {
  constexpr int64_t kAhead = 2048;
  for (int64_t i = 0; i < elements; i += 16)
    __builtin_prefetch(p + kAhead + i);
}

template <int Heads>
HWY_INLINE void dotsOfKeys(const float *q, const float *k, int64_t count, int64_t D, bool firstRead, float *scores) {
  constexpr int kKeys = std::max(1, kSums / Heads);
  int64_t j = 0;
  for (; j + kKeys <= count; j += kKeys) {
    if (firstRead)
      prefetch(k + j * D, kKeys * D);
    dots<Heads, kKeys>(q, k + j * D, D, scores + j, kChunk);
  }
  for (; j < count; ++j)
    dots<Heads, 1>(q, k + j * D, D, scores + j, kChunk);
}

/// out[h][d..] += sum_key weights[h][key] v[key][d..] for `Heads` heads and `Wide` vectors; with `Tail` a vector has
/// only `lanes` lanes.
template <int Heads, int Wide, bool Tail = false>
HWY_INLINE void weigh(const float *weights, const float *v, int64_t count, int64_t D, int64_t lanes, float *out,
                      int64_t outStep) {
  const auto read = [=](const float *p) HWY_ATTR { return Tail ? loadN(p, lanes) : load(p); };
  F32 sum[Heads][Wide];
  for (int h = 0; h < Heads; ++h)
    for (int n = 0; n < Wide; ++n)
      sum[h][n] = read(out + h * outStep + n * kLanes);
  for (int64_t key = 0; key < count; ++key) {
    F32 row[Wide];
    for (int n = 0; n < Wide; ++n)
      row[n] = read(v + key * D + n * kLanes);
    for (int h = 0; h < Heads; ++h) {
      const F32 weight = set(weights[h * kChunk + key]);
      for (int n = 0; n < Wide; ++n)
        sum[h][n] = fma(weight, row[n], sum[h][n]);
    }
  }
  for (int h = 0; h < Heads; ++h)
    for (int n = 0; n < Wide; ++n) {
      float *to = out + h * outStep + n * kLanes;
      Tail ? storeN(sum[h][n], to, lanes) : store(sum[h][n], to);
    }
}

/// The values of a few keys are weighed at a time, so that they are read from memory row after row.
template <int Heads>
HWY_INLINE void weighValues(const float *weights, const float *v, int64_t count, int64_t D, bool firstRead, float *out,
                            int64_t outStep) {
  constexpr int kWide = std::max(1, std::min(4, kSums / Heads));
  constexpr int64_t kKeys = 32;
  for (int h = 0; h < Heads; ++h)
    std::fill(out + h * outStep, out + h * outStep + D, 0.0f);
  for (int64_t key = 0; key < count; key += kKeys) {
    const int64_t keys = std::min(kKeys, count - key);
    const float *rows = v + key * D;
    if (firstRead)
      prefetch(rows, keys * D);
    int64_t d = 0;
    for (; d + kWide * kLanes <= D; d += kWide * kLanes)
      weigh<Heads, kWide>(weights + key, rows + d, keys, D, kLanes, out + d, outStep);
    for (; d + kLanes <= D; d += kLanes)
      weigh<Heads, 1>(weights + key, rows + d, keys, D, kLanes, out + d, outStep);
    if (d < D)
      weigh<Heads, 1, true>(weights + key, rows + d, keys, D, D - d, out + d, outStep);
  }
}

/// Scores to weights; returns through `partial` their maximum and their sum.
HWY_INLINE void softmaxChunk(float *scores, int64_t count, float scale, float cap, float *partial) {
  const float lowest = -std::numeric_limits<float>::infinity();
  F32 most = set(lowest);
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t n = std::min(kLanes, count - j);
    F32 score = loadN(scores + j, n) * set(scale);
    if (cap != 0)
      score = set(cap) * vtanh(score);
    storeN(score, scores + j, n);
    most = hn::Max(
        most, n == kLanes ? score : hn::IfThenElse(hn::FirstN(F32Tag(), static_cast<size_t>(n)), score, set(lowest)));
  }
  const float top = hn::GetLane(hn::MaxOfLanes(F32Tag(), most));
  const F32 origin = set(top == lowest ? 0.0f : top);
  F32 sum = zero();
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t n = std::min(kLanes, count - j);
    const F32 weight = vexpNonPositive(loadN(scores + j, n, lowest) - origin);
    storeN(weight, scores + j, n);
    sum = sum + weight;
  }
  partial[0] = top;
  partial[1] = sumLanes(sum);
}

void attendChunk(const Decode &call, int64_t g, int64_t c, float *scores) {
  const Args &args = call.args;
  const int64_t D = args.D, at = (call.firstChunk + c) * kChunk;
  const int64_t begin = std::max(call.keys.begin, at), count = std::min(call.keys.end, at + kChunk) - begin;
  const float *k = args.k + (g * args.S + begin) * D, *v = args.v + (g * args.S + begin) * D;
  const float *q = args.q + g * call.group * D;
  overHeads(call.group, [&](int64_t h, auto heads) HWY_ATTR {
    dotsOfKeys<decltype(heads)::value>(q + h * D, k, count, D, h == 0, scores + h * kChunk);
  });
  for (int64_t h = 0; h < call.group; ++h)
    softmaxChunk(scores + h * kChunk, count, call.scale, call.cap, call.partial(g * call.group + h, c));
  const int64_t step = call.chunks * (D + 2);
  float *out = call.partial(g * call.group, c) + 2;
  overHeads(call.group, [&](int64_t h, auto heads) HWY_ATTR {
    weighValues<decltype(heads)::value>(scores + h * kChunk, v, count, D, h == 0, out + h * step, step);
  });
}

/// Puts the chunks of head h together, in ascending order.
void combineChunks(const Decode &call, int64_t h) {
  const Args &args = call.args;
  const float lowest = -std::numeric_limits<float>::infinity();
  const bool sink = args.sinks != nullptr;
  float top = sink ? args.sinks[h] : lowest;
  for (int64_t c = 0; c < call.chunks; ++c)
    top = std::max(top, call.partial(h, c)[0]);
  const float origin = top == lowest ? 0.0f : top;
  float sum = sink ? std::exp(args.sinks[h] - origin) : 0.0f;
  for (int64_t c = 0; c < call.chunks; ++c) {
    float *partial = call.partial(h, c);
    partial[0] = std::exp(partial[0] - origin); // from here on its factor
    sum += partial[0] * partial[1];
  }
  float *out = args.output + h * args.D;
  const F32 last = set(call.chunks > 0 ? 1.0f / sum : 0.0f);
  for (int64_t d = 0; d < args.D; d += kLanes) {
    const int64_t n = std::min(kLanes, args.D - d);
    F32 value = zero();
    for (int64_t c = 0; c < call.chunks; ++c) {
      const float *partial = call.partial(h, c);
      value = fma(loadN(partial + 2 + d, n), set(partial[0]), value);
    }
    storeN(value * last, out + d, n);
  }
  if (args.lse)
    args.lse[h] = call.chunks == 0 && !sink ? lowest : top - (top - top) + std::log(sum);
}

} // namespace

CK_KERNEL(attention_decode_cache_f32) {
  Visible visible = {static_cast<AttentionMask>(args->mask), args->window, args->S};
  visible.pos = args->pos;
  if (const int32_t status = checkVisible(ctx, visible, 1))
    return status;
  if (args->H == 0)
    return CK_OK;
  const KeyRange seen = visible.of(0), keys = {std::max<int64_t>(seen.begin, 0), seen.end};
  const int64_t firstChunk = keys.begin / kChunk;
  const double cap = args->softcap != 0 ? args->softcap : 1.0;
  const Decode call = {*args,
                       args->H / args->KV,
                       firstChunk,
                       keys.empty() ? 0 : ceilDiv(keys.end, kChunk) - firstChunk,
                       keys,
                       static_cast<float>(scoreScale(args->scale, args->D) / cap),
                       static_cast<float>(args->softcap)};
  parallelFor(ctx, args->KV * call.chunks, [&](int64_t i, int thread) HWY_ATTR {
    attendChunk(call, i / call.chunks, i % call.chunks, static_cast<float *>(ck_thread_scratch(ctx, thread)));
  });
  parallelRange(ctx, args->H, rowsPerTask(call.chunks * args->D), [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t h = begin; h < end; ++h)
      combineChunks(call, h);
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
