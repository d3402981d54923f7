//===- RowCodecTest.cpp - storage types to f32 and back -------------------===//
//
// The golden files hold bytes and values of a peer: what every reader of these formats must agree on.
//
//===----------------------------------------------------------------------===//
#include "ck/Import/Formats/RowCodec.h"
#include "FormatsSupport.h"
#include "ck/Import/Formats/Json.h"
#include "ck/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace ck;
using namespace ck::test;

namespace {

const char *const kTypes[] = {"f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k", "q6_k"};

bool isSearched(const std::string &type) { return type.back() == 'k'; }

struct Type {
  explicit Type(const std::string &name) : storage(*findStorageType(name)), codec(*findRowCodec(storage)) {}
  std::vector<uint8_t> encode(const std::vector<float> &values) const {
    std::vector<uint8_t> bytes(*tensorBytes(storage, {static_cast<int64_t>(values.size())}));
    EXPECT_EQ(codec.encode(values.data(), bytes.data(), values.size()), std::nullopt) << storage.name;
    return bytes;
  }
  std::vector<float> decode(const std::vector<uint8_t> &bytes) const {
    std::vector<float> values(bytes.size() / storage.blockBytes * storage.blockElements);
    codec.decode(bytes.data(), values.data(), values.size());
    return values;
  }
  std::optional<int64_t> refused(const std::vector<float> &values) const {
    std::vector<uint8_t> bytes(*tensorBytes(storage, {static_cast<int64_t>(values.size())}));
    return codec.encode(values.data(), bytes.data(), values.size());
  }
  const StorageType &storage;
  const RowCodec &codec;
};

/// The root mean square of the difference, relative to that of `x`.
double relativeError(const std::vector<float> &x, const std::vector<float> &y) {
  double error = 0, square = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    error += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
    square += double{x[i]} * x[i];
  }
  return square > 0 ? std::sqrt(error / square) : std::sqrt(error);
}

std::vector<float> gaussian(size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values) {
    double sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += random() / 4294967296.0;
    value = static_cast<float>((sum - 6) * deviation);
  }
  return values;
}

TEST(Half, EveryF16GoesThroughF32AndBack) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    float value = halfToFloat(half);
    bool nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff);
    EXPECT_EQ(std::isnan(value), nan) << half;
    if (!nan) {
      ASSERT_EQ(floatToHalf(value), half) << value;
    }
  }
  EXPECT_EQ(halfToFloat(0x3555), 0.333251953125f);
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f);
}

TEST(Half, RoundsTiesToEven) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    float low = halfToFloat(half), high = halfToFloat(half + 1), middle = low + (high - low) / 2;
    ASSERT_EQ(floatToHalf(middle), half + (half & 1));
    ASSERT_EQ(floatToHalf(std::nextafter(middle, 0.0f)), half);
    ASSERT_EQ(floatToHalf(std::nextafter(middle, 1e9f)), half + 1);
    ASSERT_EQ(floatToHalf(-middle), 0x8000 | (half + (half & 1)));
  }
  EXPECT_EQ(floatToHalf(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToBF16(floatOfBits(0x3f808000)), 0x3f80);
  EXPECT_EQ(floatToBF16(floatOfBits(0x3f818000)), 0x3f82);
  EXPECT_EQ(floatToBF16(floatOfBits(0x3f808001)), 0x3f81);
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))) && std::isnan(bf16ToFloat(floatToBF16(NAN))));
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBF16(floatOfBits(0x7f800001)))));
}

TEST(RowCodec, KnowsWhatItKnows) {
  EXPECT_EQ(findRowCodec(*findStorageType("iq4_xs")), nullptr);
  EXPECT_EQ(findRowCodec(*findStorageType("i32")), nullptr);
  EXPECT_EQ(findRowCodec(*findStorageType("f64"))->encode, nullptr);
}

