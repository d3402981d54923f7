//===- ReferenceTest.cpp - the references against values worked out by hand ===//

#include "Reference.h"
#include "ReferenceSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ck;
using namespace ck::reference;

namespace {

TEST(Reference, Embedding) {
  Call call;
  call.inputs = {{"ids", tensor({2}, {2, 0})}, {"table", tensor({3, 2}, {1, 2, 3, 4, 5, 6})}};
  call.outputs["output"] = Tensor::zeros({2, 2});
  run("embedding", call);
  expectNear(call.out("output"), {5, 6, 1, 2});
  call.inputs["ids"].data[1] = 3;
  EXPECT_EQ(errorCode("embedding", call), "INVALID_ARGUMENT");
  call.inputs["ids"].data[1] = -1;
  EXPECT_EQ(errorCode("embedding", call), "INVALID_ARGUMENT");
}

TEST(Reference, Linear) {
  Call call;
  call.inputs = {{"input", tensor({1, 2}, {1, 2})},
                 {"weight", tensor({3, 2}, {1, 0, 0, 1, -1, -2})},
                 {"bias", tensor({3}, {10, 20, 30})}};
  call.outputs["output"] = Tensor::zeros({1, 3});
  run("linear", call);
  expectNear(call.out("output"), {11, 22, 25});
}

TEST(Reference, QkvLinearHeadMajor) {
  Call call;
  call.attrs = {{"layout", std::string("head_major")}, {"heads", int64_t(2)}, {"kv_heads", int64_t(1)}};
  call.inputs = {{"input", tensor({2, 1}, {1, 10})},
                 {"wq", tensor({4, 1}, {1, 2, 3, 4})},
                 {"wk", tensor({2, 1}, {5, 6})},
                 {"wv", tensor({2, 1}, {7, 8})},
                 {"bk", tensor({2}, {0.5, 0})}};
  call.outputs = {{"q", Tensor::zeros({2, 2, 2})}, {"k", Tensor::zeros({1, 2, 2})}, {"v", Tensor::zeros({1, 2, 2})}};
  run("qkv_linear", call);
  expectNear(call.out("q"), {1, 2, 10, 20, 3, 4, 30, 40});
  expectNear(call.out("k"), {5.5, 6, 50.5, 60});
  expectNear(call.out("v"), {7, 8, 70, 80});
}

TEST(Reference, HeadLinear) {
  Call call;
  call.attrs = {{"softcap", 2.0}, {"w_layout", std::string("embed_major")}};
  call.inputs = {{"input", tensor({1, 2}, {1, 1})}, {"weight", tensor({2, 3}, {1, 2, 3, 0, 0, 1})}};
  call.outputs["logits"] = Tensor::zeros({1, 3});
  run("head_linear", call);
  expectNear(call.out("logits"), {2 * std::tanh(0.5), 2 * std::tanh(1.0), 2 * std::tanh(2.0)});
}

TEST(Reference, OutLinearAddsOverHeads) {
  Call call;
  call.inputs = {{"input", tensor({2, 1, 2}, {1, 2, 3, 4})}, // [H,T,D]
                 {"weight", tensor({2, 1, 2}, {1, 10, 100, 1000})},
                 {"bias", tensor({1}, {0.5})}};
  call.outputs["output"] = Tensor::zeros({1, 1});
  run("out_linear", call);
  expectNear(call.out("output"), {1 + 20 + 300 + 4000 + 0.5});
}

TEST(Reference, GradientsAddToWhatIsThere) {
  Call call;
  call.attrs["accumulate"] = std::string("params");
  call.inputs = {{"d_output", tensor({2, 1}, {1, 2})},
                 {"input", tensor({2, 2}, {1, 2, 3, 4})},
                 {"weight", tensor({1, 2}, {5, 6})},
                 {"d_weight", tensor({1, 2}, {100, 200})}};
  call.outputs = {
      {"d_input", Tensor::zeros({2, 2})}, {"d_weight", call.inputs["d_weight"]}, {"d_bias", Tensor::zeros({1})}};
  run("linear_grad", call);
  expectNear(call.out("d_input"), {5, 6, 10, 12});
  expectNear(call.out("d_weight"), {107, 210});
  expectNear(call.out("d_bias"), {3});
}

TEST(Reference, RmsNorm) {
  Call call;
  call.attrs = {{"eps", 0.5}, {"gain", std::string("one_plus_weight")}};
  call.inputs = {{"input", tensor({1, 2}, {3, 4})}, {"gamma", tensor({2}, {0, 1})}};
  call.outputs = {{"output", Tensor::zeros({1, 2})}, {"rstd", Tensor::zeros({1})}};
  run("rms_norm", call);
  double r = 1 / std::sqrt(13.0);
  expectNear(call.out("output"), {3 * r, 8 * r});
  expectNear(call.out("rstd"), {r});
  call.attrs["gain"] = std::string("none");
  EXPECT_EQ(errorCode("rms_norm", call), "BAD_CALL");
}

Call rotation(const char *pairing, bool inverse) {
  Call call;
  call.attrs = {{"pairing", std::string(pairing)}, {"inverse", inverse}, {"head_dim", int64_t(5)}};
  call.inputs = {{"q", tensor({1, 5}, {1, 2, 3, 4, 5})},
                 {"pos", tensor({1}, {1})},
                 {"cos", tensor({2, 2}, {1, 1, 0, 1})},
                 {"sin", tensor({2, 2}, {0, 0, 1, 0})}};
  call.outputs["q_out"] = Tensor::zeros({1, 5});
  run("rope", call);
  return call;
}

TEST(Reference, SumsThatCancelSayWhatTheirTermsAddUpTo) {
  Call norm;
  norm.inputs["input"] = tensor({2, 2}, {3, -3, 1, 4});
  norm.outputs = {{"output", Tensor::zeros({2, 2})}, {"mean", Tensor::zeros({2})}, {"rstd", Tensor::zeros({2})}};
  run("layer_norm", norm);
  expectNear(norm.out("mean"), {0, 2.5});
  EXPECT_NEAR(norm.out("mean").terms, 3, 1e-12);
  EXPECT_EQ(norm.out("output").terms, 0);

  // One column: r = 1/sqrt(4 + 0.25), h = 2 r, g = 5 * 3; dx = r (g - h h g).
  Call heads;
  heads.attrs = {{"head_dim", int64_t(1)}, {"eps", 0.25}};
  for (const char *side : {"q", "k"}) {
    const std::string name = side;
    heads.inputs["d_" + name + "_out"] = tensor({1, 1}, {5});
    heads.inputs[name] = tensor({1, 1}, {2});
    heads.inputs[name + "_gamma"] = tensor({1}, {3});
  }
  heads.outputs["d_q"] = Tensor::zeros({1, 1});
  run("qk_norm_grad", heads);
  const double r = 1 / std::sqrt(4.25), h = 2 * r;
  EXPECT_NEAR(heads.out("d_q").data[0], r * 15 * (1 - h * h), 1e-12);
  EXPECT_NEAR(heads.out("d_q").terms, r * 15 * (1 + h * h), 1e-12);
}

TEST(Reference, RmsNormOfCodes) {
  // Two codes a byte, 8 more than they mean, the first in the low half: 3 and 4, times 0.5.
  Call call;
  call.attrs = {{"codes", std::string("int4")}, {"eps", 0.0}};
  call.inputs = {{"input", tensor({1, 1}, {(8 + 3) + (8 + 4) * 16})},
                 {"gamma", tensor({2}, {1, 2})},
                 {"input_scale", tensor({1}, {0.5})}};
  call.outputs["output"] = Tensor::zeros({1, 2});
  run("rms_norm", call);
  expectNear(call.out("output"), {1.5 / std::sqrt(3.125), 4 / std::sqrt(3.125)});
  call.attrs["codes"] = std::string("int8");
  call.inputs["input"] = tensor({1, 2}, {-3, 4});
  run("rms_norm", call);
  expectNear(call.out("output"), {-1.5 / std::sqrt(3.125), 4 / std::sqrt(3.125)});
  call.inputs.erase("input_scale");
  EXPECT_EQ(errorCode("rms_norm", call), "BAD_CALL");
}

TEST(Reference, CheckedOperationsRefuseWhatIsNotFinite) {
  Call call;
  call.attrs = {{"kind", std::string("gelu_tanh")}, {"checked", true}};
  call.inputs = {{"input", tensor({2}, {0, HUGE_VAL})}};
  call.outputs["output"] = Tensor::zeros({2});
  EXPECT_EQ(errorCode("activation", call), "INVALID_ARGUMENT");
  call.inputs["input"].data[1] = 1;
  EXPECT_EQ(errorCode("activation", call), "");
}

TEST(Reference, RopeTurnsTheFirstPairByARightAngle) {
  expectNear(rotation("half", false).out("q_out"), {-3, 2, 1, 4, 5});
  expectNear(rotation("adjacent", false).out("q_out"), {-2, 1, 3, 4, 5});
  expectNear(rotation("half", true).out("q_out"), {3, 2, -1, 4, 5});
  Call call = rotation("half", false);
  call.inputs["pos"].data[0] = 2;
  EXPECT_EQ(errorCode("rope", call), "INVALID_ARGUMENT");
}

/// Angle of row 1 under the attributes, pair by pair.
std::vector<double> angles(Params attrs) {
  Call call;
  call.attrs = std::move(attrs);
  call.attrs["rows"] = int64_t(2);
  call.attrs["rotary_dim"] = int64_t(8);
  call.outputs = {{"cos", Tensor::zeros({2, 4})}, {"sin", Tensor::zeros({2, 4})}};
  run("rope_table", call);
  std::vector<double> list;
  for (size_t i = 4; i < 8; ++i)
    list.push_back(std::atan2(call.out("sin").data[i], call.out("cos").data[i]));
  return list;
}

TEST(Reference, RopeTable) {
  std::vector<double> plain = angles({{"theta", 1e4}}),
                      linear = angles({{"theta", 1e4}, {"scaling", std::string("linear")}, {"factor", 4.0}}),
                      llama3 = angles({{"theta", 1e4},
                                       {"scaling", std::string("llama3")},
                                       {"factor", 8.0},
                                       {"low_freq_factor", 1.0},
                                       {"high_freq_factor", 4.0},
                                       {"original_context", int64_t(128)}});
  const double expected[] = {1, 0.1, 0.01, 0.001};
  // Wavelengths 6.3 (kept), 62.8 (between 32 and 128), 628 and 6283 (divided).
  double keep = (128 / (2 * M_PI / 0.1) - 1) / 3;
  const double scaled[] = {1, keep * 0.1 + (1 - keep) * 0.1 / 8, 0.01 / 8, 0.001 / 8};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(plain[i], expected[i], 1e-12);
    EXPECT_NEAR(linear[i], expected[i] / 4, 1e-12);
    EXPECT_NEAR(llama3[i], scaled[i], 1e-12);
  }
}

