//===- StorageNormTest.cpp - norms of bf16 compute in f32 -----------------===//
//
// One large value among many small ones, and a gain near 16: a sum of squares kept in bf16 loses the small values, and
// 1 + w added in bf16 loses w's last bits. Neither may happen.
//
//===----------------------------------------------------------------------===//
#include "EachIsa.h"

#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

namespace {

using Halves = std::vector<uint16_t>;

uint16_t toBF16(double value) {
  const float narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double fromBF16(uint16_t half) {
  const uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr int64_t kWidth = 2880;
constexpr double kEps = 1e-5, kWeight = 15.8125; // exact in bf16; 16.8125 is not

/// Small values of many digits around one outlier.
Halves outlierRow() {
  Halves row(kWidth);
  for (int64_t e = 0; e < kWidth; ++e)
    row[e] = toBF16(0.05 * (1 + 0.001 * static_cast<double>(e % 97)));
  row[1234] = toBF16(3e3);
  return row;
}

/// The largest relative error against f64, in units of the last place of bf16 at the expected value.
double worstError(const Halves &row, const Halves &output, double gain) {
  double squares = 0, worst = 0;
  for (uint16_t x : row)
    squares += fromBF16(x) * fromBF16(x);
  const double r = 1 / std::sqrt(squares / static_cast<double>(kWidth) + kEps);
  for (int64_t e = 0; e < kWidth; ++e) {
    const double expected = fromBF16(row[e]) * r * gain;
    const double ulp = std::ldexp(1.0, std::ilogb(expected) - 7);
    worst = std::max(worst, std::fabs(fromBF16(output[e]) - expected) / ulp);
  }
  return worst;
}

class StorageNorm : public EachIsaWithScratch {
protected:
  template <typename Args> Args argsFor(const Halves &row, Halves &output) {
    Args args = {};
    args.input = row.data(), args.output = output.data();
    args.T = 1, args.E = kWidth, args.eps = kEps;
    return args;
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, StorageNorm, ::testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

TEST_P(StorageNorm, SumsAndGainsOfBF16AreF32) {
  const Halves row = outlierRow(), gamma(kWidth, toBF16(kWeight));
  Halves output(kWidth);
  for (bool onePlus : {false, true}) {
    auto args = argsFor<ckk_rmsnorm_forward_bf16_args>(row, output);
    args.gamma = gamma.data();
    args.gain = onePlus ? CKK_RMSNORM_FORWARD_BF16_GAIN_ONE_PLUS_WEIGHT : CKK_RMSNORM_FORWARD_BF16_GAIN_WEIGHT;
    ASSERT_EQ(ckk_rmsnorm_forward_bf16(ctx, &args), CK_OK) << error();
    EXPECT_LT(worstError(row, output, onePlus ? 1 + kWeight : kWeight), 1) << "one plus weight: " << onePlus;
  }
}

TEST_P(StorageNorm, PyTorchFormsThatRoundOnceStayWithinOneUlp) {
  const Halves row = outlierRow(), gamma(kWidth, toBF16(kWeight));
  const std::vector<float> wide(kWidth, static_cast<float>(kWeight));
  Halves output(kWidth);

  auto weighted = argsFor<ckk_rmsnorm_muse_weighted_pytorch_bf16_storage_args>(row, output);
  weighted.gamma = gamma.data();
  ASSERT_EQ(ckk_rmsnorm_muse_weighted_pytorch_bf16_storage(ctx, &weighted), CK_OK) << error();
  EXPECT_LT(worstError(row, output, kWeight), 1);

  auto centred = argsFor<ckk_rmsnorm_muse_centered_pytorch_bf16_storage_args>(row, output);
  centred.gamma = gamma.data();
  ASSERT_EQ(ckk_rmsnorm_muse_centered_pytorch_bf16_storage(ctx, &centred), CK_OK) << error();
  EXPECT_LT(worstError(row, output, 1 + kWeight), 1);

  auto exactGain = argsFor<ckk_rmsnorm_forward_qwen3next_pytorch_bf16_storage_args>(row, output);
  exactGain.gamma = wide.data();
  ASSERT_EQ(ckk_rmsnorm_forward_qwen3next_pytorch_bf16_storage(ctx, &exactGain), CK_OK) << error();
  EXPECT_LT(worstError(row, output, kWeight), 1);

  auto unweighted = argsFor<ckk_rmsnorm_muse_unweighted_pytorch_bf16_storage_args>(row, output);
  ASSERT_EQ(ckk_rmsnorm_muse_unweighted_pytorch_bf16_storage(ctx, &unweighted), CK_OK) << error();
  EXPECT_LT(worstError(row, output, 1), 1);
}

TEST_P(StorageNorm, TheFormThatRoundsTwiceStaysWithinTwo) {
  const Halves row = outlierRow(), gamma(kWidth, toBF16(kWeight));
  Halves output(kWidth);
  auto args = argsFor<ckk_rmsnorm_forward_pytorch_bf16_storage_args>(row, output);
  args.gamma = gamma.data();
  ASSERT_EQ(ckk_rmsnorm_forward_pytorch_bf16_storage(ctx, &args), CK_OK) << error();
  EXPECT_LT(worstError(row, output, kWeight), 2);
}

/// The test above would notice what it is about.
TEST(StorageNormItself, RoundingInBetweenIsNoticed) {
  const Halves row = outlierRow();
  double squares = 0, narrow = 0;
  for (uint16_t x : row) {
    squares += fromBF16(x) * fromBF16(x);
    narrow = fromBF16(toBF16(narrow + fromBF16(x) * fromBF16(x)));
  }
  const auto normalised = [&](double sum, double gain) {
    Halves output;
    for (uint16_t x : row)
      output.push_back(toBF16(fromBF16(x) / std::sqrt(sum / static_cast<double>(kWidth) + kEps) * gain));
    return output;
  };
  EXPECT_LT(worstError(row, normalised(squares, 1 + kWeight), 1 + kWeight), 0.51);
  EXPECT_GT(worstError(row, normalised(squares, fromBF16(toBF16(1 + kWeight))), 1 + kWeight), 0.51);
  // The outlier alone hides that the small values are lost; without it they are all there is.
  Halves small(kWidth, toBF16(0.05));
  double sum = 0;
  for (uint16_t x : small)
    sum = fromBF16(toBF16(sum + fromBF16(x) * fromBF16(x)));
  EXPECT_LT(sum, 0.5 * 0.0025 * static_cast<double>(kWidth));
}

TEST_P(StorageNorm, CodesOfFourBitsLieLowHalfFirst) {
  // Codes 8 + {3, 4}: values 3 and 4 times 0.5, whose mean square is 3.125.
  const uint8_t codes[] = {static_cast<uint8_t>((8 + 3) | (8 + 4) << 4)};
  const float scale = 0.5f, gamma[] = {1, 2};
  float output[2] = {};
  ckk_rmsnorm_forward_int4_args args = {};
  args.input = codes, args.input_scale = &scale, args.gamma = gamma, args.output = output;
  args.T = 1, args.E = 2;
  ASSERT_EQ(ckk_rmsnorm_forward_int4(ctx, &args), CK_OK) << error();
  EXPECT_FLOAT_EQ(output[0], static_cast<float>(1.5 / std::sqrt(3.125)));
  EXPECT_FLOAT_EQ(output[1], static_cast<float>(4 / std::sqrt(3.125)));
}

TEST_P(StorageNorm, CheckedRowsNameTheBadRow) {
  const float inf = std::numeric_limits<float>::infinity();
  float input[] = {1, 2, 9, 3, inf, 9}, gamma[] = {1, 1}, beta[] = {0, 0}, output[] = {7, 7, 7, 7, 7, 7};
  ckk_layernorm_rows_checked_f32_args args = {};
  args.input = input, args.gamma = gamma, args.beta = beta, args.output = output;
  args.T = 2, args.C = 2, args.input_stride0 = args.output_stride0 = 3, args.eps = kEps;
  EXPECT_EQ(ckk_layernorm_rows_checked_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("row 1 of input is not finite"), std::string::npos) << error();
  for (float untouched : output)
    EXPECT_EQ(untouched, 7);
  input[4] = 4, gamma[1] = inf;
  EXPECT_EQ(ckk_layernorm_rows_checked_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(error().find("gamma[1] is not finite"), std::string::npos) << error();
  gamma[1] = 1;
  EXPECT_EQ(ckk_layernorm_rows_checked_f32(ctx, &args), CK_OK) << error();
  EXPECT_NEAR(output[0], -1, 1e-4);
  EXPECT_NEAR(output[4], 1, 1e-4);
  EXPECT_EQ(output[2], 7);
}

} // namespace
