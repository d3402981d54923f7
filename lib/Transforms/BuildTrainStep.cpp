//===- BuildTrainStep.cpp - a differentiated loss becomes a training step -===//
//
// Trainable weights turn into states, and the step gets what follows the gradients: the sum over micro-batches, the
// global norm, clipping and the optimizer. Everything stays a value: the update of a parameter is a new value of its
// state.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Regex.h"

namespace ck {
#define GEN_PASS_DEF_CKBUILDTRAINSTEP
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {

/// One trainable tensor and the names of the states that go with it.
struct Parameter {
  BufferOp buffer;
  bool decays = false;
  std::string gradient;
  std::string firstMoment, secondMoment; ///< empty: there is none

  RankedTensorType type() { return buffer.getTensorType(); }
};

/// Adds an argument and a result to an entry; `value` is what the entry returns for the state.
class EntryEditor {
public:
  explicit EntryEditor(func::FuncOp entry) : entry(entry), terminator(entry.getBody().front().getTerminator()) {}

  Value addInput(StringRef name, RankedTensorType type) {
    return addArgument("ck.input", StringAttr::get(entry.getContext(), name), type, name);
  }
  /// The state's value at the start; it is returned unchanged until `setState` says otherwise.
  Value addState(StringRef name, RankedTensorType type) {
    auto symbol = FlatSymbolRefAttr::get(entry.getContext(), name);
    Value value = addArgument("ck.state", symbol, type, name);
    stateResult[name] = terminator->getNumOperands();
    addResult("ck.state", symbol, value);
    return value;
  }
  void setState(StringRef name, Value value) { terminator->setOperand(stateResult.lookup(name), value); }
  void addOutput(StringRef name, Value value) {
    addResult("ck.output", StringAttr::get(entry.getContext(), name), value);
  }
  /// Drops the results for which `drop` is set. Before any state is added.
  void eraseResults(const llvm::BitVector &drop) {
    (void)entry.eraseResults(drop);
    terminator->eraseOperands(drop);
  }
  Operation *getTerminator() const { return terminator; }

private:
  Value addArgument(StringRef tag, Attribute value, RankedTensorType type, StringRef name) {
    unsigned index = entry.getNumArguments();
    auto attrs = DictionaryAttr::get(entry.getContext(), NamedAttribute(tag, value));
    (void)entry.insertArgument(index, type, attrs,
                               NameLoc::get(StringAttr::get(entry.getContext(), name), entry.getLoc()));
    return entry.getArgument(index);
  }
  void addResult(StringRef tag, Attribute value, Value result) {
    auto attrs = DictionaryAttr::get(entry.getContext(), NamedAttribute(tag, value));
    (void)entry.insertResult(entry.getNumResults(), result.getType(), attrs);
    terminator->insertOperands(terminator->getNumOperands(), result);
  }

  func::FuncOp entry;
  Operation *terminator;
  llvm::StringMap<unsigned> stateResult;
};

struct BuildTrainStep : ck::impl::CKBuildTrainStepBase<BuildTrainStep> {
  using CKBuildTrainStepBase::CKBuildTrainStepBase;

  void runOnOperation() override {
    if (failed(checkOptions()) || failed(build()))
      signalPassFailure();
  }

private:
  LogicalResult checkOptions();
  LogicalResult build();
  LogicalResult collect(func::FuncOp step);
  void declareStates();
  /// Parameters as arguments and results of `entry` instead of weights.
  llvm::StringMap<Value> parametersAsStates(func::FuncOp entry, EntryEditor &editor);
  void addGradients(func::FuncOp entry, EntryEditor &editor, MutableArrayRef<Value> gradients);
  void update(func::FuncOp step, EntryEditor &editor, llvm::StringMap<Value> &weights, ArrayRef<Value> gradients);
  bool hasMoments() const { return optimizer == "adamw" || momentum != 0; }
  Location named(const Twine &name) {
    return NameLoc::get(StringAttr::get(&getContext(), name), UnknownLoc::get(&getContext()));
  }

  std::vector<Parameter> parameters; ///< those that decay first
  SmallVector<unsigned> gradientResults;
};

} // namespace

LogicalResult BuildTrainStep::checkOptions() {
  ModuleOp module = getOperation();
  auto refuse = [&](StringRef option, auto &&value, StringRef expected) {
    return module.emitError() << "train step: " << option << " must be " << expected << ", got " << value;
  };
  if (optimizer != "adamw" && optimizer != "sgd")
    return refuse("optimizer", "'" + optimizer + "'", "adamw or sgd");
  for (auto [name, value] : {std::pair("beta1", beta1.getValue()), std::pair("beta2", beta2.getValue()),
                             std::pair("momentum", momentum.getValue())})
    if (!(value >= 0 && value < 1))
      return refuse(name, value, "at least 0 and below 1");
  for (auto [name, value] : {std::pair("eps", eps.getValue()), std::pair("clip", clip.getValue()),
                             std::pair("weight-decay", weightDecay.getValue())})
    if (!(value >= 0 && std::isfinite(value)))
      return refuse(name, value, "finite and at least 0");
  if (optimizer == "adamw" && momentum != 0)
    return refuse("momentum", momentum.getValue(), "0 with adamw");
  if (nesterov && momentum == 0)
    return refuse("nesterov", "true", "false without momentum");
  std::string reason;
  if (!noDecay.empty() && !llvm::Regex(noDecay).isValid(reason))
    return refuse("no-decay", "'" + noDecay + "' (" + reason + ")", "a regular expression");
  return success();
}

LogicalResult BuildTrainStep::collect(func::FuncOp step) {
  auto module = getOperation();
  llvm::Regex exempt(noDecay.empty() ? "^$" : noDecay.getValue());
  SmallVector<std::pair<Parameter, unsigned>> found;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto symbol = step.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.grad");
    if (!symbol)
      continue;
    auto buffer = module.lookupSymbol<BufferOp>(symbol.getValue());
    if (!buffer || buffer.getRole() != "weight")
      return step.emitOpError() << "result " << i << " is the gradient of @" << symbol.getValue()
                                << ", which is no ck.buffer of role weight";
    Parameter parameter;
    parameter.buffer = buffer;
    std::string name = buffer.getSymName().str();
    parameter.decays = weightDecay != 0 && parameter.type().getRank() >= 2 && !exempt.match(name);
    parameter.gradient = "d_" + name;
    if (hasMoments())
      parameter.firstMoment = name + ".m";
    if (optimizer == "adamw")
      parameter.secondMoment = name + ".v";
    found.push_back({parameter, i});
  }
  if (found.empty())
    return step.emitOpError("has no result tagged ck.grad: differentiate it first (--ck-autodiff), and mark weights as "
                            "trainable");
  for (bool decays : {true, false})
    for (auto &[parameter, result] : found)
      if (parameter.decays == decays) {
        parameters.push_back(parameter);
        gradientResults.push_back(result);
      }
  for (const Parameter &parameter : parameters)
    for (const std::string &name : {parameter.gradient, parameter.firstMoment, parameter.secondMoment})
      if (!name.empty() && module.lookupSymbol(name))
        return step.emitOpError() << "needs the symbol '" << name << "' for a state, but it is taken";
  return success();
}

