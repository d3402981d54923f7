//===- GoldenGgml.cpp - rows for results of ggml --------------------------===//

#include "GoldenTable.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace ck::golden {
namespace {

using reference::Tensor;

/// Rows of the last dim, over which norms go.
Status prepareRows(Case &one) {
  std::vector<int64_t> rows = one.tensor("x").shape;
  if (rows.empty())
    return Error{"x has no rows"};
  one.values["ones"].tensor = Tensor::zeros({rows.back()});
  std::fill_n(one.values["ones"].tensor.data.begin(), rows.back(), 1.0);
  rows.pop_back();
  one.shapes["rstd"] = rows;
  one.shapes["x_normed"] = one.tensor("x").shape;
  return Status::success();
}

Status prepareTable(Case &one) {
  one.fromTable = true;
  return Status::success();
}

/// One half of each row.
Value half(const Value &whole, bool second) {
  Value value;
  int64_t rows = whole.tensor.extent(0), F = whole.tensor.extent(1) / 2;
  value.tensor = Tensor::zeros({rows, F});
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(whole.tensor.data.begin() + (2 * r + (second ? 1 : 0)) * F, F, value.tensor.data.begin() + r * F);
  return value;
}

/// The same once more, by a provider that claims the peer's bits.
Status callExactly(Session &session, const std::string &call) {
  session.one.fromTable = false;
  for (auto &[name, bound] : session.one.bounds)
    bound = 0;
  return session.call(call);
}

Status finishExactGelu(Session &session) {
  return callExactly(session, "activation kind=gelu_tanh @gelu_ggml_inplace | input=x -> output=y");
}

Status finishExactRms(Session &session) {
  return callExactly(
      session, "rms_norm eps=$eps gain=weight @rmsnorm_forward_llama_production | input=x gamma=ones -> output=y");
}

Status finishExactNorm(Session &session) {
  return callExactly(session, "layer_norm eps=$eps @layernorm_fp32_exact | input=x -> output=y");
}

template <const char *kAct> Status finishGlu(Session &session) {
  Case &one = session.one;
  std::string act = kAct;
  if (one.word("form") == "swapped") {
    if (Status status = one.expectRank("x", 2); !status)
      return status;
    one.values["gate"] = half(one.values["x"], true);
    one.values["up"] = half(one.values["x"], false);
  }
  const bool isStacked = one.word("form") == "fused";
  if (Status status =
          session.call("glu act=" + act + (isStacked ? " | gate=x" : " | gate=gate up=up") + " -> output=y");
      !status)
    return status;
  const std::string exact = act == "silu"        ? "swiglu_forward_ggml"
                            : act == "gelu_tanh" ? "geglu_forward_ggml_native"
                                                 : "";
  if (!isStacked || exact.empty())
    return Status::success();
  return callExactly(session, "glu act=" + act + " @" + exact + " | gate=x -> output=y");
}
constexpr char silu[] = "silu", geluTanh[] = "gelu_tanh", geluErf[] = "gelu_erf", geluQuick[] = "gelu_quick",
               relu[] = "relu";

/// Tables of the angles of each row, in f64.
Status prepareRopeTables(Case &one, const std::string &input, const std::string &output) {
  const std::vector<int64_t> shape = one.tensor(input).shape;
  size_t rank = shape.size();
  if (rank < 3 || !one.has("pos"))
    return notRun("the layout is not [tokens, heads, width]");
  int64_t H = shape[rank - 2], D = shape[rank - 1], T = one.tensor("pos").elements();
  int64_t P = static_cast<int64_t>(one.real("n_dims")) / 2;
  if (H < 1 || D < 1 || T < 1 || P < 1 || 2 * P > D)
    return Error{"n_dims, pos and the shape of " + input + " do not fit each other"};
  if (one.has("freq_factors") && one.tensor("freq_factors").elements() < P)
    return Error{"there are too few freq_factors"};
  int64_t rows = one.tensor(input).elements() / (H * D);
  double base = one.params.count("freq_base") ? one.real("freq_base") : 10000;
  double scale = one.params.count("freq_scale") ? one.real("freq_scale") : 1;
  double magnitude = one.params.count("attn_factor") ? one.real("attn_factor") : 1;
  Value cosines, sines, position;
  cosines.tensor = sines.tensor = Tensor::zeros({rows, P});
  position.dtype = "i32";
  position.tensor = Tensor::zeros({rows});
  for (int64_t t = 0; t < rows; ++t) {
    position.tensor.data[t] = static_cast<double>(t);
    for (int64_t i = 0; i < P; ++i) {
      double factor = one.has("freq_factors") ? one.tensor("freq_factors").data[i] : 1;
      double angle = one.tensor("pos").data[t % T] * scale / factor *
                     std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(2 * P));
      cosines.tensor.data[t * P + i] = magnitude * std::cos(angle);
      sines.tensor.data[t * P + i] = magnitude * std::sin(angle);
    }
  }
  one.values["cos"] = cosines;
  one.values["sin"] = sines;
  one.values["row"] = position;
  one.params["pairing"] = std::string(one.word("mode") == "normal" ? "adjacent" : "half");
  one.params["head_dim"] = D;
  one.shapes["flat"] = one.shapes["turned"] = {rows, H * D};
  one.shapes[output] = shape;
  return Status::success();
}

