//===- LedgerText.cpp - the ledger as JSON and as tables ------------------===//

#include "Ledger.h"
#include "Reference.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace ck::check {

using Json = nlohmann::ordered_json;

Json toJson(const Evidence &evidence, bool measured);

static std::string join(const std::vector<std::string> &parts, const std::string &separator) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : separator) + part;
  return text;
}

static std::vector<std::string> requirements(const KernelMap &map) {
  std::vector<std::string> texts;
  for (const WhereClause &clause : map.contract.where)
    texts.push_back(clause.str());
  for (const Expr &requirement : map.requirements)
    texts.push_back(requirement.str());
  return texts;
}

static std::vector<std::string> operationsOf(const KernelMap &map) {
  std::vector<std::string> texts;
  for (const Implements &entry : map.implements) {
    std::string attrs;
    for (const auto &[name, value] : entry.attrs)
      attrs += (attrs.empty() ? "" : ", ") + name + "=" + ck::toString(value);
    texts.push_back(entry.op + (attrs.empty() ? "" : "{" + attrs + "}"));
  }
  return texts;
}

std::string ledgerJson(const std::vector<LedgerRow> &rows) {
  Json list = Json::array();
  for (const LedgerRow &row : rows) {
    Json json = {{"id", row.id},
                 {"operation", row.operation},
                 {"family", row.family},
                 {"inventory", row.inInventory},
                 {"built", row.map != nullptr}};
    if (row.map) {
      json["mode"] = row.mode;
      json["implements"] = operationsOf(*row.map);
      json["signature"] = row.map->contract.signature.str();
      json["requires"] = requirements(*row.map);
      json["backward"] = row.backward;
      json["selected_by"] = row.selectedBy;
      json["parity"] = row.evidence ? "executed" : "not checked";
    }
    if (row.evidence) {
      json["isas_not_run"] = row.notRun;
      json["evidence"] = toJson(*row.evidence, false);
    }
    list.push_back(std::move(json));
  }
  return Json({{"format", "ck-ledger-1"}, {"kernels", list}}).dump(1) + "\n";
}

namespace {

/// What a table counts in a set of rows.
struct Counts {
  int inventory = 0, built = 0, beyond = 0, backward = 0, selected = 0, checked = 0;

  void add(const LedgerRow &row) {
    inventory += row.inInventory;
    built += row.inInventory && row.map;
    beyond += !row.inInventory;
    backward += row.map && row.backward != "none";
    selected += !row.selectedBy.empty();
    checked += row.evidence.has_value();
  }
  std::string cells() const {
    std::string text;
    for (int count : {inventory, built, inventory - built, beyond, built + beyond, backward, selected, checked})
      text += " " + std::to_string(count) + " |";
    return text;
  }
};

} // namespace

static const char countColumns[] = " in the inventory | built | not built | beyond it | mode declared | backward | "
                                   "selected | parity executed |\n";

static std::string table(const std::string &first, const std::vector<LedgerRow> &rows, bool byOperation) {
  std::map<std::string, Counts> counts;
  Counts total;
  for (const LedgerRow &row : rows) {
    counts[byOperation ? row.operation : row.family].add(row);
    total.add(row);
  }
  std::string text = "| " + first + " |" + countColumns + "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto &[name, count] : counts)
    text += "| " + name + " |" + count.cells() + "\n";
  return text + "| all |" + total.cells() + "\n";
}

/// `|` would end a cell.
static std::string cell(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

static std::string parity(const LedgerRow &row) {
  if (!row.evidence)
    return "not checked";
  const Evidence &evidence = *row.evidence;
  char tolerance[40];
  std::snprintf(tolerance, sizeof(tolerance), "%.2g", evidence.tolerance);
  std::string text = join(evidence.oracles, ", ") + " in double precision, " + std::to_string(evidence.geometries) +
                     " geometries, tolerance " + tolerance + ", " + join(evidence.isas, " ");
  if (!row.notRun.empty())
    text += " (not run here: " + join(row.notRun, " ") + ")";
  if (!evidence.bits.empty())
    text += "; bits of " + evidence.bits;
  return text;
}

static std::string providers(const std::vector<LedgerRow> &rows, bool inInventory) {
  std::string text = "| kernel | operation | types | mode | fits | backward | selected by | parity |\n"
                     "|---|---|---|---|---|---|---|---|\n";
  for (const LedgerRow &row : rows) {
    if (!row.map || row.inInventory != inInventory)
      continue;
    std::string fits = "`" + row.map->contract.signature.str() + "`";
    for (const std::string &requirement : requirements(*row.map))
      fits += ", `" + requirement + "`";
    for (const std::string &column : {row.id, row.operation, row.family, row.mode, fits, row.backward,
                                      row.selectedBy.empty() ? "no program" : join(row.selectedBy, "; "), parity(row)})
      text += "| " + cell(column) + " ";
    text += "|\n";
  }
  return text;
}

static std::string notBuilt(const std::vector<LedgerRow> &rows) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const LedgerRow &row : rows)
    if (!row.map)
      ids[row.operation].push_back(row.id + " (" + row.family + ")");
  std::string text;
  for (const auto &[operation, list] : ids)
    text += "- **" + operation + "**: " + join(list, ", ") + "\n";
  return text;
}

std::string ledgerMarkdown(const std::vector<LedgerRow> &rows) {
  return "<!-- Written by `ck-kernels ledger`; edits are lost. -->\n"
         "# Ledger of kernels\n\n"
         "What exists of the inventory, when it is used, and what was executed to prove it. \"Parity executed\" means "
         "that\n`ck-kernels check` ran the kernel against the reference of its operation and passed, with map, kernel "
         "and reference as\nthey are now; [ck-kernels.md](../ck-kernels.md) says how. The same facts for programs, "
         "with "
         "digests, are in\n`ledger.json`.\n\n"
         "## By family of element types\n\n" +
         table("types", rows, false) + "\n## By operation\n\n" + table("operation", rows, true) +
         "\n## Kernels of the inventory\n\n" + providers(rows, true) + "\n## Kernels beyond the inventory\n\n" +
         providers(rows, false) + "\n## Not built\n\n" + notBuilt(rows);
}

} // namespace ck::check
