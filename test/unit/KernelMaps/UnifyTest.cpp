//===- UnifyTest.cpp - binding dims, and shapes of outputs ----------------===//

#include "ck/KernelMaps/Signature.h"

#include <gtest/gtest.h>

#include <random>

using namespace ck;

namespace {

constexpr int64_t kDyn = kDynamicDim;

ActualOperand shape(std::vector<int64_t> dims, std::string dtype = "f32") { return {true, std::move(dims), dtype}; }
const ActualOperand absent{};

struct Case {
  Signature signature;
  std::vector<WhereClause> where;
  Params params;

  Case(const char *text, std::vector<const char *> clauses = {}, Params params = {}) : params(std::move(params)) {
    Result<Signature> s = parseSignature(text);
    EXPECT_TRUE(s) << (s ? "" : s.error().message);
    signature = *s;
    for (const char *clause : clauses) {
      Result<WhereClause> w = parseWhere(clause);
      EXPECT_TRUE(w) << (w ? "" : w.error().message);
      where.push_back(*w);
    }
  }
  Result<Bindings> bind(std::vector<ActualOperand> inputs, std::vector<ActualOperand> outputs = {}) const {
    return unify(signature, where, inputs, outputs, params);
  }
  /// "T=? K=4", or the error.
  std::string text(std::vector<ActualOperand> inputs, std::vector<ActualOperand> outputs = {}) const {
    Result<Bindings> b = bind(std::move(inputs), std::move(outputs));
    if (!b)
      return b.error().message;
    std::string all;
    for (const DimDef &def : b->dims)
      all += (all.empty() ? "" : " ") + def.name + "=" + (def.extent == kDyn ? "?" : std::to_string(def.extent)) +
             (def.absent ? "(absent)" : "");
    return all;
  }
  /// "[4,?]:f32 none", or the error.
  std::string inferred(std::vector<ActualOperand> inputs, std::vector<bool> wanted = {}) const {
    Result<Bindings> b = bind(std::move(inputs));
    if (!b)
      return b.error().message;
    Result<std::vector<ActualOperand>> outputs = inferOutputs(signature, *b, wanted, params);
    if (!outputs)
      return outputs.error().message;
    std::string all;
    for (const ActualOperand &o : *outputs) {
      all += all.empty() ? "" : " ";
      if (!o.present) {
        all += "none";
        continue;
      }
      all += "[";
      for (size_t i = 0; i < o.shape.size(); ++i)
        all += (i ? "," : "") + (o.shape[i] == kDyn ? std::string("?") : std::to_string(o.shape[i]));
      all += "]:" + o.dtype;
    }
    return all;
  }
};

const Case linear("input[...T,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[...T,N]:f32");
const Case attention("q[T,H*D]:f32, k[KV,S,D]:f32, v[KV,S,D]:f32, pos[T]:i32, sinks[H]:f32? -> "
                     "output[T,H*D]:f32, lse[H,T]:f32?",
                     {"H = $heads", "KV = $kv_heads"}, {{"heads", int64_t(4)}, {"kv_heads", int64_t(2)}});

TEST(Unify, BindsPlainNames) {
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 32}), absent}), "T=8 K=32 N=64");
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 32}), shape({64})}, {shape({8, 64})}), "T=8 K=32 N=64");
}

TEST(Unify, ErrorNamesDimValuesAndBothOperands) {
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 64}), absent}), "weight: dim K is 64, but input has K = 32");
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 32}), shape({63})}), "bias: dim N is 63, but weight has N = 64");
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 32}), absent}, {shape({8, 63})}),
            "output: dim N is 63, but weight has N = 64");
}

TEST(Unify, LeadingDims) {
  EXPECT_EQ(linear.text({shape({2, 3, 32}), shape({64, 32}), absent}), "T=6 K=32 N=64");
  EXPECT_EQ(linear.text({shape({32}), shape({64, 32}), absent}), "T=1 K=32 N=64");
  EXPECT_EQ(linear.text({shape({2, kDyn, 32}), shape({64, 32}), absent}), "T=? K=32 N=64");
  EXPECT_EQ(linear.text({shape({2, 3, 32}), shape({64, 32}), absent}, {shape({3, 2, 64})}),
            "output: leading dims ...T are [3,2], but input has [2,3]");
  EXPECT_EQ(linear.text({shape({2, 3, 32}), shape({64, 32}), absent}, {shape({6, 64})}),
            "output: leading dims ...T are [6], but input has [2,3]");
  EXPECT_EQ(linear.text({shape({}), shape({64, 32}), absent}),
            "input: expected at least 1 dim [...T,K], but has 0: []");
  EXPECT_EQ(linear.text({shape({INT64_MAX, 2, 32}), shape({64, 32}), absent}),
            "input: the product of leading dims [9223372036854775807,2] overflows 64 bits");
  // The run-time value of T comes from two axes.
  Result<Bindings> b = linear.bind({shape({2, kDyn, 32}), shape({64, 32}), absent});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->find("T")->operand, 0);
  EXPECT_EQ(b->find("T")->axes, (std::vector<int>{0, 1}));
  EXPECT_EQ(b->leading.at("T"), (std::vector<int64_t>{2, kDyn}));
}