/// Attributes and positions of ck.mrope, which takes several positions a row and mixes stretched waves.
Status prepareSections(Case &one, const std::string &input, const std::string &output) {
  const std::string mode = one.word("mode");
  if (Status status = one.expectRank(input, 3); !status)
    return status;
  const std::vector<int64_t> shape = one.tensor(input).shape;
  int64_t n = static_cast<int64_t>(one.real("n_dims")), sections[4] = {n / 2, 0, 0, 0};
  if (mode != "neox" &&
      std::sscanf(one.word("sections").c_str(), "(%" SCNd64 ", %" SCNd64 ", %" SCNd64 ", %" SCNd64 ")", sections,
                  sections + 1, sections + 2, sections + 3) != 4)
    return Error{"sections are no list of four numbers"};
  for (int i = 0; i < 4; ++i)
    one.params["section_" + std::to_string(i)] = sections[i];
  const std::pair<const char *, double> usual[] = {{"freq_base", 1e4},   {"freq_scale", 1.0}, {"ext_factor", 0.0},
                                                   {"attn_factor", 1.0}, {"beta_fast", 32.0}, {"beta_slow", 1.0}};
  for (auto [name, value] : usual)
    one.params.emplace(name, value);
  one.params.emplace("n_ctx_orig", int64_t(0));
  one.params["rotary_dim"] = mode == "vision" ? 2 * n : n; // the peer counts pairs there
  one.params["head_dim"] = shape[2];
  one.params["form"] = std::string(mode == "imrope" ? "interleaved" : mode == "vision" ? "vision" : "text");
  Value positions = one.values["pos"];
  if (positions.tensor.shape.size() == 1)
    positions.tensor.shape.insert(positions.tensor.shape.begin(), 1);
  one.values["positions"] = positions;
  one.shapes["heads"] = one.shapes["turned"] = {shape[1], shape[0], shape[2]};
  one.shapes[output] = shape;
  return Status::success();
}

