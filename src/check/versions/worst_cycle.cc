// Whatever precedes one version of a key precedes all later ones; the same is true of sessions and
// of real time. These edges are too many to write down. So each key, each session, and real time
// has a line, with transactions as its stations, in order. An edge gets on a line at one station
// and off at that or any behind it. A search passes each station once, so it costs no more than
// there are reads and writes.

#include "check/versions/worst_cycle.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "check/observed/phantom.h"
#include "graph/digraph.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/real_time.h"

namespace ouro {
namespace {

constexpr std::uint64_t kMostSteps = 20'000'000;  // About a second.
constexpr std::uint32_t kNoMember = 0xffffffff;

// The edges among the transactions of a component, its members. A member is given as its number in
// the component.
class CycleLines {
 public:
  CycleLines(const Observed& observed, const LevelRules& rules, std::int64_t clock_drift,
             std::span<const TxnId> members)
      : o_(observed), h_(observed.history()), rules_(rules), members_(members) {
    if (rules.sessions) add_sessions();
    if (rules.clocks()) add_time(clock_drift);
    add_keys();
    add_predicates();
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.from < b.from; });
    first_.assign(members.size() + 1, 0);
    for (const Entry& entry : entries_) ++first_[entry.from + 1];
    for (std::size_t m = 0; m < members.size(); ++m) first_[m + 1] += first_[m];
  }

  struct Station {
    std::uint32_t member = 0;
    OpId op;
    bool last = true;  // Whether its line ends here.
  };
  // Where edges of a transaction get on a line.
  struct Entry {
    std::uint32_t from = 0;
    std::uint32_t station = 0;
    EdgeKind kind = EdgeKind::Session;
    // Whether they lead to the commit, not to the begin, where these are apart.
    bool to_commit = false;
    KeyId key;
    OpId op;
  };

