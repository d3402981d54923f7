//===- table_runner.cpp - text from a .ckplan, without LLVM ---------------===//
//
// usage: table-runner PLAN WEIGHTS-FOLDER TOKENIZER PROMPT COUNT
//
// Shows that the runtime and the file formats alone run a compiled model: prints the greedy continuation.
//
//===----------------------------------------------------------------------===//
#include "ck/Import/Formats/Tokenizer.h"
#include "ck/Import/Formats/WeightSource.h"
#include "ck/Runtime/Generate.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace ck;

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return fail("expected PLAN WEIGHTS-FOLDER TOKENIZER PROMPT COUNT");
  std::unique_ptr<ck_context, void (*)(ck_context *)> context(ck_context_create(2), ck_context_destroy);
  std::unique_ptr<const ck_model, void (*)(const ck_model *)> model(ck_plan_load(context.get(), argv[1]),
                                                                    ck_plan_destroy);
  if (!model)
    return fail(ck_context_error(context.get()));
  WeightSource source = WeightSource::inDirectory(argv[2]);
  std::vector<void *> weights;
  int64_t rows = 0;
  for (int32_t i = 0; i < model->buffers; ++i) {
    const ck_buffer_info &buffer = model->buffer[i];
    if (buffer.role == CK_STATE)
      rows = buffer.dims[1];
    if (buffer.role != CK_WEIGHT)
      continue;
    auto data = source.resolve(buffer.file, buffer.tensor, buffer.dtype, {buffer.dims, buffer.dims + buffer.rank});
    if (!data)
      return fail(data.error().message);
    weights.push_back(const_cast<void *>(*data));
  }
  std::unique_ptr<ck_session, void (*)(ck_session *)> session(
      ck_session_create(context.get(), model.get(), weights.data()), ck_session_destroy);
  if (!session)
    return fail(ck_context_error(context.get()));

  auto tokenizer = Tokenizer::open(argv[3]);
  if (!tokenizer)
    return fail(tokenizer.error().message);
  auto prompt = tokenizer->encode(argv[4]);
  GeneratorOptions options;
  options.context = rows;
  auto generator = Generator::create(session.get(), options);
  if (!prompt || !generator)
    return fail((prompt ? generator.error() : prompt.error()).message);
  GenerateOptions generate;
  generate.maxTokens = std::atoll(argv[5]);
  auto result = generator->generate(*prompt, generate);
  if (!result)
    return fail(result.error().message);
  StreamDecoder decoder(*tokenizer);
  for (int32_t id : *prompt)
    (void)decoder.push(id);
  for (int32_t id : result->ids)
    std::printf("%s", decoder.push(id)->c_str());
  std::printf("%s\n", decoder.finish().c_str());
  return 0;
}