Status finishRope(Session &session, const std::string &input, const std::string &output, const std::string &inverse) {
  Case &one = session.one;
  const std::string mode = one.word("mode");
  bool sections = mode == "mrope" || mode == "imrope" || mode == "vision";
  bool mixes = one.real("ext_factor") != 0;
  if (mode != "normal" && mode != "neox" && !sections)
    return notRun("mode " + mode + " has no op");
  if (mixes && mode == "normal")
    return notRun("stretched waves are mixed for halves of a head, not for neighbours");
  if ((mixes || sections) && one.has("freq_factors"))
    return notRun("ck.mrope has no factors of frequencies");
  if (one.real("offset") != 0)
    return notRun("the rotation does not start at the first column");
  if (!one.has(input) || !one.has("pos"))
    return notRun(input + " has no plain numbers");
  auto run = [&](std::initializer_list<std::string> calls) -> Status {
    for (const std::string &call : calls)
      if (Status status = session.call(call); !status)
        return status;
    return Status::success();
  };
  if (mixes || sections) {
    if (Status status = prepareSections(one, input, output); !status)
      return status;
    return run(
        {"transpose perm=1,0,2 | input=" + input + " -> output=heads",
         "mrope mode=$form layout=head_major head_dim=$head_dim rotary_dim=$rotary_dim section_0=$section_0 "
         "section_1=$section_1 section_2=$section_2 section_3=$section_3 theta=$freq_base freq_scale=$freq_scale "
         "ext_factor=$ext_factor attn_factor=$attn_factor beta_fast=$beta_fast beta_slow=$beta_slow "
         "original_context=$n_ctx_orig inverse=" +
             inverse + " | q=heads positions=positions -> q_out=turned",
         "transpose perm=1,0,2 | input=turned -> output=" + output});
  }
  if (Status status = prepareRopeTables(one, input, output); !status)
    return status;
  return run({"view | input=" + input + " -> output=flat",
              "rope layout=token_major pairing=$pairing head_dim=$head_dim inverse=" + inverse +
                  " | q=flat pos=row cos=cos sin=sin -> q_out=turned",
              "view | input=turned -> output=" + output});
}

Status finishRopeForward(Session &session) { return finishRope(session, "x", "y", "false"); }
Status finishRopeBackward(Session &session) { return finishRope(session, "dy", "dx", "true"); }

/// Labels that are 1 in one place; the peer takes the mean over rows and scales its gradient.
Status prepareCrossEntropy(Case &one) {
  if (Status status = one.expectRank("labels", 2); !status)
    return status;
  if (one.tensor("dloss").elements() != 1)
    return Error{"dloss is not one number"};
  const Tensor &labels = one.tensor("labels");
  int64_t rows = labels.extent(0), C = labels.extent(1);
  Value targets, scale;
  targets.dtype = "i32";
  targets.tensor = Tensor::zeros({rows});
  for (int64_t r = 0; r < rows; ++r) {
    auto row = labels.data.begin() + r * C;
    auto one_ = std::find(row, row + C, 1.0);
    if (one_ == row + C || std::count(row, row + C, 0.0) != C - 1)
      return notRun("labels are not one of the classes");
    targets.tensor.data[r] = static_cast<double>(one_ - row);
  }
  scale.tensor.shape = {1};
  scale.tensor.data = {
      static_cast<double>(static_cast<float>(one.tensor("dloss").data[0] / static_cast<double>(rows)))};
  one.values["targets"] = targets;
  one.values["scale"] = scale;
  one.shapes["scaled_loss"] = {1};
  return Status::success();
}

/// The rate and the step are operands.
Status prepareStep(Case &one) {
  Value rate, step;
  rate.tensor.shape = step.tensor.shape = {1};
  rate.tensor.data = {static_cast<double>(static_cast<float>(one.real("lr")))};
  step.tensor.data = {one.real("t")};
  step.dtype = "i32";
  one.values["lr"] = rate;
  one.values["step"] = step;
  return Status::success();
}

Status prepareRowsBack(Case &one) {
  one.params["rows"] = static_cast<int64_t>(one.real("R"));
  return Status::success();
}

/// One weight, and the first rows of an input: as many as the name of the result says.
Status finishProducts(Session &session) {
  Case &one = session.one;
  if (Status status = one.expectRank("x", 2); !status)
    return status;
  for (const auto &[name, value] : std::map<std::string, Value>(one.expected)) {
    int64_t rows = value.tensor.extent(0), K = one.tensor("x").extent(1);
    if (rows > one.tensor("x").extent(0))
      return Error{name + " has more rows than x"};
    Value first;
    first.tensor.shape = {rows, K};
    first.tensor.data.assign(one.tensor("x").data.begin(), one.tensor("x").data.begin() + rows * K);
    one.values["first"] = first;
    if (Status status = session.call("linear | input=first weight=w -> output=" + name); !status)
      return status;
  }
  return Status::success();
}

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Status prepareStoredTable(Case &one) { return one.takeStored("w", lowerCase(one.word("type"))); }

