//===- mrope.cpp - rotary positions along several axes --------------------===//
//
// Each pair of columns follows one of four streams of positions: time, height, width and a fourth. Which one is fixed
// by the sections; see Sections. The angles of a row are computed once for all its heads.
//
//===----------------------------------------------------------------------===//
#include "rope/Angles.h"

#include "rope/Sections.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rope/mrope.cpp"
#include "hwy/foreach_target.h"

#include "rope/Rotate.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// `Angles` is made of args and fills the cosines and sines of one row from its four positions.
template <typename Angles, typename Pairing, typename To = InF32, typename Args>
int32_t mrope(ck_context *ctx, const Args *args, int64_t streams) {
  const int64_t T = args->T, D = args->D, P = args->P;
  if (const int32_t status = checkAngles(ctx, "positions", args->positions, streams * T, args->theta))
    return status;
  if (const int32_t status = Angles::check(ctx, args))
    return status;
  const Angles angles(args);
  const HeadsOf<InF32, To> q = queries<InF32, To>(args), k = keys<InF32, To>(args);
  const float sign = args->inverse ? -1.0f : 1.0f;
  const int64_t work = (q.count + k.count) * D + P * kAngleCost;
  parallelRange(ctx, T, rowsPerTask(work), [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    float *cosines = static_cast<float *>(ck_thread_scratch(ctx, thread)), *sines = cosines + P, *row = sines + P;
    for (int64_t t = begin; t < end; ++t) {
      angles.fill(RowPositions(args->positions, streams, T, t), P, cosines, sines);
      rotateRow<Pairing>(q, t, D, P, cosines, sines, sign, row);
      if (k.from)
        rotateRow<Pairing>(k, t, D, P, cosines, sines, sign, row);
    }
  });
  return CK_OK;
}

template <typename Args> using Text = Recursive<Args, Sections::text>;
template <typename Args> using Interleaved = Recursive<Args, Sections::interleaved>;
template <typename Args> using Vision = Recursive<Args, Sections::vision>;

} // namespace

CK_KERNEL(mrope_qk_text) { return mrope<Text<ckk_mrope_qk_text_args>, Half>(ctx, args, args->A); }
CK_KERNEL(mrope_qk_text_imrope) { return mrope<Interleaved<ckk_mrope_qk_text_imrope_args>, Half>(ctx, args, 1); }
CK_KERNEL(mrope_qk_imrope_positions) {
  return mrope<Interleaved<ckk_mrope_qk_imrope_positions_args>, Half>(ctx, args, 4);
}
CK_KERNEL(mrope_qk_vision) { return mrope<Vision<ckk_mrope_qk_vision_args>, Half>(ctx, args, 4); }
CK_KERNEL(mrope_qk_vision_bf16_storage) {
  return mrope<Vision<ckk_mrope_qk_vision_bf16_storage_args>, Half, InBF16>(ctx, args, 4);
}
CK_KERNEL(mrope_qk_vision_fp16_storage) {
  return mrope<Vision<ckk_mrope_qk_vision_fp16_storage_args>, Half, InF16>(ctx, args, 4);
}
CK_KERNEL(rope_forward_qk_gemma4v_vision_xy) { return mrope<BlockAngles, Blocks>(ctx, args, 4); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
