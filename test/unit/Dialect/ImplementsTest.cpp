//===- ImplementsTest.cpp - what maps implement, the dialect has ----------===//
//
// Each entry of `implements` of each kernel map becomes an op: operands and results by the names of the reference,
// shapes and attributes as the checker would draw them for the kernel. The op must pass its verifier, go by the same
// names, and be one that the map takes.
//
//===----------------------------------------------------------------------===//
#include "ChooseProvider.h"
#include "Geometry.h"
#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace ck;
using ck::check::Geometry;
using ck::check::GeometryDrawer;

namespace {

using Names = std::vector<std::string>;

/// Builds ops for one entry of one map.
class OpMaker {
public:
  OpMaker(MLIRContext &context, const KernelMap &map, const Implements &entry,
          const ck::reference::Operation &operation)
      : builder(&context), map(map), entry(entry), operation(operation), name("ck." + entry.op, &context),
        drawer(map, entry, operation, 1) {}

  /// What the entry names that the op lacks; "" if there is nothing.
  std::string missing() const;
  /// Draws geometries until an op passes; "" or why the last did not.
  std::string tryAll();

private:
  using Present = std::map<std::string, RankedTensorType>; ///< by the op's names

  bool hasAttribute(StringRef attribute) const {
    return llvm::any_of(name.getAttributeNames(), [&](StringAttr known) { return known.getValue() == attribute; });
  }
  /// The present operands or results; says in `problem` if the dialect lacks the type of one.
  Present presentOn(bool isOutput, const Geometry &geometry, std::string &problem) const;
  /// The present ones of `entries` in their order, `name*` as name0, name1 and so on.
  static Names inOrder(const Names &entries, const Present &present);
  /// An operand of the group `into`, to which a gradient is added.
  bool isInto(const std::string &operand) const {
    return hasAttribute("accumulate") && ck::reference::namesOperand(operation.outputs, operand);
  }
  void setAttributes(mlir::Operation *op, const Geometry &geometry, const Present &inputs, const Present &outputs);
  std::string tryOne(const Geometry &geometry);

  Builder builder;
  const KernelMap &map;
  const Implements &entry;
  const ck::reference::Operation &operation;
  OperationName name;
  GeometryDrawer drawer;
};

} // namespace

std::string OpMaker::missing() const {
  for (const auto &[attribute, value] : entry.attrs)
    if (!hasAttribute(attribute))
      return "has no attribute " + attribute;
  for (const ParamDecl &param : map.contract.params)
    if (!hasAttribute(drawer.opName(param.name)))
      return "has no attribute for the parameter " + param.name;
  return "";
}

OpMaker::Present OpMaker::presentOn(bool isOutput, const Geometry &geometry, std::string &problem) const {
  Present present;
  const Signature &signature = map.contract.signature;
  for (const SigOperand &operand : isOutput ? signature.outputs : signature.inputs)
    if (geometry.present.count(operand.name)) {
      const std::string &dtype = operand.dtype[0] == '$' ? geometry.dtypes.at(operand.dtype) : operand.dtype;
      Type element = parseDtype(builder.getContext(), dtype);
      if (!element)
        problem = "there is no element type " + dtype;
      else
        present[drawer.opName(operand.name)] = RankedTensorType::get(geometry.layouts.at(operand.name).shape, element);
    }
  return present;
}

Names OpMaker::inOrder(const Names &entries, const Present &present) {
  Names names;
  for (const std::string &text : entries) {
    std::string base = text.substr(0, text.find_first_of("?*"));
    if (text.back() != '*' && present.count(base))
      names.push_back(base);
    for (int i = 0; text.back() == '*' && present.count(base + std::to_string(i)); ++i)
      names.push_back(base + std::to_string(i));
  }
  return names;
}

