//===- Context.cpp - creation, errors and scratch of a context ------------===//
//
// Nothing here throws out: lack of memory or threads becomes NULL or a status.
//
//===----------------------------------------------------------------------===//
#include "Context.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

using namespace ck;

static thread_local char creationError[256] = "";

/// The instruction set that CK_ISA asks for, else the best; -1 with creationError set when it cannot be had.
static int defaultIsa() {
  const char *wanted = std::getenv("CK_ISA");
  if (!wanted || !*wanted)
    return ck_best_isa();
  int isa = ck_isa_parse(wanted);
  if (isa < 0)
    std::snprintf(creationError, sizeof(creationError),
                  "environment variable CK_ISA is '%.40s', expected scalar, avx2, avx512 or avx512_vnni", wanted);
  else if (isa > ck_best_isa())
    std::snprintf(creationError, sizeof(creationError), "environment variable CK_ISA is '%s', but this machine has %s",
                  wanted, ck_isa_name(ck_best_isa()));
  return isa > ck_best_isa() ? -1 : isa;
}

ck_context *ck_context_create(int threads) {
  creationError[0] = 0;
  if (threads < 0 || threads > CK_MAX_THREADS) {
    std::snprintf(creationError, sizeof(creationError), "%d threads asked for, expected 1 to %d, or 0 for all CPUs",
                  threads, CK_MAX_THREADS);
    return nullptr;
  }
  int isa = defaultIsa();
  if (isa < 0)
    return nullptr;
  if (threads == 0)
    threads = std::min(usableCpus(), CK_MAX_THREADS);
  try {
    return new ck_context(threads, ck_isa(isa));
  } catch (const std::system_error &) {
    std::snprintf(creationError, sizeof(creationError), "the system refuses to start %d threads", threads);
  } catch (const std::bad_alloc &) {
    std::snprintf(creationError, sizeof(creationError), "out of memory");
  }
  return nullptr;
}

void ck_context_destroy(ck_context *ctx) { delete ctx; }

int ck_context_threads(const ck_context *ctx) { return ctx->team.threads(); }

ck_isa ck_context_isa(const ck_context *ctx) { return ctx->isa; }

int32_t ck_context_set_isa(ck_context *ctx, ck_isa isa) {
  if (!ck_isa_name(isa))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "%d is no instruction set", int(isa));
  if (isa > ck_best_isa())
    return ck_fail(ctx, CK_UNSUPPORTED, "instruction set %s asked for, but this machine has %s", ck_isa_name(isa),
                   ck_isa_name(ck_best_isa()));
  ctx->isa = isa;
  return CK_OK;
}

const char *ck_context_error(const ck_context *ctx) { return ctx ? ctx->error.c_str() : creationError; }

int32_t ck_context_error_code(const ck_context *ctx) { return ctx->errorCode; }

static void setError(ck_context *ctx, int32_t code, std::string message) {
  std::lock_guard<std::mutex> lock(ctx->errorMutex);
  ctx->error = std::move(message);
  ctx->errorCode = code;
  ++ctx->failures;
}

int32_t ck_fail(ck_context *ctx, int32_t code, const char *format, ...) {
  if (!ctx)
    return code;
  va_list args;
  va_start(args, format);
  char text[4096];
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  try {
    setError(ctx, code, text);
  } catch (const std::bad_alloc &) {
    setError(ctx, code, {});
  }
  return code;
}

int32_t ck::locateError(ck_context *ctx, int32_t code, uint64_t failuresBefore, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char where[512];
  std::vsnprintf(where, sizeof(where), format, args);
  va_end(args);
  try {
    std::string prefix = where + std::string(": ");
    if (ctx->failures == failuresBefore)
      setError(ctx, code, prefix + "failed with code " + std::to_string(code));
    else if (ctx->error.compare(0, prefix.size(), prefix) != 0)
      setError(ctx, code, prefix + ctx->error);
  } catch (const std::bad_alloc &) {
    // The message without its place is better than none.
  }
  return code;
}

void ck_parallel(ck_context *ctx, int64_t tasks, ck_task task, void *data) { ctx->team.run(tasks, task, data); }

void *ck_thread_scratch(ck_context *ctx, int thread) {
  return size_t(thread) < ctx->scratch.size() ? ctx->scratch[thread].data() : nullptr;
}

int32_t ck_context_reserve_thread_scratch(ck_context *ctx, size_t bytes) {
  if (bytes <= ctx->scratchBytes)
    return CK_OK;
  if (ctx->team.isRunning())
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "thread scratch cannot grow inside a task");
  for (Memory &memory : ctx->scratch)
    if (memory.size() < bytes && !memory.allocate(bytes))
      return ck_fail(ctx, CK_OUT_OF_MEMORY, "out of memory: %zu bytes of scratch for each of %zu threads", bytes,
                     ctx->scratch.size());
  ctx->scratchBytes = bytes;
  return CK_OK;
}

void ck_context_check_finite(ck_context *ctx, int on) { ctx->checkFinite = on != 0; }

void ck_profile_enable(ck_context *ctx, int on) {
  if (on && !ctx->profiling)
    ctx->profile.clear();
  ctx->profiling = on != 0;
}

int64_t ck_profile_rows(const ck_context *ctx, const ck_profile_row **rows) {
  *rows = ctx->profile.data();
  return int64_t(ctx->profile.size());
}
