//===- ExprTest.cpp - expressions: parsing, printing, evaluating ----------===//

#include "ck/KernelMaps/Expr.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace ck;

namespace {

Expr::Lookup table(std::map<std::string, int64_t> values) {
  return [values](const std::string &name) -> Result<int64_t> {
    auto it = values.find(name);
    if (it == values.end())
      return Error{"unknown name " + name};
    return it->second;
  };
}

int64_t eval(const char *text, std::map<std::string, int64_t> values = {}) {
  Result<Expr> expr = Expr::parse(text);
  EXPECT_TRUE(expr) << text << ": " << (expr ? "" : expr.error().message);
  Result<int64_t> value = expr->evaluate(table(values));
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : -999;
}

std::string evalError(const char *text, std::map<std::string, int64_t> values = {}) {
  Result<Expr> expr = Expr::parse(text);
  if (!expr)
    return "parse: " + expr.error().message;
  Result<int64_t> value = expr->evaluate(table(values));
  return value ? "value " + std::to_string(*value) : value.error().message;
}

std::string printed(const char *text) {
  Result<Expr> expr = Expr::parse(text);
  return expr ? expr->str() : "error: " + expr.error().message;
}

TEST(Expr, Arithmetic) {
  EXPECT_EQ(eval("1 + 2*3"), 7);
  EXPECT_EQ(eval("(1+2)*3"), 9);
  EXPECT_EQ(eval("10 - 3 - 2"), 5);
  EXPECT_EQ(eval("7/2"), 3);
  EXPECT_EQ(eval("7%4"), 3);
  EXPECT_EQ(eval("ceildiv(7, 2)"), 4);
  EXPECT_EQ(eval("ceildiv(8, 2)"), 4);
  EXPECT_EQ(eval("align(17, 16)"), 32);
  EXPECT_EQ(eval("align(0, 16)"), 0);
  EXPECT_EQ(eval("min(3, 1, 2)"), 1);
  EXPECT_EQ(eval("max(3, 1, 9, 2)"), 9);
  EXPECT_EQ(eval("-3 + 5"), 2);
  EXPECT_EQ(eval("2*-3"), -6);
  EXPECT_EQ(eval("(T + 2*$padding - K)/$stride + 1", {{"T", 10}, {"$padding", 1}, {"K", 3}, {"$stride", 2}}), 5);
}

TEST(Expr, Predicates) {
  EXPECT_EQ(eval("E % 8 == 0 && E >= 64", {{"E", 128}}), 1);
  EXPECT_EQ(eval("E % 8 == 0 && E >= 64", {{"E", 32}}), 0);
  EXPECT_EQ(eval("E != 4", {{"E", 4}}), 0);
  EXPECT_EQ(eval("E <= 4", {{"E", 4}}), 1);
  EXPECT_EQ(eval("E < 4", {{"E", 4}}), 0);
  EXPECT_EQ(eval("E > -4", {{"E", -5}}), 0);
}

TEST(Expr, UnknownExtents) {
  EXPECT_EQ(eval("T*E", {{"T", kDynamicDim}, {"E", 4}}), kDynamicDim);
  EXPECT_EQ(eval("max(T, 4)", {{"T", kDynamicDim}}), kDynamicDim);
  EXPECT_EQ(eval("T == 1 && E == 5", {{"T", kDynamicDim}, {"E", 4}}), 0);
  EXPECT_EQ(eval("T == 1 && E == 4", {{"T", kDynamicDim}, {"E", 4}}), kDynamicDim);
  EXPECT_EQ(evalError("T/0", {{"T", kDynamicDim}}), "division by zero in T/0");
}

TEST(Expr, EvaluationErrors) {
  EXPECT_EQ(evalError("T*E", {{"T", 4}}), "unknown name E");
  EXPECT_EQ(evalError("A*A", {{"A", int64_t(1) << 32}}), "A*A overflows 64 bits");
  EXPECT_EQ(evalError("A+1", {{"A", INT64_MAX}}), "A+1 overflows 64 bits");
  // INT64_MIN is the mark of unknown extents, so it is out of range too.
  EXPECT_EQ(evalError("A-1", {{"A", -INT64_MAX}}), "A-1 overflows 64 bits");
  EXPECT_EQ(evalError("align(A, 16)", {{"A", INT64_MAX}}), "align(A, 16) overflows 64 bits");
  EXPECT_EQ(eval("ceildiv(A, 2)", {{"A", INT64_MAX}}), (INT64_MAX / 2) + 1);
  EXPECT_EQ(evalError("4/(2-2)"), "division by zero in 4/(2-2)");
  EXPECT_EQ(evalError("4%Z", {{"Z", 0}}), "division by zero in 4%Z");
  EXPECT_EQ(evalError("(T-5)/2", {{"T", 2}}), "T-5 is -3 in (T-5)/2, but division needs non-negative numbers");
  EXPECT_EQ(evalError("T/-2", {{"T", 2}}), "-2 is -2 in T/(-2), but division needs non-negative numbers");
}

TEST(Expr, ParseErrorsNameTheColumn) {
  EXPECT_EQ(printed(""), "error: column 1: expected an expression, found the end");
  EXPECT_EQ(printed("T +"), "error: column 4: expected an expression, found the end");
  EXPECT_EQ(printed("(T"), "error: column 3: expected ')', found the end");
  EXPECT_EQ(printed("T E"), "error: column 3: expected an operator or the end, found 'E'");
  EXPECT_EQ(printed("$"), "error: column 2: expected the name of an attribute, found the end");
  EXPECT_EQ(printed("-T"), "error: column 2: expected an integer after '-', found 'T'");
  EXPECT_EQ(printed("min"), "error: column 4: expected '(' after min, found the end");
  EXPECT_EQ(printed("min(1)"), "error: column 7: min takes two or more arguments, not 1");
  EXPECT_EQ(printed("align(1,2,3)"), "error: column 13: align takes two arguments, not 3");
  EXPECT_EQ(printed("a == b == c"), "error: column 8: expected an operator or the end, found '='");
  EXPECT_EQ(printed("9223372036854775808"), "error: column 20: integer does not fit in 64 bits");
  EXPECT_EQ(printed("-9223372036854775808"), "error: column 21: integer does not fit in 64 bits");
  EXPECT_EQ(printed("\xc3\xa9"), "error: column 1: expected an expression, found byte 195");
  EXPECT_EQ(printed("T,"), "error: column 2: expected an operator or the end, found ','");
}

TEST(Expr, PrintsFewestParentheses) {
  EXPECT_EQ(printed("((T))"), "T");
  EXPECT_EQ(printed("(T*K)+(2)"), "T*K+2");
  EXPECT_EQ(printed("T*(K+2)"), "T*(K+2)");
  EXPECT_EQ(printed("(a-b)-c"), "a-b-c");
  EXPECT_EQ(printed("a-(b-c)"), "a-(b-c)");
  EXPECT_EQ(printed("a/(b*c)"), "a/(b*c)");
  EXPECT_EQ(printed("(a==b)==c"), "(a == b) == c");
  EXPECT_EQ(printed("a==1&&b<2&&c!=3"), "a == 1 && b < 2 && c != 3");
  EXPECT_EQ(printed("min(a , b+1,c)"), "min(a, b+1, c)");
  EXPECT_EQ(printed("a - -3"), "a-(-3)");
  EXPECT_EQ(printed("-3"), "-3");
}

TEST(Expr, CollectsNamesOnce) {
  std::vector<std::string> names;
  Expr::parse("(T + 2*$padding - K)/$stride + T")->collectNames(names);
  EXPECT_EQ(names, (std::vector<std::string>{"T", "$padding", "K", "$stride"}));
}

TEST(Expr, LimitsSizeAndDepth) {
  std::string deep(100000, '(');
  EXPECT_NE(printed(deep.c_str()).find("longer than 16384 bytes"), std::string::npos);
  EXPECT_NE(printed(std::string(1000, '(').c_str()).find("deeper than 64 levels"), std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 2000; ++i)
    chain += "+1";
  EXPECT_NE(printed(chain.c_str()).find("more than 256 terms"), std::string::npos);
  std::string calls;
  for (int i = 0; i < 500; ++i)
    calls += "min(1,";
  EXPECT_NE(printed(calls.c_str()).find("deeper than 64 levels"), std::string::npos);
}

Expr randomExpr(std::mt19937 &rng, int depth) {
  using K = Expr::Kind;
  static const K operators[] = {K::Add,   K::Sub, K::Mul, K::Div, K::Mod, K::CeilDiv, K::Min, K::Max,
                                K::Align, K::Eq,  K::Ne,  K::Lt,  K::Le,  K::Gt,      K::Ge,  K::And};
  switch (depth == 0 ? rng() % 3 : rng() % 8) {
  case 0:
    return Expr::integer(int64_t(rng() % 41) - 20);
  case 1:
    return Expr::dim(std::string(1, char('A' + rng() % 26)));
  case 2:
    return *Expr::parse("$heads");
  default: {
    K kind = operators[rng() % std::size(operators)];
    std::vector<Expr> args{randomExpr(rng, depth - 1), randomExpr(rng, depth - 1)};
    if ((kind == K::Min || kind == K::Max) && rng() % 2)
      args.push_back(randomExpr(rng, depth - 1));
    return Expr::make(kind, args);
  }
  }
}

TEST(Expr, PrintedFormReadsBackEqual) {
  std::mt19937 rng(1);
  for (int i = 0; i < 3000; ++i) {
    Expr expr = randomExpr(rng, 4);
    Result<Expr> again = Expr::parse(expr.str());
    ASSERT_TRUE(again) << expr.str() << ": " << again.error().message;
    ASSERT_TRUE(*again == expr) << expr.str() << " became " << again->str();
    ASSERT_EQ(again->str(), expr.str());
  }
}

TEST(Expr, RandomTextNeverCrashes) {
  std::mt19937 rng(2);
  static const char alphabet[] = "TK19$()+-*/%,<>=!& minaxceldvg\t\x80_";
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned n = rng() % 24; n > 0; --n)
      text += alphabet[rng() % (sizeof(alphabet) - 1)];
    Result<Expr> expr = Expr::parse(text);
    if (!expr) {
      EXPECT_EQ(expr.error().message.rfind("column ", 0), 0u) << expr.error().message;
      continue;
    }
    ++parsed;
    (void)expr->evaluate(table({{"T", 5}, {"K", INT64_MAX}}));
    EXPECT_TRUE(*Expr::parse(expr->str()) == *expr) << text;
  }
  EXPECT_GT(parsed, 100);
}

} // namespace
