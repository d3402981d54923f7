//===- RandomWeights.cpp - weights that no file holds ---------------------===//
#include "RandomWeights.h"

#include "ck/Import/Formats/RowCodec.h"
#include "ck/Import/Formats/WeightTable.h"

#include <algorithm>
#include <cstring>

using namespace ck;
using namespace ck::run;

static void fillFloats(float *data, int64_t count, bool isGain, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    data[i] = isGain ? 1.0f : (static_cast<int32_t>(state >> 40) - (1 << 23)) * 0x1p-28f;
  }
}

Status ck::run::fillRandom(const ck_buffer_info &buffer, void *data, uint64_t seed) {
  bool isGain = std::string_view(buffer.name).find("norm") != std::string_view::npos;
  if (std::string_view(buffer.dtype) == "f32") {
    fillFloats(static_cast<float *>(data), buffer.bytes / 4, isGain, seed);
    return Status::success();
  }
  const StorageType *type = findStorageType(buffer.dtype);
  const RowCodec *codec = type ? findRowCodec(*type) : nullptr;
  if (!codec || !codec->encode)
    return Error{"weight '" + std::string(buffer.name) + "': there are no random numbers of type " + buffer.dtype};
  int64_t columns = buffer.rank ? buffer.dims[buffer.rank - 1] : 1;
  int64_t rowBytes = columns / type->blockElements * type->blockBytes;
  int64_t rows = rowBytes ? buffer.bytes / rowBytes : 0;
  // Encoding is slow beside copying, and what the numbers are does not matter to speed.
  constexpr int64_t kDistinct = 64;
  auto *bytes = static_cast<uint8_t *>(data);
  std::vector<float> row(columns);
  for (int64_t i = 0; i < rows; ++i) {
    if (i >= kDistinct) {
      std::memcpy(bytes + i * rowBytes, bytes + (i - kDistinct) * rowBytes, rowBytes);
      continue;
    }
    fillFloats(row.data(), columns, isGain, seed * kDistinct + i);
    codec->encode(row.data(), bytes + i * rowBytes, columns);
  }
  return Status::success();
}

Result<std::map<std::string, std::string>> ck::run::storageOfAll(const ModelConfig &config, const std::string &type) {
  static constexpr std::string_view kTypes[] = {"f32",  "f16",  "bf16", "q4_0", "q4_1", "q4_k",
                                                "q5_0", "q5_1", "q5_k", "q6_k", "q8_0"};
  if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
    return Error{"weights cannot be " + type +
                 "; expected f32, f16, bf16, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k or "
                 "q8_0"};
  std::map<std::string, std::string> storage;
  for (const WeightSpec &spec : weightTable(config)) {
    if (spec.shape.size() < 2)
      continue;
    if (!hasWholeBlocks(*findStorageType(type), spec.shape))
      return Error{"weight '" + spec.logical + "' has rows of " + std::to_string(spec.shape.back()) +
                   " elements, which do not fill blocks of " + type};
    storage[spec.logical] = type;
  }
  return storage;
}
