//===- DataTest.cpp - token streams, windows, batches ---------------------===//
#include "TrainingSupport.h"
#include "ck/Import/Formats/ByteTokenizer.h"
#include "ck/Training/BatchFile.h"
#include "ck/Training/DataSource.h"

#include <set>

using namespace ck;
using namespace ck::test;

namespace {

using Ids = std::vector<int32_t>;

Ids idsOf(const TokenStream &stream) {
  Ids ids;
  for (int64_t i = 0; i < stream.size(); ++i)
    ids.push_back(stream[i]);
  return ids;
}

TEST(TokenStream, BytesOfAText) {
  TemporaryDirectory directory;
  std::string path = directory.write("t.txt", std::string("a\0\xff", 3));
  Result<TokenStream> stream = TokenStream::fromBytes(path, 256);
  ASSERT_TRUE(stream) << messageOf(stream);
  EXPECT_EQ(idsOf(*stream), (Ids{97, 0, 255}));
  EXPECT_EQ(codeOf(TokenStream::fromBytes(path, 255)), "BAD_INPUT");
  EXPECT_CONTAINS(messageOf(TokenStream::fromBytes(path, 255)), "at least 256");
  EXPECT_EQ(codeOf(TokenStream::fromBytes(directory.write("e", ""), 256)), "TRUNCATED");
}

TEST(TokenStream, TextThroughATokenizer) {
  TemporaryDirectory directory;
  Result<Tokenizer> tokenizer = Tokenizer::fromJson(byteTokenizerJson(), "bytes");
  ASSERT_TRUE(tokenizer);
  std::string path = directory.write("t.txt", "ab c");
  Result<TokenStream> stream = TokenStream::fromText(path, *tokenizer, 100);
  ASSERT_TRUE(stream) << messageOf(stream);
  EXPECT_EQ(idsOf(*stream), (Ids{97, 98, 32, 99}));
  Result<TokenStream> small = TokenStream::fromText(path, *tokenizer, 98);
  EXPECT_EQ(codeOf(small), "OUT_OF_RANGE");
  EXPECT_CONTAINS(messageOf(small), "token 1 has the id 98, but the vocabulary has 98 tokens (0 to 97)");
}

TEST(TokenStream, RawIdsInTwoWidths) {
  TemporaryDirectory directory;
  std::string two = directory.write("two.bin", std::string("\x01\x00\xff\xff", 4));
  Result<TokenStream> narrow = TokenStream::fromTokenFile(two, 65536);
  ASSERT_TRUE(narrow) << messageOf(narrow);
  EXPECT_EQ(idsOf(*narrow), (Ids{1, 65535}));
  std::string four = directory.write("four.bin", std::string("\x01\x00\x01\x00\x02\x00\x00\x00", 8));
  Result<TokenStream> wide = TokenStream::fromTokenFile(four, 65538);
  ASSERT_TRUE(wide) << messageOf(wide);
  EXPECT_EQ(idsOf(*wide), (Ids{65537, 2}));

  Result<TokenStream> outside = TokenStream::fromTokenFile(two, 65535);
  EXPECT_EQ(codeOf(outside), "OUT_OF_RANGE");
  EXPECT_CONTAINS(messageOf(outside), "token 1 has the id 65535, but the vocabulary has 65535 tokens");
  EXPECT_EQ(codeOf(TokenStream::fromTokenFile(directory.write("odd.bin", "abc"), 300)), "TRUNCATED");
  // As a signed number this id would be negative.
  std::string high = directory.write("high.bin", std::string("\xff\xff\xff\xff", 4));
  EXPECT_CONTAINS(messageOf(TokenStream::fromTokenFile(high, 70000)), "the id 4294967295");
}

TEST(TokenStream, TheLastTenthValidates) {
  auto validation = [](int64_t count) { return TokenStream::fromIds(Ids(count)).validation().size(); };
  EXPECT_EQ(validation(0), 0);
  EXPECT_EQ(validation(10), 0); // one token predicts nothing
  EXPECT_EQ(validation(11), 2);
  EXPECT_EQ(validation(1115394), 111540);
  TokenStream stream = TokenStream::fromIds(Ids(101));
  EXPECT_EQ(stream.training().end, stream.validation().begin);
  EXPECT_EQ(stream.validation().end, 101);
}

TEST(TokenStream, DigestsTellCorporaApart) {
  Ids ids = someTokens(200000, 300), other = ids;
  other[199999] ^= 1;
  EXPECT_EQ(TokenStream::fromIds(ids).digest(), TokenStream::fromIds(ids).digest());
  EXPECT_NE(TokenStream::fromIds(ids).digest(), TokenStream::fromIds(other).digest());
  EXPECT_NE(TokenStream::fromIds({1}).digest(), TokenStream::fromIds({1, 1}).digest());
}

void expectEveryTokenOnce(int64_t size, int64_t length, int64_t lead) {
  SCOPED_TRACE(std::to_string(size) + " tokens, windows of " + std::to_string(length) + ", lead " +
               std::to_string(lead));
  Ids ids(size + 3);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(i);
  Windows windows{{3, size + 3}, length, lead};
  Batch batch;
  for (int64_t w = 0; w < windows.count(); ++w)
    windows.add(w, TokenStream::fromIds(ids), batch);
  ASSERT_EQ(batch.rows(), size - 1);
  EXPECT_EQ(batch.valid, size - 1);
  EXPECT_EQ(batch.seqs.back(), size - 1);
  for (int64_t i = 0; i < batch.rows(); ++i) {
    EXPECT_EQ(batch.tokens[i], i + 3);
    EXPECT_EQ(batch.targets[i], i + 4);
    EXPECT_EQ(batch.pos[i], i < lead ? i : (i - lead) % length);
  }
  EXPECT_LE(windows.longest(), length);
}

TEST(Windows, EveryTokenButTheFirstIsPredictedOnce) {
  for (int64_t size : {2, 3, 4, 5, 9, 10, 31})
    for (int64_t length : {1, 2, 4, 9, 100})
      for (int64_t lead : {0, 1, 3, 8})
        if (lead < length)
          expectEveryTokenOnce(size, length, lead);
  EXPECT_EQ((Windows{{0, 1}, 4}.count()), 0);
  EXPECT_EQ((Windows{{0, 0}, 4}.count()), 0);
}

TEST(Windows, LaterEpochsBeginElsewhere) {
  EXPECT_EQ(epochLead(128, 7, 0), 0);
  EXPECT_EQ(epochLead(1, 7, 3), 0);
  std::set<int64_t> leads;
  for (int64_t epoch = 1; epoch < 100; ++epoch)
    leads.insert(epochLead(128, 7, epoch));
  EXPECT_GE(*leads.begin(), 0);
  EXPECT_LT(*leads.rbegin(), 128);
  EXPECT_GT(leads.size(), 40u);
}

TEST(WindowSource, AnEpochIsAPermutationAndPositionsResume) {
  TokenStream stream = TokenStream::fromIds(someTokens(55, 50));
  Windows windows{{0, 55}, 4}; // 14 windows, the last of 2 rows
  ASSERT_EQ(windows.count(), 14);
  auto source = windowSource(stream, windows, 2, 3, 42);
  EXPECT_EQ(source->maxRows(), 8);
  EXPECT_EQ(source->maxSequences(), 2);
  EXPECT_EQ(source->maxPositions(), 4);
  DataPosition position;
  std::vector<std::vector<Batch>> steps;
  std::vector<DataPosition> positions;
  for (int i = 0; i < 6; ++i) {
    positions.push_back(position);
    steps.push_back(source->next(position));
  }
  EXPECT_EQ(position.epoch, 2);
  EXPECT_EQ(position.index, 0);
  // 14 windows in steps of 6: 6, 6, 2.
  EXPECT_EQ(steps[0].size(), 3u);
  EXPECT_EQ(steps[2].size(), 1u);
  int64_t rows = 0;
  for (int i = 0; i < 3; ++i)
    for (const Batch &batch : steps[i])
      rows += batch.rows();
  EXPECT_EQ(rows, 54);
  EXPECT_NE(epochOrder(14, 42, 0), epochOrder(14, 42, 1));
  EXPECT_NE(epochOrder(14, 42, 0), epochOrder(14, 43, 0));

  for (size_t i = 0; i < steps.size(); ++i) {
    auto fresh = windowSource(stream, windows, 2, 3, 42);
    DataPosition start = positions[i];
    std::vector<Batch> again = fresh->next(start);
    ASSERT_EQ(again.size(), steps[i].size());
    for (size_t k = 0; k < again.size(); ++k) {
      EXPECT_EQ(again[k].tokens, steps[i][k].tokens);
      EXPECT_EQ(again[k].seqs, steps[i][k].seqs);
    }
  }
}

TEST(WindowSource, OrdersAreFair) {
  // Each window comes first about equally often.
  std::vector<int> first(5);
  for (int64_t epoch = 0; epoch < 5000; ++epoch)
    ++first[epochOrder(5, 3, epoch)[0]];
  for (int count : first)
    EXPECT_NEAR(count, 1000, 120);
  std::vector<uint32_t> order = epochOrder(1000, 3, 0);
  EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 1000u);
}

