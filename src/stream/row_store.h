// Keeps names, values and predicates whole beyond the batch they came in.
//
// Fingerprints can be compared for equality, but predicates also order values and look into rows.
// So what predicates may need is copied here. A store can be seen as a history without
// transactions, so that the functions that evaluate predicates of whole histories serve a stream,
// too. Only predicates can be removed, all at once: the owner of a store copies what is still
// needed to a new one now and then.
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

  // What is added from now on consists of ids of `source`, which must live until then. Adds all its
  // columns.
  void read_from(const History& source);
  // Copy something of the source, and return its id in the store. Equal things are copied each
  // time.
  KeyId add_key(Value name);
  Value add(Value value);  // REQUIRES: no list.
  PredicateId add(PredicateId predicate);
  void clear_predicates();
  [[nodiscard]] std::size_t predicate_count() const { return nodes_.size(); }
  // The id that a column of the source has in the store.
  [[nodiscard]] ColumnId translated(ColumnId column) const {
    return column.valid() ? columns_of_source_[column.index()] : column;
  }

  // Values of the store as bytes, and back. REQUIRES: the store that decodes has the columns of the
  // one that encodes, with the same ids; encode_columns() and decode_columns() make it so.
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
  std::vector<ColumnId> columns_of_source_;  // Ids in the store, by id in the source.
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
  bool stale_ = true;  // Something was added since view_ was made.
  History view_;
};

}  // namespace ouro::stream
