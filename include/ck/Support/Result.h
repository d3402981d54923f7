//===- Result.h - a value or one located error ------------------*- C++ -*-===//
//
// The error convention of the libraries that know nothing of LLVM: a function returns Result<T>; an error carries a
// sentence for the reader and, where a file format is at fault, the class that tools report as `code`.
//
//===----------------------------------------------------------------------===//
#ifndef CK_SUPPORT_RESULT_H
#define CK_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace ck {

/// One error: `message` says what, where and what was expected. `code` is a stable class such as "BAD_SHAPE", empty
/// where the message alone is the contract.
struct Error {
  std::string message;
  std::string code = {};
};

/// Either a value or an Error. Test with `if (!result)`, read with `*result`, `result->`, `result.error()`.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() & { return assert(value), *value; }
  const T &operator*() const & { return assert(value), *value; }
  T &&operator*() && { return assert(value), *std::move(value); }
  T *operator->() { return assert(value), &*value; }
  const T *operator->() const { return assert(value), &*value; }
  const Error &error() const { return assert(!value), failure; }

private:
  std::optional<T> value;
  Error failure;
};

/// Success or an Error, for functions with nothing to return.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error)) {}
  static Status success() { return {}; }

  explicit operator bool() const { return !failure; }
  const Error &error() const { return assert(failure), *failure; }

private:
  std::optional<Error> failure;
};

} // namespace ck

#endif // CK_SUPPORT_RESULT_H
