//===- Names.h - the names of values ----------------------------*- C++ -*-===//
//
// Values are named by locations, weights and arguments by their symbols and tags. An op with several results carries
// one name for each of them, as a list on a fused location: `loc(fused<["q", "k"]>["attn"])`. A value with several
// names, such as a gradient that is that of two values, has a list of them in its place: `loc(fused<[["d_a",
// "d_b"]]>["add"])`.
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

/// The first name that a location lists for result `index` of its op; "" if it lists none.
std::string resultName(mlir::Location loc, unsigned index);

/// Every name of result `index` of an op at `loc`: those that the location lists or, without a list, its name.
llvm::SmallVector<std::string> resultNames(mlir::Location loc, unsigned index);

/// Gives a result of an op one more name, unless it has it already. Arguments keep theirs.
void addName(mlir::Value value, llvm::StringRef name);

/// `base` with a name for each result of an op, or with several. Without any name it is `base` itself.
mlir::Location nameResults(mlir::Location base, llvm::ArrayRef<std::string> names);
mlir::Location nameResultLists(mlir::Location base, llvm::ArrayRef<llvm::SmallVector<std::string>> names);

} // namespace ck

#endif // CK_DIALECT_CK_NAMES_H
