//===- PlanFuzzTest.cpp - no file may crash the loader --------------------===//
//
// Mutations of a valid plan, of its text and of its tree: each either loads, or gives one error that starts with the
// path.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using nlohmann::json;

namespace {

class PlanFuzz : public testing::TestWithParam<unsigned> {
protected:
  std::mt19937 random{GetParam()};
  ContextPtr ctx = makeContext(1);
  int loaded = 0, refused = 0;

  size_t below(size_t n) { return random() % n; }

  void load(const std::string &text) {
    std::string path = writeFile(text);
    if (PlanPtr model{ck_plan_load(ctx.get(), path.c_str())}) {
      ++loaded;
      for (int32_t i = 0; i < model->entries; ++i)
        ASSERT_EQ(ck_model_find_entry(model.get(), model->entry[i].name), &model->entry[i]);
    } else {
      ++refused;
      std::string error = ck_context_error(ctx.get());
      ASSERT_EQ(error.compare(0, path.size() + 2, path + ": "), 0) << error;
      ASSERT_GT(error.size(), path.size() + 2);
      ASSERT_NE(ck_context_error_code(ctx.get()), CK_OK);
    }
    std::remove(path.c_str());
  }

  /// Every node of the tree.
  static void collect(json &node, std::vector<json *> &nodes) {
    nodes.push_back(&node);
    if (node.is_structured())
      for (json &child : node)
        collect(child, nodes);
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, PlanFuzz, testing::Range(0u, 8u));

TEST_P(PlanFuzz, SurvivesChangedBytes) {
  const std::string valid = testPlan().dump();
  const char interesting[] = "{}[]\",:0-1e.\\u\n\0\xff\x80";
  for (int round = 0; round < 400; ++round) {
    std::string text = valid;
    for (size_t edits = 1 + below(3); edits > 0; --edits)
      switch (below(4)) {
      case 0:
        text.erase(below(text.size()), 1 + below(20));
        break;
      case 1:
        text[below(text.size())] = interesting[below(sizeof(interesting))];
        break;
      case 2:
        text.insert(below(text.size()), text.substr(below(text.size()), below(30)));
        break;
      case 3:
        text.resize(1 + below(text.size()));
        break;
      }
    load(text);
  }
  EXPECT_GT(refused, 0);
}

TEST_P(PlanFuzz, SurvivesChangedTrees) {
  const json values[] = {nullptr,
                         true,
                         0,
                         -1,
                         1,
                         2,
                         3,
                         64,
                         255,
                         INT32_MAX,
                         INT64_MAX,
                         INT64_MIN,
                         UINT64_MAX,
                         0.5,
                         1e300,
                         "",
                         "T",
                         "main",
                         "weight",
                         json::array(),
                         json::object(),
                         json::array({1, 2, 3}),
                         {{"w", 0}},
                         {{"a", 64}},
                         {{"n", "T"}},
                         {{"f", 1}}};
  for (int round = 0; round < 400; ++round) {
    json plan = testPlan();
    for (size_t edits = 1 + below(2); edits > 0; --edits) {
      std::vector<json *> nodes;
      collect(plan, nodes);
      json &node = *nodes[below(nodes.size())];
      switch (below(4)) {
      case 0:
        node = values[below(std::size(values))];
        break;
      case 1:
        node = json(*nodes[below(nodes.size())]);
        break;
      case 2:
        if (node.is_array() && !node.empty())
          node.erase(below(node.size()));
        else if (node.is_number_integer() && node.is_number_unsigned())
          node = node.get<uint64_t>() + below(3) - 1;
        break;
      case 3:
        if (node.is_array() && !node.empty())
          node.push_back(json(node[below(node.size())]));
        else if (node.is_object() && !node.empty())
          node.erase(std::next(node.begin(), below(node.size())));
        break;
      }
    }
    load(plan.dump());
  }
  // Else the mutations are too weak or too strong to reach the checks.
  EXPECT_GT(refused, 0);
  EXPECT_GT(loaded, 0);
}

} // namespace
