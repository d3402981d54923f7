//===- ChooseProvider.h - which kernel stands for an op ---------*- C++ -*-===//
//
// The decision behind --ck-select-providers, apart from the rewriting: legality, cost, preference, and the words for
// each of them.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_CHOOSEPROVIDER_H
#define CK_LIB_TRANSFORMS_CHOOSEPROVIDER_H

#include "Entries.h"
#include "ck/KernelMaps/CostTable.h"
#include "ck/KernelMaps/Match.h"

namespace ck {

/// How to choose among legal providers.
struct SelectionPolicy {
  enum class Kind { Fastest, Reference, Pin };
  Kind kind = Kind::Fastest;
  NumericsClass limit = NumericsClass::F32;
  std::vector<std::string> isas;  ///< that every target machine has
  std::optional<CostTable> times; ///< measured; they count where every legal candidate has one
  /// Preferred providers, best first, by mnemonic and by name of the location.
  std::map<std::string, std::vector<std::string>> pinsByOp, pinsByName;

  /// Sets `isas` to those up to `widest`; false if there is none of that name.
  bool setIsa(llvm::StringRef widest);
};

/// A chain of ops under one contract, formed or only thought of.
struct FusedCall {
  llvm::StringRef contract;
  llvm::ArrayRef<mlir::NamedAttribute> params;
  llvm::ArrayRef<mlir::Value> inputs, outputs;
};

/// A chosen kernel and how it is called.
struct Choice {
  const KernelMap *map = nullptr;
  Match match;
  int64_t cost = 0;            ///< by the map
  std::optional<int64_t> time; ///< in picoseconds, if it was measured
};

/// The op as matching sees it. Attributes of the op with a default are filled in; unit attributes are booleans.
/// `signature` must be the parsed signature of the op.
OpDescription describeOp(SignatureOpInterface op, const Signature &signature);

class ProviderChooser {
public:
  /// `maps` must outlive the chooser and what it returns.
  ProviderChooser(const std::vector<KernelMap> &maps, SelectionPolicy policy);

  /// Chooses for an op of an entry with the shapes `shapes`. Emits one error at the op that lists every candidate with
  /// the first reason against it, and fails. With `remarks`, says what was chosen.
  llvm::FailureOr<Choice> choose(SignatureOpInterface op, const BoundedShapes &shapes, bool remarks) const;

  /// The provider of the contract of `op`, or a null map if none is legal and the region takes its place. Fails with
  /// an error if two are equal.
  llvm::FailureOr<Choice> chooseFused(FusedOp op, const BoundedShapes &shapes, bool remarks) const;

  /// The cost of the cheapest legal provider of an op, or of a contract; none if no provider is legal.
  std::optional<int64_t> costOf(SignatureOpInterface op, const BoundedShapes &shapes) const;
  std::optional<int64_t> costOf(const FusedCall &call, const BoundedShapes &shapes) const;

private:
  struct Candidate {
    const KernelMap *map;
    Choice choice;      ///< if legal
    std::string reason; ///< else
    bool legal() const { return reason.empty(); }
  };

  llvm::FailureOr<llvm::SmallVector<Candidate, 0>> candidatesOf(SignatureOpInterface op,
                                                                const BoundedShapes &shapes) const;
  llvm::SmallVector<Candidate, 0> candidatesOf(const FusedCall &call, const BoundedShapes &shapes) const;
  static std::optional<int64_t> leastCost(llvm::ArrayRef<Candidate> candidates);
  Candidate consider(const KernelMap &map, const OpDescription &description, llvm::ArrayRef<mlir::Value> inputs,
                     llvm::ArrayRef<mlir::Value> outputs, const BoundedShapes &shapes) const;
  /// The best legal candidate by pins and policy; null after an error at `op`.
  const Candidate *best(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates) const;
  /// The choice of the best candidate, with a remark at `op` if asked for.
  llvm::FailureOr<Choice> settle(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates, bool remarks) const;
  const std::vector<std::string> *pinsFor(mlir::Operation *op) const;
  std::string isaReason(const KernelMap &map) const;

  SelectionPolicy policy;
  /// By mnemonic or contract.
  std::map<std::string, std::vector<const KernelMap *>> byOp;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_CHOOSEPROVIDER_H
