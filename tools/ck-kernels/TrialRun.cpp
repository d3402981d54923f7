//===- TrialRun.cpp - the call of a trial, and what is checked after it ---===//

#include "Trial.h"

#include "Blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck::check {

using reference::Call;
using reference::Random;
using reference::Tensor;

// Fewer elements than this are no fair sample of how large the results of an operation are.
static constexpr int64_t fairSample = 32;
static constexpr size_t threadGuard = 1024;

std::string Trial::reserveThreadScratch(ck_context *ctx) {
  int64_t needed = subject.kernel.thread_scratch ? subject.kernel.thread_scratch(slots.data()) : 0;
  if (needed < 0)
    return "declares " + std::to_string(needed) + " bytes of thread scratch";
  threadScratch = static_cast<size_t>(needed);
  if (threadScratch == 0)
    return "";
  if (ck_context_reserve_thread_scratch(ctx, threadScratch + threadGuard) != CK_OK)
    return std::string("no thread scratch: ") + ck_context_error(ctx);
  for (int thread = 0; thread < ck_context_threads(ctx); ++thread)
    fillPattern(static_cast<uint8_t *>(ck_thread_scratch(ctx, thread)), threadScratch + threadGuard);
  return "";
}

bool Trial::isWritten(const Operand &operand) const {
  bool written = operand.isOutput;
  for (const Operand &guest : operands)
    written |= guest.home >= 0 && &operands[guest.home] == &operand;
  return written;
}

/// Guards, inputs, gaps between the rows of outputs; all of the outputs when the call had to fail.
std::string Trial::checkMemory(ck_context *ctx) {
  for (Operand &operand : operands) {
    if (operand.home >= 0)
      continue;
    if (std::string damage = operand.buffer->damage(); !damage.empty())
      return operand.name + ": " + damage;
    const uint8_t *payload = operand.buffer->data(), *image = operand.image.data();
    bool written = isWritten(operand);
    if (!written || mustFail) {
      size_t i = static_cast<size_t>(std::mismatch(image, image + operand.image.size(), payload).first - image);
      if (i != operand.image.size())
        return operand.name + ": byte " + std::to_string(i) +
               (written ? " was written although the call failed" : " of this input was written");
    }
    for (size_t i : operand.gaps)
      if (payload[i] != image[i])
        return operand.name + ": byte " + std::to_string(i) + ", between its rows, was written";
  }
  for (const std::unique_ptr<GuardedBuffer> &buffer : scratch)
    if (std::string damage = buffer->damage(); !damage.empty())
      return "scratch: " + damage;
  for (int thread = 0; threadScratch && thread < ck_context_threads(ctx); ++thread) {
    const uint8_t *guard = static_cast<const uint8_t *>(ck_thread_scratch(ctx, thread)) + threadScratch;
    // The pattern has a period of 4 bytes and started at the scratch.
    for (size_t i = (4 - threadScratch % 4) % 4; i + 4 <= threadGuard; i += 4)
      if (findChange(guard + i, 4) != 4)
        return "thread scratch: byte " + std::to_string(i) + " behind it was written";
  }
  return "";
}

double Trial::scaleOf(const Operand &operand, const Tensor &expected, double error) {
  double scale = 0;
  int64_t seen = 0;
  auto widen = [&](const Tensor &tensor) {
    for (double value : tensor.data)
      if (std::isfinite(value)) {
        scale = std::max(scale, std::fabs(value));
        ++seen;
      }
    scale = std::max(scale, tensor.terms);
  };
  widen(expected);
  if ((seen >= fairSample && scale > 0) || error <= subject.map.tolerance * scale)
    return scale;
  // A lone result may happen to be near zero, or all be zero: look at more results of the same geometry.
  auto known = scales.find(operand.name);
  if (known == scales.end()) {
    for (uint64_t draw = 1; (seen < fairSample || scale == 0) && draw <= fairSample; ++draw) {
      Random random(geometry.seed + draw);
      Call other;
      if (makeCall(other, random, magnitude) && reference::evaluate(subject.operation, other))
        widen(other.outputs[operand.opName]);
    }
    known = scales.emplace(operand.name, scale).first;
  }
  return std::max(scale, known->second);
}

