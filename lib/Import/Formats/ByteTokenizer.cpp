//===- ByteTokenizer.cpp - one token a byte -------------------------------===//
#include "ck/Import/Formats/ByteTokenizer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace ck {

std::string byteTokenizerJson() {
  using Json = nlohmann::ordered_json;
  Json vocab;
  for (int byte = 0; byte < 256; ++byte) {
    char spelling[8];
    std::snprintf(spelling, sizeof spelling, "<0x%02X>", byte);
    vocab[spelling] = byte;
  }
  Json json = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", Json::array()},
               {"normalizer", nullptr},
               {"pre_tokenizer", nullptr},
               {"post_processor", nullptr},
               {"decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}}},
               {"model",
                {{"type", "BPE"},
                 {"dropout", nullptr},
                 {"unk_token", nullptr},
                 {"continuing_subword_prefix", nullptr},
                 {"end_of_word_suffix", nullptr},
                 {"fuse_unk", false},
                 {"byte_fallback", true},
                 {"ignore_merges", false},
                 {"vocab", vocab},
                 {"merges", Json::array()}}}};
  return json.dump(1) + "\n";
}

} // namespace ck
