//===- EntryJudge.cpp - judges the memory plan of one entry ---------------===//
#include "EntryJudge.h"

#include "CopyCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ck;

/// The name of a view, or where it is.
static std::string describeView(Value view, ByteRange range) {
  StringRef name = locationName(view.getLoc());
  return ("'" + (name.empty() ? StringRef("unnamed") : name) + "' [" + Twine(range.begin) + ", " + Twine(range.end) +
          ")")
      .str();
}

std::string EntryJudge::describe(const PlanAccess &access) {
  switch (access.kind) {
  case PlanAccess::Kind::Activation:
    return describeView(access.value, access.range);
  case PlanAccess::Kind::Constant:
    return "constant " + describeView(access.value, access.range);
  case PlanAccess::Kind::Weight:
    return "weight '" + access.value.getDefiningOp<ParamOp>().getBuffer().str() + "'";
  default:
    break;
  }
  unsigned number = cast<BlockArgument>(access.value).getArgNumber();
  if (access.kind == PlanAccess::Kind::State)
    return "state '" + entry.getArgAttrOfType<FlatSymbolRefAttr>(number, "ck.state").getValue().str() + "'";
  if (access.kind == PlanAccess::Kind::Input)
    return "input '" + entry.getArgAttrOfType<StringAttr>(number, "ck.input").str() + "'";
  return "output '" + entry.getArgAttrOfType<StringAttr>(number, "ck.output").str() + "'";
}

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

LogicalResult EntryJudge::judgeInterface() {
  if (entry.isExternal() || !entry.getBody().hasOneBlock())
    return emitEntryError(entry) << "must be one straight line of ops";
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    if (auto state = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state"))
      return emitEntryError(entry) << "returns state '" << state.getValue()
                                   << "', which copies it: a planned state is updated in its argument";
    return emitEntryError(entry) << "returns a value: the outputs of a planned entry are arguments";
  }
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = dyn_cast<MemRefType>(entry.getArgumentTypes()[i]);
    if (!type || !type.getLayout().isIdentity())
      return emitEntryError(entry) << "has argument " << i << ", which is no compact memref, but "
                                   << entry.getArgumentTypes()[i];
    if (!entry.getArgAttr(i, "ck.input") && !entry.getArgAttr(i, "ck.output") && !entry.getArgAttr(i, "ck.state"))
      return emitEntryError(entry) << "has argument " << i << ", which is neither input, output nor state";
  }
  auto arena = entry->getAttrOfType<IntegerAttr>("ck.arena_bytes");
  auto scratch = entry->getAttrOfType<IntegerAttr>("ck.thread_scratch_bytes");
  if (!arena || !scratch)
    return emitEntryError(entry) << "has no 'ck.arena_bytes' and 'ck.thread_scratch_bytes'; run --ck-plan-memory first";
  arenaBytes = arena.getInt();
  threadScratch = scratch.getInt();
  if (arenaBytes > arenas.activation)
    return emitEntryError(entry) << "needs an arena of " << arenaBytes << " bytes, but 'ck.plan' reserves "
                                 << arenas.activation;
  return success();
}

LogicalResult EntryJudge::judgeOp(Operation &op) {
  if (auto call = dyn_cast<CallOp>(op)) {
    if (failed(judgeCall(call)))
      return failure();
    ++step;
    return success();
  }
  if (auto view = dyn_cast<ViewOp>(op))
    return judgeView(view);
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return judgeEnd(end);
  if (auto param = dyn_cast<ParamOp>(op)) {
    if (!isa<MemRefType>(param.getType()))
      return op.emitOpError("is still a tensor; run --ck-bufferize first");
    auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(param, param.getBufferAttr());
    if (buffer && buffer.getRole() != "weight")
      return op.emitOpError() << "reads the " << buffer.getRole() << " '" << buffer.getSymName()
                              << "', which a plan reads by a ck.view of its arena";
    return success();
  }
  if (isa<BoundOp, memref::DimOp>(op))
    return success();
  if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp, memref::CopyOp>(op)) {
    InFlightDiagnostic error =
        op.emitOpError("is left over: in a plan every buffer is a ck.view and every copy a call");
    for (Value operand : op.getOperands())
      if (BlockArgument state = stateRoot(operand))
        error << "; it copies state '"
              << entry.getArgAttrOfType<FlatSymbolRefAttr>(state.getArgNumber(), "ck.state").getValue() << "'";
    return error;
  }
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  if (op.getNumRegions() == 0 && isa_and_nonnull<arith::ArithDialect>(op.getDialect()) &&
      llvm::none_of(op.getOperandTypes(), isShaped) && llvm::none_of(op.getResultTypes(), isShaped))
    return success();
  return op.emitOpError(
      "does not belong in a plan: only ck.call, ck.view, ck.param, memref.dim and index arithmetic do");
}

