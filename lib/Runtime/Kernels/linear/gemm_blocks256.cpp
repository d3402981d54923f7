//===- gemm_blocks256.cpp - the GEMM engine on blocks of 256 --------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/gemm_blocks256.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmBlocks.h"
#include "linear/GemmRun.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

int32_t gemmBlocks256(ck_context *ctx, const GemmProblem &problem) {
  switch (problem.type) {
  case GemmType::Q4_K:
    return runGemm<StorageQ4_K>(ctx, problem);
  case GemmType::Q5_K:
    return runGemm<StorageQ5_K>(ctx, problem);
  default:
    return runGemm<StorageQ6_K>(ctx, problem);
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