/// Keys of zero make all visible values count alike.
Call uniformAttention(const char *mask, int64_t window, std::vector<double> pos) {
  Call call;
  call.attrs = {{"layout", std::string("cache")},
                {"mask", std::string(mask)},
                {"window", window},
                {"heads", int64_t(2)},
                {"kv_heads", int64_t(1)}};
  int64_t T = static_cast<int64_t>(pos.size());
  call.inputs = {{"q", Tensor::zeros({T, 2})},
                 {"k", Tensor::zeros({1, 4, 1})},
                 {"v", tensor({1, 4, 1}, {1, 2, 4, 8})},
                 {"pos", tensor({T}, pos)}};
  call.outputs = {{"output", Tensor::zeros({T, 2})}, {"lse", Tensor::zeros({2, T})}};
  return call;
}

TEST(Reference, AttentionMasks) {
  Call causal = uniformAttention("causal", 0, {0, 2});
  run("attention", causal);
  expectNear(causal.out("output"), {1, 1, 7.0 / 3, 7.0 / 3});
  expectNear(causal.out("lse"), {0, std::log(3.0), 0, std::log(3.0)});
  Call sliding = uniformAttention("sliding", 2, {0, 2});
  run("attention", sliding);
  expectNear(sliding.out("output"), {1, 1, 3, 3});
  Call full = uniformAttention("full", 0, {0, 2});
  run("attention", full);
  expectNear(full.out("output"), {3.75, 3.75, 3.75, 3.75});
  Call outside = uniformAttention("causal", 0, {4});
  EXPECT_EQ(errorCode("attention", outside), "INVALID_ARGUMENT");
}

