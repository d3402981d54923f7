//===- SharedLibrary.cpp - links and opens compiled models ----------------===//
#include "ck/Target/NativeCode.h"
#include "ck/Target/Program.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>

using namespace ck;

static std::string findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  if (auto path = llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"}))
    return *path;
  return "";
}

Status ck::writeSharedLibrary(mlir::ModuleOp module, const std::string &path) {
  std::string linker = findLinker();
  if (linker.empty())
    return Error{"a shared library needs a linker: install lld-22 or binutils (looked for ld.lld and ld)"};
  llvm::SmallString<128> object, library;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(path + ".%%%%%%.o", object))
    return Error{path + ": cannot write there: " + code.message()};
  auto removeObject = llvm::scope_exit([&] { llvm::sys::fs::remove(object); });
  library = path;
  library += object.str().substr(path.size(), 7);
  auto removeLibrary = llvm::scope_exit([&] { llvm::sys::fs::remove(library); });
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(object, code);
    if (code)
      return Error{object.str().str() + ": cannot write: " + code.message()};
    if (Status status = writeObject(module, stream); !status)
      return status;
    stream.close();
    if (stream.has_error())
      return Error{object.str().str() + ": cannot write: " + stream.error().message()};
  }
  // -Bsymbolic binds the model's own names inside the library; kernels resolve at load, in the runtime.
  llvm::StringRef arguments[] = {linker, "-shared", "-Bsymbolic", "-z", "noexecstack", "-o", library, object};
  std::string message;
  if (int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt, {}, 0, 0, &message))
    return Error{linker + " failed with status " + std::to_string(status) + (message.empty() ? "" : ": " + message)};
  if (std::error_code code = llvm::sys::fs::rename(library, path))
    return Error{path + ": cannot write: " + code.message()};
  removeLibrary.release();
  return Status::success();
}

Result<const ck_model *> ck::loadSharedLibrary(const std::string &path, const std::string &name) {
  // dlopen searches the system's folders for a name without a slash.
  std::string file = llvm::StringRef(path).contains('/') ? path : "./" + path;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{path + ": cannot load: " + dlerror()};
  std::string symbol = "ckm_" + mangle(name);
  auto getter = reinterpret_cast<const ck_model *(*)()>(dlsym(library, symbol.c_str()));
  if (!getter) {
    dlclose(library);
    return Error{path + ": is no compiled model '" + name + "': it has no symbol " + symbol};
  }
  return getter();
}
