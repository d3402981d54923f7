//===- Measure.cpp - how long kernels take --------------------------------===//

#include "Measure.h"
#include "Trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <unistd.h>

namespace ck::check {

Result<double> Trial::timeCall(ck_context *ctx) {
  // Sums would grow without bound.
  for (Operand &operand : operands)
    if (operand.isOutput && (operand.isInput || operand.spec->accumulates))
      std::copy(operand.image.begin(), operand.image.end(), operand.buffer->data());
  const int64_t needed = subject.kernel.thread_scratch ? subject.kernel.thread_scratch(slots.data()) : 0;
  if (needed > 0 && ck_context_reserve_thread_scratch(ctx, static_cast<size_t>(needed)) != CK_OK)
    return Error{std::string("no thread scratch: ") + ck_context_error(ctx)};
  const auto start = std::chrono::steady_clock::now();
  const int32_t code = subject.kernel.call(ctx, slots.data());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (code != CK_OK)
    return Error{"failed with status " + std::to_string(code) + ": " + ck_context_error(ctx)};
  return seconds;
}

int64_t Trial::operandBytes() const {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    bytes += static_cast<int64_t>(operand.image.size()) *
             (operand.isOutput && (operand.isInput || operand.spec->accumulates) ? 2 : 1);
  return bytes;
}

/// Additions and multiplications of what is a matrix product at heart; 0 elsewhere, where bytes tell more.
static double operationsOf(const std::string &op, const GeometryDrawer &names, const Geometry &geometry) {
  auto elements = [&](const char *name) -> double {
    for (const auto &[operand, layout] : geometry.layouts)
      if (geometry.present.count(operand) && names.opName(operand) == name)
        return static_cast<double>(layout.elements());
    return 0;
  };
  // x[T,K] w[N,K] y[T,N], in whatever layout: T K * N K * T N is the square of T N K.
  auto product = [&](const char *x, const char *w, const char *y) {
    return 2 * std::sqrt(elements(x) * elements(w) * elements(y));
  };
  if (op == "linear" || op == "out_linear")
    return product("input", "weight", "output");
  if (op == "head_linear")
    return product("input", "weight", "logits");
  if (op == "qkv_linear")
    return product("input", "wq", "q") + product("input", "wk", "k") + product("input", "wv", "v");
  if (op == "linear_grad" || op == "out_linear_grad" || op == "head_linear_grad") {
    const char *cotangent = op == "head_linear_grad" ? "d_logits" : "d_output";
    const double once = product("input", "weight", cotangent);
    return once * ((elements("d_input") > 0) + (elements("d_weight") > 0));
  }
  if (op == "attention") {
    auto extent = [&](const char *dim) -> double {
      auto known = geometry.dims.find(dim);
      return known == geometry.dims.end() ? 0 : static_cast<double>(known->second);
    };
    auto mask = geometry.attrs.find("mask");
    const bool half = mask != geometry.attrs.end() && mask->second == Param(std::string("causal")) && !extent("S");
    return 4 * elements("q") * (extent("S") ? extent("S") : extent("T")) * (half ? 0.5 : 1);
  }
  return 0;
}

/// An Error where operands, their image and the numbers that they are made of would need more than half the memory.
static Status checkMemory(const Geometry &geometry) {
  constexpr double kBytesPerElement = 16; // 8 as made, and twice as stored
  double elements = 0;
  for (const auto &[operand, layout] : geometry.layouts)
    if (geometry.present.count(operand))
      elements += std::accumulate(layout.shape.begin(), layout.shape.end(), 1.0, std::multiplies<double>());
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (elements * kBytesPerElement <= memory / 2)
    return Status::success();
  std::ostringstream text;
  text << "operands of " << elements << " elements; expected at most " << memory / 2 / kBytesPerElement
       << ", which half of this machine's memory holds";
  return Error{text.str()};
}

Result<Measurement> measure(const KernelMap &map, const ck_kernel &kernel, const std::map<std::string, int64_t> &sizes,
                            ck_context *ctx, double budget) {
  if (map.implements.empty())
    return Error{map.id() + ": implements no operation"};
  const Implements &implements = map.implements.front();
  const reference::Operation *operation = reference::findOperation(implements.op);
  if (!operation)
    return Error{map.id() + ": there is no reference of " + implements.op + ", whose generator makes operands"};
  GeometryDrawer drawer(map, implements, *operation, 1);
  Result<Geometry> geometry = drawer.at(sizes);
  if (!geometry)
    return geometry.error();
  if (Status status = checkMemory(*geometry); !status)
    return Error{map.id() + ": " + geometry->str() + ": " + status.error().message};
  Subject subject{map, implements, kernel, *operation};
  Trial trial(subject, drawer, *geometry);
  if (Status status = trial.prepareCall(); !status)
    return Error{map.id() + ": " + geometry->str() + ": " + status.error().message};
  std::vector<double> seconds;
  double spent = 0;
  for (int call = 0; call < 4 || spent < budget; ++call) {
    Result<double> one = trial.timeCall(ctx);
    if (!one)
      return Error{map.id() + ": " + geometry->str() + ": " + one.error().message};
    spent += *one;
    if (call > 0)
      seconds.push_back(*one);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  Measurement result;
  result.geometry = geometry->str();
  result.geometry.resize(result.geometry.rfind(", magnitude"));
  result.dims = geometry->dims;
  result.seconds = seconds[seconds.size() / 2];
  result.calls = static_cast<int>(seconds.size());
  result.operations = operationsOf(implements.op, drawer, *geometry);
  result.bytes = trial.operandBytes();
  return result;
}

Result<std::vector<std::map<std::string, int64_t>>> parseSizes(const std::vector<std::string> &texts) {
  std::vector<std::map<std::string, int64_t>> all(1);
  for (const std::string &text : texts) {
    const size_t equals = text.find('=');
    const Error wrong{"--sizes takes NAME=N or NAME=N:N:N, separated by commas, not '" + text + "'"};
    if (equals == 0 || equals == std::string::npos)
      return wrong;
    const std::string name = text.substr(0, equals);
    if (all.front().count(name))
      return Error{"--sizes names " + name + " twice"};
    std::vector<int64_t> values;
    for (size_t at = equals; at < text.size();) {
      const size_t end = std::min(text.find(':', at + 1), text.size());
      const std::string digits = text.substr(at + 1, end - at - 1);
      if (digits.empty() || digits.size() > 12 || digits.find_first_not_of("0123456789") != std::string::npos)
        return wrong;
      values.push_back(std::stoll(digits));
      at = end;
    }
    std::vector<std::map<std::string, int64_t>> next;
    for (const auto &sizes : all)
      for (int64_t value : values) {
        next.push_back(sizes);
        next.back()[name] = value;
      }
    all = std::move(next);
  }
  return all;
}

std::string machineName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (size_t colon = line.find(": "); line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown";
}

} // namespace ck::check
