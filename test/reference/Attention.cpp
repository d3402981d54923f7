//===- Attention.cpp - attention over caches and over the rows of a call --===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

/// Where the parts of an attention call lie.
struct Geometry {
  int64_t H, KV, T, S, D;
  bool cache, headMajor;

  int64_t query(int64_t h, int64_t t) const { return headMajor ? (h * T + t) * D : (t * H + h) * D; }
  int64_t key(int64_t g, int64_t j) const { return cache || headMajor ? (g * S + j) * D : (j * KV + g) * D; }
};

/// Half-open range of the keys that row t may see.
struct Range {
  int64_t begin, end;
};

Range visibleKeys(const Call &call, const Geometry &geometry, int64_t t) {
  const Tensor *pos = call.optional("pos"), *seqs = call.optional("seqs");
  std::string mask = call.word("mask");
  int64_t position = geometry.cache ? (pos ? pos->integer(t) : 0) : t;
  Range keys{0, geometry.S};
  for (int64_t b = 0; seqs && b + 1 < seqs->elements(); ++b)
    if (seqs->integer(b) <= t && t < seqs->integer(b + 1))
      keys = {seqs->integer(b), seqs->integer(b + 1)};
  if (mask != "full")
    keys.end = std::min(keys.end, position + 1);
  if (mask == "sliding")
    keys.begin = std::max(keys.begin, position - call.integer("window") + 1);
  return keys;
}

Result<Geometry> readGeometry(const Call &call) {
  std::string layout = call.word("layout");
  Geometry g;
  g.cache = layout == "cache";
  g.headMajor = layout == "head_major";
  g.H = call.integer("heads");
  g.KV = call.integer("kv_heads");
  const Tensor &q = call.in("q"), &k = call.in("k");
  if (g.H < 1 || g.KV < 1 || g.H % g.KV != 0)
    return badCall("heads is not a multiple of kv_heads");
  if (g.cache != (call.optional("pos") != nullptr) && call.word("mask") != "full")
    return badCall("rows have positions in a cache, and only there");
  if (g.cache && call.optional("seqs"))
    return badCall("sequences are told apart by seqs only where keys are rows");
  g.T = q.extent(g.headMajor ? 1 : 0);
  g.D = g.headMajor ? q.extent(2) : q.extent(1) / g.H;
  g.S = g.cache ? k.extent(1) : g.T;
  std::vector<int64_t> queries =
      g.headMajor ? std::vector<int64_t>{g.H, g.T, g.D} : std::vector<int64_t>{g.T, g.H * g.D};
  std::vector<int64_t> keys =
      g.cache || g.headMajor ? std::vector<int64_t>{g.KV, g.S, g.D} : std::vector<int64_t>{g.T, g.KV * g.D};
  Status shapes = call.expectShapes({{"q", queries},
                                     {"k", keys},
                                     {"v", keys},
                                     {"pos", {g.T}},
                                     {"sinks", {g.H}},
                                     {"output", queries},
                                     {"lse", {g.H, g.T}},
                                     {"probs", {g.H, g.T, g.T}},
                                     {"d_output", queries},
                                     {"d_q", queries},
                                     {"d_k", keys},
                                     {"d_v", keys},
                                     {"d_sinks", {g.H}},
                                     {"d_scores", {g.H, g.T, g.T}}});
  if (!shapes)
    return shapes.error();
  return g;
}

Status checkSequences(const Tensor &seqs, int64_t T) {
  int64_t count = seqs.elements();
  if (count < 1 || seqs.integer(0) != 0 || seqs.integer(count - 1) != T)
    return invalid("seqs does not run from 0 to the number of rows");
  for (int64_t b = 0; b + 1 < count; ++b)
    if (seqs.integer(b) > seqs.integer(b + 1))
      return invalid("seqs descends");
  return Status::success();
}

