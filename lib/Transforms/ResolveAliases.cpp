//===- ResolveAliases.cpp - uses of aliases name their roots --------------===//
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace ck {
#define GEN_PASS_DEF_CKRESOLVEALIASES
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
struct ResolveAliases : ck::impl::CKResolveAliasesBase<ResolveAliases> {
  void runOnOperation() override {
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> roots;
    for (auto buffer : getOperation().getOps<BufferOp>())
      if (buffer.getAlias())
        roots[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
            FlatSymbolRefAttr::get(buffer.getRoot().getSymNameAttr());
    if (roots.empty())
      return markAllAnalysesPreserved();
    // Functions keep the tags of arguments and results in one array each, which the replacer walks into.
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
      auto root = roots.find(symbol);
      if (root == roots.end())
        return std::nullopt;
      return root->second;
    });
    getOperation().walk([&](Operation *op) {
      if (isa<ParamOp, FunctionOpInterface>(op))
        replacer.replaceElementsIn(op);
    });
  }
};
} // namespace
