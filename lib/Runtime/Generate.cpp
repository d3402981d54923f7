//===- Generate.cpp - from prompt ids to new ids --------------------------===//
//
// Positions 0 .. context-1 can be computed. The last of them still yields a token, which has no position of its own.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Generate.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

namespace ck {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static bool isSet(const std::atomic<bool> *flag) { return flag && flag->load(std::memory_order_relaxed); }

static bool resize(std::vector<float> &values, int64_t rows, int64_t columns) {
  try {
    values.resize(size_t(rows) * size_t(columns));
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

static Error outOfMemory(int64_t rows) { return Error{"out of memory: " + std::to_string(rows) + " rows of logits"}; }

const char *toString(StopReason reason) {
  switch (reason) {
  case StopReason::Eos:
    return "eos";
  case StopReason::Length:
    return "length";
  case StopReason::Context:
    return "context";
  case StopReason::Interrupt:
    break;
  }
  return "interrupt";
}

/// Is this `name`, of this type, with these dims?
static bool matches(const ck_value_info &value, const char *name, const char *dtype,
                    std::initializer_list<int64_t> dims) {
  return !std::strcmp(value.name, name) && !std::strcmp(value.dtype, dtype) && value.rank == int32_t(dims.size()) &&
         std::equal(dims.begin(), dims.end(), value.dims);
}

Status Generator::bind(const char *name, Entry &entry) {
  const ck_entry *found = ck_model_find_entry(ck_session_model(session), name);
  if (!found)
    return Status::success();
  // -1 is the entry's first run-time dim.
  bool isDecode = &entry == &decode;
  int64_t length = isDecode ? 1 : -1;
  bool fits = found->inputs == 2 && found->outputs == 1 && found->dims == (isDecode ? 0 : 1) &&
              found->output[0].rank == 2 && found->output[0].dims[1] > 0;
  if (fits) {
    entry.tokens = std::strcmp(found->input[0].name, "tokens") ? 1 : 0;
    entry.pos = 1 - entry.tokens;
    entry.allRows = found->output[0].dims[0] == length;
    int64_t size = found->output[0].dims[1];
    fits = matches(found->input[entry.tokens], "tokens", "i32", {length}) &&
           matches(found->input[entry.pos], "pos", "i32", {length}) &&
           matches(found->output[0], "logits", "f32", {entry.allRows ? length : 1, size}) &&
           (vocabulary == 0 || vocabulary == size);
    vocabulary = size;
  }
  const char *shape = isDecode ? "1" : "T";
  if (!fits)
    return Error{"entry '" + std::string(name) + "' is no step of a decoder: expected tokens[" + shape + "]:i32, pos[" +
                 shape + "]:i32 -> logits[1" + (isDecode ? "" : " or T") + ",vocab]:f32"};
  entry.entry = found;
  return Status::success();
}

Result<Generator> Generator::create(ck_session *session, const GeneratorOptions &options) {
  Generator generator;
  generator.session = session;
  generator.options = options;
  if (Status status = generator.bind("decode", generator.decode); !status)
    return status.error();
  if (Status status = generator.bind("prefill", generator.prefill); !status)
    return status.error();
  if (!generator.decode.entry && !generator.prefill.entry)
    return Error{"model '" + std::string(ck_session_model(session)->name) + "' has neither entry decode nor prefill"};
  if (options.context < 1)
    return Error{"context is " + std::to_string(options.context) + ", expected at least 1"};
  int64_t bound = generator.prefill.entry ? generator.prefill.entry->dim_bound[0] : 1;
  if (options.chunk < 0 || options.chunk > bound)
    return Error{"chunk is " + std::to_string(options.chunk) + ", but the model was compiled for at most " +
                 std::to_string(bound)};
  if (options.bos)
    if (Status status = generator.checkIds({*options.bos}, "BOS"); !status)
      return status.error();
  if (options.chunk == 0)
    generator.options.chunk = bound;
  int64_t rows = generator.prefill.allRows ? generator.options.chunk : 1;
  if (!resize(generator.rows, rows, generator.vocabulary))
    return outOfMemory(rows);
  return generator;
}

Status Generator::checkIds(const std::vector<int32_t> &ids, const char *what) const {
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary)
      return Error{std::string(what) + ": token " + std::to_string(i) + " has id " + std::to_string(ids[i]) +
                   ", but the vocabulary has " + std::to_string(vocabulary) + " tokens (0 to " +
                   std::to_string(vocabulary - 1) + ")"};
  return Status::success();
}

Status Generator::run(const Entry &entry, const int32_t *ids, int64_t count, int64_t position, float *output) {
  std::vector<int32_t> positions(count);
  for (int64_t i = 0; i < count; ++i)
    positions[i] = int32_t(position + i);
  const void *inputs[2];
  inputs[entry.tokens] = ids;
  inputs[entry.pos] = positions.data();
  void *outputs[] = {output};
  if (ck_session_run(session, entry.entry->name, entry.entry->dims ? &count : nullptr, inputs, outputs) != CK_OK)
    return Error{ck_context_error(ck_session_context(session))};
  lastRow = output + (entry.allRows ? count - 1 : 0) * vocabulary;
  return Status::success();
}

/// Runs the prompt in chunks; stops early, with lastRow null, when interrupted.
Status Generator::runPrompt(const std::vector<int32_t> &prompt, const std::atomic<bool> *interrupt) {
  int64_t size = int64_t(prompt.size());
  for (int64_t begin = 0, count; begin < size; begin += count) {
    lastRow = nullptr;
    if (isSet(interrupt))
      return Status::success();
    count = std::min(options.chunk, size - begin);
    if (Status status = run(entryFor(count), &prompt[begin], count, begin, rows.data()); !status)
      return status;
  }
  return Status::success();
}

Result<Generation> Generator::generate(const std::vector<int32_t> &given, const GenerateOptions &generate,
                                       const TokenCallback &onToken) {
  Generation result;
  result.prompt = given;
  if (given.empty()) {
    if (!options.bos)
      return Error{"the prompt is empty and the model has no BOS token to start from"};
    result.prompt = {*options.bos};
  }
  int64_t position = int64_t(result.prompt.size());
  if (position >= options.context && !(position == 1 && options.context == 1))
    return Error{"the prompt has " + std::to_string(position) + " tokens, but the context holds " +
                 std::to_string(options.context) + ": at most " +
                 std::to_string(std::max<int64_t>(options.context - 1, 1)) + " can be a prompt"};
  if (generate.maxTokens < 0)
    return Error{"the number of new tokens is " + std::to_string(generate.maxTokens) + ", expected at least 0"};
  if (Status status = checkIds(result.prompt, "prompt"); !status)
    return status.error();
  Result<Sampler> sampler = Sampler::create(generate.sampling);
  if (!sampler)
    return sampler.error();

  auto start = Clock::now();
  ck_session_reset(session);
  if (Status status = runPrompt(result.prompt, generate.interrupt); !status)
    return status.error();
  result.promptSeconds = secondsSince(start);

  start = Clock::now();
  while (true) {
    auto stop = [&](StopReason reason) {
      result.stop = reason;
      result.decodeSeconds = secondsSince(start);
      return result;
    };
    if (!lastRow)
      return stop(StopReason::Interrupt);
    if (int64_t(result.ids.size()) == generate.maxTokens)
      return stop(StopReason::Length);
    Result<int32_t> id = sampler->sample(lastRow, vocabulary);
    if (!id)
      return Error{"position " + std::to_string(position - 1) + ": " + id.error().message};
    result.ids.push_back(*id);
    if (onToken)
      onToken(*id, lastRow);
    if (std::find(generate.eos.begin(), generate.eos.end(), *id) != generate.eos.end())
      return stop(StopReason::Eos);
    if (int64_t(result.ids.size()) == generate.maxTokens)
      return stop(StopReason::Length);
    if (position == options.context)
      return stop(StopReason::Context);
    if (isSet(generate.interrupt))
      return stop(StopReason::Interrupt);
    if (Status status = run(entryFor(1), &*id, 1, position, rows.data()); !status)
      return status.error();
    ++position;
    ++result.decodeSteps;
  }
}

Result<std::vector<float>> Generator::logits(const std::vector<int32_t> &tokens) {
  int64_t size = int64_t(tokens.size());
  if (size == 0)
    return Error{"no tokens to compute logits for"};
  if (size > options.context)
    return Error{std::to_string(size) + " tokens, but the context holds " + std::to_string(options.context)};
  if (Status status = checkIds(tokens, "tokens"); !status)
    return status.error();
  int64_t chunk = prefill.allRows ? options.chunk : 1;
  std::vector<float> result;
  if (!resize(result, size, vocabulary))
    return outOfMemory(size);
  ck_session_reset(session);
  for (int64_t begin = 0, count; begin < size; begin += count) {
    count = std::min(chunk, size - begin);
    if (Status status = run(entryFor(count), &tokens[begin], count, begin, &result[begin * vocabulary]); !status)
      return status.error();
  }
  return result;
}

} // namespace ck
