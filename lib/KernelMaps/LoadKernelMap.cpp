//===- LoadKernelMap.cpp - kernel maps from files -------------------------===//
//
// Text -> JSON -> schema -> KernelMap -> semantic checks. JSON values and exceptions stay in this file.
//
//===----------------------------------------------------------------------===//
#include "CheckKernelMap.h"
#include "Cursor.h"
#include "Schema.h"
#include "StrictJson.h"
#include "ck/Support/Sha256.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <tuple>

using json = nlohmann::json;
namespace fs = std::filesystem;

namespace ck {

namespace {

/// Far above any map, far below any trouble.
constexpr size_t kMaxFileBytes = 1 << 20;

/// An error with its JSON pointer; becomes "<file>: <pointer>: <message>".
Error errorAt(const std::string &pointer, const std::string &message) { return {pointer + ": " + message}; }

Result<Param> readParam(const json &value, const std::string &at) {
  if (value.is_string())
    return Param(value.get<std::string>());
  if (value.is_boolean())
    return Param(value.get<bool>());
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return errorAt(at, "integer does not fit in 64 bits");
  if (value.is_number_integer())
    return Param(value.get<int64_t>());
  return Param(value.get<double>());
}

/// Parses every string of an optional list with `parse`.
template <typename T>
Status readList(const json &root, const char *key, Result<T> (*parse)(std::string_view), std::vector<T> &list) {
  if (!root.contains(key))
    return Status::success();
  const json &texts = root.at(key);
  for (size_t i = 0; i < texts.size(); ++i) {
    Result<T> item = parse(texts[i].get_ref<const std::string &>());
    if (!item)
      return errorAt(pointerTo(std::string("#/") + key, i), item.error().message);
    list.push_back(*std::move(item));
  }
  return Status::success();
}

std::string readText(const json &object, const char *key) { return object.value(key, std::string()); }

Status readParams(const json &root, std::vector<ParamDecl> &params) {
  if (!root.contains("params"))
    return Status::success();
  for (const json &item : root.at("params")) {
    std::string at = pointerTo("#/params", params.size());
    ParamDecl decl;
    decl.name = item.at("name");
    std::string type = item.at("type");
    decl.kind = type == "i64"    ? ParamDecl::Kind::I64
                : type == "f64"  ? ParamDecl::Kind::F64
                : type == "bool" ? ParamDecl::Kind::Bool
                                 : ParamDecl::Kind::Enum;
    if (item.contains("values") != (decl.kind == ParamDecl::Kind::Enum))
      return errorAt(at, "field \"values\" belongs to the type enum, and to it alone");
    if (decl.kind == ParamDecl::Kind::Enum)
      for (const json &value : item.at("values")) {
        if (std::find(decl.values.begin(), decl.values.end(), value.get<std::string>()) != decl.values.end())
          return errorAt(at + "/values", "value " + value.dump() + " is listed twice");
        decl.values.push_back(value);
      }
    if (item.contains("default")) {
      Result<Param> value = readParam(item.at("default"), at + "/default");
      if (!value)
        return value.error();
      Result<Param> converted = convertParam(decl, *value);
      if (!converted)
        return errorAt(at + "/default", converted.error().message);
      decl.defaultValue = *converted;
    }
    params.push_back(std::move(decl));
  }
  return Status::success();
}

Status readImplements(const json &root, std::vector<Implements> &list) {
  for (const json &item : root.at("implements")) {
    std::string at = pointerTo("#/implements", list.size());
    Implements entry;
    entry.op = item.at("op");
    if (item.contains("attrs"))
      for (auto &[name, value] : item.at("attrs").items()) {
        Result<Param> param = readParam(value, pointerTo(at + "/attrs", name));
        if (!param)
          return param.error();
        entry.attrs[name] = *param;
      }
    if (item.contains("bind"))
      for (auto &[kernelName, opName] : item.at("bind").items())
        entry.bind[kernelName] = opName;
    list.push_back(std::move(entry));
  }
  return Status::success();
}

/// `root` is valid under the schema.
Result<KernelMap> readMap(const json &root) {
  KernelMap map;
  Contract &contract = map.contract;
  contract.id = root.at("id");
  map.operation = root.at("operation");
  Result<Signature> signature = parseSignature(root.at("signature").get_ref<const std::string &>());
  if (!signature)
    return errorAt("#/signature", signature.error().message);
  contract.signature = *std::move(signature);
  for (const Status &s :
       {readList(root, "where", parseWhere, contract.where), readParams(root, contract.params),
        readList(root, "scratch", parseScratchDecl, contract.scratch),
        readList(root, "requires", Expr::parse, map.requirements), readImplements(root, map.implements)})
    if (!s)
      return s.error();
  if (root.contains("inplace"))
    for (const json &pair : root.at("inplace"))
      contract.inplace.emplace_back(pair[0], pair[1]);

  const json &numerics = root.at("numerics");
  map.numerics = *parseNumericsClass(numerics.at("class").get_ref<const std::string &>());
  map.numericsContract = numerics.at("contract");
  map.accumulation = readText(numerics, "accumulation");
  map.rounding = readText(numerics, "rounding");
  map.tolerance = numerics.at("tolerance");
  map.bits = readText(numerics, "bits");
  if (root.contains("implementations"))
    for (const json &item : root.at("implementations"))
      map.implementations.push_back({item.at("isa"), item.at("source")});
  map.backwardOf = readText(root, "backward_of");
  map.sameAs = readText(root, "same_as");
  map.parallel = readText(root, "parallel");
  map.pack = readText(root, "pack");
  map.host = readText(root, "host");
  map.notes = readText(root, "notes");
  if (root.contains("fuses"))
    map.fuses = root.at("fuses").get<std::vector<std::string>>();
  Result<Expr> cost = Expr::parse(root.at("cost").get_ref<const std::string &>());
  if (!cost)
    return errorAt("#/cost", cost.error().message);
  map.cost = *std::move(cost);
  map.digest = sha256(root.dump());
  return map;
}

Result<std::string> readFile(const std::string &path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code))
    return Error{path + ": no such file"};
  uintmax_t size = fs::file_size(path, code);
  if (!code && size > kMaxFileBytes)
    return Error{path + ": larger than " + std::to_string(kMaxFileBytes) + " bytes"};
  // Only what is needed is touched: there are hundreds of maps.
  std::string text(code ? 0 : static_cast<size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (code || !file || static_cast<size_t>(file.gcount()) != text.size())
    return Error{path + ": cannot be read"};
  return text;
}

} // namespace

