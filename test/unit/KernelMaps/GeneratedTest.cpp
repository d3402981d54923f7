//===- GeneratedTest.cpp - the generated header and table at work ---------===//
//
// Compiled against the header and linked with the table that ck-kernel-gen makes from maps/.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/KernelGen.h"
#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <random>

extern "C" {
extern const ck_kernel *const ck_kernel_table[];
extern const size_t ck_kernel_table_size;
int checkHeaderInC(void);

// The kernels, and the runtime's part: each leaves a trace.
int32_t ckk_cache_update_f32__scalar(ck_context *, const ckk_cache_update_f32_args *) { return 11; }
int32_t ckk_gemm_nt_f32__scalar(ck_context *, const ckk_gemm_nt_f32_args *args) { return int32_t(args->split); }
int32_t ckk_gemm_nt_f32__avx512_vnni(ck_context *, const ckk_gemm_nt_f32_args *) { return 13; }
int32_t ckk_rmsnorm_forward__scalar(ck_context *, const ckk_rmsnorm_forward_args *args) { return int32_t(args->E); }
int32_t ckk_rmsnorm_forward__avx2(ck_context *, const ckk_rmsnorm_forward_args *) { return 15; }
int32_t ckk_rmsnorm_forward__avx512(ck_context *, const ckk_rmsnorm_forward_args *) { return 16; }
int32_t ck_call_kernel(ck_context *ctx, const ck_kernel *kernel, const void *args) {
  return 1000 + kernel->implementation[CK_ISA_SCALAR](ctx, args);
}
int32_t ck_check_finite_f32(ck_context *, const float *operand, int64_t count, const char *) {
  return operand ? int32_t(count) : CK_OK;
}
}

using namespace ck;

