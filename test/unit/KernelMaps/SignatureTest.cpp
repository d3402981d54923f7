//===- SignatureTest.cpp - signatures: parsing and printing ---------------===//

#include "ck/KernelMaps/Signature.h"
#include "ck/KernelMaps/DType.h"

#include <gtest/gtest.h>

#include <random>

using namespace ck;

namespace {

std::string printed(const std::string &text) {
  Result<Signature> signature = parseSignature(text);
  return signature ? signature->str() : "error: " + signature.error().message;
}

std::string printedWhere(const std::string &text) {
  Result<WhereClause> clause = parseWhere(text);
  return clause ? clause->str() : "error: " + clause.error().message;
}

TEST(Signature, ReadsEveryPart) {
  Result<Signature> s =
      parseSignature("input[...T,E]:f32, k_cache[KV,S,D]{*,D,1}:$C, gamma[E]:f32?, table[2*V+1,1]:q4_k"
                     " -> output[...T,E]:f32, k_cache[KV,S,D]{*,D,1}:$C|=, dw[E]:f32?+=, n[]:i32");
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->inputs.size(), 4u);
  ASSERT_EQ(s->outputs.size(), 4u);
  EXPECT_TRUE(s->inputs[0].leadingDims);
  EXPECT_EQ(s->inputs[0].dims.size(), 2u);
  EXPECT_TRUE(s->inputs[1].hasStrides);
  EXPECT_FALSE(s->inputs[1].strides[0]);
  EXPECT_EQ(s->inputs[1].strides[1]->str(), "D");
  EXPECT_EQ(s->inputs[1].dtype, "$C");
  EXPECT_TRUE(s->inputs[2].optional);
  EXPECT_EQ(s->inputs[3].dims[0].str(), "2*V+1");
  EXPECT_TRUE(s->isUpdated("k_cache"));
  EXPECT_FALSE(s->isUpdated("input"));
  EXPECT_TRUE(s->findOutput("k_cache")->partial);
  EXPECT_TRUE(s->findOutput("dw")->accumulates && s->findOutput("dw")->optional);
  EXPECT_TRUE(s->findOutput("n")->dims.empty());
  EXPECT_EQ(s->findInput("output"), nullptr);
  EXPECT_EQ(s->dimNames(), (std::vector<std::string>{"T", "E", "KV", "S", "D", "V"}));
}

TEST(Signature, PrintsWhatItReads) {
  for (const char *text : {
           "input[T,E]:f32, gamma[E]:f32 -> output[T,E]:f32, rstd[T]:f32?",
           "-> cos[S,P]:f32, sin[S,P]:f32",
           "a[...N]:f32, b[...N]:f32 -> output[...N]:f32",
           "q[T,H*D]:f32, k[KV,S,D]{*,*,1}:f32 -> output[T,H*D]:f32, lse[H,T]:f32?",
           "x[]:f32 -> y[1]:f32",
           "a[M,K]:packed<q4_k,r8>, b[ceildiv(M, 2)*2]:f32 -> c[M]:f32?+=|=",
           "g[L]:f32, w[L]:$W -> w[L]:$W",
       })
    EXPECT_EQ(printed(text), text);
  EXPECT_EQ(printed("  a [ ...N , 2 * F ] : f32 ?\n->b[ N ]:f32 += ?"), "a[...N,2*F]:f32? -> b[N]:f32?+=");
}

TEST(Signature, ErrorsNameColumnAndExpectation) {
  EXPECT_EQ(printed(""), "error: column 1: expected the name of an operand, found the end");
  EXPECT_EQ(printed("a"), "error: column 2: expected '[' after the name of operand 'a', found the end");
  EXPECT_EQ(printed("a[T:f32 -> b[T]:f32"), "error: column 4: expected ']' or ',', found ':'");
  EXPECT_EQ(printed("a[T] -> b[T]:f32"), "error: column 6: expected ':' and an element type, found '-'");
  EXPECT_EQ(printed("a[T]:fp32 -> b[T]:f32"), "error: column 6: 'fp32' is not an element type");
  EXPECT_EQ(printed("a[T]:f32"), "error: column 9: expected ',' or '->', found the end");
  EXPECT_EQ(printed("a[T]:f32 ->"), "error: column 12: expected the name of an operand, found the end");
  EXPECT_EQ(printed("a[T,...N]:f32 -> b[T]:f32"), "error: column 5: '...' may only come first");
  EXPECT_EQ(printed("a[...]:f32 -> b[T]:f32"), "error: column 6: expected a name after '...', found ']'");
  EXPECT_EQ(printed("a[T]:f32, a[T]:f32 -> b[T]:f32"), "error: column 11: operand 'a' is listed twice");
  EXPECT_EQ(printed("a[T]:f32+= -> b[T]:f32"), "error: column 11: '+=' and '|=' belong to outputs");
  EXPECT_EQ(printed("a[T]:f32?? -> b[T]:f32"), "error: column 11: flag given twice");
  EXPECT_EQ(printed("a[T,E]{*}:f32 -> b[T]:f32"), "error: column 10: operand 'a' has 2 dims, but 1 strides");
  EXPECT_EQ(printed("a[T]:f32 -> a[E]:f32"),
            "error: operand 'a' is updated in place, but is a[T]:f32 as input and a[E]:f32 as output");
  EXPECT_EQ(printed("a[T]:f32 -> b[T]:f32 extra"), "error: column 22: expected ',' or the end, found 'extra'");
  EXPECT_EQ(printed("a[-1]:f32 -> b[T]:f32"), "error: column 5: a dim cannot be negative");
  EXPECT_EQ(printed("a[T]:packed<f99> -> b[T]:f32"), "error: column 6: 'packed<f99>' is not an element type");
}

