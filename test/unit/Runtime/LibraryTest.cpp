//===- LibraryTest.cpp - libCKRuntime.so as it ships ----------------------===//
//
// The generated table keeps what the registry relies on, every kernel can be found by name in the library, and nothing
// of LLVM is in the process.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Generate.h"
#include "ck/Runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>

namespace {

TEST(Library, HasATableThatCanBeSearched) {
  size_t count = 0;
  const ck_kernel *const *kernels = ck_kernels(&count);
  ASSERT_GT(count, 0u);
  for (size_t i = 0; i < count; ++i) {
    if (i) {
      EXPECT_LT(std::strcmp(kernels[i - 1]->id, kernels[i]->id), 0) << kernels[i]->id;
    }
    EXPECT_EQ(ck_find_kernel(kernels[i]->id), kernels[i]);
  }
}

TEST(Library, DescribesEveryKernel) {
  size_t count = 0;
  const ck_kernel *const *kernels = ck_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const ck_kernel &kernel = *kernels[i];
    EXPECT_TRUE(kernel.implementation[CK_ISA_SCALAR]) << kernel.id << " does not run on every machine";
    std::string digest = kernel.digest;
    EXPECT_EQ(digest.rfind("sha256:", 0), 0u) << kernel.id;
    EXPECT_EQ(digest.size(), 7 + 64u) << kernel.id;
    ASSERT_TRUE(kernel.slot_kinds) << kernel.id;
    EXPECT_EQ(std::strlen(kernel.slot_kinds), size_t(kernel.slots)) << kernel.id;
    EXPECT_EQ(std::strspn(kernel.slot_kinds, "rRwWsSif"), size_t(kernel.slots)) << kernel.id;
  }
}

TEST(Library, ExportsKernelsButNotTheirImplementations) {
  size_t count = 0;
  const ck_kernel *const *kernels = ck_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    std::string name = "ckk_" + std::string(kernels[i]->id);
    EXPECT_TRUE(dlsym(RTLD_DEFAULT, name.c_str())) << name;
    EXPECT_FALSE(dlsym(RTLD_DEFAULT, (name + "__scalar").c_str())) << name;
  }
  EXPECT_FALSE(dlsym(RTLD_DEFAULT, "ck_kernel_table"));
}

TEST(Library, NamesTheFirstResultThatIsNotFinite) {
  const float input[] = {1, INFINITY, 3, 4}, gamma[] = {1, 1};
  float output[4];
  ckk_rmsnorm_forward_args args = {};
  args.input = input;
  args.gamma = gamma;
  args.output = output;
  args.T = args.E = 2;
  ck_context *ctx = ck_context_create(1);
  ASSERT_TRUE(ctx);
  EXPECT_EQ(ckk_rmsnorm_forward(ctx, &args), CK_OK);
  ck_context_check_finite(ctx, 1);
  EXPECT_EQ(ckk_rmsnorm_forward(ctx, &args), CK_NOT_FINITE);
  std::string message = ck_context_error(ctx);
  EXPECT_NE(message.find("rmsnorm_forward: result 'output' holds"), std::string::npos) << message;
  EXPECT_NE(message.find("at element 1"), std::string::npos) << message;
  args.input += 2;
  args.T = 1;
  EXPECT_EQ(ckk_rmsnorm_forward(ctx, &args), CK_OK);
  ck_context_destroy(ctx);
}

TEST(Library, NeedsNoCompiler) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool sawRuntime = false;
  while (std::getline(maps, line)) {
    sawRuntime |= line.find("libCKRuntime") != std::string::npos;
    for (const char *name : {"libLLVM", "libMLIR", "libclang"})
      EXPECT_EQ(line.find(name), std::string::npos) << line;
  }
  EXPECT_TRUE(sawRuntime);
}

TEST(Library, GivesItsCxxInterface) {
  EXPECT_STREQ(ck::toString(ck::StopReason::Length), "length");
  ck::Result<ck::Sampler> sampler = ck::Sampler::create({});
  ASSERT_TRUE(sampler);
  const float logits[] = {0, 2, 1};
  EXPECT_EQ(*sampler->sample(logits, 3), 1);
}

} // namespace
