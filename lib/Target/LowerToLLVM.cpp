//===- LowerToLLVM.cpp - entries become functions that call kernels -------===//
#include "ModelTable.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Runtime/Runtime.h"
#include "ck/Target/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <cstddef>

using namespace mlir;
using namespace ck;

namespace ck {
#define GEN_PASS_DEF_CKLOWERTOLLVM
#include "ck/Target/Passes.h.inc"
} // namespace ck

namespace {
/// Emits one entry. Constants, slot addresses and arena bases are made once, in the first block.
class EntryEmitter {
public:
  EntryEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, const Program &program, const ProgramEntry &entry,
               LLVM::LLVMFuncOp fail, LLVM::LLVMFuncOp error, ModelTable &table)
      : builder(builder), loc(function.getLoc()), function(function), program(program), entry(entry), fail(fail),
        error(error), table(table), ptr(LLVM::LLVMPointerType::get(builder.getContext())) {}

  void emit();

private:
  Value integer(int64_t value);
  Value slotAddress(size_t slot);
  /// The `index`-th element of a pointer array, or byte `offset` of an arena, of ck_entry_args.
  Value pointer(const ProgramSlot &slot);
  Value size(const Expr &expr);
  void emitStep(const ProgramStep &step);
  void returnUnlessZero(Value status, const ProgramStep &step);
  /// A field of ck_entry_args.
  Value field(size_t offset) {
    Value &value = fields[offset];
    if (!value)
      value = inHeader([&]() -> Value {
        return LLVM::LoadOp::create(builder, loc, ptr, byteAddress(function.getArgument(1), offset));
      });
    return value;
  }
  Value byteAddress(Value base, int64_t offset) {
    if (offset == 0)
      return base;
    return LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{integer(offset)});
  }
  /// Builds where every later block can use the value.
  Value inHeader(llvm::function_ref<Value()> build) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(headerEnd);
    return build();
  }

  OpBuilder &builder;
  Location loc;
  LLVM::LLVMFuncOp function;
  const Program &program;
  const ProgramEntry &entry;
  LLVM::LLVMFuncOp fail, error;
  ModelTable &table;
  Type ptr;
  Operation *headerEnd = nullptr;
  Value slots;
  llvm::DenseMap<int64_t, Value> integers;
  llvm::SmallVector<Value> addresses;
  std::map<size_t, Value> fields;
  std::map<std::string, Value> sizes;
};
} // namespace

Value EntryEmitter::integer(int64_t value) {
  Value &constant = integers[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    constant = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(value));
  }
  return constant;
}

Value EntryEmitter::slotAddress(size_t slot) {
  if (addresses.size() <= slot)
    addresses.resize(slot + 1);
  if (!addresses[slot])
    addresses[slot] = inHeader([&] { return byteAddress(slots, 8 * static_cast<int64_t>(slot)); });
  return addresses[slot];
}

Value EntryEmitter::pointer(const ProgramSlot &slot) {
  auto element = [&](size_t offset) -> Value {
    return LLVM::LoadOp::create(builder, loc, ptr, byteAddress(field(offset), 8 * slot.index));
  };
  switch (slot.kind) {
  case ProgramSlot::Kind::Weight:
    return element(offsetof(ck_entry_args, weights));
  case ProgramSlot::Kind::Input:
    return element(offsetof(ck_entry_args, inputs));
  case ProgramSlot::Kind::Output:
    return element(offsetof(ck_entry_args, outputs));
  case ProgramSlot::Kind::Const:
    return byteAddress(field(offsetof(ck_entry_args, const_arena)), slot.index);
  case ProgramSlot::Kind::State:
    return byteAddress(field(offsetof(ck_entry_args, state_arena)), slot.index);
  case ProgramSlot::Kind::Arena:
    return byteAddress(field(offsetof(ck_entry_args, arena)), slot.index);
  default:
    llvm_unreachable("not a pointer slot");
  }
}

Value EntryEmitter::size(const Expr &expr) {
  if (expr.kind() == Expr::Kind::Integer)
    return integer(expr.value());
  Value &value = sizes[expr.str()];
  if (value)
    return value;
  value = inHeader([&]() -> Value {
    if (expr.kind() == Expr::Kind::Dim) {
      int64_t index = 0;
      while (entry.dims[index].first != expr.name())
        ++index;
      Value dims = field(offsetof(ck_entry_args, dims));
      return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), byteAddress(dims, 8 * index));
    }
    Value lhs = size(expr.args()[0]), rhs = size(expr.args()[1]);
    switch (expr.kind()) {
    case Expr::Kind::Add:
      return LLVM::AddOp::create(builder, loc, lhs, rhs);
    case Expr::Kind::Sub:
      return LLVM::SubOp::create(builder, loc, lhs, rhs);
    case Expr::Kind::Mul:
      return LLVM::MulOp::create(builder, loc, lhs, rhs);
    case Expr::Kind::Div:
      return LLVM::SDivOp::create(builder, loc, lhs, rhs);
    case Expr::Kind::Mod:
      return LLVM::SRemOp::create(builder, loc, lhs, rhs);
    case Expr::Kind::CeilDiv: {
      Value bias = LLVM::SubOp::create(builder, loc, rhs, integer(1));
      Value sum = LLVM::AddOp::create(builder, loc, lhs, bias);
      return LLVM::SDivOp::create(builder, loc, sum, rhs);
    }
    case Expr::Kind::Min:
    case Expr::Kind::Max: {
      auto predicate = expr.kind() == Expr::Kind::Min ? LLVM::ICmpPredicate::slt : LLVM::ICmpPredicate::sgt;
      Value first = LLVM::ICmpOp::create(builder, loc, predicate, lhs, rhs);
      return LLVM::SelectOp::create(builder, loc, first, lhs, rhs);
    }
    default:
      llvm_unreachable("the program reader makes no other operator");
    }
  });
  return sizes[expr.str()];
}

