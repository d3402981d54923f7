//===- LedgerCommand.cpp - writes the ledger, or says that it is stale ----===//

#include "Commands.h"
#include "Ledger.h"
#include "Maps.h"

#include <cstdio>
#include <filesystem>

namespace ck::check {

/// The file at `path`, parsed; what `parse` makes of no text where there is no file and it need not be there.
template <typename T>
static Result<T> readFile(const std::string &path, bool needed,
                          Result<T> (*parse)(std::string_view, const std::string &)) {
  if (!needed && !std::filesystem::exists(path))
    return T();
  Result<std::string> text = readText(path);
  return text ? parse(*text, path) : Result<T>(text.error());
}

static void print(const std::vector<LedgerRow> &rows) {
  int built = 0, checked = 0, selected = 0, inventory = 0;
  for (const LedgerRow &row : rows) {
    built += row.map != nullptr;
    inventory += row.map && row.inInventory;
    checked += row.evidence.has_value();
    selected += !row.selectedBy.empty();
  }
  std::printf("%zu rows; %d kernels built, %d of them in the inventory; %d selected by a program; parity executed for "
              "%d\n",
              rows.size(), built, inventory, selected, checked);
}

Result<int> runLedger(const Arguments &arguments) {
  if (!arguments.ids.empty() || !arguments.family.empty())
    return Error{"ledger is about all kernels; it takes no kernel ids and no family"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  const std::string source = sourceDir(arguments);
  const std::string folder = arguments.out.empty() ? source + "/docs/ledger" : arguments.out;
  const std::string jsonPath = folder + "/ledger.json", textPath = folder + "/ledger.md";
  auto inventory = readFile(source + "/kernel_maps/inventory.tsv", true, parseInventory);
  if (!inventory)
    return inventory.error();
  auto selection = readFile(source + "/docs/ledger/selected.json", false, parseSelection);
  if (!selection)
    return selection.error();
  // What the ledger holds already counts as long as its digests agree; a record comes on top.
  auto evidence = readFile(jsonPath, arguments.verify, parseEvidence);
  if (!evidence)
    return evidence.error();
  if (!arguments.record.empty()) {
    auto record = readFile(arguments.record, true, parseEvidence);
    if (!record)
      return record.error();
    for (const auto &[id, one] : *record)
      (*evidence)[id] = one;
  }

  SourceDigests digests(source, *maps);
  std::vector<std::string> stale;
  Result<std::vector<LedgerRow>> rows = makeLedger({*maps, *inventory, *selection, *evidence}, digests, stale);
  if (!rows)
    return rows.error();
  const std::pair<std::string, std::string> files[] = {{jsonPath, ledgerJson(*rows)},
                                                       {textPath, ledgerMarkdown(*rows)}};
  for (const auto &[path, text] : files) {
    if (!arguments.verify) {
      if (Status status = writeTextInFolder(path, text); !status)
        return status.error();
      continue;
    }
    Result<std::string> written = readText(path);
    if (!written || *written != text)
      stale.push_back(path + ": is not what the maps, the sources and the evidence in ledger.json give");
  }
  for (const std::string &what : stale)
    std::printf("%s\n", what.c_str());
  print(*rows);
  if (!stale.empty())
    std::printf("%zu things are stale; run: ck-kernels check --all --record FILE, then ck-kernels ledger --record FILE "
                "(scripts/update_ledger does both)\n",
                stale.size());
  // A ledger that was just written tells the truth, if less than one wishes.
  return arguments.verify && !stale.empty() ? 1 : 0;
}

} // namespace ck::check
