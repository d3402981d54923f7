//===- KernelMapTest.cpp - loading kernel maps ----------------------------===//

#include "ck/KernelMaps/KernelMap.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace ck;
namespace fs = std::filesystem;

namespace {

std::string read(const std::string &name) {
  std::ifstream file(std::string(CK_TEST_MAPS) + "/maps/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Loads the map `name` after replacing `from` by `to`; the error without its file, or "ok".
std::string edited(const std::string &name, const std::string &from, const std::string &to) {
  std::string text = read(name);
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Result<KernelMap> map = parseKernelMap(text, "dir/" + name + ".json");
  if (map)
    return "ok";
  std::string prefix = "dir/" + name + ".json: ";
  EXPECT_EQ(map.error().message.substr(0, prefix.size()), prefix);
  return map.error().message.substr(prefix.size());
}

TEST(KernelMap, ReadsEveryField) {
  Result<KernelMap> map = parseKernelMap(read("gemm_nt_f32"), "gemm_nt_f32.json");
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->id(), "gemm_nt_f32");
  EXPECT_EQ(map->operation, "gemm");
  ASSERT_EQ(map->implements.size(), 2u);
  EXPECT_EQ(map->implements[0].bind.at("c"), "output");
  EXPECT_EQ(map->implements[1].attrs.at("softcap"), Param(int64_t(0)));
  EXPECT_EQ(map->contract.where[0].str(), "KB = ceildiv(K, 256)");
  EXPECT_EQ(map->contract.params[0].str(), "act:{none,silu,gelu_tanh} = none");
  EXPECT_EQ(map->contract.params[1].defaultValue, Param(1.0));
  EXPECT_EQ(map->contract.params[3].defaultValue, Param(false));
  EXPECT_EQ(map->contract.scratch[1].str(), "panel[min(M, 64)*K*$split]:f32 @thread");
  EXPECT_EQ(map->requirements[0].str(), "K%4 == 0");
  EXPECT_EQ(map->numerics, NumericsClass::F32);
  EXPECT_EQ(map->tolerance, 1e-5);
  EXPECT_EQ(map->implementations[1].isa, "avx512_vnni");
  EXPECT_EQ(map->parallel, "tiles");
  EXPECT_EQ(map->cost->str(), "M*N*K+1000");
  EXPECT_EQ(map->path, "gemm_nt_f32.json");
}

TEST(KernelMap, DigestIsOfTheMeaning) {
  std::string text = read("rmsnorm_forward");
  std::string digest = parseKernelMap(text, "rmsnorm_forward.json")->digest;
  EXPECT_EQ(digest.size(), 7u + 64);
  std::string spaced = text;
  for (size_t at = 0; (at = spaced.find(": ", at)) != std::string::npos; at += 4)
    spaced.replace(at, 2, "  : ");
  EXPECT_EQ(parseKernelMap(spaced, "other/rmsnorm_forward.json")->digest, digest);
  text.replace(text.find("2e-6"), 4, "3e-6");
  EXPECT_NE(parseKernelMap(text, "rmsnorm_forward.json")->digest, digest);
}

TEST(KernelMap, SemanticErrors) {
  const char *rms = "rmsnorm_forward", *gemm = "gemm_nt_f32";
  EXPECT_EQ(edited(rms, "\"rmsnorm_forward\"", "\"rmsnorm\""), "#/id: id 'rmsnorm' is not the name of the file");
  EXPECT_EQ(edited(rms, "gamma[E]:f32", "gamma[E]:fp32"), "#/signature: column 29: 'fp32' is not an element type");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"H = \"]"),
            "#/where/0: column 5: expected an expression, found the end");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"H = Q\"]"),
            "#/where/0: dim Q is neither in the signature nor defined by where");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"H = G\", \"G = H\"]"), "#/where/0: H depends on itself");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"G = H\", \"H = $heads\"]"), "ok");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"H = 1\", \"H = 2\"]"), "#/where/1: H is defined twice");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"X in {f32}\"]"), "#/where/0: no operand has the type $X");
  EXPECT_EQ(edited(rms, "\"where\": []", "\"where\": [\"H = $eps\"]"),
            "#/where/0: $eps is a param of type f64; expressions take i64 and bool");
  EXPECT_EQ(edited(rms, "\"scratch\": []", "\"scratch\": [\"s[Q]:f32\"]"),
            "#/scratch/0: dim Q is neither in the signature nor defined by where");
  EXPECT_EQ(edited(rms, "\"scratch\": []", "\"scratch\": [\"s[$heads]:f32\"]"), "#/scratch/0: $heads is no param");
  EXPECT_EQ(edited(rms, "\"requires\": []", "\"requires\": [\"E\"]"), "#/requires/0: E is no comparison");
  EXPECT_EQ(edited(rms, "\"requires\": []", "\"requires\": [\"E == Q\"]"),
            "#/requires/0: dim Q is neither in the signature nor defined by where");
  EXPECT_EQ(edited(rms, "T*E\"", "T*Q\""), "#/cost: dim Q is neither in the signature nor defined by where");
  EXPECT_EQ(edited(rms, "T*E\"", "T*\""), "#/cost: column 3: expected an expression, found the end");
  EXPECT_EQ(edited(rms, "[\"input\", \"output\"]", "[\"output\", \"output\"]"), "#/inplace/0: 'output' is no input");
  EXPECT_EQ(edited(rms, "[\"input\", \"output\"]", "[\"input\", \"gamma\"]"), "#/inplace/0: 'gamma' is no output");
  EXPECT_EQ(edited(rms, "[\"input\", \"output\"]", "[\"gamma\", \"output\"]"),
            "#/inplace/0: 'gamma' and 'output' differ in shape or type");
  EXPECT_EQ(edited(rms, "\"bind\": {}", "\"bind\": {\"gain\": \"weight\"}"),
            "#/implements/0/bind/gain: the signature and params have no such name");
  EXPECT_EQ(edited(rms, "\"isa\": \"avx2\"", "\"isa\": \"scalar\""), "#/implementations/1: scalar is listed twice");
  EXPECT_EQ(edited(rms, "\"parallel\"", "\"same_as\": \"other\", \"parallel\""),
            "#: a twin (same_as) has no implementations of its own");
  EXPECT_EQ(edited("rmsnorm_forward_parallel", "\"same_as\": \"rmsnorm_forward\",", ""),
            "#: field \"implementations\" is missing");
  EXPECT_EQ(edited("rmsnorm_forward_parallel", "\"same_as\": \"rmsnorm_forward\"",
                   "\"same_as\": \"rmsnorm_forward_parallel\""),
            "#/same_as: a map is no twin of itself");
  EXPECT_EQ(edited(rms, "\"eps\", \"type\": \"f64\"", "\"eps\", \"type\": \"enum\""),
            "#/params/0: field \"values\" belongs to the type enum, and to it alone");
  EXPECT_EQ(edited(rms, "\"eps\", \"type\": \"f64\"", "\"eps\", \"type\": \"i64\", \"default\": 1.5"),
            "#/params/0/default: param eps must be an integer, but is '1.5'");
  EXPECT_EQ(edited(rms, "\"eps\", \"type\": \"f64\"", "\"eps\", \"type\": \"i64\", \"default\": 9223372036854775808"),
            "#/params/0/default: integer does not fit in 64 bits");
  EXPECT_EQ(edited(rms, "\"name\": \"eps\"", "\"name\": \"E\""),
            "#: 'E' names two of operands, dims, strides, scratch and params");
  EXPECT_EQ(edited(rms, "\"name\": \"eps\"", "\"name\": \"register\""),
            "#: 'register' cannot name a field, it is a word of C or C++");
  EXPECT_EQ(edited(gemm, "[\"none\", \"silu\"", "[\"none\", \"none\""),
            "#/params/0/values: value \"none\" is listed twice");
  EXPECT_EQ(edited(gemm, "\"name\": \"alpha\"", "\"name\": \"act\""), "#/params/1: param 'act' is listed twice");
  EXPECT_EQ(edited(gemm, "\"op\": \"linear\",", "\"op\": \"linear\", \"attrs\": {\"act\": \"relu\"},"),
            "#/implements/0/attrs/act: param act must be one of none, silu, gelu_tanh, but is 'relu'");
  EXPECT_EQ(edited(gemm, "\"requires\": [\"K % 4 == 0\"]", "\"requires\": [\"$act == 0\"]"),
            "#/requires/0: $act is a param of type enum; expressions take i64 and bool");
  EXPECT_EQ(edited("cache_update_f32", "\"numerics\"", "\"inplace\": [[\"k\", \"k_cache\"]], \"numerics\""),
            "#/inplace/0: an operand that is updated in place belongs to no pair");
}

