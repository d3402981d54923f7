//===- Linear.cpp - embedding and the products with weights ---------------===//

#include "Blocks.h"
#include "Pieces.h"

#include <algorithm>
#include <cmath>
#include <tuple>

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
  const Tensor &ids = call.in("ids"), &table = call.in("table"), *positions = call.optional("pos_emb");
  Tensor &output = call.out("output");
  int64_t T = ids.extent(0), V = table.extent(0), E = table.extent(1), S = positions ? positions->extent(0) : T;
  if (Status status = call.expectShapes({{"ids", {T}}, {"table", {V, E}}, {"pos_emb", {S, E}}, {"output", {T, E}}});
      !status)
    return status;
  if (Status status = expectIndices("ids", ids, V); !status)
    return status;
  if (T > S)
    return invalid("there are more rows than positions");
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e) {
      const double value = table.data[ids.integer(t) * E + e];
      output.data[t * E + e] = positions ? value + positions->data[t * E + e] : value; // a copy keeps its -0
    }
  return Status::success();
}

/// A position for each row.
void relateEmbedding(const Params &, std::map<std::string, std::vector<int64_t>> &shapes) {
  if (auto positions = shapes.find("pos_emb"); positions != shapes.end())
    positions->second[0] = std::max(positions->second[0], shapes["ids"][0]);
}

bool prepareEmbedding(Call &call, Random &random) {
  Tensor &ids = call.inputs["ids"], &table = call.inputs["table"];
  int64_t V = table.extent(0), E = table.extent(1);
  if (!fillIndices(ids, V, random))
    return false;
  std::vector<bool> used(V, false);
  for (int64_t t = 0; t < ids.elements(); ++t)
    used[ids.integer(t)] = true;
  for (int64_t v = 0; v < V; ++v) {
    for (int64_t e = 0; e < E && !used[v]; ++e)
      table.data[v * E + e] = notANumber;
    const size_t block = blockSize(table.dtype).bytes, row = block ? table.bytes.size() / V : 0;
    for (size_t at = 0; at < row && !used[v]; at += block)
      spoilBlock(table.dtype, notANumber, table.bytes.data() + v * row + at);
  }
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

/// As trained weights are: smaller for longer rows.
bool prepareProduct(Call &call, Random &) {
  scaleByPowerOfTwo(call.inputs["weight"], 1 / std::sqrt(static_cast<double>(call.in("input").extent(1))));
  return true;
}

/// A NaN passes; a bound that is absent does not bind.
double clampTo(double x, const Tensor *least, const Tensor *most) {
  if (least && x < least->data[0])
    return least->data[0];
  return most && x > most->data[0] ? most->data[0] : x;
}

/// linear between two clamps.
Status clippedLinear(Call &call) {
  const Tensor &weight = call.in("weight");
  Tensor input = call.in("input"), &output = call.out("output");
  int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  if (Status status = call.expectShapes({{"weight", {N, K}},
                                         {"bias", {N}},
                                         {"in_min", {1}},
                                         {"in_max", {1}},
                                         {"out_min", {1}},
                                         {"out_max", {1}},
                                         {"output", {T, N}}});
      !status)
    return status;
  for (double &x : input.data)
    x = clampTo(x, call.optional("in_min"), call.optional("in_max"));
  project(input, weight, call.optional("bias"), [&](int64_t t, int64_t n, double y) {
    output.data[t * N + n] = clampTo(y, call.optional("out_min"), call.optional("out_max"));
  });
  return Status::success();
}

/// Bounds that are in order.
bool prepareClipped(Call &call, Random &random) {
  const std::tuple<const char *, double, double> ranges[] = {
      {"in_min", -2.0, -0.5}, {"in_max", 0.5, 2.0}, {"out_min", -1.0, -0.25}, {"out_max", 0.25, 1.0}};
  for (const auto &[name, low, high] : ranges)
    if (auto bound = call.inputs.find(name); bound != call.inputs.end())
      bound->second.data[0] = static_cast<double>(static_cast<float>(random.uniform(low, high)));
  return prepareProduct(call, random);
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

/// A matrix inside a tensor: element (row, column) is at rows(row) + columns(column).
struct View {
  const std::vector<double> &data;
  int64_t rowStride, group, groupStride; ///< columns lie in groups

  double at(int64_t row, int64_t column) const {
    return data[row * rowStride + column / group * groupStride + column % group];
  }
};

View rowMajor(const Tensor &tensor) {
  return {tensor.data, tensor.extent(1), std::max<int64_t>(1, tensor.extent(1)), 0};
}
/// [heads, rows, width] as rows by heads * width.
View headMajor(const Tensor &tensor) {
  int64_t rows = tensor.extent(1), width = tensor.extent(2);
  return {tensor.data, width, std::max<int64_t>(1, width), rows * width};
}

/// Adds the gradients of output[t,n] = sum_k input[t,k] * weight[n,k] + bias[n] to those that are wanted; the stores
/// put (t,k) and (n,k) where they belong.
template <typename AtInput, typename AtWeight>
void projectGrad(const View &dOutput, const View &input, const View &weight, int64_t T, int64_t K, int64_t N,
                 Tensor *dInput, AtInput atInput, Tensor *dWeight, AtWeight atWeight, Tensor *dBias) {
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n = 0; n < N; ++n) {
      double d = dOutput.at(t, n);
      for (int64_t k = 0; k < K && dInput; ++k)
        dInput->data[atInput(t, k)] += d * weight.at(n, k);
      for (int64_t k = 0; k < K && dWeight; ++k)
        dWeight->data[atWeight(n, k)] += d * input.at(t, k);
      if (dBias)
        dBias->data[n] += d;
    }
}

Status linearGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &input = call.in("input"), &weight = call.in("weight");
  int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  if (Status status = call.expectShapes(
          {{"d_output", {T, N}}, {"weight", {N, K}}, {"d_input", {T, K}}, {"d_weight", {N, K}}, {"d_bias", {N}}});
      !status)
    return status;
  auto at = [K](int64_t row, int64_t k) { return row * K + k; };
  projectGrad(rowMajor(dOutput), rowMajor(input), rowMajor(weight), T, K, N, call.wanted("d_input"), at,
              call.wanted("d_weight"), at, call.wanted("d_bias"));
  return Status::success();
}

