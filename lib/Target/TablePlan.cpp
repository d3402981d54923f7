//===- TablePlan.cpp - a program in the .ckplan format --------------------===//
//
// The writer of the format that docs/ckplan.md states and the table executor reads.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Plan.h"
#include "ck/Runtime/Runtime.h"
#include "ck/Target/Program.h"

#include "llvm/Support/ErrorHandling.h"
#include <nlohmann/json.hpp>

using namespace ck;
using Json = nlohmann::ordered_json;

static Json sizeJson(const Expr &size) {
  switch (size.kind()) {
  case Expr::Kind::Integer:
    return size.value();
  case Expr::Kind::Dim:
    return size.name();
  default:
    break;
  }
  auto name = [&]() -> const char * {
    switch (size.kind()) {
    case Expr::Kind::Add:
      return "+";
    case Expr::Kind::Sub:
      return "-";
    case Expr::Kind::Mul:
      return "*";
    case Expr::Kind::Div:
      return "/";
    case Expr::Kind::Mod:
      return "%";
    case Expr::Kind::CeilDiv:
      return "ceildiv";
    case Expr::Kind::Min:
      return "min";
    case Expr::Kind::Max:
      return "max";
    default:
      llvm_unreachable("the program reader makes no other operator");
    }
  };
  return Json::array({name(), sizeJson(size.args()[0]), sizeJson(size.args()[1])});
}

static Json slotJson(const ProgramSlot &slot) {
  auto arena = [&](const char *key) { return Json{{key, slot.index}, {"bytes", slot.bytes}}; };
  switch (slot.kind) {
  case ProgramSlot::Kind::Null:
    return nullptr;
  case ProgramSlot::Kind::Weight:
    return {{"w", slot.index}};
  case ProgramSlot::Kind::Const:
    return arena("c");
  case ProgramSlot::Kind::State:
    return arena("s");
  case ProgramSlot::Kind::Arena:
    return arena("a");
  case ProgramSlot::Kind::Input:
    return {{"i", slot.index}};
  case ProgramSlot::Kind::Output:
    return {{"o", slot.index}};
  case ProgramSlot::Kind::Real:
    return {{"f", slot.real}};
  case ProgramSlot::Kind::Size:
    if (slot.size.kind() == Expr::Kind::Integer)
      return slot.size.value();
    return {{"n", sizeJson(slot.size)}};
  }
  llvm_unreachable("every slot kind is handled");
}

static Json valuesJson(llvm::ArrayRef<ProgramValue> values, const ProgramEntry &entry) {
  Json list = Json::array();
  for (const ProgramValue &value : values) {
    Json dims = Json::array();
    for (int64_t dim : value.dims)
      dims.push_back(dim >= 0 ? Json(dim) : Json(entry.dims[-1 - dim].first));
    list.push_back({{"name", value.name}, {"dtype", value.dtype}, {"dims", dims}});
  }
  return list;
}

static Json entryJson(const ProgramEntry &entry, bool withNames) {
  Json dims = Json::array(), steps = Json::array();
  for (const auto &[name, bound] : entry.dims)
    dims.push_back({{"name", name}, {"bound", bound}});
  for (const ProgramStep &step : entry.steps) {
    Json json = Json::object();
    if (step.kernel < 0) {
      json["check"] = sizeJson(step.slots.front().size);
      json["bound"] = step.bound;
    } else {
      json["kernel"] = step.kernel;
    }
    if (withNames && !step.name.empty())
      json["name"] = step.name;
    if (step.kernel >= 0) {
      Json slots = Json::array();
      for (const ProgramSlot &slot : step.slots)
        slots.push_back(slotJson(slot));
      json["slots"] = std::move(slots);
    }
    steps.push_back(std::move(json));
  }
  return {{"name", entry.name},
          {"arena_bytes", entry.arenaBytes},
          {"thread_scratch_bytes", entry.threadScratchBytes},
          {"dims", dims},
          {"inputs", valuesJson(entry.inputs, entry)},
          {"outputs", valuesJson(entry.outputs, entry)},
          {"steps", steps}};
}

std::string ck::printTable(const Program &program, bool withNames) {
  Json buffers = Json::array(), kernels = Json::array(), entries = Json::array();
  for (const ProgramBuffer &buffer : program.buffers) {
    Json json = {{"name", buffer.name},
                 {"role", buffer.role},
                 {"dtype", buffer.dtype},
                 {"dims", std::vector<int64_t>(buffer.dims.begin(), buffer.dims.end())},
                 {"bytes", buffer.bytes}};
    if (buffer.role != "weight")
      json["offset"] = buffer.offset;
    if (!buffer.file.empty()) {
      json["file"] = buffer.file;
      json["tensor"] = buffer.tensor;
    }
    buffers.push_back(std::move(json));
  }
  std::vector<int64_t> slots(program.kernels.size(), 0);
  for (const ProgramEntry &entry : program.entries)
    for (const ProgramStep &step : entry.steps)
      if (step.kernel >= 0)
        slots[step.kernel] = step.slots.size();
  for (size_t i = 0; i < program.kernels.size(); ++i)
    kernels.push_back({{"id", program.kernels[i].first}, {"digest", program.kernels[i].second}, {"slots", slots[i]}});
  for (const ProgramEntry &entry : program.entries)
    entries.push_back(entryJson(entry, withNames));
  Json table = {{"format", kPlanFormat},
                {"version", kPlanVersion},
                {"abi", CK_ABI_VERSION},
                {"name", program.name},
                {"digest", program.digest},
                {"const_bytes", program.constBytes},
                {"state_bytes", program.stateBytes},
                {"buffers", buffers},
                {"kernels", kernels},
                {"entries", entries}};
  // Names from files may hold bytes that are not UTF-8; a table is always valid JSON.
  return table.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
