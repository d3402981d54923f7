//===- ContractTest.cpp - params, scratch, ABI slots, digests -------------===//

#include "ck/KernelMaps/KernelMap.h"
#include "ck/Support/Sha256.h"

#include <gtest/gtest.h>

#include <random>

using namespace ck;

namespace {

std::string param(const std::string &text) {
  Result<ParamDecl> decl = parseParamDecl(text);
  return decl ? decl->str() : "error: " + decl.error().message;
}

std::string scratch(const std::string &text) {
  Result<ScratchDecl> decl = parseScratchDecl(text);
  return decl ? decl->str() : "error: " + decl.error().message;
}

TEST(ParamDecl, PrintsWhatItReads) {
  for (const char *text : {"eps:f64", "n:i64 = -3", "flag:bool = true", "alpha:f64 = 0.5", "act:{none,silu} = silu",
                           "kind:{4x,8x,relu2}", "scale:f64 = 1e-05"})
    EXPECT_EQ(param(text), text);
  EXPECT_EQ(param(" alpha : f64=2 "), "alpha:f64 = 2");
  EXPECT_TRUE(std::holds_alternative<double>(*parseParamDecl("alpha:f64 = 2")->defaultValue));
}

TEST(ParamDecl, Errors) {
  EXPECT_EQ(param(""), "error: column 1: expected the name of a param, found the end");
  EXPECT_EQ(param("eps"), "error: column 4: expected ':' and a type, found the end");
  EXPECT_EQ(param("eps:f32"), "error: column 5: expected i64, f64, bool or '{' and values");
  EXPECT_EQ(param("act:{}"), "error: column 6: expected a value, found '}'");
  EXPECT_EQ(param("act:{a,a}"), "error: column 9: value 'a' is listed twice");
  EXPECT_EQ(param("act:{a} = b"), "error: param act must be one of a, but is 'b'");
  EXPECT_EQ(param("n:i64 = 1.5"), "error: param n must be an integer, but is '1.5'");
  EXPECT_EQ(param("n:bool = 1"), "error: param n must be true or false, but is '1'");
  EXPECT_EQ(param("x:f64 = nan"), "error: param x: 'nan' is no value");
  EXPECT_EQ(param("x:f64 = "), "error: param x: '' is no value");
  EXPECT_EQ(param("x:f64 y"), "error: column 7: expected '=' or the end, found 'y'");
}

TEST(ScratchDecl, PrintsWhatItReads) {
  for (const char *text : {"packed[N*K]:f32", "acc[min(M, 64)*$split]:f64 @thread", "codes[K+1]:q8_0"})
    EXPECT_EQ(scratch(text), text);
  EXPECT_EQ(scratch("a [1] :f32@thread"), "a[1]:f32 @thread");
  EXPECT_EQ(scratch("a[1]"), "error: column 5: expected ':' and an element type, found the end");
  EXPECT_EQ(scratch("a[1]:$X"), "error: column 6: expected an element type of known size");
  EXPECT_EQ(scratch("a[1]:f32 @team"), "error: column 10: expected '@thread'");
  EXPECT_EQ(scratch("a[]:f32"), "error: column 3: expected an expression, found ']'");
}

TEST(ScratchDecl, Bytes) {
  auto bytes = [](const char *text, int64_t k) {
    return parseScratchDecl(text)->bytes([k](const std::string &) -> Result<int64_t> { return k; });
  };
  EXPECT_EQ(*bytes("a[K]:f32", 16), 64);
  EXPECT_EQ(*bytes("a[K]:f32", 17), 128);
  EXPECT_EQ(*bytes("a[K]:f32", 0), 0);
  EXPECT_EQ(*bytes("a[K]:q8_0", 33), 128); // two blocks of 34
  EXPECT_EQ(*bytes("a[K]:f32", kDynamicDim), kDynamicDim);
  EXPECT_EQ(bytes("a[K-3]:f32", 1).error().message, "scratch a: K-3 = -2 is negative");
  EXPECT_EQ(bytes("a[K]:f32", INT64_MAX / 2).error().message, "scratch a: its size overflows 64 bits");
  EXPECT_EQ(bytes("a[K]:i8", INT64_MAX - 1).error().message, "scratch a: its size overflows 64 bits");
  EXPECT_EQ(bytes("a[K*K]:i8", INT64_MAX).error().message, "scratch a: K*K overflows 64 bits");
}

TEST(Decls, DamagedTextNeverCrashes) {
  std::mt19937 rng(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 ? "act:{none,silu,4x} = silu" : "packed[N*K+1]:f32 @thread";
    for (unsigned n = 1 + rng() % 3; n > 0; --n)
      text[rng() % text.size()] = static_cast<char>(rng() % 2 ? "[]{}:=@,-1a"[rng() % 11] : rng() % 256);
    if (Result<ParamDecl> p = parseParamDecl(text)) {
      EXPECT_EQ(parseParamDecl(p->str())->str(), p->str());
    }
    if (Result<ScratchDecl> s = parseScratchDecl(text)) {
      EXPECT_EQ(parseScratchDecl(s->str())->str(), s->str());
    }
  }
}

TEST(AbiSlots, OrderIsTheContract) {
  Contract contract;
  contract.signature = *parseSignature("a[M,K]{*,1}:f32, k_cache[S,D]{*,*}:f32, b[N,K]:q4_k?"
                                       " -> k_cache[S,D]{*,*}:f32, c[M,N]{*,1}:f32, n[1]:i32?");
  contract.where = {*parseWhere("H = $heads"), *parseWhere("M = H*2")};
  contract.scratch = {*parseScratchDecl("s[M]:f32"), *parseScratchDecl("t[M]:f32 @thread")};
  contract.params = {*parseParamDecl("eps:f64"), *parseParamDecl("act:{a,b}"), *parseParamDecl("n2:i64")};
  std::string text;
  for (const AbiSlot &slot : abiSlots(contract))
    text += slot.name + (slot.isConst ? "(const)" : "") + (slot.isDouble ? "(double)" : "") + " ";
  EXPECT_EQ(text, "a(const) k_cache b(const) c n s M K S D N H a_stride0 k_cache_stride0 k_cache_stride1 c_stride0 "
                  "eps(double) act n2 ");
  std::vector<AbiSlot> slots = abiSlots(contract);
  EXPECT_EQ(slots[14].operand, "k_cache");
  EXPECT_EQ(slots[14].axis, 1);
}

TEST(NumericsClass, Names) {
  for (const char *name : {"f64", "f32", "f16_operands", "bf16_operands", "q8_activations", "approx"})
    EXPECT_EQ(toString(*parseNumericsClass(name)), name);
  EXPECT_FALSE(parseNumericsClass("exact"));
  EXPECT_LT(NumericsClass::F64, NumericsClass::F32);
  EXPECT_LT(NumericsClass::Q8Activations, NumericsClass::Approx);
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

} // namespace
