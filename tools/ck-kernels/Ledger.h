//===- Ledger.h - what exactly was proved of which kernel -------*- C++ -*-===//
//
// The ledger lists every kernel of the inventory and every kernel map: what it is, what calls it fits, when it is used,
// which compiled programs selected it, and what was executed to prove it. It is a function of files in the repository
// and of evidence (see Evidence.h) whose digests agree with them; nothing in it was measured.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_LEDGER_H
#define CK_TOOLS_KERNELS_LEDGER_H

#include "Evidence.h"

namespace ck::check {

/// A kernel that CK is to have, as kernel_maps/inventory.tsv names it.
struct InventoryRow {
  std::string id, operation, family; ///< family of element types: fp32, bf16, quantized, unspecified
};
/// Tab-separated, with a header line. Errors name `path` and the line.
Result<std::vector<InventoryRow>> parseInventory(std::string_view text, const std::string &path);

/// A compiled program, and the digest of the map of each kernel that it calls.
struct SelectedProgram {
  std::string name;
  std::map<std::string, std::string> kernels;
};
Result<std::vector<SelectedProgram>> parseSelection(std::string_view text, const std::string &path);

struct LedgerRow {
  std::string id, operation, family;
  bool inInventory = false;
  const KernelMap *map = nullptr; ///< nullptr: not built
  std::string mode;               ///< "inference", "training" or "both"
  std::string backward;           ///< of what it is the gradient, or what its gradient is
  std::vector<std::string> selectedBy;
  std::vector<std::string> notRun;  ///< instruction sets that it declares and the recording machine lacks
  std::optional<Evidence> evidence; ///< of a check that passed; nothing: not checked
};

/// When the kernel takes part: in programs without gradients only, in training only, or in both.
std::string modeOf(const KernelMap &map);

struct LedgerInput {
  const std::vector<KernelMap> &maps;
  std::vector<InventoryRow> inventory;
  std::vector<SelectedProgram> selection;
  EvidenceTable evidence;
};

/// A row for each kernel of the inventory and each map, by id. What evidence or selection says of other versions than
/// those in the source tree is no part of it: each such thing is a sentence in `stale`.
Result<std::vector<LedgerRow>> makeLedger(const LedgerInput &input, SourceDigests &digests,
                                          std::vector<std::string> &stale);

/// docs/ledger/ledger.json, and docs/ledger/ledger.md for people.
std::string ledgerJson(const std::vector<LedgerRow> &rows);
std::string ledgerMarkdown(const std::vector<LedgerRow> &rows);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_LEDGER_H
