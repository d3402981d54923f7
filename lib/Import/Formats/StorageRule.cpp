//===- StorageRule.cpp - which type a converted weight gets ---------------===//
#include "ck/Import/Formats/StorageRule.h"

#include "Text.h"

#include <algorithm>

namespace ck {

namespace {

struct NamedRule {
  const char *name, *base;
  uint32_t fileType; ///< the number that GGUF files carry for it
};

constexpr NamedRule kRules[] = {
    {"f32", "f32", 0},    {"f16", "f16", 1},      {"bf16", "bf16", 32},  {"q8_0", "q8_0", 7},  {"q4_0", "q4_0", 2},
    {"q4_1", "q4_1", 3},  {"q5_0", "q5_0", 8},    {"q5_1", "q5_1", 9},   {"q4_k", "q4_k", 14}, {"q5_k", "q5_k", 16},
    {"q6_k", "q6_k", 18}, {"q4_k_m", "q4_k", 15}, {"q5_k_m", "q5_k", 17}};

/// Where rows are no whole blocks: a type with smaller blocks that is about as exact, or better.
const char *smallerBlocks(std::string_view type) {
  return type == "q4_k" ? "q5_0" : type == "q5_k" ? "q5_1" : type == "q6_k" ? "q8_0" : "f16";
}

/// In a mix the weights to which a model is most sensitive are more exact: the head; and the values and the second
/// product of the MLP in the first and last eighth of the layers (rounded up) and in every third layer between.
bool isSensitive(std::string_view logical, const ModelConfig &config) {
  if (logical == "lm_head" || (logical == "tok_emb" && config.tied))
    return true;
  size_t dot = logical.rfind('.');
  if (logical.substr(0, 7) != "layers." || dot <= 7)
    return false;
  std::string_view kind = logical.substr(dot + 1);
  if (kind != "wv" && kind != "w_down")
    return false;
  int64_t layer = std::stoll(std::string(logical.substr(7, dot - 7))), eighth = (config.layers + 7) / 8;
  return layer < eighth || layer >= config.layers - eighth || (layer - eighth) % 3 == 2;
}

bool holds(Container::Format format, const StorageType &type) {
  std::string_view name = type.name;
  return format == Container::Format::Gguf ? type.ggml >= 0 : name == "f32" || name == "f16" || name == "bf16";
}

} // namespace

Result<StorageRule> StorageRule::parse(std::string_view name, Container::Format target) {
  StorageRule rule;
  rule.target = target;
  if (name.empty())
    return rule;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string known;
  for (const NamedRule &named : kRules) {
    if (lower == named.name) {
      rule.base = findStorageType(named.base);
      rule.mixed = lower != named.base;
      rule.number = named.fileType;
    }
    known += (known.empty() ? "" : ", ") + std::string(named.name);
  }
  if (!rule.base)
    return fail("BAD_TYPE", "the type ", quote(name), " is not known; expected one of ", known);
  if (!holds(target, *rule.base))
    return fail("UNSUPPORTED", "a Hugging Face folder cannot hold the type ", lower, "; expected f32, f16 or bf16");
  return rule;
}

StorageChoice StorageRule::choose(std::string_view logical, const StorageType &source,
                                  const std::vector<int64_t> &shape, const ModelConfig &config) const {
  const StorageType *f32 = findStorageType("f32");
  if (!base && holds(target, source))
    return {&source, ""};
  if (!base)
    return {f32, std::string("the format has no type ") + source.name};
  // Norms and biases: a few bytes, and every reader wants them so.
  if (shape.size() < 2)
    return {f32, ""};
  const StorageType *wanted = mixed && isSensitive(logical, config) ? findStorageType("q6_k") : base;
  const StorageType *type = wanted;
  while (!hasWholeBlocks(*type, shape))
    type = findStorageType(smallerBlocks(type->name));
  if (type == wanted)
    return {type, ""};
  std::ostringstream reason;
  reason << "rows of " << shape.back() << " elements are no multiple of " << wanted->blockElements << ", the block of "
         << wanted->name;
  return {type, reason.str()};
}

} // namespace ck
