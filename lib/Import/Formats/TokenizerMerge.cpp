//===- TokenizerMerge.cpp - byte pair encoding with a heap ----------------===//
//
// Text starts as a list of characters. The heap holds every pair of neighbours that could merge; the best is merged
// first, leftmost among equals, and its result offers two new pairs. Each merge removes a symbol, so the work is
// O(n log n); entries whose symbols have changed since are skipped when they surface.
//
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "TokenizerTables.h"
#include "ck/Import/Formats/Utf8.h"

#include <limits>
#include <queue>

namespace ck {

namespace {

struct Symbol {
  int32_t id; ///< -1: text without a piece of its own
  uint32_t begin, length;
  int32_t previous, next; ///< -1 at the ends
};

struct Candidate {
  float score;  ///< 0 when merging by rank
  int32_t rank; ///< 0 when merging by score
  int32_t left, right;
  uint32_t leftLength, rightLength; ///< what the symbols were: a merged symbol has another length
  int32_t result;

  /// True if `other` goes first.
  bool operator<(const Candidate &other) const {
    if (score != other.score)
      return score < other.score;
    if (rank != other.rank)
      return rank > other.rank;
    return left > other.left;
  }
};

class Merger {
public:
  Merger(const TokenizerTables &tables, std::string_view text, std::vector<int32_t> &ids)
      : tables(tables), text(text), ids(ids) {}

  Status run() {
    if (tables.wholeFirst)
      if (auto whole = tables.pieces.find(text); whole != tables.pieces.end()) {
        ids.push_back(whole->second);
        return Status::success();
      }
    split();
    for (size_t i = 1; i < symbols.size(); ++i)
      offer(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
    while (!heap.empty()) {
      Candidate best = heap.top();
      heap.pop();
      merge(best);
    }
    for (int32_t i = 0; i >= 0; i = symbols[i].next)
      CK_CHECK(emit(symbols[i]));
    return Status::success();
  }

private:
  void addSymbol(int32_t id, size_t begin, size_t length) {
    int32_t index = static_cast<int32_t>(symbols.size());
    if (index > 0)
      symbols.back().next = index;
    symbols.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(length), index - 1, -1});
  }

  /// One symbol for each character; merging by rank, a character without a piece is its bytes from the start.
  void split() {
    for (size_t at = 0; at < text.size();) {
      Utf8Step step = nextUtf8(text, at);
      auto piece = tables.pieces.find(text.substr(at, step.length));
      if (piece != tables.pieces.end())
        addSymbol(piece->second, at, step.length);
      else if (!tables.byScore && hasBytes(at, step.length))
        for (size_t i = 0; i < step.length; ++i)
          addSymbol(byteToken(at + i), at + i, 1);
      else
        addSymbol(-1, at, step.length);
      at += step.length;
    }
  }

  int32_t byteToken(size_t at) const { return tables.byteToken[static_cast<unsigned char>(text[at])]; }

  bool hasBytes(size_t begin, size_t length) const {
    for (size_t i = begin; i < begin + length; ++i)
      if (byteToken(i) < 0)
        return false;
    return true;
  }

  void offer(int32_t left, int32_t right) {
    if (left < 0 || right < 0)
      return;
    const Symbol &a = symbols[left], &b = symbols[right];
    if (tables.byScore) {
      size_t length = size_t{a.length} + b.length;
      if (length > tables.longestPiece)
        return;
      auto piece = tables.pieces.find(text.substr(a.begin, length));
      if (piece != tables.pieces.end())
        heap.push({tables.scores[piece->second], 0, left, right, a.length, b.length, piece->second});
      return;
    }
    if (a.id < 0 || b.id < 0)
      return;
    auto merge = tables.merges.find(static_cast<uint64_t>(a.id) << 32 | static_cast<uint32_t>(b.id));
    if (merge != tables.merges.end())
      heap.push({0, merge->second.rank, left, right, a.length, b.length, merge->second.result});
  }

  void merge(const Candidate &pair) {
    Symbol &left = symbols[pair.left], &right = symbols[pair.right];
    if (left.length != pair.leftLength || right.length != pair.rightLength || left.next != pair.right)
      return;
    if (tables.tokens[pair.result].kind == TokenKind::Unused)
      splits[pair.result] = {spelling(left), spelling(right)};
    left.id = pair.result;
    left.length += right.length;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0)
      symbols[left.next].previous = pair.left;
    offer(left.previous, pair.left);
    offer(pair.left, left.next);
  }

  std::string_view spelling(const Symbol &symbol) const { return text.substr(symbol.begin, symbol.length); }

  Status emit(const Symbol &symbol) {
    // The parts of an unused piece are shorter than it, so this ends.
    std::vector<std::string_view> todo{spelling(symbol)};
    if (symbol.id >= 0 && tables.tokens[symbol.id].kind != TokenKind::Unused) {
      ids.push_back(symbol.id);
      return Status::success();
    }
    while (!todo.empty()) {
      std::string_view part = todo.back();
      todo.pop_back();
      auto piece = tables.pieces.find(part);
      int32_t id = piece == tables.pieces.end() ? -1 : piece->second;
      if (auto split = splits.find(id); id >= 0 && split != splits.end()) {
        todo.push_back(split->second.second);
        todo.push_back(split->second.first);
      } else if (id >= 0) {
        ids.push_back(id);
      } else {
        CK_CHECK(emitBytes(part.data() - text.data(), part.size()));
      }
    }
    return Status::success();
  }

  Status emitBytes(size_t begin, size_t length) {
    if (hasBytes(begin, length)) {
      for (size_t i = begin; i < begin + length; ++i)
        ids.push_back(byteToken(i));
      return Status::success();
    }
    if (!tables.unknown)
      return fail("BAD_INPUT", "no token for the text ", quote(text.substr(begin, length)),
                  ": the vocabulary has neither its bytes nor an unknown token");
    bool follows = lastUnknownEnd == begin && begin > 0;
    lastUnknownEnd = begin + length;
    if (!follows || !tables.fuseUnknown)
      ids.push_back(*tables.unknown);
    return Status::success();
  }

  const TokenizerTables &tables;
  std::string_view text;
  std::vector<int32_t> &ids;
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate> heap;
  std::unordered_map<int32_t, std::pair<std::string_view, std::string_view>> splits; ///< of unused pieces
  size_t lastUnknownEnd = std::numeric_limits<size_t>::max();
};

} // namespace

Status mergeText(const TokenizerTables &tables, std::string_view text, std::vector<int32_t> &ids) {
  return text.empty() ? Status::success() : Merger(tables, text, ids).run();
}

} // namespace ck
