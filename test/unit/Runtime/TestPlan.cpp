//===- TestPlan.cpp - a small valid plan ----------------------------------===//
//
// One weight w[4], one constant twice[4] = 2 * w made by init, one state sum[1]. Entry `main` of dim T <= 4 gives
// y = 0.5 * ((x + 2w) over T values), out = running sums of y carried on in `sum`, and has a step that refuses x > 10.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

using nlohmann::json;

std::string writeFile(const std::string &text) {
  std::string path = testing::TempDir() + "ck-runtime-" + std::to_string(getpid()) + ".ckplan";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

json testPlan() {
  return json::parse(R"({
    "format": "ckplan", "version": 1, "abi": 1, "name": "tiny", "digest": "0123",
    "const_bytes": 64, "state_bytes": 64,
    "buffers": [
      {"name": "w", "role": "weight", "dtype": "f32", "dims": [4], "bytes": 16, "file": "m.safetensors", "tensor": "W"},
      {"name": "twice", "role": "const", "dtype": "f32", "dims": [4], "bytes": 16, "offset": 0},
      {"name": "sum", "role": "state", "dtype": "f32", "dims": [1], "bytes": 4, "offset": 32}
    ],
    "kernels": [
      {"id": "test_add", "digest": "digest-of-add", "slots": 5},
      {"id": "test_cumsum", "digest": "digest-of-cumsum", "slots": 4},
      {"id": "test_limit", "digest": "digest-of-limit", "slots": 2},
      {"id": "test_scratch", "digest": "digest-of-scratch", "slots": 3}
    ],
    "entries": [
      {"name": "init", "arena_bytes": 0, "thread_scratch_bytes": 0, "dims": [], "inputs": [], "outputs": [],
       "steps": [{"kernel": 0, "slots": [{"w": 0}, {"w": 0}, {"c": 0, "bytes": 16}, 4, {"f": 1}]}]},
      {"name": "main", "arena_bytes": 128, "thread_scratch_bytes": 64, "dims": [{"name": "T", "bound": 4}],
       "inputs": [{"name": "x", "dtype": "f32", "dims": ["T"]}],
       "outputs": [{"name": "out", "dtype": "f32", "dims": ["T"]}, {"name": "flag", "dtype": "f32", "dims": [1]}],
       "steps": [
         {"kernel": 2, "name": "guard", "slots": [{"i": 0}, {"n": "T"}]},
         {"kernel": 0, "name": "y", "slots": [{"i": 0}, {"c": 0}, {"a": 64, "bytes": 16}, {"n": "T"}, {"f": 0.5}]},
         {"kernel": 1, "name": "out", "slots": [{"a": 64}, {"s": 32, "bytes": 4}, {"o": 0}, {"n": "T"}]},
         {"check": "T", "bound": 4, "name": "T"},
         {"kernel": 3, "slots": [{"o": 1}, {"a": 0, "bytes": 64}, {"n": ["min", ["*", "T", 8], 64]}]}
       ]}
    ]})");
}

PlanPtr loadPlan(ck_context *ctx, const json &plan) {
  std::string path = writeFile(plan.dump());
  PlanPtr model(ck_plan_load(ctx, path.c_str()));
  std::remove(path.c_str());
  return model;
}
