// The rows of a database at one moment, and what predicate reads give over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/row_index.h"
#include "ouro/history.h"

namespace ouro::recheck {

// What one key holds.
struct Content {
  Value value;
  bool row = false;  // False: absent, deleted, or a list.
  bool list = false;
  std::vector<Value> elements;  // Of a list.
};

class Table {
 public:
  // Every key as the initial transaction leaves it. `index` must outlive the table.
  Table(const History& history, const RowIndex& index);

  [[nodiscard]] const Content& content(KeyId key) const { return contents_[key.index()]; }

  // Applies a write for good.
  void apply(const Op& write);
  // Makes `version` what its key holds. REQUIRES: the key is no list.
  void put(RowIndex::Version version);
  // Applies a write until take_back() is called, which undoes all such writes.
  void apply_for_now(const Op& write);
  void take_back() { take_back(0); }

  // The rows that a scan, select or aggregate selects, sorted by key.
  // Cost: the rows there are or, if that is less, those within its cover, and a bit for each
  // version there.
  [[nodiscard]] std::vector<KeyVersion> selected(OpId read) const;

  // Whether a scan, select or aggregate returned what it should.
  [[nodiscard]] bool returned_right(OpId read) const;
  // The same, if the table also had what the transaction, `txn`, of the read wrote before it and
  // undid again only behind it. Everything else that it wrote before must be there.
  [[nodiscard]] bool returned_right_within(TxnId txn, OpId read);

 private:
  void set(KeyId key, RowIndex::Version version, bool row);
  void take_back(std::size_t left);
  void mark(RowIndex::Version version, bool there);
  void find_candidates(const RowIndex::Cover& cover, std::vector<KeyId>& out) const;

  // What a key held before apply_for_now().
  struct Before {
    KeyId key;
    bool append = false;
    RowIndex::Version version = 0;
    bool row = false;
  };

  const History& h_;
  const RowIndex& index_;
  std::vector<Content> contents_;
  std::vector<RowIndex::Version> versions_;        // By key: the version that it holds.
  std::vector<std::vector<std::uint64_t>> there_;  // By column and slot: whether a key holds it.
  std::vector<Before> before_;
};

// Whether a database may give what `read`, an aggregate, returned for `rows`. As in SQL, nulls are
// left out, and the sum, average, least and greatest of nothing are null. So is a sum or average of
// other things than numbers.
[[nodiscard]] bool is_result(const History& history, const PredicateRead& read,
                             const std::vector<KeyVersion>& rows);

// Whether the row is in the range of a scan, or makes the predicate of another read true.
[[nodiscard]] bool selects(const History& history, OpId read, KeyId key, Value row);

}  // namespace ouro::recheck
