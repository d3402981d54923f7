//===- ByteTokenizer.h - one token a byte -----------------------*- C++ -*-===//
#ifndef CK_IMPORT_FORMATS_BYTETOKENIZER_H
#define CK_IMPORT_FORMATS_BYTETOKENIZER_H

#include <string>

namespace ck {

/// A tokenizer.json whose token i is the byte i: tokens <0x00> to <0xFF>, no merges, nothing put around the text, no
/// normalizer. Byte-level models are trained with it; every reader of the format with byte fallback opens it.
std::string byteTokenizerJson();

} // namespace ck

#endif // CK_IMPORT_FORMATS_BYTETOKENIZER_H
