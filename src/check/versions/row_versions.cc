#include "check/versions/row_versions.h"

#include <algorithm>

#include "base/slice.h"
#include "history/access.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// Whether a step belongs to a complete order that the history states.
bool is_next(const VersionStep& step) { return step.adjacent && !step.read.valid(); }

// The last writes of a key by those who take part.
std::vector<ItemId> final_writes(const Observed& observed, KeyId key) {
  std::vector<ItemId> out;
  for (const ItemId item : observed.items_of(key)) {
    const bool last = observed.items().is_write(item) && observed.final(item);
    if (last && observed.counted(observed.txn(item))) out.push_back(item);
  }
  return out;
}

}  // namespace

bool RowVersions::has_order(const Observed& observed, KeyId key) {
  const auto steps = observed.version_steps(key);
  return std::any_of(steps.begin(), steps.end(), is_next);
}

KeyId RowVersions::missing_order(const Observed& observed) {
  const std::vector<bool> lists = list_keys(observed.history());
  for (std::size_t k = 0; k < observed.history().key_count(); ++k) {
    const KeyId key{k};
    if (has_order(observed, key)) continue;
    const std::vector<ItemId> writes = final_writes(observed, key);
    // No read asks for the marks of increments.
    const bool mark = !writes.empty() && observed.items().kind(writes[0]) == OpKind::IncMark;
    if (!lists[k] && !mark && writes.size() > 1) return key;
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
  if (writes.empty()) {
    writes = final_writes(observed, key);
    const auto commit = [&](ItemId write) {
      return h_.commit_ts(observed.txn(write)).value_or(kNoTimestamp);
    };
    std::stable_sort(writes.begin(), writes.end(),
                     [&](ItemId a, ItemId b) { return commit(a) < commit(b); });
  }
  if (order != nullptr && !has_order(observed, key)) {
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
    const auto [at, added] = position_.try_emplace({key, version.value}, position);
    if (!added) at->second = kSeveral;
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
  indexes_.prepare(h_, bounds_of(h_, predicate), [&](const auto& add) {
    for (const KeyId key : keys_) {
      const auto versions = of(key);
      for (std::uint32_t i = 0; i < versions.size(); ++i) {
        if (versions[i].alive) add(versions[i].value, KeyPosition{key, i});
      }
    }
  });
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
  return {all.keys, all.by_index ? all.entries.size() : all.versions, all.versions};
}

RowVersions::Within RowVersions::within(PredicateId predicate) const {
  const std::vector<Bounds> all = bounds_of(h_, predicate);
  auto first = keys_.begin();
  auto end = keys_.end();
  for (const Bounds& bounds : all) {
    if (bounds.column.valid()) continue;
    const auto name = [&](KeyId key) { return h_.key_name(key); };
    first = std::partition_point(first, end, [&](KeyId key) {
      return !bounds.lower.is_null() && compare_values(h_, name(key), bounds.lower) < 0;
    });
    end = std::partition_point(first, end, [&](KeyId key) {
      return bounds.upper.is_null() || compare_values(h_, name(key), bounds.upper) <= 0;
    });
  }
  const auto indexed = indexes_.narrowest(all);
  Within out{.keys = slice(keys_, first, end),
             .entries = indexed.value_or(std::span<const Indexes::Entry>())};
  for (auto key = first; key != end; ++key) out.versions += of(*key).size();
  out.by_index = indexed && out.entries.size() < out.versions;
  out.certain =
      out.by_index && bounds_suffice(h_, predicate, all) && indexes_.only_integers(all[0].column);
  return out;
}

void RowVersions::select(PredicateId predicate, std::vector<KeyPosition>& out) const {
  out.clear();
  const Within all = within(predicate);
  if (all.by_index) {
    for (const Indexes::Entry& entry : all.entries) {
      if (all.certain || matches(predicate, entry.place)) out.push_back(entry.place);
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