/// What the peer rounds the activations of a weight to.
std::string activationType(const std::string &weight) {
  if (weight == "f16" || weight == "bf16")
    return weight;
  bool isK = weight.size() > 2 && weight.compare(weight.size() - 2, 2, "_k") == 0;
  return isK ? "q8_k" : weight == "q4_1" || weight == "q5_1" ? "q8_1" : "q8_0";
}

/// Each product twice: with the activations as they are, which may be off by as much as the README of the files says,
/// and rounded as the peer rounds them, which leaves the order of sums.
Status finishStoredProducts(Session &session) {
  Case &one = session.one;
  const std::string type = lowerCase(one.word("type")), activations = activationType(type);
  if (Status status = one.takeStored("w", type); !status)
    return status;
  if (Status status = one.expectRank("x", 2); !status)
    return status;
  const bool isFloat = type == "f16" || type == "bf16";
  const double exact = type == "f16" ? 1.2e-3 : type == "bf16" ? 6e-3 : 1.5e-2, rounded = 2e-6;
  for (const auto &[name, value] : std::map<std::string, Value>(one.expected)) {
    const int64_t rows = value.tensor.extent(0), K = one.tensor("x").extent(1);
    if (rows > one.tensor("x").extent(0))
      return Error{name + " has more rows than x"};
    Value first;
    first.tensor.shape = one.shapes["codes"] = {rows, K};
    first.tensor.data.assign(one.tensor("x").data.begin(), one.tensor("x").data.begin() + rows * K);
    one.values["first"] = first;
    const std::string to = " weight=w -> output=" + name;
    std::vector<std::string> calls = {"linear @gemm_nt_" + type + " | input=first" + to};
    if (!isFloat)
      calls = {"quantize | input=first -> output=codes:" + activations, "linear | input=codes" + to};
    one.bounds[name] = exact;
    if (Status status = session.call("linear | input=first" + to); !status)
      return status;
    one.bounds[name] = rounded;
    for (const std::string &call : calls)
      if (Status status = session.call(call); !status)
        return status;
  }
  return Status::success();
}

/// The bytes themselves.
template <const char *kType> Status finishQuantized(Session &session) {
  Case &one = session.one;
  if (Status status = one.takeStored("q", kType); !status)
    return status;
  one.shapes["codes"] = one.tensor("x").shape;
  if (Status status = session.call(std::string("quantize | input=x -> output=codes:") + kType); !status)
    return status;
  const std::vector<uint8_t> &want = one.tensor("q").bytes, &got = one.tensor("codes").bytes;
  if (want.size() != got.size())
    return Error{"q has another size than x says"};
  int64_t off = 0;
  for (size_t i = 0; i < want.size(); ++i)
    off += want[i] != got[i];
  session.outcomes.push_back({"q", "quantize", static_cast<double>(off) / static_cast<double>(want.size()), 0});
  return Status::success();
}
constexpr char q8_0[] = "q8_0", q8_1[] = "q8_1", q8_k[] = "q8_k";

template <const char *kType> Status prepareBlocks(Case &one) {
  for (auto &[name, bound] : one.bounds)
    bound = 0;
  return one.takeStored("q", kType);
}
constexpr char q4_0[] = "q4_0", q4_1[] = "q4_1", q5_0[] = "q5_0", q5_1[] = "q5_1", q4_k[] = "q4_k", q5_k[] = "q5_k",
               q6_k[] = "q6_k";

/// b^T a is the gradient of a weight; the weight itself has no part in it.
Status prepareOuterProduct(Case &one) {
  for (const char *name : {"a", "b"})
    if (Status status = one.expectRank(name, 2); !status)
      return status;
  one.values["w"].tensor = Tensor::zeros({one.tensor("b").extent(1), one.tensor("a").extent(1)});
  return Status::success();
}

std::string activation(const std::string &attributes) { return "activation " + attributes + " | input=x -> output=y"; }

} // namespace