void BuildTrainStep::declareStates() {
  ModuleOp module = getOperation();
  OpBuilder builder(&getContext());
  // States lie in the arena in the order of their declarations: each kind is contiguous.
  Operation *last = nullptr;
  for (Parameter &parameter : parameters) {
    BufferOp buffer = parameter.buffer;
    buffer.setRole("state");
    buffer.removeFileAttr();
    buffer.removeTensorAttr();
    buffer.setTrainable(false);
    if (last)
      buffer->moveAfter(last);
    last = buffer;
  }
  auto declare = [&](Parameter &parameter, const std::string &name) {
    if (name.empty())
      return;
    builder.setInsertionPointAfter(last);
    last = BufferOp::create(builder, named(name), builder.getStringAttr(name), builder.getStringAttr("state"),
                            parameter.buffer.getTypeAttr(), /*alias=*/nullptr, /*file=*/nullptr, /*tensor=*/nullptr,
                            parameter.buffer.getScopeAttr(), /*dims=*/nullptr, /*when=*/nullptr, /*offset=*/nullptr);
  };
  for (Parameter &parameter : parameters)
    declare(parameter, parameter.gradient);
  for (Parameter &parameter : parameters)
    declare(parameter, parameter.firstMoment);
  for (Parameter &parameter : parameters)
    declare(parameter, parameter.secondMoment);
  // An alias of a weight that is now a state has no reader left.
  for (auto buffer : llvm::make_early_inc_range(module.getOps<BufferOp>()))
    if (buffer.getAlias() && buffer.getRoot() && buffer.getRoot().getRole() == "state")
      buffer.erase();
}

llvm::StringMap<Value> BuildTrainStep::parametersAsStates(func::FuncOp entry, EntryEditor &editor) {
  llvm::StringMap<SmallVector<ParamOp>> reads;
  entry.walk([&](ParamOp param) { reads[param.getBuffer()].push_back(param); });
  llvm::StringMap<Value> values;
  for (Parameter &parameter : parameters) {
    StringRef name = parameter.buffer.getSymName();
    values[name] = editor.addState(name, parameter.type());
    for (ParamOp param : reads.lookup(name)) {
      param.getResult().replaceAllUsesWith(values[name]);
      param.erase();
    }
  }
  return values;
}

