//===- PositionReferenceTest.cpp - positions and grids worked out by hand -===//

#include "Contracts.h"
#include "ReferenceSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ck;
using namespace ck::reference;

namespace {

/// Text before and behind an image of two rows by three.
TEST(PositionReference, Multimodal) {
  Call call;
  call.attrs = {{"rows", int64_t(10)}, {"grid_x", int64_t(3)}, {"grid_y", int64_t(2)}};
  call.inputs = {
      {"prefix_start", tensor({1}, {2})}, {"position_base", tensor({1}, {2})}, {"text_pos", tensor({1}, {0})}};
  call.outputs = {{"positions", Tensor::zeros({4, 10})}, {"next_position", Tensor::zeros({1})}};
  run("multimodal_positions", call);
  expectNear(call.out("positions"), {0, 1, 2, 2, 2, 2, 2, 2, 5, 6, 0, 1, 2, 2, 2, 3, 3, 3, 5, 6,
                                     0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expectNear(call.out("next_position"), {5});
  call.inputs["prefix_start"].data[0] = 5;
  EXPECT_EQ(errorCode("multimodal_positions", call), "INVALID_ARGUMENT");
}

/// Three columns in tiles of two: the last tile is cut.
TEST(PositionReference, TileOrder) {
  Call call;
  call.attrs = {{"grid_h", int64_t(2)}, {"grid_w", int64_t(3)}, {"merge_size", int64_t(2)}};
  call.outputs["positions"] = Tensor::zeros({4, 6});
  run("position_ids", call);
  expectNear(call.out("positions"), {0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 2, 2, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 2, 2});
}

/// A line of two samples over four cells: halfway cells lie a quarter of a sample off the centres.
TEST(PositionReference, TablesResized) {
  Call call;
  call.attrs = {{"grid_h", int64_t(1)}, {"grid_w", int64_t(4)}, {"source_grid", int64_t(2)}};
  call.attrs["mode"] = std::string("antialias");
  call.inputs = {{"x", tensor({4, 1}, {0, 0, 0, 0})}, {"table", tensor({4, 1}, {0, 4, 0, 4})}};
  call.outputs["y"] = Tensor::zeros({4, 1});
  run("position_embedding_2d", call);
  expectNear(call.out("y"), {0, 1, 3, 4});
  call.attrs["mode"] = std::string("align_corners");
  run("position_embedding_2d", call);
  expectNear(call.out("y"), {0, 4.0 / 3, 8.0 / 3, 4});
}

/// Pairs 0..3 of two interleaved sections follow time, height, the fourth stream and time.
TEST(PositionReference, InterleavedSections) {
  Call call;
  call.attrs = {{"mode", std::string("interleaved")},
                {"layout", std::string("head_major")},
                {"head_dim", int64_t(8)},
                {"rotary_dim", int64_t(8)},
                {"section_0", int64_t(2)},
                {"section_1", int64_t(1)},
                {"section_2", int64_t(0)},
                {"section_3", int64_t(1)},
                {"theta", 1.0}};
  call.inputs = {{"q", tensor({1, 1, 8}, {1, 1, 1, 1, 0, 0, 0, 0})}, {"positions", tensor({4, 1}, {1, 2, 3, 0})}};
  call.outputs["q_out"] = Tensor::zeros({1, 1, 8});
  run("mrope", call);
  expectNear(call.out("q_out"), {std::cos(1), std::cos(2), 1, std::cos(1), std::sin(1), std::sin(2), 0, std::sin(1)});
  // Three axes give what the sections leave to the first.
  call.attrs["mode"] = std::string("interleaved3");
  run("mrope", call);
  expectNear(call.out("q_out"),
             {std::cos(1), std::cos(2), std::cos(1), std::cos(1), std::sin(1), std::sin(2), std::sin(1), std::sin(1)});
}

/// Rows first, then columns with powers that start anew.
TEST(PositionReference, VisionSections) {
  Call call;
  call.attrs = {{"mode", std::string("vision")}, {"layout", std::string("head_major")},
                {"head_dim", int64_t(4)},        {"rotary_dim", int64_t(4)},
                {"section_0", int64_t(1)},       {"section_1", int64_t(1)}};
  call.inputs = {{"q", tensor({1, 1, 4}, {1, 1, 0, 0})}, {"positions", tensor({4, 1}, {3, 5, 0, 0})}};
  call.outputs["q_out"] = Tensor::zeros({1, 1, 4});
  run("mrope", call);
  expectNear(call.out("q_out"), {std::cos(3), std::cos(5), std::sin(3), std::sin(5)});
}

/// Waves of few turns are stretched, those of many kept; magnitudes grow by 0.1 ln 4 + 1.
TEST(PositionReference, YarnTable) {
  Call call;
  call.attrs = {{"rows", int64_t(2)},
                {"rotary_dim", int64_t(64)},
                {"scaling", std::string("yarn")},
                {"factor", 4.0},
                {"original_context", int64_t(4096)}};
  call.outputs = {{"cos", Tensor::zeros({2, 32})}, {"sin", Tensor::zeros({2, 32})}};
  run("rope_table", call);
  const double magnitude = 0.1 * std::log(4.0) + 1, slowest = std::pow(1e4, -62.0 / 64);
  EXPECT_NEAR(call.out("cos").data[0], magnitude, 1e-12);
  EXPECT_NEAR(call.out("sin").data[32], magnitude * std::sin(1.0), 1e-12);
  EXPECT_NEAR(call.out("sin").data[63], magnitude * std::sin(slowest / 4), 1e-12);
  // The exact form differs by its roundings alone.
  Call exact = call;
  findContract("rope_table_yarn")->evaluate(exact);
  expectNear(exact.out("sin"), call.out("sin").data, 2e-7);
}

} // namespace
