//===- Fuse.cpp - chains of ops become regions with a contract ------------===//

#include "ChooseProvider.h"
#include "Entries.h"
#include "FusionPatterns.h"
#include "KernelMapLibrary.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

namespace ck {
#define GEN_PASS_DEF_CKFUSE
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

/// Puts the ops of a chain into a region in the place of the last of them.
static void formRegion(StringRef contract, const FusionMatch &match) {
  SmallVector<Operation *> ops = match.ops;
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(ops.back());
  Operation *named = match.outputs.front().getDefiningOp();
  auto fused = FusedOp::create(builder, named->getLoc(), TypeRange(ValueRange(match.outputs)),
                               FlatSymbolRefAttr::get(builder.getContext(), contract), match.inputs);
  for (NamedAttribute param : match.params)
    fused->setAttr(param.getName(), param.getValue());
  for (NamedAttribute attribute : named->getDiscardableAttrs()) // where in the model it is
    fused->setAttr(attribute.getName(), attribute.getValue());
  Block *body = builder.createBlock(&fused.getBody());
  IRMapping mapping;
  for (Value input : match.inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  const SmallPtrSet<Operation *, 8> inside(ops.begin(), ops.end());
  for (auto [output, result] : llvm::zip(match.outputs, fused.getResults())) {
    yielded.push_back(mapping.lookup(output));
    Value(output).replaceAllUsesExcept(result, inside);
  }
  YieldOp::create(builder, fused.getLoc(), yielded);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

namespace {
struct Fuse : ck::impl::CKFuseBase<Fuse> {
  using CKFuseBase::CKFuseBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<FusionPatterns> patterns = FusionPatterns::load(KernelMapLibrary::folder(maps), &getContext());
    if (failed(patterns))
      return signalPassFailure();
    if (patterns->patterns().empty())
      return;
    Result<const std::vector<KernelMap> *> loaded = getAnalysis<KernelMapLibrary>().maps(maps);
    if (!loaded) {
      module.emitError() << "cannot load kernel maps: " << loaded.error().message;
      return signalPassFailure();
    }
    SelectionPolicy policy;
    policy.limit = numericsLimit(module);
    if (!policy.setIsa(isa)) {
      module.emitError() << "isa must be scalar, avx2, avx512 or avx512_vnni, got '" << isa << "'";
      return signalPassFailure();
    }
    const ProviderChooser chooser(**loaded, std::move(policy));
    for (func::FuncOp entry : entriesOf(module)) {
      FailureOr<BoundedShapes> shapes = BoundedShapes::compute(entry);
      if (failed(shapes))
        return signalPassFailure();
      for (func::FuncOp pattern : patterns->patterns())
        fuse(entry, pattern, chooser, *shapes);
    }
  }

  void fuse(func::FuncOp entry, func::FuncOp pattern, const ProviderChooser &chooser, const BoundedShapes &shapes) {
    SmallVector<Operation *> firsts;
    for (Operation &op : entry.getBody().front())
      if (op.getName() == pattern.getBody().front().front().getName())
        firsts.push_back(&op);
    llvm::SmallPtrSet<Operation *, 16> gone; // a chain may hold several ops that could begin one
    for (Operation *first : firsts) {
      if (gone.contains(first))
        continue;
      std::optional<FusionMatch> match = FusionPatterns::match(pattern, first);
      // A value of a region that was formed here has no known shape; its chain is left as it is.
      auto known = [&](Value value) { return shapes.contains(value); };
      if (!match || !llvm::all_of(match->inputs, known) || !llvm::all_of(match->outputs, known))
        continue;
      std::optional<int64_t> fused =
          chooser.costOf({pattern.getName(), match->params.getAttrs(), match->inputs, match->outputs}, shapes);
      if (!fused)
        continue;
      int64_t parts = 0;
      for (Operation *op : match->ops) {
        std::optional<int64_t> cost = chooser.costOf(cast<SignatureOpInterface>(op), shapes);
        if (!cost || llvm::AddOverflow(parts, *cost, parts))
          parts = std::numeric_limits<int64_t>::max();
      }
      if (*fused > parts)
        continue;
      gone.insert(match->ops.begin(), match->ops.end());
      formRegion(pattern.getName(), *match);
    }
  }
};
} // namespace
