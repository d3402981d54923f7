//===- ModelTable.cpp - ck_model and its parts as LLVM globals ------------===//
#include "ModelTable.h"

#include "ck/Runtime/Runtime.h"

using namespace mlir;
using namespace ck;

static constexpr StringRef kStrings = "ck.strings", kExtents = "ck.extents";

std::string ModelTable::entrySymbol(const Program &program, size_t entry) {
  return "ck.entry." + std::to_string(entry) + "." + mangle(program.entries[entry].name);
}

/// Builds the initializer of a global of structs, field by field in the order of the C declaration.
class ModelTable::Initializer {
public:
  Initializer(ModelTable &table, OpBuilder &builder, LLVM::GlobalOp global)
      : table(table), builder(builder), guard(builder), loc(global.getLoc()),
        ptr(LLVM::LLVMPointerType::get(builder.getContext())) {
    builder.createBlock(&global.getInitializerRegion());
    value = LLVM::UndefOp::create(builder, loc, global.getType());
    isArray = isa<LLVM::LLVMArrayType>(global.getType());
  }
  ~Initializer() { LLVM::ReturnOp::create(builder, loc, value); }

  void field(Value element) {
    SmallVector<int64_t> position;
    if (isArray)
      position.push_back(row);
    if (!scalar)
      position.push_back(column++);
    value = LLVM::InsertValueOp::create(builder, loc, value, element, position);
    if (scalar)
      ++row;
  }
  void i32(int64_t x) {
    field(LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(x)));
  }
  void i64(int64_t x) {
    field(LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(x)));
  }
  void null() { field(LLVM::ZeroOp::create(builder, loc, ptr)); }
  void text(StringRef x) { field(table.string(builder, loc, x)); }
  void textOrNull(StringRef x) { x.empty() ? null() : text(x); }
  void symbol(StringRef name) { field(LLVM::AddressOfOp::create(builder, loc, ptr, name)); }
  void extents(ArrayRef<int64_t> dims) {
    int64_t first = table.extents.size();
    table.extents.append(dims.begin(), dims.end());
    Value base = LLVM::AddressOfOp::create(builder, loc, ptr, kExtents);
    field(LLVM::GEPOp::create(builder, loc, ptr, builder.getI64Type(), base,
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)}));
  }
  void nextRow() {
    ++row;
    column = 0;
  }
  bool scalar = false; ///< the elements of the array are no structs

private:
  ModelTable &table;
  OpBuilder &builder;
  OpBuilder::InsertionGuard guard;
  Location loc;
  Type ptr;
  Value value;
  bool isArray = false;
  int64_t row = 0, column = 0;
};

Value ModelTable::string(OpBuilder &builder, Location loc, StringRef text) {
  auto [it, isNew] = offsets.try_emplace(text, pool.size());
  if (isNew) {
    pool.append(text.begin(), text.end());
    pool.push_back('\0');
  }
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Value base = LLVM::AddressOfOp::create(builder, loc, ptr, kStrings);
  return LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(it->second)});
}

static LLVM::GlobalOp makeGlobal(OpBuilder &builder, ModuleOp module, StringRef name, Type type, Attribute value = {}) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  return LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                value);
}

LLVM::GlobalOp ModelTable::emitValues(OpBuilder &builder, StringRef name, ArrayRef<ProgramValue> values) {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext()), i32 = builder.getI32Type();
  auto row = LLVM::LLVMStructType::getLiteral(builder.getContext(), {ptr, ptr, i32, ptr});
  auto global = makeGlobal(builder, module, name, LLVM::LLVMArrayType::get(row, values.size()));
  Initializer init(*this, builder, global);
  for (const ProgramValue &value : values) {
    init.text(value.name);
    init.text(value.dtype);
    init.i32(value.dims.size());
    init.extents(value.dims);
    init.nextRow();
  }
  return global;
}

static int32_t roleNumber(StringRef role) {
  return role == "weight" ? CK_WEIGHT : role == "state" ? CK_STATE : CK_CONST;
}

