//===- DataSource.cpp - which rows a step sees ----------------------------===//
#include "ck/Training/DataSource.h"

#include "ck/Runtime/Sampler.h"

#include <algorithm>
#include <numeric>

namespace ck {

int64_t Windows::count() const {
  int64_t rows = std::max<int64_t>(range.size() - 1, 0), leading = std::min(lead, rows);
  return (leading > 0) + (rows - leading + length - 1) / length;
}

void Windows::add(int64_t window, const TokenStream &tokens, Batch &batch) const {
  int64_t begin = range.begin + (lead > 0 && window > 0 ? lead + (window - 1) * length : window * length);
  int64_t end = std::min(begin + (lead > 0 && window == 0 ? lead : length), range.end - 1);
  for (int64_t i = begin; i < end; ++i)
    batch.addRow(tokens[i], tokens[i + 1]);
  batch.endSequence();
}

/// Two rounds of the generator keep (seed, epoch) apart from (seed + 1, epoch - 1).
static Random epochRandom(uint64_t seed, int64_t epoch) {
  return Random(Random(seed).next() + static_cast<uint64_t>(epoch));
}

int64_t epochLead(int64_t length, uint64_t seed, int64_t epoch) {
  // A stream of its own: the order of windows must not depend on how long they are.
  return epoch == 0 ? 0 : static_cast<int64_t>(epochRandom(~seed, epoch).uniform() * static_cast<double>(length));
}

std::vector<uint32_t> epochOrder(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Random random = epochRandom(seed, epoch);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<int64_t>(random.uniform() * static_cast<double>(i + 1))]);
  return order;
}

namespace {

class WindowSource : public DataSource {
public:
  WindowSource(TokenStream tokens, Windows windows, int64_t batchSize, int64_t accumulate, uint64_t seed)
      : tokens(std::move(tokens)), windows(windows), batchSize(batchSize), accumulate(accumulate), seed(seed),
        mostWindows(windows.count() + (windows.length > 1)) {}

  std::vector<Batch> next(DataPosition &position) override {
    if (position.epoch != orderEpoch) {
      windows.lead = epochLead(windows.length, seed, position.epoch);
      order = epochOrder(windows.count(), seed, position.epoch);
      orderEpoch = position.epoch;
    }
    std::vector<Batch> batches;
    const int64_t count = static_cast<int64_t>(order.size());
    while (static_cast<int64_t>(batches.size()) < accumulate && position.index < count) {
      Batch &batch = batches.emplace_back();
      for (int64_t i = 0; i < batchSize && position.index < count; ++i)
        windows.add(order[position.index++], tokens, batch);
    }
    if (position.index == count)
      position = {position.epoch + 1, 0};
    return batches;
  }

  int64_t maxRows() const override { return maxSequences() * windows.longest(); }
  int64_t maxSequences() const override { return std::min(batchSize, mostWindows); }
  int64_t maxPositions() const override { return windows.longest(); }

private:
  TokenStream tokens;
  Windows windows;
  int64_t batchSize, accumulate;
  uint64_t seed;
  int64_t mostWindows; ///< of an epoch: a lead may make one more
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
