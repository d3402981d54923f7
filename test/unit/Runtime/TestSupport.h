//===- TestSupport.h - helpers of the runtime's tests -----------*- C++ -*-===//
//
// Owning pointers for the C objects, and the kernels that stand in for the generated table.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_UNIT_RUNTIME_TESTSUPPORT_H
#define CK_TEST_UNIT_RUNTIME_TESTSUPPORT_H

#include "ck/Runtime/Runtime.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

struct ContextDeleter {
  void operator()(ck_context *ctx) const { ck_context_destroy(ctx); }
};
using ContextPtr = std::unique_ptr<ck_context, ContextDeleter>;
inline ContextPtr makeContext(int threads = 2) { return ContextPtr(ck_context_create(threads)); }

struct SessionDeleter {
  void operator()(ck_session *session) const { ck_session_destroy(session); }
};
using SessionPtr = std::unique_ptr<ck_session, SessionDeleter>;

struct PlanDeleter {
  void operator()(const ck_model *model) const { ck_plan_destroy(model); }
};
using PlanPtr = std::unique_ptr<const ck_model, PlanDeleter>;

/// Kernels of the test table. Slots:
///   test_add      a r, b R (optional), out w, N i, scale d     out = scale * (a + b)
///   test_cumsum   x r, sum w, out w, N i                       out = running sums; sum[0] carries on between calls
///   test_isa      out w                                        out[0] = ck_isa of the implementation; scalar and avx2
///   test_limit    x r, N i                                     CK_INVALID_ARGUMENT if an x is above 10
///   test_scratch  out w, tmp s, N i                            wants N bytes per thread; fills both scratches
///   test_silent   (none)                                       fails without a message
///   test_wide     (none)                                       avx512 only

/// Writes `text` to a file of this test's own and returns its path.
std::string writeFile(const std::string &text);
/// A small valid plan over these kernels; see TestPlan.cpp.
nlohmann::json testPlan();
PlanPtr loadPlan(ck_context *ctx, const nlohmann::json &plan);

#endif // CK_TEST_UNIT_RUNTIME_TESTSUPPORT_H
