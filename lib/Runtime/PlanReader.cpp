//===- PlanReader.cpp - loads a .ckplan -----------------------------------===//
//
// Turns JSON into a PlanTable and checks all that can be checked before a step runs: types, ranges, that offsets lie in
// their arenas, that kernels exist, have not changed, and get slots of the kinds that they take. Whatever the file
// holds, the outcome is a table that is safe to walk or one error with path and JSON pointer.
//
//===----------------------------------------------------------------------===//
#include "Context.h"
#include "JsonCursor.h"
#include "PlanTable.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>
#include <unordered_set>

using namespace ck;
using nlohmann::json;

namespace {

class PlanReader {
public:
  PlanReader(const json &document, std::string &error) : root(document, error) {}

  /// Null with the error and `code` set on failure.
  std::unique_ptr<PlanTable> read();
  int32_t code = CK_INVALID_ARGUMENT;

private:
  bool readHeader();
  bool readBuffers(const JsonCursor &list);
  bool readBuffer(const JsonCursor &item);
  bool readKernels(const JsonCursor &list);
  bool readEntries(const JsonCursor &list);
  bool readEntry(const JsonCursor &item, ck_entry &entry);
  bool readDims(const JsonCursor &list, ck_entry &entry);
  const ck_value_info *readValues(const JsonCursor &list, const ck_entry &entry, int32_t &count);
  bool readCheck(const JsonCursor &item, const ck_entry &entry, PlanEntry &program);
  bool readStep(const JsonCursor &item, const ck_entry &entry, PlanEntry &program);
  bool readSlot(const JsonCursor &item, const ck_entry &entry, PlanEntry &program, char kind, PlanSlot &slot);
  bool readReference(const JsonCursor &item, const ck_entry &entry, PlanSlot &slot);
  bool readOffset(const JsonCursor &item, const char *key, int64_t arenaBytes, PlanSlot &slot);
  bool readSize(const JsonCursor &item, const ck_entry &entry, int depth, SizeExpr &expr);
  bool checkKind(const JsonCursor &item, const ck_entry &entry, char kind, const PlanSlot &slot);

  JsonCursor root;
  std::unique_ptr<PlanTable> table;
  std::vector<const ck_kernel *> kernels;
  std::unordered_set<std::string> bufferNames;
  int32_t weights = 0;
};

} // namespace

std::unique_ptr<PlanTable> PlanReader::read() {
  table = std::make_unique<PlanTable>();
  if (readHeader() && readBuffers(root["buffers"]) && readKernels(root["kernels"]) && readEntries(root["entries"]))
    return std::move(table);
  return nullptr;
}

bool PlanReader::readHeader() {
  // Format and version first: the members of another version are none of our business.
  if (!root.has("format") || !root["format"].isString() || root["format"].text() != kPlanFormat)
    return root.fail("not a .ckplan: \"format\": \"" + std::string(kPlanFormat) + "\" is missing");
  if (!root.has("version"))
    return root.fail("'version' is missing");
  int64_t version = root["version"].integer(INT64_MIN, INT64_MAX);
  if (root.ok() && version != kPlanVersion) {
    code = CK_MISMATCH;
    return root["version"].fail("version " + std::to_string(version) + " of the format, this runtime reads version " +
                                std::to_string(kPlanVersion));
  }
  if (!root.isObject({"format", "version", "abi", "name", "digest", "const_bytes", "state_bytes", "buffers", "kernels",
                      "entries"}))
    return false;
  table->abi_version = int32_t(root["abi"].integer(0, INT32_MAX));
  if (root.ok() && table->abi_version != CK_ABI_VERSION) {
    code = CK_MISMATCH;
    return root["abi"].fail("compiled for runtime ABI " + std::to_string(table->abi_version) + ", this runtime has " +
                            std::to_string(CK_ABI_VERSION));
  }
  table->name = table->keep(root["name"].text());
  table->digest = table->keep(root["digest"].text());
  table->const_bytes = root["const_bytes"].integer(0, INT64_MAX);
  table->state_bytes = root["state_bytes"].integer(0, INT64_MAX);
  return root.ok();
}

