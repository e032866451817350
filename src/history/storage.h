// What a HistoryBuilder fills and a History then points into.
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

// Of txn_first_op the last entry comes with freeze() only.
struct HistoryBuilder::Storage : AllColumns<Column> {
  Value default_initial;
  PlaceUnit place_unit = PlaceUnit::None;
  std::vector<std::string> files;
  std::vector<Remark> remarks;

  // Leaves nothing but names and texts.
  void keep_names();

  // An error that names where the transaction stands in its source.
  [[nodiscard]] Error error_about(std::size_t txn, std::string what) const;
  [[nodiscard]] std::string_view string(Value value) const;
  [[nodiscard]] std::span<const Cell> row(Value value) const;
  // The columns as a History sees them.
  [[nodiscard]] HistoryColumns view() const;
};

// Looks up what has an id already. Gone once the history is frozen.
struct HistoryBuilder::Interner {
  // A trunk is one list that reads of a key returned; shorter reads are its prefixes. Almost every
  // key has one trunk: a second one is an incompatible order.
  struct Trunk {
    std::vector<Value> elements;
    std::uint32_t next = kNoTrunk;  // The key's next trunk.
  };
  static constexpr std::uint32_t kNoTrunk = 0xffffffff;
  // Trunks of one key that are compared with a new list before it gets one of its own.
  static constexpr int kTrunksTried = 8;

  // Pools are looked up by the hash of their content; entries with one hash are compared.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> text_of_hash;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> row_of_hash;
  absl::flat_hash_map<std::uint64_t, KeyId> key_of_name;  // By the bits of the name.
  // Most keys are small numbers, and those need no hashing, once there are enough of them: a batch
  // of a service has some thousand keys of a million.
  static constexpr std::size_t kSmallNames = 1 << 20;
  static constexpr std::size_t kNumbersPerKey = 16;
  std::vector<KeyId> key_of_number;
  // Whether key_of_number has a place for the number now, with so many keys known.
  bool has_place(std::size_t number, std::size_t keys);
  absl::flat_hash_map<std::uint64_t, SessionId> session_of_name;
  absl::flat_hash_map<std::uint64_t, ColumnId> column_of_name;
  absl::flat_hash_map<KeyId, Value> initial;
  absl::flat_hash_map<KeyId, std::uint32_t> first_trunk;
  std::vector<Trunk> trunks;

  // What the builder that absorbed this one calls its names, by what this one calls them.
  struct Translation {
    std::weak_ptr<const Storage> into;
    std::vector<Value> texts;  // Unobserved: not translated yet.
    std::vector<KeyId> keys;
    std::vector<SessionId> sessions;
    std::vector<ColumnId> columns;
  };
  Translation translation;
};

}  // namespace ouro
