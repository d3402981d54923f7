//===- MutantsTest.cpp - are mutants applied, built and judged right? -----===//

#include "Mutants.h"
#include "CheckSupport.h"
#include "Process.h"
#include "TemporaryTree.h"

using namespace ck;
using namespace ck::check;

namespace {

const char mutants[] = R"([{"file": "math/a.cpp", "before": "x + 1", "after": "x", "what": "off by one"},
  {"file": "math/A.h", "source": "math/a.cpp", "before": "<", "after": "<=", "what": "one too many"}])";

TEST(Mutants, ListsAreRead) {
  std::vector<Mutant> list = MapBuilder::get(parseMutants(mutants, "dir/math.json"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].family, "math");
  EXPECT_EQ(list[0].source, "math/a.cpp");
  EXPECT_EQ(list[1].file, "math/A.h");
  EXPECT_EQ(list[1].source, "math/a.cpp");
}

TEST(Mutants, BadListsAreRefused) {
  for (const auto &[text, what] :
       {std::pair("", "m.json: #/0: "), std::pair("[]", "m.json: lists no mutant"),
        std::pair(R"([{"file": "a.cpp", "before": "x", "after": "x", "what": "?"}])", "must say something"),
        std::pair(R"([{"file": "a.cpp", "before": "x", "after": "y", "what": "?", "line": 3}])",
                  "unknown field \"line\""),
        std::pair(R"([{"file": "a.cpp", "before": "x", "after": "y"}])", "m.json: #/0: "),
        std::pair(R"([{"file": "a.h", "before": "x", "after": "y", "what": "?"}])", "a header needs")}) {
    ck::Result<std::vector<Mutant>> list = parseMutants(text, "m.json");
    ASSERT_FALSE(list) << text;
    EXPECT_NE(list.error().message.find(what), std::string::npos) << list.error().message;
  }
}

TEST(Mutants, AMutantAppliesOnceOrNotAtAll) {
  Mutant mutant = {"math", "math/a.cpp", "math/a.cpp", "x + 1", "x", "off by one"};
  Mutation mutation = MapBuilder::get(applyMutant(mutant, "int f(int x) {\n  return x + 1;\n}\n"));
  EXPECT_EQ(mutation.line, 2);
  EXPECT_EQ(mutation.text, "int f(int x) {\n  return x;\n}\n");
  ck::Result<Mutation> twice = applyMutant(mutant, "x + 1, x + 1"), never = applyMutant(mutant, "x - 1");
  ASSERT_FALSE(twice);
  ASSERT_FALSE(never);
  EXPECT_NE(twice.error().message.find("'x + 1' 2 times, expected once"), std::string::npos);
  EXPECT_NE(never.error().message.find("0 times"), std::string::npos);
}

TEST(Mutants, TheListsOfThisTreeApply) {
  const std::string tree = CK_SOURCE_DIR;
  std::map<std::string, int> families;
  for (const Mutant &mutant : MapBuilder::get(loadMutants(tree + "/test/mutants", ""))) {
    ck::Result<std::string> text = readText(tree + "/lib/Runtime/Kernels/" + mutant.file);
    ASSERT_TRUE(text) << text.error().message;
    ck::Result<Mutation> mutation = applyMutant(mutant, *text);
    EXPECT_TRUE(mutation) << mutation.error().message;
    ++families[mutant.family];
  }
  for (const std::filesystem::directory_entry &entry :
       std::filesystem::directory_iterator(tree + "/lib/Runtime/Kernels"))
    if (entry.is_directory()) {
      EXPECT_GE(families[entry.path().filename().string()], 10) << entry.path();
    }
}

TEST(Mutants, CommandsOfTheRuntimeAreFoundAndRedirected) {
  const char commands[] = R"([
    {"directory": "/b", "file": "/s/lib/Runtime/Kernels/math/a.cpp",
     "command": "/usr/bin/ccache /bin/c++ -I/s/lib/Runtime/Kernels -O3 -o CMakeFiles/CKKernels.dir/a.o -c /s/lib/Runtime/Kernels/math/a.cpp"},
    {"directory": "/b", "file": "/s/x.cpp", "command": "/bin/c++ -o CMakeFiles/tool.dir/x.o -c /s/x.cpp"}])";
  RuntimeBuild build = MapBuilder::get(parseRuntimeBuild(commands, "c.json"));
  EXPECT_EQ(build.compiler, "/bin/c++");
  ASSERT_EQ(build.units.size(), 1u);
  const RuntimeBuild::Unit &unit = build.units.begin()->second;
  EXPECT_EQ(unit.output, "/b/CMakeFiles/CKKernels.dir/a.o");
  EXPECT_EQ(build.compile(unit, "/s/lib/Runtime/Kernels", "/w/Kernels", "/w/m.o"),
            "/usr/bin/ccache /bin/c++ -I/w/Kernels -O3 -o /w/m.o -c /w/Kernels/math/a.cpp -w");
  EXPECT_FALSE(parseRuntimeBuild("[]", "c.json"));
  EXPECT_FALSE(parseRuntimeBuild("{", "c.json"));
}

TEST(Mutants, ComplaintsOfTheChecker) {
  Report report;
  report.id = "test_mul";
  report.result = Report::Result::Failed;
  report.failures.push_back({"mul", 3, "N=7", "output[3] is 1, expected 2"});
  EXPECT_EQ(firstComplaint("a: passed: ...\n" + toString(report, {}) + "\n"),
            "test_mul: as mul: output[3] is 1, expected 2");
  EXPECT_EQ(firstComplaint("a: passed: ...\nck-kernels: the kernel touched memory outside its operands: b: N=1\n"),
            "the kernel touched memory outside its operands: b: N=1");
  EXPECT_EQ(firstComplaint("a: passed: ...\n"), "");
  EXPECT_EQ(firstComplaint("ck-kernels: error: there is no kernel 'x'\n"), "");
}

TEST(Process, CodesOutputAndTime) {
  TemporaryTree tree;
  const std::string log = tree.root + "/log";
  Outcome fine = MapBuilder::get(runShell("echo " + shellWord("it's"), tree.root, log, 10));
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.output, "it's\n");
  EXPECT_EQ(MapBuilder::get(runShell("exit 3", tree.root, log, 10)).code, 3);
  EXPECT_EQ(MapBuilder::get(runShell("kill -SEGV $$", tree.root, log, 10)).code, 128 + 11);
  Outcome slow = MapBuilder::get(runShell("sleep 100 & sleep 100", tree.root, log, 1));
  EXPECT_TRUE(slow.timedOut);
  EXPECT_FALSE(runShell("true", tree.root, tree.root + "/absent/log", 10));
  EXPECT_EQ(MapBuilder::get(runShell("true", tree.root + "/absent", log, 10)).code, 126);
}

} // namespace
