//===- LintTest.cpp - consistency of a set of maps ------------------------===//

#include "ck/KernelMaps/Match.h"

#include <gtest/gtest.h>

using namespace ck;

namespace {

std::vector<KernelMap> testMaps() {
  Result<std::vector<KernelMap>> maps = loadKernelMaps(std::string(CK_TEST_MAPS) + "/maps");
  EXPECT_TRUE(maps) << (maps ? "" : maps.error().message);
  return *maps;
}

/// A map that implements `op` and nothing else.
KernelMap make(const std::string &id, const std::string &signature, const std::string &cost, Params attrs = {}) {
  KernelMap map;
  map.contract.id = id;
  map.contract.signature = *parseSignature(signature);
  map.implements = {{"op", std::move(attrs), {}}};
  map.implementations = {{"scalar", "x.cpp"}};
  map.cost = *Expr::parse(cost);
  return map;
}

/// True if the two maps are found to overlap; in either order.
bool overlap(const KernelMap &a, const KernelMap &b, const OpDefaults &defaults = {}) {
  std::vector<std::string> findings = lint({a, b}, defaults);
  EXPECT_EQ(lint({b, a}, defaults), findings);
  return !findings.empty();
}

const char *const rows = "x[...T,E]:f32, w[N,E]:f32 -> y[...T,N]:f32";

TEST(Lint, NothingToSayAboutGoodMaps) {
  EXPECT_EQ(lint(testMaps()), std::vector<std::string>());
  EXPECT_EQ(lint({}), std::vector<std::string>());
}

TEST(Lint, TheProjectsMapsAreConsistent) {
  Result<std::vector<KernelMap>> maps = loadKernelMaps(std::string(CK_TEST_MAPS) + "/../../../kernel_maps");
  ASSERT_TRUE(maps) << maps.error().message;
  EXPECT_EQ(lint(*maps), std::vector<std::string>());
}

TEST(Lint, NamesAndImplementations) {
  std::vector<KernelMap> maps = testMaps();
  maps.push_back(maps[0]);
  maps[1].backwardOf = "nothing";
  maps[1].pack = "no_packer";
  maps[2].implementations.erase(maps[2].implementations.begin());
  maps[3].sameAs = "rmsnorm";
  EXPECT_EQ(lint(maps), (std::vector<std::string>{
                            "cache_update_f32: the id of two maps",
                            "gemm_nt_f32: backward_of names nothing, which does not exist",
                            "gemm_nt_f32: pack names no_packer, which does not exist",
                            "rmsnorm_forward: has no scalar implementation",
                            "rmsnorm_forward_parallel: same_as names rmsnorm, which does not exist",
                        }));
}

TEST(Lint, EqualRankIsFound) {
  EXPECT_EQ(lint({make("a", rows, "T*E*N"), make("b", rows, "N*T*E")}),
            std::vector<std::string>{"a and b both fit op at equal cost (T*E*N and N*T*E)"});
  // Other names for the same dims and operands are no difference.
  KernelMap renamed = make("b", "p[...R,K]:f32, q[C,K]:f32 -> y[...R,C]:f32", "R*K*C");
  EXPECT_FALSE(overlap(make("a", rows, "T*E*N"), renamed));
  renamed.implements[0].bind = {{"p", "x"}, {"q", "w"}};
  EXPECT_TRUE(overlap(make("a", rows, "T*E*N"), renamed));
  KernelMap defined = make("b", rows, "W*T");
  defined.contract.where = {*parseWhere("W = E*N")};
  EXPECT_TRUE(overlap(make("a", rows, "T*E*N"), defined));
}

TEST(Lint, CostSeparates) {
  EXPECT_FALSE(overlap(make("a", rows, "T*E*N"), make("b", rows, "T*E*N + 1")));
  EXPECT_FALSE(overlap(make("a", rows, "T*E*N"), make("b", rows, "E*N")));
  // The special form costs the same for the one row that both take: nothing decides.
  const char *row = "x[1,E]:f32, w[N,E]:f32 -> y[1,N]:f32";
  EXPECT_TRUE(overlap(make("a", rows, "T*E*N"), make("b", row, "E*N")));
  EXPECT_FALSE(overlap(make("a", rows, "T*E*N + 8"), make("b", row, "E*N")));
}

TEST(Lint, ShapesAndTypesSeparate) {
  EXPECT_FALSE(overlap(make("a", "x[1,E]:f32 -> y[E]:f32", "E"), make("b", "x[2,E]:f32 -> y[E]:f32", "E")));
  EXPECT_FALSE(overlap(make("a", "x[T,E]:f32 -> y[E]:f32", "E"), make("b", "x[E]:f32 -> y[E]:f32", "E")));
  EXPECT_FALSE(overlap(make("a", "x[...T,A,E]:f32 -> y[E]:f32", "E"), make("b", "x[E]:f32 -> y[E]:f32", "E")));
  EXPECT_TRUE(overlap(make("a", "x[...T,A,E]:f32 -> y[E]:f32", "E"), make("b", "x[B,E]:f32 -> y[E]:f32", "E")));
  EXPECT_FALSE(overlap(make("a", "x[E]:f32 -> y[E]:f32", "E"), make("b", "x[E]:f16 -> y[E]:f32", "E")));
  KernelMap narrow = make("a", "x[E]:$X -> y[E]:$X", "E"), wide = make("b", "x[E]:$Y -> y[E]:$Y", "E");
  EXPECT_TRUE(overlap(narrow, wide));
  narrow.contract.where = {*parseWhere("$X in {f16, bf16}")};
  EXPECT_TRUE(overlap(narrow, wide));
  wide.contract.where = {*parseWhere("$Y in {f32, i32}")};
  EXPECT_FALSE(overlap(narrow, wide));
  EXPECT_FALSE(overlap(narrow, make("b", "x[E]:f32 -> y[E]:f32", "E")));
  EXPECT_TRUE(overlap(wide, make("c", "x[E]:f32 -> y[E]:f32", "E")));
}

TEST(Lint, OperandsSeparate) {
  EXPECT_FALSE(overlap(make("a", "x[E]:f32, g[E]:f32 -> y[E]:f32", "E"), make("b", "x[E]:f32 -> y[E]:f32", "E")));
  EXPECT_TRUE(overlap(make("a", "x[E]:f32, g[E]:f32? -> y[E]:f32", "E"), make("b", "x[E]:f32 -> y[E]:f32", "E")));
  EXPECT_TRUE(overlap(make("a", "x[E]:f32, g[E]:f32? -> y[E]:f32", "E"),
                      make("b", "x[E]:f32, g[E]:f16? -> y[E]:f32", "E"))); // both fit an op without g
  EXPECT_FALSE(
      overlap(make("a", "x[E]:f32, g[E]:f32? -> y[E]:f32", "E"), make("b", "x[E]:f32, g[E]:f16 -> y[E]:f32", "E")));
}

TEST(Lint, AttributesSeparate) {
  const char *s = "x[E]:f32 -> y[E]:f32";
  Params silu = {{"act", std::string("silu")}}, relu = {{"act", std::string("relu")}};
  EXPECT_FALSE(overlap(make("a", s, "E", silu), make("b", s, "E", relu)));
  EXPECT_TRUE(overlap(make("a", s, "E", silu), make("b", s, "E", silu)));
  KernelMap param = make("b", s, "E");
  param.contract.params = {*parseParamDecl("act:{silu,gelu}")};
  EXPECT_TRUE(overlap(make("a", s, "E", silu), param));
  EXPECT_FALSE(overlap(make("a", s, "E", relu), param));
  KernelMap other = make("c", s, "E");
  other.contract.params = {*parseParamDecl("act:{relu,tanh}")};
  EXPECT_FALSE(overlap(param, other));
  // An attribute that one map does not mention must have its default there.
  EXPECT_TRUE(overlap(make("a", s, "E", silu), make("b", s, "E")));
  EXPECT_FALSE(overlap(make("a", s, "E", silu), make("b", s, "E"), {{"op", relu}}));
  EXPECT_TRUE(overlap(make("a", s, "E", silu), make("b", s, "E"), {{"op", silu}}));
}

TEST(Lint, RequirementsSeparate) {
  auto with = [](const char *id, std::vector<const char *> requirements) {
    KernelMap map = make(id, "x[T,E]:f32 -> y[T,E]:f32", "E");
    for (const char *text : requirements)
      map.requirements.push_back(*Expr::parse(text));
    return map;
  };
  EXPECT_TRUE(overlap(with("a", {"E % 8 == 0"}), with("b", {})));
  EXPECT_TRUE(overlap(with("a", {"E % 8 == 0"}), with("b", {"E % 4 == 0"})));
  EXPECT_FALSE(overlap(with("a", {"E % 8 == 0"}), with("b", {"E % 8 != 0"})));
  EXPECT_FALSE(overlap(with("a", {"T == 1 && E > 4"}), with("b", {"E <= 4"})));
  EXPECT_FALSE(overlap(with("a", {"E == 64"}), with("b", {"E == 128"})));
  EXPECT_TRUE(overlap(with("a", {"E == 64"}), with("b", {"T == 128"})));
  EXPECT_TRUE(overlap(with("a", {"T == 1 && E"}), with("b", {"E && T == 1"})));
}

} // namespace
