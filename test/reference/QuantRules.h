//===- QuantRules.h - how the 8-bit activation formats round ----*- C++ -*-===//
#ifndef CK_TEST_REFERENCE_QUANTRULES_H
#define CK_TEST_REFERENCE_QUANTRULES_H

#include "Blocks.h"

namespace ck::reference {

/// How a code is rounded to an integer. PlusHalf adds half of the sign in f32 and drops what is behind the point.
enum class Ties { ToEven, AwayFromZero, PlusHalf };

/// Writes one block of finite values by the rule of q8_0, q8_1 or q8_k; `ties` is a choice of q8_0 only, and
/// AwayFromZero in q8_1, ToEven in q8_k. A block that is not finite gets d = NaN and codes 0.
void quantizeBlock(std::string_view dtype, const float *x, uint8_t *to, Ties ties = Ties::ToEven);

/// Compact rows of blocks of all values, which are f32.
std::vector<uint8_t> quantizeValues(std::string_view dtype, const std::vector<double> &values,
                                    Ties ties = Ties::ToEven);

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_QUANTRULES_H
