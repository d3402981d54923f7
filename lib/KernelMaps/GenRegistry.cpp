//===- GenRegistry.cpp - the table of kernels -----------------------------===//
//
// Writes the C++ source behind ck_find_kernel. Kernels are called through thunks, because a call through a pointer to
// a function of another type is undefined.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "Twins.h"
#include "ck/KernelMaps/DType.h"
#include "ck/KernelMaps/KernelGen.h"

#include <algorithm>
#include <functional>
#include <set>

namespace ck {

namespace {

const char *const kPreamble = R"(// The table of every kernel, made from the kernel maps by ck-kernel-gen.
#include "ck/Runtime/Kernels.h"

#include <algorithm>

extern "C" {
extern const ck_kernel *const ck_kernel_table[];
extern const size_t ck_kernel_table_size;
}

namespace {

/// Arithmetic of sizes that remembers any overflow, division by zero or division of negative numbers.
struct Sizes {
  bool failed = false;

  int64_t add(int64_t a, int64_t b) { return failed |= __builtin_add_overflow(a, b, &a), a; }
  int64_t sub(int64_t a, int64_t b) { return failed |= __builtin_sub_overflow(a, b, &a), a; }
  int64_t mul(int64_t a, int64_t b) { return failed |= __builtin_mul_overflow(a, b, &a), a; }
  int64_t div(int64_t a, int64_t b) { return divides(a, b) ? a / b : 0; }
  int64_t mod(int64_t a, int64_t b) { return divides(a, b) ? a % b : 0; }
  int64_t ceildiv(int64_t a, int64_t b) { return divides(a, b) ? a / b + (a % b != 0) : 0; }
  int64_t align(int64_t a, int64_t b) { return mul(ceildiv(a, b), b); }
  /// Whole blocks, rounded up to 64 bytes.
  int64_t bytes(int64_t elements, int64_t blockElements, int64_t blockBytes) {
    failed |= elements < 0;
    return align(mul(ceildiv(elements, blockElements), blockBytes), 64);
  }
  int64_t result(int64_t value) const { return failed ? INT64_MAX : value; }

private:
  bool divides(int64_t a, int64_t b) { return failed |= a < 0 || b <= 0, !failed; }
};

} // namespace

)";

std::string expression(const Expr &expr) {
  using Kind = Expr::Kind;
  switch (expr.kind()) {
  case Kind::Integer:
    return "INT64_C(" + std::to_string(expr.value()) + ")";
  case Kind::Dim:
    return "args->" + expr.name();
  case Kind::Attribute:
    return "args->" + expr.name().substr(1);
  default:
    break;
  }
  std::vector<std::string> args;
  for (const Expr &arg : expr.args())
    args.push_back(expression(arg));
  auto call = [&](const char *function) {
    std::string text = args[0];
    for (size_t i = 1; i < args.size(); ++i)
      text = std::string(function) + "(" + text + ", " + args[i] + ")";
    return text;
  };
  auto compare = [&](const char *op) { return "int64_t(" + args[0] + op + args[1] + ")"; };
  switch (expr.kind()) {
  case Kind::Add:
    return call("s.add");
  case Kind::Sub:
    return call("s.sub");
  case Kind::Mul:
    return call("s.mul");
  case Kind::Div:
    return call("s.div");
  case Kind::Mod:
    return call("s.mod");
  case Kind::CeilDiv:
    return call("s.ceildiv");
  case Kind::Align:
    return call("s.align");
  case Kind::Min:
    return call("std::min<int64_t>");
  case Kind::Max:
    return call("std::max<int64_t>");
  case Kind::Eq:
    return compare(" == ");
  case Kind::Ne:
    return compare(" != ");
  case Kind::Lt:
    return compare(" < ");
  case Kind::Le:
    return compare(" <= ");
  case Kind::Gt:
    return compare(" > ");
  case Kind::Ge:
    return compare(" >= ");
  default:
    return compare(" && ");
  }
}

std::string scratchFunctions(const KernelMap &map) {
  std::string name = "ckk_" + map.id(), text, sum;
  for (const ScratchDecl &scratch : map.contract.scratch) {
    const DTypeInfo *type = findDTypeInfo(scratch.dtype);
    std::string function = name + "__" + scratch.name + "_bytes";
    text += "int64_t " + function + "(const " + name + "_args *args) {\n  Sizes s;\n  int64_t bytes = s.bytes(" +
            expression(scratch.elements) + ", " + std::to_string(type->blockElements) + ", " +
            std::to_string(type->blockBytes) + ");\n  return s.result(bytes);\n}\n";
    if (scratch.perThread)
      sum += "  bytes = s.add(bytes, " + function + "(args));\n";
  }
  if (!sum.empty())
    text += "static int64_t threadScratch_" + map.id() + "(const void *raw) {\n  auto *args = static_cast<const " +
            name + "_args *>(raw);\n  Sizes s;\n  int64_t bytes = 0;\n" + sum + "  return s.result(bytes);\n}\n";
  return text;
}

/// One letter per slot, as ck_kernel::slot_kinds has them.
std::string slotKinds(const Contract &contract) {
  std::string kinds;
  for (const AbiSlot &slot : abiSlots(contract))
    switch (slot.kind) {
    case AbiSlot::Kind::Operand: {
      const SigOperand *operand = contract.signature.findInput(slot.name);
      if (!operand)
        operand = contract.signature.findOutput(slot.name);
      kinds += operand->optional ? (slot.isConst ? 'R' : 'W') : (slot.isConst ? 'r' : 'w');
      break;
    }
    case AbiSlot::Kind::Scratch:
      kinds += 's';
      break;
    default:
      kinds += slot.isDouble ? 'f' : 'i';
    }
  return kinds;
}

/// A function that looks through the compact float operands that a call writes; empty if there are none. Where extents
/// are given by attributes that are no params the args do not say them, and the operand is left out.
std::string finiteFunction(const Contract &contract, const std::string &args) {
  std::set<std::string> known;
  for (const AbiSlot &slot : abiSlots(contract))
    if (slot.kind == AbiSlot::Kind::Dim || slot.kind == AbiSlot::Kind::Param)
      known.insert(slot.name);
  std::function<bool(const Expr &)> isKnown = [&](const Expr &expr) {
    if (expr.kind() == Expr::Kind::Dim)
      return known.count(expr.name()) != 0;
    if (expr.kind() == Expr::Kind::Attribute)
      return known.count(expr.name().substr(1)) != 0;
    return std::all_of(expr.args().begin(), expr.args().end(), isKnown);
  };
  std::string body;
  for (const SigOperand &operand : contract.signature.outputs) {
    bool isFloat = operand.dtype == "f32" || operand.dtype == "f64";
    if (!isFloat || operand.hasStrides || !std::all_of(operand.dims.begin(), operand.dims.end(), isKnown))
      continue;
    std::string count = "INT64_C(1)";
    for (const Expr &dim : operand.dims)
      count = "s.mul(" + count + ", " + expression(dim) + ")";
    body += "  count = " + count + ";\n  if (int32_t code = ck_check_finite_" + operand.dtype +
            "(ctx, static_cast<const " + (operand.dtype == "f32" ? "float" : "double") + " *>(args->" + operand.name +
            "), s.failed ? 0 : count, \"" + operand.name + "\"))\n    return code;\n";
  }
  if (body.empty())
    return "";
  return "static int32_t checkFinite_" + contract.id +
         "(ck_context *ctx, const void *raw) {\n  auto *args = static_cast<const " + args +
         " *>(raw);\n  Sizes s;\n  int64_t count = 0;\n" + body + "  return CK_OK;\n}\n";
}

std::string thunk(const std::string &function, const std::string &target, const std::string &args) {
  return "static int32_t " + function + "(ck_context *ctx, const void *args) {\n  return " + target +
         "(ctx, static_cast<const " + args + " *>(args));\n}\n";
}

std::string mapText(const KernelMap &map, const KernelMap &implementer) {
  // In the order of ck_isa.
  static constexpr const char *isas[] = {"scalar", "avx2", "avx512", "avx512_vnni"};
  const std::string &id = map.id();
  std::string name = "ckk_" + id, args = name + "_args";
  std::vector<std::string> functions;
  std::string text = "//===- " + id + "\n";
  text += scratchFunctions(map);
  text += thunk("call_" + id, name, args);
  for (const char *isa : isas) {
    bool has = std::any_of(implementer.implementations.begin(), implementer.implementations.end(),
                           [isa](const KernelMap::Implementation &i) { return i.isa == isa; });
    functions.push_back(has ? std::string(isa) + "_" + id : "nullptr");
    if (has)
      text += thunk(functions.back(), "ckk_" + implementer.id() + "__" + isa, args);
  }
  bool threadScratch = std::any_of(map.contract.scratch.begin(), map.contract.scratch.end(),
                                   [](const ScratchDecl &decl) { return decl.perThread; });
  std::string finite = finiteFunction(map.contract, args);
  text += finite;
  std::string slots = std::to_string(abiSlots(map.contract).size());
  text += "static_assert(sizeof(" + args + ") == 8 * " + slots + ", \"every field is one slot\");\n";
  text += "static const ck_kernel kernel_" + id + " = {\n    \"" + id + "\",\n    \"" +
          callDigest(map.contract, map.digest) + "\",\n    call_" + id + ",\n    {" + join(functions, ", ") +
          "},\n    " + slots + ",\n    " + (threadScratch ? "threadScratch_" + id : "nullptr") + ",\n    \"" +
          slotKinds(map.contract) + "\",\n    " + (finite.empty() ? "nullptr" : "checkFinite_" + id) + "};\n";
  text += "int32_t " + name + "(ck_context *ctx, const " + args + " *args) {\n  return ck_call_kernel(ctx, &kernel_" +
          id + ", args);\n}\n\n";
  return text;
}

} // namespace

Result<std::string> generateKernelRegistry(const std::vector<KernelMap> &maps) {
  std::vector<const KernelMap *> sorted;
  for (const KernelMap &map : maps)
    sorted.push_back(&map);
  std::sort(sorted.begin(), sorted.end(), [](const KernelMap *a, const KernelMap *b) { return a->id() < b->id(); });
  std::string text = kPreamble;
  text += "static_assert(CK_ISA_SCALAR == 0 && CK_ISA_AVX2 == 1 && CK_ISA_AVX512 == 2 && CK_ISA_AVX512_VNNI == 3 &&\n"
          "                  CK_ISA_COUNT == 4,\n              \"the table below is in this order\");\n\n";
  std::string table;
  for (const KernelMap *map : sorted) {
    Result<const KernelMap *> owner = implementer(maps, *map);
    if (!owner)
      return owner.error();
    text += mapText(*map, **owner);
    table += "    &kernel_" + map->id() + ",\n";
  }
  text += "const ck_kernel *const ck_kernel_table[] = {\n" + table + "    nullptr};\n";
  text += "const size_t ck_kernel_table_size = " + std::to_string(maps.size()) + ";\n";
  return text;
}

} // namespace ck