Status attention(Call &call) {
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return read.error();
  const Geometry &g = *read;
  const Tensor &q = call.in("q"), &k = call.in("k"), &v = call.in("v");
  const Tensor *sinks = call.optional("sinks");
  Tensor &output = call.out("output"), *lse = call.wanted("lse"), *probs = call.wanted("probs");
  if (const Tensor *seqs = call.optional("seqs"))
    if (Status status = checkSequences(*seqs, g.T); !status)
      return status;
  if (const Tensor *pos = call.optional("pos"))
    if (Status status = expectIndices("pos", *pos, g.S); !status)
      return status;

  double scale = call.number("scale") != 0 ? call.number("scale") : 1 / std::sqrt(static_cast<double>(g.D));
  for (int64_t h = 0; h < g.H; ++h)
    for (int64_t t = 0; t < g.T; ++t) {
      Range keys = visibleKeys(call, g, t);
      int64_t kvHead = h / (g.H / g.KV);
      std::vector<double> scores;
      double top = sinks ? sinks->data[h] : -INFINITY;
      for (int64_t j = keys.begin; j < keys.end; ++j) {
        double dot = 0;
        for (int64_t d = 0; d < g.D; ++d)
          dot += q.data[g.query(h, t) + d] * k.data[g.key(kvHead, j) + d];
        scores.push_back(softcap(scale * dot, call.number("softcap")));
        top = std::max(top, scores.back());
      }
      double sum = sinks ? std::exp(sinks->data[h] - top) : 0;
      for (double &score : scores)
        sum += score = std::exp(score - top);
      for (int64_t d = 0; d < g.D; ++d) {
        double value = 0;
        for (int64_t j = keys.begin; j < keys.end; ++j)
          value += scores[j - keys.begin] / sum * v.data[g.key(kvHead, j) + d];
        output.data[g.query(h, t) + d] = value;
      }
      if (lse)
        lse->data[h * g.T + t] = top + std::log(sum);
      for (int64_t j = keys.begin; probs && j < keys.end; ++j)
        probs->data[(h * g.T + t) * g.T + j] = scores[j - keys.begin] / sum;
    }
  return Status::success();
}

/// Scores count from the recomputed probability p = exp(s - lse) and from delta = d_output . output, which is the sum
/// over the keys of p dp.
Status attentionGrad(Call &call) {
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return read.error();
  const Geometry &g = *read;
  const Tensor &q = call.in("q"), &k = call.in("k"), &v = call.in("v"), &dOutput = call.in("d_output");
  const Tensor *sinks = call.optional("sinks");
  Tensor *dQ = call.wanted("d_q"), *dK = call.wanted("d_k"), *dV = call.wanted("d_v"), *dSinks = call.wanted("d_sinks");
  if (g.cache || (dSinks && !sinks))
    return badCall("keys are rows of the call, and d_sinks comes with sinks");
  if (const Tensor *seqs = call.optional("seqs"))
    if (Status status = checkSequences(*seqs, g.T); !status)
      return status;

  double scale = call.number("scale") != 0 ? call.number("scale") : 1 / std::sqrt(static_cast<double>(g.D));
  double cap = call.number("softcap");
  for (int64_t h = 0; h < g.H; ++h)
    for (int64_t t = 0; t < g.T; ++t) {
      int64_t row = g.query(h, t);
      double lse = call.in("lse").data[h * g.T + t], delta = 0;
      for (int64_t d = 0; d < g.D; ++d)
        delta += dOutput.data[row + d] * call.in("output").data[row + d];
      if (dSinks)
        dSinks->data[h] -= std::exp(sinks->data[h] - lse) * delta;
      Range keys = visibleKeys(call, g, t);
      for (int64_t j = keys.begin; j < keys.end; ++j) {
        int64_t key = g.key(h / (g.H / g.KV), j);
        double dot = 0, dP = 0;
        for (int64_t d = 0; d < g.D; ++d) {
          dot += q.data[row + d] * k.data[key + d];
          dP += dOutput.data[row + d] * v.data[key + d];
        }
        double score = softcap(scale * dot, cap), p = std::exp(score - lse), dDot = p * (dP - delta) * scale;
        if (cap != 0)
          dDot *= 1 - std::pow(std::tanh(scale * dot / cap), 2);
        for (int64_t d = 0; d < g.D; ++d) {
          if (dQ)
            dQ->data[row + d] += dDot * k.data[key + d];
          if (dK)
            dK->data[key + d] += dDot * q.data[row + d];
          if (dV)
            dV->data[key + d] += p * dOutput.data[row + d];
        }
      }
    }
  return Status::success();
}

