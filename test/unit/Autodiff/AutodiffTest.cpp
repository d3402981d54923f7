//===- AutodiffTest.cpp - gradients against finite differences ------------===//
//
// Every graph of graphs.mlir and stored-graphs.mlir is differentiated, also with sums folded into gradients and with
// layers computed again, and each gradient is compared with central differences of the graph as it was. Everything runs
// in double precision on the references, which are tested on their own, so that what is tested here is differentiation.
//
//===----------------------------------------------------------------------===//
#include "Interpreter.h"

#include "ck/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace ck;
using reference::Random;
using reference::Tensor;

namespace {

/// The graphs of the files, as text.
std::vector<std::string> graphs() {
  std::vector<std::string> texts;
  for (const char *name : {"graphs.mlir", "stored-graphs.mlir"}) {
    auto file = llvm::MemoryBuffer::getFile(std::string(CK_SOURCE_DIR) + "/test/unit/Autodiff/" + name);
    SmallVector<StringRef> parts;
    (*file)->getBuffer().split(parts, "// -----");
    for (StringRef part : parts)
      texts.push_back(part.str());
  }
  return texts;
}

class Graph {
public:
  explicit Graph(const std::string &text) {
    context.loadDialect<CKDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      entry = *module->getOps<func::FuncOp>().begin();
  }

  void drawValues();
  /// What is differentiated: losses, or all float outputs weighted by fixed numbers.
  double objective(const NamedTensors &values);
  void check(StringRef passes);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp entry;
  NamedTensors values, cotangents;
  Random random{17};
};

void Graph::drawValues() {
  auto draw = [&](RankedTensorType type) {
    Tensor tensor = Tensor::zeros(type.getShape().vec());
    for (double &value : tensor.data)
      value = random.uniform(-1.5, 1.5);
    return tensor;
  };
  for (const auto &[name, type] : operandTypes(entry))
    values[name] = draw(type);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    Tensor &tensor = values[entry.getArgAttrOfType<StringAttr>(i, "ck.input").str()];
    if (auto given = entry.getArgAttrOfType<DenseI64ArrayAttr>(i, "test.values"))
      tensor.data.assign(given.asArrayRef().begin(), given.asArrayRef().end());
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(entry.getResultTypes()[i]);
    std::string name = entry.getResultAttrOfType<StringAttr>(i, "ck.output").str();
    if (entry.getResultAttr(i, "ck.loss"))
      cotangents[name].data = {1};
    else if (isa<FloatType>(type.getElementType()))
      cotangents[name] = draw(type);
  }
}

double Graph::objective(const NamedTensors &at) {
  auto outputs = interpret(entry, at);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message);
  double sum = 0;
  if (outputs)
    for (const auto &[name, cotangent] : cotangents)
      for (size_t i = 0; i < cotangent.data.size(); ++i)
        sum += cotangent.data[i] * outputs->at(name).data[i];
  return sum;
}

void Graph::check(StringRef passes) {
  SCOPED_TRACE(passes.str());
  OwningOpRef<ModuleOp> changed(module->clone());
  PassManager manager(&context);
  std::string error;
  llvm::raw_string_ostream stream(error);
  ASSERT_TRUE(succeeded(parsePassPipeline(passes, manager, stream))) << error;
  ASSERT_TRUE(succeeded(manager.run(*changed)));
  NamedTensors given = values;
  for (const auto &[name, cotangent] : cotangents)
    given["d_" + name] = cotangent;
  auto outputs = interpret(*changed->getOps<func::FuncOp>().begin(), given);
  ASSERT_TRUE(outputs) << outputs.error().message;

  unsigned compared = 0;
  for (const auto &[name, gradient] : *outputs) {
    if (name.rfind("d_", 0) != 0)
      continue;
    SCOPED_TRACE(name);
    double largest = 1;
    for (double value : gradient.data)
      largest = std::max(largest, std::abs(value));
    NamedTensors at = values;
    Tensor &moved = at.at(name.substr(2));
    ASSERT_EQ(moved.data.size(), gradient.data.size());
    for (size_t i = 0; i < gradient.data.size(); ++i, ++compared) {
      const double step = 1e-5, here = moved.data[i];
      moved.data[i] = here + step;
      double above = objective(at);
      moved.data[i] = here - step;
      double below = objective(at);
      moved.data[i] = here;
      ASSERT_NEAR(gradient.data[i], (above - below) / (2 * step), 1e-7 * largest) << "element " << i;
    }
  }
  EXPECT_GT(compared, 0u);
}

struct Autodiff : testing::TestWithParam<std::string> {};

TEST_P(Autodiff, MatchesFiniteDifferences) {
  Graph graph(GetParam());
  ASSERT_TRUE(graph.module);
  graph.drawValues();
  std::string save = graph.entry->hasAttr("test.probs") ? "ck-autodiff{save=probs}" : "ck-autodiff";
  graph.check(save);
  graph.check(save + ",ck-fold-accumulate,canonicalize,cse");
  graph.check(save + ",ck-checkpoint{policy=layer},canonicalize,cse");
}

std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  StringRef text = info.param;
  return text.substr(text.find("func.func @") + 11).take_until([](char c) { return c == '('; }).str();
}

INSTANTIATE_TEST_SUITE_P(Graphs, Autodiff, testing::ValuesIn(graphs()), nameOf);

} // namespace

int main(int argc, char **argv) {
  registerCKTransformsPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
