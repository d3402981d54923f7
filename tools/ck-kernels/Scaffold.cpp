//===- Scaffold.cpp - the files of a new kernel ---------------------------===//

#include "Scaffold.h"
#include "Ledger.h"
#include "Maps.h"
#include "Reference.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace ck::check {

using Json = nlohmann::ordered_json;

/// Words of a-z0-9 with single underscores between them, as the schema has ids.
static bool isName(const std::string &text) {
  char before = '_';
  for (char c : text) {
    const bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (!(letter || (digit && &c != &text.front()) || (c == '_' && before != '_')))
      return false;
    before = c;
  }
  return !text.empty() && before != '_' && text.front() >= 'a' && text.size() <= 64;
}

static Json paramJson(const Param &value) {
  return std::visit([](const auto &one) { return Json(one); }, value);
}

/// The map: the contract of `model` where there is one.
static std::string mapText(const std::string &id, const std::string &op, const std::string &operation,
                           const std::string &source, const KernelMap *model) {
  Json entry = {{"op", op}};
  std::string signature = "input[...N]:f32 -> output[...N]:f32", cost = "N";
  Json map = {{"id", id}, {"operation", operation}};
  if (model) {
    auto implements = std::find_if(model->implements.begin(), model->implements.end(),
                                   [&](const Implements &candidate) { return candidate.op == op; });
    for (const auto &[name, value] : implements->attrs)
      entry["attrs"][name] = paramJson(value);
    for (const auto &[name, value] : implements->bind)
      entry["bind"][name] = value;
    signature = model->contract.signature.str();
    if (model->cost)
      cost = model->cost->str();
  }
  map["implements"] = Json::array({entry});
  map["signature"] = signature;
  for (const WhereClause &clause : model ? model->contract.where : std::vector<WhereClause>())
    map["where"].push_back(clause.str());
  for (const ParamDecl &param : model ? model->contract.params : std::vector<ParamDecl>()) {
    static const char *const types[] = {"i64", "f64", "bool", "enum"};
    Json json = {{"name", param.name}, {"type", types[static_cast<int>(param.kind)]}};
    if (param.kind == ParamDecl::Kind::Enum)
      json["values"] = param.values;
    if (param.defaultValue)
      json["default"] = paramJson(*param.defaultValue);
    map["params"].push_back(std::move(json));
  }
  for (const Expr &requirement : model ? model->requirements : std::vector<Expr>())
    map["requires"].push_back(requirement.str());
  map["numerics"] = {{"class", "f32"},
                     {"contract", "Not written yet: what is computed, and in which order where that matters."},
                     {"tolerance", 1e-6}};
  map["implementations"] = Json::array({{{"isa", "scalar"}, {"source", source}}});
  map["parallel"] = "none";
  // Dearer than any other until it proves its worth, so that nothing selects it meanwhile.
  map["cost"] = "1000*(" + cost + ")+1000";
  return map.dump(2) + "\n";
}

static std::string kernelText(const std::string &id, const std::string &op, const std::string &source) {
  std::string banner = "//===- " + fs::path(source).filename().string() + " - a kernel of " + op + " ";
  banner.resize(std::max<size_t>(banner.size(), 75), '-');
  return banner + "===//\n#include \"KernelSupport.h\"\n\nCK_PORTABLE_KERNEL(" + id +
         ") {\n  return ck_fail(ctx, CK_UNSUPPORTED, \"the kernel is not written yet\");\n}\n";
}

/// "conv2d_grad" -> "conv2dGrad"
static std::string camelCase(const std::string &name) {
  std::string text;
  for (char c : name)
    if (c == '_')
      text += '_';
    else if (!text.empty() && text.back() == '_')
      text.back() = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    else
      text += c;
  return text;
}

static std::string referenceText(const std::string &op, const std::string &file) {
  std::string banner = "//===- " + file + " - the meaning of " + op + " ";
  banner.resize(std::max<size_t>(banner.size(), 75), '-');
  return banner +
         "===//\n\n#include \"Reference.h\"\n\nnamespace ck::reference {\nnamespace {\n\nStatus evaluate(Call &call) "
         "{\n  return Error{\"the reference of " +
         op + " is not written yet\"};\n}\n\n} // namespace\n\nstd::vector<Operation> " + camelCase(op) +
         "Operations() {\n  Operation operation;\n  operation.name = \"" + op +
         "\";\n  operation.inputs = {\"input\"};\n  operation.outputs = {\"output\"};\n  operation.evaluate = "
         "evaluate;\n  return {operation};\n}\n\n} // namespace ck::reference\n";
}

/// Puts `text` behind the last occurrence of `mark` in a file of the tree.
static Result<SourceFile> insert(const std::string &sourceDir, const std::string &path, const std::string &mark,
                                 size_t length, const std::string &text) {
  Result<std::string> file = readText(sourceDir + "/" + path);
  if (!file)
    return file.error();
  const size_t at = file->rfind(mark);
  if (at == std::string::npos)
    return Error{path + ": has no '" + mark + "', beside which the new reference would be listed"};
  return SourceFile{path, file->insert(at + length, text), false};
}

Result<std::vector<SourceFile>> scaffold(const std::string &id, const std::string &op, const std::string &family,
                                         const std::string &sourceDir, const std::vector<KernelMap> &maps) {
  for (const auto &[what, name] :
       {std::pair("the kernel", id), std::pair("the operation", op), std::pair("the family", family)})
    if (!isName(name))
      return Error{"'" + name + "' is no name of " + std::string(what) +
                   ": expected words of a-z and 0-9 with underscores between them"};
  if (const KernelMap *there = findMap(maps, id))
    return Error{there->path + ": there is a kernel '" + id + "' already"};
  std::string operation = op;
  if (Result<std::string> text = readText(sourceDir + "/kernel_maps/inventory.tsv")) {
    Result<std::vector<InventoryRow>> inventory = parseInventory(*text, "inventory.tsv");
    if (!inventory)
      return inventory.error();
    for (const InventoryRow &row : *inventory)
      if (row.id == id)
        operation = row.operation;
  }
  const KernelMap *model = nullptr;
  for (const KernelMap &map : maps)
    for (const Implements &entry : map.implements)
      if (!model && entry.op == op)
        model = &map;
  const std::string source = family + "/" + id + ".cpp";
  std::vector<SourceFile> files = {
      {"kernel_maps/" + family + "/" + id + ".json", mapText(id, op, operation, source, model)},
      {"lib/Runtime/Kernels/" + source, kernelText(id, op, source)}};
  if (!reference::findOperation(op)) {
    std::string name = camelCase(op);
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
    files.push_back({"test/reference/" + name + ".cpp", referenceText(op, name + ".cpp")});
    const std::string list = camelCase(op) + "Operations";
    for (const Result<SourceFile> &edit :
         {insert(sourceDir, "test/reference/Reference.h", "Operations();\n", 14,
                 "std::vector<Operation> " + list + "();\n"),
          insert(sourceDir, "test/reference/Reference.cpp", "Operations})", 10, ", " + list)}) {
      if (!edit)
        return edit.error();
      files.push_back(*edit);
    }
  }
  for (const SourceFile &file : files)
    if (file.isNew && fs::exists(sourceDir + "/" + file.path))
      return Error{file.path + ": is there already; give the kernel or the operation another name"};
  return files;
}

} // namespace ck::check