TEST(FixedSource, DividesTheSequences) {
  std::vector<Sequence> sequences = {{{1, 2, 3}, {2, 3, 4}}, {{5}, {6}}, {{7, 8}, {-100, -100}}};
  auto source = fixedSource(sequences, 2);
  EXPECT_EQ(source->maxPositions(), 3);
  EXPECT_EQ(source->maxSequences(), 2);
  EXPECT_EQ(source->maxRows(), 4);
  DataPosition position;
  std::vector<Batch> batches = source->next(position);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].tokens, (Ids{1, 2, 3, 5}));
  EXPECT_EQ(batches[0].pos, (Ids{0, 1, 2, 0}));
  EXPECT_EQ(batches[0].seqs, (Ids{0, 3, 4}));
  EXPECT_EQ(batches[0].valid, 4);
  EXPECT_EQ(batches[1].valid, 0);
  EXPECT_EQ(fixedSource(sequences, 1)->next(position).size(), 3u);
  EXPECT_EQ(fixedSource(sequences, 7)->next(position).size(), 1u);
}

TEST(BatchFile, ReadsRaggedSequences) {
  Result<std::vector<Sequence>> batch =
      parseBatch(R"({"what": {"x": []}, "input_ids": [[1, 2], [3]], "targets": [[2, -100], [4]]})", "b.json", 5);
  ASSERT_TRUE(batch) << messageOf(batch);
  ASSERT_EQ(batch->size(), 2u);
  EXPECT_EQ((*batch)[0].targets, (Ids{2, -100}));
}

