// Operations as rows of tables, added to a builder.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "c/arrow.h"
#include "ouro/history_builder.h"
#include "ouro/result.h"

namespace ouro::c {

// Adds batches of rows, an operation each. docs/c.md names the columns.
class ArrowRows {
 public:
  explicit ArrowRows(HistoryBuilder& builder) : b_(builder) {}

  // Adds the rows of `batch`, whose columns `schema` describes. A transaction may go on in the next
  // batch. The error names the row, counted from 0 over all batches.
  Status add(const ArrowSchema& schema, const ArrowArray& batch);

 private:
  enum class Place : std::uint8_t {
    Session,
    Txn,
    Op,
    Key,
    Value,
    List,
    Status,
    Invoked,
    Began,
    Committing,
    Completed,
    StartTs,
    CommitTs,
    Level,
  };
  static constexpr std::size_t kPlaces = 14;
  static const std::string_view kNames[kPlaces];
  enum class Word : std::uint8_t { Read, Write, Append, Delete, Inc, Add };

  // A column of the batch at hand, with what its items became if it is a dictionary.
  struct Column {
    std::optional<ArrowColumn> data;
    std::vector<std::optional<Value>> known;
  };

  // What a row says of its transaction, only to be compared.
  struct Stated {
    bool null = true;
    std::uint64_t bits = 0;
    constexpr bool operator==(const Stated&) const = default;
  };

  [[nodiscard]] Column& column(Place place) { return columns_[static_cast<std::size_t>(place)]; }
  Status open(const ArrowSchema& schema, const ArrowArray& batch);
  Status row(std::int64_t at);
  Status operation(std::int64_t at);
  Status begin(std::int64_t at, Value session, Value txn);
  Status attributes(std::int64_t at);
  Status status(std::int64_t at);
  Status level(std::int64_t at);
  Result<Stated> stated(Place place, std::int64_t at);
  Status same_attributes(std::int64_t at);
  Result<std::optional<Word>> word(std::int64_t at);
  Status read_list(KeyId key, std::int64_t at);
  Status add_op(Word word, KeyId key, Value value);

  // The item of a column as a value; null if it is null or there is no such column.
  Result<Value> item(Place place, std::int64_t at);
  static Result<Value> item_of(HistoryBuilder& builder, const ArrowColumn& data, std::int64_t at);
  Status clock(Place place, std::int64_t at, std::int64_t& out);

  HistoryBuilder& b_;
  Column columns_[kPlaces];
  std::vector<Place> stated_;        // Those columns of the table that are about transactions.
  bool any_ = false;                 // Whether a transaction was begun.
  Value session_, txn_;              // Of the transaction begun last.
  std::vector<Stated> attributes_;   // What the columns of stated_ say of that transaction.
  absl::flat_hash_set<Value> seen_;  // Names of all transactions.
  std::vector<Value> elements_;
  std::int64_t rows_before_ = 0;  // In earlier batches.
};

}  // namespace ouro::c
