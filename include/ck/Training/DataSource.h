//===- DataSource.h - which rows a step sees --------------------*- C++ -*-===//
//
// Order is a function of the seed and of a position, never of what ran before: a run that is resumed at a position sees
// exactly the batches that an unbroken one would have seen.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_DATASOURCE_H
#define CK_TRAINING_DATASOURCE_H

#include "ck/Training/Batch.h"
#include "ck/Training/TokenStream.h"

#include <memory>

namespace ck {

/// What has been consumed: whole epochs, and windows (or sequences) of the current one.
struct DataPosition {
  int64_t epoch = 0, index = 0;
};

/// Non-overlapping windows of a range: window w has the tokens wT .. wT+T, of which the last is only predicted and is
/// the first of the next window. So every token but the range's first is predicted exactly once. The last window may be
/// shorter. With a lead, the first one has that many rows and the others begin behind it.
struct Windows {
  TokenRange range;
  int64_t length = 1; ///< T, at least 1
  int64_t lead = 0;   ///< 0 = none; below `length`

  int64_t count() const;
  /// Rows of the longest window.
  int64_t longest() const { return std::min(length, range.size() - 1); }
  void add(int64_t window, const TokenStream &tokens, Batch &batch) const;
};

/// Gives the micro-batches of one step after the other.
class DataSource {
public:
  virtual ~DataSource() = default;
  /// The micro-batches of the step at `position`, one at least, which then moves behind them.
  virtual std::vector<Batch> next(DataPosition &position) = 0;
  /// Most rows and sequences of a batch, most rows of a sequence: the bounds of a program that shall run them.
  virtual int64_t maxRows() const = 0;
  virtual int64_t maxSequences() const = 0;
  virtual int64_t maxPositions() const = 0;
};

/// Epochs over the windows of a range, each in its own permutation. The first epoch has no lead and each later one a
/// lead of its own, so that a model does not learn where windows begin. A step takes `batchSize` windows for each of
/// `accumulate` micro-batches; at the end of an epoch it takes what is left. The range must hold a window.
std::unique_ptr<DataSource> windowSource(TokenStream tokens, Windows windows, int64_t batchSize, int64_t accumulate,
                                         uint64_t seed);

/// The same sequences at each step, `batchSize` of them in a micro-batch; the last one may have fewer. At least one
/// sequence.
std::unique_ptr<DataSource> fixedSource(const std::vector<Sequence> &sequences, int64_t batchSize);

/// The lead of an epoch's windows: 0 in the first one, else a number below `length` that is a function of seed and
/// epoch.
int64_t epochLead(int64_t length, uint64_t seed, int64_t epoch);

/// The order of `count` windows in an epoch: Fisher-Yates from the end, with numbers of ck::Random seeded by seed and
/// epoch.
std::vector<uint32_t> epochOrder(int64_t count, uint64_t seed, int64_t epoch);

} // namespace ck

#endif // CK_TRAINING_DATASOURCE_H
