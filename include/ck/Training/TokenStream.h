//===- TokenStream.h - the tokens of a training text ------------*- C++ -*-===//
//
// One long row of token ids, from a text or from a file of raw ids. Files are mapped: a corpus larger than the memory
// costs only the pages that a batch touches.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_TOKENSTREAM_H
#define CK_TRAINING_TOKENSTREAM_H

#include "ck/Import/Formats/Tokenizer.h"

namespace ck {

/// Tokens begin .. end-1 of a stream.
struct TokenRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// Immutable; copies share the ids. Every id is in [0, vocab).
class TokenStream {
public:
  /// A text with a token for each byte. Errors: those of MappedFile::open; BAD_INPUT (a vocabulary below 256).
  static Result<TokenStream> fromBytes(const std::string &path, int64_t vocab);
  /// A text through a tokenizer, as one piece, with the tokens that its template puts around a text. Errors: those of
  /// the file and of Tokenizer::encode; OUT_OF_RANGE (index, id, vocabulary).
  static Result<TokenStream> fromText(const std::string &path, const Tokenizer &tokenizer, int64_t vocab);
  /// Raw little-endian ids: u16 if `vocab` <= 65536, else u32. Errors: those of the file; TRUNCATED (a size that is no
  /// multiple of an id's); OUT_OF_RANGE (index, id, vocabulary).
  static Result<TokenStream> fromTokenFile(const std::string &path, int64_t vocab);
  /// Ids that are known to fit.
  static TokenStream fromIds(std::vector<int32_t> ids);

  int64_t size() const { return count; }
  /// Token `index`, 0 <= index < size().
  int32_t operator[](int64_t index) const;

  /// The last tenth, rounded up, validates; what is left trains. A tenth of fewer than two tokens, which predicts
  /// nothing, is not split off: `validation` is empty then.
  TokenRange training() const;
  TokenRange validation() const;

  /// A digest of the size and of the first and the last 65,536 ids: tells one corpus from another at no cost.
  std::string digest() const;

private:
  TokenStream() = default;
  Status checkIds(const std::string &source, int64_t vocab) const;

  std::shared_ptr<const MappedFile> file;          ///< set for mapped ids
  std::shared_ptr<const std::vector<int32_t>> ids; ///< set for ids in memory
  int64_t count = 0;
  int width = 0; ///< bytes of a mapped id: 1, 2 or 4
};

} // namespace ck

#endif // CK_TRAINING_TOKENSTREAM_H
