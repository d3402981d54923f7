//===- StoredReferenceTest.cpp - texts, codes and clamps worked out by hand -===//

#include "Contracts.h"
#include "QuantRules.h"
#include "ReferenceSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ck;
using namespace ck::reference;

namespace {

Tensor bytes(const std::string &text) {
  Tensor result = Tensor::zeros({static_cast<int64_t>(text.size())});
  for (size_t i = 0; i < text.size(); ++i)
    result.data[i] = static_cast<unsigned char>(text[i]);
  return result;
}

/// Ids of `text` over the tokens; merges are rows of left, right, whole.
std::vector<double> idsOf(const std::string &text, const std::vector<std::string> &tokens,
                          const std::vector<double> &merges, Params attrs, const std::string &expectedError = "") {
  Call call;
  std::string strings;
  Tensor offsets = Tensor::zeros({static_cast<int64_t>(tokens.size())});
  for (size_t i = 0; i < tokens.size(); ++i) {
    offsets.data[i] = static_cast<double>(strings.size());
    strings += tokens[i] + std::string(1, '\0');
  }
  call.attrs = std::move(attrs);
  call.inputs = {{"text", bytes(text)},
                 {"vocab_offsets", offsets},
                 {"vocab_strings", bytes(strings)},
                 {"merges", tensor({static_cast<int64_t>(merges.size()) / 3, 3}, merges)}};
  call.outputs = {{"ids", Tensor::zeros({8})}, {"n_ids", Tensor::zeros({1})}};
  EXPECT_EQ(errorCode("tokenize", call), expectedError);
  std::vector<double> ids = call.out("ids").data;
  ids.resize(static_cast<size_t>(call.out("n_ids").data[0]));
  return ids;
}
using Ids = std::vector<double>;

TEST(StoredReference, TokensByLengthAndByRank) {
  const std::vector<std::string> tokens = {"a",
                                           "b",
                                           "ab",
                                           "bb",
                                           "\xc4\xa0",
                                           "\xc4\xa0"
                                           "ab"};
  const std::vector<double> merges = {1, 1, 3, 0, 1, 2, 4, 2, 5};
  const Params byRank = {{"mode", std::string("merges")}};
  EXPECT_EQ(idsOf("abb", tokens, {}, {}), (Ids{2, 1}));
  EXPECT_EQ(idsOf("abb", tokens, merges, byRank), (Ids{0, 3}));
  EXPECT_EQ(idsOf("ab ab", tokens, merges, byRank), (Ids{2, 5}));
  // Only the last blank belongs to the word behind it.
  EXPECT_EQ(idsOf("ab  ab", tokens, merges, byRank), (Ids{2, 4, 5}));
  EXPECT_EQ(idsOf("a?", tokens, {}, {{"unk_id", int64_t(3)}, {"add_eos", true}, {"eos_id", int64_t(4)}}),
            (Ids{0, 3, 4}));
  EXPECT_EQ(idsOf("a?", tokens, {}, {}), (Ids{0}));
  EXPECT_EQ(idsOf("aaaaaaaaaa", tokens, {}, {}).size(), 8u);
  idsOf("a", tokens, {0, 6, 1}, {}, "INVALID_ARGUMENT");
}

TEST(StoredReference, SpeculativeTokens) {
  Call verify;
  verify.inputs = {{"logits", tensor({4}, {NAN, 2, 5, 5})}, {"draft_token", tensor({1}, {3})}};
  verify.outputs = {{"accepted", Tensor::zeros({1})}, {"token", Tensor::zeros({1})}};
  EXPECT_EQ(errorCode("speculative_verify", verify), "");
  EXPECT_EQ(verify.out("token").data[0], 2);
  EXPECT_EQ(verify.out("accepted").data[0], 0);

  Call commit;
  commit.inputs = {{"accepted", tensor({1}, {1})},   {"token", tensor({1}, {7})},      {"buffer", tensor({2}, {5, 0})},
                   {"count", tensor({1}, {1})},      {"target_pos", tensor({1}, {9})}, {"draft_pos", tensor({1}, {4})},
                   {"n_accepted", tensor({1}, {2})}, {"n_rejected", tensor({1}, {3})}};
  commit.outputs = commit.inputs;
  for (const char *name : {"accepted", "token"})
    commit.outputs.erase(name);
  EXPECT_EQ(errorCode("speculative_commit", commit), "");
  EXPECT_EQ(commit.out("buffer").data, (Ids{5, 7}));
  EXPECT_EQ(commit.out("count").data[0], 2);
  EXPECT_EQ(commit.out("draft_pos").data[0], 10);
  EXPECT_EQ(commit.out("n_accepted").data[0], 3);
  EXPECT_EQ(commit.out("n_rejected").data[0], 3);
}

TEST(StoredReference, RulesOfActivationBlocks) {
  float x[256] = {};
  uint8_t block[292];
  x[3] = 2.0f;  // ends at 127
  x[4] = -1.0f; // -63.5: to even, or away from zero
  quantizeBlock("q8_0", x, block);
  EXPECT_EQ(readBlock("q8_0", block).code[3], 127);
  EXPECT_EQ(readBlock("q8_0", block).code[4], -64);
  x[4] = 5.0f / 254 * 1.0f; // 1.25
  x[5] = 0x1p-9f;           // 0.124
  quantizeBlock("q8_1", x, block);
  EXPECT_EQ(readBlock("q8_1", block).code[4], 1);
  EXPECT_EQ(readBlock("q8_1", block).s, roundF16(128 * (2.0f / 127)));
  // The first of two largest magnitudes gives the sign of d.
  x[9] = -2.0f;
  quantizeBlock("q8_k", x, block);
  EXPECT_LT(readBlock("q8_k", block).d, 0);
  EXPECT_EQ(readBlock("q8_k", block).code[3], -127);
  EXPECT_EQ(readBlock("q8_k", block).code[9], 127);
  EXPECT_EQ(readBlock("q8_k", block).sums[0], readBlock("q8_k", block).code[4]);
  x[0] = INFINITY;
  quantizeBlock("q8_0", x, block);
  EXPECT_TRUE(std::isnan(readBlock("q8_0", block).d));
}

TEST(StoredReference, ClampsAndPositions) {
  Call clipped;
  clipped.inputs = {{"input", tensor({1, 2}, {-5, 3})},
                    {"weight", tensor({2, 2}, {1, 1, 2, 2})},
                    {"in_min", tensor({1}, {-1})},
                    {"out_max", tensor({1}, {3})}};
  clipped.outputs["output"] = Tensor::zeros({1, 2});
  EXPECT_EQ(errorCode("clipped_linear", clipped), "");
  EXPECT_EQ(clipped.out("output").data, (Ids{2, 3}));

  Call embed;
  embed.inputs = {
      {"ids", tensor({2}, {1, 0})}, {"table", tensor({2, 1}, {10, 20})}, {"pos_emb", tensor({3, 1}, {1, 2, 3})}};
  embed.outputs["output"] = Tensor::zeros({2, 1});
  EXPECT_EQ(errorCode("embedding", embed), "");
  EXPECT_EQ(embed.out("output").data, (Ids{21, 12}));
  embed.inputs["pos_emb"] = tensor({1, 1}, {1});
  EXPECT_EQ(errorCode("embedding", embed), "INVALID_ARGUMENT");
}

} // namespace
