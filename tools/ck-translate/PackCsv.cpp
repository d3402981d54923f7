//===- PackCsv.cpp - ck-translate --pack-csv ------------------------------===//
//
// A table of buffers in, the same with offsets out, a report on stderr. Nothing is written unless the judge accepts the
// packing and it meets the capacity.
//
//===----------------------------------------------------------------------===//
#include "PackCsv.h"

#include "ck/Packing/Csv.h"
#include "ck/Packing/Drawing.h"

#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ck;

static llvm::cl::opt<int64_t>
    capacity("capacity",
             llvm::cl::desc("pack-csv: bytes to fit into; packing stops there (default: the fewer the better)"),
             llvm::cl::init(-1));
static llvm::cl::opt<PackEffort>
    effort("packing", llvm::cl::desc("pack-csv: how hard to try (default exact)"),
           llvm::cl::values(clEnumValN(PackEffort::Greedy, "greedy", "a portfolio of greedy strategies"),
                            clEnumValN(PackEffort::Search, "search", "then local search"),
                            clEnumValN(PackEffort::Exact, "exact", "then branch and bound")),
           llvm::cl::init(PackEffort::Exact));
static llvm::cl::opt<int64_t> nodes("nodes", llvm::cl::desc("pack-csv: most nodes of search (default 250000)"),
                                    llvm::cl::init(kDefaultPackNodes));
static llvm::cl::opt<std::string> svg("svg", llvm::cl::value_desc("file"),
                                      llvm::cl::desc("pack-csv: draw address against time"));

static void report(const Packing &packing) {
  llvm::raw_ostream &out = llvm::errs();
  int64_t bound = packing.provenBound;
  double gap = bound == 0 ? 0.0 : 100.0 * (static_cast<double>(packing.height) / static_cast<double>(bound) - 1.0);
  out << "capacity " << packing.height << ", bound " << bound << ", gap " << llvm::format("%.2f", gap) << " %, nodes "
      << packing.nodes << " of " << nodes << ", " << packing.strategy << (packing.isOptimal() ? ", proved lowest" : "")
      << "\n";
}

static LogicalResult packTable(llvm::SourceMgr &sources, llvm::raw_ostream &stream) {
  const llvm::MemoryBuffer &file = *sources.getMemoryBuffer(sources.getMainFileID());
  auto refuse = [&](const std::string &message) {
    llvm::errs() << "error: " << file.getBufferIdentifier() << ": " << message << "\n";
    return failure();
  };
  bool hasCapacity = capacity.getNumOccurrences() != 0;
  if (hasCapacity && capacity < 0)
    return refuse("--capacity must not be negative, got " + std::to_string(capacity));
  if (nodes < 0)
    return refuse("--nodes must not be negative, got " + std::to_string(nodes));
  Result<PackTable> table = parsePackCsv({file.getBufferStart(), file.getBufferSize()});
  if (!table)
    return refuse(table.error().message);
  PackOptions options;
  options.effort = effort;
  options.capacity = capacity;
  options.nodes = nodes;
  Result<Packing> packing = pack(table->items, options);
  if (!packing)
    return refuse(packing.error().message);
  report(*packing);
  if (Status status = checkPacking(table->items, packing->offsets, packing->height); !status)
    return refuse("the packer made a wrong packing, please report this: " + status.error().message);
  if (hasCapacity && packing->height > capacity)
    return refuse("does not fit " + std::to_string(capacity) +
                  (packing->provenBound > capacity ? ": no packing does" : " within the node budget; raise --nodes"));
  if (!svg.empty()) {
    PackPicture picture = {table->items,
                           packing->offsets,
                           file.getBufferIdentifier().str(),
                           packing->provenBound,
                           hasCapacity ? capacity.getValue() : -1,
                           ""};
    llvm::Error error = llvm::writeToOutput(svg, [&](llvm::raw_ostream &out) {
      out << drawSvg(picture);
      return llvm::Error::success();
    });
    if (error)
      return refuse("cannot write '" + svg + "': " + llvm::toString(std::move(error)));
  }
  stream << printPackCsv(*table, packing->offsets);
  return success();
}

void ck::registerPackCsv() {
  static TranslateRegistration registration("pack-csv", "give the buffers of a minimalloc table their offsets",
                                            [](const std::shared_ptr<llvm::SourceMgr> &sources,
                                               llvm::raw_ostream &stream,
                                               MLIRContext *) { return packTable(*sources, stream); });
}
