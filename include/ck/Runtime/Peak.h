/*===- Peak.h - what this machine can do at most --------------------------===//
 *
 * The two ceilings of every kernel, measured, so that a benchmark can state its result as a share of them. Both use all
 * threads of the context and the best of several short trials; other load on the machine lowers them.
 *
 *===----------------------------------------------------------------------===*/
#ifndef CK_RUNTIME_PEAK_H
#define CK_RUNTIME_PEAK_H

#include "ck/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Giga f32 operations per second (a fused multiply-add is two) of independent multiply-adds in registers, with the
 * context's instruction set; its scalar form multiplies and adds in vectors of baseline x86-64. Takes about `seconds`
 * (<= 0: 0.1). */
CK_API double ck_measure_fma_peak(ck_context *ctx, double seconds);

/* Gigabytes per second (1e9) of reading `bytes` at `data` once, every cache line, without writing. The best of `passes`
 * (>= 1). Give it more than the last-level cache to measure memory. */
CK_API double ck_measure_read(ck_context *ctx, const void *data, size_t bytes, int passes);

/* ck_measure_read, the best of three passes, over a fresh buffer in huge pages; 0 = 1 GiB. Returns 0 with
 * ck_context_error set when there is no memory for it. */
CK_API double ck_measure_read_bandwidth(ck_context *ctx, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* CK_RUNTIME_PEAK_H */
