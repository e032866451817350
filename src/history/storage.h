// The memory that a HistoryBuilder fills and a History then points into.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/column.h"
#include "history/columns.h"
#include "ouro/history_builder.h"

namespace ouro {

// The columns while they are filled. freeze() adds the last entry of txn_first_op, and fills the
// session columns, key_initial and the list columns.
struct HistoryBuilder::Storage : AllColumns<Column> {
  Value default_initial;
  PlaceUnit place_unit = PlaceUnit::None;
  std::vector<std::string> files;
  std::vector<Remark> remarks;

  // Removes everything but the names of keys, sessions and columns, and the pools.
  void keep_names();

  // The error `what`, with the place where the transaction stands in its source; or with a place
  // in one of the files.
  [[nodiscard]] Error error_about(std::size_t txn, std::string what) const;
  [[nodiscard]] Error error_in(std::size_t file, std::uint64_t position, std::string what) const;
  [[nodiscard]] std::string_view string(Value value) const;
  [[nodiscard]] std::span<const Cell> row(Value value) const;
  // The columns as a History sees them.
  [[nodiscard]] HistoryColumns view() const;
};

// Finds the ids of what was seen before. Not needed any more once the history is frozen.
struct HistoryBuilder::Interner {
  // A trunk is one list that reads of a key returned; reads of shorter lists are its beginnings.
  // Almost every key has one trunk: two mean that reads disagree on the order of elements.
  struct Trunk {
    std::vector<Value> elements;
    std::uint32_t next = kNoTrunk;  // The next trunk of the same key.
  };
  static constexpr std::uint32_t kNoTrunk = 0xffffffff;
  // How many trunks of a key are compared with a new list before it gets a trunk of its own.
  static constexpr int kTrunksTried = 8;

  // The number of a text or row in its pool, by the hash of its content (see intern()).
  absl::flat_hash_map<std::uint64_t, std::uint64_t> text_of_hash;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> row_of_hash;
  absl::flat_hash_map<std::uint64_t, KeyId> key_of_name;  // By the bits of the name.
  // Keys whose names are small numbers are looked up in an array, which needs no hashing. The array
  // has at most kSmallNames entries, and grows to a number only if there is at least one key for
  // kNumbersPerKey entries: a batch for a service has some thousand keys out of a million.
  static constexpr std::size_t kSmallNames = 1 << 20;
  static constexpr std::size_t kNumbersPerKey = 16;
  std::vector<KeyId> key_of_number;
  // Whether key_of_number has an entry for `number`. Makes one if `keys`, the number of keys so
  // far, allows it.
  bool has_place(std::size_t number, std::size_t keys);
  absl::flat_hash_map<std::uint64_t, SessionId> session_of_name;
  absl::flat_hash_map<std::uint64_t, ColumnId> column_of_name;
  absl::flat_hash_map<KeyId, Value> initial;
  // The undone parts that are open, the innermost last; for each of them how many entries
  // undone_ops had when it began; and the parts of the history that follow_parts() copies.
  std::vector<std::uint32_t> open_parts;
  std::vector<std::size_t> undone_before;
  std::vector<std::uint32_t> followed_parts;
  // The undone writes of parts that are open, in order, and how many there are of each key.
  std::vector<OpId> undone_ops;
  absl::flat_hash_map<KeyId, std::size_t> undone_of_key;
  // Versions that were named by a transaction, which is found once all of them are known.
  struct NamedVersion {
    std::size_t version = 0;  // Into the column of versions, which has the name until then.
    KeyId key;
    std::uint64_t position = 0;  // Of the version order in its file.
    std::uint32_t file = 0;
  };
  std::vector<NamedVersion> named_versions;
  absl::flat_hash_map<KeyId, std::uint32_t> first_trunk;
  std::vector<Trunk> trunks;

  // From the ids of this builder to those of the builder that absorbed it last.
  struct Translation {
    std::weak_ptr<const Storage> into;  // The storage of that builder.
    std::vector<Value> texts;           // Unobserved: not translated yet.
    std::vector<KeyId> keys;
    std::vector<SessionId> sessions;
    std::vector<ColumnId> columns;
  };
  Translation translation;
};

}  // namespace ouro
