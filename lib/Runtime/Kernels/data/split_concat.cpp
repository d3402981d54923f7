//===- split_concat.cpp - tensors cut and joined along one dim ------------===//
//
// Both see the whole as [outer, N, inner] and piece i as [outer, Ni, inner]; an absent piece has extent 0. A provider
// fixes rank and axis. Only copies, so one implementation serves every instruction set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace {

constexpr int kPieces = 8;

/// A tensor cut along its middle dim. Elements of 4 bytes.
struct Cut {
  int64_t outer, N, inner;
  int64_t extents[kPieces];

  /// Calls move(offset in whole, piece, offset in piece, elements) for each run of contiguous elements.
  template <typename Move> int32_t forEachRun(ck_context *ctx, Move move) const {
    int64_t total = 0;
    for (int64_t extent : extents)
      total += extent;
    if (total != N)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "the pieces have %lld rows along the axis, the whole has %lld",
                     static_cast<long long>(total), static_cast<long long>(N));
    ck::parallelRange(ctx, outer, ck::rowsPerTask(N * inner), [&](int64_t begin, int64_t end, int) {
      for (int64_t o = begin; o < end; ++o)
        for (int64_t piece = 0, from = 0; piece < kPieces; from += extents[piece++])
          move((o * N + from) * inner, piece, o * extents[piece] * inner, extents[piece] * inner);
    });
    return CK_OK;
  }
};

using Word = uint32_t; // elements move bit by bit

template <typename Args> int32_t split(ck_context *ctx, const Args *args, int64_t outer, int64_t inner) {
  void *const outputs[kPieces] = {args->output0, args->output1, args->output2, args->output3,
                                  args->output4, args->output5, args->output6, args->output7};
  const Cut cut = {
      outer, args->N, inner, {args->N0, args->N1, args->N2, args->N3, args->N4, args->N5, args->N6, args->N7}};
  return cut.forEachRun(ctx, [&](int64_t whole, int64_t piece, int64_t part, int64_t n) {
    ck::copyElements(static_cast<Word *>(outputs[piece]) + part, static_cast<const Word *>(args->input) + whole, n);
  });
}

template <typename Args> int32_t concat(ck_context *ctx, const Args *args, int64_t outer, int64_t inner) {
  const void *const inputs[kPieces] = {args->input0, args->input1, args->input2, args->input3,
                                       args->input4, args->input5, args->input6, args->input7};
  const Cut cut = {
      outer, args->N, inner, {args->N0, args->N1, args->N2, args->N3, args->N4, args->N5, args->N6, args->N7}};
  return cut.forEachRun(ctx, [&](int64_t whole, int64_t piece, int64_t part, int64_t n) {
    ck::copyElements(static_cast<Word *>(args->output) + whole, static_cast<const Word *>(inputs[piece]) + part, n);
  });
}

} // namespace

/// Providers of one rank and axis: the dims before the axis multiply to `outer`, those behind it to `inner`.
#define CK_SPLIT_CONCAT(form, outer, inner)                                                                            \
  CK_PORTABLE_KERNEL(split_##form##_b32) { return split(ctx, args, outer, inner); }                                    \
  CK_PORTABLE_KERNEL(concat_##form##_b32) { return concat(ctx, args, outer, inner); }

CK_SPLIT_CONCAT(rank1_axis0, 1, 1)
CK_SPLIT_CONCAT(rank2_axis0, 1, args->B)
CK_SPLIT_CONCAT(rank2_axis1, args->A, 1)
CK_SPLIT_CONCAT(rank3_axis0, 1, args->B * args->C)
CK_SPLIT_CONCAT(rank3_axis1, args->A, args->B)
CK_SPLIT_CONCAT(rank3_axis2, args->A * args->B, 1)