bool PlanReader::readBuffers(const JsonCursor &list) {
  for (size_t i = 0, n = list.size(); i < n; ++i)
    if (!readBuffer(list.at(i)))
      return false;
  table->buffers = int32_t(table->bufferTable.size());
  table->buffer = table->bufferTable.data();
  return root.ok();
}

bool PlanReader::readBuffer(const JsonCursor &item) {
  if (!item.isObject({"name", "role", "dtype", "dims", "bytes"}, {"offset", "file", "tensor"}))
    return false;
  std::string role = item["role"].text();
  if (item.ok() && role != "weight" && role != "state" && role != "const")
    return item["role"].fail("found \"" + role + "\", expected weight, state or const");
  ck_buffer_info info = {};
  std::string name = item["name"].text();
  if (!bufferNames.insert(name).second && item.ok())
    return item["name"].fail("a second buffer named '" + name + "'");
  info.name = table->keep(name);
  info.dtype = table->keep(item["dtype"].text());
  std::vector<int64_t> &dims = table->numbers.emplace_back();
  for (size_t i = 0, n = item["dims"].size(); i < n; ++i)
    dims.push_back(item["dims"].at(i).integer(0, INT64_MAX));
  info.rank = int32_t(dims.size());
  info.dims = dims.data();
  info.bytes = item["bytes"].integer(0, INT64_MAX);
  info.offset = -1;
  if (role == "weight") {
    if (item.has("offset"))
      return item["offset"].fail("a weight has no offset");
    info.role = CK_WEIGHT;
    ++weights;
    if (item.has("file"))
      info.file = table->keep(item["file"].text());
    if (item.has("tensor"))
      info.tensor = table->keep(item["tensor"].text());
  } else {
    info.role = role == "state" ? CK_STATE : CK_CONST;
    int64_t arena = info.role == CK_STATE ? table->state_bytes : table->const_bytes;
    if (info.bytes > arena)
      return item["bytes"].fail(std::to_string(info.bytes) + " bytes, but the " + role + " arena has " +
                                std::to_string(arena));
    if (!item.has("offset"))
      return item.fail("'offset' is missing");
    info.offset = item["offset"].integer(0, arena - info.bytes);
    for (const char *key : {"file", "tensor"})
      if (item.has(key))
        return item[key].fail("only weights come from a file");
  }
  table->bufferTable.push_back(info);
  return item.ok();
}

bool PlanReader::readKernels(const JsonCursor &list) {
  std::vector<const char *> &ids = table->names.emplace_back(), &digests = table->names.emplace_back();
  for (size_t i = 0, n = list.size(); i < n; ++i) {
    JsonCursor item = list.at(i);
    if (!item.isObject({"id", "digest", "slots"}))
      return false;
    ids.push_back(table->keep(item["id"].text()));
    digests.push_back(table->keep(item["digest"].text()));
    int64_t slots = item["slots"].integer(0, kMaxPlanSlots);
    if (!item.ok())
      return false;
    const ck_kernel *kernel = ck_find_kernel(ids.back());
    code = CK_MISMATCH;
    if (!kernel)
      return item["id"].fail("this runtime has no kernel '" + std::string(ids.back()) + "'");
    if (std::strcmp(kernel->digest, digests.back()))
      return item["digest"].fail("kernel '" + std::string(kernel->id) + "' is " + kernel->digest +
                                 " in this runtime, but the plan was made for " + digests.back() +
                                 "; compile the model again");
    if (kernel->slots != slots)
      return item["slots"].fail("kernel '" + std::string(kernel->id) + "' takes " + std::to_string(kernel->slots) +
                                " slots, the plan says " + std::to_string(slots));
    code = CK_INVALID_ARGUMENT;
    kernels.push_back(kernel);
  }
  table->kernels = int32_t(ids.size());
  table->kernel_id = ids.data();
  table->kernel_digest = digests.data();
  return root.ok();
}

bool PlanReader::readEntries(const JsonCursor &list) {
  for (size_t i = 0, n = list.size(); i < n; ++i) {
    ck_entry entry = {};
    if (!readEntry(list.at(i), entry))
      return false;
    for (const ck_entry &other : table->entryTable)
      if (!std::strcmp(other.name, entry.name))
        return list.at(i)["name"].fail("a second entry named '" + std::string(entry.name) + "'");
    table->entryTable.push_back(entry);
  }
  table->entries = int32_t(table->entryTable.size());
  table->entry = table->entryTable.data();
  return root.ok();
}

