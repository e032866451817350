// What the store of TiDB holds: all versions of the rows of our table, each with the timestamps of
// the transaction that wrote it (Emme, §5.2). Every TiDB server tells it on its status port, at
// /mvcc/key/DATABASE/TABLE/KEY.
//
// This is evidence of its own: what sessions were told of their commits is compared with it, it
// places transactions whose commits were not answered, and it has the last word on the order of
// versions.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "db/journal.h"
#include "ouro/result.h"

namespace ouro::db {

// One version of a row.
struct StoredVersion {
  std::int64_t start = 0;   // start_ts of its transaction, by which we know whose it is.
  std::int64_t commit = 0;  // commit_ts.
  bool removed = false;
  std::vector<std::string> columns;  // As text; empty if the server did not decode them.
};

// All that is stored about one row.
struct StoredRow {
  std::vector<StoredVersion> versions;    // In no certain order.
  std::vector<std::int64_t> rolled_back;  // start_ts of transactions that were undone.
};

// Reads the answer of the status port; `columns` are the names of those wanted.
[[nodiscard]] Result<StoredRow> read_stored_row(std::string_view json,
                                                std::span<const std::string_view> columns);

// What came of comparing the store with the journals.
struct StoredSettlement {
  // Keys with versions that no transaction of the journals explains.
  std::set<Key> unexplained;
  std::vector<std::string> notes;  // For the user.
};

// Asks the store, by `ask`, about every key that a transaction of the journals wrote. Transactions
// get their place from it, and those whose commits were not answered get their end, if the store
// knows it. The error is one of `ask`, or says what in an answer is wrong.
[[nodiscard]] Result<StoredSettlement> settle_by_store(
    const std::function<Result<std::string>(Key)>& ask, Model model, Journals& journals);

}  // namespace ouro::db
