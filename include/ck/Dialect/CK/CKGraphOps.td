//===- CKGraphOps.td - operations of the GRAPH phase ------------*- tablegen -*-===//
//
// Ops on tensors with value semantics, by family. Each states its signature, its formula and an example, which is also a
// test. Conventions: T tokens (rows of all sequences), E embedding width, H query heads, KV key/value heads, D head width,
// S cache rows, V vocabulary, F feed-forward width. Dim order is memory order. `pos[t]` is the position of row t.
//
//===----------------------------------------------------------------------===//
#ifndef CK_GRAPHOPS_TD
#define CK_GRAPHOPS_TD

include "ck/Dialect/CK/CKLinearOps.td"
include "ck/Dialect/CK/CKNormOps.td"
include "ck/Dialect/CK/CKAttentionOps.td"
include "ck/Dialect/CK/CKPointwiseOps.td"
include "ck/Dialect/CK/CKDataOps.td"
include "ck/Dialect/CK/CKQuantOps.td"
include "ck/Dialect/CK/CKPositionOps.td"
include "ck/Dialect/CK/CKVisionOps.td"
include "ck/Dialect/CK/CKTextOps.td"
include "ck/Dialect/CK/CKGradOps.td"
include "ck/Dialect/CK/CKTrainOps.td"

#endif // CK_GRAPHOPS_TD
