//===- DataSource.cpp - which rows a step sees ----------------------------===//
#include "ck/Training/DataSource.h"

#include "ck/Runtime/Sampler.h"

#include <algorithm>
#include <numeric>

namespace ck {

void Windows::add(int64_t window, const TokenStream &tokens, Batch &batch) const {
  int64_t begin = range.begin + window * length, end = std::min(begin + length, range.end - 1);
  for (int64_t i = begin; i < end; ++i)
    batch.addRow(tokens[i], tokens[i + 1]);
  batch.endSequence();
}

std::vector<uint32_t> epochOrder(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  // Two rounds of the generator keep (seed, epoch) apart from (seed + 1, epoch - 1).
  Random random(Random(seed).next() + static_cast<uint64_t>(epoch));
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<int64_t>(random.uniform() * static_cast<double>(i + 1))]);
  return order;
}

namespace {

class WindowSource : public DataSource {
public:
  WindowSource(TokenStream tokens, Windows windows, int64_t batchSize, int64_t accumulate, uint64_t seed)
      : tokens(std::move(tokens)), windows(windows), batchSize(batchSize), accumulate(accumulate), seed(seed) {}

  std::vector<Batch> next(DataPosition &position) override {
    if (position.epoch != orderEpoch) {
      order = epochOrder(windows.count(), seed, position.epoch);
      orderEpoch = position.epoch;
    }
    std::vector<Batch> batches;
    while (static_cast<int64_t>(batches.size()) < accumulate && position.index < windows.count()) {
      Batch &batch = batches.emplace_back();
      for (int64_t i = 0; i < batchSize && position.index < windows.count(); ++i)
        windows.add(order[position.index++], tokens, batch);
    }
    if (position.index == windows.count())
      position = {position.epoch + 1, 0};
    return batches;
  }

  int64_t maxRows() const override { return maxSequences() * windows.longest(); }
  int64_t maxSequences() const override { return std::min(batchSize, windows.count()); }
  int64_t maxPositions() const override { return windows.longest(); }

private:
  TokenStream tokens;
  Windows windows;
  int64_t batchSize, accumulate;
  uint64_t seed;
  std::vector<uint32_t> order;
  int64_t orderEpoch = -1;
};

class FixedSource : public DataSource {
public:
  FixedSource(const std::vector<Sequence> &sequences, int64_t batchSize) {
    for (int64_t i = 0; i < static_cast<int64_t>(sequences.size()); ++i) {
      if (i % batchSize == 0)
        batches.emplace_back();
      batches.back().add(sequences[i]);
      positions = std::max(positions, static_cast<int64_t>(sequences[i].tokens.size()));
    }
  }

  std::vector<Batch> next(DataPosition &position) override {
    ++position.epoch;
    return batches;
  }

  int64_t maxRows() const override { return most(&Batch::rows); }
  int64_t maxSequences() const override { return most(&Batch::sequences); }
  int64_t maxPositions() const override { return positions; }

private:
  int64_t most(int64_t (Batch::*size)() const) const {
    int64_t result = 0;
    for (const Batch &batch : batches)
      result = std::max(result, (batch.*size)());
    return result;
  }

  std::vector<Batch> batches;
  int64_t positions = 0;
};

} // namespace

std::unique_ptr<DataSource> windowSource(TokenStream tokens, Windows windows, int64_t batchSize, int64_t accumulate,
                                         uint64_t seed) {
  return std::make_unique<WindowSource>(std::move(tokens), windows, batchSize, accumulate, seed);
}

std::unique_ptr<DataSource> fixedSource(const std::vector<Sequence> &sequences, int64_t batchSize) {
  return std::make_unique<FixedSource>(sequences, batchSize);
}

} // namespace ck