  // Whether every key has one complete version order.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::uint32_t member_count() const {
    return static_cast<std::uint32_t>(members_.size());
  }
  [[nodiscard]] std::span<const Station> stations() const { return stations_; }
  [[nodiscard]] std::span<const Entry> entries(std::uint32_t member) const {
    return std::span(entries_).subspan(first_[member], first_[member + 1] - first_[member]);
  }
  // The edge that gets on at `entry` and off at `station`.
  [[nodiscard]] Edge edge(const Entry& entry, std::uint32_t station) const {
    return {.from = members_[entry.from],
            .to = members_[stations_[station].member],
            .kind = entry.kind,
            .key = entry.key,
            .from_op = entry.op,
            .to_op = stations_[station].op};
  }

 private:
  // kNoMember if it is not in the component.
  [[nodiscard]] std::uint32_t number(TxnId txn) const {
    const auto at = std::lower_bound(members_.begin(), members_.end(), txn);
    const bool found = at != members_.end() && *at == txn;
    return found ? static_cast<std::uint32_t>(at - members_.begin()) : kNoMember;
  }
  // Adds a station, which is on the line of the one before if it `continues` that.
  std::uint32_t add_station(std::uint32_t member, OpId op, bool continues) {
    if (continues) stations_.back().last = false;
    stations_.push_back({member, op});
    return static_cast<std::uint32_t>(stations_.size() - 1);
  }
  void add_entry(const Entry& entry) { entries_.push_back(entry); }

  void add_sessions() {
    std::vector<std::uint32_t> all(members_.size());
    for (std::uint32_t m = 0; m < all.size(); ++m) all[m] = m;
    const auto session = [&](std::uint32_t m) { return h_.session(members_[m]); };
    std::stable_sort(all.begin(), all.end(),
                     [&](auto a, auto b) { return session(a) < session(b); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool continues = i > 0 && session(all[i - 1]) == session(all[i]);
      const std::uint32_t station = add_station(all[i], {}, continues);
      if (continues) add_entry({all[i - 1], station, EdgeKind::Session, false, {}, {}});
    }
  }

  // The same rules as those of Encoding::add_real_time().
  void add_time(std::int64_t clock_drift) {
    const bool inner = rules_.begins_apart() && h_.has_inner_clocks();
    if (!rules_.time_to_commit()) add_invoked(clock_drift);
    if (rules_.time_to_commit() || inner) add_commit_asked(clock_drift);
  }

  using Clocked = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // Clock, and member.
  // Adds a line of members in the order of `asked`, which may be unsorted. Returns its first
  // station.
  std::uint32_t add_time_line(Clocked& asked) {
    std::sort(asked.begin(), asked.end());
    const auto base = static_cast<std::uint32_t>(stations_.size());
    for (std::size_t i = 0; i < asked.size(); ++i) add_station(asked[i].second, {}, i > 0);
    return base;
  }
  // Lets a member get on that line at the first station that was asked for after `answered`.
  void get_on(const Clocked& asked, std::uint32_t base, std::uint32_t member, EdgeKind kind,
              std::optional<std::int64_t> answered, std::int64_t clock_drift) {
    if (!answered) return;
    const auto later = std::partition_point(asked.begin(), asked.end(), [&](const auto& other) {
      return !completed_before(*answered, other.first, clock_drift);
    });
    if (later == asked.end()) return;
    const auto station = base + static_cast<std::uint32_t>(later - asked.begin());
    const bool to_commit = kind != EdgeKind::RealTime || rules_.time_to_commit();
    add_entry({member, station, kind, to_commit, {}, {}});
  }

  void add_invoked(std::int64_t clock_drift) {
    Clocked asked;
    for (std::uint32_t m = 0; m < member_count(); ++m) {
      if (const auto clock = h_.invoked(members_[m])) asked.emplace_back(*clock, m);
    }
    const std::uint32_t base = add_time_line(asked);
    for (std::uint32_t m = 0; m < member_count(); ++m) {
      get_on(asked, base, m, EdgeKind::RealTime, h_.completed(members_[m]), clock_drift);
    }
  }

  // Who asked for a commit is on one of two lines: those that recorded when, and those that did
  // not, for which it is known only that they did after they were invoked. The edges of the two
  // differ in kind.
  void add_commit_asked(std::int64_t clock_drift) {
    Clocked asked, invoked, all;
    for (std::uint32_t m = 0; m < member_count(); ++m) {
      const auto committing = h_.committing(members_[m]);
      if (committing) asked.emplace_back(*committing, m);
      if (const auto clock = h_.invoked(members_[m]); clock && !committing) {
        invoked.emplace_back(*clock, m);
      }
      if (const auto clock = commit_asked(h_, members_[m])) all.emplace_back(*clock, m);
    }
    const std::uint32_t of_asked = add_time_line(asked);
    const std::uint32_t of_invoked = add_time_line(invoked);
    const std::uint32_t of_all = add_time_line(all);
    for (std::uint32_t m = 0; m < member_count(); ++m) {
      const TxnId txn = members_[m];
      get_on(asked, of_asked, m, EdgeKind::CommitTime, h_.completed(txn), clock_drift);
      if (rules_.time_to_commit()) {
        get_on(invoked, of_invoked, m, EdgeKind::RealTime, h_.completed(txn), clock_drift);
      }
      get_on(all, of_all, m, EdgeKind::BeginTime, h_.began(txn), clock_drift);
    }
  }

  void add_keys() {
    std::vector<KeyId> keys;
    const Items& items = o_.items();
    for (const TxnId txn : members_) {
      for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
        if (items.key(i).valid()) keys.push_back(items.key(i));
      }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const KeyId key : keys) add_key(key);
  }

  // Adds the line of a key, which has the versions that members wrote.
  void add_key(KeyId key) {
    absl::flat_hash_map<TxnId, std::uint32_t> position;  // Among all versions, the first being 1.
    TxnId last;
    for (const VersionStep& step : o_.version_steps(key)) {
      const TxnId from = step.from.valid() ? o_.txn(step.from) : TxnId{};
      const bool next = position.try_emplace(o_.txn(step.to), position.size() + 1).second;
      complete_ = complete_ && step.adjacent && next && from == last;
      last = o_.txn(step.to);
    }
    const auto items = o_.items_of(key);
    const auto links = o_.links_of(key);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> writers;  // Position, and item.
    std::size_t versions = 0;
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      if (links[i].source != KeyLink::kFinalWrite || !o_.counted(links[i].txn)) continue;
      ++versions;
      const auto at = position.find(links[i].txn);
      if (at == position.end()) continue;
      if (number(links[i].txn) != kNoMember) writers.emplace_back(at->second, i);
    }
    complete_ = complete_ && versions == position.size();
    std::sort(writers.begin(), writers.end());
    const auto base = static_cast<std::uint32_t>(stations_.size());
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const std::uint32_t item = writers[i].second;
      const std::uint32_t writer = number(links[item].txn);
      const OpId op = o_.items().op(items[item]);
      const std::uint32_t station = add_station(writer, op, i > 0);
      if (i + 1 == writers.size()) continue;
      add_entry({writer, station + 1, EdgeKind::WriteWrite, rules_.lost_updates, key, op});
    }
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      const std::uint32_t source = links[i].source;
      const std::uint32_t reader = number(links[i].txn);
      if (source > Observed::kInitial || reader == kNoMember) continue;
      std::uint32_t read = 0;
      if (source != Observed::kInitial) {
        const auto at = position.find(links[source].txn);
        if (at == position.end()) continue;
        read = at->second;
      }
      add_read(key, items[i], reader, read, base, writers);
    }
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      const std::uint32_t source = links[i].source;
      if (source >= Observed::kInitial || number(links[i].txn) == kNoMember) continue;
      const std::uint32_t writer = number(links[source].txn);
      if (writer == kNoMember || links[source].txn == links[i].txn) continue;
      const std::uint32_t station =
          add_station(number(links[i].txn), o_.items().op(items[i]), false);
      add_entry({writer, station, EdgeKind::WriteRead, false, key, o_.items().op(items[source])});
    }
  }

  // Adds the rw edges of a read: they get on at the first later version. If the reader wrote that
  // itself, its ww edges lead to all that these would.
  void add_read(KeyId key, ItemId item, std::uint32_t reader, std::uint32_t read,
                std::uint32_t base,
                std::span<const std::pair<std::uint32_t, std::uint32_t>> writers) {
    if (!rules_.rw_orders() || (rules_.phantoms && is_phantom(o_, item))) return;
    const auto later = std::partition_point(writers.begin(), writers.end(),
                                            [&](const auto& w) { return w.first <= read; });
    if (later == writers.end()) return;
    const auto station = base + static_cast<std::uint32_t>(later - writers.begin());
    if (stations_[station].member == reader) return;
    add_entry({reader, station, EdgeKind::ReadWrite, true, key, o_.items().op(item)});
  }

  void add_predicates() {
    for (const PredicateEdge& edge : o_.predicate_edges()) {
      const std::uint32_t reader = number(edge.reader);
      const std::uint32_t writer = number(o_.txn(edge.write));
      if (reader == kNoMember || writer == kNoMember || reader == writer) continue;
      const KeyId key = o_.items().key(edge.write);
      const OpId write = o_.items().op(edge.write);
      if (!edge.overwrites) {
        const std::uint32_t station = add_station(reader, edge.read, false);
        add_entry({writer, station, EdgeKind::WriteRead, false, key, write});
      } else if (rules_.rw_orders() && !rules_.phantoms) {
        const std::uint32_t station = add_station(writer, write, false);
        add_entry({reader, station, EdgeKind::ReadWrite, true, key, edge.read});
      }
    }
  }

  const Observed& o_;
  const History& h_;
  const LevelRules& rules_;
  const std::span<const TxnId> members_;
  std::vector<Station> stations_;
  std::vector<Entry> entries_;      // Sorted by `from`.
  std::vector<std::size_t> first_;  // By member: its first entry; one more, for the end.
  bool complete_ = true;
};