/// Keys of probability 0 have no influence. d_scores is the gradient of scale * q.k.
Status attentionProbsGrad(Call &call) {
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return read.error();
  const Geometry &g = *read;
  const Tensor &q = call.in("q"), &k = call.in("k"), &v = call.in("v"), &dOutput = call.in("d_output");
  Tensor *dQ = call.wanted("d_q"), *dK = call.wanted("d_k"), *dV = call.wanted("d_v"), &dScores = call.out("d_scores");
  double scale = call.number("scale") != 0 ? call.number("scale") : 1 / std::sqrt(static_cast<double>(g.D));
  for (int64_t h = 0; h < g.H; ++h)
    for (int64_t t = 0; t < g.T; ++t) {
      const double *p = &call.in("probs").data[(h * g.T + t) * g.T];
      double *dScore = dScores.data.data() + ((h * g.T + t) * g.T);
      int64_t row = g.query(h, t), kvHead = h / (g.H / g.KV);
      double mean = 0;
      for (int64_t j = 0; j < g.T; ++j) {
        for (int64_t d = 0; d < g.D && p[j] != 0; ++d)
          dScore[j] += dOutput.data[row + d] * v.data[g.key(kvHead, j) + d];
        if (p[j] != 0)
          mean += p[j] * dScore[j];
      }
      for (int64_t j = 0; j < g.T; ++j) {
        if (p[j] == 0)
          continue;
        dScore[j] = p[j] * (dScore[j] - mean);
        int64_t key = g.key(kvHead, j);
        for (int64_t d = 0; d < g.D; ++d) {
          if (dQ)
            dQ->data[row + d] += scale * dScore[j] * k.data[key + d];
          if (dK)
            dK->data[key + d] += scale * dScore[j] * q.data[row + d];
          if (dV)
            dV->data[key + d] += p[j] * dOutput.data[row + d];
        }
      }
    }
  return Status::success();
}

bool prepareAttention(Call &call, Random &random) {
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return true; // evaluate will say what is wrong
  const Geometry &g = *read;
  if (auto it = call.inputs.find("seqs"); it != call.inputs.end()) {
    std::vector<double> &offsets = it->second.data;
    if (offsets.empty() || (offsets.size() == 1 && g.T > 0))
      return false;
    for (double &offset : offsets)
      offset = static_cast<double>(random.below(g.T + 1));
    offsets.front() = 0;
    offsets.back() = static_cast<double>(g.T);
    std::sort(offsets.begin(), offsets.end());
  }
  if (auto it = call.inputs.find("pos"); it != call.inputs.end()) {
    if (!fillIndices(it->second, g.S, random))
      return false;
    if (random.below(2)) // most often rows stand one after the other
      for (int64_t t = 0, start = random.below(std::max<int64_t>(1, g.S - g.T + 1)); t < g.T && g.S >= g.T; ++t)
        it->second.data[t] = static_cast<double>(start + t);
  }
  double scale = call.attrs.count("scale") ? call.number("scale") : 0;
  if (scale != 0)
    scaleByPowerOfTwo(call.inputs["q"], 1 / (scale * std::sqrt(static_cast<double>(g.D))));
  // Whatever no row may see must not be read.
  std::vector<bool> seen(g.S, false);
  for (int64_t t = 0; t < g.T; ++t) {
    Range keys = visibleKeys(call, g, t);
    for (int64_t j = std::max<int64_t>(0, keys.begin); j < std::min(keys.end, g.S); ++j)
      seen[j] = true;
  }
  for (int64_t kvHead = 0; kvHead < g.KV; ++kvHead)
    for (int64_t j = 0; j < g.S; ++j)
      for (int64_t d = 0; d < g.D && !seen[j]; ++d)
        call.inputs["k"].data[g.key(kvHead, j) + d] = call.inputs["v"].data[g.key(kvHead, j) + d] = notANumber;
  return true;
}

