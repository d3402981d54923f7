//===- BufferizableOpInterfaceImpl.h - how ck ops bufferize -----*- C++ -*-===//
//
// Only `ck.call` and `ck.param` have a buffer form; everything else of the dialect has been turned into them before.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define CK_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ck {

/// Attaches BufferizableOpInterface to `ck.call` and `ck.param`, and upstream's models to the arith, func and tensor
/// ops that stand beside them in CALL.
///
/// - `ck.call`: inputs are read. A destination is written, and read only if the contract accumulates into it (`+=`),
///   writes a part of it (`|=`) or updates it. Operands rooted in a state (a function argument with `ck.state`) must
///   bufferize in place: a program that would copy a cache does not compile.
/// - `ck.param`: a read-only buffer.
void registerBufferizableOpInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace ck

#endif // CK_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
