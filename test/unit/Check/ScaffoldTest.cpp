//===- ScaffoldTest.cpp - the files of a new kernel -----------------------===//

#include "Scaffold.h"
#include "CheckSupport.h"
#include "TemporaryTree.h"

using namespace ck;
using namespace ck::check;

namespace {

class ScaffoldTree : public ::testing::Test {
protected:
  void SetUp() override {
    tree.write("test/reference/Reference.h", "std::vector<Operation> aOperations();\n} // namespace\n");
    tree.write("test/reference/Reference.cpp", "    for (auto make : {aOperations})\n      use(make());\n");
    tree.write("kernel_maps/inventory.tsv", "id\toperation\tfamily\nlisted_mul\tproducts\tfp32\n");
    MapBuilder builder("activation", "input[...N]:f32 -> output[...N]:f32");
    builder.param("kind:{silu,relu}").param("alpha:f64 = 1").require("N % 2 == 0").cost("3*N");
    maps = {builder.map};
  }
  std::vector<SourceFile> files(const std::string &id, const std::string &op) {
    return MapBuilder::get(scaffold(id, op, "pointwise", tree.root, maps));
  }
  std::string refusal(const std::string &id, const std::string &op, const std::string &family) {
    auto files = scaffold(id, op, family, tree.root, maps);
    return files ? "" : files.error().message;
  }

  TemporaryTree tree;
  std::vector<KernelMap> maps;
};

TEST_F(ScaffoldTree, AKnownOperationNeedsMapAndKernel) {
  std::vector<SourceFile> list = files("my_act_bf16", "activation");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].path, "kernel_maps/pointwise/my_act_bf16.json");
  KernelMap map = MapBuilder::get(parseKernelMap(list[0].text, list[0].path));
  EXPECT_EQ(map.contract.signature.str(), maps[0].contract.signature.str());
  ASSERT_EQ(map.contract.params.size(), 2u);
  EXPECT_EQ(map.contract.params[1].str(), "alpha:f64 = 1");
  EXPECT_EQ(map.requirements.size(), 1u);
  EXPECT_EQ(map.cost->str(), "1000*(3*N)+1000");
  EXPECT_EQ(list[1].path, "lib/Runtime/Kernels/pointwise/my_act_bf16.cpp");
  EXPECT_NE(list[1].text.find("CK_PORTABLE_KERNEL(my_act_bf16)"), std::string::npos);
  EXPECT_NE(list[1].text.find("the kernel is not written yet"), std::string::npos);
}

TEST_F(ScaffoldTree, ANewOperationNeedsAReferenceToo) {
  std::vector<SourceFile> list = files("sort_rows_f32", "sort_rows");
  ASSERT_EQ(list.size(), 5u);
  EXPECT_TRUE(parseKernelMap(list[0].text, list[0].path));
  EXPECT_EQ(list[2].path, "test/reference/SortRows.cpp");
  EXPECT_NE(list[2].text.find("the reference of sort_rows is not written yet"), std::string::npos);
  EXPECT_EQ(list[3].text, "std::vector<Operation> aOperations();\nstd::vector<Operation> sortRowsOperations();\n"
                          "} // namespace\n");
  EXPECT_EQ(list[4].text, "    for (auto make : {aOperations, sortRowsOperations})\n      use(make());\n");
  EXPECT_FALSE(list[4].isNew);
}

TEST_F(ScaffoldTree, TheInventoryNamesTheOperation) {
  KernelMap map = MapBuilder::get(parseKernelMap(files("listed_mul", "mul")[0].text, "pointwise/listed_mul.json"));
  EXPECT_EQ(map.operation, "products");
  EXPECT_EQ(map.implements[0].op, "mul");
}

TEST_F(ScaffoldTree, WhatIsThereStays) {
  EXPECT_NE(refusal("test_activation", "mul", "pointwise").find("there is a kernel 'test_activation' already"),
            std::string::npos);
  tree.write("lib/Runtime/Kernels/pointwise/mine.cpp", "");
  EXPECT_EQ(refusal("mine", "mul", "pointwise"),
            "lib/Runtime/Kernels/pointwise/mine.cpp: is there already; give the kernel or the operation another name");
  tree.write("test/reference/Reference.cpp", "");
  EXPECT_NE(refusal("mine", "sort", "pointwise").find("Reference.cpp: has no"), std::string::npos);
}

TEST_F(ScaffoldTree, NamesAreNames) {
  for (const char *name : {"", "A", "a__b", "_a", "a_", "1a", "a/b", "a b"}) {
    EXPECT_NE(refusal(name, "mul", "pointwise"), "") << name;
    EXPECT_NE(refusal("a", name, "pointwise"), "") << name;
    EXPECT_NE(refusal("a", "mul", name), "") << name;
  }
  EXPECT_EQ(refusal("a1_b2", "mul", "pointwise"), "");
}

} // namespace