Status qkvLinearGrad(Call &call) {
  const Tensor &input = call.in("input");
  int64_t T = input.extent(0), E = input.extent(1);
  bool isHeadMajor = call.word("layout") == "head_major";
  if (Status status = call.expectShapes({{"d_input", {T, E}}}); !status)
    return status;
  auto at = [E](int64_t row, int64_t e) { return row * E + e; };
  for (const char *name : {"q", "k", "v"}) {
    const Tensor &weight = call.in(std::string("w") + name), &dOutput = call.in(std::string("d_") + name);
    Tensor *dWeight = call.wanted(std::string("d_w") + name), *dBias = call.wanted(std::string("d_b") + name);
    int64_t N = weight.extent(0);
    int64_t heads = isHeadMajor ? call.integer(name[0] == 'q' ? "heads" : "kv_heads") : 1;
    if (weight.shape != std::vector<int64_t>{N, E} || heads < 1 || N % heads != 0)
      return badCall(std::string("w") + name + " does not fit the input or the number of heads");
    std::vector<int64_t> shape = isHeadMajor ? std::vector<int64_t>{heads, T, N / heads} : std::vector<int64_t>{T, N};
    if (dOutput.shape != shape || (dWeight && dWeight->shape != weight.shape) ||
        (dBias && dBias->shape != std::vector<int64_t>{N}))
      return badCall(std::string("a shape of a gradient of ") + name + " does not follow from its weight");
    projectGrad(isHeadMajor ? headMajor(dOutput) : rowMajor(dOutput), rowMajor(input), rowMajor(weight), T, E, N,
                call.wanted("d_input"), at, dWeight, at, dBias);
  }
  return Status::success();
}