// Whether an edge of this kind leaves a transaction at its begin, where that is apart from its
// commit. What is said below of rw is true of all these edges.
bool leaves_begin(EdgeKind edge) {
  return edge == EdgeKind::ReadWrite || edge == EdgeKind::BeginTime;
}

// Whether cycles of `kind` have rw edges.
bool has_rw(CycleKind kind) { return kind != CycleKind::Overwrites && kind != CycleKind::Flow; }

// Whether cycles of `kind` may have such an edge.
bool is_of_kind(EdgeKind edge, CycleKind kind) {
  if (edge == EdgeKind::WriteRead) return kind != CycleKind::Overwrites;
  return !leaves_begin(edge) || has_rw(kind);
}

// Searches breadth first from one member after the other. A state is twice a member, plus one if it
// was reached at its commit: from there, but for CycleKind::Any, no rw leads on.
class CycleSearch {
 public:
  CycleSearch(const CycleLines& lines, const Budget& budget)
      : l_(lines),
        ticker_(budget, 4096, 4),
        seen_(2 * std::size_t{lines.member_count()}, 0),
        passed_(2 * lines.stations().size(), 0),
        via_(seen_.size()) {}

  // A shortest cycle of `kind`; empty if there is none. REQUIRES: there is no cycle of a worse
  // kind.
  std::vector<Edge> run(CycleKind kind) {
    best_.clear();
    for (const std::uint32_t start : starts(kind)) {
      if (best_.size() == 2 || ticker_.stopped()) break;  // None is shorter, or no time is left.
      if (steps_ > kMostSteps && (!best_.empty() || has_rw(kind))) break;
      search(start, kind);
    }
    return best_;
  }

