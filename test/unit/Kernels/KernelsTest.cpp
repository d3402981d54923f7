//===- KernelsTest.cpp - what kernels refuse, and promises beyond values --===//
//
// Error messages, outputs that stay untouched by a failing call, results that do not depend on the team, and a few
// values worked out by hand.
//
//===----------------------------------------------------------------------===//
#include "EachIsa.h"

#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using Floats = std::vector<float>;
using Ids = std::vector<int32_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Floats randomFloats(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  Floats list(n);
  for (float &x : list)
    x = value(random);
  return list;
}

class Kernels : public EachIsaWithScratch {};

INSTANTIATE_TEST_SUITE_P(Isa, Kernels, ::testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

TEST_P(Kernels, EmbeddingNamesTheBadId) {
  Floats table = {1, 2, 3, 4}, output = {7, 7, 7, 7, 7, 7};
  Ids ids = {1, 0, 2};
  ckk_embedding_rows_f32_args args = {};
  args.ids = ids.data(), args.table = table.data(), args.output = output.data();
  args.T = 3, args.V = 2, args.E = 2;
  EXPECT_EQ(ckk_embedding_rows_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "embedding_rows_f32: ids[2] is 2, outside the vocabulary of 2");
  EXPECT_EQ(output, (Floats{7, 7, 7, 7, 7, 7}));
  ids[2] = -1;
  EXPECT_EQ(ckk_embedding_rows_f32(ctx, &args), CK_INVALID_ARGUMENT);
  ids[2] = 1;
  EXPECT_EQ(ckk_embedding_rows_f32(ctx, &args), CK_OK);
  EXPECT_EQ(output, (Floats{3, 4, 1, 2, 3, 4}));
}

TEST_P(Kernels, RopeRotatesByTheRowOfThePosition) {
  // One head of 6 columns, of which 4 turn: row 1 of the tables is a quarter turn for pair 0, nothing for pair 1.
  Floats q = {1, 2, 3, 4, 5, 6}, cosines = {1, 1, 0, 1}, sines = {0, 0, 1, 0}, out(6);
  Ids pos = {1};
  ckk_rope_forward_qk_token_major_f32_args args = {};
  args.q = q.data(), args.pos = pos.data(), args.cos = cosines.data(), args.sin = sines.data(), args.q_out = out.data();
  args.T = 1, args.H = 1, args.S = 2, args.P = 2, args.D = 6;
  EXPECT_EQ(ckk_rope_forward_qk_token_major_f32(ctx, &args), CK_OK);
  EXPECT_EQ(out, (Floats{-3, 2, 1, 4, 5, 6})); // pair 0 is columns 0 and 2
  args.q_out = q.data();                       // and back, in place
  args.q = out.data(), args.inverse = 1;
  EXPECT_EQ(ckk_rope_forward_qk_token_major_f32(ctx, &args), CK_OK);
  EXPECT_EQ(q, (Floats{1, 2, 3, 4, 5, 6}));

  pos[0] = 2;
  EXPECT_EQ(ckk_rope_forward_qk_token_major_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("pos[0] is 2, outside the table of 2 rows"), std::string::npos) << error();
}

TEST_P(Kernels, AdjacentPairsInPlace) {
  const int64_t P = 19;
  Floats q(2 * P), cosines(P, 0.0f), sines(P, 1.0f);
  for (int64_t i = 0; i < 2 * P; ++i)
    q[i] = static_cast<float>(i);
  Ids pos = {0};
  ckk_rope_forward_qk_pairwise_args args = {};
  args.q = q.data(), args.pos = pos.data(), args.cos = cosines.data(), args.sin = sines.data(), args.q_out = q.data();
  args.T = 1, args.H = 1, args.S = 1, args.P = P, args.D = 2 * P;
  EXPECT_EQ(ckk_rope_forward_qk_pairwise(ctx, &args), CK_OK);
  for (int64_t i = 0; i < P; ++i) {
    EXPECT_EQ(q[2 * i], -static_cast<float>(2 * i + 1));
    EXPECT_EQ(q[2 * i + 1], static_cast<float>(2 * i));
  }
}

TEST_P(Kernels, RopeTableChecksItsScaling) {
  Floats cosines(8), sines(8);
  ckk_rope_table_f64_args args = {};
  args.cos = cosines.data(), args.sin = sines.data();
  args.S = 4, args.P = 2, args.theta = 10000, args.factor = 1;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_OK);
  EXPECT_FLOAT_EQ(sines[3 * 2 + 1], std::sin(0.03f)); // theta^(-2/4) = 0.01

  args.scaling = CKK_ROPE_TABLE_F64_SCALING_LINEAR, args.factor = 2;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_OK);
  EXPECT_FLOAT_EQ(sines[3 * 2 + 1], std::sin(0.015f));

  args.factor = 0;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_INVALID_ARGUMENT);
  args.factor = 8, args.scaling = CKK_ROPE_TABLE_F64_SCALING_LLAMA3, args.original_context = 0;
  args.low_freq_factor = 1, args.high_freq_factor = 4;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("original_context is 0"), std::string::npos) << error();
  args.original_context = 8192, args.high_freq_factor = 1;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_INVALID_ARGUMENT);
  args.high_freq_factor = 4, args.theta = kNaN;
  EXPECT_EQ(ckk_rope_table_f64(ctx, &args), CK_INVALID_ARGUMENT);
}

