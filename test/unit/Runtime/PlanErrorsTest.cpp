//===- PlanErrorsTest.cpp - a wrong plan is refused where it is wrong -----===//

#include "TestSupport.h"

#include <gtest/gtest.h>

using nlohmann::json;

namespace {

/// One change to the valid plan, as JSON pointer and new value ("-" removes), and the end of the error.
struct PlanFault {
  const char *pointer, *value, *error;
  int32_t code = CK_INVALID_ARGUMENT;
};

class Fault : public testing::TestWithParam<PlanFault> {};

TEST_P(Fault, IsLocated) {
  PlanFault fault = GetParam();
  json plan = testPlan();
  json::json_pointer pointer(fault.pointer);
  if (std::string(fault.value) == "-")
    plan[pointer.parent_pointer()].erase(pointer.back());
  else
    plan[pointer] = json::parse(fault.value);
  ContextPtr ctx = makeContext(1);
  EXPECT_FALSE(loadPlan(ctx.get(), plan));
  std::string error = ck_context_error(ctx.get());
  size_t path = error.find(".ckplan: ");
  ASSERT_NE(path, std::string::npos) << error;
  EXPECT_EQ(error.substr(path + 9), fault.error);
  EXPECT_EQ(ck_context_error_code(ctx.get()), fault.code);
}

INSTANTIATE_TEST_SUITE_P(
    Header, Fault,
    testing::Values(PlanFault{"/format", "-", "/: not a .ckplan: \"format\": \"ckplan\" is missing"},
                    PlanFault{"/format", "\"gguf\"", "/: not a .ckplan: \"format\": \"ckplan\" is missing"},
                    PlanFault{"/format", "1", "/: not a .ckplan: \"format\": \"ckplan\" is missing"},
                    PlanFault{"/version", "-", "/: 'version' is missing"},
                    PlanFault{"/version", "2", "/version: version 2 of the format, this runtime reads version 1",
                              CK_MISMATCH},
                    PlanFault{"/version", "\"1\"", "/version: found \"1\", expected a 64-bit integer"},
                    PlanFault{"/abi", "7", "/abi: compiled for runtime ABI 7, this runtime has 1", CK_MISMATCH},
                    PlanFault{"/name", "-", "/: 'name' is missing"},
                    PlanFault{"/name", "\"\"", "/name: found \"\", expected a non-empty string"},
                    PlanFault{"/name", R"("a\u0000b")", R"(/name: found "a\u0000b", expected a non-empty string)"},
                    PlanFault{"/extra", "1", "/: unknown member \"extra\""},
                    PlanFault{"/const_bytes", "-1", "/const_bytes: found -1, expected an integer of at least 0"},
                    PlanFault{"/const_bytes", "1.5", "/const_bytes: found 1.5, expected an integer of at least 0"},
                    PlanFault{"/state_bytes", "18446744073709551615",
                              "/state_bytes: found 18446744073709551615, expected an integer of at least 0"},
                    PlanFault{"/entries", "{}", "/entries: found an object, expected an array"}));

INSTANTIATE_TEST_SUITE_P(
    Buffers, Fault,
    testing::Values(PlanFault{"/buffers/1", "3", "/buffers/1: found 3, expected an object"},
                    PlanFault{"/buffers/0/role", "\"wieght\"",
                              "/buffers/0/role: found \"wieght\", expected weight, state or const"},
                    PlanFault{"/buffers/1/name", "\"w\"", "/buffers/1/name: a second buffer named 'w'"},
                    PlanFault{"/buffers/0/dims/0", "-4",
                              "/buffers/0/dims/0: found -4, expected an integer of at least 0"},
                    PlanFault{"/buffers/0/offset", "0", "/buffers/0/offset: a weight has no offset"},
                    PlanFault{"/buffers/1/offset", "-", "/buffers/1: 'offset' is missing"},
                    PlanFault{"/buffers/1/offset", "49", "/buffers/1/offset: found 49, expected an integer in 0..48"},
                    PlanFault{"/buffers/1/bytes", "65", "/buffers/1/bytes: 65 bytes, but the const arena has 64"},
                    PlanFault{"/buffers/2/tensor", "\"x\"", "/buffers/2/tensor: only weights come from a file"}));

INSTANTIATE_TEST_SUITE_P(
    Kernels, Fault,
    testing::Values(
        PlanFault{"/kernels/0/id", "\"test_ad\"", "/kernels/0/id: this runtime has no kernel 'test_ad'", CK_MISMATCH},
        PlanFault{
            "/kernels/0/digest", "\"old\"",
            "/kernels/0/digest: kernel 'test_add' is digest-of-add in this runtime, but the plan was made for old; "
            "compile the model again",
            CK_MISMATCH},
        PlanFault{"/kernels/0/slots", "4", "/kernels/0/slots: kernel 'test_add' takes 5 slots, the plan says 4",
                  CK_MISMATCH},
        PlanFault{"/kernels/0/slots", "257", "/kernels/0/slots: found 257, expected an integer in 0..256"},
        PlanFault{"/kernels", "[]",
                  "/entries/0/steps/0/kernel: found 0, expected no index: there is nothing to choose "
                  "from"}));

INSTANTIATE_TEST_SUITE_P(
    Entries, Fault,
    testing::Values(
        PlanFault{"/entries/1/name", "\"init\"", "/entries/1/name: a second entry named 'init'"},
        PlanFault{"/entries/1/arena_bytes", "79",
                  "/entries/1/steps/1/slots/2/a: found 64, expected an integer in 0..63"},
        PlanFault{"/entries/1/arena_bytes", "10",
                  "/entries/1/steps/1/slots/2/bytes: found 16, expected an integer in "
                  "0..10"},
        PlanFault{"/entries/1/dims/0/bound", "0",
                  "/entries/1/dims/0/bound: found 0, expected an integer of at least 1"},
        PlanFault{"/entries/1/dims/0/name", "\"+\"",
                  "/entries/1/dims/0/name: '+' is no dim name, expected letters, digits and _"},
        PlanFault{"/entries/1/dims/1", R"({"name": "T", "bound": 1})",
                  "/entries/1/dims/1/name: a second dim named 'T'"},
        PlanFault{"/entries/1/inputs/0/dims/0", "\"U\"", "/entries/1/inputs/0/dims/0: entry 'main' has no dim 'U'"},
        PlanFault{"/entries/1/steps/0/kernel", "4", "/entries/1/steps/0/kernel: found 4, expected an integer in 0..3"},
        PlanFault{"/entries/1/steps/0/kernel", "-1",
                  "/entries/1/steps/0/kernel: found -1, expected an integer in 0..3"},
        PlanFault{"/entries/1/steps/0", R"({"check": "T"})", "/entries/1/steps/0: 'bound' is missing"},
        PlanFault{"/entries/1/steps/0", R"({"check": "U", "bound": 1})",
                  "/entries/1/steps/0/check: entry 'main' has no dim 'U'"},
        PlanFault{"/entries/1/steps/0", R"({"check": "T", "bound": -1})",
                  "/entries/1/steps/0/bound: found -1, expected an integer of at least 0"},
        PlanFault{"/entries/1/steps/0", R"({"check": "T", "bound": 1, "kernel": 0})",
                  "/entries/1/steps/0: unknown member \"kernel\""},
        PlanFault{"/entries/1/steps/0/slots", "[null]",
                  "/entries/1/steps/0/slots: 1 slots, but kernel 'test_limit' takes 2"}));

INSTANTIATE_TEST_SUITE_P(
    Slots, Fault,
    testing::Values(
        PlanFault{"/entries/0/steps/0/slots/0", "null", "/entries/0/steps/0/slots/0: kernel needs this operand"},
        PlanFault{"/entries/0/steps/0/slots/0", "1", "/entries/0/steps/0/slots/0: kernel takes an operand here"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"f": 1})",
                  "/entries/0/steps/0/slots/0: kernel takes an operand here"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"n": 1})",
                  "/entries/0/steps/0/slots/0: kernel takes an operand here"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"w": 1})",
                  "/entries/0/steps/0/slots/0/w: found 1, expected an integer in 0..0"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"i": 0})",
                  "/entries/0/steps/0/slots/0/i: found 0, expected no index: there is nothing to choose from"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"w": 0, "i": 0})",
                  "/entries/0/steps/0/slots/0: unknown member \"i\""},
        PlanFault{
            "/entries/0/steps/0/slots/0", R"({"x": 0})",
            "/entries/0/steps/0/slots/0: no slot: expected null, an integer, or an object with one of f, n, w, c, "
            "s, a, i, o"},
        PlanFault{
            "/entries/0/steps/0/slots/0", "\"w\"",
            "/entries/0/steps/0/slots/0: no slot: expected null, an integer, or an object with one of f, n, w, c, "
            "s, a, i, o"},
        PlanFault{"/entries/0/steps/0/slots/0", R"({"s": 65})",
                  "/entries/0/steps/0/slots/0/s: found 65, expected an integer in 0..64"},
        PlanFault{"/entries/0/steps/0/slots/2", R"({"w": 0})",
                  "/entries/0/steps/0/slots/2: kernel writes this operand, but weights and inputs are read only"},
        PlanFault{"/entries/1/steps/1/slots/2", R"({"c": 0})",
                  "/entries/1/steps/1/slots/2: kernel writes this operand, but only entry 'init' may write constants"},
        PlanFault{"/entries/1/steps/4/slots/1", R"({"s": 0})",
                  "/entries/1/steps/4/slots/1: scratch must lie in the activation arena"},
        PlanFault{"/entries/0/steps/0/slots/3", "null", "/entries/0/steps/0/slots/3: kernel takes an integer here"},
        PlanFault{"/entries/0/steps/0/slots/3", R"({"f": 4})",
                  "/entries/0/steps/0/slots/3: kernel takes an integer here"},
        PlanFault{"/entries/0/steps/0/slots/3", "18446744073709551615",
                  "/entries/0/steps/0/slots/3: found 18446744073709551615, expected a 64-bit integer"},
        PlanFault{"/entries/0/steps/0/slots/3", R"({"n": "T"})",
                  "/entries/0/steps/0/slots/3/n: entry 'init' has no dim 'T'"},
        PlanFault{"/entries/0/steps/0/slots/4", "1", "/entries/0/steps/0/slots/4: kernel takes a double here"},
        PlanFault{"/entries/0/steps/0/slots/4", R"({"c": 0})",
                  "/entries/0/steps/0/slots/4: kernel takes a double here"},
        PlanFault{"/entries/0/steps/0/slots/4", R"({"f": "1"})",
                  "/entries/0/steps/0/slots/4/f: found \"1\", expected a finite number"},
        PlanFault{"/entries/1/steps/0/slots/1/n", R"(["^", "T", 1])",
                  "/entries/1/steps/0/slots/1/n/0: unknown operator '^', expected + - * / % ceildiv min or max"},
        PlanFault{"/entries/1/steps/0/slots/1/n", R"(["+", "T"])",
                  "/entries/1/steps/0/slots/1/n: found 2 elements, expected [operator, size, size]"},
        PlanFault{"/entries/1/steps/0/slots/1/n", R"(["+", "T", {}])",
                  "/entries/1/steps/0/slots/1/n/2: found an object, expected a 64-bit integer"}));

