//===- Linear.cpp - embedding and the products with weights ---------------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

/// output[t,n] = bias[n] + sum_k input[t,k] * weight[n,k]; `store` puts the value where it belongs.
template <typename Store> void project(const Tensor &input, const Tensor &weight, const Tensor *bias, Store store) {
  int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n = 0; n < N; ++n) {
      double sum = bias ? bias->data[n] : 0.0;
      for (int64_t k = 0; k < K; ++k)
        sum += input.data[t * K + k] * weight.data[n * K + k];
      store(t, n, sum);
    }
}

Status embedding(Call &call) {
  const Tensor &ids = call.in("ids"), &table = call.in("table");
  Tensor &output = call.out("output");
  int64_t T = ids.extent(0), V = table.extent(0), E = table.extent(1);
  if (Status status = call.expectShapes({{"ids", {T}}, {"table", {V, E}}, {"output", {T, E}}}); !status)
    return status;
  if (Status status = expectIndices("ids", ids, V); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e)
      output.data[t * E + e] = table.data[ids.integer(t) * E + e];
  return Status::success();
}

bool prepareEmbedding(Call &call, Random &random) {
  Tensor &ids = call.inputs["ids"], &table = call.inputs["table"];
  int64_t V = table.extent(0), E = table.extent(1);
  if (!fillIndices(ids, V, random))
    return false;
  std::vector<bool> used(V, false);
  for (int64_t t = 0; t < ids.elements(); ++t)
    used[ids.integer(t)] = true;
  for (int64_t v = 0; v < V; ++v)
    for (int64_t e = 0; e < E && !used[v]; ++e)
      table.data[v * E + e] = notANumber;
  return true;
}

bool spoilEmbedding(Call &call, Random &random) {
  return spoilIndex(call.inputs["ids"], call.in("table").extent(0), random);
}

Status linear(Call &call) {
  const Tensor &input = call.in("input"), &weight = call.in("weight");
  Tensor &output = call.out("output");
  int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  if (Status status = call.expectShapes({{"input", {T, K}}, {"weight", {N, K}}, {"bias", {N}}, {"output", {T, N}}});
      !status)
    return status;
  std::string act = call.word("act");
  if (act != "none" && !isActivation(act))
    return badCall("there is no activation " + act);
  project(input, weight, call.optional("bias"),
          [&](int64_t t, int64_t n, double y) { output.data[t * N + n] = act == "none" ? y : activate(act, y, 0); });
  return Status::success();
}

Status qkvLinear(Call &call) {
  const Tensor &input = call.in("input");
  int64_t T = input.extent(0), E = input.extent(1);
  bool headMajor = call.word("layout") == "head_major";
  for (const char *name : {"q", "k", "v"}) {
    const Tensor &weight = call.in(std::string("w") + name);
    const Tensor *bias = call.optional(std::string("b") + name);
    Tensor &output = call.out(name);
    int64_t N = weight.extent(0);
    int64_t heads = headMajor ? call.integer(name[0] == 'q' ? "heads" : "kv_heads") : 1;
    if (weight.shape != std::vector<int64_t>{N, E} || heads < 1 || N % heads != 0)
      return badCall(std::string("w") + name + " does not fit the input or the number of heads");
    int64_t D = N / heads;
    std::vector<int64_t> shape = headMajor ? std::vector<int64_t>{heads, T, D} : std::vector<int64_t>{T, N};
    if (output.shape != shape || (bias && bias->shape != std::vector<int64_t>{N}))
      return badCall(std::string("the shape of ") + name + " or of its bias does not follow from its weight");
    project(input, weight, bias, [&](int64_t t, int64_t n, double y) {
      output.data[headMajor ? (n / D * T + t) * D + n % D : t * N + n] = y;
    });
  }
  return Status::success();
}

Status headLinear(Call &call) {
  const Tensor &input = call.in("input"), &weight = call.in("weight");
  Tensor &logits = call.out("logits");
  bool embedMajor = call.word("w_layout") == "embed_major";
  double cap = call.number("softcap");
  int64_t T = input.extent(0), E = input.extent(1), V = weight.extent(embedMajor ? 1 : 0);
  std::vector<int64_t> weightShape = embedMajor ? std::vector<int64_t>{E, V} : std::vector<int64_t>{V, E};
  if (Status status = call.expectShapes({{"weight", weightShape}, {"logits", {T, V}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t v = 0; v < V; ++v) {
      double sum = 0;
      for (int64_t e = 0; e < E; ++e)
        sum += input.data[t * E + e] * weight.data[embedMajor ? e * V + v : v * E + e];
      logits.data[t * V + v] = softcap(sum, cap);
    }
  return Status::success();
}

/// As trained weights are: smaller for longer rows.
bool prepareProduct(Call &call, Random &) {
  scaleByPowerOfTwo(call.inputs["weight"], 1 / std::sqrt(static_cast<double>(call.in("input").extent(1))));
  return true;
}

} // namespace

std::vector<Operation> linearOperations() {
  Operation embed;
  embed.name = "embedding";
  embed.inputs = {"ids", "table"};
  embed.outputs = {"output"};
  embed.evaluate = embedding;
  embed.prepare = prepareEmbedding;
  embed.spoil = spoilEmbedding;

  Operation product;
  product.name = "linear";
  product.inputs = {"input", "weight", "bias?"};
  product.outputs = {"output"};
  product.defaults = {{"act", std::string("none")}};
  product.evaluate = linear;
  product.prepare = prepareProduct;

  Operation qkv;
  qkv.name = "qkv_linear";
  qkv.inputs = {"input", "wq", "wk", "wv", "bq?", "bk?", "bv?"};
  qkv.outputs = {"q", "k", "v"};
  qkv.defaults = {{"layout", std::string("token_major")}, {"heads", int64_t(0)}, {"kv_heads", int64_t(0)}};
  qkv.evaluate = qkvLinear;
  qkv.draws = {headCounts()};

  Operation head;
  head.name = "head_linear";
  head.inputs = {"input", "weight"};
  head.outputs = {"logits"};
  head.defaults = {{"w_layout", std::string("vocab_major")}, {"softcap", 0.0}};
  head.evaluate = headLinear;
  head.prepare = prepareProduct;
  head.draws = {{{{"softcap", 0.0}}, {{"softcap", 3.0}}}};
  return {embed, product, qkv, head};
}

} // namespace ck::reference