/// Blocks put together by hand, by the tables of the formats.
TEST(RowCodec, DecodesBlocksByHand) {
  std::vector<uint8_t> q4(18, 0x21), q5(22, 0), q8(34, 0x80), k4(144, 0), k6(210, 0);
  q4[0] = 0, q4[1] = 0x40; // d = 2
  std::vector<float> values = Type("q4_0").decode(q4);
  EXPECT_EQ(values[0], 2 * (1 - 8));
  EXPECT_EQ(values[16], 2 * (2 - 8));
  q5[1] = 0x3c, q5[2] = 1, q5[4] = 2, q5[6] = 0x30; // d = 1, fifth bits of elements 0 and 17
  values = Type("q5_0").decode(q5);
  EXPECT_EQ(values[0], 16 - 16);
  EXPECT_EQ(values[16], 3 - 16);
  EXPECT_EQ(values[17], 16 - 16);
  EXPECT_EQ(values[1], -16);
  q8[0] = 0, q8[1] = 0x3c;
  EXPECT_EQ(Type("q8_0").decode(q8)[31], -128);
  // d = 1, dmin = 1; sub-block 5 has the scale 0x21 and the minimum 0x32, its element 3 the level 9.
  k4[1] = k4[3] = 0x3c, k4[4 + 1] = 2 << 6, k4[4 + 5] = 3 << 6, k4[4 + 9] = 0x21, k4[16 + 2 * 32 + 3] = 0x90;
  values = Type("q4_k").decode(k4);
  EXPECT_EQ(values[5 * 32 + 3], 0x21 * 9 - 0x32);
  EXPECT_EQ(values[5 * 32 + 4], -0x32);
  EXPECT_EQ(values[4 * 32 + 3], 0);
  // Element 128 + 70: half 1, low byte 6, its upper half; high byte 6, bits 4 and 5; scale 12.
  k6[209] = 0x3c, k6[64 + 6] = 0x50, k6[128 + 32 + 6] = 2 << 4, k6[192 + 12] = 0xfe;
  values = Type("q6_k").decode(k6);
  EXPECT_EQ(values[128 + 70], -2 * (0x25 - 32));
  EXPECT_EQ(values[128 + 69], -2 * -32);
}

TEST(RowCodec, DecodesWhatItEncoded) {
  for (const char *name : kTypes) {
    Type type(name);
    std::vector<float> once = type.decode(type.encode(gaussian(2048, 0.03f, 5)));
    EXPECT_LT(relativeError(gaussian(2048, 0.03f, 5), once), 0.085) << name;
    std::vector<float> twice = type.decode(type.encode(once));
    // A value that a block can hold is near itself: exactly, where the scale follows from the largest element.
    EXPECT_LE(relativeError(once, twice), isSearched(name) ? 1e-2 : 0) << name;
  }
}

TEST(RowCodec, EqualRowsGiveEqualBytes) {
  for (const char *name : kTypes) {
    std::vector<float> row = gaussian(512, 1, 9);
    EXPECT_EQ(Type(name).encode(row), Type(name).encode(row));
  }
}

TEST(RowCodec, EdgesOfTheRange) {
  for (const char *name : kTypes) {
    Type type(name);
    for (float scale : {0.0f, 1e-45f, 1e-38f, 1e-12f, 6e-8f, 1e-4f, 3e3f, 6e4f}) {
      std::vector<float> row = gaussian(256, 0.15f, 3);
      for (float &value : row)
        value *= scale;
      std::vector<float> back = type.decode(type.encode(row));
      for (size_t i = 0; i < row.size(); ++i)
        ASSERT_LE(std::fabs(back[i] - row[i]), 0.08 * scale + 5e-7) << name << " " << scale << " " << i;
    }
    std::vector<float> constant(256, -0.375f), one(256, 0.0f);
    one[77] = 5;
    EXPECT_LT(relativeError(constant, type.decode(type.encode(constant))), 3e-4) << name;
    EXPECT_LT(relativeError(one, type.decode(type.encode(one))), 3e-4) << name;
  }
}

TEST(RowCodec, RefusesWhatATypeCannotHold) {
  for (const char *name : kTypes)
    for (float bad : {NAN, INFINITY, -INFINITY, 3.4e38f}) {
      std::vector<float> row(512, 0.5f);
      row[300] = bad;
      EXPECT_EQ(Type(name).refused(row), 300) << name << " " << bad;
      row[300] = 0.5f, row[511] = bad;
      EXPECT_EQ(Type(name).refused(row), 511) << name << " " << bad;
    }
  EXPECT_EQ(Type("f32").refused({1, 3.4e38f, NAN}), 2);
}

