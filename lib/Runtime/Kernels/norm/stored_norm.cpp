//===- stored_norm.cpp - norms of rows that are stored narrowly -----------===//
//
// bf16, or codes of 8 or 4 bits with a scale for each row. A task widens its rows to f32, one at a time, and works on
// them as the f32 norms do. Gradients are f32, with respect to the values that the stored form stands for.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/stored_norm.cpp"
#include "hwy/foreach_target.h"

#include "norm/Rows.h"
#include "pointwise/Bf16.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

// Each gives the values of row t of E columns.
struct Bf16Rows {
  const uint16_t *input;
  HWY_INLINE void widen(int64_t t, int64_t E, float *to) const {
    const uint16_t *from = input + t * E;
    eachVector(E, [=](int64_t i, int64_t lanes) HWY_ATTR { storeUpTo(loadUpTo(from + i, lanes), to + i, lanes); });
  }
};
struct Int8Rows {
  const int8_t *codes;
  const float *scale;
  HWY_INLINE void widen(int64_t t, int64_t E, float *to) const {
    for (int64_t e = 0; e < E; ++e)
      to[e] = static_cast<float>(codes[t * E + e]) * scale[t];
  }
};
/// Two codes a byte, the first in the low half, 8 more than they mean.
struct Int4Rows {
  const uint8_t *codes;
  const float *scale;
  HWY_INLINE void widen(int64_t t, int64_t E, float *to) const {
    const uint8_t *from = codes + t * (E / 2);
    for (int64_t i = 0; i < E / 2; ++i) {
      to[2 * i] = static_cast<float>((from[i] & 15) - 8) * scale[t];
      to[2 * i + 1] = static_cast<float>((from[i] >> 4) - 8) * scale[t];
    }
  }
};

/// A row of f32 in the memory of a thread, and the gains behind it.
struct Workspace {
  float *row, *gains;
};
HWY_INLINE Workspace workspaceOf(ck_context *ctx, int thread, int64_t E) {
  float *row = static_cast<float *>(ck_thread_scratch(ctx, thread));
  return {row, row + E};
}

/// The gains as f32.
HWY_INLINE const float *gainsOf(const float *gamma, const Workspace &, int64_t) { return gamma; }
HWY_INLINE const float *gainsOf(const uint16_t *gamma, const Workspace &work, int64_t E) {
  Bf16Rows{gamma}.widen(0, E, work.gains);
  return work.gains;
}

HWY_INLINE void storeRow(const float *from, float *to, int64_t n) { copyElements(to, from, n); }
HWY_INLINE void storeRow(const float *from, uint16_t *to, int64_t n) {
  eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR { storeUpTo(loadUpTo(from + i, lanes), to + i, lanes); });
}

template <Gain kGain, typename Rows, typename Args> int32_t normalise(ck_context *ctx, const Args *args, Rows rows) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(E), [=](int64_t begin, int64_t end, int thread) HWY_ATTR {
    const Workspace work = workspaceOf(ctx, thread, E);
    const float *gains = gainsOf(args->gamma, work, E);
    for (int64_t t = begin; t < end; ++t) {
      rows.widen(t, E, work.row);
      const float r = reciprocalRoot(work.row, E, args->eps);
      rmsRow<kGain>(work.row, gains, r, work.row, E);
      storeRow(work.row, args->output + t * E, E);
      if (args->rstd)
        args->rstd[t] = r;
    }
  });
  return CK_OK;
}

template <Gain kGain, typename Rows, typename Args> int32_t gradient(ck_context *ctx, const Args *args, Rows rows) {
  const int64_t E = args->E, T = args->T, tasks = normTasks(T, E);
  parallelFor(ctx, tasks, [=](int64_t task, int thread) HWY_ATTR {
    const Workspace work = workspaceOf(ctx, thread, E);
    const float *gains = gainsOf(args->gamma, work, E);
    float *sums = args->d_gamma ? args->partials + task * E : nullptr;
    if (sums)
      clearElements(sums, E);
    for (int64_t t = task * T / tasks; t < (task + 1) * T / tasks; ++t) {
      rows.widen(t, E, work.row);
      normRowGrad<kGain, false, Into::Overwrite>(args->d_output + t * E, work.row, gains, 0, args->rstd[t], E,
                                                 args->d_input ? args->d_input + t * E : nullptr, sums, nullptr);
    }
  });
  if (args->d_gamma)
    combinePartials<Into::Overwrite>(ctx, args->partials, tasks, args->d_gamma, E);
  return CK_OK;
}

} // namespace

CK_KERNEL(rmsnorm_forward_bf16) {
  const Bf16Rows rows{args->input};
  return args->gain == CKK_RMSNORM_FORWARD_BF16_GAIN_WEIGHT ? normalise<Gain::Weight>(ctx, args, rows)
                                                            : normalise<Gain::OnePlusWeight>(ctx, args, rows);
}
CK_KERNEL(rmsnorm_backward_bf16) {
  const Bf16Rows rows{args->input};
  return args->gain == CKK_RMSNORM_BACKWARD_BF16_GAIN_WEIGHT ? gradient<Gain::Weight>(ctx, args, rows)
                                                             : gradient<Gain::OnePlusWeight>(ctx, args, rows);
}

CK_KERNEL(rmsnorm_forward_int8) { return normalise<Gain::Weight>(ctx, args, Int8Rows{args->input, args->input_scale}); }
CK_KERNEL(rmsnorm_backward_int8) { return gradient<Gain::Weight>(ctx, args, Int8Rows{args->input, args->input_scale}); }
CK_KERNEL(rmsnorm_forward_int4) { return normalise<Gain::Weight>(ctx, args, Int4Rows{args->input, args->input_scale}); }
CK_KERNEL(rmsnorm_backward_int4) { return gradient<Gain::Weight>(ctx, args, Int4Rows{args->input, args->input_scale}); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
