//===- KernelMapLibrary.h - kernel maps that passes share -------*- C++ -*-===//
//
// Several passes of a pipeline ask the same folder of kernel maps. This analysis reads it once for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_KERNELMAPLIBRARY_H
#define CK_LIB_TRANSFORMS_KERNELMAPLIBRARY_H

#include "ck/KernelMaps/KernelMap.h"
#include "mlir/Pass/AnalysisManager.h"

#include <memory>

namespace ck {

/// An analysis of a module that no pass invalidates: it is about files, not about the module.
class KernelMapLibrary {
public:
  explicit KernelMapLibrary(mlir::Operation *) {}
  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) { return false; }

  /// The folder that an option names; the default one where it is empty.
  static std::string folder(const std::string &option) { return option.empty() ? defaultKernelMapDir() : option; }

  /// The maps below folder(option), read at the first call; they live as long as this.
  Result<const std::vector<KernelMap> *> maps(const std::string &option) {
    std::unique_ptr<std::vector<KernelMap>> &known = folders[folder(option)];
    if (!known) {
      Result<std::vector<KernelMap>> loaded = loadKernelMaps(folder(option));
      if (!loaded)
        return loaded.error();
      known = std::make_unique<std::vector<KernelMap>>(*std::move(loaded));
    }
    return known.get();
  }

private:
  std::map<std::string, std::unique_ptr<std::vector<KernelMap>>> folders;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_KERNELMAPLIBRARY_H
