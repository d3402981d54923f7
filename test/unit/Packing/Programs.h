//===- Programs.h - problems shaped like real programs ----------*- C++ -*-===//
#ifndef CK_TEST_UNIT_PACKING_PROGRAMS_H
#define CK_TEST_UNIT_PACKING_PROGRAMS_H

#include "ck/Packing/Packing.h"

namespace ck::test {

/// A training step of `layers` decoder layers: what a layer's forward half saves lives until its backward half, so that
/// lifetimes nest; gradients and scratch of calls are short. About 60 buffers a layer, a thousand calls for sixteen.
inline std::vector<PackItem> trainingStep(int layers, int64_t rows = 512, int64_t width = 768, int64_t hidden = 2048) {
  std::vector<PackItem> items;
  constexpr int64_t forward = 24, backward = 40;
  int64_t steps = layers * (forward + backward);
  auto add = [&](const std::string &name, int64_t bytes, int64_t first, int64_t last) {
    PackItem item;
    item.name = name;
    item.size = (bytes + 63) / 64 * 64;
    item.alignment = 64;
    item.ranges.push_back({first, last + 1});
    items.push_back(std::move(item));
  };
  int64_t row = rows * width * 4, wide = rows * hidden * 4, kv = row / 3;
  for (int layer = 0; layer < layers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer) + ".";
    int64_t f = layer * forward, b = steps - (layer + 1) * backward;
    // Saved from forward to backward: the later a layer, the shorter.
    const struct {
      const char *name;
      int64_t bytes, born, dies;
    } saved[] = {
        {"norm", row, 0, 38},   {"rstd", rows * 4, 0, 39},   {"q", row, 2, 30},         {"k", kv, 4, 31},
        {"v", kv, 6, 29},       {"attention", row, 9, 27},   {"lse", rows * 48, 9, 26}, {"residual", row, 12, 22},
        {"norm2", row, 13, 20}, {"rstd2", rows * 4, 13, 21}, {"gate", wide, 15, 12},    {"up", wide, 17, 12},
        {"act", wide, 19, 6}};
    for (const auto &s : saved)
      add(prefix + s.name, s.bytes, f + s.born, b + s.dies);
    for (int64_t call = 1; call < forward; call += 2) {
      add(prefix + "tmp" + std::to_string(call), call % 4 == 1 ? row : kv, f + call, f + call + 1);
      add(prefix + "pack" + std::to_string(call), width * 64 * (1 + call % 5), f + call, f + call);
    }
    for (int64_t call = 1; call < backward; call += 2) {
      add(prefix + "d" + std::to_string(call), call < 14 ? wide : row, b + call, b + call + 2);
      add(prefix + "dpack" + std::to_string(call), width * 96 * (1 + call % 7), b + call, b + call);
      add(prefix + "partial" + std::to_string(call), 4 * width * (1 + call % 3), b + call, b + call + 1);
    }
  }
  return items;
}

} // namespace ck::test

#endif // CK_TEST_UNIT_PACKING_PROGRAMS_H