 private:
  // How a state was reached: from another state, over how many edges from the start.
  struct Via {
    std::uint32_t state = 0;
    const CycleLines::Entry* entry = nullptr;
    std::uint32_t station = 0;
    std::size_t length = 0;
  };

  // The members to search from. A cycle without rw lies in a cyclic component of the other edges;
  // any other is searched from a member with an rw, which is its first edge.
  [[nodiscard]] std::vector<std::uint32_t> starts(CycleKind kind) const {
    std::vector<std::uint32_t> out;
    const std::uint32_t members = l_.member_count();
    if (!has_rw(kind)) {
      std::vector<Arc> arcs;
      for (std::uint32_t m = 0; m < members; ++m) {
        for (const CycleLines::Entry& entry : l_.entries(m)) {
          if (is_of_kind(entry.kind, kind)) arcs.push_back({m, members + entry.station});
        }
      }
      for (std::uint32_t s = 0; s < l_.stations().size(); ++s) {
        arcs.push_back({members + s, l_.stations()[s].member});
        if (!l_.stations()[s].last) arcs.push_back({members + s, members + s + 1});
      }
      for (const auto& component :
           cyclic_components(Digraph(members + l_.stations().size(), arcs))) {
        for (const Node node : component) {
          if (node < members) out.push_back(node);
        }
      }
      return out;
    }
    for (std::uint32_t m = 0; m < members; ++m) {
      const auto entries = l_.entries(m);
      const bool reads =
          std::any_of(entries.begin(), entries.end(),
                      [](const CycleLines::Entry& e) { return leaves_begin(e.kind); });
      if (reads) out.push_back(m);
    }
    return out;
  }

  // Whether a path of a cycle of `kind` may go on by `entry`; `first`: whether that is its first
  // edge.
  [[nodiscard]] bool may_leave(const CycleLines::Entry& entry, std::uint32_t state, bool first,
                               CycleKind kind) const {
    if (!is_of_kind(entry.kind, kind)) return false;
    if (!has_rw(kind)) return true;
    const bool from_begin = leaves_begin(entry.kind);
    if (first) return from_begin;
    if (!from_begin || kind == CycleKind::Any) return true;
    return kind == CycleKind::Nonadjacent && state % 2 == 0;
  }

