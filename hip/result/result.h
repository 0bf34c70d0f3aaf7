// hip::Result: an operating error as a value.
//
// Every fallible operation of this project returns one; nothing throws for an operating error and nothing is swallowed
// ([[nodiscard]]). The code is the number of a hipError_t, kept as an int so that this leaf needs no HIP headers.
// Programmer errors (reading the value of a failed result) assert.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace hip {

// One operating error: the hipError_t number, and where and why in words for a person.
struct Error {
  int code = 0;         // a hipError_t; never 0 (hipSuccess)
  std::string message;  // names the place and the remedy; never compared by an oracle
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    assert(ok());
    return *value_;
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *value_;
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::move(*value_);
  }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return error_;
  }

 private:
  std::optional<T> value_;
  Error error_;
};

// Success without a value, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace hip
