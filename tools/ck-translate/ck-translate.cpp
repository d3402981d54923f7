//===- ck-translate.cpp - model files to modules, modules to artefacts ----===//
#include "PackCsv.h"
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Import/Import.h"
#include "ck/Import/StandardDecoder.h"
#include "ck/Target/NativeCode.h"
#include "ck/Target/Passes.h"
#include "ck/Target/Program.h"
#include "ck/Transforms/BufferizableOpInterfaceImpl.h"
#include "ck/Transforms/Passes.h"
#include "ck/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ck;

static llvm::cl::opt<int64_t>
    contextSize("context", llvm::cl::desc("import: rows of the KV caches (default: the model's, at most 4096)"),
                llvm::cl::init(0));
static llvm::cl::opt<int64_t> chunk("chunk", llvm::cl::desc("import: most rows of one @prefill call (default 512)"),
                                    llvm::cl::init(512));
static llvm::cl::opt<std::string>
    logits("logits", llvm::cl::desc("import: rows of logits that @prefill gives, last or all (default last)"),
           llvm::cl::init("last"));

static llvm::cl::opt<std::string>
    numerics("numerics", llvm::cl::desc("import: loosest numerics class, f32, f16_operands, bf16_operands or "
                                        "q8_activations (default: q8_activations for quantised weights, else f32)"));

static llvm::cl::list<int64_t>
    train("train", llvm::cl::CommaSeparated, llvm::cl::value_desc("rows[,sequences[,positions]]"),
          llvm::cl::desc("import: build the loss for training on at most this many rows, sequences (default 1) and "
                         "positions (default: rows) a call"));

static llvm::cl::opt<std::string>
    save("save", llvm::cl::desc("ck-buffer-report: what attention keeps for its gradient, lse or probs (default lse)"),
         llvm::cl::init("lse"));

/// Folder of the output file: weights are named relative to it. mlirTranslateMain keeps `-o` to itself.
static std::string outputFolder;

static void findOutputFolder(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    StringRef path;
    if ((argument == "-o" || argument == "--o") && i + 1 < argc)
      path = argv[i + 1];
    else if (argument.consume_front("-o=") || argument.consume_front("--o="))
      path = argument;
    if (!path.empty() && path != "-")
      outputFolder = llvm::sys::path::parent_path(path).str();
  }
}

static OwningOpRef<Operation *> importFile(llvm::SourceMgr &sources, MLIRContext *context, bool wantsGguf) {
  auto refuse = [&](const Twine &message) {
    emitError(UnknownLoc::get(context)) << message;
    return OwningOpRef<Operation *>();
  };
  ImportOptions options;
  options.context = contextSize;
  options.chunk = chunk;
  options.numerics = numerics;
  options.allLogits = logits == "all";
  if (logits != "all" && logits != "last")
    return refuse("--logits must be last or all, got '" + logits + "'");
  if (train.size() > 3)
    return refuse("--train takes at most rows, sequences and positions, got " + Twine(train.size()) + " numbers");
  if (!train.empty()) {
    TrainingShape shape;
    shape.rows = train[0];
    shape.sequences = train.size() > 1 ? train[1] : 1;
    shape.positions = train.size() > 2 ? train[2] : train[0];
    options.training = shape;
  }
  const llvm::MemoryBuffer &file = *sources.getMemoryBuffer(sources.getMainFileID());
  std::string path = file.getBufferIdentifier().str();
  if (file.getBuffer().starts_with("GGUF") && !wantsGguf)
    return refuse(path + ": is a GGUF file; --import-gguf reads it, --import-hf reads a config.json");
  if (wantsGguf && llvm::sys::path::extension(path) == ".json")
    return refuse(path + ": is no GGUF file; --import-hf reads a config.json");
  auto module = importModel(*context, path, options, outputFolder);
  if (!module) {
    const Error &error = module.error();
    return refuse(error.message + (error.code.empty() ? "" : " [" + error.code + "]"));
  }
  return OwningOpRef<Operation *>(module->release());
}

