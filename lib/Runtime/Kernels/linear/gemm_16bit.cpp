//===- gemm_16bit.cpp - the GEMM engine on 16-bit floats ------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/gemm_16bit.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmRun.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

int32_t gemm16Bit(ck_context *ctx, const GemmProblem &problem) {
  switch (problem.type) {
  case GemmType::F16:
    return runGemm<StorageF16>(ctx, problem);
  default:
    return runGemm<StorageBF16>(ctx, problem);
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