TEST(Reference, AttentionSinksTakeWeightAndGiveNothing) {
  Call call = uniformAttention("causal", 0, {1});
  call.inputs["sinks"] = tensor({2}, {std::log(2.0), 0});
  run("attention", call);
  expectNear(call.out("output"), {3.0 / 4, 3.0 / 3});
  expectNear(call.out("lse"), {std::log(4.0), std::log(3.0)});
}

TEST(Reference, AttentionScoresScaleAndCap) {
  Call call = uniformAttention("causal", 0, {1});
  call.attrs["scale"] = 0.5;
  call.attrs["softcap"] = 1.0;
  call.inputs["q"].data = {2, 0};
  call.inputs["k"].data = {1, 0, 0, 0};
  run("attention", call);
  double w = std::exp(std::tanh(1.0));
  expectNear(call.out("output"), {(w * 1 + 2) / (w + 1), 1.5});
}

TEST(Reference, AttentionGroupsAndSequences) {
  Call call;
  call.attrs = {{"layout", std::string("token_major")}, {"heads", int64_t(4)}, {"kv_heads", int64_t(2)}};
  call.inputs = {{"q", Tensor::zeros({3, 4})},
                 {"k", Tensor::zeros({3, 2})},
                 {"v", tensor({3, 2}, {1, 10, 3, 30, 7, 70})},
                 {"seqs", tensor({3}, {0, 2, 3})}};
  call.outputs["output"] = Tensor::zeros({3, 4});
  run("attention", call);
  expectNear(call.out("output"), {1, 1, 10, 10, 2, 2, 20, 20, 7, 7, 70, 70});
  call.inputs["seqs"].data = {0, 2, 2};
  EXPECT_EQ(errorCode("attention", call), "INVALID_ARGUMENT");
}

