//===- Ledger.cpp - the rows of the ledger --------------------------------===//

#include "Ledger.h"
#include "Maps.h"
#include "Reference.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace ck::check {

using Json = nlohmann::ordered_json;

Result<std::vector<InventoryRow>> parseInventory(std::string_view text, const std::string &path) {
  std::vector<InventoryRow> rows;
  std::set<std::string> ids;
  int line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::vector<std::string> fields(1);
    for (char c : text.substr(begin, end - begin))
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    begin = end + 1;
    if (++line == 1) {
      if (fields != std::vector<std::string>{"id", "operation", "family"})
        return Error{path + ":1: expected the columns id, operation and family"};
      continue;
    }
    const std::string place = path + ":" + std::to_string(line) + ": ";
    if (fields.size() != 3 || fields[0].empty() || fields[1].empty() || fields[2].empty())
      return Error{place + "expected three fields, found " + std::to_string(fields.size())};
    if (!ids.insert(fields[0]).second)
      return Error{place + fields[0] + " is there twice"};
    rows.push_back({fields[0], fields[1], fields[2]});
  }
  return rows;
}

Result<std::vector<SelectedProgram>> parseSelection(std::string_view text, const std::string &path) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || !json.contains("format") || !json.contains("programs"))
      return Error{path + ": is no selection; expected an object with \"format\" and \"programs\""};
    if (json.at("format") != "ck-selection-1")
      return Error{path + ": the format is " + json.at("format").dump() + ", expected \"ck-selection-1\""};
    std::vector<SelectedProgram> programs;
    for (const Json &program : json.at("programs"))
      programs.push_back({program.at("name"), program.at("kernels").get<std::map<std::string, std::string>>()});
    return programs;
  } catch (const std::exception &error) {
    return Error{path + ": " + error.what()};
  }
}

/// Element types of the operands.
static std::set<std::string> typesOf(const KernelMap &map) {
  std::set<std::string> types;
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands)
      if (operand.dtype[0] != '$')
        types.insert(operand.dtype);
  for (const WhereClause &clause : map.contract.where)
    types.insert(clause.dtypes.begin(), clause.dtypes.end());
  return types;
}

static bool isQuantized(const std::string &type) {
  return type.rfind("packed<", 0) == 0 || type.rfind('q', 0) == 0 || type == "nvfp4" || type == "mxfp4";
}

/// The family of element types of a map that the inventory does not have.
static std::string familyOfTypes(const KernelMap &map) {
  const std::set<std::string> types = typesOf(map);
  if (std::any_of(types.begin(), types.end(), isQuantized))
    return "quantized";
  if (types.count("bf16"))
    return "bf16";
  return types.count("f32") || types.count("f64") ? "fp32" : "unspecified";
}

