//===- ConvertWeights.cpp - weights from one type and order to another ----===//
//
// Rows are independent, so threads share them; what is written is a function of the row alone.
//
//===----------------------------------------------------------------------===//
#include "ConvertPieces.h"
#include "Text.h"
#include "ck/Import/Formats/RopeRows.h"
#include "ck/Import/Formats/RowCodec.h"
#include "ck/Import/Formats/WeightTable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

namespace ck::convert {

namespace {

/// About as many bytes of the result are in memory at a time.
constexpr int64_t kPiece = 8 << 20;

std::string_view view(const uint8_t *bytes, uint64_t count) {
  return {reinterpret_cast<const char *>(bytes), static_cast<size_t>(count)};
}

/// Converts the rows of one tensor.
class RowWriter {
public:
  RowWriter(const SourceModel &model, const WeightJob &job) : model(model), job(job) {
    const std::vector<int64_t> &shape = job.source->shape;
    columns = shape.empty() ? 1 : shape.back();
    // The rows of a bias are its elements.
    if (job.pairing && shape.size() == 1)
      columns = 1;
    rows = static_cast<int64_t>(*elementCount(shape)) / columns;
    sourceBytes = columns / job.source->dtype->blockElements * job.source->dtype->blockBytes;
    targetBytes = columns / job.target.dtype->blockElements * job.target.dtype->blockBytes;
    same = job.source->dtype == job.target.dtype;
  }

  Status run(int threads, TensorStream &stream) {
    if (same && !job.pairing)
      return copy(stream);
    if (!same) {
      from = findRowCodec(*job.source->dtype);
      to = findRowCodec(*job.target.dtype);
      if (!from || !to || !to->encode)
        return fail("UNSUPPORTED", where(), ": CK cannot turn the type ", job.source->dtype->name, " into ",
                    job.target.dtype->name);
    }
    int64_t step = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, targetBytes));
    std::vector<uint8_t> piece;
    for (int64_t begin = 0; begin < rows; begin += step) {
      int64_t count = std::min(step, rows - begin);
      piece.resize(count * targetBytes);
      CK_CHECK(convertRows(begin, count, piece.data(), threads));
      CK_CHECK(stream.write(view(piece.data(), piece.size())));
      model.weights.dropPages(job.source->data + begin * sourceBytes, count * sourceBytes);
    }
    return Status::success();
  }

private:
  std::string where() const { return model.weights.path() + ": tensor " + quote(job.source->name); }

  Status copy(TensorStream &stream) {
    for (uint64_t at = 0; at < job.source->bytes; at += kPiece) {
      uint64_t count = std::min<uint64_t>(kPiece, job.source->bytes - at);
      CK_CHECK(stream.write(view(job.source->data + at, count)));
      model.weights.dropPages(job.source->data + at, count);
    }
    return Status::success();
  }

  Status convertRows(int64_t begin, int64_t count, uint8_t *out, int threads) {
    std::atomic<int64_t> next{0};
    std::mutex mutex;
    int64_t badRow = INT64_MAX, badColumn = 0;
    auto work = [&] {
      std::vector<float> values(same ? 0 : columns);
      for (int64_t row; (row = next++) < count;)
        if (std::optional<int64_t> bad = convertRow(begin + row, out + row * targetBytes, values)) {
          std::lock_guard<std::mutex> lock(mutex);
          if (begin + row < badRow) {
            badRow = begin + row;
            badColumn = *bad;
          }
        }
    };
    std::vector<std::thread> team;
    for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i)
      team.emplace_back(work);
    work();
    for (std::thread &thread : team)
      thread.join();
    return badRow == INT64_MAX ? Status::success() : Status(badValue(badRow, badColumn));
  }

  int64_t sourceRow(int64_t row) const { return job.pairing ? rowOfOtherPairing(row, job.headDim, *job.pairing) : row; }

  std::optional<int64_t> convertRow(int64_t row, uint8_t *out, std::vector<float> &values) const {
    const uint8_t *in = job.source->data + sourceRow(row) * sourceBytes;
    if (same) {
      std::memcpy(out, in, targetBytes);
      return std::nullopt;
    }
    from->decode(in, values.data(), columns);
    return to->encode(values.data(), out, columns);
  }

  Error badValue(int64_t row, int64_t column) const {
    std::vector<float> values(columns);
    int64_t at = sourceRow(row);
    from->decode(job.source->data + at * sourceBytes, values.data(), columns);
    bool finite = std::abs(values[column]) <= std::numeric_limits<float>::max();
    return fail("BAD_VALUE", where(), ": row ", at, ", column ", column, ": the value ", values[column], " ",
                finite ? "is beyond what the type can hold: " : "is not finite, which has no place in ",
                job.target.dtype->name);
  }

  const SourceModel &model;
  const WeightJob &job;
  int64_t rows, columns, sourceBytes, targetBytes;
  bool same;
  const RowCodec *from = nullptr, *to = nullptr;
};

} // namespace

std::vector<WeightJob> planWeights(const SourceModel &model, const StorageRule &rule, const ConvertOptions &options,
                                   ConvertReport &report) {
  using Source = ModelConfig::Source;
  using Pairing = ModelConfig::RopePairing;
  auto note = [&](const std::string &text) {
    if (options.note)
      options.note(text);
  };
  bool toGguf = options.target == Container::Format::Gguf;
  Source target = toGguf ? Source::Gguf : Source::HuggingFace;
  Pairing pairing = toGguf ? Pairing::Adjacent : Pairing::Half;
  bool sameFormat = model.config.source == target;
  std::map<std::string, WeightSpec> specs;
  std::vector<const TensorInfo *> order;
  for (const WeightSpec &spec : weightTable(model.config)) {
    specs[spec.tensor] = spec;
    if (!sameFormat)
      order.push_back(model.weights.find(spec.tensor));
  }
  for (const TensorInfo &tensor : model.weights.tensors()) {
    if (sameFormat)
      order.push_back(&tensor);
    else if (!specs.count(tensor.name))
      note("tensor " + quote(tensor.name) + " is no weight of the model and is left out");
  }

  std::vector<WeightJob> jobs;
  for (const TensorInfo *tensor : order) {
    WeightJob job;
    job.source = tensor;
    job.target = {tensor->name, tensor->dtype, tensor->shape};
    auto spec = specs.find(tensor->name);
    if (spec != specs.end()) {
      const std::string &logical = spec->second.logical;
      StorageChoice choice = rule.choose(logical, *tensor->dtype, tensor->shape, model.config);
      // A vector of another format becomes f32, even where types are kept.
      if (!sameFormat && tensor->shape.size() < 2)
        choice = {findStorageType("f32"), ""};
      job.target.name = tensorName(target, logical);
      job.target.dtype = choice.type;
      if (turnsWithPositions(logical) && model.config.pairing != pairing) {
        job.pairing = pairing;
        job.headDim = model.config.headDim;
      }
      if (!choice.reason.empty()) {
        report.fallbacks.push_back(job.target.name);
        note("tensor " + quote(job.target.name) + " becomes " + choice.type->name + ": " + choice.reason);
      }
    }
    ++report.tensors;
    report.bytes += *tensorBytes(*job.target.dtype, job.target.shape);
    ++report.types[job.target.dtype->name];
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Status writeWeights(const SourceModel &model, const std::vector<WeightJob> &jobs, int threads, TensorStream &stream) {
  for (const WeightJob &job : jobs)
    CK_CHECK(RowWriter(model, job).run(threads, stream));
  return Status::success();
}

} // namespace ck::convert
