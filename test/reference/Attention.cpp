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
                                     {"lse", {g.H, g.T}}});
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
  Tensor &output = call.out("output"), *lse = call.wanted("lse");
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
  if (call.flag("ring"))
    return random.below(2) ? fillDistinctIndices(pos, 4 * S, random) : fillIndices(pos, 2 * S, random);
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
  attend.outputs = {"output", "lse?"};
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

  Operation update;
  update.name = "cache_update";
  update.inputs = {"k_cache", "v_cache", "k", "v", "pos"};
  update.outputs = {"k_cache", "v_cache"};
  update.defaults = {{"layout", std::string("head_major")}, {"ring", false}};
  update.evaluate = cacheUpdate;
  update.prepare = prepareCacheUpdate;
  update.spoil = spoilCacheUpdate;
  return {attend, update};
}

} // namespace ck::reference
