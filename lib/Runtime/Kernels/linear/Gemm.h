//===- Gemm.h - the matrix product under every linear layer -----*- C++ -*-===//
//
// C (+)= act(A B + bias) with A and C in f32 and B in any storage type that has an unpack functor (GemmStorage.h). B
// may be several matrices that share A, as in a query/key/value projection. NT, NN, TN and TT are strides.
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

/// Storage types of B.
enum class GemmType { F32, BF16 };

/// One right-hand matrix B[k,n] with its destination. Strides count elements. A weight W[N,K] is strideK = 1,
/// strideN = K; a matrix [K,N] is strideK = N, strideN = 1.
struct GemmTarget {
  const void *b = nullptr;
  int64_t strideK = 0, strideN = 0;
  int64_t n = 0;
  const float *bias = nullptr; ///< n elements, or null
  float *c = nullptr;
  int64_t strideM = 0; ///< of C, whose columns are contiguous within a group
  /// Columns form groups of `group` elements, `groupStride` apart; 0 = one group. A head-major result [H,T,D] has
  /// strideM = D, group = D, groupStride = T * D.
  int64_t group = 0, groupStride = 0;
};

/// A whole product. It describes memory and owns none.
struct GemmProblem {
  int64_t m = 0, k = 0;
  const float *a = nullptr;
  int64_t aStrideM = 0, aStrideK = 0;
  const GemmTarget *targets = nullptr;
  int count = 1;
  GemmType type = GemmType::F32; ///< of every B
  GemmActivation activation = GemmActivation::None;
  float cap = 0;           ///< of Softcap: cap * tanh(x / cap)
  bool accumulate = false; ///< C += instead of C =
  float *packed = nullptr; ///< at least gemmPackedFloats(m, k) elements, shared by the team
};

/// Bounds of the blocks in which the engine works; kernel maps state scratch sizes in these terms.
inline constexpr int64_t kGemmBlockM = 256, kGemmBlockN = 192, kGemmBlockK = 256;

/// Elements of `packed`: A in panels whose rows are padded to vectors.
inline int64_t gemmPackedFloats(int64_t m, int64_t k) { return (m + 15) / 16 * 16 * k; }

/// Most bytes of scratch for each member of the team: partial sums of a block of C, and a block of B unpacked. A
/// product needs min(align(m, 16), kGemmBlockM) * min(n, kGemmBlockN) elements for the first and, unless B is f32 with
/// strideK = 1, min(n, kGemmBlockN) * min(k, kGemmBlockK) for the second; n is that of its widest target.
inline int64_t gemmThreadScratchBytes() { return (kGemmBlockM * kGemmBlockN + kGemmBlockN * kGemmBlockK) * 4; }

/// Runs a product with the kernels of `isa`. The context's thread scratch must hold what the problem needs. A zero
/// extent of C is no work; K = 0 gives act(bias). Returns CK_OK.
int32_t gemm(ck_context *ctx, ck_isa isa, const GemmProblem &problem);

// The same for one instruction set, under the names of Highway's targets.
namespace N_SCALAR {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
}
namespace N_AVX2 {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
}
namespace N_AVX3 {
int32_t gemm(ck_context *ctx, const GemmProblem &problem);
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMM_H
