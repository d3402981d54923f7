//===- Context.h - inside a ck_context --------------------------*- C++ -*-===//
//
// The team, the instruction set in force, the last error, scratch of the team members and the profile.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_CONTEXT_H
#define CK_LIB_RUNTIME_CONTEXT_H

#include "Memory.h"
#include "Team.h"

#include <mutex>
#include <string>

struct ck_context {
  explicit ck_context(int threads, ck_isa isa) : team(threads), isa(isa), scratch(threads) {}

  ck::Team team;
  ck_isa isa;

  std::mutex errorMutex; ///< tasks of several threads may fail at once
  std::string error;
  int32_t errorCode = CK_OK;
  uint64_t failures = 0; ///< how often an error was recorded

  std::vector<ck::Memory> scratch;
  size_t scratchBytes = 0;

  bool profiling = false, checkFinite = false;
  std::vector<ck_profile_row> profile;
};

namespace ck {

/// Puts a place in front of the message with which a callee failed, unless it is there already, and returns `code`. A
/// callee that recorded nothing since ctx->failures was `failuresBefore` gets a plain sentence.
int32_t locateError(ck_context *ctx, int32_t code, uint64_t failuresBefore, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

} // namespace ck

#endif // CK_LIB_RUNTIME_CONTEXT_H
