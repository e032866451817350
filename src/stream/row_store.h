// Names, values and predicates that outlive the batch they came in, whole.
//
// A fingerprint can be compared, but not ordered or looked into, which predicates do. So what they
// may ask of is copied here; to the outside it is a history without transactions, so that what
// evaluates the predicates of whole histories evaluates those of a stream. Nothing but all
// predicates is ever removed: whoever owns a store copies what is still needed to a new one now and
// then.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "stream/codec.h"

namespace ouro::stream {

class RowStore {
 public:
  // Everything in the store, as a history. Valid until something is added.
  [[nodiscard]] const History& view() {
    if (stale_) refresh();
    return view_;
  }

  // What is added from here on comes from `source`. Its columns are made known, in their order.
  void read_from(const History& source);
  KeyId add_key(Value name);
  Value add(Value value);  // REQUIRES: no list.
  PredicateId add(PredicateId predicate);
  void clear_predicates();
  [[nodiscard]] std::size_t predicate_count() const { return nodes_.size(); }
  [[nodiscard]] ColumnId translated(ColumnId column) const {
    return column.valid() ? columns_of_source_[column.index()] : column;
  }

  // A value of this store to and from plain bytes, to be read by a store with the same columns.
  void encode(Value value, Encoder& out);
  Value decode(Decoder& in);
  KeyId decode_key(Decoder& in);
  void encode_columns(Encoder& out);
  void decode_columns(Decoder& in);

  [[nodiscard]] std::size_t bytes() const;

 private:
  ColumnId column(std::string_view name);
  Value add_text(ValueKind kind, std::string_view text);
  Value add_row(std::vector<Cell>& cells);
  KeyId keep_key(Value name);
  void refresh();

  const History* source_ = nullptr;
  std::vector<ColumnId> columns_of_source_;
  std::vector<Value> key_name_;
  std::vector<PredicateNode> nodes_;
  std::vector<std::uint32_t> children_;
  std::vector<Value> operands_;
  std::vector<char> text_bytes_;
  std::vector<std::uint64_t> text_end_;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> row_end_;
  std::vector<Value> column_name_;
  absl::flat_hash_map<std::string, ColumnId> column_of_name_;
  bool stale_ = true;
  History view_;
};

}  // namespace ouro::stream
