//===- linear_grad.cpp - gradients of the linear layers -------------------===//
//
// For output = input * weight^T + bias: d_input = d_output * weight, d_weight = d_output^T * input, and d_bias is the
// sum of the rows of d_output in ascending order. Each is one product of the engine under the strides and groups of
// its operands; results that nobody wants are null. What accumulates is added to what is there.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/linear_grad.cpp"
#include "hwy/foreach_target.h"

#include "Simd.h"
#include "linear/Gemm.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// A matrix in memory, rows by columns.
struct Matrix {
  const float *data;
  GemmAxis rows, columns;
};
struct Result {
  float *data;
  int64_t strideM;
  GemmAxis columns;
};

Matrix plain(const float *data, int64_t columns) { return {data, columns, 1}; }
Matrix transposed(const Matrix &m) { return {m.data, m.columns, m.rows}; }
/// [heads, rows, width] as a matrix of rows by heads * width.
Matrix headMajor(const float *data, int64_t rows, int64_t width) { return {data, width, {1, width, rows * width}}; }

/// Which results are added to.
enum : unsigned { kNothing = 0, kInput = 1, kParams = 2 };

/// to[m,n] (+)= a[m,k] * b[k,n]. `parts` is room for cutting the product along k, or null.
void multiply(ck_context *ctx, const Matrix &a, const Matrix &b, const Result &to, int64_t m, int64_t k, int64_t n,
              bool accumulate, float *parts = nullptr) {
  GemmTarget target;
  target.b = b.data;
  target.bK = b.rows;
  target.bN = b.columns;
  target.n = n;
  target.c = to.data;
  target.strideM = to.strideM;
  target.cN = to.columns;
  GemmProblem problem;
  problem.m = m;
  problem.k = k;
  problem.a = a.data;
  problem.aM = a.rows;
  problem.aK = a.columns;
  problem.targets = &target;
  problem.accumulate = accumulate;
  problem.parts = parts;
  gemm(ctx, problem);
}

/// to[n] (+)= the sum over the rows of from[rows,n], in ascending order.
void sumRows(ck_context *ctx, const Matrix &from, int64_t rows, int64_t n, float *to, bool accumulate) {
  if (!to)
    return;
  parallelRange(ctx, n, std::max<int64_t>(64, rowsPerTask(rows)), [&](int64_t begin, int64_t end, int) HWY_ATTR {
    constexpr int64_t kSide = 4 * kLanes; // columns that are summed side by side
    for (int64_t j = begin, count; j < end; j += count) {
      count = std::min(kSide, from.columns.run(j, end - j));
      const float *at = from.data + from.columns.offset(j);
      F32 sum[4] = {zero(), zero(), zero(), zero()};
      if (count == kSide) {
        for (int64_t i = 0; i < rows; ++i, at += from.rows.stride)
          for (int v = 0; v < 4; ++v)
            sum[v] = sum[v] + load(at + v * kLanes);
      } else {
        for (int64_t i = 0; i < rows; ++i, at += from.rows.stride)
          for (int v = 0; v * kLanes < count; ++v)
            sum[v] = sum[v] + loadN(at + v * kLanes, std::min(kLanes, count - v * kLanes));
      }
      for (int v = 0; v * kLanes < count; ++v) {
        const int64_t used = std::min(kLanes, count - v * kLanes);
        float *const here = to + j + v * kLanes;
        storeN(accumulate ? loadN(here, used) + sum[v] : sum[v], here, used);
      }
    }
  });
}

/// A linear layer: its sizes and its operands as matrices; `weight` is features by inputs.
struct Layer {
  int64_t rows, inputs, features;
  Matrix dOutput, input, weight;
};

/// The gradients of a layer. `more` says that d_input already holds a part of its value.
void backward(ck_context *ctx, const Layer &layer, const Result &dInput, const Result &dWeight, float *dBias,
              float *parts, unsigned accumulate, bool more = false) {
  if (dInput.data)
    multiply(ctx, layer.dOutput, layer.weight, dInput, layer.rows, layer.features, layer.inputs,
             more || accumulate & kInput, parts);
  if (dWeight.data)
    multiply(ctx, transposed(layer.dOutput), layer.input, dWeight, layer.features, layer.rows, layer.inputs,
             accumulate & kParams);
  sumRows(ctx, layer.dOutput, layer.rows, layer.features, dBias, accumulate & kParams);
}

template <class Args> int32_t linearGrad(ck_context *ctx, const Args &args, unsigned accumulate) {
  const Layer layer = {
      args.T, args.K, args.N, plain(args.d_output, args.N), plain(args.input, args.K), plain(args.weight, args.K)};
  backward(ctx, layer, {args.d_input, args.K, 1}, {args.d_weight, args.K, 1}, args.d_bias, args.parts, accumulate);
  return CK_OK;
}

/// One of the three projections of qkv_linear.
struct Projection {
  Matrix dOutput;
  int64_t features;
  const float *weight;
  float *dWeight, *dBias;
};

