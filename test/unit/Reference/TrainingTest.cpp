//===- TrainingTest.cpp - references of a training step, by hand ----------===//
//
// Updates, norms and the loss have no forward operation to be compared with: their values are worked out here.
//
//===----------------------------------------------------------------------===//
#include "Reference.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ck;
using namespace ck::reference;

namespace {

Tensor tensor(std::vector<int64_t> shape, std::vector<double> data) {
  Tensor result;
  result.shape = std::move(shape);
  result.data = std::move(data);
  return result;
}

Tensor one(double value) { return tensor({1}, {value}); }

/// What is updated in place starts as the operand of its name.
Status run(const char *op, Call &call) {
  for (auto &[name, output] : call.outputs)
    if (const Tensor *input = call.optional(name))
      output = *input;
  return evaluate(*findOperation(op), call);
}

TEST(TrainingReference, AdamW) {
  Call call;
  call.attrs = {{"beta1", 0.5}, {"beta2", 0.75}, {"eps", 1.0}, {"weight_decay", 0.5}};
  call.inputs = {{"w", one(8)},  {"m", one(2)},    {"v", one(4)},     {"grad", one(2)},
                 {"lr", one(2)}, {"step", one(2)}, {"factor", one(2)}};
  call.outputs = {{"w", {}}, {"m", {}}, {"v", {}}};
  ASSERT_TRUE(run("adamw", call));
  EXPECT_DOUBLE_EQ(call.out("m").data[0], 3); // (2 + 4) / 2
  EXPECT_DOUBLE_EQ(call.out("v").data[0], 7); // 3/4 of 4, 1/4 of 16
  // m / (1 - 1/4) = 4; v / (1 - 9/16) = 16, of which the root is 4, plus 1; and half of the weight of 8.
  EXPECT_DOUBLE_EQ(call.out("w").data[0], 8 - 2 * (4.0 / 5 + 4));
  call.inputs["step"] = one(0);
  EXPECT_EQ(run("adamw", call).error().code, "INVALID_ARGUMENT");
}

TEST(TrainingReference, Sgd) {
  Call call;
  call.attrs = {{"momentum", 0.5}, {"weight_decay", 0.25}};
  call.inputs = {{"w", one(4)}, {"velocity", one(6)}, {"grad", one(1)}, {"lr", one(0.5)}};
  call.outputs = {{"w", {}}, {"velocity", {}}};
  ASSERT_TRUE(run("sgd", call));
  EXPECT_DOUBLE_EQ(call.out("velocity").data[0], 5); // half of 6, the gradient, a quarter of 4
  EXPECT_DOUBLE_EQ(call.out("w").data[0], 1.5);
  call.attrs["nesterov"] = true;
  ASSERT_TRUE(run("sgd", call));
  EXPECT_DOUBLE_EQ(call.out("w").data[0], 4 - 0.5 * (2 + 2.5));
  call.inputs.erase("velocity");
  call.outputs.erase("velocity");
  EXPECT_EQ(run("sgd", call).error().code, "BAD_CALL");
  call.attrs["momentum"] = 0.0;
  ASSERT_TRUE(run("sgd", call));
  EXPECT_DOUBLE_EQ(call.out("w").data[0], 3);
}

TEST(TrainingReference, NormsAndClipping) {
  Call squares;
  squares.inputs = {{"input", tensor({2}, {3, 4})}};
  squares.outputs = {{"sum", one(0)}};
  ASSERT_TRUE(run("sum_squares", squares));
  EXPECT_EQ(squares.out("sum").data[0], 25);
  squares.inputs["sum"] = one(75);
  ASSERT_TRUE(run("sum_squares", squares));
  EXPECT_EQ(squares.out("sum").data[0], 100);

  Call factor;
  factor.attrs = {{"max_norm", 2.0}};
  factor.inputs = {{"sum", one(25)}};
  factor.outputs = {{"norm", one(0)}, {"factor", one(0)}};
  ASSERT_TRUE(run("clip_factor", factor));
  EXPECT_EQ(factor.out("norm").data[0], 5);
  EXPECT_EQ(factor.out("factor").data[0], 0.4);
  factor.attrs["max_norm"] = 0.0;
  ASSERT_TRUE(run("clip_factor", factor));
  EXPECT_EQ(factor.out("factor").data[0], 1);
  factor.inputs["sum"] = one(INFINITY);
  EXPECT_EQ(run("clip_factor", factor).error().code, "INVALID_ARGUMENT");

  Call clip;
  clip.attrs = {{"max_norm", 2.5}};
  clip.inputs = {{"grad", tensor({2}, {3, 4})}};
  clip.outputs = {{"grad", {}}, {"norm", one(0)}};
  ASSERT_TRUE(run("grad_clip", clip));
  EXPECT_EQ(clip.out("grad").data, (std::vector<double>{1.5, 2}));
  EXPECT_EQ(clip.out("norm").data[0], 5);
}

/// Two classes: with logits (log 3, 0) the first has the probability 3/4.
TEST(TrainingReference, CrossEntropy) {
  Call call;
  call.inputs = {{"logits", tensor({3, 2}, {std::log(3.0), 0, 9, 9, 0, std::log(3.0)})},
                 {"targets", tensor({3}, {0, -100, 0})}};
  call.outputs = {{"loss", one(0)}, {"d_logits", Tensor::zeros({3, 2})}};
  ASSERT_TRUE(run("cross_entropy", call));
  EXPECT_NEAR(call.out("loss").data[0], (std::log(4.0 / 3) + std::log(4.0)) / 2, 1e-15);
  const double expected[] = {-0.125, 0.125, 0, 0, -0.375, 0.375};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(call.out("d_logits").data[i], expected[i], 1e-15) << i;
  call.inputs["scale"] = one(2);
  ASSERT_TRUE(run("cross_entropy", call));
  EXPECT_NEAR(call.out("d_logits").data[0], -0.5, 1e-15);
  call.inputs["targets"] = tensor({3}, {-100, -100, -100});
  ASSERT_TRUE(run("cross_entropy", call));
  EXPECT_EQ(call.out("loss").data[0], 0);
  EXPECT_EQ(call.out("d_logits").data, std::vector<double>(6, 0.0));
  call.inputs["targets"] = tensor({3}, {0, 2, 1});
  EXPECT_EQ(run("cross_entropy", call).error().code, "INVALID_ARGUMENT");
}

/// Sums are formed around the function of the operation, which gives plain gradients.
TEST(TrainingReference, Accumulation) {
  Call call;
  call.attrs = {{"rows", int64_t(2)}, {"accumulate", std::string("params")}};
  call.inputs = {
      {"ids", tensor({3}, {1, 1, 0})}, {"d_output", tensor({3, 1}, {1, 2, 3})}, {"d_table", tensor({2, 1}, {10, 20})}};
  call.outputs = {{"d_table", {}}};
  ASSERT_TRUE(run("embedding_grad", call));
  EXPECT_EQ(call.out("d_table").data, (std::vector<double>{13, 23}));
  call.attrs["accumulate"] = std::string("none");
  EXPECT_EQ(run("embedding_grad", call).error().code, "BAD_CALL");
  call.inputs.erase("d_table");
  ASSERT_TRUE(run("embedding_grad", call));
  EXPECT_EQ(call.out("d_table").data, (std::vector<double>{3, 3}));
}

TEST(TrainingReference, Buffers) {
  Call sum;
  sum.inputs = {{"dst", one(1)}, {"src", one(2)}};
  sum.outputs = {{"dst", {}}};
  ASSERT_TRUE(run("accumulate", sum));
  EXPECT_EQ(sum.out("dst").data[0], 3);

  Call zero;
  zero.inputs = {{"dst", one(NAN)}};
  zero.outputs = {{"dst", {}}};
  ASSERT_TRUE(run("zero", zero));
  EXPECT_EQ(zero.out("dst").data[0], 0);

  Call fill;
  fill.attrs = {{"value", 2.5}};
  fill.inputs = {{"like", tensor({2}, {NAN, 1})}};
  fill.outputs = {{"output", Tensor::zeros({2})}};
  ASSERT_TRUE(run("fill", fill));
  EXPECT_EQ(fill.out("output").data, (std::vector<double>{2.5, 2.5}));

  Call fan;
  fan.inputs = {{"input", one(4)}};
  fan.outputs = {{"a", one(0)}, {"b", one(0)}};
  ASSERT_TRUE(run("fan_out", fan));
  EXPECT_EQ(fan.out("a").data[0] + fan.out("b").data[0], 8);
}

} // namespace
