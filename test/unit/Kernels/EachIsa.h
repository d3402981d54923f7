//===- EachIsa.h - tests of kernels on each instruction set -----*- C++ -*-===//
#ifndef CK_TEST_UNIT_KERNELS_EACHISA_H
#define CK_TEST_UNIT_KERNELS_EACHISA_H

#include "ck/Runtime/Runtime.h"

#include <gtest/gtest.h>

#include <string>

/// A context of two threads for each instruction set of this machine; the others are skipped.
class EachIsa : public ::testing::TestWithParam<ck_isa> {
protected:
  void SetUp() override {
    ctx = ck_context_create(2);
    ASSERT_NE(ctx, nullptr);
    if (ck_context_set_isa(ctx, GetParam()) != CK_OK)
      GTEST_SKIP() << "this machine lacks " << ck_isa_name(GetParam());
  }
  void TearDown() override { ck_context_destroy(ctx); }

  std::string error() const { return ck_context_error(ctx); }

  ck_context *ctx = nullptr;
};

/// The same with ample scratch. Not for tests that reserve what a map declares: more would hide that it is too little.
class EachIsaWithScratch : public EachIsa {
protected:
  void SetUp() override {
    EachIsa::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    ASSERT_EQ(ck_context_reserve_thread_scratch(ctx, 1 << 20), CK_OK);
  }
};

#endif // CK_TEST_UNIT_KERNELS_EACHISA_H