void EntryEmitter::returnUnlessZero(Value status, const ProgramStep &step) {
  // As the executor of tables says it.
  std::string where = "step " + std::to_string(&step - entry.steps.data());
  if (!step.name.empty())
    where += " (" + step.name + ")";
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(0));
  Value good = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, zero);
  Block *next = function.addBlock();
  Block *exit = &*std::next(function.getBody().begin());
  LLVM::CondBrOp::create(builder, loc, good, next, ValueRange(), exit,
                         ValueRange{status, table.string(builder, loc, where)});
  builder.setInsertionPointToStart(next);
}

void EntryEmitter::emitStep(const ProgramStep &step) {
  if (step.kernel < 0) {
    Value extent = size(step.slots.front().size), bound = integer(step.bound);
    Value good = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sle, extent, bound);
    Block *bad = function.addBlock(), *next = function.addBlock();
    LLVM::CondBrOp::create(builder, loc, good, next, bad);
    builder.setInsertionPointToStart(bad);
    Value code =
        LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(CK_BOUND_EXCEEDED));
    std::string what = step.name.empty() ? "size" : step.name;
    Value format = table.string(builder, loc, entry.name + ": %s is %lld, above its bound %lld");
    Value name = table.string(builder, loc, what);
    Value status =
        LLVM::CallOp::create(builder, loc, fail, ValueRange{function.getArgument(0), code, format, name, extent, bound})
            .getResult();
    LLVM::ReturnOp::create(builder, loc, status);
    builder.setInsertionPointToStart(next);
    return;
  }
  Value null;
  for (auto [index, slot] : llvm::enumerate(step.slots)) {
    Value value;
    switch (slot.kind) {
    case ProgramSlot::Kind::Null:
      if (!null)
        null = LLVM::ZeroOp::create(builder, loc, ptr);
      value = null;
      break;
    case ProgramSlot::Kind::Size:
      value = size(slot.size);
      break;
    case ProgramSlot::Kind::Real:
      value = LLVM::ConstantOp::create(builder, loc, builder.getF64Type(), builder.getF64FloatAttr(slot.real));
      break;
    default:
      value = pointer(slot);
    }
    LLVM::StoreOp::create(builder, loc, value, slotAddress(index));
  }
  auto status =
      LLVM::CallOp::create(builder, loc, TypeRange{builder.getI32Type()}, "ckk_" + program.kernels[step.kernel].first,
                           ValueRange{function.getArgument(0), slots});
  returnUnlessZero(status.getResult(), step);
}

void EntryEmitter::emit() {
  Block *header = function.addEntryBlock(builder);
  Block *exit = function.addBlock();
  exit->addArguments({builder.getI32Type(), ptr}, {loc, loc});
  Block *body = function.addBlock();
  builder.setInsertionPointToStart(header);
  size_t most = 1;
  for (const ProgramStep &step : entry.steps)
    most = std::max(most, step.slots.size());
  headerEnd = LLVM::BrOp::create(builder, loc, ValueRange(), body);
  slots = inHeader(
      [&]() -> Value { return LLVM::AllocaOp::create(builder, loc, ptr, builder.getI64Type(), integer(most), 8); });
  builder.setInsertionPointToStart(body);
  for (const ProgramStep &step : entry.steps)
    emitStep(step);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(builder, loc, zero);
  builder.setInsertionPointToStart(exit);
  // The kernel has said what is wrong; a reader also wants to know where.
  Value context = function.getArgument(0), status = exit->getArgument(0);
  Value message = LLVM::CallOp::create(builder, loc, error, ValueRange{context}).getResult();
  Value format = table.string(builder, loc, "%s: %s");
  LLVM::CallOp::create(builder, loc, fail, ValueRange{context, status, format, exit->getArgument(1), message});
  LLVM::ReturnOp::create(builder, loc, status);
}

namespace {
struct LowerToLLVM : ck::impl::CKLowerToLLVMBase<LowerToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Program> program = readProgram(module);
    if (failed(program))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      op.erase();
    for (NamedAttribute attribute : llvm::to_vector(module->getDiscardableAttrs()))
      if (attribute.getName().getValue().starts_with("ck."))
        module->removeDiscardableAttr(attribute.getName());

    Location loc = module.getLoc();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Type ptr = LLVM::LLVMPointerType::get(&getContext()), i32 = builder.getI32Type();
    auto kernelType = LLVM::LLVMFunctionType::get(i32, {ptr, ptr});
    for (const auto &kernel : program->kernels)
      LLVM::LLVMFuncOp::create(builder, loc, "ckk_" + kernel.first, kernelType);
    auto fail = LLVM::LLVMFuncOp::create(builder, loc, "ck_fail",
                                         LLVM::LLVMFunctionType::get(i32, {ptr, i32, ptr}, /*isVarArg=*/true));
    auto error = LLVM::LLVMFuncOp::create(builder, loc, "ck_context_error", LLVM::LLVMFunctionType::get(ptr, {ptr}));
    ModelTable table(module, *program);
    for (auto [index, entry] : llvm::enumerate(program->entries)) {
      builder.setInsertionPointToEnd(module.getBody());
      auto function = LLVM::LLVMFuncOp::create(builder, loc, ModelTable::entrySymbol(*program, index), kernelType,
                                               LLVM::Linkage::Internal);
      EntryEmitter(builder, function, *program, entry, fail, error, table).emit();
    }
    builder.setInsertionPointToEnd(module.getBody());
    table.emit(builder);
  }
};
} // namespace