TEST(Reference, CacheUpdate) {
  Call call;
  call.attrs["ring"] = true;
  call.inputs = {{"k_cache", tensor({2, 2, 1}, {-1, -2, -3, -4})},
                 {"v_cache", Tensor::zeros({2, 2, 1})},
                 {"k", tensor({2, 2}, {1, 2, 3, 4})},
                 {"v", tensor({2, 2}, {5, 6, 7, 8})},
                 {"pos", tensor({2}, {3, 5})}};
  call.outputs = {{"k_cache", call.inputs["k_cache"]}, {"v_cache", call.inputs["v_cache"]}};
  run("cache_update", call);
  expectNear(call.out("k_cache"), {-1, 3, -3, 4}); // both rows go to slot 1, the later one stays
  expectNear(call.out("v_cache"), {0, 7, 0, 8});
  call.attrs["ring"] = false;
  EXPECT_EQ(errorCode("cache_update", call), "INVALID_ARGUMENT");
}

TEST(Reference, Activations) {
  const std::pair<const char *, double> atOne[] = {{"silu", 0.7310585786300049},
                                                   {"gelu_tanh", 0.8411919906082768},
                                                   {"gelu_erf", 0.8413447460685429},
                                                   {"gelu_quick", 0.8457957659328212},
                                                   {"relu", 1},
                                                   {"relu2", 1},
                                                   {"leaky_relu", 1},
                                                   {"tanh", 0.7615941559557649},
                                                   {"sigmoid", 0.7310585786300049},
                                                   {"exp", 2.718281828459045},
                                                   {"sin", 0.8414709848078965},
                                                   {"softcap", 0.25 * std::tanh(4.0)}};
  for (auto [kind, expected] : atOne) {
    Call call;
    call.attrs = {{"kind", std::string(kind)}, {"alpha", 0.25}};
    call.inputs["input"] = tensor({2}, {1, -2});
    call.outputs["output"] = Tensor::zeros({2});
    run("activation", call);
    EXPECT_NEAR(call.out("output").data[0], expected, 1e-12) << kind;
    double atMinusTwo = call.out("output").data[1];
    if (std::string(kind) == "relu" || std::string(kind) == "relu2") {
      EXPECT_EQ(atMinusTwo, 0);
    } else if (std::string(kind) == "leaky_relu") {
      EXPECT_EQ(atMinusTwo, -0.5);
    }
  }
}

TEST(Reference, GluSplitAndStacked) {
  Call split;
  split.attrs["act"] = std::string("relu");
  split.inputs = {{"gate", tensor({1, 2}, {2, -1})}, {"up", tensor({1, 2}, {5, 6})}};
  split.outputs["output"] = Tensor::zeros({1, 2});
  run("glu", split);
  expectNear(split.out("output"), {10, 0});
  Call stacked;
  stacked.attrs["act"] = std::string("relu");
  stacked.inputs["gate"] = tensor({1, 4}, {2, -1, 5, 6});
  stacked.outputs["output"] = Tensor::zeros({1, 2});
  run("glu", stacked);
  expectNear(stacked.out("output"), {10, 0});
}

