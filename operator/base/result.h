#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace weft {

// Kinds of errors. They differ in what the caller should do.
enum class ErrorKind {
  kInvalid,    // the input is wrong: not retried; the message names the place
  kNotFound,   // the object is gone: drop the work
  kConflict,   // somebody else wrote first: read again
  kTransient,  // something outside failed: back off and retry
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;  // starts with the place: "FILE: document 2: spec.workers.replicas: ..."
};

inline Error Invalid(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

// Stands in for C++23's std::expected<T, Error> in C++20; it has the same member names.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  // Precondition: has_value(). Throws std::bad_variant_access otherwise.
  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value: success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace weft
