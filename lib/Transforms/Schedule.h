//===- Schedule.h - the two steps of --ck-schedule --------------*- C++ -*-===//
#ifndef CK_LIB_TRANSFORMS_SCHEDULE_H
#define CK_LIB_TRANSFORMS_SCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ck {

/// Moves every `ck.last_row` of `entry` up through ops whose rows are independent, as far as the ops below need no
/// other row.
void moveLastRowsUp(mlir::func::FuncOp entry);

/// Sinks ops of `entry` towards their first use where fewer bytes live in between. Emits an error and fails if a
/// run-time extent has no bound.
llvm::LogicalResult sinkToFirstUse(mlir::func::FuncOp entry);

} // namespace ck

#endif // CK_LIB_TRANSFORMS_SCHEDULE_H
