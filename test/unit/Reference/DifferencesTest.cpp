//===- DifferencesTest.cpp - every gradient is the derivative of its operation ===//

#include "Differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace ck;
using namespace ck::test;
using namespace ck::reference;

namespace {

const std::vector<KernelMap> &maps() {
  static const std::vector<KernelMap> all = [] {
    Result<std::vector<KernelMap>> loaded = loadKernelMaps(defaultKernelMapDir());
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? std::move(*loaded) : std::vector<KernelMap>();
  }();
  return all;
}

/// Sums onto what is there are the business of ck::reference::evaluate, not of the formula.
bool accumulates(const Implements &implements) {
  auto attr = implements.attrs.find("accumulate");
  return attr != implements.attrs.end() && attr->second != Param(std::string("none"));
}

/// Codes are integers: the gradient is that of the values that they stand for.
bool isOfCodes(const Pair &pair, const std::string &result) {
  auto codes = pair.forwardCall.attrs.find("codes");
  return result == "d_input" && codes != pair.forwardCall.attrs.end() && codes->second != Param(std::string("none"));
}

int64_t elementsOf(const check::Geometry &geometry) {
  int64_t count = 0;
  for (const auto &[name, layout] : geometry.layouts)
    count += layout.elements();
  return count;
}

/// Results that are not the gradient of an operand, by operation: d_scores is that of a value inside.
bool isExtra(const Operation &gradient, const std::string &result) {
  return gradient.name == "attention_probs_grad" && result == "d_scores";
}

/// Tries the geometries of one map; counts those tried and notes the gradients compared.
void checkMap(const Operation &gradient, const KernelMap &map, const Implements &implements, int &tried,
              std::set<std::string> &compared) {
  const Operation *forward = forwardOf(gradient);
  ASSERT_TRUE(forward) << gradient.name << " has no forward operation";
  check::GeometryDrawer drawer(map, implements, gradient, 7);
  for (int index = drawer.edgeCases(); index < drawer.edgeCases() + 12; ++index)
    for (int attempt = 0; attempt < 400; ++attempt) {
      Result<check::Geometry> geometry = drawer.draw(index, attempt);
      if (!geometry || geometry->hasZero || elementsOf(*geometry) > 1500)
        continue;
      Result<Pair> pair = makePair(*forward, gradient, map, drawer, *geometry);
      if (!pair && pair.error().code == "REJECTED")
        continue;
      ASSERT_TRUE(pair) << map.id() << ", " << geometry->str() << ": " << pair.error().message;
      for (const auto &[name, result] : pair->gradientCall.outputs) {
        if (name.compare(0, 2, "d_") != 0 || isExtra(gradient, name) || isOfCodes(*pair, name))
          continue;
        ASSERT_TRUE(pair->forwardCall.optional(name.substr(2))) << name << " is the gradient of no operand";
        ASSERT_EQ(compareGradient(*pair, name.substr(2), geometry->seed), "") << map.id() << ", " << geometry->str();
        compared.insert(name);
      }
      ++tried;
      break;
    }
}

class Differences : public testing::TestWithParam<const Operation *> {};

TEST_P(Differences, GradientIsTheDerivative) {
  const Operation &gradient = *GetParam();
  ASSERT_TRUE(forwardOf(gradient)) << gradient.name << " is the gradient of no operation";
  int tried = 0;
  std::set<std::string> compared;
  for (const KernelMap &map : maps())
    for (const Implements &implements : map.implements)
      if (implements.op == gradient.name && map.sameAs.empty() && !accumulates(implements))
        checkMap(gradient, map, implements, tried, compared);
  EXPECT_GE(tried, 6) << "no kernel map of " << gradient.name << " gave enough geometries";
  for (const std::string &entry : gradient.outputs) {
    if (entry.compare(0, 2, "d_") == 0 && !isExtra(gradient, bareName(entry))) {
      EXPECT_TRUE(compared.count(bareName(entry))) << bareName(entry) << " was never compared";
    }
  }
}

std::vector<const Operation *> gradients() {
  std::vector<const Operation *> list;
  for (const Operation &operation : operations())
    if (isGradient(operation))
      list.push_back(&operation);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, Differences, testing::ValuesIn(gradients()),
                         [](const testing::TestParamInfo<const Operation *> &info) { return info.param->name; });

TEST(DifferencesItself, GradientWithoutForwardIsNoticed) {
  Operation stray;
  stray.name = "wobble_grad";
  EXPECT_TRUE(isGradient(stray));
  EXPECT_FALSE(forwardOf(stray));
}

TEST(DifferencesItself, LossIsItsOwnForward) {
  const Operation *loss = findOperation("cross_entropy");
  ASSERT_TRUE(loss);
  EXPECT_TRUE(isGradient(*loss));
  EXPECT_EQ(forwardOf(*loss), loss);
  EXPECT_FALSE(isGradient(*findOperation("adamw")));
}

/// A gradient with one wrong element is found.
TEST(DifferencesItself, WrongGradientIsNoticed) {
  const Operation *gradient = findOperation("activation_grad");
  ASSERT_TRUE(gradient);
  auto map = std::find_if(maps().begin(), maps().end(),
                          [](const KernelMap &candidate) { return candidate.id() == "activation_grad_f32"; });
  ASSERT_NE(map, maps().end());
  check::GeometryDrawer drawer(*map, map->implements[0], *gradient, 7);
  Result<check::Geometry> geometry = drawer.draw(0, 0);
  ASSERT_TRUE(geometry) << geometry.error().message;
  Result<Pair> pair = makePair(*forwardOf(*gradient), *gradient, *map, drawer, *geometry);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(compareGradient(*pair, "input", 1), "");
  pair->gradientCall.outputs["d_input"].data[0] += 1e-5;
  EXPECT_NE(compareGradient(*pair, "input", 1), "");
}

/// The adjoint of a rotation is the rotation back: <y, R x> = <R' y, x>.
TEST(Adjoint, InverseRope) {
  const Operation *rope = findOperation("rope");
  ASSERT_TRUE(rope);
  int tried = 0;
  for (const KernelMap &map : maps())
    for (const Implements &implements : map.implements) {
      if (implements.op != "rope")
        continue;
      check::GeometryDrawer drawer(map, implements, *rope, 7);
      for (int index = drawer.edgeCases(); index < drawer.edgeCases() + 4; ++index)
        for (int attempt = 0; attempt < 400; ++attempt) {
          Result<check::Geometry> geometry = drawer.draw(index, attempt);
          if (!geometry || geometry->hasZero || elementsOf(*geometry) > 4000)
            continue;
          Random random(geometry->seed);
          Call call;
          call.attrs = geometry->attrs;
          for (const SigOperand &operand : map.contract.signature.inputs)
            if (geometry->present.count(operand.name)) {
              Tensor &tensor = call.inputs[drawer.opName(operand.name)] =
                  Tensor::zeros(geometry->layouts.at(operand.name).shape);
              for (double &value : tensor.data)
                value = random.uniform(-1, 1);
            }
          for (const SigOperand &operand : map.contract.signature.outputs)
            if (geometry->present.count(operand.name))
              call.outputs[drawer.opName(operand.name)] = Tensor::zeros(geometry->layouts.at(operand.name).shape);
          if (rope->prepare && !rope->prepare(call, random))
            continue;
          Call back = call;
          ASSERT_TRUE(evaluate(*rope, call));
          back.attrs["inverse"] = !call.flag("inverse");
          for (const char *side : {"q", "k"})
            if (back.inputs.count(side))
              for (double &value : back.inputs[side].data)
                value = random.uniform(-1, 1);
          ASSERT_TRUE(evaluate(*rope, back));
          double there = 0, returned = 0;
          for (std::string side : {"q", "k"})
            for (size_t i = 0; call.inputs.count(side) && i < call.in(side).data.size(); ++i) {
              there += call.out(side + "_out").data[i] * back.in(side).data[i];
              returned += call.in(side).data[i] * back.out(side + "_out").data[i];
            }
          EXPECT_NEAR(there, returned, 1e-10) << map.id() << ", " << geometry->str();
          ++tried;
          break;
        }
    }
  EXPECT_GE(tried, 8);
}

} // namespace
