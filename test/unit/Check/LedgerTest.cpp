//===- LedgerTest.cpp - does the ledger claim only what was proved? -------===//

#include "Ledger.h"
#include "CheckSupport.h"
#include "TemporaryTree.h"

using namespace ck;
using namespace ck::check;

namespace {

class LedgerTree : public ::testing::Test {
protected:
  void SetUp() override {
    tree.write("lib/Runtime/Kernels/math/a.cpp", "// kernel\n");
    tree.write("test/reference/Mul.cpp", "name = \"mul\";\n");
    MapBuilder mul("mul", "a[N]:f32, b[N]:f32 -> output[N]:f32");
    mul.map.implementations = {{"scalar", "math/a.cpp"}, {"avx512", "math/a.cpp"}};
    mul.require("N % 2 == 0");
    maps = {mul.map};
    inventory = {{"test_mul", "mul", "fp32"}, {"gone_bf16", "mul", "bf16"}};
  }

  std::vector<LedgerRow> ledger() {
    stale.clear();
    SourceDigests digests(tree.root, maps);
    return MapBuilder::get(makeLedger({maps, inventory, selection, evidence}, digests, stale));
  }
  void addEvidence(const std::string &result = "passed") {
    SourceDigests digests(tree.root, maps);
    Evidence &one = evidence["test_mul"];
    one.map = maps[0].digest;
    one.kernel = MapBuilder::get(digests.kernel(maps[0]));
    one.reference = MapBuilder::get(digests.reference(maps[0]));
    one.result = result;
    one.oracles = {"mul"};
    one.isas = {"scalar"};
    one.geometries = 34;
    one.tolerance = 1e-6;
  }
  const LedgerRow &row(const std::vector<LedgerRow> &rows, const std::string &id) {
    for (const LedgerRow &row : rows)
      if (row.id == id)
        return row;
    ADD_FAILURE() << "no row of " << id;
    return rows.front();
  }

  TemporaryTree tree;
  std::vector<KernelMap> maps;
  std::vector<InventoryRow> inventory;
  std::vector<SelectedProgram> selection;
  EvidenceTable evidence;
  std::vector<std::string> stale;
};

TEST_F(LedgerTree, WithoutEvidenceNothingIsClaimed) {
  std::vector<LedgerRow> rows = ledger();
  EXPECT_FALSE(row(rows, "test_mul").evidence);
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale[0], "test_mul: no check of it is recorded");
  EXPECT_NE(ledgerMarkdown(rows).find("| not checked |"), std::string::npos);
  EXPECT_NE(ledgerJson(rows).find("\"parity\": \"not checked\""), std::string::npos);
}

TEST_F(LedgerTree, EvidenceOfTheseSourcesIsClaimed) {
  addEvidence();
  std::vector<LedgerRow> rows = ledger();
  EXPECT_TRUE(stale.empty());
  const LedgerRow &mul = row(rows, "test_mul");
  ASSERT_TRUE(mul.evidence);
  EXPECT_EQ(mul.notRun, std::vector<std::string>{"avx512"});
  EXPECT_EQ(mul.mode, "both");
  const std::string text = ledgerMarkdown(rows);
  EXPECT_NE(text.find("mul in double precision, 34 geometries, tolerance 1e-06, scalar (not run here: avx512)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("`N%2 == 0`"), std::string::npos) << text;
  EXPECT_NE(text.find("| mul | 2 | 1 | 1 | 0 | 1 | 0 | 0 | 1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("gone_bf16 (bf16)"), std::string::npos) << text;
}

TEST_F(LedgerTree, EvidenceOfOtherSourcesIsNot) {
  addEvidence();
  tree.write("lib/Runtime/Kernels/math/a.cpp", "// another kernel\n");
  EXPECT_FALSE(row(ledger(), "test_mul").evidence);
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale[0], "test_mul: the kernel changed since it was checked");
}

TEST_F(LedgerTree, AFailedCheckIsNoEvidence) {
  addEvidence("failed");
  EXPECT_FALSE(row(ledger(), "test_mul").evidence);
  EXPECT_EQ(stale, std::vector<std::string>{"test_mul: its check failed"});
}

TEST_F(LedgerTree, SelectionsOfOtherVersionsDoNotCount) {
  addEvidence();
  selection = {{"one", {{"test_mul", maps[0].digest}}}, {"two", {{"test_mul", "sha256:0"}, {"absent", "sha256:0"}}}};
  EXPECT_EQ(row(ledger(), "test_mul").selectedBy, std::vector<std::string>{"one"});
  EXPECT_EQ(stale, (std::vector<std::string>{"test_mul: 'two' selected another version of the map",
                                             "absent: 'two' selected it, but there is no such map"}));
}

TEST_F(LedgerTree, TheLedgerIsItsOwnRecord) {
  addEvidence();
  const std::string json = ledgerJson(ledger());
  evidence = MapBuilder::get(parseEvidence(json, "ledger.json"));
  EXPECT_EQ(ledgerJson(ledger()), json);
  EXPECT_EQ(json.find("max_error"), std::string::npos) << "measured values are not for the repository";
}

TEST_F(LedgerTree, OperationsAgreeWithTheInventory) {
  inventory[0].operation = "add";
  SourceDigests digests(tree.root, maps);
  ck::Result<std::vector<LedgerRow>> rows = makeLedger({maps, inventory, {}, {}}, digests, stale);
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("#/operation is 'mul', but the inventory says 'add'"), std::string::npos);
}

TEST(Ledger, Modes) {
  EXPECT_EQ(modeOf(MapBuilder("linear", "input[T,K]:f32, weight[N,K]:f32 -> output[T,N]:f32").map), "both");
  EXPECT_EQ(modeOf(MapBuilder("linear", "input[1,K]:f32, weight[N,K]:f32 -> output[1,N]:f32").map), "inference");
  EXPECT_EQ(modeOf(MapBuilder("linear", "input[T,K]:q8_k, weight[N,K]:q4_k -> output[T,N]:f32").map), "inference");
  EXPECT_EQ(modeOf(MapBuilder("linear_grad", "d_output[T,N]:f32 -> d_input[T,N]:f32").map), "training");
  EXPECT_EQ(modeOf(MapBuilder("adamw", "grad[L]:f32, w[L]:f32 -> w[L]:f32").map), "training");
  EXPECT_EQ(modeOf(MapBuilder("argmax", "input[T,V]:f32 -> output[T]:i32").map), "inference");
  EXPECT_EQ(modeOf(MapBuilder("attention", "q[T,D]:f32 -> output[T,D]:f32").attr("layout", std::string("cache")).map),
            "inference");
}

TEST(Ledger, BadFilesAreRefused) {
  for (const auto &[text, what] :
       {std::pair("id\toperation\n", "i.tsv:1: expected the columns"),
        std::pair("id\toperation\tfamily\na\tb\n", "i.tsv:2: expected three fields"),
        std::pair("id\toperation\tfamily\na\tb\tc\na\tb\tc\n", "i.tsv:3: a is there twice")}) {
    auto rows = parseInventory(text, "i.tsv");
    ASSERT_FALSE(rows) << text;
    EXPECT_NE(rows.error().message.find(what), std::string::npos) << rows.error().message;
  }
  for (const char *text : {"", "[]", "{}", R"({"format": "ck-selection-2", "programs": []})",
                           R"({"format": "ck-selection-1", "programs": [{"name": "a"}]})"}) {
    auto programs = parseSelection(text, "s.json");
    ASSERT_FALSE(programs) << text;
    EXPECT_EQ(programs.error().message.rfind("s.json: ", 0), 0u) << programs.error().message;
  }
}

} // namespace
