//===- AtomicFile.h - whole files or none -----------------------*- C++ -*-===//
//
// An output file is written beside its place and renamed into it, so that a failure leaves no half of it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_ATOMICFILE_H
#define CK_IMPORT_FORMATS_ATOMICFILE_H

#include "ck/Support/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ck {

/// Writes `parts`, one after the other, as the file `path`. A link is followed; something that exists and is no regular
/// file (a pipe, /dev/stdout) is written in place. Error BAD_PATH: the system's reason; nothing new is left behind.
Status writeFileAtomically(const std::string &path, const std::vector<std::string_view> &parts);

} // namespace ck

#endif // CK_IMPORT_FORMATS_ATOMICFILE_H
