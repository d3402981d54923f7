//===- EvidenceTest.cpp - is evidence about these sources? ----------------===//

#include "Evidence.h"
#include "CheckSupport.h"
#include "TemporaryTree.h"

using namespace ck;
using namespace ck::check;

namespace {

/// A tree with a kernel in a.cpp, its headers, the body of one of them, and two references.
class EvidenceTree : public ::testing::Test {
protected:
  void SetUp() override {
    MapBuilder builder("mul", "a[N]:f32, b[N]:f32 -> output[N]:f32");
    builder.map.implementations = {{"scalar", "math/a.cpp"}, {"avx2", "math/a.cpp"}};
    maps = {builder.map};
    tree.write("lib/Runtime/Kernels/math/a.cpp",
               "#include \"Shared.h\"\n#include \"math/Engine.h\"\n#include <cmath>\n");
    tree.write("lib/Runtime/Kernels/math/Engine.h", "int engine();\n");
    tree.write("lib/Runtime/Kernels/math/engine.cpp", "#include \"other/Far.h\"\nint engine() { return 1; }\n");
    tree.write("lib/Runtime/Kernels/Shared.h", "// shared\n");
    tree.write("lib/Runtime/Kernels/other/Far.h", "// far\n");
    tree.write("lib/Runtime/Kernels/other/Unused.h", "// unused\n");
    tree.write("test/reference/Mul.cpp", "#include \"Reference.h\"\n#include \"Pieces.h\"\nname = \"mul\";\n");
    tree.write("test/reference/Pieces.h", "// pieces\n");
    tree.write("test/reference/Pieces.cpp", "// body\n");
    tree.write("test/reference/Add.cpp", "name = \"add\";\n");
    tree.write("test/reference/Reference.h", "// lists\n");
  }

  std::string changed(const Evidence &evidence) {
    SourceDigests digests(tree.root, maps);
    return MapBuilder::get(staleness(evidence, maps[0], digests));
  }
  Evidence evidence() {
    SourceDigests digests(tree.root, maps);
    Report report;
    report.result = Report::Result::Passed;
    report.oracles = {"mul"};
    report.isas = {"scalar"};
    report.geometries = 35;
    report.tolerance = 1e-6;
    report.maxError = 3e-8;
    return MapBuilder::get(makeEvidence(report, maps[0], digests));
  }

  TemporaryTree tree;
  std::vector<KernelMap> maps;
};

TEST_F(EvidenceTree, FilesOfAKernelAreWhatItIncludesAndBodiesOfHeaders) {
  SourceDigests digests(tree.root, maps);
  const std::string root = "lib/Runtime/Kernels/";
  EXPECT_EQ(MapBuilder::get(digests.kernelFiles(maps[0])),
            (std::vector<std::string>{root + "Shared.h", root + "math/Engine.h", root + "math/a.cpp",
                                      root + "math/engine.cpp", root + "other/Far.h"}));
  EXPECT_EQ(
      MapBuilder::get(digests.referenceFiles(maps[0])),
      (std::vector<std::string>{"test/reference/Mul.cpp", "test/reference/Pieces.cpp", "test/reference/Pieces.h"}));
}

TEST_F(EvidenceTree, SourcesOfOtherKernelsAreNotBodies) {
  KernelMap other = maps[0];
  other.contract.id = "other";
  for (auto &implementation : other.implementations)
    implementation.source = "math/engine.cpp";
  maps.push_back(other);
  SourceDigests digests(tree.root, maps);
  EXPECT_EQ(MapBuilder::get(digests.kernelFiles(maps[0])).size(), 3u);
}

TEST_F(EvidenceTree, StaleAfterEachKindOfChangeAndNoOther) {
  const Evidence before = evidence();
  EXPECT_EQ(changed(before), "");
  tree.write("lib/Runtime/Kernels/other/Unused.h", "// other\n");
  tree.write("test/reference/Add.cpp", "name = \"add\"; // other\n");
  tree.write("test/reference/Reference.h", "// more lists\n");
  EXPECT_EQ(changed(before), "");
  tree.write("lib/Runtime/Kernels/math/engine.cpp", "int engine() { return 2; }\n");
  EXPECT_EQ(changed(before), "the kernel");
  tree.write("test/reference/Pieces.cpp", "// another body\n");
  maps[0].digest = "another";
  EXPECT_EQ(changed(before), "the map, the kernel, the reference");
}

TEST_F(EvidenceTree, ATwinIsTheKernelItNames) {
  KernelMap twin = maps[0];
  twin.contract.id = "twin";
  twin.implementations.clear();
  twin.sameAs = maps[0].id();
  maps.push_back(twin);
  SourceDigests digests(tree.root, maps);
  EXPECT_EQ(MapBuilder::get(digests.kernel(maps[1])), MapBuilder::get(digests.kernel(maps[0])));
}

TEST_F(EvidenceTree, ProgramsOlderThanTheSourcesProveNothing) {
  tree.write("old", "");
  tree.write("new", "");
  const std::string old = tree.root + "/old", recent = tree.root + "/new";
  const auto now = std::filesystem::last_write_time(recent);
  std::filesystem::last_write_time(old, now - std::chrono::hours(1));
  std::filesystem::last_write_time(recent, now + std::chrono::hours(1));
  auto refusal = [&](const std::string &library, const std::string &program) {
    SourceDigests digests(tree.root, maps);
    Status status = digests.checkBuilt(maps[0], library, program);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(refusal(recent, recent), "");
  EXPECT_EQ(refusal(old, recent), "lib/Runtime/Kernels/Shared.h: is newer than " + old + "; build first, then record");
  EXPECT_EQ(refusal(recent, old), "test/reference/Mul.cpp: is newer than " + old + "; build first, then record");
  EXPECT_NE(refusal(tree.root + "/absent", recent).find("cannot see when it was built"), std::string::npos);
}

TEST_F(EvidenceTree, MissingSourcesAreErrors) {
  maps[0].implementations[0].source = "math/absent.cpp";
  SourceDigests digests(tree.root, maps);
  ck::Result<std::string> digest = digests.kernel(maps[0]);
  ASSERT_FALSE(digest);
  EXPECT_NE(digest.error().message.find("math/absent.cpp"), std::string::npos) << digest.error().message;
}

TEST_F(EvidenceTree, RecordsCanBeReadBack) {
  EvidenceTable table = {{"test_mul", evidence()}};
  EvidenceTable again = MapBuilder::get(parseEvidence(recordText(table), "r.json"));
  ASSERT_EQ(again.size(), 1u);
  const Evidence &one = again["test_mul"];
  EXPECT_EQ(one.result, "passed");
  EXPECT_EQ(one.geometries, 35);
  EXPECT_EQ(one.tolerance, 1e-6);
  EXPECT_EQ(one.maxError, 3e-8);
  EXPECT_EQ(one.isas, std::vector<std::string>{"scalar"});
  EXPECT_EQ(changed(one), "");
}

TEST(Evidence, BadRecordsAreRefused) {
  for (const auto &[text, what] :
       {std::pair("", "r.json: "), std::pair("{}", "r.json: "),
        std::pair(R"({"format": "ck-evidence-9", "kernels": []})", "expected \"ck-evidence-1\""),
        std::pair(R"({"format": "ck-evidence-1", "kernels": [{"id": "a", "evidence": {}}]})", "r.json: a: "),
        std::pair(R"({"format": "ck-evidence-1", "kernels": [{}]})", "r.json: kernel 0: ")}) {
    ck::Result<EvidenceTable> table = parseEvidence(text, "r.json");
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().message.find(what), std::string::npos) << table.error().message;
  }
}

} // namespace
