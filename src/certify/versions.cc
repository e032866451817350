#include "certify/versions.h"

#include <algorithm>

namespace ouro::recheck {

Versions::Versions(const Reading& reading, Level level) : reading_(reading) {
  parent_.assign(reading.access_count() + reading.history().key_count(), kNone);
  link_lists();
  link_stated();
  link_updates(level);
  number_trees();
}

// Links the appends that the longest read of each list shows.
void Versions::link_lists() {
  const std::size_t accesses = reading_.access_count();
  longest_.assign(reading_.history().key_count(), kNoAccess);
  shown_at_.assign(accesses, kNone);
  for (AccessId id = 0; id < accesses; ++id) {
    const Access& a = reading_.access(id);
    if (!a.value.is_list() || !reading_.counts(a.txn)) continue;
    AccessId& longest = longest_[a.key.index()];
    if (longest == kNoAccess || reading_.access(longest).value.length() < a.value.length()) {
      longest = id;
    }
  }
  for (const AccessId read : longest_) {
    if (read == kNoAccess || reading_.access(read).value.length() == 0) continue;
    std::uint32_t previous = initial(reading_.access(read).key);
    std::uint32_t position = 0;
    const Value list = reading_.access(read).value;
    for (const AccessId append : reading_.appends_of(list)) {
      if (reading_.is_open_element(list, position)) {
        // Somebody's append is in between; nobody knows whose.
        open_.insert({reading_.access(read).key, reading_.history().list(list)[position]});
        ++position;
        previous = kNone;
        continue;
      }
      if (append == kNoAccess || !reading_.counts(reading_.access(append).txn)) break;
      if (shown_at_[append] == kNone) shown_at_[append] = position;
      ++position;
      const AccessId version = reading_.last_write(append);
      if (version == previous) continue;
      if (parent_[version] == kNone) parent_[version] = previous;
      previous = version;
    }
  }
}

// Links neighbours in complete orders, and notes where all orders mention versions.
void Versions::link_stated() {
  std::uint32_t number = 0;
  for (const StatedOrder& order : reading_.orders()) {
    std::uint32_t previous = initial(order.key);
    std::uint32_t position = 0;
    for (const AccessId write : order.writes) {
      if (!reading_.counts(reading_.access(write).txn)) continue;
      const AccessId version = reading_.last_write(write);
      mentions_.push_back({version, number, position++});
      if (version == previous) continue;
      if (order.complete && parent_[version] == kNone) parent_[version] = previous;
      previous = version;
    }
    ++number;
  }
  std::sort(mentions_.begin(), mentions_.end());
}

// Links what a transaction wrote to what it read of the same key, if its updates must not be lost.
void Versions::link_updates(Level level) {
  const History& h = reading_.history();
  // By key: the version that the transaction read.
  std::vector<std::uint32_t> read(h.key_count(), kNone);
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn{t};
    const Rules rules = rules_of(h, level, txn);
    if (!reading_.counts(txn) || rules.lost_updates) continue;
    const bool phantoms = rules.phantoms;
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      std::uint32_t& known = read[reading_.access(id).key.index()];
      if (!reading_.is_external(id) || (phantoms && reading_.is_phantom(id))) continue;
      if (known == kNone) known = returned(id);
    }
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_write(id) || !reading_.is_last(id) || parent_[id] != kNone) continue;
      parent_[id] = read[reading_.access(id).key.index()];
    }
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      read[reading_.access(id).key.index()] = kNone;
    }
  }
}

// Walks through the trees to number the versions. Links that form a cycle belong to no tree, and
// prove nothing here.
void Versions::number_trees() {
  const std::size_t count = parent_.size();
  std::vector<std::uint32_t> child(count, kNone);
  std::vector<std::uint32_t> sibling(count, kNone);
  for (std::uint32_t v = 0; v < count; ++v) {
    if (parent_[v] == kNone) continue;
    sibling[v] = child[parent_[v]];
    child[parent_[v]] = v;
  }
  entered_.assign(count, 0);
  left_.assign(count, 0);
  std::uint32_t clock = 0;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (parent_[root] != kNone) continue;
    std::uint32_t at = root;
    entered_[at] = ++clock;
    for (;;) {
      if (child[at] != kNone) {
        const std::uint32_t next = child[at];
        child[at] = sibling[next];
        at = next;
        entered_[at] = ++clock;
        continue;
      }
      left_[at] = clock;
      if (at == root) break;
      at = parent_[at];
    }
  }
}

bool Versions::precedes(std::uint32_t early, std::uint32_t late) const {
  const auto accesses = static_cast<std::uint32_t>(reading_.access_count());
  if (early == late || late >= accesses) return false;
  if (early >= accesses) return true;
  if (below(late, early)) return true;
  const std::uint32_t first = initial(reading_.access(early).key);
  if (below(early, first) && !below(early, late)) return true;
  return is_stated(early, late) || list_shows(early, late) || read_and_overwrote(early, late);
}

bool Versions::precedes_if(std::uint32_t first, std::uint32_t second, std::uint32_t early,
                           std::uint32_t late) const {
  if (!below(early, first) || !below(late, second)) return false;
  return !(below(second, first) && below(early, second));
}

// Whether a stated order has `early` before `late`.
bool Versions::is_stated(std::uint32_t early, std::uint32_t late) const {
  const auto first = [&](std::uint32_t version) {
    return std::lower_bound(mentions_.begin(), mentions_.end(), Mention{version, 0, 0});
  };
  for (auto one = first(early); one != mentions_.end() && one->version == early; ++one) {
    for (auto two = first(late); two != mentions_.end() && two->version == late; ++two) {
      if (one->order == two->order && one->position < two->position) return true;
    }
  }
  return false;
}

// Whether the longest read shows an element of the writer of `early` before one of the writer of
// `late`, or does not show all of the latter's.
bool Versions::list_shows(std::uint32_t early, std::uint32_t late) const {
  const KeyId key = reading_.access(early).key;
  if (!reading_.is_list(key)) return false;
  const auto each_append = [&](std::uint32_t version, const auto& f) {
    const TxnId txn = reading_.access(version).txn;
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_write(id) || reading_.access(id).key != key) continue;
      // One that may be an open element is perhaps not shown, and perhaps somewhere.
      const bool open = shown_at_[id] == kNone && open_.contains({key, reading_.access(id).value});
      if (!open) f(shown_at_[id]);
    }
  };
  std::uint32_t from = kNone;
  std::uint32_t to = 0;
  each_append(early, [&](std::uint32_t at) { from = std::min(from, at); });
  each_append(late, [&](std::uint32_t at) { to = std::max(to, at); });  // kNone: not shown.
  return from != kNone && from < to;
}

// Whether the writer of `late` read `early`, or a version whose writer did, and so on: true at
// every level, as nobody can have written what he overwrote after that.
bool Versions::read_and_overwrote(std::uint32_t early, std::uint32_t late) const {
  const auto accesses = static_cast<std::uint32_t>(reading_.access_count());
  // Wrong histories may have reads that go round in a cycle.
  for (std::size_t steps = 0; late < accesses && steps < accesses; ++steps) {
    const Access& write = reading_.access(late);
    std::uint32_t next = kNone;
    for (AccessId id = reading_.first(write.txn); id < reading_.end(write.txn); ++id) {
      if (!reading_.is_external(id) || reading_.access(id).key != write.key) continue;
      if (returned(id) == early) return true;
      next = returned(id);
    }
    late = next;
  }
  return false;
}

}  // namespace ouro::recheck