bool PlanReader::readEntry(const JsonCursor &item, ck_entry &entry) {
  if (!item.isObject({"name", "arena_bytes", "thread_scratch_bytes", "dims", "inputs", "outputs", "steps"}))
    return false;
  entry.name = table->keep(item["name"].text());
  entry.arena_bytes = item["arena_bytes"].integer(0, INT64_MAX);
  entry.thread_scratch_bytes = item["thread_scratch_bytes"].integer(0, INT64_MAX);
  if (!readDims(item["dims"], entry))
    return false;
  entry.input = readValues(item["inputs"], entry, entry.inputs);
  entry.output = readValues(item["outputs"], entry, entry.outputs);
  PlanEntry &program = table->programs.emplace_back();
  JsonCursor steps = item["steps"];
  size_t count = steps.size();
  if (!item.ok())
    return false;
  program.steps.reserve(count);
  for (size_t i = 0; i < count; ++i)
    if (!readStep(steps.at(i), entry, program))
      return false;
  entry.run = runPlanEntry;
  entry.impl = &program;
  return true;
}

/// A dim's name in sizes must not look like an operator.
static bool isDimName(const std::string &name) {
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_'))
    return false;
  for (unsigned char c : name)
    if (!std::isalnum(c) && c != '_')
      return false;
  return true;
}

bool PlanReader::readDims(const JsonCursor &list, ck_entry &entry) {
  std::vector<const char *> &names = table->names.emplace_back();
  std::vector<int64_t> &bounds = table->numbers.emplace_back();
  for (size_t i = 0, n = list.size(); i < n; ++i) {
    if (!list.at(i).isObject({"name", "bound"}))
      return false;
    std::string name = list.at(i)["name"].text();
    if (list.ok() && !isDimName(name))
      return list.at(i)["name"].fail("'" + name + "' is no dim name, expected letters, digits and _");
    for (const char *other : names)
      if (name == other)
        return list.at(i)["name"].fail("a second dim named '" + name + "'");
    names.push_back(table->keep(name));
    bounds.push_back(list.at(i)["bound"].integer(1, INT64_MAX));
  }
  entry.dims = int32_t(names.size());
  entry.dim_name = names.data();
  entry.dim_bound = bounds.data();
  return list.ok();
}

/// Index of the dim that `item` names; -1 and an error if there is none.
static int findDim(const JsonCursor &item, const ck_entry &entry) {
  std::string name = item.text();
  for (int i = 0; i < entry.dims; ++i)
    if (name == entry.dim_name[i])
      return i;
  item.fail("entry '" + std::string(entry.name) + "' has no dim '" + name + "'");
  return -1;
}

const ck_value_info *PlanReader::readValues(const JsonCursor &list, const ck_entry &entry, int32_t &count) {
  std::vector<ck_value_info> &values = table->values.emplace_back();
  for (size_t i = 0, n = list.size(); i < n && list.ok(); ++i) {
    JsonCursor item = list.at(i);
    if (!item.isObject({"name", "dtype", "dims"}))
      break;
    ck_value_info info = {};
    info.name = table->keep(item["name"].text());
    info.dtype = table->keep(item["dtype"].text());
    std::vector<int64_t> &dims = table->numbers.emplace_back();
    JsonCursor extents = item["dims"];
    for (size_t axis = 0, rank = extents.size(); axis < rank && list.ok(); ++axis)
      dims.push_back(extents.at(axis).isString() ? -1 - findDim(extents.at(axis), entry)
                                                 : extents.at(axis).integer(0, INT64_MAX));
    info.rank = int32_t(dims.size());
    info.dims = dims.data();
    values.push_back(info);
  }
  count = int32_t(values.size());
  return values.data();
}

bool PlanReader::readCheck(const JsonCursor &item, const ck_entry &entry, PlanEntry &program) {
  if (!item.isObject({"check", "bound"}, {"name"}))
    return false;
  PlanStep &step = program.steps.emplace_back();
  step.bound = item["bound"].integer(0, INT64_MAX);
  if (item.has("name"))
    step.name = table->keep(item["name"].text());
  step.slots.push_back({PlanSlot::Kind::Size, program.sizes.size()});
  return readSize(item["check"], entry, 0, program.sizes.emplace_back()) && item.ok();
}