TEST(Where, Clauses) {
  EXPECT_EQ(printedWhere("H=$heads"), "H = $heads");
  EXPECT_EQ(printedWhere("U = (T + 2*$padding - K)/$stride + 1"), "U = (T+2*$padding-K)/$stride+1");
  EXPECT_EQ(printedWhere("W in {f32,bf16}"), "$W in {f32, bf16}");
  EXPECT_EQ(printedWhere("$W in {q4_k}"), "$W in {q4_k}");
  EXPECT_EQ(printedWhere("$W = 4"),
            "error: column 5: an attribute cannot be defined; write the name of a dim before '='");
  EXPECT_EQ(printedWhere("H == 4"), "error: column 3: expected '=' or 'in', found '='");
  EXPECT_EQ(printedWhere("H in {}"), "error: column 7: expected an element type, found '}'");
  EXPECT_EQ(printedWhere("H = 4 5"), "error: column 7: expected the end, found '5'");
  EXPECT_EQ(printedWhere("= 4"), "error: column 1: expected the name of a dim or of a type variable, found '='");
}

TEST(Param, Text) {
  EXPECT_EQ(toString(Param(int64_t(-3))), "-3");
  EXPECT_EQ(toString(Param(true)), "true");
  EXPECT_EQ(toString(Param(1e-5)), "1e-05");
  EXPECT_EQ(toString(Param(0.1)), "0.1");
  EXPECT_EQ(toString(Param(std::string("silu"))), "silu");
}

TEST(DType, Sizes) {
  EXPECT_EQ(*storageBytes("f32", {3, 5}), 60);
  EXPECT_EQ(*storageBytes("bf16", {}), 2);
  EXPECT_EQ(*storageBytes("q4_k", {2, 512}), 2 * 2 * 144);
  EXPECT_EQ(*storageBytes("q4_k", {0, 256}), 0);
  EXPECT_EQ(storageBytes("q4_k", {2, 100}).error().message, "rows of 100 elements do not fill blocks of 256 (q4_k)");
  EXPECT_EQ(storageBytes("f32", {kDynamicDim, 4}).error().message, "extent ? of [?,4] has no size");
  EXPECT_EQ(storageBytes("f32", {INT64_MAX, 4}).error().message,
            "the size of [9223372036854775807,4] overflows 64 bits");
  EXPECT_EQ(storageBytes("f33", {1}).error().message, "the size of 'f33' is not known");
  EXPECT_TRUE(isKnownDType("packed<q4_k,r8>"));
  EXPECT_FALSE(isKnownDType("packed<q4_k,r8"));
  EXPECT_FALSE(isKnownDType("packed"));
  EXPECT_FALSE(isKnownDType(""));
}

TEST(Signature, DamagedTextNeverCrashes) {
  static const char *const tokens[] = {"a",    "k",  "[", "]", "...", ",",       ":",  "f32", "$X",
                                       "q4_k", "->", "{", "}", "*",   "?",       "+=", "|=",  "T",
                                       "1",    "2*", "(", ")", "-",   "packed<", ">",  " ",   "\xff"};
  const std::string sound = "a[...T,2*F]:f32, k[KV,D]{*,1}:$X, b[F]:f32? -> k[KV,D]{*,1}:$X|=, o[T,F]:q4_k?+=";
  std::mt19937 rng(3);
  int parsed = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = sound;
    for (unsigned n = 1 + rng() % 3; n > 0; --n)
      text.replace(rng() % text.size(), rng() % 4, rng() % 2 ? tokens[rng() % std::size(tokens)] : "");
    (void)parseWhere(text);
    Result<Signature> signature = parseSignature(text);
    if (!signature) {
      EXPECT_FALSE(signature.error().message.empty());
      continue;
    }
    ++parsed;
    Result<Signature> again = parseSignature(signature->str());
    ASSERT_TRUE(again) << signature->str();
    EXPECT_EQ(again->str(), signature->str());
  }
  EXPECT_GT(parsed, 500);
}

} // namespace
