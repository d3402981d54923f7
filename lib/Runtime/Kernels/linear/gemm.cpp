//===- gemm.cpp - one entry for every product -----------------------------===//
//
// Dispatches by instruction set and by the storage of B; the engine itself is GemmRun.h.
//
//===----------------------------------------------------------------------===//
#include "linear/Gemm.h"

namespace ck {
namespace {

using Run = int32_t (*)(ck_context *, const GemmProblem &);

/// The engines of one instruction set, by group of storages.
struct Engines {
  Run f32, bits16, blocks32, blocks256;

  int32_t run(ck_context *ctx, const GemmProblem &problem) const {
    switch (problem.type) {
    case GemmType::F32:
      return f32(ctx, problem);
    case GemmType::F16:
    case GemmType::BF16:
      return bits16(ctx, problem);
    case GemmType::Q4_K:
    case GemmType::Q5_K:
    case GemmType::Q6_K:
      return blocks256(ctx, problem);
    default:
      return blocks32(ctx, problem);
    }
  }
};

constexpr Engines scalar = {N_SCALAR::gemmF32, N_SCALAR::gemm16Bit, N_SCALAR::gemmBlocks32, N_SCALAR::gemmBlocks256};
constexpr Engines avx2 = {N_AVX2::gemmF32, N_AVX2::gemm16Bit, N_AVX2::gemmBlocks32, N_AVX2::gemmBlocks256};
constexpr Engines avx512 = {N_AVX3::gemmF32, N_AVX3::gemm16Bit, N_AVX3::gemmBlocks32, N_AVX3::gemmBlocks256};

} // namespace

int32_t N_SCALAR::gemm(ck_context *ctx, const GemmProblem &problem) { return scalar.run(ctx, problem); }
int32_t N_AVX2::gemm(ck_context *ctx, const GemmProblem &problem) { return avx2.run(ctx, problem); }
int32_t N_AVX3::gemm(ck_context *ctx, const GemmProblem &problem) { return avx512.run(ctx, problem); }

int32_t gemm(ck_context *ctx, ck_isa isa, const GemmProblem &problem) {
  const Engines &engines = isa == CK_ISA_SCALAR ? scalar : isa == CK_ISA_AVX2 ? avx2 : avx512;
  return engines.run(ctx, problem);
}

} // namespace ck
