//===- Schema.h - a subset of JSON Schema -----------------------*- C++ -*-===//
//
// Validates kernel maps against kernel_maps/schema.json, in the subset of draft 2020-12 that this schema uses.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_KERNELMAPS_SCHEMA_H
#define CK_LIB_KERNELMAPS_SCHEMA_H

#include "ck/Support/Result.h"

#include <nlohmann/json.hpp>

namespace ck::maps {

/// Checks `instance`. The error is "<JSON pointer>: <what is wrong> [<rule>]".
Status validate(const nlohmann::json &schema, const nlohmann::json &instance);

/// Checks that `schema` uses only what validate() knows, so that no rule is skipped in silence: type enum const
/// required properties additionalProperties propertyNames items minItems maxItems minLength maxLength (required with
/// pattern, at most 1024) pattern minimum and $ref to $defs.
Status checkSchemaSubset(const nlohmann::json &schema);

/// The schema of kernel maps, compiled in.
const nlohmann::json &kernelMapSchema();

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_SCHEMA_H
