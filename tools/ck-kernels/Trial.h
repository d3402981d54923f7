//===- Trial.h - one geometry with numbers, tried on a kernel ---*- C++ -*-===//
//
// A trial holds the numbers of one geometry, what the reference makes of them, and the guarded memory of a call. It
// runs the kernel and says in one sentence what was wrong, if anything.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_TRIAL_H
#define CK_TOOLS_KERNELS_TRIAL_H

#include "Geometry.h"
#include "GuardedBuffer.h"
#include "ck/Runtime/Runtime.h"

#include <memory>

namespace ck::check {

/// A provider as the checker needs it: contract, implementation, and the operation that judges it.
struct Subject {
  const KernelMap &map;
  const Implements &implements;
  const ck_kernel &kernel;
  const reference::Operation &operation;
};

/// What is done with the numbers before the call.
enum class Variant {
  Plain,
  NonFinite, ///< NaN and infinities among the inputs
  InPlace,   ///< inputs and outputs of the declared pairs share storage
  Spoiled,   ///< one value breaks the contract: the call must fail and leave its outputs alone
  Misfit     ///< extents break the contract: likewise
};
std::string_view toString(Variant variant);

class Trial {
public:
  Trial(const Subject &subject, const GeometryDrawer &drawer, const Geometry &geometry);

  /// Fills the inputs and computes what is expected. False if this geometry has no such variant. The Error of an
  /// operation that cannot be had at these extents has the code "REJECTED".
  Result<bool> prepare(Variant variant);

  /// Only what a call needs: inputs and memory, but nothing expected of it. For measuring.
  Status prepareCall();
  /// The seconds that one call takes after prepareCall().
  Result<double> timeCall(ck_context *ctx);
  /// Bytes of all operands; of one that is updated twice, as it is read and written.
  int64_t operandBytes() const;

  /// Calls the kernel under one context; the result is "" or what was wrong. Outputs must equal those of the first call
  /// since startIsa() bit for bit.
  std::string run(ck_context *ctx);
  void startIsa() { firstOutputs.clear(); }

  /// Largest |error| / max |reference| seen so far, over all outputs.
  double maxError() const { return worst; }

private:
  /// One kernel operand; an updated one is input and output.
  struct Operand {
    const SigOperand *spec;
    std::string name, opName;
    const Element *element = nullptr; ///< nullptr: of a block-quantised type
    std::string dtype;                ///< as in memory
    std::string blocks;               ///< its block format, "" if element is there
    Layout layout;                    ///< of a block-quantised type always compact
    bool isInput = false, isOutput = false;
    int home = -1; ///< in-place: the operand whose memory this one uses
    std::unique_ptr<GuardedBuffer> buffer;
    std::vector<uint8_t> image; ///< payload before the call
    std::vector<size_t> gaps;   ///< bytes of the payload that belong to no element
  };

  Status makeOperands(Variant variant);
  Status makeCall(reference::Call &call, reference::Random &random, double magnitude) const;
  Status evaluate();
  bool plantNonFinite(reference::Random &random);
  Status makeMemory();
  Status makeSlots();
  Result<int64_t> evaluateSize(const Expr &expr) const;
  Operand &home(Operand &operand) { return operand.home < 0 ? operand : operands[operand.home]; }
  std::string reserveThreadScratch(ck_context *ctx);
  bool isWritten(const Operand &operand) const;
  std::string checkMemory(ck_context *ctx);
  std::string checkOutputs();
  std::string compare(const Operand &operand, const reference::Tensor &expected);
  std::string compareBits(const Operand &operand, const reference::Tensor &exact);
  double elementAt(const Operand &operand, int64_t i) const;
  double scaleOf(const Operand &operand, const reference::Tensor &expected, double error);

  const Subject &subject;
  const GeometryDrawer &drawer;
  const Geometry &geometry;
  std::vector<Operand> operands;
  reference::Call call;                             ///< inputs and expected outputs, by the operation's names
  std::optional<reference::Call> exact;             ///< of a contract to the last bit
  std::map<std::string, reference::Tensor> initial; ///< of outputs that are added to, by kernel operand
  std::vector<std::unique_ptr<GuardedBuffer>> scratch;
  std::vector<uint64_t> slots;
  std::map<std::string, double> scales; ///< widened, by kernel operand
  double magnitude = 1;                 ///< of the random inputs
  std::vector<std::vector<uint8_t>> firstOutputs;
  size_t threadScratch = 0;
  bool mustFail = false;
  bool notFinite = false; ///< the variant
  double worst = 0;
};

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_TRIAL_H
