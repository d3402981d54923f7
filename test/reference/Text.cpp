//===- Text.cpp - tokens of a text, and tokens that were drafted ----------===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>
#include <regex>

namespace ck::reference {
namespace {

constexpr double mostInt32 = 2147483647;

Status speculativeVerify(Call &call) {
  const Tensor &logits = call.in("logits");
  int64_t V = logits.extent(0), best = -1;
  if (Status status = call.expectShapes({{"logits", {V}}, {"draft_token", {1}}, {"accepted", {1}}, {"token", {1}}});
      !status)
    return status;
  for (int64_t v = 0; v < V; ++v)
    if (!std::isnan(logits.data[v]) && (best < 0 || logits.data[v] > logits.data[best]))
      best = v;
  call.out("token").data[0] = static_cast<double>(best);
  call.out("accepted").data[0] = best >= 0 && call.in("draft_token").integer(0) == best;
  return Status::success();
}

/// Ties, and drafts that are right as often as wrong.
bool prepareVerify(Call &call, Random &random) {
  Tensor &logits = call.inputs["logits"];
  int64_t V = logits.extent(0), best = V > 0 ? 0 : -1;
  for (int64_t v = 1; v < V; ++v)
    if (logits.data[v] > logits.data[best])
      best = v;
  if (V > 1 && random.below(2)) {
    int64_t other = random.below(V);
    logits.data[other] = logits.data[best];
    best = std::min(best, other);
  }
  call.inputs["draft_token"].data[0] = static_cast<double>(random.below(2) ? best : random.below(V + 1) - 1);
  return true;
}

Status speculativeCommit(Call &call) {
  int64_t L = call.in("buffer").extent(0);
  for (const char *name : {"accepted", "token", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"})
    if (Status status = call.expectShapes({{name, {1}}}); !status)
      return status;
  bool accepted = call.in("accepted").integer(0) != 0;
  const char *counter = accepted ? "n_accepted" : "n_rejected";
  for (const char *name : {"target_pos", counter})
    if (call.in(name).data[0] == mostInt32)
      return invalid(std::string(name) + " cannot grow");
  int64_t count = call.in("count").integer(0);
  if (count >= 0 && count < L) {
    call.out("buffer").data[count] = call.in("token").data[0];
    call.out("count").data[0] += 1;
  }
  call.out("target_pos").data[0] += 1;
  call.out("draft_pos").data[0] = call.out("target_pos").data[0];
  call.out(counter).data[0] += 1;
  return Status::success();
}

/// A buffer that is empty, partly full or full; now and then a count that is not valid.
bool prepareCommit(Call &call, Random &random) {
  call.inputs["accepted"].data[0] = static_cast<double>(random.below(2));
  call.inputs["count"].data[0] = static_cast<double>(random.below(call.in("buffer").extent(0) + 3) - 1);
  return true;
}

bool spoilCommit(Call &call, Random &random) {
  bool accepted = call.in("accepted").integer(0) != 0;
  const char *name = random.below(2) ? "target_pos" : accepted ? "n_accepted" : "n_rejected";
  call.inputs[name].data[0] = call.outputs[name].data[0] = mostInt32;
  return true;
}

/// A vocabulary as strings and as a map to the first id of each.
struct Vocabulary {
  std::vector<std::string> strings;
  std::map<std::string, int64_t> ids;

  int64_t find(const std::string &text) const {
    auto known = ids.find(text);
    return known == ids.end() ? -1 : known->second;
  }
};

Status readVocabulary(const Call &call, Vocabulary &vocabulary) {
  const Tensor &offsets = call.in("vocab_offsets"), &bytes = call.in("vocab_strings");
  int64_t next = 0;
  for (int64_t i = 0; i < offsets.elements(); ++i) {
    int64_t begin = offsets.integer(i), end = begin;
    while (begin >= next && end < bytes.elements() && bytes.integer(end) != 0)
      ++end;
    if (begin < next || end >= bytes.elements())
      return invalid("a token is no string behind the one before it");
    std::string text;
    for (int64_t at = begin; at < end; ++at)
      text += static_cast<char>(bytes.integer(at));
    if (!text.empty())
      vocabulary.ids.emplace(text, i);
    vocabulary.strings.push_back(text);
    next = end + 1;
  }
  return Status::success();
}

/// What a byte-level vocabulary writes for a byte: its code point, or for those that cannot be printed the next from
/// 256.
std::string printableOf(int byte) {
  auto isItself = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  int code = byte;
  if (!isItself(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b)
      code += !isItself(b);
  }
  if (code < 128)
    return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code / 64), static_cast<char>(0x80 | code % 64)};
}

std::string withMarkers(const std::string &text, const std::string &style) {
  const std::string marker = style == "byte_level" ? "\xc4\xa0" : style == "sentencepiece" ? "\xe2\x96\x81" : " ";
  std::string result = style == "sentencepiece" && !text.empty() && text[0] != ' ' ? marker : "";
  for (char c : text)
    result += c == ' ' ? marker : std::string(1, c);
  return result;
}

/// Chunks by a regular expression over classes of bytes: Letter, Number, Punctuation, Return, Space, and the blank.
std::vector<std::string> chunksOf(const std::string &text) {
  static const std::regex chunk("[^RLN]?L+|N| ?P+R*|[RS ]*R+|[RS ]+(?![LNP])|[RS ]+");
  std::string classes;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 128;
    classes += letter                       ? 'L'
               : byte >= '0' && byte <= '9' ? 'N'
               : c == ' '                   ? ' '
               : c == '\n' || c == '\r'     ? 'R'
               : byte >= 9 && byte <= 12    ? 'S'
                                            : 'P';
  }
  std::vector<std::string> chunks;
  for (std::sregex_iterator it(classes.begin(), classes.end(), chunk), end; it != end; ++it)
    chunks.push_back(text.substr(static_cast<size_t>(it->position()), static_cast<size_t>(it->length())));
  return chunks;
}

/// The first characters of a chunk, as the vocabulary writes them.
std::vector<std::string> charactersOf(const std::string &text, bool byteLevel) {
  std::vector<std::string> characters;
  for (char c : text)
    if (byteLevel)
      characters.push_back(printableOf(static_cast<unsigned char>(c)));
    else if (!characters.empty() && (c & 0xc0) == 0x80)
      characters.back() += c;
    else
      characters.push_back(std::string(1, c));
  return characters;
}

Status tokenize(Call &call) {
  const Tensor &text = call.in("text"), &merges = call.in("merges");
  const int64_t P = merges.extent(0), V = call.in("vocab_offsets").extent(0);
  Tensor &ids = call.out("ids");
  if (Status status = call.expectShapes({{"merges", {P, 3}}, {"n_ids", {1}}}); !status)
    return status;
  Vocabulary vocabulary;
  if (Status status = readVocabulary(call, vocabulary); !status)
    return status;
  if (Status status = expectIndices("merges", merges, V); !status)
    return status;
  for (const char *name : {"bos_id", "eos_id", "unk_id"})
    if (call.integer(name) >= V)
      return invalid("a special token is outside the vocabulary");
  std::string bytes;
  for (double byte : text.data)
    bytes += static_cast<char>(static_cast<int>(byte));
  std::vector<int64_t> found;
  auto put = [&](int64_t id) {
    if (id >= 0)
      found.push_back(id);
  };
  if (call.flag("add_bos"))
    put(call.integer("bos_id"));
  const std::string style = call.word("style");
  if (call.word("mode") == "longest") {
    const std::string rest = withMarkers(bytes, style);
    for (size_t i = 0; i < rest.size();) {
      size_t length = rest.size() - i;
      while (length > 0 && vocabulary.find(rest.substr(i, length)) < 0)
        --length;
      put(length ? vocabulary.find(rest.substr(i, length)) : call.integer("unk_id"));
      i += std::max<size_t>(length, 1);
    }
  } else {
    const bool byteLevel = style == "byte_level";
    const std::vector<std::string> chunks = byteLevel ? chunksOf(bytes) : std::vector{withMarkers(bytes, style)};
    for (const std::string &chunk : chunks) {
      std::vector<int64_t> pieces;
      for (const std::string &character : charactersOf(chunk, byteLevel))
        pieces.push_back(vocabulary.find(character));
      // One merge after the other, each the first that applies in the order of ranks and places.
      for (int64_t rank = 0; rank < P;) {
        size_t at = 0;
        while (at + 1 < pieces.size() &&
               !(pieces[at] == merges.integer(3 * rank) && pieces[at + 1] == merges.integer(3 * rank + 1)))
          ++at;
        if (at + 1 >= pieces.size()) {
          ++rank;
          continue;
        }
        pieces[at] = merges.integer(3 * rank + 2);
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        rank = 0;
      }
      for (int64_t piece : pieces)
        put(piece >= 0 ? piece : call.integer("unk_id"));
    }
  }
  if (call.flag("add_eos"))
    put(call.integer("eos_id"));
  const auto room = static_cast<size_t>(ids.elements());
  // Where ids find no room, the last one stays out first.
  found.resize(std::min(found.size(), room));
  for (size_t i = 0; i < room; ++i)
    ids.data[i] = i < found.size() ? static_cast<double>(found[i]) : -1;
  call.out("n_ids").data[0] = static_cast<double>(found.size());
  return Status::success();
}

/// Text and tokens over a few letters, so that they meet; merges of tokens whose whole is a token where there is one.
bool prepareTokenize(Call &call, Random &random) {
  Tensor &offsets = call.inputs["vocab_offsets"], &bytes = call.inputs["vocab_strings"],
         &merges = call.inputs["merges"];
  const int64_t V = offsets.elements(), B = bytes.elements(), P = merges.extent(0);
  if (V > B || (P > 0 && V == 0))
    return false;
  static const char *const letters[] = {"a", "b", "a",  "b",        " ",        "\n",
                                        "1", ".", "\t", "\xc3\xa9", "\xc4\xa0", "\xe2\x96\x81"};
  auto draw = [&] { return std::string(letters[random.below(12)]); };
  std::string text;
  Tensor &input = call.inputs["text"];
  while (static_cast<int64_t>(text.size()) < input.elements())
    text += draw();
  for (int64_t i = 0; i < input.elements(); ++i)
    input.data[i] = static_cast<unsigned char>(text[static_cast<size_t>(i)]);
  std::fill(bytes.data.begin(), bytes.data.end(), 0.0);
  Vocabulary vocabulary;
  int64_t at = 0;
  for (int64_t i = 0; i < V; ++i) {
    // What later tokens need at the least stays free.
    const int64_t room = B - at - (V - i);
    std::string token;
    for (int64_t parts = random.below(4) + (i < 12); parts > 0; --parts)
      token += i < 12 && token.empty() ? printableOf(static_cast<unsigned char>(letters[i][0])) : draw();
    if (static_cast<int64_t>(token.size()) > room)
      token.clear();
    offsets.data[i] = static_cast<double>(at);
    for (char c : token)
      bytes.data[at++] = static_cast<unsigned char>(c);
    ++at;
    vocabulary.ids.emplace(token, i);
    vocabulary.strings.push_back(token);
  }
  for (int64_t i = 0; i < P; ++i) {
    const int64_t left = random.below(V), right = random.below(V);
    const int64_t whole =
        vocabulary.find(vocabulary.strings[static_cast<size_t>(left)] + vocabulary.strings[static_cast<size_t>(right)]);
    merges.data[3 * i] = static_cast<double>(left);
    merges.data[3 * i + 1] = static_cast<double>(right);
    merges.data[3 * i + 2] = static_cast<double>(whole >= 0 ? whole : random.below(V));
  }
  return true;
}

bool spoilTokenize(Call &call, Random &random) {
  Tensor &offsets = call.inputs["vocab_offsets"];
  if (random.below(2))
    return spoilIndex(call.inputs["merges"], offsets.elements(), random);
  return spoilIndex(offsets, call.in("vocab_strings").elements(), random);
}

} // namespace

