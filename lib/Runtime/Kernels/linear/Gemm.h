//===- Gemm.h - the matrix product under every linear layer -----*- C++ -*-===//
//
// C (+)= act(A B + bias) with A and C in f32 and B in any storage type that has an unpack functor (GemmStorage.h). B
// may be several matrices that share A, as in a query/key/value projection. NT, NN, TN and TT are strides, and each
// axis may lie in groups, as heads do.
//
// Bits: every element of C is a sum in a fixed order that depends on shapes and on the instruction set, never on the
// number of threads or on its neighbours in a tile.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMM_H
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMM_H

#include "ck/Runtime/Runtime.h"

#include <algorithm>
#include <cstdint>

namespace ck {

/// What the epilogue applies to each element of the product, after the bias.
enum class GemmActivation { None, Silu, GeluTanh, GeluErf, GeluQuick, Relu, Relu2, Sigmoid, Tanh, Softcap };

/// Storage types of B. Rows of blocks begin at whole blocks, and blocks run along K or along N.
enum class GemmType { F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K };

/// Where the indices of one axis of a matrix lie, in elements: `stride` apart, or, with a group, `stride` apart within
/// groups of `group` indices that are `groupStride` apart. Columns h*D+d of a head-major [H,T,D] are {1, D, T*D}.
struct GemmAxis {
  GemmAxis(int64_t stride = 0, int64_t group = 0, int64_t groupStride = 0)
      : stride(stride), group(group), groupStride(groupStride) {}

  int64_t offset(int64_t i) const { return group ? i / group * groupStride + i % group * stride : i * stride; }
  /// How many of the `count` indices from i on are a plain `stride` apart.
  int64_t run(int64_t i, int64_t count) const { return group ? std::min(count, group - i % group) : count; }

  int64_t stride, group, groupStride;
};

/// One right-hand matrix B[k,n] with its destination. A weight W[N,K] has bK = 1, bN = K; a matrix [K,N] has bK = N,
/// bN = 1.
struct GemmTarget {
  const void *b = nullptr;
  GemmAxis bK, bN;
  int64_t n = 0;
  const float *bias = nullptr; ///< n elements, or null
  float *c = nullptr;
  int64_t strideM = 0; ///< of C
  GemmAxis cN = 1;     ///< of C; the stride is 1
};

/// A whole product. It describes memory and owns none.
struct GemmProblem {
  int64_t m = 0, k = 0;
  const float *a = nullptr;
  GemmAxis aM, aK;
  const GemmTarget *targets = nullptr;
  int count = 1;
  GemmType type = GemmType::F32; ///< of every B
  GemmActivation activation = GemmActivation::None;
  float cap = 0;           ///< of Softcap: cap * tanh(x / cap)
  bool accumulate = false; ///< C += instead of C =
  /// At least gemmPackedFloats(m, k) elements, shared by the team: then A is packed once and not by every task that
  /// reads it. Not used, and better null, if the columns of every B are contiguous.
  float *packed = nullptr;
  /// At least gemmPartsFloats(m, n) elements, shared by the team: then a product of few elements and many steps is cut
  /// along K, so that each task reads whole rows of B. May be null.
  float *parts = nullptr;
};

/// Bounds of the blocks in which the engine works; kernel maps state scratch sizes in these terms.
inline constexpr int64_t kGemmBlockM = 264, kGemmBlockN = 192, kGemmBlockK = 256;
/// Rows of a block whose lanes run along the rows of C.
inline constexpr int64_t kGemmLanesM = 256;
/// Elements between copied rows of a block, so that they do not meet in one set of a cache.
inline constexpr int64_t kGemmPad = 16;

/// Elements of `packed`: A in panels whose rows are padded to vectors.
inline int64_t gemmPackedFloats(int64_t m, int64_t k) { return (m + 15) / 16 * 16 * k; }

/// Most parts into which a product is cut along K, and the largest product that is.
inline constexpr int64_t kGemmParts = 8, kGemmPartsM = 64, kGemmPartsN = 1024;
inline int64_t gemmPartsFloats(int64_t m, int64_t n) {
  return kGemmParts * std::min(m, kGemmPartsM) * std::min(n, kGemmPartsN);
}

/// Most elements of scratch for each member of the team: partial sums of a block of C, a panel, a block of the other
/// operand. With `packed` and n columns in the widest target, the panel is not needed, and
/// min(align(m, 16), 256) * min(n, 192) + min(n, 192) * (min(align(k, 16), 256) + kGemmPad) are enough.
inline constexpr int64_t kGemmThreadFloats =
    kGemmBlockM * 2 * kGemmBlockN + 32 * kGemmBlockK + kGemmBlockM * (kGemmBlockK + kGemmPad);

/// Runs a product with the kernels of `isa`. The context's thread scratch must hold what the problem needs. A zero
/// extent of C is no work; K = 0 gives act(bias). Returns CK_OK.
int32_t gemm(ck_context *ctx, ck_isa isa, const GemmProblem &problem);

// The same for one instruction set, under the names of Highway's targets; and the parts of the engine.
#define CK_GEMM_ENGINES                                                                                                \
  int32_t gemmF32(ck_context *ctx, const GemmProblem &problem);                                                        \
  int32_t gemm16Bit(ck_context *ctx, const GemmProblem &problem);                                                      \
  int32_t gemmBlocks32(ck_context *ctx, const GemmProblem &problem);                                                   \
  int32_t gemmBlocks256(ck_context *ctx, const GemmProblem &problem);
namespace N_SCALAR {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
CK_GEMM_ENGINES
} // namespace N_SCALAR
namespace N_AVX2 {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
CK_GEMM_ENGINES
} // namespace N_AVX2
namespace N_AVX3 {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
CK_GEMM_ENGINES
} // namespace N_AVX3
#undef CK_GEMM_ENGINES

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMM_H
