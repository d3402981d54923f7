//===- CheckKernelMap.cpp - what a schema cannot say ----------------------===//
//
// Run at load, so that every later reader can take names for granted.
//
//===----------------------------------------------------------------------===//
#include "CheckKernelMap.h"

#include "Cursor.h"
#include "StrictJson.h"

#include <algorithm>
#include <set>

namespace ck::maps {

namespace {

/// Words that cannot name a field of a C or C++ struct.
const std::set<std::string> kKeywords = {
    "alignas", "alignof", "and",       "asm",           "auto",     "bool",     "break",    "case",
    "catch",   "char",    "class",     "compl",         "const",    "continue", "decltype", "default",
    "delete",  "do",      "double",    "else",          "enum",     "explicit", "export",   "extern",
    "false",   "float",   "for",       "friend",        "goto",     "if",       "inline",   "int",
    "long",    "mutable", "namespace", "new",           "noexcept", "not",      "nullptr",  "operator",
    "or",      "private", "protected", "public",        "register", "restrict", "return",   "short",
    "signed",  "sizeof",  "static",    "static_assert", "struct",   "switch",   "template", "this",
    "throw",   "true",    "try",       "typedef",       "typeid",   "typename", "union",    "unsigned",
    "using",   "virtual", "void",      "volatile",      "while",    "xor"};

bool isPredicate(const Expr &expr) { return expr.kind() >= Expr::Kind::Eq; }

class Checker {
public:
  explicit Checker(const KernelMap &map) : map(map), contract(map.contract) {}

  Status run() {
    for (auto step : {&Checker::checkWhere, &Checker::checkStrides, &Checker::checkExpressions, &Checker::checkInplace,
                      &Checker::checkImplements, &Checker::checkImplementations, &Checker::checkSlots})
      if (Status s = (this->*step)(); !s)
        return s;
    return Status::success();
  }

private:
  static Error error(const std::string &at, const std::string &what) { return {at + ": " + what}; }

  const ParamDecl *findParam(const std::string &name) const {
    for (const ParamDecl &param : contract.params)
      if (param.name == name)
        return &param;
    return nullptr;
  }

  /// Dims must be in `dims`. `$x` must be a declared param where the op's attributes are out of reach (`onlyParams`),
  /// and a declared param is usable only if it has a value in integer arithmetic.
  Status checkNames(const Expr &expr, const std::string &at, bool onlyParams) const {
    std::vector<std::string> names;
    expr.collectNames(names);
    for (const std::string &name : names) {
      if (name[0] != '$') {
        if (!dims.count(name))
          return error(at, "dim " + name + " is neither in the signature nor defined by where");
        continue;
      }
      const ParamDecl *param = findParam(name.substr(1));
      if (!param && onlyParams)
        return error(at, name + " is no param");
      if (param && param->kind != ParamDecl::Kind::I64 && param->kind != ParamDecl::Kind::Bool)
        return error(at, name + " is a param of type " + (param->kind == ParamDecl::Kind::F64 ? "f64" : "enum") +
                             "; expressions take i64 and bool");
    }
    return Status::success();
  }

  Status checkWhere() {
    for (const std::string &name : contract.signature.dimNames())
      dims.insert(name);
    std::set<std::string> variables, defined;
    for (const auto *side : {&contract.signature.inputs, &contract.signature.outputs})
      for (const SigOperand &operand : *side)
        if (operand.dtype[0] == '$')
          variables.insert(operand.dtype);
    std::set<std::string> all = dims;
    for (size_t i = 0; i < contract.where.size(); ++i) {
      const WhereClause &clause = contract.where[i];
      std::string at = pointerTo("#/where", i);
      if (!defined.insert(clause.name).second)
        return error(at, clause.name + " is defined twice");
      if (!clause.value && !variables.count(clause.name))
        return error(at, "no operand has the type " + clause.name);
      if (clause.value)
        all.insert(clause.name);
    }
    std::vector<bool> done(contract.where.size());
    dims.swap(all);
    for (size_t i = 0; i < contract.where.size(); ++i)
      if (contract.where[i].value)
        if (Status s = checkNames(*contract.where[i].value, pointerTo("#/where", i), false); !s)
          return s;
    dims.swap(all);
    // Dims that only clauses define must not depend on each other in a circle.
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < contract.where.size(); ++i) {
        const WhereClause &clause = contract.where[i];
        if (done[i] || !clause.value || !checkNames(*clause.value, "", false))
          continue;
        done[i] = progress = true;
        dims.insert(clause.name);
      }
    }
    for (size_t i = 0; i < contract.where.size(); ++i)
      if (contract.where[i].value && !done[i])
        return error(pointerTo("#/where", i), clauseName(i) + " depends on itself");
    return Status::success();
  }
  const std::string &clauseName(size_t i) const { return contract.where[i].name; }

