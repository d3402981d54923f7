//===- GeometryTest.cpp - are the right cases drawn? ----------------------===//

#include "Geometry.h"
#include "CheckSupport.h"

using namespace ck;
using namespace ck::check;

namespace {

std::vector<Geometry> drawAll(const MapBuilder &builder, int count, uint64_t seed = 1) {
  const KernelMap &map = builder.map;
  GeometryDrawer drawer(map, map.implements[0], *reference::findOperation(map.implements[0].op), seed);
  std::vector<Geometry> list;
  for (int index = 0; index < drawer.edgeCases() + count; ++index) {
    ck::Result<Geometry> geometry = Error{"", ""};
    for (int attempt = 0; attempt < 400 && !geometry; ++attempt)
      geometry = drawer.draw(index, attempt);
    if (geometry)
      list.push_back(*geometry);
    else
      ADD_FAILURE() << index << ": " << geometry.error().message;
  }
  return list;
}

std::set<int64_t> extentsOf(const std::vector<Geometry> &list, const std::string &dim) {
  std::set<int64_t> extents;
  for (const Geometry &geometry : list)
    extents.insert(geometry.dims.at(dim));
  return extents;
}

MapBuilder elementwise() { return MapBuilder("mul", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"); }

TEST(Geometry, BlocksOf256HaveManyRowsToo) {
  MapBuilder map("linear", "input[...T,K]:q8_k, weight[N,K]:packed<q4_k,r16> -> output[...T,N]:f32");
  const std::set<int64_t> rows = extentsOf(drawAll(map.cost("T*N*K"), 32), "T");
  for (int64_t extent : {0, 1, 3, 17, 257, 513, 1000})
    EXPECT_TRUE(rows.count(extent)) << extent;
}

TEST(Geometry, ExtentsCoverTailsAndZero) {
  std::set<int64_t> extents = extentsOf(drawAll(elementwise(), 30), "N");
  for (int64_t extent : {0, 1, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 127, 129, 257, 33003})
    EXPECT_TRUE(extents.count(extent)) << extent;
}

TEST(Geometry, LongRowsComeUpAmongOtherDims) {
  // Of 33003 columns there can be few rows.
  std::vector<Geometry> list = drawAll(MapBuilder("glu", "gate[T,2*F]:f32 -> output[T,F]:f32"), 32);
  for (const char *dim : {"T", "F"})
    EXPECT_TRUE(extentsOf(list, dim).count(33003)) << dim;
}

TEST(Geometry, EveryDimIsZeroOnce) {
  std::vector<Geometry> list =
      drawAll(MapBuilder("linear", "input[...T,K]:f32, weight[N,K]:f32 -> output[...T,N]:f32"), 8);
  for (const char *dim : {"T", "K", "N"})
    EXPECT_TRUE(extentsOf(list, dim).count(0)) << dim;
}

TEST(Geometry, LiteralDimsStay) {
  for (const Geometry &geometry :
       drawAll(MapBuilder("linear", "input[1,K]:f32, weight[N,K]:f32 -> output[1,N]:f32"), 8))
    EXPECT_EQ(geometry.layouts.at("input").shape[0], 1);
}

TEST(Geometry, RequirementsHoldAndTheirConstantsCount) {
  std::vector<Geometry> list = drawAll(elementwise().require("N % 96 == 0"), 20);
  std::set<int64_t> extents = extentsOf(list, "N");
  for (int64_t extent : extents)
    EXPECT_EQ(extent % 96, 0);
  EXPECT_TRUE(extents.count(96) && extents.count(192) && extents.count(288));
}

MapBuilder attention() {
  return MapBuilder("attention", "q[T,H*D]:f32, k[KV,S,D]:f32, v[KV,S,D]:f32, pos[T]:i32, sinks[H]:f32? -> "
                                 "output[T,H*D]:f32, lse[H,T]:f32?")
      .where("H = $heads")
      .where("KV = $kv_heads")
      .param("softcap:f64")
      .param("scale:f64");
}

TEST(Geometry, HeadGroupsThatNoVectorWidthDivides) {
  std::set<int64_t> groups;
  for (const Geometry &geometry : drawAll(attention(), 16))
    groups.insert(geometry.dims.at("H") / geometry.dims.at("KV"));
  for (int64_t group : {1, 3, 7, 24})
    EXPECT_TRUE(groups.count(group)) << group;
}

TEST(Geometry, OptionalOperandsInEveryCombination) {
  std::set<std::pair<bool, bool>> seen;
  for (const Geometry &geometry : drawAll(attention(), 16))
    seen.insert({geometry.present.count("sinks"), geometry.present.count("lse")});
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Geometry, OperandsThatBelongTogether) {
  MapBuilder rope = MapBuilder("rope", "q[T,H*D]:f32, k[T,KV*D]:f32?, pos[T]:i32, cos[S,P]:f32, sin[S,P]:f32 -> "
                                       "q_out[T,H*D]:f32, k_out[T,KV*D]:f32?")
                        .where("D = $head_dim")
                        .require("2*P <= D");
  std::set<bool> seen;
  for (const Geometry &geometry : drawAll(rope, 16)) {
    EXPECT_EQ(geometry.present.count("k"), geometry.present.count("k_out"));
    EXPECT_EQ(geometry.dims.at("KV") == 0 || geometry.hasZero, geometry.present.count("k") == 0 || geometry.hasZero);
    seen.insert(geometry.present.count("k"));
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Geometry, PinnedAttributesStay) {
  for (const Geometry &geometry : drawAll(elementwise(), 4))
    EXPECT_TRUE(geometry.attrs.empty());
  MapBuilder add = MapBuilder("add", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32").attr("alpha", int64_t(1));
  for (const Geometry &geometry : drawAll(add, 8)) {
    EXPECT_EQ(std::get<double>(geometry.attrs.at("alpha")), 1.0);
    EXPECT_EQ(std::get<double>(geometry.attrs.at("scale")), 1.0) << "neither parameter nor pinned: the default";
  }
  std::set<double> alphas;
  for (const Geometry &geometry :
       drawAll(add = MapBuilder("add", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32").param("alpha:f64"), 8))
    alphas.insert(std::get<double>(geometry.params.at("alpha")));
  EXPECT_GT(alphas.size(), 2u);
}

TEST(Geometry, RenamedParameters) {
  MapBuilder map =
      MapBuilder("activation", "input[...N]:f32 -> output[...N]:f32").param("f:{tanh,sin}").bind("f", "kind");
  for (const Geometry &geometry : drawAll(map, 4)) {
    EXPECT_EQ(geometry.params.at("f"), geometry.attrs.at("kind"));
    EXPECT_FALSE(geometry.attrs.count("f"));
  }
}

TEST(Geometry, PiecesAddUp) {
  MapBuilder concat = MapBuilder("concat", "input0[A,N0]:f32, input1[A,N1]:f32?, input2[A,N2]:f32? -> output[A,N]:f32")
                          .attr("axis", int64_t(1));
  std::set<size_t> pieces;
  for (const Geometry &geometry : drawAll(concat, 16)) {
    int64_t sum = 0;
    for (const char *dim : {"N0", "N1", "N2"})
      sum += geometry.dims.at(dim);
    EXPECT_EQ(geometry.dims.at("N"), sum);
    pieces.insert(geometry.present.size());
  }
  EXPECT_EQ(pieces.size(), 3u);
}

TEST(Geometry, StridesLeaveRoomAndSometimesTranspose) {
  bool compact = false, padded = false, transposed = false;
  for (const Geometry &geometry : drawAll(MapBuilder("copy", "input[A,B]{*,*}:f32 -> output[A,B]:f32"), 32)) {
    const Layout &layout = geometry.layouts.at("input");
    if (layout.shape[0] < 2 || layout.shape[1] < 2)
      continue;
    compact |= layout.strides == Layout::compact(layout.shape).strides;
    padded |= layout.strides[1] == 1 && layout.strides[0] > layout.shape[1];
    transposed |= layout.strides[0] == 1 && layout.strides[1] >= layout.shape[0];
    std::set<int64_t> positions;
    for (int64_t i = 0; i < layout.elements(); ++i)
      EXPECT_TRUE(positions.insert(layout.position(i)).second) << "two elements in one place";
  }
  EXPECT_TRUE(compact && padded && transposed);
}

TEST(Geometry, SeedsDecide) {
  std::vector<Geometry> a = drawAll(attention(), 8, 3), b = drawAll(attention(), 8, 3), c = drawAll(attention(), 8, 4);
  bool differs = false;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].str(), b[i].str());
    EXPECT_EQ(a[i].seed, b[i].seed);
    differs |= a[i].str() != c[i].str();
  }
  EXPECT_TRUE(differs);
}

} // namespace
