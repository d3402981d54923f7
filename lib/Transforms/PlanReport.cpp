//===- PlanReport.cpp - a memory plan as JSON -----------------------------===//
//
// Keys, in this order:
//
//   model, guard, arena_bytes, const_bytes, state_bytes
//   states, constants   [{name, offset, size}]
//   entries             [{name, bounds: {dim: n}, calls, arena_bytes, thread_scratch_bytes, bound,
//   bound_before_in_place,
//                         ratio, strategy, peak: {step, op, live: [name]},
//                         buffers: [{name, op, offset, size, first, last, in_place_of}]}]
//
// Sizes and offsets are bytes at the bounds; `op` is the provider of the call that uses the buffer first, `first` and
// `last` are calls by position; `ratio` is arena_bytes / bound. `peak` is the step at which most bytes are live.
//
//===----------------------------------------------------------------------===//
#include "MemoryPlan.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace ck;

static void writeLayout(llvm::json::OStream &json, StringRef key, const ArenaLayout &layout) {
  json.attributeArray(key, [&] {
    for (ArenaLayout::Place place : layout.places)
      json.object([&] {
        json.attribute("name", place.buffer.getSymName());
        json.attribute("offset", place.offset);
        json.attribute("size", place.bytes);
      });
  });
}

static void writeBuffer(llvm::json::OStream &json, const EntryPlan &plan, const PlannedBuffer &buffer) {
  json.object([&] {
    CallOp call = buffer.call;
    json.attribute("name", buffer.name);
    json.attribute("op", call.getCallee());
    json.attribute("offset", buffer.offset);
    json.attribute("size", buffer.bytes);
    json.attribute("first", buffer.first);
    json.attribute("last", buffer.last);
    if (buffer.storageOf)
      json.attribute("in_place_of", plan.buffers[*buffer.storageOf].name);
  });
}

static void writeEntry(llvm::json::OStream &json, const EntryPlan &plan) {
  json.object([&] {
    func::FuncOp entry = plan.entry;
    json.attribute("name", entry.getSymName());
    json.attributeObject("bounds", [&] {
      if (auto bounds = entry->getAttrOfType<DictionaryAttr>("ck.bounds"))
        for (NamedAttribute bound : bounds)
          json.attribute(bound.getName().getValue(), cast<IntegerAttr>(bound.getValue()).getInt());
    });
    json.attribute("calls", static_cast<int64_t>(plan.steps.size()));
    json.attribute("arena_bytes", plan.arenaBytes);
    json.attribute("thread_scratch_bytes", plan.threadScratchBytes);
    json.attribute("bound", plan.bound);
    json.attribute("bound_before_in_place", plan.boundBeforeInPlace);
    json.attribute("ratio", plan.bound == 0 ? 1.0 : static_cast<double>(plan.arenaBytes) / plan.bound);
    json.attribute("strategy", plan.strategy);
    json.attributeObject("peak", [&] {
      if (plan.peak < 0)
        return;
      CallOp call = plan.steps[plan.peak];
      json.attribute("step", plan.peak);
      json.attribute("op", call.getCallee());
      json.attributeArray("live", [&] {
        for (const PlannedBuffer &buffer : plan.buffers)
          if (buffer.bytes != 0 && buffer.first <= plan.peak && plan.peak <= buffer.last)
            json.value(buffer.name);
      });
    });
    json.attributeArray("buffers", [&] {
      for (const PlannedBuffer &buffer : plan.buffers)
        writeBuffer(json, plan, buffer);
    });
  });
}

void ck::writePlanReport(raw_ostream &stream, ModuleOp module, ArrayRef<EntryPlan> plans, const ArenaLayout &states,
                         const ArenaLayout &constants, int64_t guard) {
  int64_t arena = 0;
  for (const EntryPlan &plan : plans)
    arena = std::max(arena, plan.arenaBytes);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    if (auto name = module->getAttrOfType<StringAttr>("ck.model"))
      json.attribute("model", name.getValue());
    json.attribute("guard", guard);
    json.attribute("arena_bytes", arena);
    json.attribute("const_bytes", constants.bytes);
    json.attribute("state_bytes", states.bytes);
    writeLayout(json, "states", states);
    writeLayout(json, "constants", constants);
    json.attributeArray("entries", [&] {
      for (const EntryPlan &plan : plans)
        writeEntry(json, plan);
    });
  });
  stream << "\n";
}
