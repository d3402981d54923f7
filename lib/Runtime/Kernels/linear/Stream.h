//===- Stream.h - weights that are read once, in order ----------*- C++ -*-===//
#ifndef CK_LIB_RUNTIME_KERNELS_LINEAR_STREAM_H
#define CK_LIB_RUNTIME_KERNELS_LINEAR_STREAM_H

namespace ck {

/// Asks for what lies some way behind `p`; to be called once for each line of a stream. In two steps, into the second
/// cache and from there into the first, since a core has few misses of its first cache under way.
inline void prefetchStream(const void *p) {
  __builtin_prefetch(static_cast<const char *>(p) + 8192, 0, 2);
  __builtin_prefetch(static_cast<const char *>(p) + 3072);
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_STREAM_H
