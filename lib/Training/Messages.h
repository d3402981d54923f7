//===- Messages.h - words of this library's errors --------------*- C++ -*-===//
//
// Private: training reports bad files as their readers do.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRAINING_MESSAGES_H
#define CK_LIB_TRAINING_MESSAGES_H

#include "../Import/Formats/Text.h"

#include <charconv>

namespace ck {

/// The shortest decimal that reads back as `value`; "nan", "inf" and "-inf" for what is not finite.
inline std::string numberText(double value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

} // namespace ck

#endif // CK_LIB_TRAINING_MESSAGES_H
