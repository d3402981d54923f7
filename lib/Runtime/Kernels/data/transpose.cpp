//===- transpose.cpp - permuted dims --------------------------------------===//
//
// Any permutation of up to four dims is first reduced: dims of extent 1 vanish, dims that stay neighbours become one.
// What is left moves whole rows where the last dim stays last, else square tiles between the two contiguous dims, so
// that both sides touch whole cache lines. Elements of 4 bytes, moved bit by bit.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace {

using Word = uint32_t;
constexpr int kMaxRank = 4;

/// An output dim: its extent and how far a step along it moves in either tensor.
struct Dim {
  int64_t extent, inStep, outStep;
};

/// The output's dims from outermost to innermost.
struct Permutation {
  Dim dims[kMaxRank];
  int rank = 0;

  Permutation(const int64_t *inExtents, const int *perm, int fullRank) {
    int64_t inSteps[kMaxRank], step = 1;
    for (int i = fullRank; i-- > 0; step *= inExtents[i])
      inSteps[i] = step;
    for (int i = 0; i < fullRank; ++i) {
      const int64_t extent = inExtents[perm[i]], inStep = inSteps[perm[i]];
      if (extent == 1)
        continue;
      if (rank > 0 && dims[rank - 1].inStep == inStep * extent)
        dims[rank - 1] = {dims[rank - 1].extent * extent, inStep, 0};
      else
        dims[rank++] = {extent, inStep, 0};
    }
    if (rank == 0)
      dims[rank++] = {1, 1, 0};
    step = 1;
    for (int i = rank; i-- > 0; step *= dims[i].extent)
      dims[i].outStep = step;
  }
};

/// Offsets of the i-th combination of `dims[0..n)`.
struct Offsets {
  int64_t in = 0, out = 0;
  Offsets(const Dim *dims, int n, int64_t i) {
    for (int k = n; k-- > 0; i /= dims[k].extent) {
      in += i % dims[k].extent * dims[k].inStep;
      out += i % dims[k].extent * dims[k].outStep;
    }
  }
};

void moveTile(const Word *in, Word *out, const Dim &row, const Dim &column, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      out[r * row.outStep + c * column.outStep] = in[r * row.inStep + c * column.inStep];
}

void transposeTiled(ck_context *ctx, const Word *input, Word *output, Permutation p) {
  // The dim that is contiguous in the input goes last but one; the order of the others does not matter.
  int contiguous = 0;
  while (p.dims[contiguous].inStep != 1)
    ++contiguous;
  std::swap(p.dims[contiguous], p.dims[p.rank - 2]);
  const Dim row = p.dims[p.rank - 2], column = p.dims[p.rank - 1];
  constexpr int64_t kTile = 16;
  const int64_t rowTiles = ck::ceilDiv(row.extent, kTile), columnTiles = ck::ceilDiv(column.extent, kTile);
  int64_t outer = 1;
  for (int i = 0; i + 2 < p.rank; ++i)
    outer *= p.dims[i].extent;
  const int64_t grain = ck::rowsPerTask(kTile * column.extent);
  ck::parallelRange(ctx, outer * rowTiles, grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const Offsets at(p.dims, p.rank - 2, i / rowTiles);
      const int64_t r = i % rowTiles * kTile;
      for (int64_t k = 0; k < columnTiles; ++k) {
        const int64_t c = k * kTile;
        moveTile(input + at.in + r * row.inStep + c * column.inStep,
                 output + at.out + r * row.outStep + c * column.outStep, row, column, std::min(kTile, row.extent - r),
                 std::min(kTile, column.extent - c));
      }
    }
  });
}

int32_t transpose(ck_context *ctx, const void *input, void *output, std::initializer_list<int64_t> extents,
                  std::initializer_list<int> perm) {
  for (int64_t extent : extents)
    if (extent == 0)
      return CK_OK;
  const Permutation p(extents.begin(), perm.begin(), static_cast<int>(extents.size()));
  const Word *in = static_cast<const Word *>(input);
  Word *out = static_cast<Word *>(output);
  const Dim &last = p.dims[p.rank - 1];
  if (last.inStep != 1) {
    transposeTiled(ctx, in, out, p);
    return CK_OK;
  }
  int64_t rows = 1;
  for (int i = 0; i + 1 < p.rank; ++i)
    rows *= p.dims[i].extent;
  ck::parallelRange(ctx, rows, ck::rowsPerTask(last.extent), [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const Offsets at(p.dims, p.rank - 1, i);
      ck::copyElements(out + at.out, in + at.in, p.dims[p.rank - 1].extent);
    }
  });
  return CK_OK;
}

} // namespace

#define CK_TRANSPOSE_2(a, b)                                                                                           \
  CK_PORTABLE_KERNEL(transpose_##a##b##_b32) {                                                                         \
    return transpose(ctx, args->input, args->output, {args->D0, args->D1}, {a, b});                                    \
  }
#define CK_TRANSPOSE_3(a, b, c)                                                                                        \
  CK_PORTABLE_KERNEL(transpose_##a##b##c##_b32) {                                                                      \
    return transpose(ctx, args->input, args->output, {args->D0, args->D1, args->D2}, {a, b, c});                       \
  }
#define CK_TRANSPOSE_4(a, b, c, d)                                                                                     \
  CK_PORTABLE_KERNEL(transpose_##a##b##c##d##_b32) {                                                                   \
    return transpose(ctx, args->input, args->output, {args->D0, args->D1, args->D2, args->D3}, {a, b, c, d});          \
  }

CK_TRANSPOSE_2(1, 0)
CK_TRANSPOSE_3(0, 2, 1)
CK_TRANSPOSE_3(1, 0, 2)
CK_TRANSPOSE_3(1, 2, 0)
CK_TRANSPOSE_3(2, 0, 1)
CK_TRANSPOSE_3(2, 1, 0)
CK_TRANSPOSE_4(0, 1, 3, 2)
CK_TRANSPOSE_4(0, 2, 1, 3)
CK_TRANSPOSE_4(0, 2, 3, 1)
CK_TRANSPOSE_4(0, 3, 1, 2)
CK_TRANSPOSE_4(0, 3, 2, 1)
CK_TRANSPOSE_4(1, 0, 2, 3)
CK_TRANSPOSE_4(1, 0, 3, 2)
CK_TRANSPOSE_4(1, 2, 0, 3)
CK_TRANSPOSE_4(1, 2, 3, 0)
CK_TRANSPOSE_4(1, 3, 0, 2)
CK_TRANSPOSE_4(1, 3, 2, 0)
CK_TRANSPOSE_4(2, 0, 1, 3)
CK_TRANSPOSE_4(2, 0, 3, 1)
CK_TRANSPOSE_4(2, 1, 0, 3)
CK_TRANSPOSE_4(2, 1, 3, 0)
CK_TRANSPOSE_4(2, 3, 0, 1)
CK_TRANSPOSE_4(2, 3, 1, 0)
CK_TRANSPOSE_4(3, 0, 1, 2)
CK_TRANSPOSE_4(3, 0, 2, 1)
CK_TRANSPOSE_4(3, 1, 0, 2)
CK_TRANSPOSE_4(3, 1, 2, 0)
CK_TRANSPOSE_4(3, 2, 0, 1)
CK_TRANSPOSE_4(3, 2, 1, 0)
