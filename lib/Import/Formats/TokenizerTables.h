//===- TokenizerTables.h - what a tokenizer is made of ----------*- C++ -*-===//
//
// Private: both file formats are read into these tables; encoding and decoding know only them.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_TOKENIZERTABLES_H
#define CK_LIB_IMPORT_FORMATS_TOKENIZERTABLES_H

#include "ck/Import/Formats/Tokenizer.h"

#include <array>
#include <unordered_map>

namespace ck {

/// U+2581, which stands for a space inside the vocabulary.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

enum class TokenKind : uint8_t {
  Hole,        ///< no token has this id
  Normal,      ///< a piece of text
  Byte,        ///< one byte, spelt <0xAB>
  Unknown,     ///< stands for text without a piece; special
  Control,     ///< BOS and the like; special
  UserDefined, ///< found in text before anything else
  Unused       ///< takes part in merging, but is split again in the result
};

struct TokenizerTables {
  struct Token {
    std::string text;
    TokenKind kind = TokenKind::Hole;
  };
  struct Merge {
    int32_t rank, result;
  };
  /// A token that is found in the text as it is spelt; `special` only if the caller wants special tokens parsed.
  struct Literal {
    std::string text;
    int32_t id;
    bool special;
  };

  std::vector<Token> tokens;
  /// Pieces that text can become, by their spelling (views into `tokens`).
  std::unordered_map<std::string_view, int32_t> pieces;
  std::array<int32_t, 256> byteToken; ///< -1 where there is none
  std::optional<int32_t> unknown;
  bool fuseUnknown = true; ///< neighbouring unknown characters become one token
  bool wholeFirst = false; ///< text that is a piece is that piece, without merging

  /// Merging by rank (tokenizer.json): pairs of ids, key = left << 32 | right, the smallest rank first.
  /// Merging by score (GGUF): any two neighbours whose joint spelling is a piece, the highest score first.
  bool byScore = false;
  std::unordered_map<uint64_t, Merge> merges;
  std::vector<float> scores;
  size_t longestPiece = 0; ///< bytes

  bool marksSpaces = true;  ///< kSpaceMark stands for a space; otherwise a space is a character like others
  bool prefixSpace = false; ///< each run of plain text gets kSpaceMark in front
  bool stripSpace = false;  ///< decoding drops one space at the start of the text
  std::vector<Literal> literals;
  std::array<std::vector<uint32_t>, 256> literalsByByte; ///< by first byte, longest first
  std::vector<int32_t> before, after;                    ///< ids around the text
  std::optional<int32_t> bos;
  std::vector<int32_t> eos;

  TokenizerTables() { byteToken.fill(-1); }
  /// Fills what follows from the rest: pieces, byteToken, longestPiece, literalsByByte. Error DUPLICATE.
  Status finish(const std::string &source);
  bool isSpecial(int32_t id) const {
    return tokens[id].kind == TokenKind::Control || tokens[id].kind == TokenKind::Unknown;
  }
};

/// True for "<0x00>" to "<0xFF>".
bool isByteSpelling(std::string_view text);

/// Splits `text`, normalised already, into ids and appends them. Error BAD_INPUT.
Status mergeText(const TokenizerTables &tables, std::string_view text, std::vector<int32_t> &ids);

} // namespace ck

#endif // CK_LIB_IMPORT_FORMATS_TOKENIZERTABLES_H
