//===- qk_norm.cpp - rms norm of the heads of queries and keys ------------===//
//
// Head-major [H,T,D] and token-major [T,H*D] operands are both rows of one head dimension, one behind the other.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/qk_norm.cpp"
#include "hwy/foreach_target.h"

#include "norm/Rows.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <Gain kGain> struct Side {
  const float *x, *gamma;
  float *y;
  int64_t rows;

  HWY_INLINE void normalise(int64_t row, int64_t D, double eps) const {
    const float *from = x + row * D;
    rmsRow<kGain>(from, gamma, reciprocalRoot(from, D, eps), y + row * D, D);
  }
};

template <Gain kGain, typename Args> int32_t qkNorm(ck_context *ctx, const Args *args) {
  const int64_t D = args->D;
  const Side<kGain> q = {args->q, args->q_gamma, args->q_out, args->T * args->H};
  const Side<kGain> k = {args->k, args->k_gamma, args->k_out, args->T * args->KV};
  parallelRange(ctx, q.rows + k.rows, rowsPerTask(D), [=, eps = args->eps](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t row = begin; row < end; ++row)
      if (row < q.rows)
        q.normalise(row, D, eps);
      else
        k.normalise(row - q.rows, D, eps);
  });
  return CK_OK;
}

/// The gradient of one side; null results are not wanted.
template <Gain kGain> struct SideGrad {
  const float *dy, *x, *gamma;
  float *dx, *dGamma;
  int64_t rows, tasks;
  float *partials; ///< [tasks, D]

  HWY_INLINE void run(int64_t task, int64_t D, double eps) const {
    float *sums = dGamma ? partials + task * D : nullptr;
    if (sums)
      std::fill_n(sums, D, 0.0f);
    for (int64_t row = task * rows / tasks; row < (task + 1) * rows / tasks; ++row) {
      const float *from = x + row * D;
      normRowGrad<kGain, false, Into::Overwrite>(dy + row * D, from, gamma, 0, reciprocalRoot(from, D, eps), D,
                                                 dx ? dx + row * D : nullptr, sums, nullptr);
    }
  }
};

template <Gain kGain, Into kParams, typename Args> int32_t qkNormGrad(ck_context *ctx, const Args *args) {
  const int64_t D = args->D, qRows = args->T * args->H, kRows = args->T * args->KV;
  const int64_t qTasks = normTasks(qRows, D), kTasks = normTasks(kRows, D);
  const SideGrad<kGain> q = {args->d_q_out,   args->q, args->q_gamma, args->d_q,
                             args->d_q_gamma, qRows,   qTasks,        args->partials};
  const SideGrad<kGain> k = {args->d_k_out,   args->k, args->k_gamma, args->d_k,
                             args->d_k_gamma, kRows,   kTasks,        args->partials + qTasks * D};
  parallelFor(ctx, qTasks + kTasks, [=, eps = args->eps](int64_t task, int) HWY_ATTR {
    if (task < q.tasks)
      q.run(task, D, eps);
    else
      k.run(task - q.tasks, D, eps);
  });
  for (const SideGrad<kGain> *side : {&q, &k})
    if (side->dGamma)
      combinePartials<kParams>(ctx, side->partials, side->tasks, side->dGamma, D);
  return CK_OK;
}

} // namespace

CK_KERNEL(qk_norm_forward) { return qkNorm<Gain::Weight>(ctx, args); }
CK_KERNEL(qk_norm_one_plus_f32) { return qkNorm<Gain::OnePlusWeight>(ctx, args); }
CK_KERNEL(qk_norm_token_major_f32) { return qkNorm<Gain::Weight>(ctx, args); }
CK_KERNEL(qk_norm_token_major_one_plus_f32) { return qkNorm<Gain::OnePlusWeight>(ctx, args); }

CK_KERNEL(qk_norm_backward_f32) { return qkNormGrad<Gain::Weight, Into::Overwrite>(ctx, args); }
CK_KERNEL(qk_norm_grad_add_f32) { return qkNormGrad<Gain::Weight, Into::Add>(ctx, args); }
CK_KERNEL(qk_norm_grad_one_plus_f32) { return qkNormGrad<Gain::OnePlusWeight, Into::Overwrite>(ctx, args); }
CK_KERNEL(qk_norm_grad_one_plus_add_f32) { return qkNormGrad<Gain::OnePlusWeight, Into::Add>(ctx, args); }
CK_KERNEL(qk_norm_grad_token_major_f32) { return qkNormGrad<Gain::Weight, Into::Overwrite>(ctx, args); }
CK_KERNEL(qk_norm_grad_token_major_add_f32) { return qkNormGrad<Gain::Weight, Into::Add>(ctx, args); }
CK_KERNEL(qk_norm_grad_token_major_one_plus_f32) { return qkNormGrad<Gain::OnePlusWeight, Into::Overwrite>(ctx, args); }
CK_KERNEL(qk_norm_grad_token_major_one_plus_add_f32) { return qkNormGrad<Gain::OnePlusWeight, Into::Add>(ctx, args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