void OpMaker::setAttributes(mlir::Operation *op, const Geometry &geometry, const Present &inputs,
                            const Present &outputs) {
  for (const auto &[attribute, value] : geometry.attrs) {
    if (!hasAttribute(attribute)) // One that the map names was missed before.
      continue;
    if (attribute == "perm") {
      SmallVector<StringRef> texts;
      SmallVector<int64_t> perm;
      StringRef(std::get<std::string>(value)).split(texts, ',', -1, false);
      for (StringRef text : texts)
        perm.push_back(std::stoll(text.str()));
      op->setAttr(attribute, builder.getDenseI64ArrayAttr(perm));
    } else if (auto integer = std::get_if<int64_t>(&value)) {
      op->setAttr(attribute, builder.getI64IntegerAttr(*integer));
    } else if (auto real = std::get_if<double>(&value)) {
      op->setAttr(attribute, builder.getF64FloatAttr(*real));
    } else if (auto text = std::get_if<std::string>(&value)) {
      op->setAttr(attribute, builder.getStringAttr(*text));
    } else if (std::get<bool>(value)) {
      op->setAttr(attribute, builder.getBoolAttr(true));
      if (!op->getAttr(attribute)) // It is a unit attribute.
        op->setAttr(attribute, builder.getUnitAttr());
    }
  }
  if (hasAttribute("sizes")) {
    SmallVector<int64_t> sizes;
    for (const std::string &output : inOrder(operation.outputs, outputs))
      sizes.push_back(outputs.at(output).getDimSize(std::get<int64_t>(geometry.attrs.at("axis"))));
    op->setAttr("sizes", builder.getDenseI64ArrayAttr(sizes));
  }
  if (hasAttribute("wrt")) { // Gradients that may be absent are there because someone asked.
    SmallVector<Attribute> wrt;
    for (const std::string &output : operation.outputs)
      if (std::string base = output.substr(0, output.size() - 1); output.back() == '?' && outputs.count(base))
        wrt.push_back(builder.getStringAttr(StringRef(base).drop_front(2)));
    op->setAttr("wrt", builder.getArrayAttr(wrt));
  }
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>()) {
    SmallVector<int32_t> segments;
    int32_t into = 0;
    for (const std::string &text : operation.inputs) {
      std::string base = text.substr(0, text.find('?'));
      if (isInto(base))
        into += inputs.count(base);
      else
        segments.push_back(inputs.count(base));
    }
    if (hasAttribute("accumulate"))
      segments.push_back(into);
    op->setAttr("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
  }
}