static std::string show(double value) {
  if (std::isnan(value))
    return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

static std::string indexText(int64_t i, const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(i % shape[axis]) + (text.empty() ? "" : ",") + text;
    i /= shape[axis];
  }
  return "[" + text + "]";
}

double Trial::elementAt(const Operand &operand, int64_t i) const {
  const uint8_t *payload = (operand.home < 0 ? operand : operands[operand.home]).buffer->data();
  if (operand.element)
    return load(*operand.element, payload + operand.layout.position(i) * operand.element->bytes);
  const reference::BlockSize size = reference::blockSize(operand.blocks);
  return reference::readBlock(operand.blocks, payload + i / size.elements * size.bytes)
      .value(static_cast<int>(i % size.elements));
}

/// The bytes of an output against those of its contract; any NaN equals any other.
std::string Trial::compareBits(const Operand &operand, const Tensor &exact) {
  const uint8_t *payload = home(const_cast<Operand &>(operand)).buffer->data();
  for (int64_t i = 0; operand.element && i < exact.elements(); ++i) {
    const uint8_t *got = payload + operand.layout.position(i) * operand.element->bytes;
    uint8_t want[8];
    store(*operand.element, exact.data[i], want);
    if (std::memcmp(got, want, operand.element->bytes) == 0 ||
        (std::isnan(exact.data[i]) && std::isnan(load(*operand.element, got))))
      continue;
    return operand.name + indexText(i, exact.shape) + " is " + show(load(*operand.element, got)) + ", exactly " +
           show(exact.data[i]) + " by the contract " + subject.map.bits;
  }
  if (operand.element)
    return "";
  const size_t bytes = exact.bytes.size();
  const size_t at =
      static_cast<size_t>(std::mismatch(exact.bytes.begin(), exact.bytes.end(), payload).first - exact.bytes.begin());
  if (at == bytes)
    return "";
  const auto size = static_cast<size_t>(reference::blockSize(operand.blocks).bytes);
  return operand.name + ": byte " + std::to_string(at % size) + " of block " + std::to_string(at / size) + " is " +
         std::to_string(payload[at]) + ", " + std::to_string(exact.bytes[at]) + " by the contract " + subject.map.bits;
}

