//===- BatchFile.h - one batch from a JSON file -----------------*- C++ -*-===//
//
//   {"input_ids": [[1, 5, 9], [1, 7]], "targets": [[5, 9, 2], [7, -100]]}
//
// Goldens of other programs come in this form: the very tokens and targets, already shifted, so that losses and
// gradients can be compared.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_BATCHFILE_H
#define CK_TRAINING_BATCHFILE_H

#include "ck/Support/Result.h"
#include "ck/Training/Batch.h"

#include <string>
#include <string_view>

namespace ck {

/// The sequences of a batch file; they may differ in length, and other keys are not looked at. Errors: those of
/// json::parseFile; BAD_INPUT (a missing key, another type, lists that do not fit together, an empty sequence),
/// OUT_OF_RANGE (an id, or a target other than -100, outside [0, vocab): place, id, vocabulary).
Result<std::vector<Sequence>> readBatchFile(const std::string &path, int64_t vocab);
/// The same from text, which `source` names in messages.
Result<std::vector<Sequence>> parseBatch(std::string_view text, const std::string &source, int64_t vocab);

} // namespace ck

#endif // CK_TRAINING_BATCHFILE_H
