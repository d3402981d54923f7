//===- CKOps.td - every op and type of the dialect --------------*- tablegen -*-===//
#ifndef CK_OPS_TD
#define CK_OPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "ck/Dialect/CK/CKTypes.td"
include "ck/Dialect/CK/CKStructureOps.td"
include "ck/Dialect/CK/CKGraphOps.td"

#endif // CK_OPS_TD