LogicalResult EntryJudge::judgeView(ViewOp view) {
  FailureOr<int64_t> size = boundedBytes(view, view.getResult());
  if (failed(size))
    return failure();
  ByteRange range;
  range.begin = view.getOffset();
  if (llvm::AddOverflow(range.begin, *size, range.end))
    return view.emitOpError() << "at offset " << range.begin << " ends beyond 64 bits";
  views[view.getResult()] = range;
  bool isConstant = view.getArena() == "const";
  int64_t limit = isConstant ? arenas.constant : arenaBytes;
  if (range.begin % 64 != 0)
    return view.emitOpError() << "of " << describeView(view, range) << " is not aligned to 64 bytes";
  if (range.end > limit)
    return view.emitOpError() << "of " << describeView(view, range) << " ends outside the "
                              << (isConstant ? "const" : "activation") << " arena of " << limit << " bytes";
  if (!isConstant)
    return success();
  auto buffer = arenas.constants.find(range.begin);
  if (buffer == arenas.constants.end())
    return view.emitOpError() << "of " << describeView(view, range) << " is no constant: none has this offset";
  BufferOp constant = buffer->second;
  auto type = cast<MemRefType>(view.getType());
  if (type.getShape() != constant.getTensorType().getShape() ||
      type.getElementType() != constant.getTensorType().getElementType())
    return view.emitOpError() << "of " << type << " is at the offset of constant '" << constant.getSymName()
                              << "', which is declared " << constant.getTensorType();
  return success();
}

LogicalResult EntryJudge::judgeEnd(func::ReturnOp end) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto output = entry.getArgAttrOfType<StringAttr>(i, "ck.output"))
      if (!outputsWritten.contains(entry.getArgument(i)))
        return end.emitOpError() << "ends the entry before anything has written output '" << output.getValue() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

FailureOr<PlanAccess> EntryJudge::accessOf(CallOp call, Value value, StringRef operand) {
  PlanAccess access;
  access.operand = operand.str();
  access.value = value;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    access.kind = entry.getArgAttr(number, "ck.state")    ? PlanAccess::Kind::State
                  : entry.getArgAttr(number, "ck.output") ? PlanAccess::Kind::Output
                                                          : PlanAccess::Kind::Input;
    return access;
  }
  if (auto view = value.getDefiningOp<ViewOp>()) {
    access.kind = view.getArena() == "const" ? PlanAccess::Kind::Constant : PlanAccess::Kind::Activation;
    access.range = views.lookup(value);
    return access;
  }
  if (value.getDefiningOp<ParamOp>()) {
    access.kind = PlanAccess::Kind::Weight;
    return access;
  }
  return call.emitOpError() << "binds '" << operand << "' to something that is neither argument, ck.view nor ck.param";
}

LogicalResult EntryJudge::judgeScratch(CallOp call, const Contract &contract) {
  FailureOr<ScratchNeed> need = scratchNeed(call, contract);
  if (failed(need))
    return failure();
  if (need->perThread > threadScratch)
    return call.emitOpError() << "needs " << need->perThread << " bytes of scratch for each thread, but the entry "
                              << "reserves " << threadScratch;
  if (call.getScratch().size() != need->arena.size())
    return call.emitOpError() << "has " << call.getScratch().size() << " scratch areas, but its contract asks for "
                              << need->arena.size();
  for (auto [value, bytes, name] : llvm::zip(call.getScratch(), need->arena, need->names)) {
    ByteRange range = views.lookup(value);
    if (range.end - range.begin < bytes)
      return call.emitOpError() << "needs " << bytes << " bytes of scratch '" << name << "', but gets "
                                << range.end - range.begin;
  }
  return success();
}

LogicalResult EntryJudge::judgePair(CallOp call, const Contract &contract, const PlanAccess &a, const PlanAccess &b) {
  if (!a.writes && !b.writes)
    return success();
  bool sameStorage = a.value == b.value || (a.kind == b.kind && a.range.overlaps(b.range));
  if (!sameStorage || (a.kind == PlanAccess::Kind::Activation && a.range.empty()))
    return success();
  for (const auto &[input, output] : contract.inplace) {
    bool forwards = a.isInput && a.operand == input && !b.isInput && b.operand == output;
    bool backwards = b.isInput && b.operand == input && !a.isInput && a.operand == output;
    if ((forwards || backwards) && a.range == b.range)
      return success();
  }
  return call.emitOpError() << "of '" << call.getCallee() << "' gets overlapping storage for '" << a.operand << "', "
                            << describe(a) << ", and '" << b.operand << "', " << describe(b)
                            << ", which are no in-place pair of its contract";
}

LogicalResult EntryJudge::judgeStateCopy(CallOp call, ArrayRef<PlanAccess> accesses) {
  ProviderOp provider = contracts.provider(call.getCalleeAttr());
  if (!isCopyProvider(provider.getInventoryOp(), *contracts.find(call.getCalleeAttr())))
    return success();
  const PlanAccess *state = nullptr, *activation = nullptr;
  for (const PlanAccess &access : accesses) {
    if (access.kind == PlanAccess::Kind::State)
      state = &access;
    if (access.kind == PlanAccess::Kind::Activation)
      activation = &access;
  }
  if (!state || !activation)
    return success();
  return call.emitOpError() << "copies " << describe(*state) << (state->writes ? " from " : " to ")
                            << describe(*activation) << ": a state is read and updated where it is";
}

