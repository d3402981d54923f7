//===- Blocks.h - the block-quantised formats, as their publisher defines them -*- C++ -*-===//
//
// Read byte by byte from the format description (GGUF), in plain loops. Kernels, importer and this reference each have
// code of their own, so that a misread field cannot agree with itself.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_REFERENCE_BLOCKS_H
#define CK_TEST_REFERENCE_BLOCKS_H

#include "Reference.h"

namespace ck::reference {

/// The parts of one block. The value of element i is
///   d * scale[i / sub] * (code[i] - offset) - dmin * min[i / sub]     with `sub` elements in each sub-block,
/// where formats of 32 elements have one sub-block with scale 1, and `m` of q4_1, q5_1 is held as dmin = -m, min = 1.
struct Block {
  int elements = 0, sub = 0, offset = 0;
  float d = 0, dmin = 0;
  float s = 0; ///< q8_1: the stored d * sum of codes
  int code[256] = {};
  int scale[16] = {}, min[16] = {};
  int sums[16] = {}; ///< q8_k: the stored sums of 16 codes each

  double value(int i) const { return double(d) * scale[i / sub] * (code[i] - offset) - double(dmin) * min[i / sub]; }
};

/// Elements and bytes of a block of `dtype`; {0, 0} where it is no block format that is known here.
struct BlockSize {
  int elements, bytes;
};
BlockSize blockSize(std::string_view dtype);

/// Reads one block of a known format.
Block readBlock(std::string_view dtype, const uint8_t *bytes);

/// Writes a valid block: codes and scales of all bit patterns, finite factors, values of about `magnitude`; sums of
/// activations fit their codes.
void makeBlock(std::string_view dtype, Random &random, double magnitude, uint8_t *bytes);

/// Puts a NaN or an infinity where the block has its factor d.
void spoilBlock(std::string_view dtype, double value, uint8_t *bytes);

/// All values of compact rows of blocks; `elements` is a whole number of blocks.
std::vector<double> decodeBlocks(std::string_view dtype, const std::vector<uint8_t> &bytes, int64_t elements);

float halfToFloat(uint16_t bits);
/// Round to nearest, ties to even.
uint16_t floatToHalf(float value);

/// Multiplies the factors of a tensor of blocks by 2^power, as far as their type can hold the result.
void scaleBlocks(Tensor &tensor, int power);

/// "q4_k" of "packed<q4_k,r16>", "" for other types.
std::string packedStorage(std::string_view dtype);
/// Compact rows of `k` elements in the order of packed<storage, r16>: groups of 16 rows, the last filled up with zero
/// bytes. See docs/packed-weights.md for the order.
std::vector<uint8_t> packRows(std::string_view storage, int64_t rows, int64_t k, const std::vector<uint8_t> &bytes);

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_BLOCKS_H
