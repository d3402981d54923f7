//===- MatchTest.cpp - legality, binding and cost of providers ------------===//

#include "ck/KernelMaps/Match.h"

#include <gtest/gtest.h>

using namespace ck;

namespace {

KernelMap load(const std::string &name) {
  Result<KernelMap> map = loadKernelMap(std::string(CK_TEST_MAPS) + "/maps/" + name + ".json");
  EXPECT_TRUE(map) << (map ? "" : map.error().message);
  return *map;
}

ActualOperand shape(std::vector<int64_t> dims, std::string dtype = "f32") { return {true, std::move(dims), dtype}; }
const ActualOperand absent{};

OpDescription rmsNorm() {
  OpDescription op;
  op.name = "rms_norm";
  op.attrs = {{"eps", 1e-5}, {"gain", std::string("weight")}};
  op.defaults = {{"gain", std::string("weight")}};
  op.signature = *parseSignature("input[...T,E]:f32, gamma[E]:f32? -> output[...T,E]:f32, rstd[...T]:f32?");
  op.inputs = {shape({kDynamicDim, 64}), shape({64})};
  op.outputs = {shape({kDynamicDim, 64}), absent};
  return op;
}

OpDescription linear() {
  OpDescription op;
  op.name = "linear";
  op.signature = *parseSignature("input[...T,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[...T,N]:f32");
  op.inputs = {shape({2, kDynamicDim, 32}), shape({16, 32}), shape({16})};
  op.outputs = {shape({2, kDynamicDim, 16})};
  return op;
}

std::string refusal(const KernelMap &map, const OpDescription &op, NumericsClass limit = NumericsClass::Approx) {
  Result<Match> match = matchProvider(map, op, limit);
  return match ? "legal" : match.error().message;
}

TEST(Match, BindsByName) {
  KernelMap map = load("rmsnorm_forward");
  Result<Match> match = matchProvider(map, rmsNorm(), NumericsClass::F32);
  ASSERT_TRUE(match) << match.error().message;
  EXPECT_EQ(match->inputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(match->outputs, (std::vector<int>{0, -1}));
  EXPECT_EQ(match->params, (Params{{"eps", 1e-5}}));
  EXPECT_EQ(match->implements, &map.implements[0]);
  EXPECT_EQ(*match->bindings.extent("E"), 64);
  EXPECT_EQ(*match->bindings.extent("T"), kDynamicDim);
}

TEST(Match, BindsByBind) {
  KernelMap map = load("gemm_nt_f32");
  Result<Match> match = matchProvider(map, linear());
  ASSERT_TRUE(match) << match.error().message;
  EXPECT_EQ(match->inputs, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(match->params.at("act"), Param(std::string("none")));
  EXPECT_EQ(match->params.at("alpha"), Param(1.0));
  EXPECT_EQ(match->params.at("split"), Param(int64_t(4)));
  EXPECT_EQ(*match->bindings.extent("KB"), 1);
  EXPECT_EQ(match->bindings.find("M")->axes, (std::vector<int>{0, 1}));

  // Without the bias; the op's attribute wins over the default of the map.
  OpDescription op = linear();
  op.inputs[2] = absent;
  op.attrs = {{"act", std::string("silu")}, {"alpha", int64_t(2)}};
  match = matchProvider(map, op);
  ASSERT_TRUE(match) << match.error().message;
  EXPECT_EQ(match->inputs, (std::vector<int>{0, 1, -1}));
  EXPECT_EQ(match->params.at("act"), Param(std::string("silu")));
  EXPECT_EQ(match->params.at("alpha"), Param(2.0));
}

TEST(Match, BindRenamesAttributes) {
  KernelMap map = load("gemm_nt_f32");
  map.implements[0].bind["act"] = "activation";
  OpDescription op = linear();
  op.attrs = {{"activation", std::string("silu")}};
  Result<Match> match = matchProvider(map, op);
  ASSERT_TRUE(match) << match.error().message;
  EXPECT_EQ(match->params.at("act"), Param(std::string("silu")));
}

TEST(Match, UpdatedOperands) {
  KernelMap map = load("cache_update_f32");
  OpDescription op;
  op.name = "cache_update";
  op.defaults = {{"ring", false}};
  op.signature = map.contract.signature;
  op.inputs = {shape({2, 16, 4}), shape({2, 16, 4}), shape({3, 8}), shape({3, 8}), shape({3}, "i32")};
  op.outputs = {shape({2, 16, 4}), shape({2, 16, 4})};
  Result<Match> match = matchProvider(map, op);
  ASSERT_TRUE(match) << match.error().message;
  EXPECT_EQ(match->outputs, (std::vector<int>{0, 1}));
  op.attrs = {{"ring", true}};
  EXPECT_EQ(refusal(map, op), "needs ring = false, but it is true");
}

TEST(Match, RefusalsOfAttributes) {
  KernelMap map = load("rmsnorm_forward");
  OpDescription op = rmsNorm();
  op.attrs["gain"] = std::string("none");
  EXPECT_EQ(refusal(map, op), "needs gain = weight, but it is none");
  op = rmsNorm();
  op.attrs.erase("gain");
  EXPECT_EQ(refusal(map, op), "legal"); // the default stands in
  op.defaults.clear();
  EXPECT_EQ(refusal(map, op), "needs gain = weight, but rms_norm has no attribute gain");
  op = rmsNorm();
  op.attrs.erase("eps");
  EXPECT_EQ(refusal(map, op), "param eps has no value: rms_norm has no attribute eps");
  op = rmsNorm();
  op.attrs["eps"] = std::string("small");
  EXPECT_EQ(refusal(map, op), "param eps must be a number, but is 'small'");
  op = rmsNorm();
  op.attrs["softcap"] = 30.0;
  EXPECT_EQ(refusal(map, op), "attribute softcap = 30 is not handled");
  op.defaults["softcap"] = 0.0;
  EXPECT_EQ(refusal(map, op), "attribute softcap = 30 is not handled (its default is 0)");
  op.attrs["softcap"] = int64_t(0);
  EXPECT_EQ(refusal(map, op), "legal");
  op = linear();
  op.attrs["act"] = std::string("snake");
  EXPECT_EQ(refusal(load("gemm_nt_f32"), op), "param act must be one of none, silu, gelu_tanh, but is 'snake'");
}

TEST(Match, AttributesUsedByTheSignatureAreHandled) {
  KernelMap map = load("rmsnorm_forward");
  OpDescription op = rmsNorm();
  op.attrs["groups"] = int64_t(4);
  EXPECT_EQ(refusal(map, op), "attribute groups = 4 is not handled");
  map.contract.where = {*parseWhere("G = $groups")};
  EXPECT_EQ(refusal(map, op), "legal");
  // A predicate about an attribute does not carry it out.
  map.contract.where.clear();
  map.requirements = {*Expr::parse("$groups == 4")};
  EXPECT_EQ(refusal(map, op), "attribute groups = 4 is not handled");
}

TEST(Match, RefusalsOfOperands) {
  KernelMap map = load("rmsnorm_forward");
  OpDescription op = rmsNorm();
  op.inputs[1] = absent;
  EXPECT_EQ(refusal(map, op), "operand gamma is required, but rms_norm has no gamma here");
  op = rmsNorm();
  op.signature = *parseSignature("input[...T,E]:f32 -> output[...T,E]:f32");
  EXPECT_EQ(refusal(map, op), "operand gamma is required, but rms_norm has no gamma");
  op = rmsNorm();
  op.signature =
      *parseSignature("input[...T,E]:f32, gamma[E]:f32?, bias[E]:f32? -> output[...T,E]:f32, rstd[...T]:f32?");
  op.inputs.push_back(shape({64}));
  EXPECT_EQ(refusal(map, op), "operand bias of rms_norm is not taken");
  op.inputs.back() = absent;
  EXPECT_EQ(refusal(map, op), "legal");
  op = rmsNorm();
  map.contract.signature = *parseSignature("input[...T,E]:f32, gamma[E]:f32 -> output[...T,E]:f32");
  EXPECT_EQ(refusal(map, op), "legal");
  op.outputs[1] = shape({kDynamicDim});
  EXPECT_EQ(refusal(map, op), "result rstd of rms_norm is not taken");
}

TEST(Match, RefusalsOfShapes) {
  KernelMap map = load("gemm_nt_f32");
  OpDescription op = linear();
  op.inputs[1] = shape({16, 64});
  EXPECT_EQ(refusal(map, op), "b: dim K is 64, but a has K = 32");
  op = linear();
  op.inputs[1] = shape({16, 32}, "q4_k");
  EXPECT_EQ(refusal(map, op), "b: dtype must be f32, but is q4_k");
  op = linear();
  op.inputs[0] = shape({2, kDynamicDim, 30}), op.inputs[1] = shape({16, 30});
  EXPECT_EQ(refusal(map, op), "requires K%4 == 0, but K = 30");
  op.inputs[0] = shape({2, kDynamicDim, kDynamicDim}), op.inputs[1] = shape({16, kDynamicDim});
  EXPECT_EQ(refusal(map, op), "requires K%4 == 0, which is not known before run time");
  // A decode form refuses an unknown number of rows.
  map.contract.signature = *parseSignature("a[1,K]:f32, b[N,K]:f32, bias[N]:f32? -> c[1,N]:f32");
  map.contract.scratch.clear();
  op = linear();
  op.inputs[0] = shape({kDynamicDim, 32}), op.outputs[0] = shape({kDynamicDim, 16});
  EXPECT_EQ(refusal(map, op), "a: dim 0 must be 1, but is not known before run time");
}

TEST(Match, FixedStridesMustBeCompact) {
  KernelMap map = load("gemm_nt_f32");
  auto with = [&](const char *a) {
    map.contract.signature = *parseSignature(std::string(a) + ", b[N,K]:f32, bias[N]:f32? -> c[...M,N]:f32");
    return refusal(map, linear());
  };
  EXPECT_EQ(with("a[...M,K]{K,1}:f32"), "legal");
  EXPECT_EQ(with("a[...M,K]{*,*}:f32"), "legal");
  EXPECT_EQ(with("a[...M,K]{32,1}:f32"), "legal");
  EXPECT_EQ(with("a[...M,K]{1,M}:f32"), "a: stride M of dim 1 is ?, but a compact operand has 1");
  EXPECT_EQ(with("a[...M,K]{2*K,1}:f32"), "a: stride 2*K of dim 0 is 64, but a compact operand has 32");
}

TEST(Match, RequirementsOfAbsentOperandsAreNone) {
  KernelMap map = load("gemm_nt_f32");
  map.contract.signature = *parseSignature("a[...M,K]:f32, b[N,K]:f32, bias[B]:f32? -> c[...M,N]:f32");
  map.requirements = {*Expr::parse("N % B == 0")};
  OpDescription op = linear();
  EXPECT_EQ(refusal(map, op), "legal");
  op.inputs[2] = absent;
  EXPECT_EQ(refusal(map, op), "legal");
  op.inputs[2] = shape({5});
  EXPECT_EQ(refusal(map, op), "requires N%B == 0, but N = 16, B = 5");
}

TEST(Match, OpClassAndTwins) {
  KernelMap map = load("rmsnorm_forward");
  EXPECT_EQ(refusal(map, linear()), "does not implement linear");
  EXPECT_EQ(refusal(map, rmsNorm(), NumericsClass::F64), "its numerics class f32 is not within f64");
  EXPECT_EQ(refusal(load("rmsnorm_forward_parallel"), rmsNorm()), "is a twin of rmsnorm_forward");
}

TEST(Match, ReasonIsOfTheEntryThatCameFurthest) {
  KernelMap map = load("gemm_nt_f32");
  map.implements.insert(map.implements.begin(), map.implements[0]);
  map.implements[0].attrs = {{"special", true}};
  OpDescription op = linear();
  EXPECT_EQ(refusal(map, op), "legal");
  op.inputs[1] = shape({16, 64});
  EXPECT_EQ(refusal(map, op), "b: dim K is 64, but a has K = 32");
}

TEST(Match, CostAtBounds) {
  KernelMap map = load("gemm_nt_f32");
  OpDescription op = linear();
  Result<Match> match = matchProvider(map, op);
  ASSERT_TRUE(match);
  auto bound = [](int64_t extent) {
    return [extent](bool isOutput, int operand, int axis) -> Result<int64_t> {
      EXPECT_EQ(operand, 0);
      EXPECT_EQ(axis, 1);
      return extent;
    };
  };
  EXPECT_EQ(*costAtBounds(map, op, *match, bound(10)), 20 * 16 * 32 + 1000);
  EXPECT_EQ(costAtBounds(map, op, *match, bound(INT64_MAX / 4)).error().message,
            "gemm_nt_f32: cost M*N*K+1000: M*N overflows 64 bits");
  EXPECT_EQ(costAtBounds(map, op, *match, [](bool, int, int) -> Result<int64_t> { return Error{"no bound"}; })
                .error()
                .message,
            "no bound");
  EXPECT_EQ(costAtBounds(map, op, *match, bound(kDynamicDim)).error().message,
            "gemm_nt_f32: cost M*N*K+1000 is not known at the bounds");
}

TEST(Match, NumbersCompareAcrossTypes) {
  EXPECT_TRUE(sameParam(int64_t(1), 1.0));
  EXPECT_FALSE(sameParam(int64_t(1), 1.5));
  EXPECT_FALSE(sameParam(int64_t(1), true));
  EXPECT_FALSE(sameParam(std::string("1"), int64_t(1)));
}

} // namespace
