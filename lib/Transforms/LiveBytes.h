//===- LiveBytes.h - how many bytes of a plan matter at each step -*- C++ -*-===//
//
// Lifetimes as the verifier of plans sees them: from the write of a value to its last use. No plan can be smaller than
// the most bytes that are live at one step, and red zones are free bytes between what is live.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_LIVEBYTES_H
#define CK_LIB_TRANSFORMS_LIVEBYTES_H

#include "ByteMap.h"

namespace ck {

class LiveBytes {
public:
  /// Records a use of `buffer` at `step`; `fresh` if it is given a new value there. Steps never fall.
  void use(mlir::Value buffer, ByteRange range, int64_t step, bool fresh);

  /// The largest number of bytes, in units of 64, that are live at one step. Shared bytes count once.
  int64_t most() const;

  /// A live buffer with less than `guard` free bytes beside it.
  struct Crowd {
    mlir::Value buffer, neighbour; ///< no neighbour: the end of the arena
  };
  std::optional<Crowd> findCloserThan(int64_t guard, int64_t arenaBytes) const;

private:
  struct Life {
    mlir::Value buffer;
    ByteRange range;
    int64_t first, last;
  };
  /// Calls `visit` with what is live at each step where that changes, sorted by address.
  void forEachStep(llvm::function_ref<void(llvm::ArrayRef<Life>)> visit) const;

  std::vector<Life> lives;
  llvm::DenseMap<mlir::Value, size_t> current; ///< latest life of a buffer
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_LIVEBYTES_H
