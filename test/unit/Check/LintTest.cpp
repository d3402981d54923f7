//===- LintTest.cpp - maps that contradict each other ---------------------===//

#include "Lint.h"
#include "CheckSupport.h"

using namespace ck;
using namespace ck::check;

namespace {

/// Lints the maps together with a kernel for each that was built from it.
std::vector<std::string> lintAll(std::vector<MapBuilder> builders) {
  std::vector<KernelMap> maps;
  for (size_t i = 0; i < builders.size(); ++i) {
    maps.push_back(builders[i].map);
    maps.back().contract.id = "map" + std::to_string(i);
  }
  std::map<std::string, std::string> digests;
  for (const KernelMap &map : maps)
    digests[map.id()] = callDigest(map.contract, map.digest);
  ck_kernel kernel = makeKernel(nullptr);
  return lint(maps, [&](const std::string &id) {
    kernel.digest = digests.at(id).c_str();
    return &kernel;
  });
}

void expectOne(const std::vector<std::string> &findings, const std::string &what) {
  ASSERT_EQ(findings.size(), 1u) << (findings.empty() ? "" : findings[1]);
  EXPECT_NE(findings[0].find(what), std::string::npos) << findings[0];
}

MapBuilder gemm() {
  return MapBuilder("linear", "input[...T,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[...T,N]:f32").cost("2*T*N*K");
}
MapBuilder gemv() {
  return MapBuilder("linear", "input[1,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[1,N]:f32").cost("N*K");
}

TEST(Lint, ClearCostsAreFine) { EXPECT_TRUE(lintAll({gemm(), gemv()}).empty()); }

TEST(Lint, TieOfAGeneralAndASpecialMap) {
  expectOne(lintAll({gemm().cost("T*N*K"), gemv()}), "map0 and map1 both fit linear: cost");
}

TEST(Lint, TieBehindARequirement) {
  expectOne(lintAll({gemm().require("K % 32 == 0"), gemm().require("N >= 64")}), "both fit linear");
  EXPECT_TRUE(lintAll({gemm().require("K % 32 == 0"), gemm().require("K % 32 != 0")}).empty());
}

TEST(Lint, AttributesKeepMapsApart) {
  auto activation = [](const char *kind) {
    return MapBuilder("activation", "input[...N]:f32 -> output[...N]:f32").attr("kind", std::string(kind)).cost("N");
  };
  EXPECT_TRUE(lintAll({activation("silu"), activation("tanh")}).empty());
  expectOne(lintAll({activation("silu"), activation("silu")}), "both fit activation");
  MapBuilder several = MapBuilder("activation", "input[...N]:f32 -> output[...N]:f32").cost("N");
  expectOne(lintAll({activation("tanh"), several.param("kind:{silu,tanh}")}), "both fit activation");
}

TEST(Lint, MissingOperandsRefuse) {
  MapBuilder noBias("linear", "input[...T,K]:f32, weight[N,K]:f32 -> output[...T,N]:f32");
  MapBuilder bias("linear", "input[...T,K]:f32, weight[N,K]:f32, bias[N]:f32 -> output[...T,N]:f32");
  EXPECT_TRUE(lintAll({noBias.cost("T*N*K"), bias.cost("T*N*K")}).empty());
}

TEST(Lint, ElementTypesKeepMapsApart) {
  auto copy = [](const char *types) {
    return MapBuilder("copy", "input[...N]:$X -> output[...N]:$X").where(types).cost("N");
  };
  EXPECT_TRUE(lintAll({copy("X in {f32, i32}"), copy("X in {f64}")}).empty());
  expectOne(lintAll({copy("X in {f32, i32}"), copy("X in {i32, i64}")}), "both fit copy");
}

TEST(Lint, TwinsAreNoCandidates) {
  MapBuilder twin = gemm();
  twin.map.sameAs = "map0";
  EXPECT_TRUE(lintAll({gemm(), twin}).empty());
}

TEST(Lint, NamesOfTheOperation) {
  expectOne(lintAll({MapBuilder("mul", "x[...N]:f32, b[...N]:f32 -> output[...N]:f32")}), "no operand for x");
  EXPECT_TRUE(lintAll({MapBuilder("mul", "x[...N]:f32, b[...N]:f32 -> output[...N]:f32").bind("x", "a")}).empty());
  expectOne(lintAll({MapBuilder("mul", "a[...N]:f32, b[...N]:f32 -> y[...N]:f32")}), "no result for y");
  expectOne(lintAll({MapBuilder("mul", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32").attr("alpha", 1.0)}),
            "has no attribute alpha");
}

TEST(Lint, RegistryDisagrees) {
  std::vector<KernelMap> maps = {gemm().map};
  expectOne(lint(maps, [](const std::string &) -> const ck_kernel * { return nullptr; }), "no such kernel");
  ck_kernel other = makeKernel(nullptr);
  other.digest = "another";
  expectOne(lint(maps, [&](const std::string &) { return &other; }), "built from another version");
}

} // namespace
