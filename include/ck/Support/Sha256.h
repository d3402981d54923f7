//===- Sha256.h - digests -------------------------------------*- C++ -*-===//
//
// SHA-256 (FIPS 180-4), for digests of kernel maps and plans. Not meant for secrets.
//
//===----------------------------------------------------------------------===//
#ifndef CK_SUPPORT_SHA256_H
#define CK_SUPPORT_SHA256_H

#include <string>
#include <string_view>

namespace ck {

/// "sha256:" and 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace ck

#endif // CK_SUPPORT_SHA256_H
