//===- CallReads.h - what calls read, for one analysis ----------*- C++ -*-===//
//
// One-shot analysis asks very often whether a destination is read. With this extension in its state, the answer does
// not parse the contract each time.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_CALLREADS_H
#define CK_LIB_TRANSFORMS_CALLREADS_H

#include "Storage.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"

namespace ck {

struct CallReads : public mlir::bufferization::OneShotAnalysisState::Extension {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallReads)

  CallReads(mlir::bufferization::OneShotAnalysisState &state, const ContractCache &contracts)
      : Extension(state), contracts(contracts) {}

  const ContractCache &contracts;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_CALLREADS_H