LogicalResult EntryJudge::judgeRead(CallOp call, const PlanAccess &access) {
  if (access.kind == PlanAccess::Kind::Output && !outputsWritten.contains(access.value))
    return call.emitOpError() << "reads " << describe(access) << " as '" << access.operand
                              << "' before anything has written it";
  if (access.kind == PlanAccess::Kind::Constant) {
    if (!constantsWritten.contains(access.range.begin))
      constantsRead.insert({access.value, access.range.begin});
    return success();
  }
  if (access.kind != PlanAccess::Kind::Activation)
    return success();
  std::optional<ByteMap::Found> found = bytes.findForeign(access.range, access.value);
  if (!found)
    return success();
  if (!found->run.owner)
    return call.emitOpError() << "reads bytes [" << found->range.begin << ", " << found->range.end << ") of "
                              << describe(access) << " as '" << access.operand << "', which nothing has written";
  Value other = found->run.owner;
  InFlightDiagnostic error = call.emitOpError()
                             << "reads " << describe(access) << " as '" << access.operand << "', but "
                             << describeView(other, views.lookup(other)) << " has been written over it";
  error.attachNote(CallOp(found->run.writer).getLoc()) << "written over here";
  return error;
}

LogicalResult EntryJudge::judgeWrite(CallOp call, const PlanAccess &access) {
  switch (access.kind) {
  case PlanAccess::Kind::Activation:
    bytes.write(access.range, access.value, call);
    return success();
  case PlanAccess::Kind::Output:
    outputsWritten.insert(access.value);
    return success();
  case PlanAccess::Kind::State:
    return success();
  case PlanAccess::Kind::Constant:
    if (entry.getSymName() != "init")
      break;
    constantsWritten.insert(access.range.begin);
    return success();
  case PlanAccess::Kind::Input:
  case PlanAccess::Kind::Weight:
    break;
  }
  return call.emitOpError() << "writes " << describe(access) << " as '" << access.operand
                            << "', which is read-only here";
}

LogicalResult EntryJudge::judgeCall(CallOp call) {
  const Contract *contract = contracts.find(call.getCalleeAttr());
  if (!contract)
    return call.emitOpError() << "calls '" << call.getCallee() << "', which is no ck.provider of this module";
  if (!call.getResults().empty())
    return call.emitOpError("still works on tensors; run --ck-bufferize first");
  SmallVector<PlanAccess> accesses;
  auto add = [&](Value value, StringRef operand, bool reads, bool writes, bool isInput) {
    FailureOr<PlanAccess> access = accessOf(call, value, operand);
    if (failed(access))
      return failure();
    access->reads = reads;
    access->writes = writes;
    access->isInput = isInput;
    accesses.push_back(std::move(*access));
    return success();
  };
  for (auto [value, name] : llvm::zip(call.getInputs(), call.getInputNames().getAsRange<StringAttr>()))
    if (failed(add(value, name.getValue(), true, false, true)))
      return failure();
  for (Value value : call.getScratch()) {
    if (!value.getDefiningOp<ViewOp>() || value.getDefiningOp<ViewOp>().getArena() != "activation")
      return call.emitOpError("has scratch that is no ck.view of the activation arena");
    if (failed(add(value, "scratch", false, true, false)))
      return failure();
  }
  for (auto [value, name] : llvm::zip(call.getInits(), call.getInitNames().getAsRange<StringAttr>()))
    if (failed(add(value, name.getValue(), readsOutput(*contract, name.getValue()), true, false)))
      return failure();
  if (failed(judgeScratch(call, *contract)) || failed(judgeStateCopy(call, accesses)))
    return failure();
  for (size_t i = 0; i < accesses.size(); ++i)
    for (size_t j = i + 1; j < accesses.size(); ++j)
      if (failed(judgePair(call, *contract, accesses[i], accesses[j])))
        return failure();
  for (const PlanAccess &access : accesses)
    if (access.reads && failed(judgeRead(call, access)))
      return failure();
  for (const PlanAccess &access : accesses) {
    if (access.writes && failed(judgeWrite(call, access)))
      return failure();
    if (access.kind == PlanAccess::Kind::Activation)
      live.use(access.value, access.range, step, /*fresh=*/!access.reads);
  }
  return success();
}

LogicalResult EntryJudge::judge() {
  if (failed(judgeInterface()))
    return failure();
  for (Operation &op : entry.getBody().front())
    if (failed(judgeOp(op)))
      return failure();
  std::optional<LiveBytes::Crowd> crowd = live.findCloserThan(arenas.guard, arenaBytes);
  if (!crowd)
    return success();
  InFlightDiagnostic error = emitEntryError(entry) << "leaves less than the guard of " << arenas.guard << " bytes at "
                                                   << describeView(crowd->buffer, views.lookup(crowd->buffer));
  if (crowd->neighbour)
    error << ", next to " << describeView(crowd->neighbour, views.lookup(crowd->neighbour));
  return error;
}
