// Errors as values: what went wrong, where, and what to do about it. The library neither throws
// (unless memory runs out, or it meets a contradiction that only a bug of its own can cause) nor
// prints nor exits.
//
// Thread safety: that of plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ouro {

// An operating error (bad input, unreadable file). A violation is no error but a verdict.
struct Error {
  std::string file;                     // Empty: it is not about a file.
  std::optional<std::uint64_t> line;    // From 1, in text formats.
  std::optional<std::uint64_t> offset;  // In bytes from 0, in binary formats.
  std::string what;                     // What is wrong and what to do, without a final period.

  // "bank.jsonl:98: expected ',' …" or "h.bincode: byte 40: …"
  [[nodiscard]] std::string to_string() const;
};

// Either a T, or the Error that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  [[nodiscard]] const T& operator*() const& { return std::get<0>(state_); }
  [[nodiscard]] T& operator*() & { return std::get<0>(state_); }
  [[nodiscard]] T&& operator*() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] T* operator->() { return &std::get<0>(state_); }

  // REQUIRES: !ok().
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// The result of something that yields nothing but may fail.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: !ok().
  [[nodiscard]] const Error& error() const& { return *error_; }
  [[nodiscard]] Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace ouro