Result<KernelMap> parseKernelMap(std::string_view text, const std::string &path) {
  auto located = [&](const Error &error) { return Error{path + ": " + error.message}; };
  Result<json> root = parseStrictJson(text);
  if (!root)
    return located(root.error());
  if (Status s = validate(kernelMapSchema(), *root); !s)
    return located(s.error());
  try {
    Result<KernelMap> map = readMap(*root);
    if (!map)
      return located(map.error());
    map->path = path;
    if (Status s = checkKernelMap(*map); !s)
      return located(s.error());
    if (std::string stem = fs::path(path).stem().string(); stem != map->id())
      return located({"#/id: id " + inQuotes(map->id()) + " is not the name of the file"});
    return map;
  } catch (const json::exception &error) {
    return located({error.what()});
  }
}

Result<KernelMap> loadKernelMap(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  return parseKernelMap(*text, path);
}

Result<std::vector<KernelMap>> loadKernelMaps(const std::string &dir) {
  std::vector<std::string> files;
  std::error_code code;
  if (!fs::is_directory(dir, code))
    return Error{dir + ": no folder of kernel maps"};
  fs::recursive_directory_iterator it(dir, code), end;
  for (; !code && it != end; it.increment(code))
    if (it->path().extension() == ".json" && it->path() != fs::path(dir) / "schema.json")
      files.push_back(it->path().string());
  if (code)
    return Error{dir + ": " + code.message()};
  std::sort(files.begin(), files.end());

  std::vector<KernelMap> maps;
  for (const std::string &file : files) {
    Result<KernelMap> map = loadKernelMap(file);
    if (!map)
      return map.error();
    maps.push_back(*std::move(map));
  }
  std::sort(maps.begin(), maps.end(),
            [](const KernelMap &a, const KernelMap &b) { return std::tie(a.id(), a.path) < std::tie(b.id(), b.path); });
  for (size_t i = 1; i < maps.size(); ++i)
    if (maps[i].id() == maps[i - 1].id())
      return Error{maps[i].path + ": #/id: id " + inQuotes(maps[i].id()) + " is also that of " + maps[i - 1].path};
  return maps;
}

std::string defaultKernelMapDir() {
  if (const char *dir = std::getenv("CK_KERNEL_MAPS"); dir && *dir)
    return dir;
  std::error_code code;
  fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (!code) {
    fs::path installed = program.parent_path().parent_path() / "share/ck/kernel_maps";
    if (fs::is_directory(installed, code))
      return installed.string();
  }
  return CK_SOURCE_KERNEL_MAPS;
}

} // namespace ck
