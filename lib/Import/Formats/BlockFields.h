//===- BlockFields.h - pieces of the block codecs ---------------*- C++ -*-===//
//
// Private: fields of blocks, and one encode/decode pair for each type.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_BLOCKFIELDS_H
#define CK_LIB_IMPORT_FORMATS_BLOCKFIELDS_H

#include "ck/Import/Formats/RowCodec.h"
#include "ck/Support/Half.h"

namespace ck::blocks {

inline uint16_t load16(const uint8_t *at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }

inline void store16(uint8_t *at, uint16_t value) {
  at[0] = static_cast<uint8_t>(value);
  at[1] = static_cast<uint8_t>(value >> 8);
}

inline float loadF16(const uint8_t *at) { return halfToFloat(load16(at)); }

/// False if the value rounds to an infinity.
inline bool storeF16(uint8_t *at, float value) {
  uint16_t half = floatToHalf(value);
  store16(at, half);
  return (half & 0x7c00) != 0x7c00;
}

/// The position of the element of largest magnitude, the first of several.
int64_t largest(const float *in, int64_t count);

extern const RowCodec q4_0, q4_1, q5_0, q5_1, q8_0; ///< Blocks32.cpp
extern const RowCodec q4_k, q5_k, q6_k;             ///< Blocks256.cpp

/// A super-block of q4_k or q5_k: element i of sub-block j is (d * scale[j]) * level[32j + i] - (dmin * minimum[j]).
struct AffineBlock {
  uint16_t d = 0, dmin = 0; ///< f16
  uint8_t scale[8] = {}, minimum[8] = {};
  uint8_t level[256] = {};
};

/// A super-block of q6_k: element i of sub-block j is (d * scale[j]) * level[16j + i].
struct SignedBlock {
  uint16_t d = 0; ///< f16
  int8_t scale[16] = {};
  int8_t level[256] = {};
};

/// The block nearest to 256 finite values, levels 0 to `top` or -32 to 31. False if a scale is beyond f16.
bool fitAffine(const float *in, int top, AffineBlock &block);
bool fitSigned(const float *in, SignedBlock &block);

} // namespace ck::blocks

#endif // CK_LIB_IMPORT_FORMATS_BLOCKFIELDS_H