/// Brings a module of any phase to PLAN; with `code` on to the LLVM dialect.
static LogicalResult lower(ModuleOp module, bool code) {
  bool lowered = llvm::any_of(module.getOps<LLVM::LLVMFuncOp>(), [](auto function) { return !function.isExternal(); });
  PassManager passes(module.getContext());
  if (!lowered && !module->hasAttr("ck.plan"))
    buildInferencePipeline(passes, InferenceOptions());
  else if (!lowered) // A plan may have been edited: what it says becomes addresses, unchecked from here on.
    passes.addPass(createCKVerifyPlan());
  if (!lowered && code)
    passes.addPass(createCKLowerToLLVM());
  return passes.run(module);
}

static LogicalResult writeTable(Operation *op, raw_ostream &stream) {
  auto module = cast<ModuleOp>(op);
  if (failed(lower(module, /*code=*/false)))
    return failure();
  FailureOr<Program> program = readProgram(module);
  if (failed(program))
    return failure();
  stream << printTable(*program);
  return success();
}

static LogicalResult writeObjectFile(Operation *op, raw_ostream &stream) {
  auto module = cast<ModuleOp>(op);
  if (failed(lower(module, /*code=*/true)))
    return failure();
  SmallVector<char> object;
  llvm::raw_svector_ostream buffer(object);
  if (Status status = writeObject(module, buffer); !status)
    return module.emitError(status.error().message);
  stream << StringRef(object.data(), object.size());
  return success();
}

/// Differentiates and plans a graph that has a loss, plans any other, and says where its declared buffers live.
static LogicalResult writeBuffers(Operation *op, raw_ostream &stream) {
  auto module = cast<ModuleOp>(op);
  if (!module->hasAttr("ck.plan")) {
    PassManager passes(module.getContext());
    bool trains = llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
      return llvm::any_of(llvm::seq(function.getNumResults()),
                          [&](unsigned i) { return function.getResultAttr(i, "ck.loss") != nullptr; });
    });
    if (trains) {
      CKAutodiffOptions options;
      options.save = save;
      passes.addPass(createCKAutodiff(options));
      passes.addPass(createCKFoldAccumulate());
    }
    buildInferencePipeline(passes, InferenceOptions());
    if (failed(passes.run(module)))
      return failure();
  }
  if (Status status = writeBufferReport(module, stream); !status)
    return module.emitError(status.error().message);
  return success();
}

int main(int argc, char **argv) {
  findOutputFolder(argc, argv);
  auto registerDialects = [](DialectRegistry &registry) {
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<CKDialect>();
    registerBufferizableOpInterfaceExternalModels(registry);
  };
  auto import = [](bool wantsGguf) {
    return
        [wantsGguf](llvm::SourceMgr &sources, MLIRContext *context) { return importFile(sources, context, wantsGguf); };
  };
  TranslateToMLIRRegistration hf("import-hf", "build the graph of a Hugging Face model from its config.json",
                                 import(/*wantsGguf=*/false), registerDialects);
  TranslateToMLIRRegistration gguf("import-gguf", "build the graph of a GGUF model", import(/*wantsGguf=*/true),
                                   registerDialects);
  TranslateToMLIRRegistration decoder(
      "standard-decoder", "build the standard decoder (the input is not read)",
      [](llvm::SourceMgr &, MLIRContext *context) -> OwningOpRef<Operation *> {
        return OwningOpRef<Operation *>(buildStandardDecoder(*context, StandardDecoder()).release());
      },
      registerDialects);
  TranslateFromMLIRRegistration report("ck-buffer-report",
                                       "say where declared buffers live (a graph is differentiated and planned first)",
                                       writeBuffers, registerDialects);
  TranslateFromMLIRRegistration table("ck-to-table", "write a plan as a .ckplan (a graph is planned first)", writeTable,
                                      registerDialects);
  TranslateFromMLIRRegistration object("ck-to-object", "compile a plan to an object (a graph is planned first)",
                                       writeObjectFile, registerDialects);
  registerPackCsv();
  registerAllTranslations();
  // The names of values are locations, which are printed on demand only; without them the decoder is not itself.
  SmallVector<char *> arguments(argv, argv + argc);
  char locations[] = "--mlir-print-debuginfo", prefixes[] = "--mlir-use-nameloc-as-prefix";
  if (llvm::any_of(arguments, [](StringRef argument) { return argument.ltrim('-') == "standard-decoder"; }))
    arguments.append({locations, prefixes});
  return failed(mlirTranslateMain(arguments.size(), arguments.data(), "CK translation driver"));
}
