//===- BatchFile.cpp - one batch from a JSON file -------------------------===//
#include "ck/Training/BatchFile.h"

#include "Messages.h"
#include "ck/Import/Formats/Json.h"
#include "ck/Import/Formats/MappedFile.h"

namespace ck {

namespace {

class BatchReader {
public:
  BatchReader(const std::string &source, int64_t vocab) : source(source), vocab(vocab) {}

  Result<std::vector<Sequence>> read(const json::Value &root) {
    if (!root.asObject())
      return fail("BAD_INPUT", source, ": is ", root.kindName(), "; expected an object with input_ids and targets");
    const json::Value::Array *tokens = nullptr, *targets = nullptr;
    CK_CHECK(list(root, "input_ids", tokens));
    CK_CHECK(list(root, "targets", targets));
    if (tokens->size() != targets->size())
      return fail("BAD_INPUT", source, ": input_ids has ", tokens->size(), " sequences, but targets has ",
                  targets->size());
    std::vector<Sequence> sequences(tokens->size());
    for (size_t i = 0; i < sequences.size(); ++i) {
      std::string place = "[" + std::to_string(i) + "]";
      CK_CHECK(ids((*tokens)[i], "input_ids" + place, false, sequences[i].tokens));
      CK_CHECK(ids((*targets)[i], "targets" + place, true, sequences[i].targets));
      if (sequences[i].tokens.size() != sequences[i].targets.size())
        return fail("BAD_INPUT", source, ": input_ids", place, " has ", sequences[i].tokens.size(),
                    " tokens, but targets", place, " has ", sequences[i].targets.size());
    }
    return sequences;
  }

private:
  Status list(const json::Value &root, const char *key, const json::Value::Array *&out) const {
    const json::Value *value = root.find(key);
    out = value ? value->asArray() : nullptr;
    if (!out || out->empty())
      return fail("BAD_INPUT", source, ": ", key, " is ", value ? value->brief() : "missing",
                  "; expected a list of sequences of ids");
    return Status::success();
  }

  Status ids(const json::Value &value, const std::string &place, bool ignorable, std::vector<int32_t> &out) const {
    if (!value.asArray() || value.asArray()->empty())
      return fail("BAD_INPUT", source, ": ", place, " is ", value.brief(), "; expected a list of at least one id");
    for (const json::Value &item : *value.asArray()) {
      std::optional<int64_t> id = item.asInteger();
      if (!id || ((*id < 0 || *id >= vocab) && !(ignorable && *id == kIgnoredTarget)))
        return fail(id ? "OUT_OF_RANGE" : "BAD_INPUT", source, ": ", place, "[", out.size(), "] is ", item.brief(),
                    "; expected an id below the vocabulary of ", vocab, ignorable ? ", or -100 to ignore it" : "");
      out.push_back(static_cast<int32_t>(*id));
    }
    return Status::success();
  }

  const std::string &source;
  int64_t vocab;
};

} // namespace

Result<std::vector<Sequence>> parseBatch(std::string_view text, const std::string &source, int64_t vocab) {
  Result<json::Value> root = json::parse(text, source);
  if (!root)
    return root.error();
  return BatchReader(source, vocab).read(*root);
}

Result<std::vector<Sequence>> readBatchFile(const std::string &path, int64_t vocab) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return parseBatch(file->text(), path, vocab);
}

} // namespace ck
