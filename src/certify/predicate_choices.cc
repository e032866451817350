// Predicate reads of which the history does not say what they saw: they have no version set, and
// their transaction no start timestamp; or the version set does not tell versions apart.
//
// Such a read saw one version of every row, from the first to the last that may be meant (Range).
// Whether these can give its result is found by going through the rows and keeping all results that
// are possible so far.

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "certify/predicate_reads.h"
#include "certify/sums.h"
#include "certify/undone.h"
#include "certify/values.h"

namespace ouro::recheck {

namespace {

using Shares = std::set<std::optional<Value>>;

// All results that an aggregate may have after some rows.
class Results {
 public:
  Results(const History& history, const PredicateRead& read)
      : h_(history),
        kind_(read.aggregate),
        result_(read.result),
        json_(history.text(read.result)),
        integers_(read.result.kind() == ValueKind::Integer) {
    states_.insert(State{});
  }

  // One more row, from which the aggregate gets one of `shares`.
  void add(const Shares& shares) {
    switch (kind_) {
      case AggregateKind::Count:
        least_ += shares.contains(std::nullopt) ? 0 : 1;
        most_ += std::any_of(shares.begin(), shares.end(), [](const auto& s) { return s; }) ? 1 : 0;
        return;
      case AggregateKind::Sum:
        bound_sum(shares);
        return add_sums(shares);
      case AggregateKind::Avg:
        return add_sums(shares);
      case AggregateKind::Min:
      case AggregateKind::Max:
        return add_extremes(shares);
    }
  }

  [[nodiscard]] bool has_result() const {
    switch (kind_) {
      case AggregateKind::Count:
        return integers_ && result_.number() >= least_ && result_.number() <= most_;
      case AggregateKind::Min:
      case AggregateKind::Max:
        return !beyond_ && (found_ || json_ == "null");
      default:
        break;
    }
    const bool bounded = integers_ && kind_ == AggregateKind::Sum;
    if (bounded && (result_.number() < lower_ || result_.number() > upper_)) return false;
    return too_many_ || std::any_of(states_.begin(), states_.end(),
                                    [&](const State& state) { return gives(state); });
  }

 private:
  struct State {
    Sums sums;
    std::string summary;  // Of the sums.
    bool operator<(const State& other) const { return summary < other.summary; }
  };

  // The sum lies between the sums of the least and of the greatest shares, if all are integers. A
  // row without a share adds nothing.
  void bound_sum(const Shares& shares) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for (const auto& share : shares) {
      integers_ &= !share || share->kind() == ValueKind::Integer;
      if (!integers_) return;
      const std::int64_t number = share ? share->number() : 0;
      least = std::min(least, number);
      most = std::max(most, number);
    }
    lower_ += least;
    upper_ += most;
  }

  void add_sums(const Shares& shares) {
    if (too_many_) return;
    std::set<State> next;
    for (const State& state : states_) {
      for (const auto& share : shares) next.insert(share ? with(state, *share) : state);
    }
    states_ = std::move(next);
    too_many_ = states_.size() > 100'000;
  }

  // A share beyond the result rules that out; one that is the same must be there.
  void add_extremes(const Shares& shares) {
    bool within = false;
    for (const auto& share : shares) {
      const bool null = json_ == "null";
      const bool beyond =
          share && (null || (kind_ == AggregateKind::Min ? before(h_, *share, result_)
                                                         : before(h_, result_, *share)));
      within |= !beyond;
      found_ |= share && h_.text(*share) == json_;
    }
    beyond_ |= !within;
  }

  [[nodiscard]] State with(State state, Value value) const {
    state.sums.add(h_, value);
    state.summary = state.sums.summary();
    return state;
  }

  [[nodiscard]] bool gives(const State& state) const {
    Sums sums = state.sums;
    sums.settle();
    return sums.allow(json_, kind_ == AggregateKind::Avg);
  }

  const History& h_;
  const AggregateKind kind_;
  const Value result_;
  const std::string json_;
  std::int64_t least_ = 0;  // How many rows count in any case, and how many may.
  std::int64_t most_ = 0;
  bool found_ = false;   // Whether some row may have the result,
  bool beyond_ = false;  // and whether some row rules it out.
  bool integers_;        // Whether the result and all shares are integers; then a sum is between:
  __extension__ __int128 lower_ = 0;
  __extension__ __int128 upper_ = 0;
  std::set<State> states_;
  bool too_many_ = false;
};

}  // namespace

bool PredicateReads::is_unplaced(OpId read) const {
  return std::binary_search(unplaced_.begin(), unplaced_.end(), read);
}

