//===- CostTable.cpp - measured costs of kernels --------------------------===//

#include "ck/KernelMaps/CostTable.h"

#include "Schema.h"
#include "StrictJson.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using json = nlohmann::json;

namespace ck {

static const json &costTableSchema() {
  static const json schema = json::parse(R"({
    "type": "object", "additionalProperties": false,
    "required": ["format", "machine", "isa", "threads", "kernels"],
    "properties": {
      "format": {"const": "ck-cost-table-1"},
      "machine": {"type": "string", "minLength": 1},
      "isa": {"enum": ["scalar", "avx2", "avx512", "avx512_vnni"]},
      "threads": {"type": "integer", "minimum": 1},
      "kernels": {"type": "array", "minItems": 1, "items": {
        "type": "object", "additionalProperties": false, "required": ["id", "digest", "points"],
        "properties": {
          "id": {"type": "string", "minLength": 1},
          "digest": {"type": "string", "minLength": 1},
          "points": {"type": "array", "minItems": 1, "items": {
            "type": "object", "additionalProperties": false, "required": ["dims", "picoseconds"],
            "properties": {
              "dims": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
              "picoseconds": {"type": "integer", "minimum": 1}
            }}}
        }}}
    }
  })");
  return schema;
}

/// A count of at most `limit`; the schema lets 1e30 pass as an integer.
static Result<int64_t> readCount(const json &value, const std::string &at, double limit) {
  if (value.get<double>() > limit)
    return Error{at + ": " + value.dump() + " is out of range"};
  return static_cast<int64_t>(value.get<double>());
}

Result<CostTable> parseCostTable(std::string_view text, const std::string &path) {
  Result<json> root = parseStrictJson(text);
  if (!root)
    return Error{path + ": " + root.error().message};
  if (Status status = validate(costTableSchema(), *root); !status)
    return Error{path + ": " + status.error().message};
  CostTable table;
  table.machine = root->at("machine");
  table.isa = root->at("isa");
  Result<int64_t> threads = readCount(root->at("threads"), "#/threads", 1024);
  if (!threads)
    return Error{path + ": " + threads.error().message};
  table.threads = static_cast<int>(*threads);
  size_t index = 0;
  for (const json &entry : root->at("kernels")) {
    CostTable::Kernel kernel;
    kernel.digest = entry.at("digest");
    const std::string id = entry.at("id"), at = pointerTo("#/kernels", index++);
    for (const json &item : entry.at("points")) {
      CostTable::Point point;
      const std::string here = pointerTo(at + "/points", kernel.points.size());
      for (const auto &[name, value] : item.at("dims").items()) {
        Result<int64_t> extent = readCount(value, pointerTo(here + "/dims", name), 0x1p40);
        if (!extent)
          return Error{path + ": " + extent.error().message};
        point.dims[name] = *extent;
      }
      Result<int64_t> time = readCount(item.at("picoseconds"), here + "/picoseconds", 0x1p53);
      if (!time)
        return Error{path + ": " + time.error().message};
      point.picoseconds = *time;
      kernel.points.push_back(std::move(point));
    }
    if (!table.kernels.emplace(id, std::move(kernel)).second)
      return Error{path + ": " + at + "/id: '" + id + "' is there twice"};
  }
  return table;
}

Result<CostTable> loadCostTable(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{path + ": cannot read the cost table"};
  return parseCostTable(text.str(), path);
}

Status CostTable::checkAgainst(const std::vector<KernelMap> &maps) const {
  for (const auto &[id, kernel] : kernels) {
    auto map = std::find_if(maps.begin(), maps.end(), [&, &id = id](const KernelMap &m) { return m.id() == id; });
    if (map == maps.end())
      return Error{"the cost table has times of '" + id + "', but there is no such kernel map"};
    if (map->digest != kernel.digest)
      return Error{"the cost table has times of another version of '" + id + "'; measure anew with ck-kernels tune"};
  }
  return Status::success();
}

/// The cost of a map as a number that one can divide by.
static Result<double> countAt(const KernelMap &map, const Expr::Lookup &names) {
  if (!map.cost)
    return Error{map.id() + " has no cost"};
  Result<int64_t> count = map.cost->evaluate(names);
  if (!count)
    return Error{map.id() + ": cost " + map.cost->str() + ": " + count.error().message};
  if (*count == kDynamicDim)
    return Error{map.id() + ": cost " + map.cost->str() + " is not known"};
  return static_cast<double>(std::max<int64_t>(*count, 1));
}

Result<int64_t> CostTable::cost(const KernelMap &map, const Expr::Lookup &names) const {
  auto kernel = kernels.find(map.id());
  if (kernel == kernels.end())
    return Error{map.id() + " was not measured"};
  const Point *nearest = nullptr;
  double least = 0;
  for (const Point &point : kernel->second.points) {
    double distance = 0;
    for (const auto &[name, extent] : point.dims) {
      Result<int64_t> here = names(name);
      if (!here)
        return Error{map.id() + ": the cost table: " + here.error().message};
      if (*here == kDynamicDim)
        return Error{map.id() + ": dim " + name + " is not known"};
      distance += std::fabs(std::log2((static_cast<double>(*here) + 1) / (static_cast<double>(extent) + 1)));
    }
    if (!nearest || distance < least) {
      nearest = &point;
      least = distance;
    }
  }
  const Expr::Lookup there = [&](const std::string &name) -> Result<int64_t> {
    auto dim = nearest->dims.find(name);
    return dim == nearest->dims.end() ? names(name) : dim->second;
  };
  Result<double> now = countAt(map, names), then = countAt(map, there);
  if (!now)
    return now.error();
  if (!then)
    return then.error();
  const double estimate = static_cast<double>(nearest->picoseconds) * (*now / *then);
  return static_cast<int64_t>(std::clamp(std::round(estimate), 1.0, 0x1p60));
}

std::string CostTable::str() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto &[id, kernel] : kernels) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const Point &point : kernel.points)
      points.push_back({{"dims", point.dims}, {"picoseconds", point.picoseconds}});
    list.push_back({{"id", id}, {"digest", kernel.digest}, {"points", points}});
  }
  return nlohmann::ordered_json({{"format", "ck-cost-table-1"},
                                 {"machine", machine},
                                 {"isa", isa},
                                 {"threads", threads},
                                 {"kernels", list}})
             .dump(1) +
         "\n";
}

} // namespace ck
