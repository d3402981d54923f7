//===- tokenizer.cpp - a text as tokens of a vocabulary -------------------===//
//
// Two modes: the longest token at each position, found in a trie; or byte-pair merges by rank within chunks of the
// text. Both tables are made in scratch for each call: a host function, not a step of a plan.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace ck {
namespace {

using Args = ckk_tokenizer_bpe_trie_args;
enum Mode { kTrie, kMerges };
enum Style { kByteLevel, kSentencePiece, kPlain };

/// Bytes of tokens as a tree; children of a node are a list.
class Trie {
public:
  Trie(int32_t *nodes) : nodes(nodes) { add(0); }

  /// The first token of equal strings keeps its place.
  void insert(const uint8_t *string, int64_t length, int32_t id) {
    int32_t node = 0;
    for (int64_t i = 0; i < length; ++i) {
      int32_t child = find(node, string[i]);
      if (child < 0) {
        child = add(string[i]);
        at(child)[kSibling] = at(node)[kChild];
        at(node)[kChild] = child;
      }
      node = child;
    }
    if (length > 0 && at(node)[kId] < 0)
      at(node)[kId] = id;
  }
  /// The longest token that begins the text: its id, and its length in `length`; -1 and 0 if there is none.
  int32_t longest(const uint8_t *text, int64_t size, int64_t &length) const {
    int32_t best = -1;
    length = 0;
    int32_t node = 0;
    for (int64_t i = 0; i < size && (node = find(node, text[i])) >= 0; ++i)
      if (at(node)[kId] >= 0) {
        best = at(node)[kId];
        length = i + 1;
      }
    return best;
  }
  /// The token that is exactly this string, or -1.
  int32_t exact(const uint8_t *text, int64_t size) const {
    int64_t length;
    const int32_t id = longest(text, size, length);
    return length == size ? id : -1;
  }

private:
  enum { kByte, kChild, kSibling, kId, kFields };
  int32_t *at(int32_t node) { return nodes + node * kFields; }
  const int32_t *at(int32_t node) const { return nodes + node * kFields; }
  int32_t add(uint8_t byte) {
    const int32_t node = count++;
    at(node)[kByte] = byte;
    at(node)[kChild] = at(node)[kSibling] = at(node)[kId] = -1;
    return node;
  }
  int32_t find(int32_t node, uint8_t byte) const {
    int32_t child = at(node)[kChild];
    while (child >= 0 && at(child)[kByte] != byte)
      child = at(child)[kSibling];
    return child;
  }

  int32_t *nodes;
  int32_t count = 0;
};

/// Ranks of pairs, by open addressing.
class Merges {
public:
  Merges(const int32_t *rows, int64_t count, int32_t *slots) : rows(rows), slots(slots), size(2 * count + 1) {
    std::fill(slots, slots + size, -1);
    for (int64_t rank = 0; rank < count; ++rank)
      if (int32_t &slot = slotOf(rows[3 * rank], rows[3 * rank + 1]); slot < 0)
        slot = static_cast<int32_t>(rank);
  }
  /// -1 if the pair does not merge.
  int32_t rank(int32_t left, int32_t right) const { return left < 0 || right < 0 ? -1 : slotOf(left, right); }
  int32_t merged(int32_t rank) const { return rows[3 * rank + 2]; }

private:
  int32_t &slotOf(int32_t left, int32_t right) const {
    const uint64_t hash =
        (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right)) * 0x9e3779b97f4a7c15u;
    auto i = static_cast<int64_t>((hash >> 20) % static_cast<uint64_t>(size));
    while (slots[i] >= 0 && (rows[3 * slots[i]] != left || rows[3 * slots[i] + 1] != right))
      i = i + 1 == size ? 0 : i + 1;
    return slots[i];
  }

  const int32_t *rows;
  int32_t *slots;
  int64_t size;
};