void ModelTable::emit(OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context), i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Location loc = module.getLoc();

  auto bufferType = LLVM::LLVMStructType::getLiteral(context, {ptr, i32, ptr, i32, ptr, i64, i64, ptr, ptr});
  auto buffers =
      makeGlobal(builder, module, "ck.buffers", LLVM::LLVMArrayType::get(bufferType, program.buffers.size()));
  {
    Initializer init(*this, builder, buffers);
    for (const ProgramBuffer &buffer : program.buffers) {
      init.text(buffer.name);
      init.i32(roleNumber(buffer.role));
      init.text(buffer.dtype);
      init.i32(buffer.dims.size());
      init.extents(buffer.dims);
      init.i64(buffer.bytes);
      init.i64(buffer.offset);
      init.textOrNull(buffer.file);
      init.textOrNull(buffer.tensor);
      init.nextRow();
    }
  }

  for (auto [index, entry] : llvm::enumerate(program.entries)) {
    std::string suffix = "." + std::to_string(index);
    emitValues(builder, "ck.inputs" + suffix, entry.inputs);
    emitValues(builder, "ck.outputs" + suffix, entry.outputs);
    auto names = makeGlobal(builder, module, "ck.dims" + suffix, LLVM::LLVMArrayType::get(ptr, entry.dims.size()));
    Initializer init(*this, builder, names);
    init.scalar = true;
    for (const auto &dim : entry.dims)
      init.text(dim.first);
  }
  auto entryType =
      LLVM::LLVMStructType::getLiteral(context, {ptr, i64, i64, i32, i32, i32, ptr, ptr, ptr, ptr, ptr, ptr});
  auto entries = makeGlobal(builder, module, "ck.entries", LLVM::LLVMArrayType::get(entryType, program.entries.size()));
  {
    Initializer init(*this, builder, entries);
    for (auto [index, entry] : llvm::enumerate(program.entries)) {
      std::string suffix = "." + std::to_string(index);
      SmallVector<int64_t> bounds;
      for (const auto &dim : entry.dims)
        bounds.push_back(dim.second);
      init.text(entry.name);
      init.i64(entry.arenaBytes);
      init.i64(entry.threadScratchBytes);
      init.i32(entry.inputs.size());
      init.i32(entry.outputs.size());
      init.i32(entry.dims.size());
      init.symbol("ck.inputs" + suffix);
      init.symbol("ck.outputs" + suffix);
      init.symbol("ck.dims" + suffix);
      init.extents(bounds);
      init.symbol(entrySymbol(program, index));
      init.null();
      init.nextRow();
    }
  }

  auto listOf = [&](StringRef name, auto text) {
    auto global = makeGlobal(builder, module, name, LLVM::LLVMArrayType::get(ptr, program.kernels.size()));
    Initializer init(*this, builder, global);
    init.scalar = true;
    for (const auto &kernel : program.kernels)
      init.text(text(kernel));
  };
  listOf("ck.kernel_ids", [](const auto &kernel) { return kernel.first; });
  listOf("ck.kernel_digests", [](const auto &kernel) { return kernel.second; });

  auto modelType =
      LLVM::LLVMStructType::getLiteral(context, {i32, ptr, ptr, i64, i64, i32, i32, ptr, ptr, i32, ptr, ptr});
  auto model = makeGlobal(builder, module, "ck.model", modelType);
  {
    Initializer init(*this, builder, model);
    init.i32(CK_ABI_VERSION);
    init.text(program.name);
    init.text(program.digest);
    init.i64(program.constBytes);
    init.i64(program.stateBytes);
    init.i32(program.buffers.size());
    init.i32(program.entries.size());
    init.symbol("ck.buffers");
    init.symbol("ck.entries");
    init.i32(program.kernels.size());
    init.symbol("ck.kernel_ids");
    init.symbol("ck.kernel_digests");
  }

  if (pool.empty())
    pool.push_back('\0');
  makeGlobal(builder, module, kStrings, LLVM::LLVMArrayType::get(builder.getI8Type(), pool.size()),
             builder.getStringAttr(pool));
  if (extents.empty())
    extents.push_back(0);
  makeGlobal(builder, module, kExtents, LLVM::LLVMArrayType::get(i64, extents.size()),
             DenseElementsAttr::get(RankedTensorType::get(extents.size(), i64), ArrayRef<int64_t>(extents)));

  builder.setInsertionPointToEnd(module.getBody());
  auto getter =
      LLVM::LLVMFuncOp::create(builder, loc, "ckm_" + mangle(program.name), LLVM::LLVMFunctionType::get(ptr, {}));
  builder.setInsertionPointToStart(getter.addEntryBlock(builder));
  Value address = LLVM::AddressOfOp::create(builder, loc, ptr, model.getSymName());
  LLVM::ReturnOp::create(builder, loc, address);
}