std::string modeOf(const KernelMap &map) {
  static const std::set<std::string> updates = {"accumulate", "adamw",      "clip_factor", "cross_entropy",
                                                "fan_out",    "grad_clip",  "optimizer",   "scale",
                                                "sgd",        "sum_squares"};
  static const std::set<std::string> serving = {"argmax",       "block_topk", "cache_update", "pack",
                                                "position_ids", "quantize",   "tokenize"};
  auto each = [&](auto holds) {
    return !map.implements.empty() && std::all_of(map.implements.begin(), map.implements.end(),
                                                  [&](const Implements &entry) { return holds(entry.op); });
  };
  auto endsWith = [](const std::string &text, const std::string &end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  if (!map.backwardOf.empty() ||
      each([&](const std::string &op) { return endsWith(op, "_grad") || updates.count(op); }))
    return "training";
  // Gradients are taken of many rows, by position and not by cache, and never of rounded activations.
  bool oneRow = false, cached = false;
  for (const SigOperand &operand : map.contract.signature.inputs) {
    oneRow |= !operand.dims.empty() && operand.dims[0] == Expr::integer(1);
    cached |= operand.name == "k_cache" || operand.name == "seqs";
  }
  for (const Implements &entry : map.implements)
    for (const auto &[attr, value] : entry.attrs)
      cached |= attr == "layout" && value == Param(std::string("cache"));
  const std::set<std::string> types = typesOf(map);
  const bool rounded =
      std::any_of(types.begin(), types.end(), [](const std::string &type) { return type.rfind("packed<", 0) == 0; }) ||
      types.count("q8_k") || types.count("q8_1");
  if (oneRow || cached || rounded || each([&](const std::string &op) { return serving.count(op); }))
    return "inference";
  return "both";
}

/// The gradient of a kernel, or what it is the gradient of.
static std::string backwardText(const KernelMap &map, const std::vector<KernelMap> &maps) {
  if (!map.backwardOf.empty())
    return "of " + map.backwardOf;
  std::string text;
  for (const KernelMap &other : maps)
    if (other.backwardOf == map.id())
      text += (text.empty() ? "" : ", ") + other.id();
  if (!text.empty())
    return text;
  for (const Implements &entry : map.implements) {
    if (entry.op.size() > 5 && entry.op.compare(entry.op.size() - 5, 5, "_grad") == 0)
      return "of the operation " + entry.op.substr(0, entry.op.size() - 5);
    for (const KernelMap &other : maps)
      for (const Implements &gradient : other.implements)
        if (gradient.op == entry.op + "_grad")
          return "the operation " + gradient.op;
  }
  return "none";
}

Result<std::vector<LedgerRow>> makeLedger(const LedgerInput &input, SourceDigests &digests,
                                          std::vector<std::string> &stale) {
  std::map<std::string, LedgerRow> rows;
  for (const InventoryRow &entry : input.inventory) {
    LedgerRow &row = rows[entry.id];
    row.id = entry.id;
    row.operation = entry.operation;
    row.family = entry.family;
    row.inInventory = true;
  }
  for (const KernelMap &map : input.maps) {
    LedgerRow &row = rows[map.id()];
    if (row.inInventory && row.operation != map.operation)
      return Error{map.path + ": #/operation is '" + map.operation + "', but the inventory says '" + row.operation +
                   "'"};
    row.id = map.id();
    row.operation = map.operation;
    if (!row.inInventory)
      row.family = familyOfTypes(map);
    row.map = &map;
    row.mode = modeOf(map);
    row.backward = backwardText(map, input.maps);
    for (const SelectedProgram &program : input.selection)
      if (auto found = program.kernels.find(map.id()); found != program.kernels.end()) {
        if (found->second == map.digest)
          row.selectedBy.push_back(program.name);
        else
          stale.push_back(map.id() + ": '" + program.name + "' selected another version of the map");
      }
    const bool checkable = !map.implements.empty() &&
                           std::all_of(map.implements.begin(), map.implements.end(), [](const Implements &entry) {
                             return reference::findOperation(entry.op) != nullptr;
                           });
    auto found = input.evidence.find(map.id());
    if (found == input.evidence.end() || found->second.result == "not checked") {
      if (checkable)
        stale.push_back(map.id() + ": no check of it is recorded");
      continue;
    }
    Result<std::string> changed = staleness(found->second, map, digests);
    if (!changed)
      return changed.error();
    if (!changed->empty()) {
      stale.push_back(map.id() + ": " + *changed + " changed since it was checked");
      continue;
    }
    if (found->second.result != "passed") {
      stale.push_back(map.id() + ": its check failed");
      continue;
    }
    row.evidence = found->second;
    const KernelMap *owner = map.sameAs.empty() ? &map : findMap(input.maps, map.sameAs);
    for (const auto &implementation : owner ? owner->implementations : map.implementations)
      if (const std::vector<std::string> &isas = row.evidence->isas;
          std::find(isas.begin(), isas.end(), implementation.isa) == isas.end())
        row.notRun.push_back(implementation.isa);
  }
  for (const SelectedProgram &program : input.selection)
    for (const auto &[id, digest] : program.kernels)
      if (!findMap(input.maps, id))
        stale.push_back(id + ": '" + program.name + "' selected it, but there is no such map");
  std::vector<LedgerRow> list;
  for (auto &[id, row] : rows)
    list.push_back(std::move(row));
  return list;
}

} // namespace ck::check
