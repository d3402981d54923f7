//===- MoveLastRow.cpp - compute one row where one is used ----------------===//
//
// Which operands carry the rows is read from the op's signature: those whose first dim is the first dim of the results.
// That rows do not look at each other is what the op says of itself (`isRowwise`).
//
//===----------------------------------------------------------------------===//
#include "Schedule.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ck;

/// The name of the dim that the first axis of a tensor of `rank` dims is; "" if that axis is no plain dim of its own.
static StringRef rowDim(const SigOperand &operand, int64_t rank) {
  // '...T' may stand for no axis or several; the row axis is the first of at least one.
  if (operand.dims.empty() || operand.dims[0].kind() != Expr::Kind::Dim ||
      (operand.leadingDims && rank < static_cast<int64_t>(operand.dims.size())))
    return "";
  return operand.dims[0].name();
}

/// True if `operand` names `dim` anywhere from its dim number `from` on.
static bool mentions(const SigOperand &operand, StringRef dim, size_t from) {
  std::vector<std::string> names;
  for (size_t i = from; i < operand.dims.size(); ++i)
    operand.dims[i].collectNames(names);
  return llvm::is_contained(names, dim);
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Operands of `op` (indices into its operand list) that hold the rows of its results; nullopt if one row of the
/// results cannot be computed from one row of them.
static std::optional<SmallVector<unsigned>> rowOperands(SignatureOpInterface op) {
  if (!op.isRowwise())
    return std::nullopt;
  Result<Signature> signature = parseSignature(op.getSignatureText());
  if (!signature || signature->outputs.size() != op->getNumResults())
    return std::nullopt;
  StringRef rows = rowDim(signature->outputs[0], rankOf(op->getResult(0)));
  if (rows.empty())
    return std::nullopt;
  for (auto [output, result] : llvm::zip(signature->outputs, op->getResults()))
    if (rowDim(output, rankOf(result)) != rows || mentions(output, rows, 1))
      return std::nullopt;
  SmallVector<unsigned> operands;
  SmallVector<Value> values = op.getSignatureOperands();
  unsigned next = 0; // Operands of the op are the present ones of the signature, in order.
  for (auto [input, value] : llvm::zip(signature->inputs, values)) {
    if (!value)
      continue;
    unsigned index = next++;
    if (op->getOperand(index) != value)
      return std::nullopt;
    if (!mentions(input, rows, 0))
      continue;
    // `ck.last_row` takes vectors and matrices.
    if (rowDim(input, rankOf(value)) != rows || mentions(input, rows, 1) || rankOf(value) > 2)
      return std::nullopt;
    operands.push_back(index);
  }
  return operands;
}

/// The only op whose results `lastRow` may take the place of, if it can compute one row. What makes blocks may have
/// other readers: it is computed once more, since no kernel picks a row of blocks.
static SignatureOpInterface movableProducer(LastRowOp lastRow) {
  auto op = lastRow.getInput().getDefiningOp<SignatureOpInterface>();
  if (!op || op->getBlock() != lastRow->getBlock())
    return {};
  if (isBlockType(lastRow.getType().getElementType()) && op->getNumResults() == 1 && rankOf(op->getResult(0)) <= 2)
    return op;
  for (Value result : op->getResults())
    if (rankOf(result) > 2 || !llvm::all_of(result.getUsers(), llvm::IsaPred<LastRowOp>))
      return {};
  return op;
}

/// The op that computes the last row of what `op` computes, inserted before `op`.
static Operation *computeOneRow(SignatureOpInterface op, ArrayRef<unsigned> rowOperands) {
  OpBuilder builder(op);
  auto oneRow = [](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = 1;
    return RankedTensorType::get(shape, type.getElementType());
  };
  SmallVector<Value> operands(op->getOperands());
  llvm::DenseMap<Value, Value> made; // One op may read a value twice.
  for (unsigned index : rowOperands) {
    Value &row = made[operands[index]];
    if (!row)
      row = builder.createOrFold<LastRowOp>(op->getLoc(), oneRow(cast<RankedTensorType>(operands[index].getType())),
                                            operands[index]);
    operands[index] = row;
  }
  Operation *copy = op->cloneWithoutRegions();
  copy->setOperands(operands);
  for (Value result : copy->getResults())
    result.setType(oneRow(cast<RankedTensorType>(result.getType())));
  builder.insert(copy);
  return copy;
}

void ck::moveLastRowsUp(func::FuncOp entry) {
  SmallVector<LastRowOp> work(entry.getOps<LastRowOp>());
  while (!work.empty()) {
    LastRowOp lastRow = work.pop_back_val();
    if (lastRow.getType() == lastRow.getInput().getType()) { // One row already.
      lastRow.replaceAllUsesWith(lastRow.getInput());
      lastRow.erase();
      continue;
    }
    SignatureOpInterface op = movableProducer(lastRow);
    std::optional<SmallVector<unsigned>> rows = op ? rowOperands(op) : std::nullopt;
    if (!rows)
      continue;
    Operation *copy = computeOneRow(op, *rows);
    for (auto [result, row] : llvm::zip(op->getResults(), copy->getResults()))
      for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
        auto other = dyn_cast<LastRowOp>(user);
        if (!other)
          continue;
        llvm::erase(work, other);
        user->replaceAllUsesWith(ValueRange(row));
        user->erase();
      }
    if (op->use_empty())
      op->erase();
    for (Value operand : copy->getOperands())
      if (auto above = operand.getDefiningOp<LastRowOp>(); above && !llvm::is_contained(work, above))
        work.push_back(above);
  }
}