TEST_P(Kernels, CacheUpdateChecksBeforeItWrites) {
  Floats cache(2 * 4 * 1, 9.0f), v = cache, rows = {1, 2, 3, 4};
  Ids pos = {1, 4};
  ckk_cache_update_f32_args args = {};
  args.k_cache = cache.data(), args.v_cache = v.data(), args.k = args.v = rows.data(), args.pos = pos.data();
  args.KV = 2, args.S = 4, args.D = 1, args.T = 2;
  EXPECT_EQ(ckk_cache_update_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("pos[1] is 4, outside the cache of 4 rows"), std::string::npos) << error();
  EXPECT_EQ(cache, Floats(8, 9.0f));
  args.ring = 1; // position 4 is slot 0
  EXPECT_EQ(ckk_cache_update_f32(ctx, &args), CK_OK);
  EXPECT_EQ(cache, (Floats{3, 1, 9, 9, 4, 2, 9, 9}));
  pos[0] = 8; // the same slot: the later row stays
  EXPECT_EQ(ckk_cache_update_f32(ctx, &args), CK_OK);
  EXPECT_EQ(cache[0], 3);
  pos[0] = -1;
  EXPECT_EQ(ckk_cache_update_f32(ctx, &args), CK_INVALID_ARGUMENT);
}

TEST_P(Kernels, ArgmaxBreaksTiesDownAndPassesOverNaN) {
  const int64_t V = 37;
  const auto index = [&](const Floats &row) {
    int32_t result = -1;
    ckk_argmax_f32_args args = {};
    args.input = row.data(), args.output = &result, args.T = 1, args.V = V;
    EXPECT_EQ(ckk_argmax_f32(ctx, &args), CK_OK);
    return result;
  };
  Floats row(V, -2.0f);
  row[36] = row[17] = row[20] = 3.0f;
  EXPECT_EQ(index(row), 17);
  row[0] = row[16] = row[36] = kNaN;
  EXPECT_EQ(index(row), 17);
  EXPECT_EQ(index(Floats(V, kNaN)), 0);
  EXPECT_EQ(index(Floats(V, -kInf)), 0);
  row = Floats(V, kNaN);
  row[35] = -kInf;
  EXPECT_EQ(index(row), 35);
  row[36] = kInf;
  EXPECT_EQ(index(row), 36);
}

TEST_P(Kernels, ActivationsAtTheirEnds) {
  const auto value = [&](int64_t kind, float x, double alpha = 0) {
    float y = 0;
    ckk_activation_f32_args args = {};
    args.input = &x, args.output = &y, args.N = 1, args.kind = kind, args.alpha = alpha;
    EXPECT_EQ(ckk_activation_f32(ctx, &args), CK_OK);
    return y;
  };
  for (int64_t kind : {CKK_ACTIVATION_F32_KIND_SILU, CKK_ACTIVATION_F32_KIND_GELU_TANH,
                       CKK_ACTIVATION_F32_KIND_GELU_ERF, CKK_ACTIVATION_F32_KIND_GELU_QUICK}) {
    EXPECT_EQ(value(kind, kInf), kInf) << kind;
    EXPECT_TRUE(std::isnan(value(kind, -kInf))) << kind; // -infinity times 0
    EXPECT_EQ(value(kind, -3e38f), 0) << kind;
    EXPECT_EQ(value(kind, 3e38f), 3e38f) << kind;
    EXPECT_EQ(value(kind, 0), 0) << kind;
  }
  for (int64_t kind = CKK_ACTIVATION_F32_KIND_SILU; kind <= CKK_ACTIVATION_F32_KIND_SOFTCAP; ++kind)
    EXPECT_TRUE(std::isnan(value(kind, kNaN, 1))) << kind;
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_EXP, -kInf), 0);
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_EXP, kInf), kInf);
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_TANH, -kInf), -1);
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_SIGMOID, -kInf), 0);
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_LEAKY_RELU, -4, 0.25), -1);
  EXPECT_EQ(value(CKK_ACTIVATION_F32_KIND_SOFTCAP, kInf, 30), 30);

  float x = 0;
  ckk_activation_f32_args args = {};
  args.input = args.output = &x, args.N = 1, args.kind = 99;
  EXPECT_EQ(ckk_activation_f32(ctx, &args), CK_INVALID_ARGUMENT);
}

