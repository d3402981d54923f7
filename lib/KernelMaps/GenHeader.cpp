//===- GenHeader.cpp - args structs and prototypes ------------------------===//
//
// Writes ck/Runtime/Kernels.h.inc. Nothing here depends on time, place or the order of files.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "Twins.h"
#include "ck/KernelMaps/DType.h"
#include "ck/KernelMaps/KernelGen.h"

#include <algorithm>
#include <set>

namespace ck {

namespace {

std::string upper(std::string text) {
  for (char &c : text)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// "const float *" for operands of known plain types, "void *" for the others.
std::string pointerType(const std::string &dtype, bool isConst) {
  const DTypeInfo *type = findDTypeInfo(dtype);
  return (isConst ? "const " : "") + std::string(type ? type->cType : "void") + " *";
}

std::string slotText(const Contract &contract, const AbiSlot &slot) {
  switch (slot.kind) {
  case AbiSlot::Kind::Operand: {
    const SigOperand *operand = contract.signature.findInput(slot.name);
    if (!operand)
      operand = contract.signature.findOutput(slot.name);
    std::vector<std::string> dims;
    for (const Expr &dim : operand->dims)
      dims.push_back((dims.empty() && operand->leadingDims ? "..." : "") + dim.str());
    return pointerType(operand->dtype, slot.isConst) + slot.name + "; /* [" + join(dims, ",") + "]:" + operand->dtype +
           (operand->optional ? " or NULL" : "") + " */";
  }
  case AbiSlot::Kind::Scratch: {
    auto scratch = std::find_if(contract.scratch.begin(), contract.scratch.end(),
                                [&](const ScratchDecl &decl) { return decl.name == slot.name; });
    return pointerType(scratch->dtype, false) + slot.name + "; /* scratch [" + scratch->elements.str() + "] */";
  }
  case AbiSlot::Kind::Dim:
    return "int64_t " + slot.name + ";";
  case AbiSlot::Kind::Stride:
    return "int64_t " + slot.name + "; /* in elements */";
  case AbiSlot::Kind::Param:
    break;
  }
  auto param = std::find_if(contract.params.begin(), contract.params.end(),
                            [&](const ParamDecl &decl) { return decl.name == slot.name; });
  std::string comment = param->kind == ParamDecl::Kind::Enum   ? " /* {" + join(param->values, ",") + "} */"
                        : param->kind == ParamDecl::Kind::Bool ? " /* 0 or 1 */"
                                                               : "";
  return (slot.isDouble ? "double " : "int64_t ") + slot.name + ";" + comment;
}

std::string mapText(const KernelMap &map, const KernelMap &implementer) {
  const Contract &contract = map.contract;
  std::string name = "ckk_" + map.id(), args = name + "_args";
  std::string text = "/* " + contract.signature.str() + " */\n";
  if (&map != &implementer) {
    text += "typedef ckk_" + implementer.id() + "_args " + args + ";\n";
  } else {
    text += "typedef struct " + args + " {\n";
    for (const AbiSlot &slot : abiSlots(contract))
      text += "  " + slotText(contract, slot) + "\n";
    text += "} " + args + ";\n";
  }
  for (const ParamDecl &param : contract.params)
    if (param.kind == ParamDecl::Kind::Enum) {
      text += "enum {\n";
      for (size_t i = 0; i < param.values.size(); ++i)
        text += "  " + upper("ckk_" + map.id() + "_" + param.name + "_" + param.values[i]) + " = " + std::to_string(i) +
                ",\n";
      text += "};\n";
    }
  text += "CK_API int32_t " + name + "(ck_context *ctx, const " + args + " *args);\n";
  for (const KernelMap::Implementation &implementation : map.implementations)
    text += "int32_t " + name + "__" + implementation.isa + "(ck_context *ctx, const " + args + " *args);\n";
  for (const ScratchDecl &scratch : contract.scratch)
    text += "CK_API int64_t " + name + "__" + scratch.name + "_bytes(const " + args + " *args);" +
            (scratch.perThread ? " /* per thread */\n" : "\n");
  return text + "\n";
}

/// The declarations of `sorted`, which are some of `maps`.
Result<std::string> headerText(const std::vector<KernelMap> &maps, std::vector<const KernelMap *> sorted,
                               const std::string &banner) {
  // Twins come last, after the structs that they share.
  std::sort(sorted.begin(), sorted.end(), [](const KernelMap *a, const KernelMap *b) {
    return std::make_pair(!a->sameAs.empty(), a->id()) < std::make_pair(!b->sameAs.empty(), b->id());
  });
  std::string text = "/* " + banner + ", made from the kernel maps by ck-kernel-gen. */\n\n";
  for (const KernelMap *map : sorted) {
    Result<const KernelMap *> owner = implementer(maps, *map);
    if (!owner)
      return owner.error();
    text += mapText(*map, **owner);
  }
  return text;
}

bool isImplementedIn(const KernelMap &map, const std::string &source) {
  return std::any_of(map.implementations.begin(), map.implementations.end(),
                     [&](const KernelMap::Implementation &implementation) { return implementation.source == source; });
}

} // namespace

Result<std::string> generateKernelHeader(const std::vector<KernelMap> &maps) {
  std::vector<const KernelMap *> all;
  for (const KernelMap &map : maps)
    all.push_back(&map);
  return headerText(maps, std::move(all), "Args structs and prototypes of every kernel");
}

Result<std::string> generateSourceHeader(const std::vector<KernelMap> &maps, const std::string &source) {
  std::vector<const KernelMap *> some;
  for (const KernelMap &map : maps)
    if (map.sameAs.empty() && isImplementedIn(map, source))
      some.push_back(&map);
  return headerText(maps, std::move(some), "Args structs and prototypes of the kernels in " + source);
}

std::vector<std::string> kernelSources(const std::vector<KernelMap> &maps) {
  std::set<std::string> sources;
  for (const KernelMap &map : maps)
    for (const KernelMap::Implementation &implementation : map.implementations)
      sources.insert(implementation.source);
  return {sources.begin(), sources.end()};
}

} // namespace ck
