//===- Interpreter.h - runs entries of GRAPH on the references --*- C++ -*-===//
#ifndef CK_TEST_UNIT_AUTODIFF_INTERPRETER_H
#define CK_TEST_UNIT_AUTODIFF_INTERPRETER_H

#include "Reference.h"
#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ck {

/// Values by name: inputs and outputs of an entry, and weights by the name of their root buffer.
using NamedTensors = std::map<std::string, reference::Tensor>;

/// The tensor type of every input and weight of `entry`, by name.
std::map<std::string, mlir::RankedTensorType> operandTypes(mlir::func::FuncOp entry);

/// Runs an entry of static shapes in double precision; gives its outputs by name.
Result<NamedTensors> interpret(mlir::func::FuncOp entry, const NamedTensors &values);

} // namespace ck

#endif // CK_TEST_UNIT_AUTODIFF_INTERPRETER_H
