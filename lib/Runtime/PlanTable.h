//===- PlanTable.h - a loaded .ckplan ---------------------------*- C++ -*-===//
//
// The form in which the executor walks a plan: every name resolved, every index and offset already checked.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_PLANTABLE_H
#define CK_LIB_RUNTIME_PLANTABLE_H

#include "ck/Runtime/Plan.h"
#include "ck/Runtime/Runtime.h"

#include <deque>
#include <string>
#include <vector>

namespace ck {

/// An integer over the run-time dims of an entry, in postfix order.
struct SizeExpr {
  enum class Op : uint8_t { Integer, Dim, Add, Sub, Mul, Div, Mod, CeilDiv, Min, Max };
  struct Item {
    Op op;
    int64_t value; ///< of an integer; index of a dim
  };
  std::vector<Item> items;

  /// False on overflow or division by a number below 1.
  bool evaluate(const int64_t *dims, int64_t &result) const;
};

/// How the executor fills one 8-byte slot.
struct PlanSlot {
  enum class Kind : uint8_t { Literal, Weight, Const, State, Arena, Input, Output, Size };
  Kind kind = Kind::Literal;
  uint64_t value = 0; ///< bits of a literal, byte offset, or index
};

/// A call of a kernel, or, without one, a check that the size in slots[0] is at most `bound`.
struct PlanStep {
  const ck_kernel *kernel = nullptr;
  const char *name = nullptr; ///< may be null
  int64_t bound = 0;
  std::vector<PlanSlot> slots;
};

/// ck_entry::impl of an entry that comes from a .ckplan.
struct PlanEntry {
  std::vector<PlanStep> steps;
  std::vector<SizeExpr> sizes;
};

/// A ck_model together with everything that it points to.
struct PlanTable : ck_model {
  std::deque<std::string> strings;
  std::deque<std::vector<int64_t>> numbers;
  std::deque<std::vector<const char *>> names;
  std::deque<std::vector<ck_value_info>> values;
  std::deque<PlanEntry> programs;
  std::vector<ck_buffer_info> bufferTable;
  std::vector<ck_entry> entryTable;

  PlanTable() : ck_model() {}
  const char *keep(std::string text) { return strings.emplace_back(std::move(text)).c_str(); }
};

/// ck_entry::run of such an entry.
int32_t runPlanEntry(ck_context *ctx, const ck_entry_args *args);

} // namespace ck

#endif // CK_LIB_RUNTIME_PLANTABLE_H