TEST(KernelMap, JsonErrorsNameThePlace) {
  EXPECT_EQ(edited("rmsnorm_forward", "\"where\": [],", "\"where\": [], \"where\": [],"), "#: duplicate key \"where\"");
  EXPECT_EQ(edited("rmsnorm_forward", "\"where\": []", "\"where\": [}").rfind("line 6, column 13: ", 0), 0u);
}

/// A folder that disappears again.
struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ck-maps-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  void write(const std::string &name, const std::string &text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
};

TEST(KernelMaps, LoadsAFolderSortedById) {
  Result<std::vector<KernelMap>> maps = loadKernelMaps(std::string(CK_TEST_MAPS) + "/maps");
  ASSERT_TRUE(maps) << maps.error().message;
  std::string ids;
  for (const KernelMap &map : *maps)
    ids += map.id() + " ";
  EXPECT_EQ(ids, "cache_update_f32 gemm_nt_f32 rmsnorm_forward rmsnorm_forward_parallel ");
}

TEST(KernelMaps, TheProjectsMapsLoad) {
  Result<std::vector<KernelMap>> maps = loadKernelMaps(std::string(CK_TEST_MAPS) + "/../../../kernel_maps");
  EXPECT_TRUE(maps) << maps.error().message;
}

TEST(KernelMaps, FolderErrors) {
  EXPECT_EQ(loadKernelMaps("/nonexistent/maps").error().message, "/nonexistent/maps: no folder of kernel maps");
  EXPECT_EQ(loadKernelMap("/nonexistent/a.json").error().message, "/nonexistent/a.json: no such file");
  TemporaryFolder folder;
  EXPECT_TRUE(loadKernelMaps(folder.path.string())->empty());
  folder.write("schema.json", "not JSON");
  folder.write("a/rmsnorm_forward.json", read("rmsnorm_forward"));
  folder.write("notes.txt", "not a map");
  EXPECT_EQ(loadKernelMaps(folder.path.string())->size(), 1u);
  folder.write("b/rmsnorm_forward.json", read("rmsnorm_forward"));
  EXPECT_EQ(loadKernelMaps(folder.path.string()).error().message,
            (folder.path / "b/rmsnorm_forward.json").string() + ": #/id: id 'rmsnorm_forward' is also that of " +
                (folder.path / "a/rmsnorm_forward.json").string());
  folder.write("c/large.json", std::string((1 << 20) + 1, ' '));
  EXPECT_EQ(loadKernelMap((folder.path / "c/large.json").string()).error().message,
            (folder.path / "c/large.json").string() + ": larger than 1048576 bytes");
}

TEST(KernelMaps, DefaultFolder) {
  setenv("CK_KERNEL_MAPS", "/some/where", 1);
  EXPECT_EQ(defaultKernelMapDir(), "/some/where");
  unsetenv("CK_KERNEL_MAPS");
  EXPECT_TRUE(fs::exists(defaultKernelMapDir() + "/schema.json")) << defaultKernelMapDir();
}

TEST(KernelMap, DamagedTextNeverCrashes) {
  std::mt19937 rng(6);
  const std::string sound = read("gemm_nt_f32");
  int loaded = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string text = sound;
    for (unsigned n = 1 + rng() % 2; n > 0; --n) {
      size_t at = rng() % text.size();
      if (rng() % 2)
        text[at] = static_cast<char>(rng() % 3 ? "[]{}:,\"$*1a"[rng() % 11] : rng() % 256);
      else
        text.erase(at, rng() % 6);
    }
    Result<KernelMap> map = parseKernelMap(text, "gemm_nt_f32.json");
    loaded += bool(map);
    if (!map) {
      EXPECT_EQ(map.error().message.rfind("gemm_nt_f32.json: ", 0), 0u) << map.error().message;
    }
  }
  EXPECT_GT(loaded, 50);
}

} // namespace
