//===- Tokenizer.h - text to token ids and back -----------------*- C++ -*-===//
//
// SentencePiece-style byte pair encoding with byte fallback, in the two forms in which Llama-family files carry it:
// tokenizer.json (merges with ranks) and GGUF metadata (pieces with scores). A space is U+2581 inside, and each run of
// plain text gets one in front; decoding takes the first one away. A tokenizer.json without a normalizer does neither:
// a space there is a character like others. Byte-level models need this form.
//
// So decode(encode(s)) == s for valid UTF-8, with two exceptions that lie in the format: U+2581, where it is the mark,
// comes back as a space, and the spelling of a special token, where these are parsed, comes back as that token. With
// parseSpecial off, only the first remains.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_TOKENIZER_H
#define CK_IMPORT_FORMATS_TOKENIZER_H

#include "ck/Import/Formats/Container.h"

namespace ck {

class GgufMetadata;

struct EncodeOptions {
  bool addSpecial = true;   ///< put the template's tokens (BOS, perhaps EOS) around the text
  bool parseSpecial = true; ///< read "<s>" in the text as the token, not as three characters
};

struct DecodeOptions {
  bool skipSpecial = true; ///< leave special tokens out; otherwise they appear as they are spelt
};

/// An immutable tokenizer; copies share their tables. Safe to use from several threads.
class Tokenizer {
public:
  /// Opens a directory with tokenizer.json, a tokenizer.json, or a GGUF file. Errors: those of the file; UNSUPPORTED (a
  /// kind of tokenizer or a feature that CK does not know: its name), BAD_CONFIG, CONFLICT, DUPLICATE.
  static Result<Tokenizer> open(const std::string &path);
  /// From the text of a tokenizer.json, which `source` names in messages.
  static Result<Tokenizer> fromJson(std::string_view text, const std::string &source);
  /// From the tokenizer.ggml.* metadata of a GGUF.
  static Result<Tokenizer> fromGguf(const Container &gguf);

  /// The tokenizer as the text of a tokenizer.json. Pieces with scores become merges ranked by them, which is the same
  /// where no two pieces that text can merge to share a score. Unused tokens that no text can become are left out.
  /// Error UNSUPPORTED: a token that the format cannot express.
  Result<std::string> toJson() const;

  /// The tokenizer as tokenizer.ggml.* metadata of a model with `vocab` rows, whose begin and first end token are `bos`
  /// and `eos`; their keys are not written here. Ids without a token become unused ones, [PAD7]. Merges become scores.
  /// Errors: UNSUPPORTED (what GGUF cannot express; merges that scores cannot), CONFLICT (more tokens than rows).
  Status toGguf(GgufMetadata &metadata, int64_t vocab, std::optional<int64_t> bos, std::optional<int64_t> eos) const;

  /// Ids of `text`. Bytes that are no UTF-8 become byte tokens. Time O(n log n). Errors: BAD_INPUT (bytes or characters
  /// for which the vocabulary has no token, not even an unknown one; a text of 700 MB or more).
  Result<std::vector<int32_t>> encode(std::string_view text, EncodeOptions options = {}) const;

  /// Text of `ids`, always valid UTF-8: what is no UTF-8 becomes U+FFFD. Error OUT_OF_RANGE: names index, id,
  /// vocabulary.
  Result<std::string> decode(const std::vector<int32_t> &ids, DecodeOptions options = {}) const;
  /// The exact bytes of `ids`, valid UTF-8 or not.
  Result<std::string> decodeBytes(const std::vector<int32_t> &ids, DecodeOptions options = {}) const;

  /// Number of ids; every id is in [0, vocabSize()).
  int64_t vocabSize() const;
  /// How a token is spelt in the vocabulary ("\u2581the", "<0x0A>"); empty for an id without a token.
  std::string_view tokenText(int32_t id) const;
  bool isSpecial(int32_t id) const;
  /// Begin-of-text and end-of-text ids that the file names. tokenizer.json names no end: see ModelConfig::eos.
  std::optional<int32_t> bos() const;
  const std::vector<int32_t> &eos() const;

private:
  friend class StreamDecoder;
  Tokenizer() = default;
  std::shared_ptr<const struct TokenizerTables> tables;
};

/// Turns ids into text as they arrive. The pieces are whole characters; joined, they equal Tokenizer::decode.
///
/// To print a continuation only, push the prompt's ids first and drop what they give: then a space at the start of the
/// continuation is kept.
class StreamDecoder {
public:
  explicit StreamDecoder(Tokenizer tokenizer, DecodeOptions options = {})
      : tokenizer(std::move(tokenizer)), options(options) {}

  /// Text that is complete once `id` is known; empty while a character is unfinished. Error OUT_OF_RANGE.
  Result<std::string> push(int32_t id);
  /// Ends the text: U+FFFD if a character stayed unfinished, else empty. The decoder then is as new.
  std::string finish();

private:
  Tokenizer tokenizer;
  DecodeOptions options;
  std::string pending; ///< bytes of an unfinished character
  bool atStart = true;
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_TOKENIZER_H