//===----------------------------------------------------------------------===//
// Golden files
//===----------------------------------------------------------------------===//

std::string peerName(std::string name) {
  if (isSearched(name))
    name.back() = 'K';
  return name;
}

std::vector<float> floats(const TensorInfo &tensor, int64_t row) {
  std::vector<float> values(tensor.shape.back());
  std::memcpy(values.data(), tensor.data + row * values.size() * 4, values.size() * 4);
  return values;
}

std::vector<uint8_t> bytesOfRow(const TensorInfo &tensor, int64_t row) {
  int64_t size = tensor.bytes / tensor.shape.front();
  return {tensor.data + row * size, tensor.data + (row + 1) * size};
}

TEST(RowCodecGolden, QuantisersAgreeWithThePeer) {
  CK_NEEDS_DATA("golden/ggml");
  for (const char *name : kTypes) {
    Type type(name);
    Result<Container> file = Container::open(dataPath("golden/ggml/quantize_" + peerName(name) + ".safetensors"));
    ASSERT_TRUE(file) << messageOf(file);
    int64_t cases = std::stoll(*file->findMeta("cases")->asString()), rows = 0;
    for (int64_t number = 0; number < cases; ++number) {
      std::string prefix = "case" + std::to_string(number) + ".";
      const TensorInfo &x = *file->find(prefix + "x"), &q = *file->find(prefix + "q"), &y = *file->find(prefix + "y");
      Result<json::Value> peer = json::parse(*file->findMeta(prefix + "rms_err")->asString(), "rms_err");
      ASSERT_TRUE(peer) << messageOf(peer);
      bool weighted = file->find(prefix + "imatrix");
      for (int64_t row = 0; row < x.shape.front(); ++row, ++rows) {
        std::string where = name + (" case " + std::to_string(number)) + " row " + std::to_string(row);
        ASSERT_EQ(type.decode(bytesOfRow(q, row)), floats(y, row)) << where;
        std::vector<float> values = floats(x, row);
        std::vector<uint8_t> bytes = type.encode(values);
        if (!isSearched(name) && !weighted) {
          ASSERT_EQ(bytes, bytesOfRow(q, row)) << where;
        }
        // The peer's numbers have four digits.
        double error = relativeError(values, type.decode(bytes)), bound = *(*peer->asArray())[row].asNumber();
        if (isSearched(name)) {
          EXPECT_LE(error, bound * (1 + 1e-3)) << where;
        }
        if (std::getenv("CK_PRINT_ERRORS"))
          std::printf("%s: %.4g, the peer %.4g\n", where.c_str(), error, bound);
      }
    }
    EXPECT_GE(rows, 16) << name;
  }
}

TEST(RowCodecGolden, DecodesTheRowsOfLookups) {
  CK_NEEDS_DATA("golden/ggml");
  Result<Container> file = Container::open(dataPath("golden/ggml/get_rows.safetensors"));
  ASSERT_TRUE(file) << messageOf(file);
  int64_t cases = std::stoll(*file->findMeta("cases")->asString()), compared = 0;
  for (int64_t number = 0; number < cases; ++number) {
    std::string prefix = "case" + std::to_string(number) + ".";
    const MetaValue *stated = file->findMeta(prefix + "type");
    ASSERT_TRUE(stated && stated->asString()) << prefix;
    std::string name = *stated->asString();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const StorageType *storage = findStorageType(name);
    if (!storage || !findRowCodec(*storage))
      continue;
    const TensorInfo &w = *file->find(prefix + "w"), &ids = *file->find(prefix + "ids"), &y = *file->find(prefix + "y");
    for (int64_t i = 0; i < ids.shape[0]; ++i) {
      int32_t id;
      std::memcpy(&id, ids.data + 4 * i, sizeof id);
      std::vector<float> row(y.shape.back());
      findRowCodec(*storage)->decode(w.data + id * (w.bytes / w.shape[0]), row.data(), row.size());
      ASSERT_EQ(row, floats(y, i)) << name << " row " << i;
    }
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

} // namespace