namespace {

std::vector<KernelMap> testMaps() {
  Result<std::vector<KernelMap>> maps = loadKernelMaps(std::string(CK_TEST_MAPS) + "/maps");
  EXPECT_TRUE(maps) << maps.error().message;
  return *maps;
}

TEST(Generated, TableFollowsTheMaps) {
  std::vector<KernelMap> maps = testMaps();
  ASSERT_EQ(ck_kernel_table_size, maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const ck_kernel &kernel = *ck_kernel_table[i];
    EXPECT_EQ(kernel.id, maps[i].id());
    EXPECT_EQ(kernel.digest, callDigest(maps[i].contract, maps[i].digest));
    EXPECT_EQ(size_t(kernel.slots), abiSlots(maps[i].contract).size());
  }
  const ck_kernel &gemm = *ck_kernel_table[1], &norm = *ck_kernel_table[2], &twin = *ck_kernel_table[3];
  EXPECT_TRUE(gemm.implementation[CK_ISA_SCALAR] && gemm.implementation[CK_ISA_AVX512_VNNI]);
  EXPECT_TRUE(!gemm.implementation[CK_ISA_AVX2] && !gemm.implementation[CK_ISA_AVX512]);
  EXPECT_TRUE(gemm.thread_scratch && !norm.thread_scratch);
  for (int isa : {CK_ISA_SCALAR, CK_ISA_AVX2, CK_ISA_AVX512})
    EXPECT_TRUE(norm.implementation[isa] && twin.implementation[isa]);
  EXPECT_STREQ(gemm.slot_kinds, "rrRwsiiiiiiifii");
  EXPECT_STREQ(norm.slot_kinds, "rrwWiif");
  EXPECT_STREQ(ck_kernel_table[0]->slot_kinds, "wwrrriiii");
  EXPECT_EQ(ck_kernel_table[maps.size()], nullptr);
}

TEST(Generated, CallsReachTheImplementation) {
  ckk_rmsnorm_forward_args args = {};
  args.E = 7;
  EXPECT_EQ(ckk_rmsnorm_forward(nullptr, &args), 1007);
  EXPECT_EQ(ckk_rmsnorm_forward_parallel(nullptr, &args), 1007);
  EXPECT_EQ(ck_kernel_table[2]->call(nullptr, &args), 1007);
  EXPECT_EQ(ck_kernel_table[3]->implementation[CK_ISA_AVX512](nullptr, &args), 16);
  EXPECT_EQ(checkHeaderInC(), 0);
}

TEST(Generated, FieldsAreTheSlots) {
  std::vector<AbiSlot> slots = abiSlots(testMaps()[1].contract);
  std::map<std::string, size_t> offsets = {
      {"a", offsetof(ckk_gemm_nt_f32_args, a)},
      {"c", offsetof(ckk_gemm_nt_f32_args, c)},
      {"packed", offsetof(ckk_gemm_nt_f32_args, packed)},
      {"KB", offsetof(ckk_gemm_nt_f32_args, KB)},
      {"c_stride0", offsetof(ckk_gemm_nt_f32_args, c_stride0)},
      {"alpha", offsetof(ckk_gemm_nt_f32_args, alpha)},
      {"trans", offsetof(ckk_gemm_nt_f32_args, trans)},
  };
  size_t found = 0;
  for (size_t i = 0; i < slots.size(); ++i)
    if (auto it = offsets.find(slots[i].name); it != offsets.end()) {
      EXPECT_EQ(it->second, 8 * i) << slots[i].name;
      ++found;
    }
  EXPECT_EQ(found, offsets.size());
}

TEST(Generated, ScratchSizesAgreeWithTheLibrary) {
  Contract contract = testMaps()[1].contract;
  std::mt19937_64 rng(7);
  auto value = [&]() -> int64_t {
    switch (rng() % 8) {
    case 0:
      return 0;
    case 1:
      return int64_t(rng() >> 1);
    case 2:
      return -int64_t(rng() % 100);
    default:
      return int64_t(rng() % 5000);
    }
  };
  int sized = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    ckk_gemm_nt_f32_args args = {};
    args.M = value(), args.N = value(), args.K = value(), args.split = value();
    std::map<std::string, int64_t> names = {{"M", args.M}, {"N", args.N}, {"K", args.K}, {"$split", args.split}};
    auto lookup = [&](const std::string &name) -> Result<int64_t> { return names.at(name); };
    int64_t expected[3], generated[3] = {ckk_gemm_nt_f32__packed_bytes(&args), ckk_gemm_nt_f32__panel_bytes(&args),
                                         ckk_gemm_nt_f32__codes_bytes(&args)};
    for (int k = 0; k < 3; ++k) {
      Result<int64_t> bytes = contract.scratch[k].bytes(lookup);
      expected[k] = bytes ? *bytes : INT64_MAX;
      EXPECT_EQ(generated[k], expected[k]) << contract.scratch[k].str();
      ++(bytes ? sized : refused);
    }
    int64_t sum = 0;
    bool overflow = __builtin_add_overflow(expected[1], expected[2], &sum);
    EXPECT_EQ(ck_kernel_table[1]->thread_scratch(&args), overflow ? INT64_MAX : sum);
  }
  EXPECT_GT(sized, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(KernelGen, OutputDependsOnlyOnTheMaps) {
  std::vector<KernelMap> maps = testMaps();
  std::string header = *generateKernelHeader(maps), registry = *generateKernelRegistry(maps);
  std::vector<KernelMap> reversed(maps.rbegin(), maps.rend());
  for (KernelMap &map : reversed)
    map.path = "elsewhere";
  EXPECT_EQ(*generateKernelHeader(reversed), header);
  EXPECT_EQ(*generateKernelRegistry(reversed), registry);
  EXPECT_NE(header.find("  float *rstd; /* [...T]:f32 or NULL */\n"), std::string::npos);
  EXPECT_NE(header.find("  CKK_GEMM_NT_F32_ACT_SILU = 1,\n"), std::string::npos);
  EXPECT_NE(generateKernelRegistry({})->find("const size_t ck_kernel_table_size = 0;"), std::string::npos);
}

TEST(KernelGen, TwinErrors) {
  std::vector<KernelMap> maps = testMaps();
  KernelMap &norm = maps[2], &twin = maps[3];
  twin.sameAs = "nothing";
  EXPECT_EQ(generateKernelHeader(maps).error().message,
            "rmsnorm_forward_parallel: same_as names nothing, which does not exist");
  twin.sameAs = norm.id();
  norm.contract.params[0].name = "epsilon";
  EXPECT_NE(generateKernelRegistry(maps).error().message.find("whose contract is another"), std::string::npos);
  norm.sameAs = twin.id();
  EXPECT_EQ(generateKernelHeader(maps).error().message,
            "rmsnorm_forward: same_as names rmsnorm_forward_parallel, which is itself a twin");
}

TEST(Generated, FloatResultsAreCountedForTheFiniteCheck) {
  const ck_kernel &norm = *ck_kernel_table[2];
  float output[21], rstd[3];
  ckk_rmsnorm_forward_args args = {};
  args.T = 3;
  args.E = 7;
  args.rstd = rstd;
  ASSERT_TRUE(norm.check_finite);
  EXPECT_EQ(norm.check_finite(nullptr, &args), 3); // without an output, what it says of rstd
  args.output = output;
  EXPECT_EQ(norm.check_finite(nullptr, &args), 21);
}

} // namespace
