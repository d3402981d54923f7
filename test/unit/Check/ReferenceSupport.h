//===- ReferenceSupport.h - references called by hand ----------*- C++ -*-===//
#ifndef CK_TEST_UNIT_CHECK_REFERENCESUPPORT_H
#define CK_TEST_UNIT_CHECK_REFERENCESUPPORT_H

#include "Reference.h"

#include <gtest/gtest.h>

namespace ck::reference {

inline Tensor tensor(std::vector<int64_t> shape, std::vector<double> data) {
  Tensor result;
  result.shape = std::move(shape);
  result.data = std::move(data);
  return result;
}

/// Evaluates, expecting success.
inline void run(const char *op, Call &call) {
  const Operation *operation = findOperation(op);
  ASSERT_TRUE(operation) << op;
  Status status = evaluate(*operation, call);
  ASSERT_TRUE(status) << status.error().message;
}

/// "" where the reference accepts the call.
inline std::string errorCode(const char *op, Call &call) {
  Status status = evaluate(*findOperation(op), call);
  return status ? "" : status.error().code;
}

inline void expectNear(const Tensor &actual, const std::vector<double> &expected, double tolerance = 1e-12) {
  ASSERT_EQ(actual.data.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual.data[i], expected[i], tolerance) << "element " << i;
}

} // namespace ck::reference

#endif // CK_TEST_UNIT_CHECK_REFERENCESUPPORT_H