bool PlanReader::readStep(const JsonCursor &item, const ck_entry &entry, PlanEntry &program) {
  if (item.has("check"))
    return readCheck(item, entry, program);
  if (!item.isObject({"kernel", "slots"}, {"name"}))
    return false;
  PlanStep &step = program.steps.emplace_back();
  int64_t kernel = item["kernel"].integer(0, int64_t(kernels.size()) - 1);
  if (item.has("name"))
    step.name = table->keep(item["name"].text());
  JsonCursor slots = item["slots"];
  size_t count = slots.size();
  if (!item.ok())
    return false;
  step.kernel = kernels[kernel];
  if (count != size_t(step.kernel->slots))
    return slots.fail(std::to_string(count) + " slots, but kernel '" + step.kernel->id + "' takes " +
                      std::to_string(step.kernel->slots));
  const char *kinds = step.kernel->slot_kinds;
  step.slots.resize(count);
  for (size_t i = 0; i < count; ++i)
    if (!readSlot(slots.at(i), entry, program, kinds ? kinds[i] : 0, step.slots[i]))
      return false;
  return true;
}

template <typename T> static uint64_t bitsOf(T value) {
  static_assert(sizeof(T) == 8);
  uint64_t result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

bool PlanReader::readSlot(const JsonCursor &item, const ck_entry &entry, PlanEntry &program, char kind,
                          PlanSlot &slot) {
  auto wrongType = [&](const char *expected) { return item.fail("kernel takes " + std::string(expected) + " here"); };
  if (item.isInteger()) {
    slot.value = uint64_t(item.integer(INT64_MIN, INT64_MAX));
    return !kind || kind == 'i' ? item.ok() : wrongType(kind == 'f' ? "a double" : "an operand");
  }
  if (item.has("f")) {
    slot.value = item.isObject({"f"}) ? bitsOf(item["f"].number()) : 0;
    return !kind || kind == 'f' ? item.ok() : wrongType(kind == 'i' ? "an integer" : "an operand");
  }
  if (item.has("n")) {
    SizeExpr &expr = program.sizes.emplace_back();
    slot = {PlanSlot::Kind::Size, program.sizes.size() - 1};
    if (!item.isObject({"n"}) || !readSize(item["n"], entry, 0, expr))
      return false;
    return !kind || kind == 'i' || wrongType(kind == 'f' ? "a double" : "an operand");
  }
  if (!item.isNull() && !readReference(item, entry, slot))
    return false;
  return checkKind(item, entry, kind, slot);
}

bool PlanReader::readReference(const JsonCursor &item, const ck_entry &entry, PlanSlot &slot) {
  auto readIndex = [&](const char *key, PlanSlot::Kind kind, int64_t count) {
    slot.kind = kind;
    slot.value = item.isObject({key}) ? uint64_t(item[key].integer(0, count - 1)) : 0;
    return item.ok();
  };
  if (item.has("w"))
    return readIndex("w", PlanSlot::Kind::Weight, weights);
  if (item.has("i"))
    return readIndex("i", PlanSlot::Kind::Input, entry.inputs);
  if (item.has("o"))
    return readIndex("o", PlanSlot::Kind::Output, entry.outputs);
  if (item.has("c"))
    return slot.kind = PlanSlot::Kind::Const, readOffset(item, "c", table->const_bytes, slot);
  if (item.has("s"))
    return slot.kind = PlanSlot::Kind::State, readOffset(item, "s", table->state_bytes, slot);
  if (item.has("a"))
    return slot.kind = PlanSlot::Kind::Arena, readOffset(item, "a", entry.arena_bytes, slot);
  return item.fail("no slot: expected null, an integer, or an object with one of f, n, w, c, s, a, i, o");
}

bool PlanReader::readOffset(const JsonCursor &item, const char *key, int64_t arenaBytes, PlanSlot &slot) {
  if (!item.isObject({key}, {"bytes"}))
    return false;
  int64_t bytes = item.has("bytes") ? item["bytes"].integer(0, arenaBytes) : 0;
  slot.value = uint64_t(item[key].integer(0, arenaBytes - bytes));
  return item.ok();
}

/// Does a kernel's slot of `kind` take this pointer?
bool PlanReader::checkKind(const JsonCursor &item, const ck_entry &entry, char kind, const PlanSlot &slot) {
  if (!kind)
    return true;
  if (kind == 'i' || kind == 'f')
    return item.fail(std::string("kernel takes ") + (kind == 'i' ? "an integer" : "a double") + " here");
  if (item.isNull())
    return std::isupper(static_cast<unsigned char>(kind)) || item.fail("kernel needs this operand");
  char use = char(std::tolower(static_cast<unsigned char>(kind)));
  if (use == 's' && slot.kind != PlanSlot::Kind::Arena)
    return item.fail("scratch must lie in the activation arena");
  if (use != 'w')
    return true;
  if (slot.kind == PlanSlot::Kind::Weight || slot.kind == PlanSlot::Kind::Input)
    return item.fail("kernel writes this operand, but weights and inputs are read only");
  if (slot.kind == PlanSlot::Kind::Const && std::strcmp(entry.name, "init"))
    return item.fail("kernel writes this operand, but only entry 'init' may write constants");
  return true;
}

bool PlanReader::readSize(const JsonCursor &item, const ck_entry &entry, int depth, SizeExpr &expr) {
  using Op = SizeExpr::Op;
  static const std::pair<const char *, Op> operators[] = {{"+", Op::Add},   {"-", Op::Sub},  {"*", Op::Mul},
                                                          {"/", Op::Div},   {"%", Op::Mod},  {"ceildiv", Op::CeilDiv},
                                                          {"min", Op::Min}, {"max", Op::Max}};
  if (item.isString()) {
    expr.items.push_back({Op::Dim, findDim(item, entry)});
    return item.ok();
  }
  if (!item.isArray()) {
    expr.items.push_back({Op::Integer, item.integer(INT64_MIN, INT64_MAX)});
    return item.ok();
  }
  if (depth == kMaxPlanSizeDepth)
    return item.fail("nested deeper than " + std::to_string(kMaxPlanSizeDepth));
  if (item.size() != 3)
    return item.fail("found " + std::to_string(item.size()) + " elements, expected [operator, size, size]");
  std::string name = item.at(0).text();
  for (auto [symbol, op] : operators)
    if (name == symbol) {
      if (!readSize(item.at(1), entry, depth + 1, expr) || !readSize(item.at(2), entry, depth + 1, expr))
        return false;
      expr.items.push_back({op, 0});
      return true;
    }
  return item.at(0).fail("unknown operator '" + name + "', expected + - * / % ceildiv min or max");
}

/// The whole file; empty with `error` set on failure.
static std::string readFile(const char *path, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file)
    error = std::strerror(errno);
  else if (!(text << file.rdbuf()))
    error = "cannot be read, or is empty";
  return text.str();
}

