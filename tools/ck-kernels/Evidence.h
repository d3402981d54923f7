//===- Evidence.h - what was checked, and of which sources ------*- C++ -*-===//
//
// A check is worth something as long as the map, the kernel and the reference are those that took part. Evidence is the
// result of a check together with digests of the three. It is kept in files: the record of a run in the build tree,
// with measured errors, and the ledger in the repository, without.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_EVIDENCE_H
#define CK_TOOLS_KERNELS_EVIDENCE_H

#include "Check.h"

namespace ck::check {

/// Computes digests of sources below a source tree. Files are read once.
class SourceDigests {
public:
  /// `maps` must outlive this.
  SourceDigests(std::string sourceDir, const std::vector<KernelMap> &maps);

  /// Files that a change of which may change the kernel: the sources of its implementations, what they include of
  /// lib/Runtime/Kernels and ck/Support (and what that includes), and the sources in the folders of these headers that
  /// no map names, as they are the bodies of headers. Sorted, relative to the source tree. An Error for a file that is
  /// not there.
  Result<std::vector<std::string>> kernelFiles(const KernelMap &map);
  /// Files that judge it: those in test/reference that name its operations, the steps of a chain, or its exact contract
  /// in quotes, with what they include, but for the two headers that only list.
  Result<std::vector<std::string>> referenceFiles(const KernelMap &map);

  /// SHA-256 over names, sizes and bytes.
  Result<std::string> kernel(const KernelMap &map);
  Result<std::string> reference(const KernelMap &map);

  /// An Error that names a file of the kernel that is newer than `library`, or one of the reference that is newer than
  /// `program`: then what runs was not built from these sources.
  Status checkBuilt(const KernelMap &map, const std::string &library, const std::string &program);

private:
  Result<const std::string *> text(const std::string &path);
  Status addClosure(const std::string &root, const std::string &path, std::vector<std::string> &files);
  Result<std::string> digest(const std::vector<std::string> &files);

  std::string sourceDir;
  const std::vector<KernelMap> &maps;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::string> digests; ///< by the list of files
};

struct Evidence {
  std::string map, kernel, reference; ///< digests
  std::string result;                 ///< "passed", "failed" or "not checked"
  std::vector<std::string> oracles, isas;
  std::string bits; ///< exact reference, "" = none
  int geometries = 0;
  double tolerance = 0;
  double maxError = -1; ///< measured; negative where it is not kept
};

/// By kernel id.
using EvidenceTable = std::map<std::string, Evidence>;

/// The evidence in `report` of a check of `map`.
Result<Evidence> makeEvidence(const Report &report, const KernelMap &map, SourceDigests &digests);

/// "" if `evidence` is about the sources as they are, else which part has changed: "the kernel".
Result<std::string> staleness(const Evidence &evidence, const KernelMap &map, SourceDigests &digests);

/// Reads a record or a ledger. Errors name `path` and the place in it.
Result<EvidenceTable> parseEvidence(std::string_view text, const std::string &path);
/// The text of a record.
std::string recordText(const EvidenceTable &table);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_EVIDENCE_H
