// How a history looks to formats that know plain registers only: keys and values are unsigned
// integers, transactions committed or aborted, and every key starts as 0 (see zero_initial.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/format.h"

namespace ouro {

// An error about what stands at `place`.
[[nodiscard]] Error error_at_place(const Place& place, std::string what);

class PlainRegisters {
 public:
  // Refuses a history that would mean something else in such a format, naming the first
  // operation that `format` has no word for. REQUIRES: `history` outlives the result.
  static Result<PlainRegisters> of(const History& history, std::string_view format);

  // What is left out without harm; not session and transaction names, and remarks.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  // False for reads whose result nobody recorded: they are left out.
  [[nodiscard]] bool expressible(const Op& op) const { return !op.value.is_unobserved(); }
  [[nodiscard]] std::uint64_t key(KeyId key) const { return key_number_[key.index()]; }
  // Null, where it is the initial value, reads as 0.
  [[nodiscard]] std::uint64_t value(const Op& op) const;

 private:
  PlainRegisters(const History& history, std::string_view format) : h_(&history), format_(format) {}
  Status check_txn(TxnId txn);
  Status check_op(const Op& op);
  Status check_initial();
  void collect_warnings();
  [[nodiscard]] Error refuse(const Op& op, std::string_view what) const;
  [[nodiscard]] std::string location(TxnId txn) const;

  // The first operation of a kind on a key that matters for the initial value.
  struct KeyUse {
    OpId any, null_read, zero_read, committed_zero, aborted_zero;
  };

  const History* h_;
  std::string_view format_;
  std::vector<std::uint64_t> key_number_;
  std::vector<KeyUse> use_;
  std::vector<std::string> warnings_;
  std::size_t unobserved_ = 0;
};

// `value` of `history` as an unsigned 64-bit integer; false if it is none.
bool unsigned_number(const History& history, Value value, std::uint64_t& out);

// Numbers for things that have names.
struct NumberedNames {
  std::vector<std::uint64_t> numbers;
  bool replaced = false;  // Some had a name that is no number, so all were numbered from 0.
};
[[nodiscard]] NumberedNames number_sessions(const History& history);
[[nodiscard]] NumberedNames number_txns(const History& history);

// Warns of remarks that are not `kept` by the format.
void warn_of_remarks(const History& history, std::span<const std::string_view> kept,
                     WriteReport& report);

}  // namespace ouro
