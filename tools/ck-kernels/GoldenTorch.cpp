//===- GoldenTorch.cpp - rows for results that autograd made in f64 -------===//

#include "GoldenTable.h"

#include <cmath>

namespace ck::golden {
namespace {

using reference::Tensor;

Value integers(std::vector<double> numbers) {
  Value value;
  value.dtype = "i32";
  value.tensor.shape = {static_cast<int64_t>(numbers.size())};
  value.tensor.data = std::move(numbers);
  return value;
}

Value scalar(double number, const char *dtype = "f32") {
  Value value;
  value.dtype = dtype;
  value.tensor.shape = {1};
  value.tensor.data = {number};
  return value;
}

std::vector<double> countFrom(double first, int64_t count) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(first + static_cast<double>(i));
  return numbers;
}

int64_t extent(const Case &one, const std::string &name, size_t axis) { return one.tensor(name).extent(axis); }

Status prepareNorm(Case &one) {
  one.params["gain"] = std::string(one.real("centered") != 0 ? "one_plus_weight" : "weight");
  if (one.has("x"))
    one.shapes["rstd"] = {extent(one, "x", 0)};
  if (one.has("q_in"))
    one.params["head_dim"] = extent(one, "q_in", 2);
  return Status::success();
}

/// Rows of queries go with rows of keys: queries of the past are zeros without a cotangent, which change no gradient.
Status prepareAttention(Case &one) {
  for (const char *name : {"q", "k", "v", "d_out"})
    if (Status status = one.expectRank(name, 3); !status)
      return status;
  int64_t H = extent(one, "q", 0), T = extent(one, "q", 1), D = extent(one, "q", 2), S = extent(one, "k", 1);
  if (S < T || one.tensor("d_out").shape != one.tensor("q").shape)
    return Error{"q, k and d_out do not fit each other"};
  one.params["heads"] = H;
  one.params["kv_heads"] = extent(one, "k", 0);
  if (one.params.count("window"))
    one.params["mask"] = std::string("sliding");
  one.params.emplace("window", int64_t(0));
  for (const char *name : {"q", "d_out"}) {
    Tensor padded = Tensor::zeros({H, S, D});
    const Tensor &rows = one.tensor(name);
    for (int64_t h = 0; h < H; ++h)
      std::copy_n(rows.data.begin() + h * T * D, T * D, padded.data.begin() + (h * S + S - T) * D);
    one.values[name].tensor = std::move(padded);
  }
  one.tailAxis = 1;
  one.shapes["out"] = one.shapes["d_q"] = {H, S, D};
  one.shapes["lse"] = {H, S};
  one.shapes["attn"] = one.shapes["d_scores"] = {H, S, S};
  return Status::success();
}

const char attentionForward[] = "attention layout=head_major heads=$heads kv_heads=$kv_heads mask=$mask window=$window "
                                "save=lse | q=q k=k v=v sinks=sinks? -> output=out lse=lse";
const char attentionBackward[] =
    "attention_grad layout=head_major heads=$heads kv_heads=$kv_heads mask=$mask window=$window | "
    "d_output=d_out q=q k=k v=v output=out lse=lse sinks=sinks? -> d_q=d_q d_k=d_k d_v=d_v d_sinks=d_sinks?";
const char attentionProbabilities[] =
    "attention layout=head_major heads=$heads kv_heads=$kv_heads mask=$mask window=$window save=probs | "
    "q=q k=k v=v sinks=sinks? -> output=out probs=attn";
const char attentionFromProbabilities[] =
    "attention_probs_grad layout=head_major heads=$heads kv_heads=$kv_heads | d_output=d_out q=q k=k v=v probs=attn -> "
    "d_q=d_q d_k=d_k d_v=d_v d_scores=d_scores";
const std::vector<std::string> attentionCalls = {attentionForward, attentionBackward, attentionProbabilities,
                                                 attentionFromProbabilities};

Status prepareRope(Case &one) {
  if (Status status = one.expectRank("q", 3); !status)
    return status;
  one.params["head_dim"] = extent(one, "q", 2);
  if (one.word("pairing") == "half_split")
    one.params["pairing"] = std::string("half");
  one.values["pos"] = integers(countFrom(one.real("pos_offset"), extent(one, "q", 1)));
  return Status::success();
}

const std::vector<std::string> ropeCalls = {
    "rope layout=head_major pairing=$pairing head_dim=$head_dim | q=q k=k pos=pos cos=cos sin=sin -> "
    "q_out=q_out k_out=k_out",
    "rope layout=head_major pairing=$pairing head_dim=$head_dim inverse=true | q=d_q_out k=d_k_out pos=pos cos=cos "
    "sin=sin -> q_out=d_q k_out=d_k"};

Status prepareEmbedding(Case &one) {
  if (Status status = one.expectRank("weight", 2); !status)
    return status;
  const Tensor &tokens = one.tensor("tokens");
  for (int64_t t = 0; t < tokens.elements(); ++t)
    if (tokens.integer(t) < 0 || tokens.integer(t) >= extent(one, "weight", 0))
      return notRun("an id is outside the table, which CK refuses");
  one.params["rows"] = extent(one, "weight", 0);
  if (one.has("pos_emb")) {
    one.params["positions"] = extent(one, "pos_emb", 0);
    one.values["pos"] = integers(countFrom(0, tokens.elements()));
    one.shapes["rows"] = one.shapes["pos_rows"] = {tokens.elements(), extent(one, "weight", 1)};
  }
  return Status::success();
}

Status finishEmbedding(Session &session) {
  std::vector<std::string> calls = {"embedding | ids=tokens table=weight -> output=out"};
  if (session.one.has("pos_emb"))
    calls = {"embedding | ids=tokens table=weight -> output=rows",
             "embedding | ids=pos table=pos_emb -> output=pos_rows", "add | a=rows b=pos_rows -> output=out",
             "embedding_grad rows=$positions | ids=pos d_output=d_out -> d_table=d_pos_emb"};
  for (const std::string &call : calls)
    if (Status status = session.call(call); !status)
      return status;
  return Status::success();
}

/// A trajectory: the gradient of each step is a row.
Status finishAdamw(Session &session) {
  Case &one = session.one;
  for (const char *name : {"w_in", "m_in", "v_in"})
    if (Status status = one.expectRank(name, 1); !status)
      return status;
  if (Status status = one.expectRank("grads", 2); !status)
    return status;
  int64_t steps = extent(one, "grads", 0), L = extent(one, "grads", 1);
  const Tensor grads = one.tensor("grads");
  std::map<std::string, Tensor> path;
  for (std::string name : {"w", "m", "v"}) {
    one.values[name] = one.values[name + "_in"];
    path[name] = Tensor::zeros({steps, L});
    one.shapes[name] = {L};
  }
  one.values["lr"] = scalar(static_cast<double>(static_cast<float>(one.real("lr"))));
  for (int64_t step = 0; step < steps; ++step) {
    Value row;
    row.tensor.shape = {L};
    row.tensor.data.assign(grads.data.begin() + step * L, grads.data.begin() + (step + 1) * L);
    one.values["grad"] = row;
    one.values["step"] = integers({one.real("steps_before") + static_cast<double>(step + 1)});
    if (Status status =
            session.call("adamw beta1=$beta1 beta2=$beta2 eps=$eps weight_decay=$weight_decay | w=w m=m v=v "
                         "grad=grad lr=lr step=step -> w=w m=m v=v");
        !status)
      return status;
    for (auto &[name, all] : path)
      std::copy_n(one.tensor(name).data.begin(), L, all.data.begin() + step * L);
  }
  for (const auto &[name, all] : path)
    if (Status status = session.compare(name + "_out", all, "adamw_update_f32"); !status)
      return status;
  return Status::success();
}

/// Tensors by number, with one norm each or one of all.
Status finishClip(Session &session) {
  Case &one = session.one;
  int64_t tensors = static_cast<int64_t>(one.real("tensors"));
  bool global = one.word("mode") == "global";
  if (tensors < 1 || tensors > static_cast<int64_t>(one.values.size()))
    return Error{"the case has not that many tensors"};
  Tensor norms = Tensor::zeros({global ? 1 : tensors});
  one.shapes["one_norm"] = one.shapes["sum"] = one.shapes["factor"] = {1};
  for (int64_t i = 0; global && i < tensors; ++i)
    if (Status status = session.call("sum_squares | input=grad" + std::to_string(i) + " sum=sum? -> sum=sum"); !status)
      return status;
  if (global) {
    if (Status status = session.call("clip_factor max_norm=$max_norm | sum=sum -> norm=one_norm factor=factor");
        !status)
      return status;
    one.params["factor"] = one.tensor("factor").data[0];
    norms.data[0] = one.tensor("one_norm").data[0];
  }
  for (int64_t i = 0; i < tensors; ++i) {
    std::string in = "grad" + std::to_string(i), out = "out" + std::to_string(i);
    Status status =
        session.call(global ? "scale factor=$factor | input=" + in + " -> output=" + out
                            : "grad_clip max_norm=$max_norm | grad=" + in + " -> grad=" + out + " norm=one_norm");
    if (!status)
      return status;
    if (!global)
      norms.data[static_cast<size_t>(i)] = one.tensor("one_norm").data[0];
  }
  return session.compare("norm", norms, global ? "clip_factor_f64" : "gradient_clip_norm_f32");
}

Status prepareLayerNorm(Case &one) {
  if (Status status = one.expectRank("x", 2); !status)
    return status;
  one.shapes["mean"] = one.shapes["rstd"] = {extent(one, "x", 0)};
  if (!one.has("gamma")) {
    one.values["gamma"].tensor.shape = {extent(one, "x", 1)};
    one.values["gamma"].tensor.data.assign(static_cast<size_t>(extent(one, "x", 1)), 1.0);
  }
  return Status::success();
}

/// Heads of q, k and v side by side in each row.
Status prepareSplit(Case &one) {
  int64_t T = extent(one, "packed", 0);
  for (std::string name : {"q", "k", "v"}) {
    int64_t width = static_cast<int64_t>(one.real(name + "_dim"));
    int64_t heads = static_cast<int64_t>(one.real(name == "q" ? "num_heads" : "num_kv_heads"));
    if (width < 0 || heads < 1 || width > extent(one, "packed", 1))
      return Error{"the heads do not fit into the rows"};
    one.shapes[name + "_rows"] = one.shapes["d_" + name + "_rows"] = {T, width};
    one.shapes[name + "_heads"] = one.shapes["d_" + name + "_heads"] = {T, heads, width / heads};
  }
  return Status::success();
}

std::vector<std::string> activationCalls(const std::string &attributes) {
  return {"activation " + attributes + " | input=x -> output=out",
          "activation_grad " + attributes + " | d_output=d_out input=x -> d_input=d_x"};
}

std::vector<std::string> gluCalls(const std::string &act) {
  return {"glu act=" + act + " | gate=x -> output=out",
          "glu_grad act=" + act + " | d_output=d_out gate=x -> d_gate=d_x"};
}

} // namespace

