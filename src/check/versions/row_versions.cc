#include "check/versions/row_versions.h"

#include <algorithm>

#include "base/slice.h"
#include "history/access.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// Whether a step belongs to a complete order that the history states.
bool is_next(const VersionStep& step) { return step.adjacent && !step.read.valid(); }

}  // namespace

KeyId RowVersions::missing_order(const Observed& observed) {
  const std::vector<bool> lists = list_keys(observed.history());
  for (std::size_t k = 0; k < observed.history().key_count(); ++k) {
    const KeyId key{k};
    const auto steps = observed.version_steps(key);
    if (std::any_of(steps.begin(), steps.end(), is_next)) continue;
    const auto items = observed.items_of(key);
    const bool written = std::any_of(items.begin(), items.end(), [&](ItemId item) {
      return observed.items().is_write(item) && observed.counted(observed.txn(item));
    });
    if (written && !lists[k]) return key;
  }
  return {};
}

RowVersions::RowVersions(const Observed& observed, const Positions* order)
    : h_(observed.history()) {
  absent_.assign(h_.key_count(), kNone);
  write_position_.assign(observed.items().size(), kNone);
  const std::vector<bool> lists = list_keys(h_);
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    first_.push_back(versions_.size());
    if (lists[k]) continue;
    keys_.push_back(KeyId{k});
    add_key(observed, KeyId{k}, order);
  }
  first_.push_back(versions_.size());
  std::sort(keys_.begin(), keys_.end(), [&](KeyId a, KeyId b) {
    return compare_values(h_, h_.key_name(a), h_.key_name(b)) < 0;
  });
}

void RowVersions::add_key(const Observed& observed, KeyId key, const Positions* order) {
  const Value initial = h_.initial(key);
  add_version(key, {initial, {}, !initial.is_null()});
  std::vector<ItemId> writes;
  for (const VersionStep& step : observed.version_steps(key)) {
    if (is_next(step)) writes.push_back(final_write(observed, observed.txn(step.to), key));
  }
  if (writes.empty() && order != nullptr) {
    for (const ItemId item : observed.items_of(key)) {
      const bool last = observed.items().is_write(item) && observed.final(item);
      if (last && observed.counted(observed.txn(item))) writes.push_back(item);
    }
    std::sort(writes.begin(), writes.end(), [&](ItemId a, ItemId b) {
      return order->commit[observed.txn(a).index()] < order->commit[observed.txn(b).index()];
    });
  }
  for (const ItemId write : writes) {
    const Value value = observed.items().value(write);
    const bool alive = leaves_row(observed.items().kind(write), value);
    add_version(key, {value, write, alive});
  }
}

void RowVersions::add_version(KeyId key, const Version& version) {
  const auto position = static_cast<std::uint32_t>(versions_.size() - first_.back());
  if (version.value.is_null()) {
    std::uint32_t& absent = absent_[key.index()];
    absent = absent == kNone ? position : kSeveral;
  } else {
    position_.try_emplace({key, version.value}, position);
  }
  if (version.write.valid()) write_position_[version.write.index()] = position;
  versions_.push_back(version);
}

std::uint32_t RowVersions::position(KeyId key, Value value) const {
  if (value.is_null()) return absent_[key.index()];
  const auto found = position_.find({key, value});
  return found == position_.end() ? kNone : found->second;
}

void RowVersions::prepare(PredicateId predicate) {
  for (const Bounds& bounds : bounds_of(h_, predicate)) {
    if (!bounds.column.valid()) continue;
    const auto [at, added] = indexes_.try_emplace(bounds.column);
    if (!added) continue;
    for (const KeyId key : keys_) {
      const auto versions = of(key);
      for (std::uint32_t i = 0; i < versions.size(); ++i) {
        if (!versions[i].alive) continue;
        const auto number = index_number(h_, h_.cell(versions[i].value, bounds.column));
        if (number) at->second.push_back({*number, {key, i}});
      }
    }
    std::sort(at->second.begin(), at->second.end());
  }
}

std::span<const RowVersions::Entry> RowVersions::lookup(const Bounds& bounds) const {
  const std::vector<Entry>& index = indexes_.at(bounds.column);
  const std::int64_t lower = lower_number(bounds);
  const std::int64_t upper = upper_number(bounds);
  const auto first = std::partition_point(index.begin(), index.end(),
                                          [&](const Entry& e) { return e.number < lower; });
  const auto end =
      std::partition_point(first, index.end(), [&](const Entry& e) { return e.number <= upper; });
  return slice(index, first, end);
}

bool RowVersions::matches(PredicateId predicate, KeyPosition place) const {
  const Version& version = of(place.key)[place.position];
  return version.alive && evaluate(h_, predicate, place.key, version.value) == Truth::True;
}

RowVersions::Part RowVersions::part(const PredicateRead& read, KeyPosition place) const {
  const Version& version = of(place.key)[place.position];
  return version.alive ? row_part(h_, read, {place.key, version.value}) : Part{};
}

RowVersions::Scope RowVersions::scope(PredicateId predicate) const {
  const Within all = within(predicate);
  return {all.keys, all.by_index ? all.entries.size() : all.versions};
}

RowVersions::Within RowVersions::within(PredicateId predicate) const {
  auto first = keys_.begin();
  auto end = keys_.end();
  std::span<const Entry> entries;
  bool indexed = false;
  for (const Bounds& bounds : bounds_of(h_, predicate)) {
    if (bounds.column.valid()) {
      const auto found = lookup(bounds);
      if (!indexed || found.size() < entries.size()) entries = found;
      indexed = true;
      continue;
    }
    const auto name = [&](KeyId key) { return h_.key_name(key); };
    first = std::partition_point(first, end, [&](KeyId key) {
      return !bounds.lower.is_null() && compare_values(h_, name(key), bounds.lower) < 0;
    });
    end = std::partition_point(first, end, [&](KeyId key) {
      return bounds.upper.is_null() || compare_values(h_, name(key), bounds.upper) <= 0;
    });
  }
  Within out{slice(keys_, first, end), entries, 0, false};
  for (auto key = first; key != end; ++key) out.versions += of(*key).size();
  out.by_index = indexed && entries.size() < out.versions;
  return out;
}

void RowVersions::select(PredicateId predicate, std::vector<KeyPosition>& out) const {
  out.clear();
  const Within all = within(predicate);
  if (all.by_index) {
    for (const Entry& entry : all.entries) {
      if (matches(predicate, entry.place)) out.push_back(entry.place);
    }
  } else {
    for (const KeyId key : all.keys) {
      for (std::uint32_t i = 0; i < of(key).size(); ++i) {
        if (matches(predicate, {key, i})) out.push_back({key, i});
      }
    }
  }
  std::sort(out.begin(), out.end());
}

void RowVersions::select_keys(PredicateId predicate, std::vector<KeyId>& out) const {
  out.clear();
  if (scope(predicate).cost > keys_.size()) {
    for (std::size_t k = 0; k + 1 < first_.size(); ++k) {
      if (first_[k] < first_[k + 1]) out.emplace_back(k);
    }
    return;
  }
  std::vector<KeyPosition> places;
  select(predicate, places);
  for (const KeyPosition& place : places) {
    if (out.empty() || out.back() != place.key) out.push_back(place.key);
  }
}

}  // namespace ouro