TEST(Reference, AddAndMul) {
  Call call;
  call.attrs = {{"alpha", -2.0}, {"scale", 0.5}};
  call.inputs = {{"a", tensor({2}, {1, 2})}, {"b", tensor({2}, {3, 4})}};
  call.outputs["output"] = Tensor::zeros({2});
  run("add", call);
  expectNear(call.out("output"), {-2.5, -3});
  call.attrs.clear();
  run("mul", call);
  expectNear(call.out("output"), {3, 8});
}

TEST(Reference, BiasAdd) {
  Call call;
  call.inputs = {{"input", tensor({2, 2}, {1, 2, 3, 4})}, {"bias", tensor({2}, {10, 20})}};
  call.outputs["output"] = Tensor::zeros({2, 2});
  run("bias_add", call);
  expectNear(call.out("output"), {11, 22, 13, 24});
}

TEST(Reference, UpdateRows) {
  Call call;
  call.inputs = {
      {"dst", tensor({3, 2}, {1, 2, 3, 4, 5, 6})}, {"src", tensor({1, 2}, {7, 8})}, {"pos", tensor({1}, {1})}};
  call.outputs["dst"] = call.in("dst");
  run("update_rows", call);
  expectNear(call.out("dst"), {1, 2, 7, 8, 5, 6});
  call.inputs["pos"].data[0] = 3;
  EXPECT_EQ(errorCode("update_rows", call), "INVALID_ARGUMENT");
}

TEST(Reference, TransposeSplitConcat) {
  Call turn;
  turn.attrs["perm"] = std::string("2,0,1");
  turn.inputs["input"] = tensor({1, 2, 3}, {0, 1, 2, 3, 4, 5});
  turn.outputs["output"] = Tensor::zeros({3, 1, 2});
  run("transpose", turn);
  expectNear(turn.out("output"), {0, 3, 1, 4, 2, 5});
  Call cut;
  cut.attrs["axis"] = int64_t(1);
  cut.inputs["input"] = tensor({2, 3}, {0, 1, 2, 3, 4, 5});
  cut.outputs = {{"output0", Tensor::zeros({2, 1})}, {"output1", Tensor::zeros({2, 2})}};
  run("split", cut);
  expectNear(cut.out("output0"), {0, 3});
  expectNear(cut.out("output1"), {1, 2, 4, 5});
  Call join;
  join.attrs["axis"] = int64_t(1);
  join.inputs = {{"input0", cut.out("output1")}, {"input1", cut.out("output0")}};
  join.outputs["output"] = Tensor::zeros({2, 3});
  run("concat", join);
  expectNear(join.out("output"), {1, 2, 0, 4, 5, 3});
}

TEST(Reference, ArgmaxAndLastRow) {
  Call best;
  best.inputs["input"] = tensor({3, 3}, {1, 7, 7, NAN, -2, -1, NAN, NAN, NAN});
  best.outputs["output"] = Tensor::zeros({3});
  run("argmax", best);
  expectNear(best.out("output"), {1, 2, 0});
  Call last;
  last.inputs["input"] = tensor({2, 2}, {1, 2, 3, 4});
  last.outputs["output"] = Tensor::zeros({1, 2});
  run("last_row", last);
  expectNear(last.out("output"), {3, 4});
  last.inputs["input"] = Tensor::zeros({0, 2});
  EXPECT_EQ(errorCode("last_row", last), "INVALID_ARGUMENT");
}

TEST(Reference, RefusesWhatItDoesNotKnow) {
  Call call;
  call.inputs = {{"a", tensor({1}, {1})}, {"b", tensor({1}, {1})}};
  call.outputs["output"] = Tensor::zeros({1});
  call.attrs["alpha"] = 1.0;
  EXPECT_EQ(errorCode("mul", call), "BAD_CALL");
  call.attrs.clear();
  call.inputs["bias"] = tensor({1}, {1});
  EXPECT_EQ(errorCode("mul", call), "BAD_CALL");
  call.inputs.erase("bias");
  call.inputs.erase("b");
  EXPECT_EQ(errorCode("mul", call), "BAD_CALL");
  call.inputs["b"] = tensor({2}, {1, 1});
  EXPECT_EQ(errorCode("mul", call), "BAD_CALL");
}

} // namespace