  Status checkStrides() {
    for (const auto *side : {&contract.signature.inputs, &contract.signature.outputs})
      for (const SigOperand &operand : *side) {
        for (const std::optional<Expr> &stride : operand.strides)
          if (stride)
            if (Status s = checkNames(*stride, "#/signature", false); !s)
              return s;
      }
    return Status::success();
  }

  Status checkExpressions() {
    std::set<std::string> names;
    for (size_t i = 0; i < contract.params.size(); ++i)
      if (!names.insert(contract.params[i].name).second)
        return error(pointerTo("#/params", i), "param " + inQuotes(contract.params[i].name) + " is listed twice");
    for (size_t i = 0; i < contract.scratch.size(); ++i)
      if (Status s = checkNames(contract.scratch[i].elements, pointerTo("#/scratch", i), true); !s)
        return s;
    for (size_t i = 0; i < map.requirements.size(); ++i) {
      if (!isPredicate(map.requirements[i]))
        return error(pointerTo("#/requires", i), map.requirements[i].str() + " is no comparison");
      if (Status s = checkNames(map.requirements[i], pointerTo("#/requires", i), false); !s)
        return s;
    }
    return map.cost ? checkNames(*map.cost, "#/cost", false) : Status::success();
  }

  Status checkInplace() {
    for (size_t i = 0; i < contract.inplace.size(); ++i) {
      const auto &[inputName, outputName] = contract.inplace[i];
      std::string at = pointerTo("#/inplace", i);
      const SigOperand *input = contract.signature.findInput(inputName);
      const SigOperand *output = contract.signature.findOutput(outputName);
      if (!input)
        return error(at, inQuotes(inputName) + " is no input");
      if (!output)
        return error(at, inQuotes(outputName) + " is no output");
      if (contract.signature.isUpdated(inputName) || contract.signature.isUpdated(outputName))
        return error(at, "an operand that is updated in place belongs to no pair");
      if (input->dims != output->dims || input->leadingDims != output->leadingDims || input->dtype != output->dtype)
        return error(at, inQuotes(inputName) + " and " + inQuotes(outputName) + " differ in shape or type");
    }
    return Status::success();
  }

  Status checkImplements() {
    for (size_t i = 0; i < map.implements.size(); ++i) {
      const Implements &entry = map.implements[i];
      std::string at = pointerTo("#/implements", i);
      for (size_t j = 0; j < i; ++j)
        if (map.implements[j].op == entry.op && map.implements[j].attrs == entry.attrs &&
            map.implements[j].bind == entry.bind)
          return error(at, "repeats entry " + std::to_string(j));
      for (const auto &[kernelName, opName] : entry.bind)
        if (!contract.signature.findInput(kernelName) && !contract.signature.findOutput(kernelName) &&
            !findParam(kernelName))
          return error(pointerTo(at + "/bind", kernelName), "the signature and params have no such name");
      for (const auto &[name, value] : entry.attrs)
        if (const ParamDecl *param = findParam(name); param && !entry.bind.count(name))
          if (Result<Param> converted = convertParam(*param, value); !converted)
            return error(pointerTo(at + "/attrs", name), converted.error().message);
    }
    return Status::success();
  }

  Status checkImplementations() {
    if (map.sameAs.empty() == map.implementations.empty())
      return error("#", map.sameAs.empty() ? "field \"implementations\" is missing"
                                           : "a twin (same_as) has no implementations of its own");
    if (map.sameAs == map.id())
      return error("#/same_as", "a map is no twin of itself");
    std::set<std::string> isas;
    for (size_t i = 0; i < map.implementations.size(); ++i)
      if (!isas.insert(map.implementations[i].isa).second)
        return error(pointerTo("#/implementations", i), map.implementations[i].isa + " is listed twice");
    return Status::success();
  }

  Status checkSlots() {
    std::set<std::string> names;
    auto check = [&](const std::string &name) -> Status {
      if (kKeywords.count(name))
        return error("#", inQuotes(name) + " cannot name a field, it is a word of C or C++");
      if (!names.insert(name).second)
        return error("#", inQuotes(name) + " names two of operands, dims, strides, scratch and params");
      return Status::success();
    };
    for (const AbiSlot &slot : abiSlots(contract))
      if (Status s = check(slot.name); !s)
        return s;
    for (const ScratchDecl &scratch : contract.scratch)
      if (scratch.perThread)
        if (Status s = check(scratch.name); !s)
          return s;
    return Status::success();
  }

  const KernelMap &map;
  const Contract &contract;
  std::set<std::string> dims;
};

} // namespace

Status checkKernelMap(const KernelMap &map) { return Checker(map).run(); }

} // namespace ck::maps
