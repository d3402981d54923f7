//===- Checked.h - operations that refuse numbers that are not finite -*- C++ -*-===//
//
// What the attribute `checked` asks for: such an operand is an error, and outputs stay as they were.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_REFERENCE_CHECKED_H
#define CK_TEST_REFERENCE_CHECKED_H

#include "Pieces.h"

#include <cmath>

namespace ck::reference {

/// An error if the operand is there and one of its elements is not finite.
inline Status expectFinite(const Call &call, const char *name) {
  const Tensor *values = call.optional(name);
  for (int64_t i = 0; values && i < values->elements(); ++i)
    if (!std::isfinite(values->data[i]))
      return invalid(std::string(name) + "[" + std::to_string(i) + "] is not finite");
  return Status::success();
}

/// Makes one element of an operand of a checked call infinite or NaN; false if there is none.
inline bool spoilFinite(Call &call, const char *name, Random &random) {
  auto operand = call.inputs.find(name);
  if (!call.flag("checked") || operand == call.inputs.end() || operand->second.data.empty())
    return false;
  const double bad[] = {notANumber, HUGE_VAL, -HUGE_VAL};
  operand->second.data[random.below(operand->second.elements())] = bad[random.below(3)];
  return true;
}

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_CHECKED_H