std::vector<Operation> textOperations() {
  Operation verify;
  verify.name = "speculative_verify";
  verify.inputs = {"logits", "draft_token"};
  verify.outputs = {"accepted", "token"};
  verify.evaluate = speculativeVerify;
  verify.prepare = prepareVerify;

  Operation commit;
  commit.name = "speculative_commit";
  commit.inputs = {"accepted", "token", "buffer", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"};
  commit.outputs = {"buffer", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"};
  commit.evaluate = speculativeCommit;
  commit.prepare = prepareCommit;
  commit.spoil = spoilCommit;

  Operation encode;
  encode.name = "tokenize";
  encode.inputs = {"text", "vocab_offsets", "vocab_strings", "merges"};
  encode.outputs = {"ids", "n_ids"};
  encode.defaults = {{"mode", std::string("longest")},
                     {"style", std::string("byte_level")},
                     {"add_bos", false},
                     {"add_eos", false},
                     {"bos_id", int64_t(-1)},
                     {"eos_id", int64_t(-1)},
                     {"unk_id", int64_t(-1)}};
  encode.evaluate = tokenize;
  encode.prepare = prepareTokenize;
  encode.spoil = spoilTokenize;
  encode.draws = {
      valuesOf("unk_id", {int64_t(-1), int64_t(0)}),
      {{{"bos_id", int64_t(-1)}, {"eos_id", int64_t(0)}}, {{"bos_id", int64_t(0)}, {"eos_id", int64_t(-1)}}}};
  return {verify, commit, encode};
}

} // namespace ck::reference