/// The ids that have been found; those without room are dropped.
struct Output {
  int32_t *ids;
  int64_t room, count = 0;
  void put(int64_t id) {
    if (id >= 0 && count < room)
      ids[count++] = static_cast<int32_t>(id);
  }
};

bool isNewline(uint8_t c) { return c == '\n' || c == '\r'; }
bool isSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool isDigit(uint8_t c) { return c >= '0' && c <= '9'; }
/// Bytes of characters beyond ASCII count as letters.
bool isLetter(uint8_t c) { return (c | 32) >= 'a' && ((c | 32) <= 'z' || c >= 0x80); }
bool isPunctuation(uint8_t c) { return !isSpace(c) && !isDigit(c) && !isLetter(c); }

/// Where the chunk that begins at `begin` ends.
int64_t endOfChunk(const uint8_t *text, int64_t begin, int64_t end) {
  auto skip = [&](int64_t i, bool (*is)(uint8_t)) {
    while (i < end && is(text[i]))
      ++i;
    return i;
  };
  const uint8_t first = text[begin];
  const bool hasNext = begin + 1 < end;
  // Letters, with one character before them that is no letter, digit or newline.
  if (isLetter(first))
    return skip(begin, isLetter);
  if (hasNext && isLetter(text[begin + 1]) && !isDigit(first) && !isNewline(first))
    return skip(begin + 1, isLetter);
  if (isDigit(first))
    return begin + 1;
  // Punctuation, with a blank before it and newlines behind it.
  if (isPunctuation(first))
    return skip(skip(begin, isPunctuation), isNewline);
  if (first == ' ' && hasNext && isPunctuation(text[begin + 1]))
    return skip(skip(begin + 1, isPunctuation), isNewline);
  // White space: up to its last newline, or all of it but the last before a word.
  const int64_t after = skip(begin, isSpace);
  for (int64_t i = after; i > begin; --i)
    if (isNewline(text[i - 1]))
      return i;
  return after == end || after == begin + 1 ? after : after - 1;
}

/// The printable character that stands for a byte, in UTF-8; gives its length.
int64_t printable(uint8_t byte, uint8_t *to) {
  const bool itself = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
  int code = byte;
  if (!itself) // the others follow from 256 on: 0 to 32, 127 to 160, 173
    code = 256 + (byte <= 32 ? byte : byte <= 160 ? byte - 127 + 33 : 67);
  if (code < 128) {
    *to = static_cast<uint8_t>(code);
    return 1;
  }
  to[0] = static_cast<uint8_t>(0xc0 | code >> 6);
  to[1] = static_cast<uint8_t>(0x80 | (code & 63));
  return 2;
}

/// The text with its blanks as the vocabulary writes them; gives its length.
int64_t preprocess(const Args &args, uint8_t *to) {
  int64_t size = 0;
  auto marker = [&] {
    const uint8_t bytes[2][3] = {{0xc4, 0xa0, 0}, {0xe2, 0x96, 0x81}};
    const int64_t length = args.style == kSentencePiece ? 3 : 2;
    std::memcpy(to + size, bytes[args.style == kSentencePiece], static_cast<size_t>(length));
    size += length;
  };
  if (args.style == kSentencePiece && args.L > 0 && args.text[0] != ' ')
    marker();
  for (int64_t i = 0; i < args.L; ++i) {
    if (args.text[i] == ' ' && args.style != kPlain)
      marker();
    else
      to[size++] = args.text[i];
  }
  return size;
}

/// Merges pieces until no pair is left that does: the smallest rank first, the leftmost of equals.
int64_t mergePieces(const Merges &merges, int32_t *pieces, int64_t count) {
  while (true) {
    int32_t best = -1;
    int64_t where = 0;
    for (int64_t i = 0; i + 1 < count; ++i)
      if (const int32_t rank = merges.rank(pieces[i], pieces[i + 1]); rank >= 0 && (best < 0 || rank < best)) {
        best = rank;
        where = i;
      }
    if (best < 0)
      return count;
    pieces[where] = merges.merged(best);
    std::copy(pieces + where + 2, pieces + count, pieces + where + 1);
    --count;
  }
}

