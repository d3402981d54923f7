//===- Plan.h - the .ckplan format ------------------------------*- C++ -*-===//
//
// What a writer and the reader of a .ckplan agree on. The whole format, with an example, is docs/ckplan.md; in short:
//
//   {"format": "ckplan", "version": 1, "abi": CK_ABI_VERSION, "name": ..., "digest": ...,
//    "const_bytes": n, "state_bytes": n,
//    "buffers": [{"name", "role": "weight" | "state" | "const", "dtype", "dims": [n...], "bytes": n,
//                 "offset": n (state, const), "file"?, "tensor"? (weight)}],
//    "kernels": [{"id", "digest", "slots": n}],
//    "entries": [{"name", "arena_bytes": n, "thread_scratch_bytes": n, "dims": [{"name", "bound": n}],
//                 "inputs": [{"name", "dtype", "dims": [n | "T" ...]}], "outputs": likewise,
//                 "steps": [{"kernel": index, "name"?, "slots": [slot...]} | {"check": size, "bound": n, "name"?}]}]}
//
//   slot := null                absent operand
//         | n                   int64_t: dim, stride, integer, bool or enum parameter
//         | {"f": x}            double parameter
//         | {"n": size}         int64_t computed at run time
//         | {"w": index}        weight, by position among the weight buffers
//         | {"c" | "s" | "a": offset, "bytes"?: n}   in the const, state or activation arena; bytes at the bound
//         | {"i": index} | {"o": index}              input or output of the entry
//   size := n | "T" (a dim of the entry) | [op, size, size]    op: + - * / % ceildiv min max
//
//===----------------------------------------------------------------------===//
#ifndef CK_RUNTIME_PLAN_H
#define CK_RUNTIME_PLAN_H

namespace ck {

/// The value of "format".
inline constexpr const char *kPlanFormat = "ckplan";
/// The value of "version"; the reader takes no other.
inline constexpr int kPlanVersion = 1;
/// The most slots of one kernel that a plan can call.
inline constexpr int kMaxPlanSlots = 256;
/// The deepest nesting of a run-time size.
inline constexpr int kMaxPlanSizeDepth = 16;

} // namespace ck

#endif // CK_RUNTIME_PLAN_H
