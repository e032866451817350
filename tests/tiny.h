// A tiny history for unit tests of check/, with its reads joined to their writes (Observed), and
// with short names for its parts.
//
//   Tiny t("T1: w x 1\nT2: r x 1");
//   EXPECT_EQ(t.name(t.observed().write(t.item(2, 1))), "T1.1");
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "check/observed/observed.h"

namespace ouro {

class Tiny {
 public:
  // `text` is in the notation of case files, or native text if it begins with '{'. Throws
  // std::invalid_argument if it cannot be read or joined.
  explicit Tiny(std::string_view text, Evidence evidence = Evidence::Observed,
                Tombstones tombstones = Tombstones::Listed);
  // Why it cannot be joined.
  static std::string error_of(std::string_view text, Evidence evidence = Evidence::Observed);

  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] Observed& observed() { return *observed_; }
  [[nodiscard]] const Items& items() const { return observed_->items(); }

  // T1 is the first transaction; its items count from 1.
  [[nodiscard]] static TxnId txn(std::size_t number) { return TxnId{number - 1}; }
  [[nodiscard]] ItemId item(std::size_t txn_number, std::size_t number) const {
    return ItemId{items().first(txn(txn_number)).index() + number - 1};
  }
  // REQUIRES: there is one of that name.
  [[nodiscard]] KeyId key(std::string_view name) const;

  // "T1"; "T0" is the initial transaction.
  [[nodiscard]] static std::string name(TxnId txn);
  // "T1.2", the second item of T1; "-" if it is invalid.
  [[nodiscard]] std::string name(ItemId item) const;
  // "T1 so T2, T2 rw T1".
  [[nodiscard]] static std::string text(std::span<const Edge> edges);
  // "aborted read T2.1 T1.1": what is wrong in plain sight, one a line.
  [[nodiscard]] std::string wrong_reads() const;
  // "T1.1 T2.1": steps of version orders; "T1.1>T2.1" if nothing stands between.
  [[nodiscard]] std::string version_steps() const;

 private:
  History history_;
  std::optional<Observed> observed_;
};

}  // namespace ouro
