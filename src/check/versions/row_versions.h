// All versions of all rows, by the version orders of the history, with indexes for predicates.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "check/observed/observed.h"
#include "check/predicates/column_indexes.h"
#include "check/predicates/possible_result.h"

namespace ouro {

// By transaction: the positions of its begin and its commit in some order.
struct Positions {
  std::vector<std::uint32_t> begin;
  // The same as `begin` where a transaction does both at one moment.
  std::vector<std::uint32_t> commit;
};

class RowVersions {
 public:
  struct Version {
    Value value;
    ItemId write;        // Invalid: the initial one.
    bool alive = false;  // False: deleted, or never there.
  };

  // Keys without a complete version order have theirs from `order`.
  // REQUIRES: the version order of every key that somebody wrote is known (missing_order()), or
  // there is an `order`, which keeps what is known.
  explicit RowVersions(const Observed& observed, const Positions* order = nullptr);
  // A key that has several writers but no complete version order; invalid if there is none. Lists
  // are no rows, and need none.
  [[nodiscard]] static KeyId missing_order(const Observed& observed);
  // Whether a complete version order of the key is known, which has a version.
  [[nodiscard]] static bool has_order(const Observed& observed, KeyId key);

  // The versions of a key, oldest first; the initial one has position zero. A list has none.
  [[nodiscard]] std::span<const Version> of(KeyId key) const {
    return std::span(versions_).subspan(first_[key.index()],
                                        first_[key.index() + 1] - first_[key.index()]);
  }
  // The position of `value` among the versions of `key`; kNone if it is none of them, kSeveral if
  // several are.
  [[nodiscard]] std::uint32_t position(KeyId key, Value value) const;
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kSeveral = 0xfffffffe;

  // The position of a final write of a transaction that takes part.
  [[nodiscard]] std::uint32_t position(ItemId write) const {
    return write_position_[write.index()];
  }

  // The position of the version of a key that an order of all transactions has at `moment`.
  [[nodiscard]] std::uint32_t held(const Observed& observed, KeyId key, const Positions& order,
                                   std::uint32_t moment) const {
    const auto versions = of(key);
    const auto after =
        std::partition_point(versions.begin() + 1, versions.end(), [&](const Version& version) {
          return order.commit[observed.txn(version.write).index()] < moment;
        });
    return static_cast<std::uint32_t>(after - versions.begin() - 1);
  }

  // Builds the indexes that scope() and select() of `predicate` use. They REQUIRE that.
  void prepare(PredicateId predicate);

  // A version, by its key and its position there.
  struct KeyPosition {
    KeyId key;
    std::uint32_t position = 0;
    constexpr auto operator<=>(const KeyPosition&) const = default;
  };
  // Whether `predicate` is true of a version.
  [[nodiscard]] bool matches(PredicateId predicate, KeyPosition place) const;
  using Part = RowPart;
  [[nodiscard]] Part part(const PredicateRead& read, KeyPosition place) const;
  // The keys of versions that may match.
  struct Scope {
    std::span<const KeyId> keys;
    std::size_t cost = 0;      // How many versions select() looks at.
    std::size_t versions = 0;  // How many the keys have.
  };
  [[nodiscard]] Scope scope(PredicateId predicate) const;
  // Replaces `out` by the versions for which `predicate` is true, sorted.
  // Cost: of a predicate that bounds the key or a column, the versions within the bounds; otherwise
  // all of them. Threads may call it at the same time.
  void select(PredicateId predicate, std::vector<KeyPosition>& out) const;
  // Replaces `out` by all keys of such versions, and maybe others, ascending.
  // Cost: as select(), but no more than there are keys.
  void select_keys(PredicateId predicate, std::vector<KeyId>& out) const;

 private:
  using Indexes = ColumnIndexes<KeyPosition>;
  // What is within the bounds of a predicate: keys, and entries of the index of a column.
  struct Within {
    std::span<const KeyId> keys;
    std::span<const Indexes::Entry> entries;
    std::size_t versions = 0;  // How many versions the keys have.
    bool by_index = false;     // Whether there are fewer entries than that.
    bool certain = false;      // Whether the predicate is true of all entries.
  };
  [[nodiscard]] Within within(PredicateId predicate) const;
  void add_key(const Observed& observed, KeyId key, const Positions* order);
  void add_version(KeyId key, const Version& version);

  const History& h_;
  // By key: its first version in versions_; one entry more, for the end.
  std::vector<std::size_t> first_;
  std::vector<Version> versions_;
  std::vector<KeyId> keys_;                                               // Sorted by name.
  std::vector<std::uint32_t> write_position_;                             // By item.
  absl::flat_hash_map<std::pair<KeyId, Value>, std::uint32_t> position_;  // See position().
  std::vector<std::uint32_t> absent_;  // By key: the same of null.
  Indexes indexes_;                    // Of rows that are there.
};

}  // namespace ouro
