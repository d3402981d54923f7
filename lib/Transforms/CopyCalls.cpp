//===- CopyCalls.cpp - copies as calls of a provider ----------------------===//
#include "CopyCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ck;

bool ck::isCopyProvider(StringRef operation, const Contract &contract) {
  const Signature &signature = contract.signature;
  if (operation != "copy" || signature.inputs.size() != 1 || signature.outputs.size() != 1 || !contract.params.empty())
    return false;
  const SigOperand &from = signature.inputs.front(), &to = signature.outputs.front();
  return from.name != to.name && from.leadingDims && to.leadingDims && from.dims.size() == 1 && from.dims == to.dims &&
         from.dtype == to.dtype && !from.hasStrides && !to.hasStrides && !to.accumulates && !to.partial;
}

namespace {
class CopyProviders {
public:
  CopyProviders(ModuleOp module, KernelMapLibrary &library, const std::string &mapDir)
      : module(module), library(library), mapDir(mapDir) {}
  LogicalResult replace(memref::CopyOp copy);

private:
  LogicalResult loadMaps(Operation *user);
  /// The provider for buffers of `type`; null after an error at `user`.
  ProviderOp find(Operation *user, MemRefType type);

  ModuleOp module;
  KernelMapLibrary &library;
  std::string mapDir;
  std::optional<std::vector<const KernelMap *>> maps; ///< of plain copies
};
} // namespace

static Result<Bindings> bindCopy(const Contract &contract, Type type) {
  ActualOperand operand = actualOperand(type);
  return unify(contract.signature, contract.where, {operand}, {operand}, {});
}

LogicalResult CopyProviders::loadMaps(Operation *user) {
  Result<const std::vector<KernelMap> *> loaded = library.maps(mapDir);
  if (!loaded)
    return user->emitError() << "this value must be copied, but the module embeds no copy provider: "
                             << loaded.error().message;
  maps.emplace();
  for (const KernelMap &map : **loaded)
    if (map.sameAs.empty() && isCopyProvider(map.operation, map.contract))
      maps->push_back(&map);
  return success();
}

ProviderOp CopyProviders::find(Operation *user, MemRefType type) {
  for (auto provider : module.getOps<ProviderOp>()) {
    Contract contract = provider.getContract();
    if (isCopyProvider(provider.getInventoryOp(), contract) && bindCopy(contract, type))
      return provider;
  }
  if (!maps && failed(loadMaps(user)))
    return {};
  for (const KernelMap *map : *maps)
    if (bindCopy(map->contract, type)) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      return ProviderOp::create(builder, user->getLoc(), *map);
    }
  user->emitError() << "this value must be copied, but neither the module nor the kernel maps have a copy provider for "
                    << type;
  return {};
}

LogicalResult CopyProviders::replace(memref::CopyOp copy) {
  Value from = copy.getSource(), to = copy.getTarget();
  if (from == to) {
    copy.erase();
    return success();
  }
  auto type = cast<MemRefType>(to.getType());
  if (!type.getLayout().isIdentity() || !cast<MemRefType>(from.getType()).getLayout().isIdentity())
    return copy.emitError("this value must be copied between buffers that are not compact, which no provider does");
  ProviderOp provider = find(copy, type);
  if (!provider)
    return failure();
  Contract contract = provider.getContract();
  Result<Bindings> bindings = bindCopy(contract, type);
  OpBuilder builder(copy);
  std::vector<std::string> names = contract.signature.dimNames();
  SmallVector<StringRef> sizeNames;
  SmallVector<OpFoldResult> sizes;
  for (const std::string &name : names) {
    FailureOr<OpFoldResult> size = materializeDim(builder, copy.getLoc(), *bindings, name, {from, to}, {});
    if (failed(size))
      return copy.emitError() << "cannot compute '" << name << "' of '" << contract.id << "'";
    sizeNames.push_back(name);
    sizes.push_back(*size);
  }
  CallOp::create(builder, copy.getLoc(), FlatSymbolRefAttr::get(provider.getSymNameAttr()), from,
                 StringRef(contract.signature.inputs.front().name), to,
                 StringRef(contract.signature.outputs.front().name), sizeNames, sizes, builder.getDictionaryAttr({}));
  copy.erase();
  return success();
}

LogicalResult ck::replaceCopies(ModuleOp module, KernelMapLibrary &library, const std::string &mapDir) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  CopyProviders providers(module, library, mapDir);
  for (memref::CopyOp copy : copies)
    if (failed(providers.replace(copy)))
      return failure();
  return success();
}