void putPieces(const Args &args, const Merges &merges, int64_t count, Output &output) {
  count = mergePieces(merges, args.pieces, count);
  for (int64_t i = 0; i < count; ++i)
    output.put(args.pieces[i] >= 0 ? args.pieces[i] : args.unk_id);
}

void encodeMerges(const Args &args, const Trie &trie, Output &output) {
  const Merges merges(args.merges, args.P, args.slots);
  if (args.style == kByteLevel) {
    for (int64_t begin = 0, end; begin < args.L; begin = end) {
      end = endOfChunk(args.text, begin, args.L);
      for (int64_t i = begin; i < end; ++i) {
        uint8_t character[2];
        args.pieces[i - begin] = trie.exact(character, printable(args.text[i], character));
      }
      putPieces(args, merges, end - begin, output);
    }
    return;
  }
  const int64_t size = preprocess(args, args.work);
  int64_t count = 0;
  for (int64_t begin = 0, end; begin < size; begin = end) {
    for (end = begin + 1; end < size && (args.work[end] & 0xc0) == 0x80;)
      ++end;
    args.pieces[count++] = trie.exact(args.work + begin, end - begin);
  }
  putPieces(args, merges, count, output);
}

void encodeLongest(const Args &args, const Trie &trie, Output &output) {
  const int64_t size = preprocess(args, args.work);
  for (int64_t i = 0; i < size;) {
    int64_t length;
    const int32_t id = trie.longest(args.work + i, size - i, length);
    output.put(id >= 0 ? id : args.unk_id);
    i += std::max<int64_t>(1, length);
  }
}

} // namespace
} // namespace ck

CK_PORTABLE_KERNEL(tokenizer_bpe_trie) {
  using namespace ck;
  const int64_t V = args->V, B = args->B;
  // Each token is a string that ends in a zero byte, and they follow one another.
  for (int64_t i = 0, next = 0; i < V; ++i) {
    const int64_t begin = args->vocab_offsets[i];
    const void *const zero = begin >= next && begin < B
                                 ? std::memchr(args->vocab_strings + begin, 0, static_cast<size_t>(B - begin))
                                 : nullptr;
    if (!zero)
      return ck_fail(ctx, CK_INVALID_ARGUMENT,
                     "token %lld begins at byte %lld: expected a string behind byte %lld of %lld",
                     static_cast<long long>(i), static_cast<long long>(begin), static_cast<long long>(next),
                     static_cast<long long>(B));
    next = static_cast<const uint8_t *>(zero) - args->vocab_strings + 1;
  }
  if (const int64_t bad = firstOutside(args->merges, 3 * args->P, V); bad < 3 * args->P)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "merges[%lld] names token %d of %lld", static_cast<long long>(bad / 3),
                   args->merges[bad], static_cast<long long>(V));
  for (const int64_t id : {args->bos_id, args->eos_id, args->unk_id})
    if (id >= V)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "special token %lld is outside the vocabulary of %lld",
                     static_cast<long long>(id), static_cast<long long>(V));
  Trie trie(args->trie);
  for (int64_t i = 0; i < V; ++i) {
    const uint8_t *const string = args->vocab_strings + args->vocab_offsets[i];
    trie.insert(string, static_cast<int64_t>(std::strlen(reinterpret_cast<const char *>(string))),
                static_cast<int32_t>(i));
  }
  Output output = {args->ids, args->S};
  if (args->add_bos)
    output.put(args->bos_id);
  if (args->mode == kTrie)
    encodeLongest(*args, trie, output);
  else
    encodeMerges(*args, trie, output);
  if (args->add_eos)
    output.put(args->eos_id);
  std::fill(args->ids + output.count, args->ids + args->S, -1);
  *args->n_ids = static_cast<int32_t>(output.count);
  return CK_OK;
}
