//===- Generate.h - from prompt ids to new ids ------------------*- C++ -*-===//
//
// The loop around a compiled decoder: the prompt goes through entry `prefill` in chunks, then `decode` takes one token
// at a time. Knows ids and logits, not text. A model offers one or both entries:
//
//   decode   tokens[1]:i32, pos[1]:i32 -> logits[1,V]:f32
//   prefill  tokens[T]:i32, pos[T]:i32 -> logits[1,V]:f32 (last row) or logits[T,V]:f32 (all rows)
//
//===----------------------------------------------------------------------===//
#ifndef CK_RUNTIME_GENERATE_H
#define CK_RUNTIME_GENERATE_H

#include "ck/Runtime/Sampler.h"

#include <atomic>
#include <functional>
#include <optional>

namespace ck {

struct GeneratorOptions {
  int64_t context = 0; ///< positions that the model's states hold, at least 1
  int64_t chunk = 0;   ///< most tokens per call; 0 = the bound of prefill. 1 sends all through decode
  std::optional<int32_t> bos = std::nullopt; ///< what an empty prompt starts from
};

struct GenerateOptions {
  int64_t maxTokens = 128;
  SamplingOptions sampling = {};
  std::vector<int32_t> eos = {};                ///< ids that end the text; empty = none
  const std::atomic<bool> *interrupt = nullptr; ///< looked at before each call of an entry
};

enum class StopReason {
  Eos,      ///< an end token was chosen; it is the last id
  Length,   ///< maxTokens ids were chosen
  Context,  ///< the next token would need a position beyond the context
  Interrupt ///< the interrupt flag was seen
};
/// "eos", "length", "context", "interrupt".
CK_API const char *toString(StopReason reason);

struct Generation {
  std::vector<int32_t> prompt; ///< as run: an empty prompt became BOS
  std::vector<int32_t> ids;    ///< new tokens only
  StopReason stop = StopReason::Length;
  double promptSeconds = 0; ///< for the whole prompt
  double decodeSeconds = 0; ///< for `decodeSteps` calls with one token each, with the choice of the next token
  int64_t decodeSteps = 0;
};

/// Called for each new id with the logits row that it was chosen from.
using TokenCallback = std::function<void(int32_t id, const float *logits)>;

class CK_API Generator {
public:
  /// `session` must outlive the generator. Error if the model has no fitting entry or an option is out of range.
  static Result<Generator> create(ck_session *session, const GeneratorOptions &options);

  int64_t vocab() const { return vocabulary; }
  /// Tokens per call of prefill; 1 if there is none.
  int64_t chunk() const { return options.chunk; }

  /// Resets the states, runs the prompt and generates. Errors: an id outside the vocabulary (with its index), an empty
  /// prompt without BOS, a prompt that leaves no position free (context 1 may run one token), a failing entry, logits
  /// that cannot be sampled.
  Result<Generation> generate(const std::vector<int32_t> &prompt, const GenerateOptions &generate,
                              const TokenCallback &onToken = {});

  /// Resets the states and returns the logits of every position, [tokens, vocab]. A prefill with only the last row is
  /// not used. Errors as above; the tokens may fill the context.
  Result<std::vector<float>> logits(const std::vector<int32_t> &tokens);

private:
  Generator() = default;
  struct Entry {
    const ck_entry *entry = nullptr;
    int tokens = 0, pos = 1; ///< positions among the inputs
    bool allRows = false;
  };
  Status bind(const char *name, Entry &entry);
  Status checkIds(const std::vector<int32_t> &ids, const char *what) const;
  Status runPrompt(const std::vector<int32_t> &prompt, const std::atomic<bool> *interrupt);
  Status run(const Entry &entry, const int32_t *ids, int64_t count, int64_t position, float *output);
  const Entry &entryFor(int64_t count) const { return count == 1 && decode.entry ? decode : prefill; }

  ck_session *session = nullptr;
  GeneratorOptions options;
  int64_t vocabulary = 0;
  Entry decode, prefill;
  std::vector<float> rows;        ///< output of the last call
  const float *lastRow = nullptr; ///< in `rows`
};

} // namespace ck

#endif // CK_RUNTIME_GENERATE_H
