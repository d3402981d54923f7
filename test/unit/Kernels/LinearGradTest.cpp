//===- LinearGradTest.cpp - gradients of linear layers against differences ===//
//
// A linear layer is linear in each of its operands, so that a central difference of the forward kernel over a whole
// step is the derivative, up to rounding. More than one row is what catches dims taken from a flattened count.
//
//===----------------------------------------------------------------------===//
#include "EachIsa.h"

#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using Floats = std::vector<float>;

struct Layer {
  int64_t T, K, N;
  Floats input, weight, bias, dOutput;

  Layer(int64_t T, int64_t K, int64_t N) : T(T), K(K), N(N) {
    std::mt19937 random(static_cast<unsigned>(T));
    for (auto [list, count] : {std::pair{&input, T * K}, {&weight, N * K}, {&bias, N}, {&dOutput, T * N}}) {
      list->resize(static_cast<size_t>(count));
      for (float &x : *list)
        x = std::uniform_real_distribution<float>(-1, 1)(random);
    }
  }

  /// <dOutput, linear(input, weight, bias)>
  double loss(ck_context *ctx) {
    Floats output(static_cast<size_t>(T * N)), packed(static_cast<size_t>((T + 15) / 16 * 16 * K));
    ckk_gemm_blocked_serial_args args = {};
    args.input = input.data(), args.weight = weight.data(), args.bias = bias.data(), args.output = output.data();
    args.packed = packed.data();
    args.T = T, args.K = K, args.N = N;
    EXPECT_EQ(ckk_gemm_blocked_serial(ctx, &args), CK_OK);
    double sum = 0;
    for (size_t i = 0; i < output.size(); ++i)
      sum += double(dOutput[i]) * output[i];
    return sum;
  }
};

class LinearGrad : public EachIsaWithScratch {};

INSTANTIATE_TEST_SUITE_P(Isa, LinearGrad, ::testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

TEST_P(LinearGrad, EqualsDifferencesForAnyNumberOfRows) {
  for (int64_t rows : {1, 2, 10, 70}) {
    Layer layer(rows, 64, 128);
    Floats dInput(layer.input.size()), dWeight(layer.weight.size()), dBias(layer.bias.size());
    ckk_gemm_backward_f32_args args = {};
    args.d_output = layer.dOutput.data(), args.input = layer.input.data(), args.weight = layer.weight.data();
    args.d_input = dInput.data(), args.d_weight = dWeight.data(), args.d_bias = dBias.data();
    args.T = layer.T, args.K = layer.K, args.N = layer.N;
    ASSERT_EQ(ckk_gemm_backward_f32(ctx, &args), CK_OK);

    for (auto [operand, gradient] :
         {std::pair{&layer.input, &dInput}, {&layer.weight, &dWeight}, {&layer.bias, &dBias}}) {
      const size_t size = operand->size();
      for (size_t i : {size_t(0), size / 3, size / 2 + 1, size - 1}) {
        const float value = (*operand)[i];
        (*operand)[i] = value + 1;
        const double above = layer.loss(ctx);
        (*operand)[i] = value - 1;
        const double below = layer.loss(ctx);
        (*operand)[i] = value;
        EXPECT_NEAR((*gradient)[i], (above - below) / 2, 2e-4) << rows << " rows, element " << i << " of " << size;
      }
    }
  }
}

TEST_P(LinearGrad, LeavesWhatNobodyWantsAlone) {
  Layer layer(10, 64, 128);
  Floats dBias(128, 5.0f), once(128);
  ckk_gemm_backward_accumulate_params_f32_args add = {};
  add.d_output = layer.dOutput.data(), add.input = layer.input.data(), add.weight = layer.weight.data();
  add.d_bias = dBias.data();
  add.T = layer.T, add.K = layer.K, add.N = layer.N;
  ASSERT_EQ(ckk_gemm_backward_accumulate_params_f32(ctx, &add), CK_OK) << "two results of three are null";
  ckk_gemm_backward_f32_args set = {};
  set.d_output = layer.dOutput.data(), set.input = layer.input.data(), set.weight = layer.weight.data();
  set.d_bias = once.data();
  set.T = layer.T, set.K = layer.K, set.N = layer.N;
  ASSERT_EQ(ckk_gemm_backward_f32(ctx, &set), CK_OK);
  for (size_t n = 0; n < dBias.size(); ++n)
    EXPECT_EQ(dBias[n], 5.0f + once[n]);
}

} // namespace
