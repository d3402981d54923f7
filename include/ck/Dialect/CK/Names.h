//===- Names.h - the names of values ----------------------------*- C++ -*-===//
//
// Values are named by locations, weights and arguments by their symbols and tags. An op with several results carries
// one name for each of them, as a list on a fused location: `loc(fused<["q", "k"]>["attn"])`.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DIALECT_CK_NAMES_H
#define CK_DIALECT_CK_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

#include <string>

namespace ck {

/// The first name in a location, or "".
llvm::StringRef locationName(mlir::Location loc);

/// The name of a value: of the buffer that a `ck.param` reads, of an input or state, or of a result by its op's
/// location;
/// "" if it has none. Of an op with several results and one name, the name with the result's number behind a dot.
std::string valueName(mlir::Value value);

/// The name that a location has for result `index` of its op; "" if it lists none.
llvm::StringRef resultName(mlir::Location loc, unsigned index);

/// `base` with names for the results of an op. Empty names are left to `base`.
mlir::Location nameResults(mlir::Location base, llvm::ArrayRef<std::string> names);

} // namespace ck

#endif // CK_DIALECT_CK_NAMES_H
