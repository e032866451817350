#include "stream/row_table.h"

#include <utility>

namespace ouro::stream {

RowTable::~RowTable() {
  for (RowKey& key : keys_) key.versions.clear(pool_);
}

RowKey* RowTable::find(const Name& name) const {
  const auto found = of_name_.find(name);
  return found == of_name_.end() ? nullptr : found->second;
}

RowKey& RowTable::add(const Name& name, KeyId id) {
  RowKey& key = keys_.emplace_back();
  key.name = name;
  key.id = id;
  of_name_.emplace(name, &key);
  in_order_.insert(&key);
  return key;
}

RowIndex::Newest RowTable::newest(const RowKey& key) {
  const RowVersion& last = key.versions.at(key.versions.before(key.versions.end()));
  return {key.id, last.at(), last.value, last.alive != 0};
}

void RowTable::add(RowKey& key, const RowVersion& version) {
  const auto place = key.versions.lower_bound(version.at());
  const bool last = place == key.versions.end();
  if (last && !key.versions.empty()) index_.remove(store_.view(), newest(key));
  key.versions.insert(place, version, pool_);
  ++version_count_;
  if (last) index_.add(store_.view(), newest(key));
}

void RowTable::set_first(RowKey& key, const Seen& seen) {
  const RowVersion version = RowVersion::of(Moment(), seen);
  if (first(key) == nullptr) return add(key, version);
  const bool last = key.versions.size() == 1;
  if (last) index_.remove(store_.view(), newest(key));
  key.versions.at(key.versions.begin()) = version;
  if (last) index_.add(store_.view(), newest(key));
}

bool RowTable::find(const Bounds& bounds, const Moment& moment, std::vector<KeyId>& found) {
  // Keys without versions are rows, too, and the index does not have them.
  if (initial_.value.kind() == ValueKind::Row) return false;
  if (!index_.has(bounds.column)) {
    if (!index_.has_room()) return false;
    index_.begin(bounds.column);
    for (const RowKey& key : keys_) {
      if (!key.versions.empty()) index_.fill(store_.view(), bounds.column, newest(key));
    }
  }
  return index_.find(bounds, moment, keys_.size() / 2 + 8, found);
}

void RowTable::compact() {
  RowStore old = std::exchange(store_, RowStore());
  const History& all = old.view();
  store_.read_from(all);
  for (const RowKey& key : keys_) store_.add_key(all.key_name(key.id));
  for (RowKey& key : keys_) {
    for (auto c = key.versions.begin(); c != key.versions.end(); c = key.versions.next(c)) {
      RowVersion& version = key.versions.at(c);
      version.value = store_.add(version.value);
    }
  }
  initial_.value = store_.add(initial_.value);
}

}  // namespace ouro::stream