TEST(Unify, UnknownExtents) {
  EXPECT_EQ(linear.text({shape({kDyn, 32}), shape({64, 32}), absent}), "T=? K=32 N=64");
  // The known one counts, in either order.
  EXPECT_EQ(linear.text({shape({kDyn, kDyn}), shape({64, 32}), absent}, {shape({8, 64})}), "T=8 K=32 N=64");
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, kDyn}), absent}, {shape({kDyn, 64})}), "T=8 K=32 N=64");
  EXPECT_EQ(linear.text({shape({kDyn, kDyn}), shape({64, 32}), absent}, {shape({8, 65})}),
            "output: dim N is 65, but weight has N = 64");
}

TEST(Unify, WhereAndLinearExpressions) {
  EXPECT_EQ(attention.text({shape({kDyn, 32}), shape({2, 512, 8}), shape({2, 512, 8}), shape({kDyn}, "i32"), absent}),
            "H=4 KV=2 T=? S=512 D=8");
  EXPECT_EQ(attention.text({shape({3, 30}), shape({2, 512, 8}), shape({2, 512, 8}), shape({3}, "i32"), absent}),
            "q: dim H*D is 30, but H*D = 32 with H = 4 (where H = $heads), D = 8 (k)");
  EXPECT_EQ(attention.text({shape({3, 32}), shape({3, 512, 8}), shape({3, 512, 8}), shape({3}, "i32"), absent}),
            "k: dim KV is 3, but where KV = $kv_heads gives KV = 2");
  Case qkv("input[T,E]:f32, wq[H*D,E]:f32, wk[KV*D,E]:f32 -> q[H,T,D]:f32, k[KV,T,D]:f32",
           {"H = $heads", "KV = $kv_heads"}, {{"heads", int64_t(4)}, {"kv_heads", int64_t(2)}});
  EXPECT_EQ(qkv.inferred({shape({kDyn, 64}), shape({64, 64}), shape({32, 64})}), "[4,?,16]:f32 [2,?,16]:f32");
  EXPECT_EQ(qkv.inferred({shape({5, 64}), shape({62, 64}), shape({32, 64})}),
            "wq: dim H*D is 62, which no D gives with H = 4 (where H = $heads)");
  EXPECT_EQ(qkv.inferred({shape({5, 64}), shape({64, 64}), shape({30, 64})}),
            "wk: dim KV*D is 30, but KV*D = 32 with KV = 2 (where KV = $kv_heads), D = 16 (wq)");
}

