//===- StandardDecoder.h - the decoder that everything must fit -*- C++ -*-===//
#ifndef CK_IMPORT_STANDARDDECODER_H
#define CK_IMPORT_STANDARDDECODER_H

#include "ck/Support/Result.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

namespace ck {

/// Extents of the standard decoder. Embedding, head and intermediate width are multiples of 16, so that their aligned
/// dims are the logical ones.
struct StandardDecoder {
  int64_t tokens = 32, context = 32, vocab = 96, embed = 64, heads = 4, kvHeads = 2, head = 16, intermediate = 128;
  double eps = 1e-5, theta = 10000;
};

/// Builds the standard decoder as a graph with one layer and a loss: pre-norm, grouped-query attention in head-major
/// layout with rotary positions, SwiGLU, learned positions, tied head. Every buffer of its table is declared with role,
/// scope, symbolic dims, alias and condition, and every value that is one of them has its name. The entry is `@step`.
mlir::OwningOpRef<mlir::ModuleOp> buildStandardDecoder(mlir::MLIRContext &context, const StandardDecoder &sizes);

/// Writes where each declared buffer of a planned module lives, and the calls of each entry with the buffers they bind:
///   buffer <name> <role> <scope> [<dims>] alias=<root> when=<condition>: <place>
///   forward|backward <n> <provider> <operand>=<buffer>...
/// A place is an arena with offset and bytes, the weight table, an input or output, or `none` with the reason; names of
/// one storage say with whom they share it. Fails if the module is in no plan.
Status writeBufferReport(mlir::ModuleOp module, llvm::raw_ostream &stream);

} // namespace ck

#endif // CK_IMPORT_STANDARDDECODER_H