/// The error for a file that holds `text`, without the path.
std::string errorFor(const std::string &text) {
  ContextPtr ctx = makeContext(1);
  std::string path = writeFile(text);
  EXPECT_FALSE(PlanPtr(ck_plan_load(ctx.get(), path.c_str())));
  std::remove(path.c_str());
  std::string error = ck_context_error(ctx.get());
  EXPECT_EQ(error.compare(0, path.size() + 2, path + ": "), 0) << error;
  return error.substr(std::min(error.size(), path.size() + 2));
}

TEST(PlanFile, ThatIsNoJsonIsRefusedWithLineAndColumn) {
  EXPECT_EQ(errorFor("{\n  \"format\" 1}").rfind("not JSON: parse error at line 2, column 12", 0), 0u);
  EXPECT_EQ(errorFor("\xff\xfe").rfind("not JSON: parse error at line 1, column 1", 0), 0u);
  EXPECT_EQ(errorFor(std::string(1000000, '[')).rfind("not JSON: parse error", 0), 0u);
  EXPECT_EQ(errorFor("{\"a\": 1e999}").rfind("not JSON: ", 0), 0u);
  EXPECT_EQ(errorFor(""), "cannot be read, or is empty");
}

TEST(PlanFile, ThatNestsDeeplyIsRefused) {
  EXPECT_EQ(errorFor(std::string(1000000, '[') + std::string(1000000, ']')),
            "/: not a .ckplan: \"format\": \"ckplan\" is missing");
  json plan = testPlan(), size = "T";
  for (int i = 0; i < 17; ++i)
    size = json::array({"+", size, 0});
  plan["entries"][1]["steps"][0]["slots"][1]["n"] = size;
  std::string error = errorFor(plan.dump());
  EXPECT_NE(error.find("/n/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1: nested deeper than 16"), std::string::npos) << error;
}

TEST(PlanFile, ThatCannotBeOpenedSaysWhy) {
  ContextPtr ctx = makeContext(1);
  EXPECT_FALSE(PlanPtr(ck_plan_load(ctx.get(), "/nonexistent/x.ckplan")));
  EXPECT_STREQ(ck_context_error(ctx.get()), "/nonexistent/x.ckplan: No such file or directory");
  EXPECT_FALSE(PlanPtr(ck_plan_load(ctx.get(), testing::TempDir().c_str())));
  EXPECT_EQ(ck_context_error(ctx.get()), testing::TempDir() + ": cannot be read, or is empty");
}

} // namespace
