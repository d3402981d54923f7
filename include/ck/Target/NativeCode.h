//===- NativeCode.h - JIT, objects and shared libraries ---------*- C++ -*-===//
//
// From a module in the LLVM dialect (the result of --ck-lower-to-llvm) to code that runs.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TARGET_NATIVECODE_H
#define CK_TARGET_NATIVECODE_H

#include "ck/Runtime/Runtime.h"
#include "ck/Support/Result.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace ck {

/// A compiled model in this process; the code lives as long as the object.
class JitModel {
public:
  virtual ~JitModel() = default;
  virtual const ck_model *model() const = 0;
};

/// Compiles in memory. Kernels resolve to the runtime that this process has loaded.
Result<std::unique_ptr<JitModel>> compileJit(mlir::ModuleOp module);

/// Writes a position-independent x86-64 object.
Status writeObject(mlir::ModuleOp module, llvm::raw_pwrite_stream &stream);

/// Writes a shared library at `path`, by way of a temporary file beside it. Needs a linker (ld.lld or ld) on the PATH.
Status writeSharedLibrary(mlir::ModuleOp module, const std::string &path);

/// Opens a shared library of a model and returns its table; the library stays loaded. `name` is the model's name.
Result<const ck_model *> loadSharedLibrary(const std::string &path, const std::string &name);

} // namespace ck

#endif // CK_TARGET_NATIVECODE_H