template <class Args>
int32_t qkvGrad(ck_context *ctx, const Args &args, const Projection (&projections)[3], unsigned accumulate) {
  bool more = false;
  for (const Projection &projection : projections) {
    const Layer layer = {args.T,
                         args.E,
                         projection.features,
                         projection.dOutput,
                         plain(args.input, args.E),
                         plain(projection.weight, args.E)};
    backward(ctx, layer, {args.d_input, args.E, 1}, {projection.dWeight, args.E, 1}, projection.dBias, args.parts,
             accumulate, more);
    more = true;
  }
  return CK_OK;
}

template <class Args> int32_t qkvGradRows(ck_context *ctx, const Args &args, unsigned accumulate) {
  const Projection projections[] = {{plain(args.d_q, args.NQ), args.NQ, args.wq, args.d_wq, args.d_bq},
                                    {plain(args.d_k, args.NK), args.NK, args.wk, args.d_wk, args.d_bk},
                                    {plain(args.d_v, args.NV), args.NV, args.wv, args.d_wv, args.d_bv}};
  return qkvGrad(ctx, args, projections, accumulate);
}

template <class Args> int32_t qkvGradHeads(ck_context *ctx, const Args &args, unsigned accumulate) {
  const Projection projections[] = {
      {headMajor(args.d_q, args.T, args.D), args.H * args.D, args.wq, args.d_wq, args.d_bq},
      {headMajor(args.d_k, args.T, args.D), args.KV * args.D, args.wk, args.d_wk, args.d_bk},
      {headMajor(args.d_v, args.T, args.D), args.KV * args.D, args.wv, args.d_wv, args.d_bv}};
  return qkvGrad(ctx, args, projections, accumulate);
}

template <class Args> int32_t outGrad(ck_context *ctx, const Args &args, unsigned accumulate) {
  const int64_t T = args.T, N = args.N, D = args.D;
  const Layer layer = {
      T, args.H * D, N, plain(args.d_output, N), headMajor(args.input, T, D), headMajor(args.weight, N, D)};
  backward(ctx, layer, {args.d_input, D, {1, D, T * D}}, {args.d_weight, D, {1, D, N * D}}, args.d_bias, args.parts,
           accumulate);
  return CK_OK;
}

template <class Args> int32_t headGrad(ck_context *ctx, const Args &args, unsigned accumulate) {
  const Layer layer = {
      args.T, args.E, args.V, plain(args.d_logits, args.V), plain(args.input, args.E), plain(args.weight, args.E)};
  backward(ctx, layer, {args.d_input, args.E, 1}, {args.d_weight, args.E, 1}, nullptr, args.parts, accumulate);
  return CK_OK;
}

/// The weight and its gradient lie as [E,V].
template <class Args> int32_t headEmbedMajorGrad(ck_context *ctx, const Args &args, unsigned accumulate) {
  const Matrix dLogits = plain(args.d_logits, args.V);
  if (args.d_input)
    multiply(ctx, dLogits, transposed(plain(args.weight, args.V)), {args.d_input, args.E, 1}, args.T, args.V, args.E,
             accumulate & kInput);
  if (args.d_weight)
    multiply(ctx, transposed(plain(args.input, args.E)), dLogits, {args.d_weight, args.V, 1}, args.E, args.T, args.V,
             accumulate & kParams);
  return CK_OK;
}

} // namespace

CK_KERNEL(gemm_backward_f32) { return linearGrad(ctx, *args, kNothing); }
CK_KERNEL(gemm_backward_accumulate_params_f32) { return linearGrad(ctx, *args, kParams); }
CK_KERNEL(gemm_backward_accumulate_input_f32) { return linearGrad(ctx, *args, kInput); }
CK_KERNEL(gemm_backward_accumulate_all_f32) { return linearGrad(ctx, *args, kInput | kParams); }

CK_KERNEL(qkv_linear_backward_f32) { return qkvGradRows(ctx, *args, kNothing); }
CK_KERNEL(qkv_linear_backward_accumulate_f32) { return qkvGradRows(ctx, *args, kParams); }
CK_KERNEL(ck_qkv_project_head_major_backward) { return qkvGradHeads(ctx, *args, kNothing); }
CK_KERNEL(ck_qkv_project_head_major_backward_accumulate) { return qkvGradHeads(ctx, *args, kParams); }

CK_KERNEL(ck_attention_project_head_major_backward) { return outGrad(ctx, *args, kNothing); }
CK_KERNEL(ck_attention_project_head_major_backward_accumulate) { return outGrad(ctx, *args, kParams); }

CK_KERNEL(head_linear_backward_f32) { return headGrad(ctx, *args, kNothing); }
CK_KERNEL(head_linear_backward_accumulate_f32) { return headGrad(ctx, *args, kParams); }
CK_KERNEL(head_linear_embed_major_backward_f32) { return headEmbedMajorGrad(ctx, *args, kNothing); }
CK_KERNEL(head_linear_embed_major_backward_accumulate_f32) { return headEmbedMajorGrad(ctx, *args, kParams); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
