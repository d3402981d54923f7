//===- Executor.cpp - runs a loaded .ckplan -------------------------------===//
//
// A walk over the steps of one entry: fill the slots, call the kernel. It decides nothing.
//
//===----------------------------------------------------------------------===//
#include "Context.h"
#include "PlanTable.h"

#include <algorithm>

using namespace ck;

static int64_t ceilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// True when `a op b` was computed without overflow or division by a number below 1.
static bool apply(SizeExpr::Op op, int64_t a, int64_t b, int64_t &result) {
  using Op = SizeExpr::Op;
  switch (op) {
  case Op::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Op::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case Op::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  case Op::Min:
    result = std::min(a, b);
    return true;
  case Op::Max:
    result = std::max(a, b);
    return true;
  case Op::Div:
  case Op::Mod:
  case Op::CeilDiv:
    if (b < 1)
      return false;
    result = op == Op::Div ? a / b - (a % b < 0) : op == Op::Mod ? (a % b + b) % b : ceilDivide(a, b);
    return true;
  case Op::Integer:
  case Op::Dim:
    break;
  }
  return false;
}

bool SizeExpr::evaluate(const int64_t *dims, int64_t &result) const {
  // Each level of nesting holds at most one finished left side beside the one in work.
  int64_t stack[kMaxPlanSizeDepth + 2];
  int top = 0;
  for (const Item &item : items) {
    if (item.op == Op::Integer || item.op == Op::Dim) {
      stack[top++] = item.op == Op::Integer ? item.value : dims[item.value];
      continue;
    }
    --top;
    if (!apply(item.op, stack[top - 1], stack[top], stack[top - 1]))
      return false;
  }
  result = stack[0];
  return true;
}

static uint64_t bits(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/// Fills `slots`; false when a run-time size cannot be computed, with its slot in `failed`.
static bool fillSlots(const PlanStep &step, const PlanEntry &program, const ck_entry_args &args, uint64_t *slots,
                      size_t &failed) {
  for (size_t i = 0; i < step.slots.size(); ++i) {
    const PlanSlot &slot = step.slots[i];
    switch (slot.kind) {
    case PlanSlot::Kind::Literal:
      slots[i] = slot.value;
      break;
    case PlanSlot::Kind::Weight:
      slots[i] = bits(args.weights[slot.value]);
      break;
    case PlanSlot::Kind::Const:
      slots[i] = bits(args.const_arena) + slot.value;
      break;
    case PlanSlot::Kind::State:
      slots[i] = bits(args.state_arena) + slot.value;
      break;
    case PlanSlot::Kind::Arena:
      slots[i] = bits(args.arena) + slot.value;
      break;
    case PlanSlot::Kind::Input:
      slots[i] = bits(args.inputs[slot.value]);
      break;
    case PlanSlot::Kind::Output:
      slots[i] = bits(args.outputs[slot.value]);
      break;
    case PlanSlot::Kind::Size: {
      int64_t size = 0;
      if (!program.sizes[slot.value].evaluate(args.dims, size))
        return failed = i, false;
      slots[i] = uint64_t(size);
      break;
    }
    }
  }
  return true;
}

static int32_t runStep(ck_context *ctx, const PlanStep &step, const PlanEntry &program, const ck_entry_args &args,
                       uint64_t *slots) {
  size_t failed = 0;
  if (!fillSlots(step, program, args, slots, failed))
    return ck_fail(ctx, CK_BOUND_EXCEEDED, "%s: slot %zu: run-time size overflows or divides by a number below 1",
                   step.kernel ? step.kernel->id : "check", failed);
  if (step.kernel)
    return ck_call_kernel(ctx, step.kernel, slots);
  if (int64_t(slots[0]) <= step.bound)
    return CK_OK;
  return ck_fail(ctx, CK_BOUND_EXCEEDED, "size is %lld, above its bound %lld", (long long)slots[0],
                 (long long)step.bound);
}

int32_t ck::runPlanEntry(ck_context *ctx, const ck_entry_args *args) {
  const auto &program = *static_cast<const PlanEntry *>(args->entry->impl);
  uint64_t slots[kMaxPlanSlots];
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const PlanStep &step = program.steps[i];
    uint64_t failures = ctx->failures;
    int32_t code = runStep(ctx, step, program, *args, slots);
    if (code != CK_OK)
      return locateError(ctx, code, failures, "step %zu%s%s%s", i, step.name ? " (" : "", step.name ? step.name : "",
                         step.name ? ")" : "");
  }
  return CK_OK;
}
