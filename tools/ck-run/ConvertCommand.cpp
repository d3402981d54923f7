//===- ConvertCommand.cpp - ck-run convert --------------------------------===//
#include "Options.h"

#include "ck/Import/Formats/ConvertModel.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace llvm;
using namespace ck;
using namespace ck::run;

#define CK_CONVERT cl::sub(convertCommand()), cl::cat(category())

static cl::opt<std::string> target("to", cl::desc("format of the result: gguf (a file) or hf (a folder)"), cl::Required,
                                   CK_CONVERT);
static cl::opt<std::string> type("type",
                                 cl::desc("storage type of the matrices: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, "
                                          "q4_k, q5_k, q6_k, q4_k_m or q5_k_m (default: as they are)"),
                                 CK_CONVERT);
static cl::opt<std::string> out("out", cl::desc("file or folder to write; must not exist"), cl::Required, CK_CONVERT);
static cl::opt<bool> noTokenizer("no-tokenizer", cl::desc("leave the tokenizer out"), CK_CONVERT);

int ck::run::runConvert() {
  if (target != "gguf" && target != "hf")
    return fail({"--to must be gguf or hf, got '" + target + "'"});
  Result<EngineOptions> flags = engineOptions();
  if (!flags)
    return fail(flags.error());
  ConvertOptions options;
  options.target = target == "gguf" ? Container::Format::Gguf : Container::Format::Safetensors;
  options.type = type;
  options.out = out;
  options.tokenizer = !noTokenizer;
  options.threads = flags->threads ? flags->threads : std::max(1u, std::thread::hardware_concurrency());
  options.note = [](const std::string &text) { errs() << "ck-run: note: " << text << "\n"; };
  Result<ConvertReport> report = convertModel(modelPath(), options);
  if (!report)
    return fail(report.error());
  if (wantsJson()) {
    printJson({{"out", out.getValue()},
               {"format", target.getValue()},
               {"tensors", report->tensors},
               {"bytes", report->bytes},
               {"types", report->types},
               {"fallbacks", report->fallbacks}});
    return 0;
  }
  errs() << "wrote " << out << ": " << report->tensors << " tensors, " << report->bytes << " bytes (";
  const char *separator = "";
  for (const auto &[name, count] : report->types) {
    errs() << separator << count << " " << name;
    separator = ", ";
  }
  errs() << ")\n";
  return 0;
}
