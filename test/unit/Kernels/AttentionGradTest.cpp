//===- AttentionGradTest.cpp - attention of training ----------------------===//
//
// Forward and backward kernels against references where groups of query heads and lengths fit no tile.
//
//===----------------------------------------------------------------------===//
#include "EachIsa.h"

#include "Reference.h"
#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace ck;
using reference::Tensor;

Tensor randomTensor(std::vector<int64_t> shape, reference::Random &random) {
  Tensor tensor = Tensor::zeros(std::move(shape));
  for (double &value : tensor.data)
    value = static_cast<float>(random.uniform(-1, 1));
  return tensor;
}

/// Causal token-major attention of random operands, and its gradient as the references have it.
struct Problem {
  std::map<std::string, Tensor> inputs;
  reference::Call forward, gradient;

  Problem(int64_t heads, int64_t kvHeads, int64_t T, int64_t D) {
    reference::Random random(static_cast<uint64_t>(T));
    for (const char *name : {"q", "k", "v"})
      inputs[name] = randomTensor({T, (name[0] == 'q' ? heads : kvHeads) * D}, random);
    const Params attrs = {{"heads", heads}, {"kv_heads", kvHeads}, {"layout", std::string("token_major")}};
    forward.attrs = gradient.attrs = attrs;
    forward.inputs = gradient.inputs = inputs;
    forward.outputs = {{"output", Tensor::zeros({T, heads * D})}, {"lse", Tensor::zeros({heads, T})}};
    evaluate("attention", forward);
    gradient.inputs["d_output"] = randomTensor({T, heads * D}, random);
    gradient.inputs["output"] = forward.out("output");
    gradient.inputs["lse"] = forward.out("lse");
    for (const char *name : {"q", "k", "v"})
      gradient.outputs[std::string("d_") + name] = Tensor::zeros(inputs[name].shape);
    evaluate("attention_grad", gradient);
  }

  static void evaluate(const char *op, reference::Call &call) {
    const Status status = reference::evaluate(*reference::findOperation(op), call);
    EXPECT_TRUE(status) << status.error().message;
  }
};

class AttentionGrad : public EachIsa {
protected:
  template <typename Args> void reserve(const char *kernel, const Args &args) {
    const ck_kernel *found = ck_find_kernel(kernel);
    ASSERT_NE(found, nullptr) << kernel;
    ASSERT_EQ(ck_context_reserve_thread_scratch(ctx, static_cast<size_t>(found->thread_scratch(&args))), CK_OK);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, AttentionGrad, ::testing::Values(CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512),
                         [](const auto &info) { return std::string(ck_isa_name(info.param)); });

std::vector<float> floats(const Tensor &tensor) { return std::vector<float>(tensor.data.begin(), tensor.data.end()); }

void expectClose(const std::vector<float> &actual, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(actual.size(), expected.data.size());
  double largest = 0, error = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::fabs(expected.data[i]));
    error = std::max(error, std::fabs(actual[i] - expected.data[i]));
  }
  EXPECT_LE(error, 1e-5 * largest) << what;
}

TEST_P(AttentionGrad, AnyGroupAndLength) {
  const int64_t groups[][2] = {{28, 4}, {48, 2}};
  for (const auto &[heads, kvHeads] : groups)
    for (int64_t T : {1, 2, 3, 5, 7, 255, 257}) {
      const int64_t D = 8;
      Problem problem(heads, kvHeads, T, D);
      reference::Call &expected = problem.gradient;
      std::vector<float> q = floats(problem.inputs.at("q")), k = floats(problem.inputs.at("k"));
      std::vector<float> v = floats(problem.inputs.at("v")), dOutput = floats(expected.in("d_output"));
      std::vector<float> output(q.size()), lse(static_cast<size_t>(heads * T)), delta(lse.size());
      std::vector<float> dQ(q.size()), dK(k.size()), dV(v.size());
      std::vector<int32_t> ranges(static_cast<size_t>(2 * T));

      ckk_attention_token_major_f32_args forward = {};
      forward.q = q.data(), forward.k = k.data(), forward.v = v.data();
      forward.output = output.data(), forward.lse = lse.data();
      forward.T = T, forward.H = heads, forward.KV = kvHeads, forward.D = D;
      reserve("attention_token_major_f32", forward);
      ASSERT_EQ(ckk_attention_token_major_f32(ctx, &forward), CK_OK);

      ckk_attention_grad_token_major_f32_args args = {};
      args.d_output = dOutput.data(), args.q = q.data(), args.k = k.data(), args.v = v.data();
      args.output = output.data(), args.lse = lse.data();
      args.d_q = dQ.data(), args.d_k = dK.data(), args.d_v = dV.data();
      args.delta = delta.data(), args.ranges = ranges.data();
      args.T = T, args.H = heads, args.KV = kvHeads, args.D = D;
      reserve("attention_grad_token_major_f32", args);
      ASSERT_EQ(ckk_attention_grad_token_major_f32(ctx, &args), CK_OK);

      const std::string what =
          std::to_string(heads) + " heads of " + std::to_string(kvHeads) + ", " + std::to_string(T) + " rows: ";
      expectClose(output, expected.in("output"), what + "output");
      expectClose(dQ, expected.out("d_q"), what + "d_q");
      expectClose(dK, expected.out("d_k"), what + "d_k");
      expectClose(dV, expected.out("d_v"), what + "d_v");
      if (T == 1) { // one key has all the weight
        for (float x : dQ)
          EXPECT_EQ(x, 0.0f);
      }
    }
}

TEST_P(AttentionGrad, LaterRowsChangeNothingBefore) {
  const int64_t H = 7, KV = 1, D = 16;
  std::vector<float> first;
  for (int64_t T : {7, 1}) {
    reference::Random random(3);
    const std::vector<float> k = floats(randomTensor({7, KV * D}, random)),
                             v = floats(randomTensor({7, KV * D}, random));
    const std::vector<float> q = floats(randomTensor({7, H * D}, random));
    std::vector<float> output(static_cast<size_t>(T * H * D));
    ckk_attention_token_major_f32_args args = {};
    args.q = q.data(), args.k = k.data(), args.v = v.data(), args.output = output.data();
    args.T = T, args.H = H, args.KV = KV, args.D = D;
    reserve("attention_token_major_f32", args);
    ASSERT_EQ(ckk_attention_token_major_f32(ctx, &args), CK_OK);
    output.resize(static_cast<size_t>(H * D));
    if (T == 7)
      first = output;
    else
      EXPECT_EQ(output, first);
  }
}

TEST_P(AttentionGrad, RefusesSinksThatAreNotThere) {
  std::vector<float> row(4, 1.0f), lse(1), delta(1), result(4, 7.0f);
  std::vector<int32_t> ranges(2);
  ckk_attention_grad_head_major_f32_args args = {};
  args.d_output = args.q = args.k = args.v = args.output = row.data(), args.lse = lse.data();
  args.d_q = result.data(), args.d_sinks = result.data() + 3;
  args.delta = delta.data(), args.ranges = ranges.data();
  args.T = args.H = args.KV = 1, args.D = 3;
  reserve("attention_grad_head_major_f32", args);
  EXPECT_EQ(ckk_attention_grad_head_major_f32(ctx, &args), CK_INVALID_ARGUMENT);
  EXPECT_NE(std::string(ck_context_error(ctx)).find("there are no sinks"), std::string::npos);
  EXPECT_EQ(result, std::vector<float>(4, 7.0f));
}

} // namespace
