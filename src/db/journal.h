// What the clients of a run wrote, kept by drivers whose database tells the order of commits only
// after the run: version orders and version sets follow from the two together.
//
// Each connection has a Journal of its own and writes to it alone; the Journals belong to the
// database and are read when all connections are closed.
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
    Row row{};  // Registers and lists: the number is the first column.
    bool removed = false;
  };
  struct Txn {
    // The database's number; zero: it wrote nothing, or its number is unknown.
    std::uint64_t id = 0;
    End end = End::Open;
    bool has_snapshot = false;
    Snapshot snapshot;
    std::vector<Write> writes;
    std::vector<std::uint32_t> asked;  // For each predicate read, how many writes came before it.
    // Filled in after the run.
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
  // Lives as long as this. Thread-safe.
  Journal& add();
  // REQUIRES: `token` is of a transaction here.
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

  // From the transactions with these tokens, whose start and commit are set as far as known: times,
  // version orders, and, where start is known, what predicate reads could see.
  [[nodiscard]] Recovered recover(std::span<const std::uint64_t> tokens, Model model);

 private:
  void recover_orders(std::span<const std::uint64_t> tokens, Model model, Recovered& recovered);
  void recover_version_sets(std::span<const std::uint64_t> tokens, Recovered& recovered);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Journal>> journals_;
};

}  // namespace ouro::db
