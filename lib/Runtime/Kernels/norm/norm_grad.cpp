//===- norm_grad.cpp - gradients of the norms of rows ---------------------===//
//
// rms_norm and layer_norm. d_input, d_gamma and d_beta each overwrite what is there or add to it, as `accumulate` says.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/norm_grad.cpp"
#include "hwy/foreach_target.h"

#include "norm/Rows.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Operands of either norm; null where absent.
struct Operands {
  const float *dOutput, *input, *gamma, *mean, *rstd;
  float *dInput, *dGamma, *dBeta;
  float *partials; ///< [tasks, E] of d_gamma, then as many of d_beta
  int64_t T, E;
};

template <typename Args> Operands rmsOperands(const Args *args) {
  return {args->d_output, args->input, args->gamma,    nullptr, args->rstd, args->d_input,
          args->d_gamma,  nullptr,     args->partials, args->T, args->E};
}

template <typename Args> Operands layerOperands(const Args *args) {
  return {args->d_output, args->input,  args->gamma,    args->mean, args->rstd, args->d_input,
          args->d_gamma,  args->d_beta, args->partials, args->T,    args->E};
}

template <Gain kGain, bool kCentred, Into kInput, Into kParams> int32_t normGrad(ck_context *ctx, const Operands &o) {
  const int64_t E = o.E, tasks = normTasks(o.T, E);
  float *gammaPartials = o.partials, *betaPartials = o.dBeta ? o.partials + tasks * E : nullptr;
  parallelFor(ctx, tasks, [=](int64_t task, int) HWY_ATTR {
    float *gammaSums = o.dGamma ? gammaPartials + task * E : nullptr;
    float *betaSums = o.dBeta ? betaPartials + task * E : nullptr;
    for (float *sums : {gammaSums, betaSums})
      if (sums)
        std::fill_n(sums, E, 0.0f);
    for (int64_t t = task * o.T / tasks; t < (task + 1) * o.T / tasks; ++t)
      normRowGrad<kGain, kCentred, kInput>(o.dOutput + t * E, o.input + t * E, o.gamma, kCentred ? o.mean[t] : 0,
                                           o.rstd[t], E, o.dInput ? o.dInput + t * E : nullptr, gammaSums, betaSums);
  });
  if (o.dGamma)
    combinePartials<kParams>(ctx, gammaPartials, tasks, o.dGamma, E);
  if (o.dBeta)
    combinePartials<kParams>(ctx, betaPartials, tasks, o.dBeta, E);
  return CK_OK;
}

} // namespace

#define CK_RMS_NORM_GRAD(id, gain, intoInput, intoParams)                                                              \
  CK_KERNEL(id) { return normGrad<gain, false, Into::intoInput, Into::intoParams>(ctx, rmsOperands(args)); }
CK_RMS_NORM_GRAD(rmsnorm_backward, Gain::Weight, Overwrite, Overwrite)
CK_RMS_NORM_GRAD(rms_norm_grad_add_params_f32, Gain::Weight, Overwrite, Add)
CK_RMS_NORM_GRAD(rms_norm_grad_add_input_f32, Gain::Weight, Add, Overwrite)
CK_RMS_NORM_GRAD(rms_norm_grad_add_all_f32, Gain::Weight, Add, Add)
CK_RMS_NORM_GRAD(rms_norm_grad_one_plus_f32, Gain::OnePlusWeight, Overwrite, Overwrite)
CK_RMS_NORM_GRAD(rms_norm_grad_one_plus_add_params_f32, Gain::OnePlusWeight, Overwrite, Add)
CK_RMS_NORM_GRAD(rms_norm_grad_one_plus_add_input_f32, Gain::OnePlusWeight, Add, Overwrite)
CK_RMS_NORM_GRAD(rms_norm_grad_one_plus_add_all_f32, Gain::OnePlusWeight, Add, Add)

#define CK_RMS_NORM_GRAD_UNIT(id, into)                                                                                \
  CK_KERNEL(id) {                                                                                                      \
    return normGrad<Gain::None, false, Into::into, Into::Overwrite>(ctx, {args->d_output, args->input, nullptr,        \
                                                                          nullptr, args->rstd, args->d_input, nullptr, \
                                                                          nullptr, nullptr, args->T, args->E});        \
  }
CK_RMS_NORM_GRAD_UNIT(rms_norm_grad_unit_f32, Overwrite)
CK_RMS_NORM_GRAD_UNIT(rms_norm_grad_unit_add_f32, Add)

#define CK_LAYER_NORM_GRAD(id, intoInput, intoParams)                                                                  \
  CK_KERNEL(id) { return normGrad<Gain::Weight, true, Into::intoInput, Into::intoParams>(ctx, layerOperands(args)); }
CK_LAYER_NORM_GRAD(layer_norm_grad_f32, Overwrite, Overwrite)
CK_LAYER_NORM_GRAD(layer_norm_grad_add_params_f32, Overwrite, Add)
CK_LAYER_NORM_GRAD(layer_norm_grad_add_input_f32, Add, Overwrite)
CK_LAYER_NORM_GRAD(layer_norm_grad_add_all_f32, Add, Add)

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
