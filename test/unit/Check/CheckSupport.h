//===- CheckSupport.h - maps and kernels made for a test --------*- C++ -*-===//
#ifndef CK_TEST_UNIT_CHECK_CHECKSUPPORT_H
#define CK_TEST_UNIT_CHECK_CHECKSUPPORT_H

#include "Check.h"

#include <gtest/gtest.h>

namespace ck::check {

/// A map with the given contract; every part must parse.
struct MapBuilder {
  KernelMap map;

  MapBuilder(const std::string &op, const std::string &signature, double tolerance = 1e-6) {
    map.contract.id = "test_" + op;
    map.operation = op;
    map.tolerance = tolerance;
    map.digest = "digest";
    Implements implements;
    implements.op = op;
    map.implements.push_back(implements);
    map.contract.signature = get(parseSignature(signature));
  }
  MapBuilder &where(const std::string &text) {
    map.contract.where.push_back(get(parseWhere(text)));
    return *this;
  }
  MapBuilder &param(const std::string &text) {
    map.contract.params.push_back(get(parseParamDecl(text)));
    return *this;
  }
  MapBuilder &scratch(const std::string &text) {
    map.contract.scratch.push_back(get(parseScratchDecl(text)));
    return *this;
  }
  MapBuilder &require(const std::string &text) {
    map.requirements.push_back(get(Expr::parse(text)));
    return *this;
  }
  MapBuilder &cost(const std::string &text) {
    map.cost = get(Expr::parse(text));
    return *this;
  }
  MapBuilder &attr(const std::string &name, Param value) {
    map.implements[0].attrs[name] = std::move(value);
    return *this;
  }
  MapBuilder &bind(const std::string &kernelName, const std::string &opName) {
    map.implements[0].bind[kernelName] = opName;
    return *this;
  }
  MapBuilder &inplace(const std::string &input, const std::string &output) {
    map.contract.inplace.emplace_back(input, output);
    return *this;
  }

  template <typename T> static T get(ck::Result<T> result) {
    if (!result)
      ADD_FAILURE() << result.error().message;
    return *result;
  }
};

/// A kernel whose only implementation is `function`.
inline ck_kernel makeKernel(ck_kernel_fn function, int64_t (*threadScratch)(const void *) = nullptr) {
  ck_kernel kernel = {};
  kernel.id = "test";
  kernel.digest = "digest";
  kernel.call = function;
  kernel.implementation[CK_ISA_SCALAR] = function;
  kernel.thread_scratch = threadScratch;
  return kernel;
}

inline Report checkKernel(const MapBuilder &builder, const ck_kernel &kernel, Options options = {}) {
  ck::Result<Checker> checker = Checker::create(options);
  if (!checker) {
    ADD_FAILURE() << checker.error().message;
    return {};
  }
  return checker->check(builder.map, kernel);
}

inline void expectPassed(const MapBuilder &builder, ck_kernel_fn function) {
  Report report = checkKernel(builder, makeKernel(function));
  EXPECT_EQ(report.result, Report::Result::Passed) << toString(report, {});
  EXPECT_GT(report.geometries, 20);
  EXPECT_GT(report.calls, 20 * 4);
}

/// The kernel is found out, and the reason holds `what`.
inline void expectCaught(const Report &report, const std::string &what) {
  ASSERT_EQ(report.result, Report::Result::Failed) << toString(report, {});
  ASSERT_FALSE(report.failures.empty());
  EXPECT_NE(report.failures[0].what.find(what), std::string::npos) << toString(report, {});
}
inline void expectCaught(const MapBuilder &builder, ck_kernel_fn function, const std::string &what) {
  expectCaught(checkKernel(builder, makeKernel(function)), what);
}

} // namespace ck::check

#endif // CK_TEST_UNIT_CHECK_CHECKSUPPORT_H