TEST(BatchFile, RefusesWithThePlace) {
  auto refuse = [](const char *text, const char *code, const char *part) {
    Result<std::vector<Sequence>> batch = parseBatch(text, "b.json", 5);
    EXPECT_EQ(codeOf(batch), code) << text;
    EXPECT_CONTAINS(messageOf(batch), part);
  };
  refuse(R"([])", "BAD_INPUT", "is an array; expected an object");
  refuse(R"({"input_ids": [[1]]})", "BAD_INPUT", "targets is missing");
  refuse(R"({"input_ids": [], "targets": []})", "BAD_INPUT", "input_ids is an array of 0");
  refuse(R"({"input_ids": [1], "targets": [2]})", "BAD_INPUT", "input_ids[0] is 1; expected a list");
  refuse(R"({"input_ids": [[]], "targets": [[]]})", "BAD_INPUT", "input_ids[0] is an array of 0");
  refuse(R"({"input_ids": [[1], [2]], "targets": [[1]]})", "BAD_INPUT", "has 2 sequences, but targets has 1");
  refuse(R"({"input_ids": [[1, 2]], "targets": [[1]]})", "BAD_INPUT",
         "input_ids[0] has 2 tokens, but targets[0] has 1");
  refuse(R"({"input_ids": [[1, 5]], "targets": [[1, 1]]})", "OUT_OF_RANGE", "input_ids[0][1] is 5");
  refuse(R"({"input_ids": [[-100]], "targets": [[1]]})", "OUT_OF_RANGE", "input_ids[0][0] is -100");
  refuse(R"({"input_ids": [[1]], "targets": [[-1]]})", "OUT_OF_RANGE", "or -100 to ignore it");
  refuse(R"({"input_ids": [[1.5]], "targets": [[1]]})", "BAD_INPUT", "input_ids[0][0] is 1.5");
}

} // namespace