std::string Trial::compare(const Operand &operand, const Tensor &expected) {
  if (operand.blocks != operand.dtype && !operand.blocks.empty()) {
    const std::vector<uint8_t> packed =
        reference::packRows(operand.blocks, expected.extent(0), expected.shape.back(), expected.bytes);
    const uint8_t *payload = home(const_cast<Operand &>(operand)).buffer->data();
    const auto at = std::mismatch(packed.begin(), packed.end(), payload).first - packed.begin();
    return at == static_cast<std::ptrdiff_t>(packed.size())
               ? ""
               : operand.name + ": byte " + std::to_string(at) + " of " + std::to_string(packed.size()) + " is " +
                     std::to_string(payload[at]) + ", expected " + std::to_string(packed[at]);
  }
  double error = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double want = expected.data[i];
    // Codes cannot say what is not finite: no rule for such a block, but for the memory around it.
    if (!operand.element && notFinite)
      continue;
    double got = elementAt(operand, i);
    auto wrong = [&](const std::string &what) {
      return operand.name + indexText(i, expected.shape) + " is " + show(got) + ", expected " + show(want) + what;
    };
    if (operand.element && !operand.element->isFloat) {
      if (got != want)
        return wrong("");
      continue;
    }
    // Without a tolerance and an exact reference, results are copies: the sign of a zero counts, and which NaN it is.
    if (operand.element && subject.map.tolerance == 0 && !exact && !(geometry.hasZero && std::isnan(want))) {
      const double copied = rounded(*operand.element, want);
      if (std::memcmp(&got, &copied, sizeof got) != 0)
        return wrong(", bit by bit");
      continue;
    }
    // Rounded to codes, an infinity may be NaN on the way; it must not become finite.
    const bool anyKind = notFinite && subject.map.numerics == NumericsClass::Q8Activations;
    if (anyKind && !std::isfinite(want) && !std::isfinite(got))
      continue;
    // Where a formula ends in 0 times infinity or 1 minus 1, an exact reference says what comes out.
    if (exact && notFinite && (!std::isfinite(want) || !std::isfinite(got)))
      continue;
    if (std::isnan(want)) {
      // At an extent of zero a mean or a maximum over nothing has no value.
      if (!std::isnan(got) && !geometry.hasZero)
        return wrong("");
    } else if (std::isinf(want) || !std::isfinite(got)) {
      if (got != want)
        return wrong("");
    } else if (std::fabs(got - want) > error) {
      error = std::fabs(got - want);
      at = i;
    }
  }
  if (at < 0)
    return "";
  double scale = scaleOf(operand, expected, error);
  worst = std::max(worst, error / scale);
  if (error <= subject.map.tolerance * scale)
    return "";
  double got = elementAt(operand, at);
  return operand.name + indexText(at, expected.shape) + " is " + show(got) + ", expected " + show(expected.data[at]) +
         ": an error of " + show(error / scale) + " of the largest result, allowed " + show(subject.map.tolerance);
}

std::string Trial::checkOutputs() {
  bool first = firstOutputs.empty();
  size_t next = 0;
  for (Operand &operand : operands) {
    if (!operand.isOutput)
      continue;
    GuardedBuffer &buffer = *home(operand).buffer;
    if (!first) {
      const std::vector<uint8_t> &before = firstOutputs[next++];
      auto changed = std::mismatch(before.begin(), before.end(), buffer.data()).first;
      if (changed != before.end())
        return operand.name + ": byte " + std::to_string(changed - before.begin()) +
               " depends on the number of threads";
      continue;
    }
    firstOutputs.emplace_back(buffer.data(), buffer.data() + buffer.size());
    if (std::string wrong = compare(operand, call.outputs.at(operand.opName)); !wrong.empty())
      return wrong;
    if (exact && !(notFinite && !operand.element))
      if (std::string wrong = compareBits(operand, exact->outputs.at(operand.opName)); !wrong.empty())
        return wrong;
  }
  return "";
}

std::string Trial::run(ck_context *ctx) {
  for (Operand &operand : operands)
    if (operand.home < 0) {
      operand.buffer->arm();
      std::copy(operand.image.begin(), operand.image.end(), operand.buffer->data());
    }
  for (const std::unique_ptr<GuardedBuffer> &buffer : scratch) {
    buffer->arm();
    fillPattern(buffer->data(), buffer->size());
  }
  if (std::string wrong = reserveThreadScratch(ctx); !wrong.empty())
    return wrong;

  std::vector<uint64_t> args = slots;
  int32_t code = subject.kernel.call(ctx, args.data());
  if (args != slots)
    return "the arguments were written";
  if (!mustFail && code != CK_OK)
    return "failed with status " + std::to_string(code) + ": " + ck_context_error(ctx);
  if (mustFail && code != CK_INVALID_ARGUMENT)
    return "gave status " + std::to_string(code) + ", expected " + std::to_string(CK_INVALID_ARGUMENT) +
           " (invalid argument)";
  if (mustFail && !*ck_context_error(ctx))
    return "failed without a message";
  if (std::string wrong = checkMemory(ctx); !wrong.empty())
    return wrong;
  return mustFail ? "" : checkOutputs();
}

} // namespace ck::check