std::vector<Row> ggmlRows() {
  const Maker maker = Maker::Ggml;
  return {
      {"argmax", maker, {"argmax | input=x -> output=y"}},
      {"cross_entropy_loss",
       maker,
       {"cross_entropy | logits=logits targets=targets -> loss=loss",
        "cross_entropy save=grad | logits=logits targets=targets scale=scale -> loss=scaled_loss d_logits=dlogits"},
       prepareCrossEntropy},
      {"exp", maker, {activation("kind=exp")}},
      {"geglu", maker, {}, prepareTable, finishGlu<geluTanh>},
      {"geglu_erf", maker, {}, nullptr, finishGlu<geluErf>},
      {"geglu_quick", maker, {}, prepareTable, finishGlu<geluQuick>},
      {"gelu", maker, {activation("kind=gelu_tanh")}, prepareTable, finishExactGelu},
      {"gelu_erf", maker, {activation("kind=gelu_erf")}},
      {"gelu_quick", maker, {activation("kind=gelu_quick")}, prepareTable},
      {"get_rows", maker, {"embedding | ids=ids table=w -> output=y"}, prepareStoredTable},
      {"get_rows_back", maker, {"embedding_grad rows=$rows | ids=ids d_output=dy -> d_table=dw"}, prepareRowsBack},
      {"leaky_relu", maker, {activation("kind=leaky_relu alpha=$slope")}},
      {"mul_mat_bf16", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_f16", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_f32", maker, {}, nullptr, finishProducts},
      {"mul_mat_q4_0", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q4_1", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q4_K", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q5_0", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q5_1", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q5_K", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q6_K", maker, {}, nullptr, finishStoredProducts},
      {"mul_mat_q8_0", maker, {}, nullptr, finishStoredProducts},
      {"norm", maker, {"layer_norm eps=$eps | input=x gamma=ones -> output=y"}, prepareRows, finishExactNorm},
      {"opt_step_adamw",
       maker,
       {"adamw beta1=$b1 beta2=$b2 eps=$eps weight_decay=$wd | w=w m=m v=v grad=g lr=lr step=step -> w=w_out m=m_out "
        "v=v_out"},
       prepareStep},
      {"opt_step_sgd", maker, {"sgd weight_decay=$wd | w=w grad=g lr=lr -> w=w_out"}, prepareStep},
      {"out_prod", maker, {"linear_grad | d_output=b input=a weight=w -> d_weight=y"}, prepareOuterProduct},
      {"quantize_q4_0", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q4_0>},
      {"quantize_q4_1", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q4_1>},
      {"quantize_q4_K", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q4_k>},
      {"quantize_q5_0", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q5_0>},
      {"quantize_q5_1", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q5_1>},
      {"quantize_q5_K", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q5_k>},
      {"quantize_q6_K", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q6_k>},
      {"quantize_q8_0", maker, {"dequantize | input=q -> output=y"}, prepareBlocks<q8_0>},
      {"quantize_act_q8_0", maker, {}, nullptr, finishQuantized<q8_0>},
      {"quantize_act_q8_1", maker, {}, nullptr, finishQuantized<q8_1>},
      {"quantize_act_q8_K", maker, {}, nullptr, finishQuantized<q8_k>},
      {"reglu", maker, {}, nullptr, finishGlu<relu>},
      {"relu", maker, {activation("kind=relu")}},
      {"relu2", maker, {activation("kind=relu2")}},
      {"rms_norm", maker, {"rms_norm eps=$eps gain=none | input=x -> output=y"}, prepareRows, finishExactRms},
      {"rms_norm_back",
       maker,
       {"rms_norm eps=$eps gain=none save_rstd=true | input=x -> output=x_normed rstd=rstd",
        "rms_norm_grad gain=none | d_output=dy input=x rstd=rstd -> d_input=dx"},
       prepareRows},
      {"rope", maker, {}, nullptr, finishRopeForward},
      {"rope_back", maker, {}, nullptr, finishRopeBackward},
      {"sigmoid", maker, {activation("kind=sigmoid")}},
      {"silu", maker, {activation("kind=silu")}},
      {"silu_back", maker, {"activation_grad kind=silu | d_output=dy input=x -> d_input=dx"}},
      {"swiglu", maker, {}, nullptr, finishGlu<silu>},
      {"tanh", maker, {activation("kind=tanh")}},
  };
}

} // namespace ck::golden