std::vector<Row> torchRows() {
  const Maker maker = Maker::Torch;
  std::vector<std::string> splitCalls = {"split axis=1 | input=packed -> output0=q_rows output1=k_rows output2=v_rows"};
  for (std::string n : {"q", "k", "v"}) {
    splitCalls.push_back("view | input=" + n + "_rows -> output=" + n + "_heads");
    splitCalls.push_back("transpose perm=1,0,2 | input=" + n + "_heads -> output=" + n);
    splitCalls.push_back("transpose perm=1,0,2 | input=d_" + n + " -> output=d_" + n + "_heads");
    splitCalls.push_back("view | input=d_" + n + "_heads -> output=d_" + n + "_rows");
  }
  splitCalls.push_back("concat axis=1 | input0=d_q_rows input1=d_k_rows input2=d_v_rows -> output=d_packed");
  return {
      {"adamw_update", maker, {}, nullptr, finishAdamw},
      {"attention_causal", maker, attentionCalls, prepareAttention},
      {"attention_full", maker, attentionCalls, prepareAttention},
      {"attention_sliding", maker, attentionCalls, prepareAttention},
      {"attention_sinks",
       maker,
       {attentionForward, attentionBackward, attentionProbabilities, attentionFromProbabilities},
       prepareAttention},
      {"attn_gate_sigmoid_mul",
       maker,
       {"glu act=sigmoid | gate=gate up=x -> output=out",
        "glu_grad act=sigmoid | d_output=d_out gate=gate up=x -> d_gate=d_gate d_up=d_x"}},
      {"embedding",
       maker,
       {"embedding_grad rows=$rows | ids=tokens d_output=d_out -> d_table=d_weight"},
       prepareEmbedding,
       finishEmbedding},
      {"final_logit_softcap", maker, activationCalls("kind=softcap alpha=$cap")},
      {"geglu_erf", maker, gluCalls("gelu_erf")},
      {"geglu_tanh", maker, gluCalls("gelu_tanh")},
      {"gelu_erf", maker, activationCalls("kind=gelu_erf")},
      {"gelu_quick", maker, activationCalls("kind=gelu_quick")},
      {"gelu_tanh", maker, activationCalls("kind=gelu_tanh")},
      {"gradient_clip_norm", maker, {}, nullptr, finishClip},
      {"layernorm",
       maker,
       {"layer_norm eps=$eps save_stats=true | input=x gamma=gamma beta=beta? -> output=out mean=mean rstd=rstd",
        "layer_norm_grad | d_output=d_out input=x gamma=gamma mean=mean rstd=rstd -> d_input=d_x d_gamma=d_gamma? "
        "d_beta=d_beta?"},
       prepareLayerNorm},
      {"linear",
       maker,
       {"linear | input=x weight=w bias=b -> output=out",
        "linear_grad | d_output=d_out input=x weight=w -> d_input=d_x d_weight=d_w d_bias=d_b"}},
      {"qk_norm",
       maker,
       {"qk_norm layout=head_major eps=$eps gain=$gain head_dim=$head_dim | q=q_in k=k_in q_gamma=q_gamma "
        "k_gamma=k_gamma -> q_out=q_out k_out=k_out",
        "qk_norm_grad layout=head_major eps=$eps gain=$gain head_dim=$head_dim | d_q_out=d_q_out d_k_out=d_k_out "
        "q=q_in "
        "k=k_in q_gamma=q_gamma k_gamma=k_gamma -> d_q=d_q_in d_k=d_k_in d_q_gamma=d_q_gamma d_k_gamma=d_k_gamma"},
       prepareNorm},
      {"recurrent_silu", maker, activationCalls("kind=silu")},
      {"relu2", maker, activationCalls("kind=relu2")},
      {"residual_add", maker, {"add | a=a b=b -> output=out", "fan_out | input=d_out -> a=d_a b=d_b"}},
      {"rmsnorm",
       maker,
       {"rms_norm eps=$eps gain=$gain save_rstd=true | input=x gamma=gamma -> output=out rstd=rstd",
        "rms_norm_grad gain=$gain | d_output=d_out input=x gamma=gamma rstd=rstd -> d_input=d_x d_gamma=d_gamma"},
       prepareNorm},
      {"unweighted_rmsnorm",
       maker,
       {"rms_norm eps=$eps gain=none save_rstd=true | input=x -> output=out rstd=rstd",
        "rms_norm_grad gain=none | d_output=d_out input=x rstd=rstd -> d_input=d_x"},
       prepareNorm},
      {"rope_adjacent", maker, ropeCalls, prepareRope},
      {"rope_half_split", maker, ropeCalls, prepareRope},
      {"rope_partial", maker, ropeCalls, prepareRope},
      {"softmax_cross_entropy",
       maker,
       {"cross_entropy save=grad | logits=logits targets=targets -> loss=loss d_logits=d_logits"}},
      {"split_qkv_packed_head_major", maker, splitCalls, prepareSplit},
      {"swiglu", maker, gluCalls("silu")},
  };
}

} // namespace ck::golden