std::vector<bool> PredicateReads::listed(OpId id, KeyId key) const {
  const auto all = versions(key);
  Value wanted = Value::null();
  for (const KeyVersion& version : h_.version_set(h_.predicate_read(id))) {
    if (version.key != key) continue;
    wanted = version.value;
    break;
  }
  const auto mine = [&](std::size_t i) {
    return all[i] != kNoAccess && reading_.access(all[i]).txn == h_.txn_of(id);
  };
  std::vector<bool> out(all.size(), false);
  // Runs of versions with the same share, one after the other.
  for (std::uint32_t first = 0, end = 0; first < all.size(); first = end) {
    bool found = false;
    for (end = first; end < all.size(); ++end) {
      if (mine(end) || (end > first && share(id, key, end) != share(id, key, first))) break;
      found = found || value(key, end) == wanted;
    }
    std::fill(out.begin() + first, out.begin() + end, found);
    if (end < all.size() && mine(end)) ++end;
  }
  return out;
}

bool PredicateReads::is_unclear(OpId id) const {
  if (std::find(repeats_.begin(), repeats_.end(), true) == repeats_.end()) return false;
  const auto own = own_before(id);
  KeyId last;
  for (const KeyPosition& place : matching(id)) {
    if (place.key == std::exchange(last, place.key)) continue;
    if (!repeats_[place.key.index()] || own.contains(place.key)) continue;
    const std::vector<bool> may = listed(id, place.key);
    const auto first = std::find(may.begin(), may.end(), true);
    const auto end = std::find(first, may.end(), false);
    if (std::find(end, may.end(), true) != may.end()) return true;
  }
  return false;
}

void PredicateReads::assume(std::span<const ReadSight> sights) {
  for (const ReadSight& sight : sights) {
    const auto at = place_of(sight);
    if (!at) continue;
    Range& range = assumed_.try_emplace({sight.read, sight.key}, whole(sight.key)).first->second;
    if (sight.seen) {
      range.first = std::max(range.first, *at);
    } else {
      range.end = std::min(range.end, *at);
    }
  }
}

std::optional<std::uint32_t> PredicateReads::place_of(const ReadSight& sight) const {
  if (!sight.key.valid() || sight.key.index() >= h_.key_count()) return std::nullopt;
  if (!is_unplaced(sight.read) || !ordered_[sight.key.index()]) return std::nullopt;
  const auto all = versions(sight.key);
  for (std::uint32_t i = 1; i < all.size(); ++i) {
    if (reading_.access(all[i]).txn == sight.writer) return i;
  }
  return std::nullopt;
}

PredicateReads::Range PredicateReads::whole(KeyId key) const {
  return {0, static_cast<std::uint32_t>(versions(key).size())};
}

// The keys of which it is open what the read saw: rows that matter to it, which its transaction had
// not written, and which it did not return.
std::vector<KeyId> PredicateReads::open_keys(OpId id) const {
  std::vector<KeyId> out;
  const bool scan = h_.op(id).kind == OpKind::Scan;
  absl::flat_hash_set<KeyId> returned;
  for (const KeyVersion& row : h_.rows(h_.predicate_read(id))) {
    if (!scan || !row.value.is_null()) returned.insert(row.key);
  }
  const auto own = own_before(id);
  for (const KeyPosition& place : matching(id)) {
    if (!out.empty() && out.back() == place.key) continue;
    if (!returned.contains(place.key) && !own.contains(place.key)) out.push_back(place.key);
  }
  return out;
}

// By key, the last write of the transaction before the read.
absl::flat_hash_map<KeyId, OpId> PredicateReads::own_before(OpId id) const {
  absl::flat_hash_map<KeyId, OpId> own;
  for (OpId before = h_.first_op(h_.txn_of(id)); before < id; ++before.value) {
    const Op op = h_.op(before);
    const bool appends = op.kind == OpKind::Append || op.kind == OpKind::UndoneAppend;
    if (!appends && sees_own(h_, op, id)) own[op.key] = before;
  }
  return own;
}

bool PredicateReads::is_possible(OpId id, const Narrowed& narrowed, const MaySee& may_see) const {
  const PredicateRead& read = h_.predicate_read(id);
  const bool select = h_.op(id).kind != OpKind::Aggregate;
  if (!select && read.result.is_unobserved()) return true;
  const bool by_set = read.has_version_set && has_sets_;
  Results results(h_, read);
  for (const auto& [key, write] : own_before(id)) {
    const Op op = h_.op(write);
    const bool deletes = op.kind == OpKind::Delete || op.kind == OpKind::UndoneDelete;
    if (deletes || !asks_for(id, key, op.value, false)) continue;
    const auto rows = h_.rows(read);
    const KeyVersion mine{key, op.value};
    if (select && std::find(rows.begin(), rows.end(), mine) == rows.end()) return false;
    const Value cell = read.column.valid() ? h_.cell(op.value, read.column) : h_.key_name(key);
    if (!cell.is_null()) results.add({cell});
  }
  for (const KeyId key : open_keys(id)) {
    const auto known = assumed_.find({id, key});
    const Range range = narrowed(key, known == assumed_.end() ? whole(key) : known->second);
    const AccessId read_of_key = reading_.read_of(id, key);
    const bool told = read_of_key != kNoAccess && reading_.is_external(read_of_key);
    const std::vector<bool> may = by_set ? listed(id, key) : std::vector<bool>();
    Shares shares;
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      const AccessId write = versions(key)[i];
      if (by_set && !may[i]) continue;
      if (told && write != reading_.source(read_of_key)) continue;
      if (write != kNoAccess && reading_.access(write).txn == h_.txn_of(id)) continue;
      if (may_see && !may_see(key, write)) continue;
      auto one = share(id, key, i);
      if (one && !read.column.valid()) one = h_.key_name(key);
      shares.insert(one);
    }
    if (shares.empty() || (select && !shares.contains(std::nullopt))) return false;
    if (!select) results.add(shares);
  }
  return select || results.has_result();
}

