//===- Schedule.cpp - the order of an entry -------------------------------===//
#include "Schedule.h"

#include "Entries.h"
#include "ck/Transforms/Passes.h"

namespace ck {
#define GEN_PASS_DEF_CKSCHEDULE
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
struct Schedule : ck::impl::CKScheduleBase<Schedule> {
  void runOnOperation() override {
    for (func::FuncOp entry : entriesOf(getOperation())) {
      moveLastRowsUp(entry);
      if (failed(sinkToFirstUse(entry)))
        return signalPassFailure();
    }
  }
};
} // namespace