/// Puts what the forward pass makes of the inputs among them, rounded to float.
void runForward(Call &call, const Geometry &g, std::initializer_list<const char *> saved) {
  Call forward;
  forward.attrs = call.attrs;
  for (const char *name : {"q", "k", "v", "sinks", "seqs"})
    if (const Tensor *input = call.optional(name))
      forward.inputs[name] = *input;
  forward.outputs = {{"output", Tensor::zeros(call.in("q").shape)},
                     {"lse", Tensor::zeros({g.H, g.T})},
                     {"probs", Tensor::zeros({g.H, g.T, g.T})}};
  if (!attention(forward))
    return;
  for (const char *name : saved) {
    call.inputs[name] = forward.out(name);
    for (double &value : call.inputs[name].data)
      value = static_cast<float>(value);
  }
}

bool prepareAttentionGrad(Call &call, Random &random) {
  if (!prepareAttention(call, random))
    return false;
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return true;
  // One key against a sink: scores that are not far apart, or dp - delta is little more than its rounding errors.
  if (call.optional("sinks") && (read->T < 4 || (call.word("mask") == "sliding" && call.integer("window") == 1)))
    scaleByPowerOfTwo(call.inputs["q"], 0.25);
  runForward(call, *read, {"output", "lse"});
  return true;
}

/// Probabilities of one mask or another.
bool prepareAttentionProbsGrad(Call &call, Random &random) {
  Call forward = call;
  const char *masks[] = {"causal", "sliding", "full"};
  forward.attrs["mask"] = std::string(masks[random.below(3)]);
  forward.attrs["window"] = 1 + random.below(9);
  forward.attrs["softcap"] = 0.0;
  if (!prepareAttention(forward, random))
    return false;
  if (Result<Geometry> read = readGeometry(forward))
    runForward(forward, *read, {"probs"});
  call.inputs = forward.inputs;
  return true;
}

bool spoilAttention(Call &call, Random &random) {
  Result<Geometry> read = readGeometry(call);
  if (!read)
    return false;
  if (auto it = call.inputs.find("seqs"); it != call.inputs.end()) {
    std::vector<double> &offsets = it->second.data;
    size_t which = static_cast<size_t>(random.below(it->second.elements()));
    bool inside = which > 0 && which + 1 < offsets.size();
    offsets[which] += inside ? static_cast<double>(read->T + 1) : random.below(2) ? 1 : -1;
    return true;
  }
  auto pos = call.inputs.find("pos");
  return pos != call.inputs.end() && spoilIndex(pos->second, read->S, random);
}

/// Row t goes to slot pos[t] (ring: pos[t] mod S) of every head; of two rows with one slot the later one stays.
Status cacheUpdate(Call &call) {
  const Tensor &pos = call.in("pos"), &cache = call.in("k_cache");
  int64_t KV = cache.extent(0), S = cache.extent(1), D = cache.extent(2), T = pos.extent(0);
  if (Status status = call.expectShapes(
          {{"k_cache", {KV, S, D}}, {"v_cache", {KV, S, D}}, {"k", {T, KV * D}}, {"v", {T, KV * D}}, {"pos", {T}}});
      !status)
    return status;
  bool ring = call.flag("ring");
  int64_t limit = ring ? (S > 0 ? INT64_MAX : 0) : S;
  if (Status status = expectIndices("pos", pos, limit); !status)
    return status;
  for (const char *name : {"k", "v"}) {
    const Tensor &rows = call.in(name);
    Tensor &slots = call.out(std::string(name) + "_cache");
    for (int64_t t = 0; t < T; ++t)
      for (int64_t g = 0; g < KV; ++g)
        for (int64_t d = 0; d < D; ++d) {
          int64_t slot = ring ? pos.integer(t) % S : pos.integer(t);
          slots.data[(g * S + slot) * D + d] = rows.data[(t * KV + g) * D + d];
        }
  }
  return Status::success();
}

