//===- TokenStream.cpp - the tokens of a training text --------------------===//
#include "ck/Training/TokenStream.h"

#include "Messages.h"
#include "ck/Support/Sha256.h"

#include <algorithm>
#include <cstring>

namespace ck {

Result<TokenStream> TokenStream::fromBytes(const std::string &path, int64_t vocab) {
  if (vocab < 256)
    return fail("BAD_INPUT", path, ": the model has ", vocab,
                " tokens and no tokenizer.json beside its configuration; bytes need a vocabulary of at least 256");
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  TokenStream stream;
  stream.count = static_cast<int64_t>(mapped->size());
  stream.width = 1;
  stream.file = std::make_shared<MappedFile>(*std::move(mapped));
  return stream;
}

Result<TokenStream> TokenStream::fromText(const std::string &path, const Tokenizer &tokenizer, int64_t vocab) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  Result<std::vector<int32_t>> ids = tokenizer.encode(mapped->text());
  if (!ids)
    return Error{path + ": " + ids.error().message, ids.error().code};
  TokenStream stream = fromIds(*std::move(ids));
  CK_CHECK(stream.checkIds(path, vocab));
  return stream;
}

Result<TokenStream> TokenStream::fromTokenFile(const std::string &path, int64_t vocab) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  TokenStream stream;
  stream.width = vocab <= 65536 ? 2 : 4;
  if (mapped->size() % stream.width != 0)
    return fail("TRUNCATED", path, ": ", mapped->size(), " bytes are no whole number of ids; a vocabulary of ", vocab,
                " takes ", stream.width, " bytes an id (little-endian u", 8 * stream.width, ")");
  stream.count = static_cast<int64_t>(mapped->size() / stream.width);
  stream.file = std::make_shared<MappedFile>(*std::move(mapped));
  CK_CHECK(stream.checkIds(path, vocab));
  return stream;
}

TokenStream TokenStream::fromIds(std::vector<int32_t> ids) {
  TokenStream stream;
  stream.count = static_cast<int64_t>(ids.size());
  stream.ids = std::make_shared<std::vector<int32_t>>(std::move(ids));
  return stream;
}

int32_t TokenStream::operator[](int64_t index) const {
  if (ids)
    return (*ids)[index];
  // Little-endian, whatever the machine.
  const uint8_t *bytes = file->data() + index * width;
  uint32_t id = 0;
  for (int i = 0; i < width; ++i)
    id |= uint32_t{bytes[i]} << 8 * i;
  return static_cast<int32_t>(id);
}

Status TokenStream::checkIds(const std::string &source, int64_t vocab) const {
  for (int64_t i = 0; i < count; ++i) {
    int64_t id = ids ? int64_t{(*ids)[i]} : int64_t{static_cast<uint32_t>((*this)[i])};
    if (id < 0 || id >= vocab)
      return fail("OUT_OF_RANGE", source, ": token ", i, " has the id ", id, ", but the vocabulary has ", vocab,
                  " tokens (0 to ", vocab - 1, ")");
  }
  return Status::success();
}

TokenRange TokenStream::training() const { return {0, count - validation().size()}; }

TokenRange TokenStream::validation() const {
  int64_t tenth = (count + 9) / 10;
  return tenth < 2 ? TokenRange{count, count} : TokenRange{count - tenth, count};
}

std::string TokenStream::digest() const {
  // A digest of the digests of pieces, so that a long stream is never held as text.
  constexpr int64_t kPiece = 1 << 20;
  std::string digests = std::to_string(count);
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    std::string bytes;
    for (int64_t i = begin; i < std::min(count, begin + kPiece); ++i)
      for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(static_cast<uint32_t>((*this)[i]) >> shift);
    digests += sha256(bytes);
  }
  return sha256(digests);
}

} // namespace ck