TEST(Unify, SolvesOneUnknown) {
  Case glu("input[...T,2*F]:f32 -> output[...T,F]:f32");
  EXPECT_EQ(glu.inferred({shape({3, 10})}), "[3,5]:f32");
  EXPECT_EQ(glu.inferred({shape({2, 3, 10})}), "[2,3,5]:f32");
  EXPECT_EQ(glu.inferred({shape({3, 11})}), "input: dim 2*F is 11, which no F gives");
  EXPECT_EQ(glu.inferred({shape({3, kDyn})}), "[3,?]:f32");
  Result<Bindings> b = glu.bind({shape({3, kDyn})});
  EXPECT_EQ(b->find("F")->mul, 2);
  EXPECT_EQ(b->find("F")->axes, (std::vector<int>{1}));

  Case offsets("seqs[B+1]:i32, x[3*(N-2)+$c]:f32 -> y[B,N]:f32", {}, {{"c", int64_t(5)}});
  EXPECT_EQ(offsets.inferred({shape({4}, "i32"), shape({20})}), "[3,7]:f32");
  EXPECT_EQ(offsets.inferred({shape({0}, "i32"), shape({20})}), "seqs: dim B+1 is 0, which no B gives");
  // Two unknowns wait until another operand binds one, whatever the order.
  Case later("q[T,H*D]:f32, k[KV,D]:f32 -> o[H,D]:f32");
  EXPECT_EQ(later.inferred({shape({3, 32}), shape({2, 8})}), "[4,8]:f32");
  Case never("q[T,H*D]:f32 -> o[T]:f32");
  EXPECT_EQ(never.inferred({shape({3, 32})}),
            "q: dim H*D is 32, from which H and D cannot be computed, and no other operand binds them");
  Case division("q[T,D/2]:f32 -> o[T]:f32");
  EXPECT_EQ(division.inferred({shape({3, 32})}),
            "q: dim D/2 is 32, from which D cannot be computed, and no other operand binds it");
  Case zero("q[$h*D]:f32 -> o[D]:f32", {}, {{"h", int64_t(0)}});
  EXPECT_EQ(zero.inferred({shape({0})}),
            "q: dim $h*D is 0, from which D cannot be computed, and no other operand binds it; $h = 0");
  Case square("q[D*D]:f32 -> o[D]:f32");
  EXPECT_EQ(square.inferred({shape({9})}),
            "q: dim D*D is 9, from which D cannot be computed, and no other operand binds it");
  // A factor known only at run time cannot be divided by in a plan.
  Case runtime("a[T]:f32, q[T*D]:f32 -> o[D]:f32");
  EXPECT_EQ(runtime.inferred({shape({3}), shape({12})}), "[4]:f32");
  EXPECT_EQ(runtime.inferred({shape({kDyn}), shape({12})}),
            "q: dim T*D is 12, from which D cannot be computed, and no other operand binds it; T = ? (a)");
}

TEST(Unify, WhereInDependencyOrder) {
  Case conv("input[C,T]:f32, weight[O,C,K]:f32 -> output[O,V]:f32", {"V = 2*U", "U = (T + 2*$padding - K)/$stride + 1"},
            {{"padding", int64_t(1)}, {"stride", int64_t(2)}});
  EXPECT_EQ(conv.inferred({shape({3, 9}), shape({4, 3, 3})}), "[4,10]:f32");
  EXPECT_EQ(conv.inferred({shape({3, kDyn}), shape({4, 3, 3})}), "[4,?]:f32");
  EXPECT_EQ(conv.inferred({shape({3, 1}), shape({4, 3, 5})}),
            "where U = (T+2*$padding-K)/$stride+1: T+2*$padding-K is -2 in (T+2*$padding-K)/$stride, but division "
            "needs non-negative numbers");
  EXPECT_EQ(conv.text({shape({3, 9}), shape({4, 3, 3})}, {shape({4, 11})}),
            "where V = 2*U: gives V = 10, but output has V = 11");
  Case negative("a[T]:f32 -> b[U]:f32", {"U = T - 4"});
  EXPECT_EQ(negative.inferred({shape({1})}), "where U = T-4: U = -3 is negative, with T = 1 (a)");
  Case circle("a[T]:f32 -> b[T]:f32", {"A = B + 1", "B = A - 1"});
  EXPECT_EQ(circle.inferred({shape({1})}), "where A = B+1: dim B is not bound");
  Case missing("a[T]:f32 -> b[T]:f32", {"H = $heads"});
  EXPECT_EQ(missing.inferred({shape({1})}), "where H = $heads: attribute $heads is missing");
  Case notInteger("a[T]:f32 -> b[T]:f32", {"H = $heads"}, {{"heads", std::string("four")}});
  EXPECT_EQ(notInteger.inferred({shape({1})}), "where H = $heads: attribute $heads = four is no integer");
  // Dims that follow at run time come after those they need.
  Result<Bindings> b = conv.bind({shape({3, kDyn}), shape({4, 3, 3})});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->dims.back().name, "V");
  EXPECT_EQ(b->dims.back().expr->str(), "2*U");
}

TEST(Unify, Literals) {
  Case gemv("a[1,K]:f32, w[N,K]:f32 -> c[1,N]:f32");
  EXPECT_EQ(gemv.inferred({shape({1, 4}), shape({5, 4})}), "[1,5]:f32");
  EXPECT_EQ(gemv.inferred({shape({2, 4}), shape({5, 4})}), "a: dim 0 must be 1, but is 2");
  EXPECT_EQ(gemv.inferred({shape({kDyn, 4}), shape({5, 4})}), "a: dim 0 must be 1, but is not known before run time");
}