void BuildTrainStep::addGradients(func::FuncOp entry, EntryEditor &editor, MutableArrayRef<Value> gradients) {
  OpBuilder builder(editor.getTerminator());
  for (auto [parameter, gradient] : llvm::zip(parameters, gradients)) {
    Value before = editor.addState(parameter.gradient, parameter.type());
    if (accumulate)
      gradient = AccumulateOp::create(builder, named(parameter.gradient), before, gradient);
    editor.setState(parameter.gradient, gradient);
  }
}

void BuildTrainStep::update(func::FuncOp step, EntryEditor &editor, llvm::StringMap<Value> &weights,
                            ArrayRef<Value> gradients) {
  OpBuilder builder(editor.getTerminator());
  auto real = [&](double value) { return builder.getF64FloatAttr(value); };
  auto f32 = RankedTensorType::get({1}, builder.getF32Type());
  Value rate = editor.addInput("lr", f32);
  Value number = editor.addInput("step", RankedTensorType::get({1}, builder.getI32Type()));

  Value squares;
  for (Value gradient : gradients)
    squares = SumSquaresOp::create(builder, named("grad_squares"), gradient, squares);
  auto norm = ClipFactorOp::create(builder, named("grad_norm"), squares, real(clip));
  editor.addOutput("grad_norm", norm.getNorm());

  for (auto [parameter, gradient] : llvm::zip(parameters, gradients)) {
    StringRef name = parameter.buffer.getSymName();
    FloatAttr decay = real(parameter.decays ? weightDecay : 0.0);
    Value first = hasMoments() ? editor.addState(parameter.firstMoment, parameter.type()) : Value();
    if (optimizer == "adamw") {
      Value second = editor.addState(parameter.secondMoment, parameter.type());
      auto updated = AdamWOp::create(builder, named(name), weights[name], first, second, gradient, rate, number,
                                     norm.getFactor(), real(beta1), real(beta2), real(eps), decay);
      editor.setState(name, updated->getResult(0));
      editor.setState(parameter.firstMoment, updated->getResult(1));
      editor.setState(parameter.secondMoment, updated->getResult(2));
    } else {
      auto updated = SgdOp::create(builder, named(name), weights[name], first, gradient, rate, norm.getFactor(),
                                   real(momentum), builder.getBoolAttr(nesterov), decay);
      editor.setState(name, updated->getResult(0));
      if (first)
        editor.setState(parameter.firstMoment, updated->getResult(1));
    }
    if (accumulate)
      editor.setState(parameter.gradient, ZeroOp::create(builder, named(parameter.gradient), gradient));
  }
}

LogicalResult BuildTrainStep::build() {
  ModuleOp module = getOperation();
  auto step = module.lookupSymbol<func::FuncOp>(entry);
  if (!step || !step->hasAttr("ck.entry") || step.isExternal() || !llvm::hasSingleElement(step.getBody()))
    return module.emitError() << "train step: there is no entry @" << entry << " of one block";
  if (accumulate && module.lookupSymbol("accumulate"))
    return module.emitError("train step: the symbol 'accumulate' is needed for an entry, but it is taken");
  if (failed(collect(step)))
    return failure();
  declareStates();

  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function != step && function->hasAttr("ck.entry") && !function.isExternal())
      entries.push_back(function);

  EntryEditor editor(step);
  SmallVector<Value> gradients;
  llvm::BitVector isGradient(step.getNumResults());
  for (unsigned result : gradientResults) {
    gradients.push_back(editor.getTerminator()->getOperand(result));
    isGradient.set(result);
  }
  editor.eraseResults(isGradient);
  llvm::StringMap<Value> weights = parametersAsStates(step, editor);
  addGradients(step, editor, gradients);
  if (accumulate) {
    // So far the step is what every micro-batch but the last one does.
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(step);
    auto micro = cast<func::FuncOp>(builder.clone(*step));
    micro.setName("accumulate");
  }
  update(step, editor, weights, gradients);

  for (func::FuncOp other : entries) {
    EntryEditor otherEditor(other);
    bool reads = false;
    other.walk([&](ParamOp param) {
      reads |= llvm::any_of(parameters, [&](Parameter &p) { return p.buffer.getSymName() == param.getBuffer(); });
    });
    if (reads)
      parametersAsStates(other, otherEditor);
  }
  return success();
}
