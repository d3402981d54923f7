//===- NativeCode.cpp - LLVM dialect to machine code ----------------------===//
//
// The emitted code only fills argument slots and calls kernels, so it is compiled for the baseline x86-64 with fast
// instruction selection: compile time matters, its speed does not.
//
//===----------------------------------------------------------------------===//
#include "ck/Target/NativeCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace ck;

static void initializeTargets() {
  static bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return true;
  }();
  (void)done;
}

static Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine() {
  initializeTargets();
  std::string message;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return Error{"cannot generate code for " + triple.str() + ": " + message};
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::None));
  if (!machine)
    return Error{"cannot generate code for " + triple.str()};
  return machine;
}

static Result<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                       const llvm::TargetMachine &machine) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, context, "ck_model");
  if (!code)
    return Error{"the module cannot be translated to LLVM IR; lower it with --ck-lower-to-llvm first"};
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  return code;
}

/// The name of the function `ckm_<model>` of a lowered module; empty if there is none.
static std::string findGetter(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (!function.isExternal() && function.getSymName().starts_with("ckm_"))
      return function.getSymName().str();
  return "";
}

namespace {
class OrcModel : public JitModel {
public:
  OrcModel(std::unique_ptr<llvm::orc::LLJIT> jit, const ck_model *table) : jit(std::move(jit)), table(table) {}
  const ck_model *model() const override { return table; }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const ck_model *table;
};
} // namespace

Result<std::unique_ptr<JitModel>> ck::compileJit(mlir::ModuleOp module) {
  auto machine = makeTargetMachine();
  if (!machine)
    return machine.error();
  std::string getter = findGetter(module);
  if (getter.empty())
    return Error{"the module has no function ckm_<model>; lower it with --ck-lower-to-llvm first"};
  auto context = std::make_unique<llvm::LLVMContext>();
  auto code = translate(module, *context, **machine);
  if (!code)
    return code.error();
  auto failed = [](llvm::Error error) {
    return Error{"cannot compile in memory: " + llvm::toString(std::move(error))};
  };

  llvm::orc::JITTargetMachineBuilder builder((*machine)->getTargetTriple());
  builder.setCPU("x86-64").setCodeGenOptLevel(llvm::CodeGenOptLevel::None).setRelocationModel(llvm::Reloc::PIC_);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit)
    return failed(jit.takeError());
  // What goes wrong while it links is reported there and not in the error of the lookup, which only says what failed.
  auto reason = std::make_shared<std::string>();
  (*jit)->getExecutionSession().setErrorReporter([reason](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (reason->empty())
      *reason = std::move(text);
  });
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return failed(process.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(*code), std::move(context))))
    return failed(std::move(error));
  auto address = (*jit)->lookup(getter);
  if (!address) {
    std::string lookup = llvm::toString(address.takeError());
    return Error{"cannot compile in memory: " + (reason->empty() ? lookup : *reason)};
  }
  const ck_model *table = address->toPtr<const ck_model *(*)()>()();
  return std::unique_ptr<JitModel>(new OrcModel(std::move(*jit), table));
}

Status ck::writeObject(mlir::ModuleOp module, llvm::raw_pwrite_stream &stream) {
  auto machine = makeTargetMachine();
  if (!machine)
    return machine.error();
  llvm::LLVMContext context;
  auto code = translate(module, context, **machine);
  if (!code)
    return code.error();
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Error{"cannot emit an object for " + (*machine)->getTargetTriple().str()};
  passes.run(**code);
  return Status::success();
}
