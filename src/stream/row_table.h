// The rows of the database, in the order of their keys, each with its versions.
//
// Only streams with predicate reads have this table, in addition to the table of keys
// (key_table.h): predicate reads need keys in order and whole values instead of fingerprints.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>

#include "history/value_order.h"
#include "stream/fingerprint.h"
#include "stream/moment.h"
#include "stream/row_index.h"
#include "stream/row_store.h"
#include "stream/sequence.h"

namespace ouro::stream {

// What a key holds at some moment.
struct Seen {
  Value value;                                 // A value of the store.
  std::uint64_t print = Value::null().bits();  // Its fingerprint.
  bool alive = false;                          // False: deleted, or never there.

  bool operator==(const Seen& other) const { return print == other.print && alive == other.alive; }
};

struct RowVersion {
  static constexpr bool kLent = false;

  std::int64_t physical = 0;  // The commit timestamp.
  std::uint32_t logical = 0;
  std::uint32_t alive = 0;
  std::uint64_t order = 0;
  Value value;
  std::uint64_t print = 0;

  [[nodiscard]] Moment at() const { return {physical, logical, order}; }
  // Whether it is the key's own initial value, which counts instead of the one for all keys.
  [[nodiscard]] bool is_initial() const { return at() == Moment(); }
  [[nodiscard]] static std::int64_t low() { return 0; }
  [[nodiscard]] Seen seen() const { return {value, print, alive != 0}; }
  static RowVersion of(const Moment& at, const Seen& seen) {
    return {at.physical, stored_logical(at), seen.alive ? 1u : 0u,
            at.order,    seen.value,         seen.print};
  }
};

struct RowKey {
  Name name;
  KeyId id;               // Its id in the store, and its index in the table.
  bool list = false;      // Whether it is a list, and so no row.
  bool returned = false;  // Some predicate read returned it.
  Sequence<RowVersion> versions;
};

class RowTable {
 public:
  explicit RowTable(Pool& pool) : pool_(pool), in_order_(ByName{&store_}) {}
  ~RowTable();
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  [[nodiscard]] RowStore& store() { return store_; }
  // The initial value of all keys for which first() is null.
  void set_initial(const Seen& seen) { initial_ = seen; }
  [[nodiscard]] const Seen& initial() const { return initial_; }

  [[nodiscard]] RowKey* find(const Name& name) const;
  [[nodiscard]] RowKey& at(KeyId id) { return keys_[id.index()]; }
  // REQUIRES: the key is not in the table; `id` was just added to the store.
  RowKey& add(const Name& name, KeyId id);
  void add(RowKey& key, const RowVersion& version);
  // The version that is the key's own initial value, or null.
  [[nodiscard]] static const RowVersion* first(const RowKey& key) {
    if (key.versions.empty()) return nullptr;
    const RowVersion& first = key.versions.at(key.versions.begin());
    return first.is_initial() ? &first : nullptr;
  }
  void set_first(RowKey& key, const Seen& seen);
  // Removes the versions before `end`. REQUIRES: `end` is not the end, so the newest version stays.
  void forget_before(RowKey& key, Sequence<RowVersion>::Cursor end) {
    version_count_ -= key.versions.size();
    key.versions.erase_before(end, pool_);
    version_count_ += key.versions.size();
  }
  [[nodiscard]] std::size_t version_bytes() const { return version_count_ * sizeof(RowVersion); }
  // The version that is seen at `moment`; null: the initial value for all keys.
  [[nodiscard]] static const RowVersion* version(const RowKey& key, const Moment& moment) {
    const auto behind = key.versions.lower_bound(moment);
    return behind == key.versions.begin() ? nullptr : &key.versions.at(key.versions.before(behind));
  }
  [[nodiscard]] Seen seen(const RowKey& key, const Moment& moment) const {
    const RowVersion* const found = version(key, moment);
    return found == nullptr ? initial_ : found->seen();
  }

  [[nodiscard]] std::deque<RowKey>& keys() { return keys_; }
  // Visits the keys from `lower` to `upper`, both included, in order. The bounds are values of the
  // store; null: no bound.
  template <class Visit>
  void for_range(Value lower, Value upper, const Visit& visit) {
    auto at = lower.is_null() ? in_order_.begin() : in_order_.lower_bound(lower);
    for (; at != in_order_.end(); ++at) {
      if (!upper.is_null() && ByName{&store_}(upper, *at)) return;
      visit(**at);
    }
  }

  // Finds the keys that may lie within `bounds` of a column at `moment`, each once, sorted by id,
  // by an index that is made if there is none. False: there are too many, or no index is possible.
  [[nodiscard]] bool find(const Bounds& bounds, const Moment& moment, std::vector<KeyId>& found);
  [[nodiscard]] bool less(KeyId a, KeyId b) {
    return ByName{&store_}(&keys_[a.index()], &keys_[b.index()]);
  }

  // Replaces the store by one with nothing but the keys and versions of the table. Key ids stay the
  // same; other ids of the old store are no longer valid.
  void compact();
  // Memory in use, without the versions, which the pool counts.
  [[nodiscard]] std::size_t bytes() const {
    return store_.bytes() + index_.bytes() + keys_.size() * (sizeof(RowKey) + 48);
  }

 private:
  struct ByName {
    using is_transparent = void;
    RowStore* store;
    [[nodiscard]] Value name(const RowKey* key) const { return store->view().key_name(key->id); }
    static Value name(Value value) { return value; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return compare_values(store->view(), name(a), name(b)) < 0;
    }
  };

  // REQUIRES: the key has versions.
  [[nodiscard]] static RowIndex::Newest newest(const RowKey& key);

  Pool& pool_;
  RowStore store_;
  RowIndex index_;
  Seen initial_;
  std::size_t version_count_ = 0;
  std::deque<RowKey> keys_;
  absl::flat_hash_map<Name, RowKey*> of_name_;
  absl::btree_set<RowKey*, ByName> in_order_;
};

}  // namespace ouro::stream
