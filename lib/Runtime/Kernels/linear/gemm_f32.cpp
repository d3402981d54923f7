//===- gemm_f32.cpp - the GEMM engine on f32 ------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/gemm_f32.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmRun.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

int32_t gemmF32(ck_context *ctx, const GemmProblem &problem) { return runGemm<StorageF32>(ctx, problem); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