/// Those that share a name's stem differ from each other by little: here by more than either is wrong.
TEST_P(Kernels, ActivationsAreToldApart) {
  const Floats x = {-3, -0.5f, 0.1f, 2};
  const std::pair<int64_t, std::array<double, 4>> kinds[] = {
      {CKK_ACTIVATION_F32_KIND_SILU, {-0.1422776195, -0.1887703344, 0.05249791875, 1.761594156}},
      {CKK_ACTIVATION_F32_KIND_GELU_TANH, {-0.003637392082, -0.1542859902, 0.05398275105, 1.954597694}},
      {CKK_ACTIVATION_F32_KIND_GELU_ERF, {-0.004049694095, -0.1542687694, 0.05398278373, 1.954499736}},
      {CKK_ACTIVATION_F32_KIND_GELU_QUICK, {-0.01807130971, -0.1496115634, 0.05424475808, 1.935658623}},
      {CKK_ACTIVATION_F32_KIND_RELU, {0, 0, 0.1, 2}}};
  for (const auto &[kind, expected] : kinds) {
    Floats y(4);
    ckk_activation_f32_args args = {};
    args.input = x.data(), args.output = y.data(), args.N = 4, args.kind = kind;
    ASSERT_EQ(ckk_activation_f32(ctx, &args), CK_OK);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(y[i], expected[i], 5e-7 * std::max(1.0, std::fabs(expected[i]))) << "kind " << kind << " at " << x[i];
  }
  Floats squares(4);
  ckk_relu2_forward_args args = {};
  args.input = x.data(), args.output = squares.data(), args.N = 4;
  ASSERT_EQ(ckk_relu2_forward(ctx, &args), CK_OK);
  EXPECT_EQ(squares, (Floats{0, 0, 0.1f * 0.1f, 4}));
}

TEST_P(Kernels, TheFusedSumAndNormHaveTheBitsOfTheTwo) {
  for (int64_t E : {1, 7, 64, 1000}) {
    const int64_t T = 5, N = T * E;
    const Floats a = randomFloats(N, 1), b = randomFloats(N, 2), gamma = randomFloats(E, 3);
    Floats sum(N), output(N), fusedSum(N), fusedOutput(N);
    ckk_ck_residual_add_token_major_args add = {};
    add.a = a.data(), add.b = b.data(), add.output = sum.data(), add.N = N;
    ASSERT_EQ(ckk_ck_residual_add_token_major(ctx, &add), CK_OK);
    ckk_rmsnorm_forward_args norm = {};
    norm.input = sum.data(), norm.gamma = gamma.data(), norm.output = output.data();
    norm.T = T, norm.E = E, norm.eps = 1e-5;
    ASSERT_EQ(ckk_rmsnorm_forward(ctx, &norm), CK_OK);
    ckk_add_rms_norm_f32_args fused = {};
    fused.a = a.data(), fused.b = b.data(), fused.gamma = gamma.data();
    fused.sum = fusedSum.data(), fused.output = fusedOutput.data();
    fused.T = T, fused.E = E, fused.eps = 1e-5;
    ASSERT_EQ(ckk_add_rms_norm_f32(ctx, &fused), CK_OK);
    EXPECT_EQ(fusedSum, sum);
    EXPECT_EQ(fusedOutput, output);
  }
}

TEST_P(Kernels, SplitAndConcatCheckTheirSizes) {
  Floats whole = {1, 2, 3, 4, 5, 6}, a(2), b(4);
  ckk_split_rank2_axis1_b32_args args = {};
  args.input = whole.data(), args.output0 = a.data(), args.output1 = b.data();
  args.A = 2, args.N = 3, args.N0 = 1, args.N1 = 2;
  EXPECT_EQ(ckk_split_rank2_axis1_b32(ctx, &args), CK_OK);
  EXPECT_EQ(a, (Floats{1, 4}));
  EXPECT_EQ(b, (Floats{2, 3, 5, 6}));
  args.N1 = 1;
  EXPECT_EQ(ckk_split_rank2_axis1_b32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("the pieces have 2 rows along the axis, the whole has 3"), std::string::npos) << error();
}

