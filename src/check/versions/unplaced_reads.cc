#include "check/versions/unplaced_reads.h"

#include <algorithm>

#include "check/predicates/possible_result.h"
#include "check/versions/listed_versions.h"
#include "check/versions/read_parts.h"
#include "history/access.h"

namespace ouro {

// ---- which results are possible ----

bool UnplacedReads::is_own(const Asked& asked, KeyId key, std::uint32_t position) const {
  const ItemId write = rows_.of(key)[position].write;
  return write.valid() && o_.txn(write) == asked.seen.txn;
}

bool UnplacedReads::is_hidden(const Asked& asked, const Row& row, std::uint32_t position) const {
  return row.listed.empty() ? is_own(asked, row.key, position) : !row.listed[position];
}

std::vector<RowVersions::Part> UnplacedReads::parts(const Asked& asked, const Row& row,
                                                    Interval within) const {
  std::vector<Part> out;
  for (std::uint32_t i = within.first; i <= within.last; ++i) {
    if (is_hidden(asked, row, i)) continue;
    const Part one = rows_.part(*asked.read, {row.key, i});
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
  }
  return out;
}

template <class IntervalOf>
bool UnplacedReads::possible(const Asked& asked, const IntervalOf& interval_of) const {
  PossibleResult result(h_, asked.seen.op);
  for (const KeyPart& mine : asked.own) result.add({&mine.part, 1}, mine.key);
  for (std::size_t i = 0; i < asked.rows.size(); ++i) {
    result.add(parts(asked, asked.rows[i], interval_of(i)), asked.rows[i].key);
  }
  return result.has_result();
}

bool UnplacedReads::possible_with(const Asked& asked, std::size_t changed, Interval instead) const {
  if (h_.op(asked.seen.op).kind == OpKind::Select) {
    // Rows do not depend on each other.
    const std::vector<Part> some = parts(asked, asked.rows[changed], instead);
    return std::any_of(some.begin(), some.end(), [](const Part& part) { return !part.counts; });
  }
  return possible(asked,
                  [&](std::size_t i) { return i == changed ? instead : asked.rows[i].known; });
}

// ---- what a read is about ----

UnplacedReads::Asked UnplacedReads::ask(const PredicateReads::Seen& seen,
                                        std::span<const Sight> sights) const {
  Asked asked{seen, &h_.predicate_read(seen.op), {}, {}};
  std::vector<KeyId> settled;
  const OwnWrites own = written_before(h_, seen.op);
  for (const auto& [key, write] : own) settled.push_back(key);
  asked.own = own_parts(h_, seen.op, own);
  for (const KeyVersion& row : h_.rows(*asked.read)) settled.push_back(row.key);
  std::sort(settled.begin(), settled.end());
  const RowVersions::Scope scope = rows_.scope(asked.read->predicate);
  std::vector<KeyId> keys(scope.keys.begin(), scope.keys.end());
  if (scope.cost < keys.size()) {
    std::vector<RowVersions::KeyPosition> matches;
    rows_.select(asked.read->predicate, matches);
    keys.clear();
    for (const auto& match : matches) {
      if (keys.empty() || keys.back() != match.key) keys.push_back(match.key);
    }
  }
  for (const KeyId key : keys) {
    if (std::binary_search(settled.begin(), settled.end(), key)) continue;
    auto last = static_cast<std::uint32_t>(rows_.of(key).size() - 1);
    // What the transaction wrote only after the read is no version that it may have seen.
    while (!asked.read->has_version_set && last > 0 && is_own(asked, key, last)) --last;
    asked.rows.push_back({key, {0, last}, 0, {}});
    if (!asked.read->has_version_set) continue;
    asked.rows.back().listed = listed_versions(o_, rows_, seen.op, key);
  }
  for (const Sight& sight : sights) {
    if (sight.read != seen.op) continue;
    for (Row& row : asked.rows) {
      if (row.key != sight.key) continue;
      if (sight.seen) {
        row.known.first = std::max(row.known.first, sight.position);
      } else {
        row.known.last = std::min(row.known.last, sight.position - 1);
      }
    }
  }
  return asked;
}

void UnplacedReads::find_held(const Positions& positions, Asked& asked) const {
  const std::uint32_t begun = positions.begin[asked.seen.txn.index()];
  for (Row& row : asked.rows) {
    row.held = rows_.held(o_, row.key, positions, begun);
  }
}

// ---- edges ----

void UnplacedReads::follow(const Asked& asked, const Row& row, std::uint32_t position,
                           std::vector<PredicateEdge>& out) const {
  const auto versions = rows_.of(row.key);
  while (position < versions.size() && is_hidden(asked, row, position)) ++position;
  if (position == 0 || position >= versions.size()) return;
  out.push_back({asked.seen.txn, asked.seen.op, versions[position].write, false});
}

void UnplacedReads::precede(const Asked& asked, const Row& row, std::uint32_t position,
                            std::vector<PredicateEdge>& out) const {
  const auto versions = rows_.of(row.key);
  while (!row.listed.empty() && position > 0 && !row.listed[position - 1]) --position;
  // If the transaction itself overwrote it, it must have done so before whoever came next.
  if (position >= versions.size() || is_own(asked, row.key, position)) return;
  out.push_back({asked.seen.txn, asked.seen.op, versions[position].write, true});
}

// The interval without the versions at its ends that a select cannot have seen.
UnplacedReads::Interval UnplacedReads::narrowed(const Asked& asked, const Row& row) const {
  Interval out = row.known;
  const bool select = h_.op(asked.seen.op).kind == OpKind::Select;
  if (!select && row.listed.empty()) return out;
  const auto wrong = [&](std::uint32_t i) {
    return is_hidden(asked, row, i) || (select && rows_.part(*asked.read, {row.key, i}).counts);
  };
  while (out.first < out.last && wrong(out.first)) ++out.first;
  while (out.first < out.last && wrong(out.last)) --out.last;
  return out;
}

std::vector<PredicateEdge> UnplacedReads::edges_of(std::span<const Sight> sights) const {
  std::vector<PredicateEdge> out;
  for (std::size_t i = 0; i < sights.size(); ++i) {
    const auto first = std::find_if(sights.begin(), sights.end(), [&](const Sight& other) {
      return other.read == sights[i].read;
    });
    if (first != sights.begin() + static_cast<std::ptrdiff_t>(i)) continue;  // Done.
    const Asked asked = ask({h_.txn_of(sights[i].read), sights[i].read}, sights);
    for (const Row& row : asked.rows) {
      const Interval seen = narrowed(asked, row);
      if (row.known.first > 0) follow(asked, row, seen.first, out);
      if (row.known.last + 1 < rows_.of(row.key).size()) {
        precede(asked, row, seen.last + 1, out);
      }
    }
  }
  return out;
}

// The order does not give what the read returned. Of each row there may be an earlier version, or a
// later one, or the one that the order has, if others change.
void UnplacedReads::at_begin(const Asked& asked, const Positions& positions, Finding& out) const {
  // To look at one row of an aggregate takes a look at all its rows.
  constexpr std::size_t kMostRows = 8;
  const bool select = h_.op(asked.seen.op).kind == OpKind::Select;
  std::size_t looked_at = 0;
  std::vector<Sight> open;
  const std::uint32_t begun = positions.begin[asked.seen.txn.index()];
  for (std::size_t i = 0; i < asked.rows.size(); ++i) {
    const Row& row = asked.rows[i];
    const Part now = rows_.part(*asked.read, {row.key, row.held});
    const auto same = [&](std::uint32_t at) {
      return !is_hidden(asked, row, at) && rows_.part(*asked.read, {row.key, at}) == now;
    };
    Interval run{row.held, row.held};
    while (run.first > row.known.first && same(run.first - 1)) --run.first;
    while (run.last < row.known.last && same(run.last + 1)) ++run.last;
    const bool before = run.first > row.known.first;
    const bool behind = run.last < row.known.last;
    if ((!select && ++looked_at > kMostRows) || possible_with(asked, i, run)) {
      if (select || !open.empty() || (!before && !behind)) continue;
      open.push_back({asked.seen.op, row.key, before ? run.first : run.last + 1, !before});
      continue;
    }
    const bool earlier = before && possible_with(asked, i, {row.known.first, run.first - 1});
    const bool later = behind && possible_with(asked, i, {run.last + 1, row.known.last});
    if (!earlier) follow(asked, row, run.last + 1, out.edges);
    if (!later) precede(asked, row, run.first, out.edges);
    if (!earlier || !later) continue;
    const auto commit = [&](std::uint32_t at) {
      return positions.commit[o_.txn(rows_.of(row.key)[at].write).index()];
    };
    const bool seen = commit(run.last + 1) - begun < begun - commit(run.first);
    open.insert(open.begin(), {asked.seen.op, row.key, run.first, seen});
  }
  if (!open.empty()) out.open.push_back(open.front());
}

// No versions up to those that the order has give what the read returned: it saw a later one.
void UnplacedReads::until_begin(const Asked& asked, Finding& out) const {
  std::vector<Sight> open;
  for (std::size_t i = 0; i < asked.rows.size(); ++i) {
    const Row& row = asked.rows[i];
    if (row.known.last <= row.held) continue;
    if (!possible_with(asked, i, {row.known.first, row.held})) {
      const Interval later{row.held + 1, row.known.last};
      const Interval rest = narrowed(asked, {row.key, later, row.held, row.listed});
      follow(asked, row, rest.first, out.edges);
    } else if (possible_with(asked, i, {row.held + 1, row.known.last})) {
      open.push_back({asked.seen.op, row.key, row.held + 1, true});
    }
  }
  if (!open.empty()) out.open.push_back(open.front());
}

UnplacedReads::Finding UnplacedReads::compare(const Positions& positions, Allowed allowed,
                                              std::span<const Sight> sights,
                                              const Budget& budget) const {
  Finding out;
  BudgetTicker ticker(budget, 64);
  for (const PredicateReads::Seen& seen : reads_) {
    if (ticker.tick()) return out;
    Asked asked = ask(seen, sights);
    if (asked.read->result.is_unobserved() && h_.op(seen.op).kind == OpKind::Aggregate) continue;
    find_held(positions, asked);
    const bool fits = possible(asked, [&](std::size_t i) {
      const Row& row = asked.rows[i];
      if (allowed == Allowed::AtBegin) return Interval{row.held, row.held};
      return Interval{row.known.first, std::min(row.known.last, row.held)};
    });
    if (fits) continue;
    out.misfit = seen.op;
    if (!possible(asked, [&](std::size_t i) { return asked.rows[i].known; })) {
      out.impossible = seen.op;
      return out;
    }
    if (allowed == Allowed::AtBegin) {
      at_begin(asked, positions, out);
    } else {
      until_begin(asked, out);
    }
  }
  if (!out.edges.empty()) out.open.clear();
  return out;
}

UnplacedReads::Certain UnplacedReads::certain(const Budget& budget) const {
  Certain out;
  BudgetTicker ticker(budget, 64);
  for (const PredicateReads::Seen& seen : reads_) {
    if (ticker.tick()) return out;
    const Asked asked = ask(seen, {});
    const bool select = h_.op(seen.op).kind == OpKind::Select;
    if (!select && asked.read->result.is_unobserved()) continue;
    if (!possible(asked, [&](std::size_t i) { return asked.rows[i].known; })) {
      out.impossible = seen.op;
      return out;
    }
    constexpr std::size_t kMostRows = 16;  // Each takes a look at all of them.
    for (std::size_t i = 0; i < asked.rows.size(); ++i) {
      const Row& row = asked.rows[i];
      Interval may = narrowed(asked, row);
      bool open = parts(asked, row, may).size() > 1;
      for (std::uint32_t at = may.first; at <= may.last && !row.listed.empty(); ++at) {
        open |= !row.listed[at];
      }
      if (open) out.open = seen.op;
      if (!select && asked.rows.size() <= kMostRows) {
        while (may.first < may.last && !possible_with(asked, i, {0, may.first})) ++may.first;
        while (may.first < may.last && !possible_with(asked, i, {may.last, row.known.last})) {
          --may.last;
        }
      }
      follow(asked, row, may.first, out.edges);
      precede(asked, row, may.last + 1, out.edges);
    }
  }
  return out;
}

}  // namespace ouro
