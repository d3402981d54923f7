//===- CostTableTest.cpp - measured costs of kernels ----------------------===//

#include "ck/KernelMaps/CostTable.h"

#include <gtest/gtest.h>

using namespace ck;

namespace {

const std::string head = R"({"format": "ck-cost-table-1", "machine": "m", "isa": "avx2", "threads": 2, "kernels": )";
const std::string good = head + R"([{"id": "f", "digest": "d", "points": [
  {"dims": {"T": 1, "K": 64}, "picoseconds": 1000}, {"dims": {"T": 64, "K": 64}, "picoseconds": 32000}]}]})";

KernelMap mapOf(const std::string &id, const std::string &cost) {
  KernelMap map;
  map.contract.id = id;
  map.digest = "d";
  map.cost = *Expr::parse(cost);
  return map;
}

Expr::Lookup at(std::map<std::string, int64_t> dims) {
  return [dims = std::move(dims)](const std::string &name) -> ck::Result<int64_t> {
    auto dim = dims.find(name);
    return dim == dims.end() ? ck::Result<int64_t>(Error{"unknown name " + name}) : dim->second;
  };
}

TEST(CostTable, GivesTheNearestPointScaledByTheMapsCost) {
  CostTable table = *parseCostTable(good, "t.json");
  KernelMap map = mapOf("f", "T*K");
  EXPECT_EQ(table.machine, "m");
  EXPECT_EQ(*table.cost(map, at({{"T", 1}, {"K", 64}})), 1000);
  EXPECT_EQ(*table.cost(map, at({{"T", 1}, {"K", 128}})), 2000);
  EXPECT_EQ(*table.cost(map, at({{"T", 3}, {"K", 64}})), 3000) << "nearer to 1 than to 64";
  EXPECT_EQ(*table.cost(map, at({{"T", 32}, {"K", 64}})), 16000);
  EXPECT_EQ(*table.cost(map, at({{"T", 0}, {"K", 64}})), 16) << "a cost of 0 counts as 1";
}

TEST(CostTable, SaysWhatItDoesNotKnow) {
  CostTable table = *parseCostTable(good, "t.json");
  KernelMap map = mapOf("f", "T*K");
  EXPECT_TRUE(table.measured(map));
  EXPECT_FALSE(table.measured(mapOf("g", "T")));
  EXPECT_EQ(table.cost(mapOf("g", "T"), at({})).error().message, "g was not measured");
  EXPECT_EQ(table.cost(map, at({{"T", 1}, {"K", kDynamicDim}})).error().message, "f: dim K is not known");
  EXPECT_FALSE(table.cost(map, at({{"T", 1}})));
  EXPECT_FALSE(table.cost(mapOf("f", "T*Q"), at({{"T", 1}, {"K", 64}})));
}

TEST(CostTable, KnowsWhichVersionItMeasured) {
  CostTable table = *parseCostTable(good, "t.json");
  KernelMap map = mapOf("f", "T");
  EXPECT_TRUE(table.checkAgainst({map}));
  map.digest = "e";
  EXPECT_NE(table.checkAgainst({map}).error().message.find("another version of 'f'"), std::string::npos);
  EXPECT_NE(table.checkAgainst({}).error().message.find("no such kernel map"), std::string::npos);
}

TEST(CostTable, PrintsWhatItReads) {
  CostTable table = *parseCostTable(good, "t.json");
  CostTable again = *parseCostTable(table.str(), "t.json");
  EXPECT_EQ(again.str(), table.str());
  EXPECT_EQ(again.kernels.at("f").points[1].dims.at("T"), 64);
}

TEST(CostTable, BadFilesAreRefusedWhereTheyAreBad) {
  auto point = [](const std::string &text) {
    return head + R"([{"id": "f", "digest": "d", "points": [)" + text + "]}]}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "t.json: "},
      {"[]", "t.json: #: "},
      {head + "[]}", "#/kernels: "},
      {good.substr(0, good.size() - 1) + ", \"more\": 1}", "more"},
      {head + "[{\"id\": \"f\", \"digest\": \"d\"}]}", "#/kernels/0: "},
      {point(""), "#/kernels/0/points: "},
      {point(R"({"dims": {"T": -1}, "picoseconds": 1})"), "#/kernels/0/points/0/dims/T: "},
      {point(R"({"dims": {"T": 1.5}, "picoseconds": 1})"), "#/kernels/0/points/0/dims/T: "},
      {point(R"({"dims": {"T": 1e30}, "picoseconds": 1})"), "#/kernels/0/points/0/dims/T: "},
      {point(R"({"dims": {}, "picoseconds": 0})"), "#/kernels/0/points/0/picoseconds: "},
      {point(R"({"dims": {}, "picoseconds": 1e40})"), "#/kernels/0/points/0/picoseconds: "},
      {point(R"({"dims": {}})"), "#/kernels/0/points/0: "},
      {R"({"format": "ck-cost-table-2", "machine": "m", "isa": "avx2", "threads": 2, "kernels": []})", "#/format: "},
      {R"({"format": "ck-cost-table-1", "machine": "m", "isa": "sse", "threads": 2, "kernels": []})", "#/isa: "},
      {R"({"format": "ck-cost-table-1", "machine": "m", "isa": "avx2", "threads": 9999, "kernels": [)"
       R"({"id": "f", "digest": "d", "points": [{"dims": {}, "picoseconds": 1}]}]})",
       "#/threads: "},
      {head + R"([{"id": "f", "digest": "d", "points": [{"dims": {}, "picoseconds": 1}]},)"
              R"({"id": "f", "digest": "d", "points": [{"dims": {}, "picoseconds": 1}]}]})",
       "#/kernels/1/id: 'f' is there twice"}};
  for (const auto &[text, what] : cases) {
    ck::Result<CostTable> table = parseCostTable(text, "t.json");
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().message.find(what), std::string::npos) << table.error().message;
  }
  EXPECT_NE(loadCostTable("/no/such/table.json").error().message.find("/no/such/table.json"), std::string::npos);
}

} // namespace