bool prepareCacheUpdate(Call &call, Random &random) {
  Tensor &pos = call.inputs["pos"];
  int64_t S = call.in("k_cache").extent(1);
  // Positions of a ring may meet in one slot.
  if (call.flag("ring")) {
    const bool meet = random.below(2) == 0 || pos.elements() > 4 * S;
    return meet ? fillIndices(pos, 2 * S, random) : fillDistinctIndices(pos, 4 * S, random);
  }
  return fillDistinctIndices(pos, S, random);
}

bool spoilCacheUpdate(Call &call, Random &random) {
  Tensor &pos = call.inputs["pos"];
  if (!call.flag("ring"))
    return spoilIndex(pos, call.in("k_cache").extent(1), random);
  if (pos.data.empty())
    return false;
  pos.data[random.below(pos.elements())] = -1.0 - static_cast<double>(random.below(1000));
  return true;
}

} // namespace

std::vector<Operation> attentionOperations() {
  Operation attend;
  attend.name = "attention";
  attend.inputs = {"q", "k", "v", "pos?", "sinks?", "seqs?"};
  attend.outputs = {"output", "lse?", "probs?"};
  attend.defaults = {{"heads", int64_t(1)},
                     {"kv_heads", int64_t(1)},
                     {"layout", std::string("cache")},
                     {"mask", std::string("causal")},
                     {"window", int64_t(0)},
                     {"scale", 0.0},
                     {"softcap", 0.0},
                     {"save", std::string("none")}};
  attend.evaluate = attention;
  attend.prepare = prepareAttention;
  attend.spoil = spoilAttention;
  attend.draws = {headCounts(),
                  {{{"window", int64_t(1)}}, {{"window", int64_t(4)}}, {{"window", int64_t(33)}}},
                  {{{"scale", 0.0}}, {{"scale", 0.17}}},
                  {{{"softcap", 0.0}}, {{"softcap", 2.0}}}};

  Operation gradient = attend;
  gradient.name = "attention_grad";
  gradient.inputs = {"d_output", "q", "k", "v", "output", "lse", "sinks?", "seqs?"};
  gradient.outputs = {"d_q?", "d_k?", "d_v?", "d_sinks?"};
  gradient.defaults.erase("save");
  gradient.defaults["layout"] = std::string("token_major");
  gradient.evaluate = attentionGrad;
  gradient.prepare = prepareAttentionGrad;

  Operation probsGradient;
  probsGradient.name = "attention_probs_grad";
  probsGradient.inputs = {"d_output", "q", "k", "v", "probs"};
  probsGradient.outputs = {"d_q?", "d_k?", "d_v?", "d_scores"};
  probsGradient.defaults = {
      {"heads", int64_t(1)}, {"kv_heads", int64_t(1)}, {"layout", std::string("head_major")}, {"scale", 0.0}};
  probsGradient.evaluate = attentionProbsGrad;
  probsGradient.prepare = prepareAttentionProbsGrad;
  probsGradient.draws = {headCounts(), {{{"scale", 0.0}}, {{"scale", 0.17}}}};

  Operation update;
  update.name = "cache_update";
  update.inputs = {"k_cache", "v_cache", "k", "v", "pos"};
  update.outputs = {"k_cache", "v_cache"};
  update.defaults = {{"layout", std::string("head_major")}, {"ring", false}};
  update.evaluate = cacheUpdate;
  update.prepare = prepareCacheUpdate;
  update.spoil = spoilCacheUpdate;
  return {attend, gradient, probsGradient, update};
}

} // namespace ck::reference