TEST_P(Kernels, LastRowNeedsARow) {
  Floats input = {1, 2, 3, 4}, output = {0, 0};
  ckk_last_row_b32_args args = {};
  args.input = input.data(), args.output = output.data(), args.T = 2, args.E = 2;
  EXPECT_EQ(ckk_last_row_b32(ctx, &args), CK_OK);
  EXPECT_EQ(output, (Floats{3, 4}));
  args.T = 0;
  EXPECT_EQ(ckk_last_row_b32(ctx, &args), CK_INVALID_ARGUMENT);
}

/// Decode and prefill kernels see one row alike, and the chunks of the first do not depend on the team.
TEST_P(Kernels, AttentionOfOneRowBothWays) {
  const int64_t H = 6, KV = 2, D = 20, S = 700;
  const Floats q = randomFloats(H * D, 1), k = randomFloats(KV * S * D, 2), v = randomFloats(KV * S * D, 3);
  Ids pos = {650};
  Floats partials(H * ((S + 127) / 128) * (D + 2)), one(H * D), many(H * D), team(H * D);
  ckk_attention_decode_cache_f32_args decode = {};
  decode.q = q.data(), decode.k = k.data(), decode.v = v.data(), decode.pos = pos.data(), decode.output = one.data();
  decode.partials = partials.data(), decode.H = H, decode.KV = KV, decode.D = D, decode.S = S;
  ASSERT_EQ(ckk_attention_decode_cache_f32(ctx, &decode), CK_OK);
  ckk_attention_cache_f32_args prefill = {};
  prefill.q = q.data(), prefill.k = k.data(), prefill.v = v.data(), prefill.pos = pos.data();
  prefill.output = many.data(), prefill.T = 1, prefill.H = H, prefill.KV = KV, prefill.D = D, prefill.S = S;
  ASSERT_EQ(ckk_attention_cache_f32(ctx, &prefill), CK_OK);
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i], many[i], 1e-6);

  ck_context *alone = ck_context_create(1);
  ASSERT_NE(alone, nullptr);
  ASSERT_EQ(ck_context_set_isa(alone, GetParam()), CK_OK);
  ASSERT_EQ(ck_context_reserve_thread_scratch(alone, 1 << 20), CK_OK);
  decode.output = team.data();
  EXPECT_EQ(ckk_attention_decode_cache_f32(alone, &decode), CK_OK);
  EXPECT_EQ(one, team);
  ck_context_destroy(alone);

  pos[0] = 700;
  EXPECT_EQ(ckk_attention_decode_cache_f32(ctx, &decode), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("pos[0] is 700, outside the cache of 700 rows"), std::string::npos) << error();
}

/// The infinity of a value that a row may not see stays out of it, and reaches the rows that do.
TEST_P(Kernels, AttentionKeepsInvisibleValuesOut) {
  const int64_t T = 40, D = 5;
  const Floats q = randomFloats(T * D, 4), k = randomFloats(T * D, 5);
  Floats v = randomFloats(T * D, 6), output(T * D);
  v[20 * D + 2] = kInf;
  ckk_attention_token_major_f32_args args = {};
  args.q = q.data(), args.k = k.data(), args.v = v.data(), args.output = output.data();
  args.T = T, args.H = 1, args.KV = 1, args.D = D, args.mask = CKK_ATTENTION_TOKEN_MAJOR_F32_MASK_CAUSAL;
  ASSERT_EQ(ckk_attention_token_major_f32(ctx, &args), CK_OK);
  for (int64_t t = 0; t < T; ++t)
    EXPECT_EQ(std::isinf(output[t * D + 2]), t >= 20) << t;

  args.mask = CKK_ATTENTION_TOKEN_MAJOR_F32_MASK_SLIDING, args.window = 0;
  EXPECT_EQ(ckk_attention_token_major_f32(ctx, &args), CK_INVALID_ARGUMENT);
  const Ids seqs = {0, 30, 20, 40};
  args.window = 3, args.seqs = seqs.data(), args.B = 4;
  EXPECT_EQ(ckk_attention_token_major_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("seqs[2] is 20"), std::string::npos) << error();
}

} // namespace
