//===- KernelMap.h - the contract of one native function --------*- C++ -*-===//
//
// A kernel map is a JSON file under kernel_maps/<family>/<id>.json, valid under kernel_maps/schema.json. This header
// is the whole view of it that the compiler and the tools have: no JSON type and no exception crosses it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_KERNELMAP_H
#define CK_KERNELMAPS_KERNELMAP_H

#include "ck/KernelMaps/Signature.h"

namespace ck {

/// A parameter of a kernel: an attribute of the op, passed by value.
struct ParamDecl {
  enum class Kind { I64, F64, Bool, Enum };
  std::string name;
  Kind kind = Kind::F64;
  std::vector<std::string> values;   ///< of an Enum: passed as the index into this list
  std::optional<Param> defaultValue; ///< used when the op has no such attribute
  std::string str() const;           ///< "eps:f64", "act:{silu,gelu_tanh}", "alpha:f64 = 1"
};
Result<ParamDecl> parseParamDecl(std::string_view text);
/// `value` as the type of `decl` (an integer is taken for an F64), or an Error that names both.
Result<Param> convertParam(const ParamDecl &decl, const Param &value);

/// Scratch memory: `name[expr]:dtype`, with `@thread` once per team member and outside the arena. A kernel with several
/// per-thread pieces finds them one after the other in the order of the map, each at a multiple of 64 bytes.
struct ScratchDecl {
  std::string name;
  Expr elements = Expr::integer(0);
  std::string dtype;
  bool perThread = false;
  std::string str() const;
  /// Size under `lookup`, rounded up to whole blocks of the type and to 64 bytes; kDynamicDim when not known yet.
  Result<int64_t> bytes(const Expr::Lookup &lookup) const;
};
Result<ScratchDecl> parseScratchDecl(std::string_view text);

/// The part of a map that lowering needs; `ck.provider` embeds exactly this.
struct Contract {
  std::string id;
  Signature signature;
  std::vector<WhereClause> where;
  std::vector<ParamDecl> params;
  std::vector<ScratchDecl> scratch;
  std::vector<std::pair<std::string, std::string>> inplace; ///< (input, output) that may share storage
};

/// One op that the provider implements: op mnemonic without `ck.`, attribute values that must hold, and operand
/// renamings (kernel operand -> op operand; equal names need none).
struct Implements {
  std::string op;
  Params attrs;
  std::map<std::string, std::string> bind;
};

/// Numerics classes in order of strictness.
enum class NumericsClass { F64, F32, F16Operands, BF16Operands, Q8Activations, Approx };
std::optional<NumericsClass> parseNumericsClass(std::string_view name);
std::string_view toString(NumericsClass cls);

struct KernelMap {
  Contract contract;
  std::string operation; ///< name in the inventory
  std::vector<Implements> implements;
  std::vector<Expr> requirements; ///< `requires`: predicates over static dims and params
  NumericsClass numerics = NumericsClass::F32;
  std::string numericsContract, accumulation, rounding;
  double tolerance = 0; ///< max error over max |reference|
  std::string bits;     ///< exact reference that every implementation equals bit for bit; "" = none claimed
  struct Implementation {
    std::string isa, source;
  };
  std::vector<Implementation> implementations; ///< none in a twin (sameAs)
  std::string backwardOf, sameAs, parallel, notes, host, pack;
  std::vector<std::string> fuses;
  std::optional<Expr> cost; ///< over dims, at the bound; lower is preferred
  std::string path, digest; ///< file, and SHA-256 of its canonical JSON

  const std::string &id() const { return contract.id; }
};

/// Reads one map from memory; errors name `path`, JSON pointer and rule:
///   norm/x.json: #/params/0/type: expected one of "i64", "f64", "bool", "enum", found "f32" [enum]
/// The stem of `path` must equal the id.
Result<KernelMap> parseKernelMap(std::string_view text, const std::string &path);
/// Loads one map; errors name file, JSON pointer and rule.
Result<KernelMap> loadKernelMap(const std::string &path);
/// Loads every *.json below `dir` (except schema.json), sorted by id; duplicate ids are an error.
Result<std::vector<KernelMap>> loadKernelMaps(const std::string &dir);
/// $CK_KERNEL_MAPS, else ../share/ck/kernel_maps beside the running program if it exists, else the source tree's.
std::string defaultKernelMapDir();

/// One 8-byte slot of a provider's args struct. Order: operands (inputs, then outputs not already listed), arena
/// scratch, dims (Signature::dimNames, then dims defined by `where` alone), run-time strides, params.
/// Pointers are NULL when absent; dims and strides (in elements) are int64_t; F64 params are double, others int64_t.
struct AbiSlot {
  enum class Kind { Operand, Scratch, Dim, Stride, Param };
  Kind kind;
  std::string name;    ///< field name; a stride is `<operand>_stride<axis>`
  std::string operand; ///< of a stride
  int axis = 0;        ///< of a stride
  bool isDouble = false;
  bool isConst = false; ///< operand that the kernel only reads
};
std::vector<AbiSlot> abiSlots(const Contract &contract);

/// The attributes that expressions of `contract` name as `$name`, sorted. A call passes them along with the params.
std::vector<std::string> attributeNames(const Contract &contract);

/// What a compiled call and the runtime must agree on: SHA-256 over the contract as text and the digest of its map.
std::string callDigest(const Contract &contract, const std::string &mapDigest);

} // namespace ck

#endif // CK_KERNELMAPS_KERNELMAP_H
