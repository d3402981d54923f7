//===- gemm_blocks32.cpp - the GEMM engine on blocks of 32 ----------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/gemm_blocks32.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmBlocks.h"
#include "linear/GemmRun.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

int32_t gemmBlocks32(ck_context *ctx, const GemmProblem &problem) {
  switch (problem.type) {
  case GemmType::Q4_0:
    return runGemm<StorageQ4_0>(ctx, problem);
  case GemmType::Q4_1:
    return runGemm<StorageQ4_1>(ctx, problem);
  case GemmType::Q5_0:
    return runGemm<StorageQ5_0>(ctx, problem);
  case GemmType::Q5_1:
    return runGemm<StorageQ5_1>(ctx, problem);
  default:
    return runGemm<StorageQ8_0>(ctx, problem);
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
