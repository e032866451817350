#include "stream/timelines.h"

#include <type_traits>

namespace ouro::stream {
namespace {

template <class V>
const V* version_before(Sequence<V>& versions, const Moment& moment) {
  const auto behind = versions.lower_bound(moment);
  return behind == versions.begin() ? nullptr : &versions.at(versions.before(behind));
}

}  // namespace

const Version* Timelines::expected(KeyState& key, const Moment& begin) {
  if (key.kind == KeyKind::List) return version_before(key.lists, begin);
  return version_before(key.registers, begin);
}

// A transaction may have several reads of the key at `begin`: any number of open ones, and one that
// is not.
Read* Timelines::find_read(KeyState& key, const Moment& begin, std::uint32_t op) {
  for (auto c = key.reads.lower_bound(begin); c != key.reads.end(); c = key.reads.next(c)) {
    Read& read = key.reads.at(c);
    if (read.at() != begin) break;
    if (read.op() == op) return &read;
  }
  return nullptr;
}

bool Timelines::add(const OuterRead& outer, const Moment& begin) {
  KeyState& key = *outer.key;
  const Version* const version = expected(key, begin);
  const std::uint64_t held = version == nullptr ? first_value(key) : version->value;
  const bool known = !key.unsure || (version != nullptr && key.kind != KeyKind::List);
  const bool wrong = known && (outer.value != held) != outer.open;
  const std::uint32_t bits = outer.op << 1 | (wrong ? 1u : 0u) | (outer.open ? Read::kOpen : 0u);
  const Read read{begin.physical, stored_logical(begin), bits, begin.order, outer.value};
  key.reads.insert(key.reads.lower_bound(begin), read, pool_);
  return wrong;
}

void Timelines::add(const KeyWrite& write, const Moment& begin, const Moment& commit,
                    bool conflicts) {
  changes_.clear();
  overlaps_.clear();
  ties_.clear();
  former_ties_.clear();
  const Version version{commit.physical, stored_logical(commit), stored_logical(begin),
                        commit.order,    begin.physical,         write.value};
  if (write.key->kind != KeyKind::List) return add_version(*write.key, version, conflicts);
  ListVersion list{version};
  list.own_hash = write.appended.hash();
  list.own_length = write.appended.length();
  add_version(*write.key, list, conflicts);
}

template <class V>
void Timelines::add_version(KeyState& key, V version, bool conflicts) {
  Sequence<V>& versions = key.versions<V>();
  const auto added = versions.insert(versions.lower_bound(version.at()), version, pool_);
  if (conflicts) find_overlaps(versions, added);
  find_ties(versions, added);
  rejudge(key, added);
}

template <class V>
void Timelines::find_overlaps(Sequence<V>& versions, typename Sequence<V>::Cursor added) {
  const V version = versions.at(added);
  const Moment begin = version.begin();
  const Moment commit = version.at();
  for (auto c = added; c != versions.begin();) {
    c = versions.before(c);
    const V& before = versions.at(c);
    if (before.at() < begin) break;
    overlaps_.push_back({before.arrival(), version.arrival()});
  }
  // Versions after the new one are in the order of their commits, but they overlap it if they begin
  // before its commit; so all must be looked at, but for leaves in which all begin later.
  auto c = versions.next(added);
  while (c != versions.end()) {
    if (c.slot == 0 && versions.low_of_leaf(c.leaf) > commit.physical) {
      c = versions.next_leaf(c);
      continue;
    }
    const V& behind = versions.at(c);
    if (behind.begin() < commit) overlaps_.push_back({version.arrival(), behind.arrival()});
    c = versions.next(c);
  }
}

// Only neighbours are compared. A version that comes between two that were tied ends their tie.
template <class V>
void Timelines::find_ties(Sequence<V>& versions, typename Sequence<V>::Cursor added) {
  const V& version = versions.at(added);
  const auto tied = [](const V& a, const V& b) { return a.at().timestamp() == b.at().timestamp(); };
  const V* before = nullptr;
  if (added != versions.begin()) before = &versions.at(versions.before(added));
  if (before != nullptr && tied(*before, version)) {
    ties_.push_back({before->arrival(), version.arrival()});
  }
  const auto next = versions.next(added);
  if (next == versions.end()) return;
  const V& behind = versions.at(next);
  if (before != nullptr && tied(*before, behind)) {
    former_ties_.push_back({before->arrival(), behind.arrival()});
  }
  if (tied(version, behind)) ties_.push_back({version.arrival(), behind.arrival()});
}

void Timelines::judge(Read& read, std::uint64_t expected, bool known) {
  const bool was_wrong = read.wrong();
  const bool wrong = known && (read.value != expected) != read.open();
  if (!wrong && !was_wrong) return;
  read.set_wrong(wrong);
  changes_.push_back({read.arrival(), read.op(), read.at(), was_wrong, wrong, known});
}

void Timelines::rejudge(KeyState& key, Sequence<Version>::Cursor added) {
  auto& versions = key.registers;
  if (key.reads.empty()) return;
  auto at = key.reads.lower_bound(versions.at(added).at());
  if (at == key.reads.end()) return;
  const std::uint64_t value = versions.at(added).value;
  const auto next = versions.next(added);
  const bool last = next == versions.end();
  const Moment until = last ? Moment{} : versions.at(next).at();
  for (; at != key.reads.end(); at = key.reads.next(at)) {
    Read& read = key.reads.at(at);
    if (!last && until < read.at()) return;
    judge(read, value, true);
  }
}

void Timelines::judge_first_reads(KeyState& key) {
  changes_.clear();
  if (key.kind == KeyKind::List) return judge_until_first<ListVersion>(key);
  judge_until_first<Version>(key);
}

template <class V>
void Timelines::judge_until_first(KeyState& key) {
  const Sequence<V>& versions = key.versions<V>();
  const bool none = versions.empty();
  const Moment until = none ? Moment{} : versions.at(versions.begin()).at();
  for (auto at = key.reads.begin(); at != key.reads.end(); at = key.reads.next(at)) {
    Read& read = key.reads.at(at);
    const bool all = key.unsure && std::is_same_v<V, ListVersion>;
    if (!none && !all && until < read.at()) return;
    judge(read, first_value(key), !key.unsure);
  }
}

// Adds the new elements to all later versions of the list, and judges all reads after the new one.
void Timelines::rejudge(KeyState& key, Sequence<ListVersion>::Cursor added) {
  auto& versions = key.lists;
  ListHash list;
  if (added != versions.begin()) {
    const ListVersion& before = versions.at(versions.before(added));
    list = {before.hash, before.length};
  }
  auto at = key.reads.lower_bound(versions.at(added).at());
  for (auto c = added; c != versions.end();) {
    ListVersion& version = versions.at(c);
    list.append(version.own_hash, version.own_length);
    version.hash = list.hash();
    version.length = list.length();
    version.value = list.value();
    c = versions.next(c);
    const bool last = c == versions.end();
    const Moment until = last ? Moment{} : versions.at(c).at();
    for (; at != key.reads.end(); at = key.reads.next(at)) {
      Read& read = key.reads.at(at);
      if (!last && until < read.at()) break;
      judge(read, version.value, !key.unsure);
    }
  }
}

}  // namespace ouro::stream
