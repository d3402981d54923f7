//===- FoldAccumulate.cpp - sums of gradients become += -------------------===//
//
// A gradient that is only added to something else need not exist: its op adds where it would have written. A provider
// adds all gradients of a group or none, so a group folds as a whole.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "ck/Dialect/CK/Names.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace ck {
#define GEN_PASS_DEF_CKFOLDACCUMULATE
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
/// A sum that takes a gradient, and what else it adds.
struct Sum {
  Operation *op = nullptr;
  Value other;
};

/// Folds what can be folded into one gradient op.
class Folder {
public:
  explicit Folder(GradientOpInterface op)
      : op(op), gradients(op.getGradientTable().existing(op.getWrtNames())), mode(op.getAccumulateMode()) {}

  /// Returns true if something changed; the op is erased then.
  bool run();

private:
  /// The sums of all gradients of a group; empty if one of them cannot be folded.
  SmallVector<Sum> groupSums(bool parameters) const;
  Sum findSum(Value gradient) const;
  bool canAddInto(Value value, Operation *sum) const;
  void rewrite(StringRef newMode, llvm::DenseMap<Value, Sum> sums);

  GradientOpInterface op;
  SmallVector<Gradient> gradients;
  StringRef mode;
};
} // namespace

/// `value` is there before the gradient op and only read before it, so the op may add to its storage.
bool Folder::canAddInto(Value value, Operation *sum) const {
  for (Operation *user : value.getUsers())
    if (user != sum && !user->isBeforeInBlock(op))
      return false;
  if (llvm::count(sum->getOperands(), value) != 1)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto entry = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return entry && entry.getArgAttr(argument.getArgNumber(), "ck.state");
  }
  Operation *producer = value.getDefiningOp();
  return producer->isBeforeInBlock(op) && !isa<ParamOp>(producer);
}

Sum Folder::findSum(Value gradient) const {
  if (!gradient.hasOneUse())
    return {};
  Operation *user = *gradient.user_begin();
  Value other;
  if (auto add = dyn_cast<AddOp>(user)) {
    if (add.getAlpha().isExactlyValue(1.0) && add.getScale().isExactlyValue(1.0))
      other = add.getA() == gradient ? add.getB() : add.getA();
  } else if (auto accumulate = dyn_cast<AccumulateOp>(user)) {
    if (accumulate.getSrc() == gradient)
      other = accumulate.getDst();
  }
  if (!other || other.getType() != gradient.getType() || !canAddInto(other, user))
    return {};
  return {user, other};
}

SmallVector<Sum> Folder::groupSums(bool parameters) const {
  SmallVector<Sum> sums;
  for (auto [gradient, result] : llvm::zip(gradients, op->getResults())) {
    if (gradient.parameter != parameters)
      continue;
    Sum sum = isAccumulated(mode, gradient) ? Sum() : findSum(result);
    if (!sum.op)
      return {};
    sums.push_back(sum);
  }
  return sums;
}

void Folder::rewrite(StringRef newMode, llvm::DenseMap<Value, Sum> sums) {
  // Earlier values stand behind the other operands, in the order of the results.
  unsigned fixed = op->getNumOperands() - op.getIntoCount(), old = fixed;
  SmallVector<Value> into, operands(op->getOperands().take_front(fixed));
  for (auto [gradient, result] : llvm::zip(gradients, op->getResults())) {
    if (isAccumulated(mode, gradient))
      into.push_back(op->getOperand(old++));
    else if (isAccumulated(newMode, gradient))
      into.push_back(sums.lookup(result).other);
  }
  operands.append(into.begin(), into.end());
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), operands, op->getResultTypes());
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.set("accumulate", builder.getStringAttr(newMode));
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes")) {
    SmallVector<int32_t> sizes(segments.asArrayRef());
    sizes.back() = into.size();
    attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(sizes));
  }
  state.addAttributes(attributes);
  Operation *folded = builder.create(state);
  for (auto [result, replacement] : llvm::zip(op->getResults(), folded->getResults()))
    if (Operation *sum = sums.lookup(result).op)
      for (const std::string &name : resultNames(sum->getLoc(), 0))
        addName(replacement, name);
  for (auto [result, replacement] : llvm::zip(op->getResults(), folded->getResults())) {
    Operation *sum = sums.lookup(result).op;
    if (!sum) {
      result.replaceAllUsesWith(replacement);
      continue;
    }
    sum->getResult(0).replaceAllUsesWith(replacement);
    sum->erase();
  }
  op->erase();
}

bool Folder::run() {
  SmallVector<StringRef> modes = op.getAccumulateModes();
  llvm::DenseMap<Value, Sum> sums;
  StringRef newMode = mode;
  for (bool parameters : {true, false}) {
    StringRef group = parameters ? "params" : "input";
    StringRef wanted = newMode == "none" ? group : StringRef("all");
    SmallVector<Sum> found = groupSums(parameters);
    // Two gradients that are added to each other are one sum, which only one of them can take.
    bool once = llvm::all_of(found, [&](const Sum &sum) {
      return llvm::none_of(sums, [&](const auto &known) { return known.second.op == sum.op; }) &&
             llvm::count_if(found, [&](const Sum &other) { return other.op == sum.op; }) == 1;
    });
    if (found.empty() || !once || newMode == group || !llvm::is_contained(modes, wanted))
      continue;
    size_t next = 0;
    for (auto [gradient, result] : llvm::zip(gradients, op->getResults()))
      if (gradient.parameter == parameters)
        sums[result] = found[next++];
    newMode = wanted;
  }
  if (newMode == mode)
    return false;
  rewrite(newMode, std::move(sums));
  return true;
}

namespace {
struct FoldAccumulate : ck::impl::CKFoldAccumulateBase<FoldAccumulate> {
  void runOnOperation() override {
    for (func::FuncOp entry : entriesOf(getOperation()))
      // A folded op can be what the next gradient is added to, so the order is that of the program.
      for (auto gradient : llvm::to_vector(entry.getOps<GradientOpInterface>()))
        Folder(gradient).run();
  }
};
} // namespace
