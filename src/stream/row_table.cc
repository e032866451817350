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
}

}  // namespace ouro::stream