  void search(std::uint32_t start, CycleKind kind) {
    ++round_;
    queue_.assign(1, 2 * start);
    via_[2 * start] = {};
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const std::uint32_t state = queue_[next];
      const bool first = next == 0;
      const std::size_t length = first ? 0 : via_[state].length;
      if ((!best_.empty() && length + 1 >= best_.size()) || ticker_.tick()) return;
      for (const CycleLines::Entry& entry : l_.entries(state / 2)) {
        ++steps_;
        if (may_leave(entry, state, first, kind) && ride(start, state, first, entry, kind)) return;
      }
    }
  }

  // Gets on at an entry and off at every station of a state that was not reached before. Returns
  // whether that closed a cycle.
  bool ride(std::uint32_t start, std::uint32_t state, bool first, const CycleLines::Entry& entry,
            CycleKind kind) {
    const std::size_t length = (first ? 0 : via_[state].length) + 1;
    const std::uint32_t bit = entry.to_commit && has_rw(kind) ? 1 : 0;
    for (std::uint32_t s = entry.station;; ++s) {
      const std::uint32_t member = l_.stations()[s].member;
      if (member == state / 2) {  // No edge to itself.
        if (l_.stations()[s].last) return false;
        continue;
      }
      if (passed_[2 * s + bit] == round_) return false;
      passed_[2 * s + bit] = round_;
      ++steps_;
      const Via via{state, &entry, s, length};
      if (member == start && (bit == 0 || kind == CycleKind::Any)) {
        keep(via);
        return true;
      }
      const std::uint32_t to = 2 * member + bit;
      if (member != start && seen_[to] != round_) {
        seen_[to] = round_;
        via_[to] = via;
        queue_.push_back(to);
      }
      if (l_.stations()[s].last) return false;
    }
  }

  // Keeps the cycle that `last` closed as the best one.
  void keep(Via last) {
    best_.clear();
    for (; last.entry != nullptr; last = via_[last.state]) {
      best_.push_back(l_.edge(*last.entry, last.station));
    }
    std::reverse(best_.begin(), best_.end());
  }

  const CycleLines& l_;
  BudgetTicker ticker_;
  std::uint32_t round_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> seen_;  // By state: the last round that came there.
  // The same by station: twice that, plus the bit of the state.
  std::vector<std::uint32_t> passed_;
  std::vector<Via> via_;  // By state.
  std::vector<std::uint32_t> queue_;
  std::vector<Edge> best_;
};

}  // namespace

CycleKind kind_of(std::span<const Edge> cycle) {
  std::size_t reads_from = 0;
  std::size_t overwritten = 0;
  bool in_a_row = false;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[i].kind == EdgeKind::WriteRead) ++reads_from;
    if (!leaves_begin(cycle[i].kind)) continue;
    ++overwritten;
    in_a_row |= leaves_begin(cycle[(i + 1) % cycle.size()].kind);
  }
  if (overwritten == 0) return reads_from == 0 ? CycleKind::Overwrites : CycleKind::Flow;
  if (overwritten == 1) return CycleKind::Single;
  return in_a_row ? CycleKind::Any : CycleKind::Nonadjacent;
}

bool has_complete_orders(const History& history) {
  const bool stated = !history.version_orders().empty();
  if (!stated && columns_of(history).commit_ts.empty()) return false;
  std::vector<bool> ordered(history.key_count(), !stated);
  for (const VersionOrder& order : history.version_orders()) {
    if (!order.complete || ordered[order.key.index()]) return false;
    ordered[order.key.index()] = true;
  }
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(TxnId{t}) == TxnStatus::Aborted) continue;
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      const Op op = history.op(id);
      if (is_append(op.kind)) return false;
      if (is_write(op.kind) && !ordered[op.key.index()]) return false;
    }
  }
  return true;
}

std::vector<Edge> worst_cycle(const Observed& observed, Level level, std::int64_t clock_drift,
                              std::span<const TxnId> component, const Budget& budget) {
  const LevelRules& level_rules = rules(level);
  const CycleLines lines(observed, level_rules, clock_drift, component);
  if (!lines.complete()) return {};
  CycleSearch search(lines, budget);
  constexpr std::array kKinds{CycleKind::Overwrites, CycleKind::Flow, CycleKind::Single,
                              CycleKind::Nonadjacent, CycleKind::Any};
  for (const CycleKind kind : kKinds) {
    if (has_rw(kind) && !level_rules.rw_orders()) break;
    if (kind == CycleKind::Any && level_rules.begins_apart()) break;
    if (auto cycle = search.run(kind); !cycle.empty()) return cycle;
  }
  return {};
}

}  // namespace ouro
