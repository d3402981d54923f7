//===- OperationFaultsTest.cpp - faults that belong to one operation ------===//

#include "CheckSupport.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace ck;
using namespace ck::check;

namespace {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

struct EmbeddingArgs {
  const int32_t *ids;
  const float *table;
  float *output;
  int64_t T, V, E;
};

MapBuilder embeddingMap() { return MapBuilder("embedding", "ids[T]:i32, table[V,E]:f32 -> output[T,E]:f32", 0); }

/// `checkFirst`: refuses before it writes; `clamp`: takes row 0 for a bad id.
template <bool checkFirst, bool clamp> int32_t embedding(ck_context *ctx, const void *data) {
  const EmbeddingArgs &args = *static_cast<const EmbeddingArgs *>(data);
  auto bad = [&](int64_t t) { return args.ids[t] < 0 || args.ids[t] >= args.V; };
  for (int64_t t = 0; t < args.T && checkFirst; ++t)
    if (bad(t))
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "id %d of row %d is outside the vocabulary", args.ids[t], int(t));
  for (int64_t t = 0; t < args.T; ++t) {
    if (bad(t) && !clamp)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "id %d of row %d is outside the vocabulary", args.ids[t], int(t));
    int64_t row = bad(t) ? 0 : args.ids[t];
    for (int64_t e = 0; e < args.E; ++e)
      args.output[t * args.E + e] = args.table[row * args.E + e];
  }
  return CK_OK;
}

TEST(CheckOperationFaults, RightEmbedding) { expectPassed(embeddingMap(), embedding<true, false>); }
TEST(CheckOperationFaults, AcceptsBadIds) {
  expectCaught(embeddingMap(), embedding<false, true>, "gave status 0, expected 1");
}
TEST(CheckOperationFaults, WritesBeforeItFails) {
  expectCaught(embeddingMap(), embedding<false, false>, "was written although the call failed");
}
TEST(CheckOperationFaults, FailsWithAnotherStatus) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    int32_t code = embedding<true, false>(ctx, data);
    return code == CK_OK ? CK_OK : CK_UNSUPPORTED;
  };
  expectCaught(embeddingMap(), kernel, "gave status 4, expected 1");
}

TEST(CheckOperationFaults, TakesTheLastOfEqualMaxima) {
  struct Args {
    const float *input;
    int32_t *output;
    int64_t T, V;
  };
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const Args &args = *static_cast<const Args *>(data);
    for (int64_t t = 0; t < args.T; ++t) {
      int32_t best = -1;
      const float *row = args.input + t * args.V;
      for (int64_t v = 0; v < args.V; ++v)
        if (!std::isnan(row[v]) && (best < 0 || row[v] >= row[best]))
          best = static_cast<int32_t>(v);
      args.output[t] = std::max(best, 0);
    }
    return CK_OK;
  };
  expectCaught(MapBuilder("argmax", "input[...T,V]:f32 -> output[...T]:i32", 0), kernel, "expected");
}

//===----------------------------------------------------------------------===//
// Accumulation, optional operands
//===----------------------------------------------------------------------===//

struct LinearArgs {
  const float *input, *weight, *bias;
  float *output;
  int64_t T, K, N;
};

template <bool add, bool useBias> int32_t linear(ck_context *, const void *data) {
  const LinearArgs &args = *static_cast<const LinearArgs *>(data);
  for (int64_t t = 0; t < args.T; ++t)
    for (int64_t n = 0; n < args.N; ++n) {
      double sum = useBias && args.bias ? args.bias[n] : 0;
      for (int64_t k = 0; k < args.K; ++k)
        sum += double(args.input[t * args.K + k]) * args.weight[n * args.K + k];
      float &y = args.output[t * args.N + n];
      y = static_cast<float>(add ? y + sum : sum);
    }
  return CK_OK;
}

MapBuilder linearMap(const std::string &flag = "") {
  return MapBuilder("linear", "input[...T,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[...T,N]:f32" + flag);
}

TEST(CheckOperationFaults, RightLinear) { expectPassed(linearMap(), linear<false, true>); }
TEST(CheckOperationFaults, RightAccumulation) { expectPassed(linearMap("+="), linear<true, true>); }
TEST(CheckOperationFaults, OverwritesInsteadOfAdding) { expectCaught(linearMap("+="), linear<false, true>, "output["); }
TEST(CheckOperationFaults, AddsInsteadOfOverwriting) { expectCaught(linearMap(), linear<true, true>, "output["); }
TEST(CheckOperationFaults, ForgetsTheBias) { expectCaught(linearMap(), linear<false, false>, "output["); }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct AttentionArgs {
  const float *q, *k, *v;
  const int32_t *pos;
  float *output;
  int64_t T, H, D, KV, S;
  int64_t window;
};

enum class AttentionFault { None, HeadMapping, WindowOffByOne, ReadsTheFuture, NoMaximum };

template <AttentionFault fault> int32_t attention(ck_context *ctx, const void *data) {
  const AttentionArgs &a = *static_cast<const AttentionArgs *>(data);
  for (int64_t t = 0; t < a.T; ++t)
    if (a.pos[t] < 0 || a.pos[t] >= a.S)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "position %d", a.pos[t]);
  for (int64_t t = 0; t < a.T; ++t)
    for (int64_t h = 0; h < a.H; ++h) {
      int64_t g = fault == AttentionFault::HeadMapping ? h % a.KV : h / (a.H / a.KV);
      int64_t first = std::max<int64_t>(0, a.pos[t] - a.window + (fault == AttentionFault::WindowOffByOne ? 0 : 1));
      int64_t last = fault == AttentionFault::ReadsTheFuture ? a.S - 1 : a.pos[t];
      std::vector<double> w(last + 1);
      double top = -INFINITY, sum = 0;
      for (int64_t j = first; j <= last; ++j) {
        for (int64_t d = 0; d < a.D; ++d)
          w[j] += double(a.q[(t * a.H + h) * a.D + d]) * a.k[(g * a.S + j) * a.D + d] / std::sqrt(double(a.D));
        top = std::max(top, w[j]);
      }
      for (int64_t j = first; j <= last; ++j)
        sum += w[j] = j > a.pos[t] ? 0 : std::exp(w[j] - top);
      for (int64_t d = 0; d < a.D; ++d) {
        double out = 0;
        for (int64_t j = first; j <= last; ++j)
          out += w[j] / sum * a.v[(g * a.S + j) * a.D + d];
        a.output[(t * a.H + h) * a.D + d] = static_cast<float>(out);
      }
    }
  return CK_OK;
}

MapBuilder attentionMap() {
  return MapBuilder("attention", "q[T,H*D]:f32, k[KV,S,D]:f32, v[KV,S,D]:f32, pos[T]:i32 -> output[T,H*D]:f32")
      .where("H = $heads")
      .where("KV = $kv_heads")
      .param("window:i64")
      .attr("mask", std::string("sliding"))
      .attr("layout", std::string("cache"));
}

TEST(CheckOperationFaults, RightAttention) { expectPassed(attentionMap(), attention<AttentionFault::None>); }
TEST(CheckOperationFaults, WrongHeadMapping) {
  expectCaught(attentionMap(), attention<AttentionFault::HeadMapping>, "output[");
}
TEST(CheckOperationFaults, WindowOffByOne) {
  expectCaught(attentionMap(), attention<AttentionFault::WindowOffByOne>, "output[");
}
TEST(CheckOperationFaults, MultipliesMaskedKeysByZero) {
  expectCaught(attentionMap(), attention<AttentionFault::ReadsTheFuture>, "is nan");
}

} // namespace
