// What the clients of a run wrote, for drivers whose database tells only the order of commits.
// Writes and order of commits together give version orders and version sets.
//
// Each connection has its own Journal, which only its thread touches. The Journals belong to the
// Database, which reads them when all connections are closed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "db/database.h"
#include "db/snapshot_order.h"

namespace ouro::db {

class Journal {
 public:
  enum class End : std::uint8_t { Open, Committed, Aborted, Unknown };

  struct Write {
    Key key = 0;
    Row row{};  // For registers and lists, the number is in the first column.
    bool removed = false;
  };
  struct Txn {
    // The database's number of the transaction; zero if it wrote nothing or the number is unknown.
    std::uint64_t id = 0;
    End end = End::Open;
    bool has_snapshot = false;
    Snapshot snapshot;
    std::vector<Write> writes;
    std::vector<std::uint32_t> asked;  // For each predicate read, how many writes came before it.
    // For each of them, the timestamp at which it read; kNoTimestamp: that of the transaction's
    // start. Shorter than `asked` if that is true of all that follow.
    std::vector<Timestamp> asked_at;
    // Set by the driver as soon as it knows them, at the latest before Journals::recover().
    Timestamp start = kNoTimestamp;
    Timestamp commit = kNoTimestamp;
  };

  Txn& begin() { return txns_.emplace_back(); }
  [[nodiscard]] Txn& last() { return txns_.back(); }
  // The token of the last transaction; never zero.
  [[nodiscard]] std::uint64_t token() const {
    return (std::uint64_t{number_} + 1) << kShift | (txns_.size() - 1);
  }

 private:
  friend class Journals;
  static constexpr int kShift = 40;
  std::uint32_t number_ = 0;
  std::vector<Txn> txns_;
};

class Journals {
 public:
  // Makes a Journal, which lives as long as this object. Thread-safe.
  Journal& add();
  // The transaction that Journal::token() gave `token` for. REQUIRES: it is of one of these.
  [[nodiscard]] Journal::Txn& find(std::uint64_t token);

  // Whether `test` holds for any transaction.
  template <class Test>
  [[nodiscard]] bool any(const Test& test) const {
    for (const auto& journal : journals_) {
      for (const Journal::Txn& txn : journal->txns_) {
        if (test(txn)) return true;
      }
    }
    return false;
  }

  // Calls f(Txn&) with each transaction.
  template <class F>
  void for_each(const F& f) {
    for (const auto& journal : journals_) {
      for (Journal::Txn& txn : journal->txns_) f(txn);
    }
  }

  // The evidence that the transactions with these tokens give: their times, version orders, and, if
  // the model is Rows, the rows that predicate reads of transactions with a known start could see.
  // REQUIRES: start and commit of the transactions are set as far as they are known.
  [[nodiscard]] Recovered recover(std::span<const std::uint64_t> tokens, Model model);

 private:
  void recover_orders(std::span<const std::uint64_t> tokens, Model model, Recovered& recovered);
  void recover_version_sets(std::span<const std::uint64_t> tokens, Recovered& recovered);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Journal>> journals_;
};

}  // namespace ouro::db