bool PredicateReads::is_impossible(OpId read, const MaySee& may_see) const {
  const auto all = [](KeyId, Range range) { return range; };
  return is_unplaced(read) && !is_possible(read, all, may_see);
}

bool PredicateReads::is_impossible(OpId read) const {
  return is_unplaced(read) && !is_possible(read, [](KeyId, Range range) { return range; });
}

// Whether no versions give the result if that of the key of `write` is before the one of `write`;
// or, with `seen`, is that one or a later one.
bool PredicateReads::rules_out(OpId read, AccessId write, bool seen) const {
  const KeyId key = reading_.access(write).key;
  const auto all = versions(key);
  const auto at = std::find(all.begin(), all.end(), write);
  const auto keys = open_keys(read);
  if (at == all.end() || std::find(keys.begin(), keys.end(), key) == keys.end()) return false;
  if (!ordered_[key.index()]) return false;
  const auto position = static_cast<std::uint32_t>(at - all.begin());
  return !is_possible(read, [&](KeyId other, Range range) {
    if (other != key) return range;
    return seen ? Range{std::max(range.first, position), range.end}
                : Range{range.first, std::min(range.end, position)};
  });
}

// At the levels with moments, a read sees the versions that are there when its transaction begins;
// at the others, any that are committed by then, but of a set there is one state at a time.
OpId PredicateReads::first_misplaced(const Moments& moments, Unseen unseen) const {
  for (const OpId read : unplaced_) {
    const std::size_t begun = moments.begun[h_.txn_of(read).index()];
    const bool last_only = unseen == Unseen::Matter ||
                           (unseen == Unseen::MatterInSets && reading_.is_set_read(h_.op(read)));
    const bool fits = is_possible(read, [&](KeyId key, Range range) {
      const auto all = versions(key);
      const auto behind = std::partition_point(all.begin() + 1, all.end(), [&](AccessId write) {
        return moments.committed[reading_.access(write).txn.index()] < begun;
      });
      const auto end = static_cast<std::uint32_t>(behind - all.begin());
      return Range{last_only ? end - 1 : range.first, std::min(range.end, end)};
    });
    if (!fits) return read;
  }
  return {};
}

OpId PredicateReads::first_untold() const {
  for (const OpId read : unplaced_) {
    if (is_impossible(read)) return read;
    for (const KeyId key : open_keys(read)) {
      const AccessId one = reading_.read_of(read, key);
      if (one == kNoAccess || !reading_.is_external(one)) return read;
    }
  }
  return {};
}

// Whether the read has the same share in all versions that it may have seen of each row, so that
// nothing about it is open.
bool PredicateReads::is_settled_read(OpId id) const {
  for (const KeyId key : open_keys(id)) {
    const Range range = possible_range(id, key);
    if (range.first + 1 < range.end && changes(id, key, range.first, range.end - 1)) return false;
  }
  return true;
}

// From the first to the last version of a row that the read may have seen.
PredicateReads::Range PredicateReads::possible_range(OpId id, KeyId key) const {
  Range range = whole(key);
  const bool select = h_.op(id).kind == OpKind::Select;
  const bool by_set = has_sets_ && h_.predicate_read(id).has_version_set;
  const std::vector<bool> may = by_set ? listed(id, key) : std::vector<bool>();
  const auto unseen = [&](std::uint32_t i) {
    return (by_set && !may[i]) || (select && share(id, key, i));
  };
  while (range.first + 1 < range.end && unseen(range.first)) ++range.first;
  while (range.first + 1 < range.end && unseen(range.end - 1)) --range.end;
  return range;
}

// As links(), for a read of which nothing is open.
std::vector<PredicateReads::Link> PredicateReads::settled_links(OpId id) const {
  std::vector<Link> out;
  for (const KeyId key : open_keys(id)) {
    const Range range = possible_range(id, key);
    const auto all = versions(key);
    if (range.first > 0) out.push_back({all[range.first], true});
    if (range.end < all.size()) out.push_back({all[range.end], false});
  }
  return out;
}

}  // namespace ouro::recheck