Status outLinear(Call &call) {
  const Tensor &input = call.in("input"), &weight = call.in("weight"), *bias = call.optional("bias");
  Tensor &output = call.out("output");
  int64_t H = input.extent(0), T = input.extent(1), D = input.extent(2), N = weight.extent(1);
  if (Status status = call.expectShapes({{"weight", {H, N, D}}, {"bias", {N}}, {"output", {T, N}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n = 0; n < N; ++n) {
      double sum = bias ? bias->data[n] : 0.0;
      for (int64_t h = 0; h < H; ++h)
        for (int64_t d = 0; d < D; ++d)
          sum += input.data[(h * T + t) * D + d] * weight.data[(h * N + n) * D + d];
      output.data[t * N + n] = sum;
    }
  return Status::success();
}

Status outLinearGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &input = call.in("input"), &weight = call.in("weight");
  int64_t H = input.extent(0), T = input.extent(1), D = input.extent(2), N = weight.extent(1);
  if (Status status = call.expectShapes({{"d_output", {T, N}},
                                         {"weight", {H, N, D}},
                                         {"d_input", {H, T, D}},
                                         {"d_weight", {H, N, D}},
                                         {"d_bias", {N}}});
      !status)
    return status;
  auto atInput = [=](int64_t t, int64_t k) { return (k / D * T + t) * D + k % D; };
  auto atWeight = [=](int64_t n, int64_t k) { return (k / D * N + n) * D + k % D; };
  projectGrad(rowMajor(dOutput), headMajor(input), headMajor(weight), T, H * D, N, call.wanted("d_input"), atInput,
              call.wanted("d_weight"), atWeight, call.wanted("d_bias"));
  return Status::success();
}

Status headLinearGrad(Call &call) {
  const Tensor &dLogits = call.in("d_logits"), &input = call.in("input"), &weight = call.in("weight");
  bool embedMajor = call.word("w_layout") == "embed_major";
  int64_t T = input.extent(0), E = input.extent(1), V = weight.extent(embedMajor ? 1 : 0);
  std::vector<int64_t> weightShape = embedMajor ? std::vector<int64_t>{E, V} : std::vector<int64_t>{V, E};
  if (Status status = call.expectShapes(
          {{"d_logits", {T, V}}, {"weight", weightShape}, {"d_input", {T, E}}, {"d_weight", weightShape}});
      !status)
    return status;
  Tensor *dInput = call.wanted("d_input"), *dWeight = call.wanted("d_weight");
  for (int64_t t = 0; t < T; ++t)
    for (int64_t v = 0; v < V; ++v)
      for (int64_t e = 0; e < E; ++e) {
        int64_t at = embedMajor ? e * V + v : v * E + e;
        if (dInput)
          dInput->data[t * E + e] += dLogits.data[t * V + v] * weight.data[at];
        if (dWeight)
          dWeight->data[at] += dLogits.data[t * V + v] * input.data[t * E + e];
      }
  return Status::success();
}

/// An operation that is the gradient of another: of results that start as operands, those operands are optional.
Operation gradient(const char *name, std::vector<std::string> inputs, const std::vector<std::string> &results,
                   Status (*evaluate)(Call &)) {
  Operation operation;
  operation.name = name;
  operation.inputs = std::move(inputs);
  for (const std::string &result : results) {
    operation.inputs.push_back(result + "?");
    operation.outputs.push_back(result + "?");
  }
  operation.defaults = {{"accumulate", std::string("none")}};
  operation.evaluate = evaluate;
  return operation;
}

} // namespace

std::vector<Operation> linearOperations() {
  Operation embed;
  embed.name = "embedding";
  embed.inputs = {"ids", "table", "pos_emb?"};
  embed.outputs = {"output"};
  embed.evaluate = embedding;
  embed.relate = relateEmbedding;
  embed.prepare = prepareEmbedding;
  embed.spoil = spoilEmbedding;

  Operation product;
  product.name = "linear";
  product.inputs = {"input", "weight", "bias?"};
  product.outputs = {"output"};
  product.defaults = {{"act", std::string("none")}};
  product.evaluate = linear;
  product.prepare = prepareProduct;

  Operation clipped;
  clipped.name = "clipped_linear";
  clipped.inputs = {"input", "weight", "bias?", "in_min?", "in_max?", "out_min?", "out_max?"};
  clipped.outputs = {"output"};
  clipped.evaluate = clippedLinear;
  clipped.prepare = prepareClipped;

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

  Operation out;
  out.name = "out_linear";
  out.inputs = {"input", "weight", "bias?"};
  out.outputs = {"output"};
  out.evaluate = outLinear;

  // Gradients add to their results, which start as zeros, or as the operands of the same name.
  Operation productGrad =
      gradient("linear_grad", {"d_output", "input", "weight"}, {"d_input", "d_weight", "d_bias"}, linearGrad);
  Operation outGrad =
      gradient("out_linear_grad", {"d_output", "input", "weight"}, {"d_input", "d_weight", "d_bias"}, outLinearGrad);
  Operation qkvGrad = gradient("qkv_linear_grad", {"d_q", "d_k", "d_v", "input", "wq", "wk", "wv"},
                               {"d_input", "d_wq", "d_wk", "d_wv", "d_bq", "d_bk", "d_bv"}, qkvLinearGrad);
  qkvGrad.defaults.insert(qkv.defaults.begin(), qkv.defaults.end());
  qkvGrad.draws = {headCounts()};
  Operation headGrad =
      gradient("head_linear_grad", {"d_logits", "input", "weight"}, {"d_input", "d_weight"}, headLinearGrad);
  headGrad.defaults["w_layout"] = std::string("vocab_major");
  return {embed, product, clipped, qkv, head, out, productGrad, outGrad, qkvGrad, headGrad};
}

} // namespace ck::reference
