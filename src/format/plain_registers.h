// For writers of formats that have only plain registers: keys and values are unsigned integers,
// transactions are committed or aborted, and every key starts as 0 (see zero_initial.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/format.h"

namespace ouro {

class PlainRegisters {
 public:
  // Checks that `history` can be written. Otherwise the error names the first operation that such a
  // format cannot express. `format` is the format's name. REQUIRES: `history` outlives the result.
  static Result<PlainRegisters> of(const History& history, std::string_view format);

  // Warnings about what is left out, except names and remarks, which differ between the formats.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  // False for reads whose result was not recorded: leave them out.
  [[nodiscard]] bool expressible(const Op& op) const { return !op.value.is_unobserved(); }
  [[nodiscard]] std::uint64_t key(KeyId key) const { return key_number_[key.index()]; }
  // The value that `op` wrote or read; a read of null is one of the initial value, 0.
  [[nodiscard]] std::uint64_t value(const Op& op) const;

 private:
  PlainRegisters(const History& history, std::string_view format) : h_(&history), format_(format) {}
  Status check_txn(TxnId txn);
  Status check_op(const Op& op);
  Status check_initial();
  void collect_warnings();
  [[nodiscard]] Error refuse(const Op& op, std::string_view what) const;
  [[nodiscard]] std::string location(TxnId txn) const;

  // The first operation of each kind on a key, for check_initial(). Invalid: there is none.
  struct KeyUse {
    OpId any, null_read, zero_read, committed_zero, aborted_zero;
  };

  const History* h_;
  std::string_view format_;
  std::vector<std::uint64_t> key_number_;  // By key.
  std::vector<KeyUse> use_;                // By key.
  std::vector<std::string> warnings_;
  std::size_t unobserved_ = 0;  // How many reads have no recorded result.
};

// Sets `out` to `value` of `history` if that is an unsigned 64-bit integer; false if it is not.
bool unsigned_number(const History& history, Value value, std::uint64_t& out);

// Numbers for formats in which sessions and transactions have no other names.
struct NumberedNames {
  std::vector<std::uint64_t> numbers;  // By session or transaction.
  bool replaced = false;               // Some names were no numbers, so all were numbered from 0.
};
[[nodiscard]] NumberedNames number_sessions(const History& history);
[[nodiscard]] NumberedNames number_txns(const History& history);

// Warns of remarks that the format does not keep; `kept` are the names of those that it keeps.
void warn_of_remarks(const History& history, std::span<const std::string_view> kept,
                     WriteReport& report);

}  // namespace ouro
