//===- Engine.cpp - a model, compiled and ready to run --------------------===//
#include "Engine.h"

#include "RandomWeights.h"
#include "ck/Transforms/Passes.h"
#include "ck/Transforms/Pipelines.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/mman.h>

using namespace ck;
using namespace ck::run;

static bool isModule(const std::string &path) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  return extension == ".mlir" || extension == ".mlirbc";
}

/// The folder that a module's weight files are relative to.
static std::string folderOf(const std::string &path) {
  if (llvm::sys::fs::is_directory(path))
    return path;
  std::string parent = llvm::sys::path::parent_path(path).str();
  return parent.empty() ? "." : parent;
}

Result<mlir::OwningOpRef<mlir::ModuleOp>>
ck::run::compileToPlan(mlir::MLIRContext &context, const EngineOptions &options, std::vector<std::string> *unused) {
  DiagnosticCollector diagnostics(context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (isModule(options.model)) {
    module = mlir::parseSourceFile<mlir::ModuleOp>(options.model, &context);
    if (!module)
      return diagnostics.error(options.model + ": cannot be read as a module");
    if (!options.import.numerics.empty())
      return Error{"--numerics is chosen at import: " + options.model + " is a module, which says its own"};
  } else {
    auto imported = importModel(context, options.model, options.import, folderOf(options.model), unused);
    if (!imported)
      return imported.error();
    module = std::move(*imported);
  }
  mlir::PassManager passes(&context);
  if ((*module)->hasAttr("ck.plan")) {
    // A plan may have been edited: what it says becomes addresses, unchecked from here on.
    passes.addPass(createCKVerifyPlan());
  } else {
    InferenceOptions inference;
    if (!options.kernelMaps.empty())
      inference.maps = options.kernelMaps;
    if (!options.pack.empty())
      inference.pack = options.pack;
    inference.costs = options.costs;
    buildInferencePipeline(passes, inference);
  }
  if (mlir::failed(passes.run(*module)))
    return diagnostics.error(options.model + ": the inference pipeline failed");
  return module;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

Status Engine::compile(const EngineOptions &options) {
  std::unique_ptr<mlir::MLIRContext> mlirContext = makeContext();
  std::vector<std::string> unused;
  auto module = compileToPlan(*mlirContext, options, &unused);
  if (!module)
    return module.error();
  if (!options.quiet)
    for (const std::string &tensor : unused)
      llvm::errs() << "ck-run: warning: " << options.model << ": tensor '" << tensor << "' is not used by the model\n";
  auto execution = CompiledModel::create(**module, ctx, options.kind, options.model);
  if (!execution)
    return execution.error();
  compiled = std::move(*execution);
  table = compiled->table();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Status Engine::loadWeights(const EngineOptions &options) {
  source = options.weights.empty() ? std::make_unique<WeightSource>(folderOf(options.model))
                                   : std::make_unique<WeightSource>(WeightSource::inDirectory(options.weights));
  for (int32_t i = 0; i < table->buffers; ++i) {
    const ck_buffer_info &buffer = table->buffer[i];
    if (buffer.role != CK_WEIGHT)
      continue;
    if (options.randomWeights) {
      size_t bytes = std::max<int64_t>(buffer.bytes, 1);
      void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (data == MAP_FAILED)
        return Error{"out of memory: weight '" + std::string(buffer.name) + "' needs " + std::to_string(bytes) +
                     " bytes"};
      madvise(data, bytes, MADV_HUGEPAGE);
      mappings.push_back({data, bytes});
      if (Status status = fillRandom(buffer, data, i); !status)
        return status.error();
      pointers.push_back(data);
      continue;
    }
    if (!buffer.file)
      return Error{options.model + ": has no weights: '" + std::string(buffer.name) +
                   "' names no file (a configuration alone can be compiled and measured, not run)"};
    std::vector<int64_t> shape(buffer.dims, buffer.dims + buffer.rank);
    Result<const void *> data = source->resolve(buffer.file, buffer.tensor, buffer.dtype, shape);
    if (!data)
      return data.error();
    pointers.push_back(const_cast<void *>(*data));
  }
  return Status::success();
}

Result<std::unique_ptr<Engine>> Engine::create(const EngineOptions &options) {
  std::unique_ptr<Engine> engine(new Engine);
  engine->ctx = ck_context_create(options.threads);
  if (!engine->ctx)
    return Error{ck_context_error(nullptr)};
  if (!isModule(options.model)) {
    Result<ModelConfig> config = loadModelConfig(options.model);
    if (!config)
      return config.error();
    engine->modelConfig = *config;
    if (options.import.context > config->maxContext && !options.quiet)
      llvm::errs() << "ck-run: warning: --context " << options.import.context << " is above the " << config->maxContext
                   << " positions that " << options.model << " was made for\n";
  }
  if (Status status = engine->compile(options); !status)
    return status.error();
  if (Status status = engine->loadWeights(options); !status)
    return status.error();
  int64_t rows = engine->contextLength();
  if (options.import.context > rows)
    return Error{"--context " + std::to_string(options.import.context) + ": " + options.model + " is planned for " +
                 std::to_string(rows) + " positions"};
  engine->contextLimit = options.import.context;
  engine->state = ck_session_create(engine->ctx, engine->table, engine->pointers.data());
  if (!engine->state)
    return Error{ck_context_error(engine->ctx)};
  return engine;
}

Engine::~Engine() {
  if (state)
    ck_session_destroy(state);
  compiled.reset();
  if (ctx)
    ck_context_destroy(ctx);
  for (auto [data, bytes] : mappings)
    munmap(data, bytes);
}

int64_t Engine::contextLength() const {
  // Caches are [heads, rows, width]; the shortest one bounds the positions.
  int64_t rows = contextLimit ? contextLimit : INT32_MAX;
  for (int32_t i = 0; i < table->buffers; ++i)
    if (table->buffer[i].role == CK_STATE && table->buffer[i].rank == 3)
      rows = std::min(rows, table->buffer[i].dims[1]);
  return rows;
}

Result<Generator> Engine::generator(int64_t chunk, std::optional<int32_t> bos) const {
  GeneratorOptions options;
  options.context = contextLength();
  // A chunk is never longer than the context, so the compiled bound may be below what was asked for.
  const ck_entry *prefill = ck_model_find_entry(table, "prefill");
  options.chunk = prefill && prefill->dims ? std::min(chunk, prefill->dim_bound[0]) : chunk;
  options.bos = bos;
  return Generator::create(state, options);
}