std::string OpMaker::tryOne(const Geometry &geometry) {
  std::string problem;
  Present inputs = presentOn(false, geometry, problem), outputs = presentOn(true, geometry, problem);
  if (!problem.empty())
    return problem;
  Names inputNames = inOrder(operation.inputs, inputs), outputNames = inOrder(operation.outputs, outputs);
  if (inputNames.size() != inputs.size() || outputNames.size() != outputs.size())
    return "the reference has other operands";
  Block block;
  Location loc = builder.getUnknownLoc();
  OperationState state(loc, name);
  for (const std::string &input : inputNames)
    state.operands.push_back(block.addArgument(inputs[input], loc));
  for (const std::string &output : outputNames)
    state.types.push_back(outputs[output]);
  mlir::Operation *op = mlir::Operation::create(state);
  block.push_back(op);

  std::string message;
  ScopedDiagnosticHandler handler(builder.getContext(), [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  setAttributes(op, geometry, inputs, outputs);
  if (failed(verify(op)))
    return message.empty() ? "does not verify" : message;
  auto signatureOp = cast<SignatureOpInterface>(op);
  ck::Result<Signature> signature = parseSignature(signatureOp.getSignatureText());
  if (!signature)
    return signature.error().message;
  Names named;
  for (auto [operand, value] : llvm::zip(signature->inputs, signatureOp.getSignatureOperands()))
    if (value)
      named.push_back(operand.name);
  if (named != inputNames)
    return "names its operands " + llvm::join(named, ", ") + ", the reference " + llvm::join(inputNames, ", ");
  named.clear();
  for (const SigOperand &operand : signature->outputs)
    named.push_back(operand.name);
  if (named != outputNames)
    return "names its results " + llvm::join(named, ", ") + ", the reference " + llvm::join(outputNames, ", ");

  OpDescription description = describeOp(signatureOp, *signature);
  for (const auto &[attribute, value] : description.defaults)
    if (auto usual = operation.defaults.find(attribute); usual != operation.defaults.end())
      if (!sameParam(usual->second, value))
        return "has another default of " + attribute + " than the reference";
  KernelMap alone = map;
  alone.sameAs.clear(); // A twin promises what its original does.
  alone.implements = {entry};
  ck::Result<Match> match = matchProvider(alone, description);
  return match ? "" : "is not taken by the map: " + match.error().message;
}

std::string OpMaker::tryAll() {
  std::string reason = "no geometry fits";
  for (int index = 0; index < drawer.edgeCases() + 24; ++index)
    for (int attempt = 0; attempt < 40; ++attempt) {
      ck::Result<Geometry> geometry = drawer.draw(index, attempt);
      if (!geometry)
        continue;
      std::string found = tryOne(*geometry);
      if (found.empty())
        return "";
      reason = found + "\n    at " + geometry->str();
      break;
    }
  return reason;
}

/// Names of the chains of ops: what equals a chain is no op, but a contract of ck.fused.
static std::set<std::string> chainNames() {
  std::set<std::string> names;
  for (auto make : {ck::reference::fusedOperations, ck::reference::chainOperations})
    for (const ck::reference::Operation &chain : make())
      names.insert(chain.name);
  return names;
}

static bool isRegistered(MLIRContext &context, const std::string &op) {
  return RegisteredOperationName::lookup("ck." + op, &context).has_value();
}

/// What keeps `entry` of `map` from standing for an op; "" if nothing does.
static std::string reasonAgainst(MLIRContext &context, const KernelMap &map, const Implements &entry) {
  const ck::reference::Operation *operation = ck::reference::findOperation(entry.op);
  if (!operation)
    return "there is no reference of " + entry.op;
  if (chainNames().count(entry.op))
    return isRegistered(context, entry.op) ? "ck." + entry.op + " is an op, but its reference is a chain" : "";
  if (!isRegistered(context, entry.op))
    return "there is no op ck." + entry.op;
  OpMaker maker(context, map, entry, *operation);
  std::string reason = maker.missing();
  return reason.empty() ? maker.tryAll() : reason;
}

namespace {

class ImplementsTest : public testing::Test {
protected:
  ImplementsTest() { context.loadDialect<CKDialect>(); }

  void SetUp() override {
    ck::Result<std::vector<KernelMap>> loaded = loadKernelMaps(CK_KERNEL_MAPS);
    ASSERT_TRUE(loaded) << loaded.error().message;
    maps = *std::move(loaded);
  }
  KernelMap mapOf(const std::string &id) {
    return *llvm::find_if(maps, [&](const KernelMap &map) { return map.id() == id; });
  }

  MLIRContext context;
  std::vector<KernelMap> maps;
};

TEST_F(ImplementsTest, EveryMapStandsForAnOp) {
  ASSERT_GT(maps.size(), 300u);
  for (const KernelMap &map : maps)
    for (const Implements &entry : map.implements)
      EXPECT_EQ(reasonAgainst(context, map, entry), "") << map.id() << ": ck." << entry.op;
}

TEST_F(ImplementsTest, EveryReferenceIsOfAnOpOrOfAChain) {
  std::set<std::string> chains = chainNames();
  for (const ck::reference::Operation &operation : ck::reference::operations())
    EXPECT_NE(isRegistered(context, operation.name), chains.count(operation.name) == 1) << operation.name;
}

TEST_F(ImplementsTest, FaultsAreFound) {
  KernelMap map = mapOf("rmsnorm_forward");
  Implements entry = map.implements[0];
  EXPECT_EQ(reasonAgainst(context, map, entry), "");
  entry.op = "rms_normal";
  EXPECT_EQ(reasonAgainst(context, map, entry), "there is no reference of rms_normal");
  entry = map.implements[0];
  entry.attrs["mean"] = std::string("kept");
  EXPECT_EQ(reasonAgainst(context, map, entry), "has no attribute mean");
  entry = map.implements[0];
  entry.attrs["gain"] = std::string("two");
  EXPECT_NE(reasonAgainst(context, map, entry).find("attribute 'gain' failed to satisfy constraint"),
            std::string::npos);
  map.contract.params.push_back(*parseParamDecl("slope:f64"));
  EXPECT_EQ(reasonAgainst(context, map, map.implements[0]), "has no attribute for the parameter slope");
  map = mapOf("rmsnorm_forward");
  map.contract.signature.inputs[1].dtype = "i32";
  EXPECT_NE(reasonAgainst(context, map, map.implements[0]).find("operand #1 must be"), std::string::npos);
  map = mapOf("add_scaled_f32");
  map.contract.signature.inputs[1].name = "c";
  EXPECT_EQ(reasonAgainst(context, map, map.implements[0]).find("the reference has other operands"), 0u);
}

} // namespace
