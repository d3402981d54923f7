//===- TrainingTest.cpp - what the kernels of a training step refuse ------===//
//
// Messages, operands that a failing call leaves alone, and values worked out by hand.
//
//===----------------------------------------------------------------------===//
#include "EachIsa.h"

#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class Training : public EachIsa {};

INSTANTIATE_TEST_SUITE_P(Isa, Training, ::testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

/// Two classes, so that a row with logits (x, 0) has the loss log(1 + e^-x) for target 0.
struct Loss {
  Floats logits, gradient, loss = {-7};
  std::vector<int32_t> targets;
  std::vector<double> losses;
  ckk_softmax_cross_entropy_loss_args args = {};

  Loss(Floats logits, std::vector<int32_t> targets)
      : logits(std::move(logits)), targets(std::move(targets)), losses(this->targets.size()) {
    gradient.assign(this->logits.size(), -7);
    args.logits = this->logits.data(), args.targets = this->targets.data(), args.loss = loss.data();
    args.d_logits = gradient.data(), args.losses = losses.data();
    args.T = static_cast<int64_t>(this->targets.size());
    args.V = static_cast<int64_t>(this->logits.size() / this->targets.size());
  }
};

TEST_P(Training, LossOfTwoClasses) {
  Loss one({std::log(3.0f), 0, 5, 5}, {0, -100});
  ASSERT_EQ(ckk_softmax_cross_entropy_loss(ctx, &one.args), CK_OK) << error();
  EXPECT_FLOAT_EQ(one.loss[0], std::log(4.0f / 3));
  EXPECT_NEAR(one.gradient[0], -0.25, 1e-7);
  EXPECT_NEAR(one.gradient[1], 0.25, 1e-7);
  EXPECT_EQ(one.gradient[2], 0);
  EXPECT_EQ(one.gradient[3], 0);
}

/// Where p is nearly 1, the digits of 1 - p are kept.
TEST_P(Training, GradientOfASureAnswerIsExact) {
  Loss one({30, 0}, {0});
  ASSERT_EQ(ckk_softmax_cross_entropy_loss(ctx, &one.args), CK_OK) << error();
  EXPECT_NEAR(one.loss[0] / std::exp(-30.0), 1, 1e-6);
  EXPECT_NEAR(one.gradient[0] / -std::exp(-30.0), 1, 1e-6);
}

TEST_P(Training, LossNamesTheBadTarget) {
  Loss one({1, 2, 3, 4}, {1, 2});
  EXPECT_EQ(ckk_softmax_cross_entropy_loss(ctx, &one.args), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "softmax_cross_entropy_loss: targets[1] is 2, neither -100 nor in the vocabulary of 2");
  EXPECT_EQ(one.loss[0], -7);
  EXPECT_EQ(one.gradient, (Floats{-7, -7, -7, -7}));
}

TEST_P(Training, LossWithoutAValidTargetIsZero) {
  Loss one({1, kNaN, 3, kInf}, {-100, -100});
  ASSERT_EQ(ckk_softmax_cross_entropy_loss(ctx, &one.args), CK_OK) << error();
  EXPECT_EQ(one.loss[0], 0);
  EXPECT_EQ(one.gradient, (Floats{0, 0, 0, 0}));
}

TEST_P(Training, FirstStepOfAdamWIsTheSignOfTheGradient) {
  Floats w = {1, 1, 1}, m(3), v(3), grad = {0.5f, -2, 0}, lr = {0.25f};
  int32_t step = 1;
  ckk_adamw_update_f32_args args = {};
  args.w = w.data(), args.m = m.data(), args.v = v.data(), args.grad = grad.data();
  args.lr = lr.data(), args.step = &step, args.L = 3;
  args.beta1 = 0.9, args.beta2 = 0.95, args.eps = 1e-8, args.weight_decay = 0;
  ASSERT_EQ(ckk_adamw_update_f32(ctx, &args), CK_OK) << error();
  EXPECT_NEAR(w[0], 0.75, 1e-6);
  EXPECT_NEAR(w[1], 1.25, 1e-6);
  EXPECT_EQ(w[2], 1);
  EXPECT_NEAR(m[1], -0.2, 1e-7);
  EXPECT_NEAR(v[1], 0.2, 1e-7);
  step = 0;
  const Floats before = w;
  EXPECT_EQ(ckk_adamw_update_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "adamw_update_f32: step is 0, but steps count from 1");
  EXPECT_EQ(w, before);
}

TEST_P(Training, MomentumNeedsAVelocity) {
  Floats w = {1}, grad = {1}, lr = {0.5f}, velocity = {2};
  ckk_sgd_f32_args args = {};
  args.w = w.data(), args.grad = grad.data(), args.lr = lr.data(), args.L = 1, args.momentum = 0.5;
  EXPECT_EQ(ckk_sgd_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "sgd_f32: momentum is 0.5, but there is no velocity");
  EXPECT_EQ(w[0], 1);
  args.velocity = velocity.data();
  ASSERT_EQ(ckk_sgd_f32(ctx, &args), CK_OK) << error();
  EXPECT_EQ(velocity[0], 2);
  EXPECT_EQ(w[0], 0);
  args.nesterov = 1; // velocity 0.5*2 + 1 = 2, step 1 + 0.5*2
  ASSERT_EQ(ckk_sgd_f32(ctx, &args), CK_OK) << error();
  EXPECT_EQ(w[0], -1);
}

TEST_P(Training, NormThatIsNotFiniteIsRefused) {
  ckk_clip_factor_f64_args args = {};
  double sum = 25;
  float norm = -7, factor = -7;
  args.sum = &sum, args.norm = &norm, args.factor = &factor, args.max_norm = 1;
  ASSERT_EQ(ckk_clip_factor_f64(ctx, &args), CK_OK) << error();
  EXPECT_EQ(norm, 5);
  EXPECT_EQ(factor, 0.2f);
  args.max_norm = 0;
  ASSERT_EQ(ckk_clip_factor_f64(ctx, &args), CK_OK) << error();
  EXPECT_EQ(factor, 1);
  norm = factor = -7;
  for (double bad : {std::nan(""), static_cast<double>(kInf), 1e80}) {
    sum = bad;
    EXPECT_EQ(ckk_clip_factor_f64(ctx, &args), CK_INVALID_ARGUMENT);
    EXPECT_EQ(error(), std::string("clip_factor_f64: gradient norm is ") + (std::isnan(bad) ? "nan" : "inf"));
    EXPECT_EQ(norm, -7);
    EXPECT_EQ(factor, -7);
  }
}

/// Squares beyond the range of float neither overflow nor vanish.
TEST_P(Training, SumOfSquaresIsInDoublePrecision) {
  Floats x = {1e30f, 1e-30f, 3};
  double sum = 1, partials[1];
  ckk_sum_squares_add_f32_args args = {};
  args.input = x.data(), args.sum = &sum, args.partials = partials, args.L = 1;
  ASSERT_EQ(ckk_sum_squares_add_f32(ctx, &args), CK_OK) << error();
  EXPECT_NEAR(sum / 1e60, 1, 1e-6);
  sum = 0, args.input = x.data() + 1, args.L = 2;
  ASSERT_EQ(ckk_sum_squares_add_f32(ctx, &args), CK_OK) << error();
  EXPECT_EQ(sum, 9);
}

TEST_P(Training, EmbeddingGradientNamesTheBadId) {
  Floats rows = {1, 2, 3}, table = {10, 20};
  std::vector<int32_t> ids = {1, 1, 0};
  ckk_embedding_backward_f32_args args = {};
  args.ids = ids.data(), args.d_output = rows.data(), args.d_table = table.data();
  args.T = 3, args.V = 2, args.E = 1;
  ASSERT_EQ(ckk_embedding_backward_f32(ctx, &args), CK_OK) << error();
  EXPECT_EQ(table, (Floats{13, 23}));
  ids[2] = 2;
  EXPECT_EQ(ckk_embedding_backward_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "embedding_backward_f32: ids[2] is 2, outside the vocabulary of 2");
  EXPECT_EQ(table, (Floats{13, 23}));
}

} // namespace