TEST(Unify, Types) {
  Case copy("input[...N]:$X -> output[...N]:$X");
  EXPECT_EQ(copy.inferred({shape({2, 3}, "i32")}), "[2,3]:i32");
  EXPECT_EQ(copy.text({shape({2}, "i32")}, {shape({2}, "f32")}), "output: dtype $X is f32, but input has $X = i32");
  Case limited("a[N]:$W, b[N]:f32 -> c[N]:f32", {"W in {f32, bf16}"});
  EXPECT_EQ(limited.text({shape({2}, "i8"), shape({2})}), "a: dtype $W is i8, expected one of f32, bf16");
  EXPECT_EQ(limited.text({shape({2}, "bf16"), shape({2}, "f16")}), "b: dtype must be f32, but is f16");
  EXPECT_EQ(limited.bind({shape({2}, "bf16"), shape({2})})->dtypes.at("$W"), "bf16");
  Case output("a[N]:f32 -> c[N]:$Y");
  EXPECT_EQ(output.inferred({shape({2})}), "c: dtype $Y is not bound by an input");
}

TEST(Unify, AbsentOperands) {
  Case rope("q[T,H*D]:f32, k[T,KV*D]:f32?, pos[T]:i32, cos[S,P]:f32 -> q_out[T,H*D]:f32, k_out[T,KV*D]:f32?",
            {"D = $head_dim", "G = H / KV"}, {{"head_dim", int64_t(8)}});
  ActualOperand q = shape({3, 32}), k = shape({3, 16}), pos = shape({3}, "i32"), cos = shape({64, 4});
  EXPECT_EQ(rope.text({q, k, pos, cos}), "D=8 T=3 S=64 P=4 H=4 KV=2 G=2");
  // KV and what follows from it are nothing, not an error (no division by zero).
  EXPECT_EQ(rope.text({q, absent, pos, cos}), "D=8 T=3 S=64 P=4 H=4 KV=0(absent) G=0(absent)");
  EXPECT_EQ(rope.inferred({q, absent, pos, cos}), "[3,32]:f32 none");
  EXPECT_EQ(rope.inferred({q, k, pos, cos}, {true, true}), "[3,32]:f32 [3,16]:f32");
  EXPECT_EQ(rope.inferred({q, absent, pos, cos}, {true, true}), "k_out: dim KV is named by absent operands only");
  EXPECT_EQ(rope.text({absent, k, pos, cos}), "q: required operand is missing");
  EXPECT_EQ(rope.text({q, k, pos}), "expected 4 inputs, but there are 3");
  EXPECT_EQ(rope.text({q, k, pos, cos}, {q}), "expected 2 outputs, but there are 1");
}

TEST(Unify, OddShapes) {
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, 32, 1}), absent}),
            "weight: expected 2 dims [N,K], but has 3: [64,32,1]");
  EXPECT_EQ(linear.text({shape({8, 32}), shape({64, -32}), absent}), "weight: extent -32 is negative");
  EXPECT_EQ(linear.text({shape({0, 32}), shape({0, 32}), absent}), "T=0 K=32 N=0");
  Case table("-> cos[S,P]:f32, sin[S,P]:f32", {"S = $rows", "P = $rotary_dim/2"},
             {{"rows", int64_t(512)}, {"rotary_dim", int64_t(8)}});
  EXPECT_EQ(table.inferred({}), "[512,4]:f32 [512,4]:f32");
  Case unbound("a[T]:f32 -> b[U]:f32");
  EXPECT_EQ(unbound.inferred({shape({3})}), "b: dim U is not bound by an input");
  EXPECT_EQ(unbound.text({shape({3})}, {shape({7})}), "T=3 U=7");
  Case scalar("a[]:f32 -> b[]:f32");
  EXPECT_EQ(scalar.inferred({shape({})}), "[]:f32");
}

TEST(Unify, OutputsInferredUnify) {
  // Property: what inferOutputs gives is accepted by unify.
  std::mt19937 rng(4);
  auto extent = [&] { return rng() % 5 == 0 ? kDyn : int64_t(rng() % 7); };
  int agreed = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<ActualOperand> inputs{shape({extent(), 4 * int64_t(rng() % 3)}), shape({2, extent(), extent()}),
                                      shape({2, extent(), extent()}), shape({extent()}, "i32"),
                                      rng() % 2 ? shape({4}) : absent};
    Result<Bindings> b = attention.bind(inputs);
    if (!b)
      continue;
    ++agreed;
    Result<std::vector<ActualOperand>> outputs =
        inferOutputs(attention.signature, *b, {true, rng() % 2 == 0}, attention.params);
    ASSERT_TRUE(outputs) << outputs.error().message;
    Result<Bindings> whole = attention.bind(inputs, *outputs);
    ASSERT_TRUE(whole) << whole.error().message;
  }
  EXPECT_GT(agreed, 20);
}

} // namespace