/// nlohmann's message without its own prefix.
static std::string parseMessage(const json::exception &exception) {
  std::string text = exception.what();
  size_t end = text.find("] ");
  return "not JSON: " + (end == std::string::npos ? text : text.substr(end + 2));
}

/// Null with `error` and `code` set on failure. Lets std::bad_alloc through.
static std::unique_ptr<PlanTable> loadPlan(const char *path, std::string &error, int32_t &code) {
  std::string text = readFile(path, error);
  if (!error.empty())
    return nullptr;
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception &exception) {
    error = parseMessage(exception);
    return nullptr;
  }
  PlanReader reader(document, error);
  std::unique_ptr<PlanTable> table = reader.read();
  code = reader.code;
  return table;
}

const ck_model *ck_plan_load(ck_context *ctx, const char *path) {
  try {
    std::string error;
    int32_t code = CK_INVALID_ARGUMENT;
    if (std::unique_ptr<PlanTable> table = loadPlan(path, error, code))
      return table.release();
    ck_fail(ctx, code, "%s: %s", path, error.c_str());
  } catch (const std::bad_alloc &) {
    ck_fail(ctx, CK_OUT_OF_MEMORY, "%s: out of memory", path);
  }
  return nullptr;
}

void ck_plan_destroy(const ck_model *model) { delete static_cast<const PlanTable *>(model); }
