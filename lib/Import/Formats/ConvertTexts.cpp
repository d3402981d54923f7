//===- ConvertTexts.cpp - configuration and tokenizer of a copy -----------===//
//
// Between two folders, or two GGUF files, what stands beside the weights is copied. From one format to the other it is
// written anew from what CK knows of the model, which is all that CK would read.
//
//===----------------------------------------------------------------------===//
#include "ConvertPieces.h"
#include "Text.h"
#include "ck/Import/Formats/HfConfigText.h"
#include "ck/Import/Formats/Tokenizer.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace ck::convert {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kTokenizerFiles[] = {"tokenizer.json",          "tokenizer_config.json", "tokenizer.model",
                                           "special_tokens_map.json", "added_tokens.json",     "chat_template.jinja"};

bool isFile(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<std::string> readText(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return std::string(file->text());
}

/// The error of a tokenizer, with the way around it.
Error withoutTokenizer(const std::string &path, const Error &error) {
  std::string where = error.message.compare(0, path.size(), path) == 0 ? "" : path + ": ";
  return {where + error.message + "; the model can be converted without its tokenizer", error.code};
}

/// Text of a folder's file with a JSON object; nothing if there is no such file or it is no object.
Json readObject(const std::string &path) {
  Json json;
  if (isFile(path))
    if (Result<std::string> text = readText(path))
      json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

std::string dump(const Json &json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// config.json with another element type and nothing else changed.
Result<std::string> withDtype(const SourceModel &model, const std::string &text, const std::string &dtype) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return fail("BAD_JSON", model.path, ": config.json holds numbers that JSON has not, so that it cannot be changed");
  json[json.contains("dtype") ? "dtype" : "torch_dtype"] = torchTypeName(dtype);
  return dump(json);
}

Json tokenIds(const std::vector<int64_t> &ids) { return ids.size() == 1 ? Json(ids.front()) : Json(ids); }

std::string generationConfig(const ModelConfig &config) {
  Json json = Json::object();
  if (config.bos)
    json["bos_token_id"] = *config.bos;
  if (!config.eos.empty())
    json["eos_token_id"] = tokenIds(config.eos);
  return json.empty() ? "" : dump(json);
}

/// What tells other tools how to use tokenizer.json.
std::string tokenizerConfig(const SourceModel &model, const Tokenizer &tokenizer) {
  Json json = {{"tokenizer_class", "PreTrainedTokenizerFast"},
               {"clean_up_tokenization_spaces", false},
               {"model_max_length", model.config.maxContext}};
  auto token = [&](const char *key, std::optional<int64_t> id) {
    if (id && *id < tokenizer.vocabSize())
      json[key] = std::string(tokenizer.tokenText(static_cast<int32_t>(*id)));
  };
  token("bos_token", model.config.bos);
  if (!model.config.eos.empty())
    token("eos_token", model.config.eos.front());
  if (const MetaValue *unknown = model.weights.findMeta("tokenizer.ggml.unknown_token_id"))
    token("unk_token", unknown->asInteger());
  const MetaValue *chat = model.weights.findMeta("tokenizer.chat_template");
  if (chat && chat->asString())
    json["chat_template"] = *chat->asString();
  return dump(json);
}

Status addTokenizer(const SourceModel &model, const ConvertOptions &options, std::vector<TextFile> &files) {
  const std::string &path = model.weights.path();
  if (!model.weights.findMeta("tokenizer.ggml.model")) {
    if (options.note)
      options.note(path + " has no tokenizer, so the folder gets none");
    return Status::success();
  }
  Result<Tokenizer> tokenizer = Tokenizer::fromGguf(model.weights);
  if (!tokenizer)
    return withoutTokenizer(path, tokenizer.error());
  Result<std::string> text = tokenizer->toJson();
  if (!text)
    return withoutTokenizer(path, text.error());
  files.push_back({"tokenizer.json", *std::move(text)});
  files.push_back({"tokenizer_config.json", tokenizerConfig(model, *tokenizer)});
  return Status::success();
}

/// The architecture's keys.
void setConfig(const ModelConfig &config, GgufMetadata &metadata) {
  auto count = [&](const char *key, int64_t value) { metadata.set(key, static_cast<uint32_t>(value)); };
  count("llama.context_length", config.maxContext);
  count("llama.embedding_length", config.hidden);
  count("llama.block_count", config.layers);
  count("llama.feed_forward_length", config.ffn);
  count("llama.attention.head_count", config.heads);
  count("llama.attention.head_count_kv", config.kvHeads);
  if (config.headDim * config.heads != config.hidden) {
    count("llama.attention.key_length", config.headDim);
    count("llama.attention.value_length", config.headDim);
  }
  metadata.set("llama.attention.layer_norm_rms_epsilon", static_cast<float>(config.rmsEps));
  count("llama.rope.dimension_count", config.headDim);
  metadata.set("llama.rope.freq_base", static_cast<float>(config.ropeTheta));
  if (config.ropeScaling.kind == RopeScaling::Linear) {
    metadata.set("llama.rope.scaling.type", "linear");
    metadata.set("llama.rope.scaling.factor", static_cast<float>(config.ropeScaling.factor));
  }
  count("llama.vocab_size", config.vocab);
}

Status setTokenizer(const SourceModel &model, const ConvertOptions &options, GgufMetadata &metadata) {
  const ModelConfig &config = model.config;
  std::string path = model.directory + "tokenizer.json";
  if (options.tokenizer && isFile(path)) {
    Result<Tokenizer> tokenizer = Tokenizer::open(path);
    if (!tokenizer)
      return withoutTokenizer(path, tokenizer.error());
    std::optional<int64_t> eos = config.eos.empty() ? std::nullopt : std::optional<int64_t>(config.eos.front());
    if (Status status = tokenizer->toGguf(metadata, config.vocab, config.bos, eos); !status)
      return withoutTokenizer(path, status.error());
    Json chat = readObject(model.directory + "tokenizer_config.json")["chat_template"];
    if (chat.is_string())
      metadata.set("tokenizer.chat_template", chat.get<std::string>());
  } else if (options.tokenizer && options.note) {
    options.note("there is no tokenizer.json beside the model, so the file gets no tokenizer");
  }
  if (config.bos)
    metadata.set("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(*config.bos));
  const char *const ends[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                              "tokenizer.ggml.eom_token_id"};
  if (config.eos.size() > std::size(ends))
    return fail("UNSUPPORTED", model.path, ": ", config.eos.size(), " tokens end a text; GGUF has keys for ",
                std::size(ends));
  for (size_t i = 0; i < config.eos.size(); ++i)
    metadata.set(ends[i], static_cast<uint32_t>(config.eos[i]));
  return Status::success();
}

/// Keys that name a token count for the configuration too.
bool staysWithoutTokenizer(std::string_view key) {
  constexpr std::string_view kEnd = "_token_id";
  return key.substr(0, 10) != "tokenizer." ||
         (key.size() > kEnd.size() && key.substr(key.size() - kEnd.size()) == kEnd);
}

} // namespace

Result<std::vector<TextFile>> folderTexts(const SourceModel &model, const ConvertOptions &options,
                                          const std::string &dtype) {
  std::vector<TextFile> files;
  if (model.config.source == ModelConfig::Source::Gguf) {
    Result<std::string> text = hfConfigText(model.config, dtype);
    if (!text)
      return text.error();
    files.push_back({"config.json", *std::move(text)});
    if (std::string generation = generationConfig(model.config); !generation.empty())
      files.push_back({"generation_config.json", generation});
    if (options.tokenizer)
      CK_CHECK(addTokenizer(model, options, files));
    return files;
  }
  std::string config = isFile(model.path) ? model.path : model.directory + "config.json";
  Result<std::string> text = readText(config);
  if (text && !options.type.empty())
    text = withDtype(model, *text, dtype);
  if (!text)
    return text.error();
  files.push_back({"config.json", *std::move(text)});
  std::vector<std::string> names = {"generation_config.json"};
  if (options.tokenizer)
    names.insert(names.end(), std::begin(kTokenizerFiles), std::end(kTokenizerFiles));
  for (const std::string &name : names) {
    if (!isFile(model.directory + name))
      continue;
    text = readText(model.directory + name);
    if (!text)
      return text.error();
    files.push_back({name, *std::move(text)});
  }
  return files;
}

Result<GgufMetadata> ggufMetadata(const SourceModel &model, const ConvertOptions &options,
                                  std::optional<uint32_t> fileType) {
  const ModelConfig &config = model.config;
  GgufMetadata metadata;
  if (config.source == ModelConfig::Source::Gguf) {
    for (const MetaEntry &entry : model.weights.metadata())
      if (options.tokenizer || staysWithoutTokenizer(entry.key))
        metadata.copy(entry.key, entry.value);
  } else {
    if (config.ropeScaling.kind == RopeScaling::Llama3)
      return fail("UNSUPPORTED", model.path,
                  ": RoPE scaling of type llama3 has no keys in GGUF, only a tensor of factors that CK does not read");
    if (config.activation != "silu")
      return fail("UNSUPPORTED", model.path, ": the activation ", config.activation,
                  " has no key in GGUF, where the llama architecture means silu");
    metadata.set("general.architecture", "llama").set("general.name", config.name);
    setConfig(config, metadata);
    CK_CHECK(setTokenizer(model, options, metadata));
  }
  if (fileType)
    metadata.set("general.quantization_version", uint32_t{2}).set("general.file_type", *fileType);
  return metadata;
}

} // namespace ck::convert
