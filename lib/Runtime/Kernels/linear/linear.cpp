//===- linear.cpp - providers of the linear layers ------------------------===//
//
// Each is the GEMM engine under one contract. Those with one row of input are contracts of their own, because they need
// no scratch and cost less.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/linear.cpp"
#include "hwy/foreach_target.h"

#include "linear/Projections.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// The same to heads [n / width, m, width].
GemmTarget headsTarget(const float *weight, int64_t heads, int64_t width, int64_t m, int64_t k, const float *bias,
                       float *output) {
  GemmTarget target = rowsTarget(weight, heads * width, k, bias, output);
  target.strideM = width;
  target.cN = {1, width, m * width};
  return target;
}

template <class Args> int32_t qkvHeads(ck_context *ctx, const Args &args, int64_t m, float *packed) {
  const GemmTarget targets[] = {headsTarget(args.wq, args.H, args.D, m, args.E, args.bq, args.q),
                                headsTarget(args.wk, args.KV, args.D, m, args.E, args.bk, args.k),
                                headsTarget(args.wv, args.KV, args.D, m, args.E, args.bv, args.v)};
  return gemm(ctx, problemOf(GemmType::F32, args.input, m, args.E, targets, 3, packed));
}

} // namespace

CK_KERNEL(gemm_blocked_serial) {
  return product(ctx, GemmType::F32, args->input, args->T, args->K,
                 rowsTarget(args->weight, args->N, args->K, args->bias, args->output), args->packed);
}

CK_KERNEL(linear_activation_f32) {
  constexpr GemmActivation kinds[] = {GemmActivation::Silu,      GemmActivation::GeluTanh, GemmActivation::GeluErf,
                                      GemmActivation::GeluQuick, GemmActivation::Relu,     GemmActivation::Relu2,
                                      GemmActivation::Sigmoid,   GemmActivation::Tanh,     GemmActivation::Softcap};
  static_assert(CKK_LINEAR_ACTIVATION_F32_KIND_SOFTCAP == 8 && CKK_LINEAR_ACTIVATION_F32_KIND_GELU_QUICK == 3 &&
                    CKK_LINEAR_ACTIVATION_F32_KIND_SIGMOID == 6,
                "the order of the enum in the map");
  const GemmTarget target = rowsTarget(args->weight, args->N, args->K, args->bias, args->output);
  GemmProblem problem = problemOf(GemmType::F32, args->input, args->T, args->K, &target, 1, args->packed);
  problem.activation = kinds[args->kind];
  problem.cap = static_cast<float>(args->alpha);
  return gemm(ctx, problem);
}

CK_KERNEL(gemv_f32) {
  return product(ctx, GemmType::F32, args->input, 1, args->K,
                 rowsTarget(args->weight, args->N, args->K, args->bias, args->output), nullptr);
}

CK_KERNEL(qkv_linear_f32) { return qkvRows(ctx, GemmType::F32, *args, args->T, args->packed); }

CK_KERNEL(qkv_gemv_f32) { return qkvRows(ctx, GemmType::F32, *args, 1, nullptr); }

CK_KERNEL(ck_qkv_project_head_major) { return qkvHeads(ctx, *args, args->T, args->packed); }

CK_KERNEL(ck_qkv_project_head_major_decode) { return qkvHeads(ctx, *args, 1, nullptr); }

CK_KERNEL(ck_attention_project_head_major) {
  const int64_t T = args->T, N = args->N, D = args->D;
  GemmTarget target = rowsTarget(args->weight, N, D, args->bias, args->output);
  target.bK = {1, D, N * D};
  GemmProblem problem = problemOf(GemmType::F32, args->input, T, args->H * D, &target, 1, args->packed);
  problem.aM = D;
  problem.aK = {1, D, T * D};
  return gemm(ctx, problem);
}

CK_KERNEL(head_linear_f32) {
  return cappedProduct(ctx, GemmType::F32, args->input, args->T, args->E,
                       rowsTarget(args->weight, args->V, args->E, nullptr, args->logits), args->softcap, args->packed);
}

CK_KERNEL(head_gemv_f32) {
  return cappedProduct(ctx, GemmType::F32, args->input, 1, args->E,
                       rowsTarget(args->weight, args->V, args->E, nullptr, args->logits), args->softcap, nullptr);
}

CK_KERNEL(head_linear_embed_major_f32) {
  return cappedProduct(ctx, GemmType::F32, args->input, args->T, args->E,
                       columnsTarget(args->weight, args->V, args->logits), args->softcap, nullptr);
}

CK_KERNEL(head_gemv_embed_major_f32) {
  return cappedProduct(ctx, GemmType::F32, args->input, 1, args->E, columnsTarget(args->weight, args->V, args->logits),
                       args->softcap, nullptr);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
