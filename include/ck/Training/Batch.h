//===- Batch.h - the rows of one call ---------------------------*- C++ -*-===//
#ifndef CK_TRAINING_BATCH_H
#define CK_TRAINING_BATCH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ck {

/// A target that is not predicted: no loss, no gradient.
inline constexpr int32_t kIgnoredTarget = -100;

/// Tokens and what shall follow each of them; equally long, at least one.
struct Sequence {
  std::vector<int32_t> tokens, targets;
};

/// Several sequences one after the other, as the entries of a training program take them.
struct Batch {
  std::vector<int32_t> tokens;  ///< [T], all rows
  std::vector<int32_t> targets; ///< [T], -100 where nothing is predicted
  std::vector<int32_t> pos;     ///< [T], a row's position in its own sequence
  std::vector<int32_t> seqs{0}; ///< [sequences + 1], where each sequence starts; the last one is T
  int64_t valid = 0;            ///< targets that are predicted

  int64_t rows() const { return static_cast<int64_t>(tokens.size()); }
  int64_t sequences() const { return static_cast<int64_t>(seqs.size()) - 1; }

  /// Appends one row to the sequence that is being built.
  void addRow(int32_t token, int32_t target) {
    pos.push_back(static_cast<int32_t>(rows()) - seqs.back());
    tokens.push_back(token);
    targets.push_back(target);
    valid += target != kIgnoredTarget;
  }
  void endSequence() { seqs.push_back(static_cast<int32_t>(rows())); }
  void add(const Sequence &sequence) {
    for (size_t i = 0; i < sequence.tokens.size(); ++i)
      addRow(sequence.tokens[i], sequence.targets[i]);
    endSequence();
  }
};

} // namespace ck

#endif // CK_TRAINING_BATCH_H
