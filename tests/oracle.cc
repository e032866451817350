#include "tests/oracle.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tests/engine_levels.h"
#include "tests/observed.h"
#include "tests/relation.h"
#include "tests/stated_orders.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

using VersionOrders = std::map<KeyId, Order>;  // The initial version is left out: it is first.

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

// The relations that do not depend on commit or version orders.
struct Known {
  Relation so;
  Relation wr;
  Relation rt;
  // By begins that were answered and commits that were asked for: commit before commit, and begin
  // before commit.
  Relation commit_rt;
  Relation begin_rt;
};

Known known_relations(const History& history, const Observed& seen, const OracleOptions& options) {
  const std::size_t n = seen.txns.size();
  Known known{Relation(n), Relation(n), Relation(n), Relation(n), Relation(n)};
  for (std::size_t to = 1; to < n; ++to) {
    known.so.add(0, to);
    for (const ExternalRead& read : seen.txns[to].reads) known.wr.add(read.from, to);
    for (std::size_t from = 1; from < n; ++from) {
      if (from == to) continue;
      const TxnId a = seen.txns[from].id;
      const TxnId b = seen.txns[to].id;
      if (history.session(a) == history.session(b)) {
        const auto session = history.session_txns(history.session(a));
        const auto place_a = std::find(session.begin(), session.end(), a);
        const auto place_b = std::find(session.begin(), session.end(), b);
        if (place_a < place_b) known.so.add(from, to);
      }
      const std::int64_t drift = options.clock_drift;
      if (precedes_in_time(history, a, b, drift)) known.rt.add(from, to);
      if (commits_first_in_time(history, a, b, drift)) known.commit_rt.add(from, to);
      if (begins_first_in_time(history, a, b, drift)) known.begin_rt.add(from, to);
    }
  }
  return known;
}

// Whether every read of the list `key` is what the appends amount to in version order.
bool explains_list_reads(const Observed& seen, KeyId key, const Order& order) {
  for (const ListRead& read : seen.list_reads) {
    if (read.key != key) continue;
    std::vector<Value> list;
    for (const std::size_t writer : order) {
      const std::vector<Value>& appended = seen.txns[writer].writes.at(key);
      if (read.own > 0 && writer == read.reader) {
        list.insert(list.end(), appended.begin(),
                    appended.begin() + static_cast<std::ptrdiff_t>(read.own));
        break;
      }
      if (read.own == 0 && list.size() >= read.elements.size()) break;
      list.insert(list.end(), appended.begin(), appended.end());
    }
    if (list != read.elements) return false;
  }
  return true;
}

// ---- version orders ----

// The version orders that every order of transactions must agree with; nothing if none can.
std::optional<std::vector<Stated>> orders_to_keep(const History& history, const Observed& seen,
                                                  const OracleOptions& options) {
  if (options.evidence != Evidence::Versions) return std::vector<Stated>();
  return stated_orders(history, seen);
}

bool agree(const std::vector<Stated>& stated, const VersionOrders& orders) {
  return std::all_of(stated.begin(), stated.end(), [&](const Stated& s) {
    return std::is_sorted(s.writers.begin(), s.writers.end(), [&](std::size_t a, std::size_t b) {
      const Order& order = orders.at(s.key);
      return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
    });
  });
}

VersionOrders version_orders(const Observed& seen, const Order& commit_order) {
  VersionOrders orders;
  for (const std::size_t txn : commit_order) {
    for (const auto& [key, values] : seen.txns[txn].writes) orders[key].push_back(txn);
  }
  return orders;
}

bool explains_list_reads(const Observed& seen, const VersionOrders& orders) {
  return std::all_of(orders.begin(), orders.end(), [&seen](const auto& entry) {
    return explains_list_reads(seen, entry.first, entry.second);
  });
}

// ---- levels defined by commit orders ----

// Biswas and Enea: whenever T3 reads x from T1, and T2, another writer of x, stands in `premise`
// to T3, then T2 precedes T1.
bool satisfies_axiom(const Observed& seen, const Relation& premise, const Relation& co) {
  for (std::size_t t3 = 1; t3 < seen.txns.size(); ++t3) {
    for (const ExternalRead& read : seen.txns[t3].reads) {
      for (std::size_t t2 = 0; t2 < seen.txns.size(); ++t2) {
        if (t2 == read.from || !seen.writes(t2, read.key) || !premise.has(t2, t3)) continue;
        if (!co.has(t2, read.from)) return false;
      }
    }
  }
  return true;
}

// The same for rc, whose premise is about single reads: an earlier one read from T2.
bool satisfies_read_committed(const Observed& seen, const Relation& co) {
  for (const CountedTxn& t3 : seen.txns) {
    for (auto read = t3.reads.begin(); read != t3.reads.end(); ++read) {
      for (auto earlier = t3.reads.begin(); earlier->op < read->op; ++earlier) {
        const std::size_t t2 = earlier->from;
        if (t2 == read->from || !seen.writes(t2, read->key)) continue;
        if (!co.has(t2, read->from)) return false;
      }
    }
  }
  return true;
}

// Whether predicate reads agree with a commit order; true if there are none.
struct PredicateAnswer {
  bool fits = true;    // They saw what they may, returned what follows, and come after that.
  bool prefix = true;  // Their snapshots are prefixes of the order.
};
PredicateAnswer ask_predicates(const History& history, const Observed& seen, const Known& known,
                               const VersionOrders& orders, const Relation& co);

// Whether a predicate read that says what it saw missed a change, and `knows` says that its
// transaction knew of somebody who wrote that or a later version of the key.
using Knows = std::function<bool(std::size_t txn, const SeenPredicate& predicate)>;
bool missed_by_predicates(const History& history, const Observed& seen, const VersionOrders& orders,
                          const Knows& knows);

// REQUIRES: `order` starts with the initial transaction and contains so ∪ wr.
void add_levels_of_commit_order(const History& history, const Observed& seen, const Known& known,
                                const std::vector<Stated>& stated, const Order& order,
                                LevelSet& levels) {
  const VersionOrders versions = version_orders(seen, order);
  if (!explains_list_reads(seen, versions) || !agree(stated, versions)) return;
  Relation co(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) co.add(order[i], order[j]);
  }
  const PredicateAnswer predicates = ask_predicates(history, seen, known, versions, co);
  if (!predicates.fits) return;
  const Relation direct = known.so | known.wr;
  const Relation past = direct.closure();
  const auto missed = [&](const Knows& knows) {
    return missed_by_predicates(history, seen, versions, knows);
  };
  const auto read_before = [&](std::size_t txn, const SeenPredicate& predicate) {
    const auto& reads = seen.txns[predicate.reader].reads;
    return std::any_of(reads.begin(), reads.end(), [&](const ExternalRead& read) {
      return read.op < predicate.op && read.from == txn;
    });
  };
  const auto in = [](const Relation& relation) {
    return [&relation](std::size_t txn, const SeenPredicate& predicate) {
      return relation.has(txn, predicate.reader);
    };
  };
  if (satisfies_read_committed(seen, co) && !missed(read_before)) levels.add(Level::ReadCommitted);
  if (satisfies_axiom(seen, direct, co) && !missed(in(direct))) levels.add(Level::ReadAtomic);
  if (satisfies_axiom(seen, past, co) && !missed(in(past))) levels.add(Level::Causal);
  if (predicates.prefix && satisfies_axiom(seen, co.optional() * direct, co)) {
    levels.add(Level::Prefix);
  }
}

// Every order of all transactions that contains `before`, the initial one first; `visit` says
// whether to go on.
bool for_each_extension(const Relation& before, Order& placed,
                        const std::function<bool(const Order&)>& visit) {
  const std::size_t n = before.size();
  if (placed.size() == n) return visit(placed);
  const auto is_placed = [&placed](std::size_t txn) {
    return std::find(placed.begin(), placed.end(), txn) != placed.end();
  };
  for (std::size_t next = 1; next < n; ++next) {
    bool ready = !is_placed(next);
    for (std::size_t txn = 0; ready && txn < n; ++txn) {
      ready = !before.has(txn, next) || is_placed(txn);
    }
    if (!ready) continue;
    placed.push_back(next);
    const bool go_on = for_each_extension(before, placed, visit);
    placed.pop_back();
    if (!go_on) return false;
  }
  return true;
}

void add_levels_of_all_commit_orders(const History& history, const Observed& seen,
                                     const Known& known, const std::vector<Stated>& stated,
                                     LevelSet& levels) {
  Order placed{0};
  for_each_extension(known.so | known.wr, placed, [&](const Order& order) {
    add_levels_of_commit_order(history, seen, known, stated, order, levels);
    return !levels.has(Level::ReadCommitted) || !levels.has(Level::ReadAtomic) ||
           !levels.has(Level::Causal) || !levels.has(Level::Prefix);
  });
}

// ---- levels defined by version orders ----

struct Relations {
  Known known;
  Relation ww;
  Relation rw;
  Relation phantom_rw;  // Of predicates, and of what scans did not find.
};

// ---- predicates (Adya) ----

struct RowVersion {
  std::size_t writer = 0;
  Value value;
  bool alive = false;
};

// The versions of a key as `orders` have them, the initial one first.
std::vector<RowVersion> row_versions(const History& history, const Observed& seen,
                                     const VersionOrders& orders, KeyId key) {
  const Value initial = history.initial(key);
  std::vector<RowVersion> out{{0, initial, !initial.is_null()}};
  const auto order = orders.find(key);
  if (order == orders.end()) return out;
  for (const std::size_t writer : order->second) {
    const TxnId txn = seen.txns[writer].id;
    RowVersion version{writer, {}, false};
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      if (!is_write(op.kind) || op.key != key) continue;
      version.value = op.value;
      version.alive = op.kind != OpKind::Delete && !op.value.is_null();
    }
    out.push_back(version);
  }
  return out;
}

// The moment at which a transaction begins or commits by its timestamps. At equal ones come first
// commits of transactions that began before, then those that begin and commit at once (writers
// first), then begins.
std::tuple<Timestamp, int, TxnId> moment(const History& history, const Observed& seen, TxnId txn,
                                         bool commits) {
  const auto start = history.start_ts(txn);
  const Timestamp commit = history.commit_ts(txn) ? *history.commit_ts(txn) : *start;
  if (!seen.snapshots_at_commit && !(start && *start >= commit)) {
    return commits ? std::tuple(commit, 0, TxnId{0}) : std::tuple(*start, 3, TxnId{0});
  }
  bool writes = false;
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    writes |= is_write(history.op(id).kind);
  }
  return writes ? std::tuple(commit, 1, txn) : std::tuple(commit, 2, TxnId{0});
}

// Whether the history does not say what the read saw.
bool is_unplaced(const History& history, const Observed& seen, const SeenPredicate& predicate) {
  return !history.predicate_read(predicate.op).has_version_set &&
         !history.start_ts(seen.txns[predicate.reader].id).has_value();
}

// Which version of `key` the read saw; nothing if the set has none of them, or several could be.
std::optional<std::size_t> seen_version(const History& history, const Observed& seen,
                                        const SeenPredicate& predicate, KeyId key,
                                        const std::vector<RowVersion>& versions) {
  const PredicateRead& read = history.predicate_read(predicate.op);
  std::vector<std::size_t> possible;
  if (read.has_version_set) {
    Value value;
    for (const KeyVersion& member : history.version_set(read)) {
      if (member.key == key) value = member.value;
    }
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (versions[i].value == value) possible.push_back(i);
    }
  } else if (is_unplaced(history, seen, predicate)) {
    const auto chosen = seen.chosen.find({predicate.op, key});
    if (chosen != seen.chosen.end()) possible.push_back(chosen->second);
  } else {
    std::size_t last = 0;
    const auto begins = moment(history, seen, seen.txns[predicate.reader].id, false);
    for (std::size_t i = 1; i < versions.size(); ++i) {
      if (moment(history, seen, seen.txns[versions[i].writer].id, true) < begins) last = i;
    }
    possible.push_back(last);
  }
  if (possible.size() != 1) return std::nullopt;
  return possible[0];
}

bool matches(const History& history, const SeenPredicate& predicate, KeyId key,
             const RowVersion& version) {
  const PredicateId condition = history.predicate_read(predicate.op).predicate;
  return version.alive && truth_of(history, condition, key, version.value) == true;
}

// What a version tells the read: nothing; that there is a row; or a value to be aggregated.
std::string told(const History& history, const SeenPredicate& predicate, KeyId key,
                 const RowVersion& version) {
  if (!matches(history, predicate, key, version)) return "";
  const PredicateRead& read = history.predicate_read(predicate.op);
  if (!read.column.valid()) return "row";
  const Value cell = history.cell(version.value, read.column);
  if (cell.is_null()) return "";
  return read.aggregate == AggregateKind::Count ? "row" : history.text(cell);
}

// Lists are no rows.
bool is_list(const History& history, KeyId key) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.key == key && (op.kind == OpKind::Append || op.value.is_list())) return true;
  }
  return false;
}

// A version that changes the matches, or what goes into an aggregate, makes the read follow its
// writer, if the read saw it or a later one, and precede it otherwise.
void add_predicate(const History& history, const Observed& seen, const VersionOrders& orders,
                   const SeenPredicate& predicate, Relations& out) {
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    const KeyId key{k};
    if (predicate.own.contains(key) || is_list(history, key)) continue;
    const auto versions = row_versions(history, seen, orders, key);
    const bool never = std::all_of(versions.begin(), versions.end(), [&](const auto& version) {
      return told(history, predicate, key, version).empty();
    });
    if (never) continue;
    const auto last = seen_version(history, seen, predicate, key, versions);
    for (std::size_t i = 1; last && i < versions.size(); ++i) {
      // Nobody sees what is behind his own later write.
      const bool changes = versions[i - 1].writer == predicate.reader ||
                           told(history, predicate, key, versions[i]) !=
                               told(history, predicate, key, versions[i - 1]);
      if (!changes || versions[i].writer == predicate.reader) continue;
      if (i <= *last) {
        out.known.wr.add(versions[i].writer, predicate.reader);
      } else {
        out.phantom_rw.add(predicate.reader, versions[i].writer);
      }
    }
  }
}

bool missed_by_predicates(const History& history, const Observed& seen, const VersionOrders& orders,
                          const Knows& knows) {
  for (const SeenPredicate& predicate : seen.predicates) {
    if (is_unplaced(history, seen, predicate)) continue;
    for (std::size_t k = 0; k < history.key_count(); ++k) {
      const KeyId key{k};
      if (predicate.own.contains(key) || is_list(history, key)) continue;
      const auto versions = row_versions(history, seen, orders, key);
      const auto last = seen_version(history, seen, predicate, key, versions);
      bool changed = false;
      for (std::size_t i = last ? *last + 1 : versions.size(); i < versions.size(); ++i) {
        changed = changed || told(history, predicate, key, versions[i]) !=
                                 told(history, predicate, key, versions[i - 1]);
        const std::size_t writer = versions[i].writer;
        if (changed && writer != predicate.reader && knows(writer, predicate)) return true;
      }
    }
  }
  return false;
}

bool is_listed(const History& history, const PredicateRead& read, KeyId key) {
  const auto set = history.version_set(read);
  return std::any_of(set.begin(), set.end(), [&](const KeyVersion& v) { return v.key == key; });
}

// Whether a predicate read saw only what it may, and returned what follows from it.
bool fits(const History& history, const Observed& seen, const VersionOrders& orders,
          const SeenPredicate& predicate) {
  const Op op = history.op(predicate.op);
  const PredicateRead& read = history.predicate_read(op.id);
  std::set<KeyVersion> expected;
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    const KeyId key{k};
    if (is_list(history, key)) continue;
    const auto versions = row_versions(history, seen, orders, key);
    RowVersion version;
    if (const auto own = predicate.own.find(key); own != predicate.own.end()) {
      version = {0, own->second.value,
                 own->second.kind == OpKind::Write && !own->second.value.is_null()};
    } else {
      const bool matters = std::any_of(versions.begin(), versions.end(), [&](const auto& v) {
        return !told(history, predicate, key, v).empty();
      });
      const auto last = seen_version(history, seen, predicate, key, versions);
      if (!last && !matters && !is_listed(history, read, key)) continue;
      if (!last || versions[*last].writer == predicate.reader) return false;
      version = versions[*last];
    }
    if (matches(history, predicate, key, version)) expected.insert({key, version.value});
  }
  if (op.kind == OpKind::Aggregate) {
    return is_aggregate(history, read, {expected.begin(), expected.end()});
  }
  const auto rows = history.rows(read);
  return std::set<KeyVersion>(rows.begin(), rows.end()) == expected;
}

bool predicates_fit(const History& history, const Observed& seen, const VersionOrders& orders) {
  return std::all_of(seen.predicates.begin(), seen.predicates.end(),
                     [&](const auto& predicate) { return fits(history, seen, orders, predicate); });
}

// What one read may have seen: one version of each key, which together give what it returned. Of
// versions in a row that tell it the same, the first stands for all.
using Chosen = std::map<std::pair<OpId, KeyId>, std::size_t>;
std::vector<Chosen> choices_of(const History& history, const Observed& seen,
                               const VersionOrders& orders, const SeenPredicate& predicate) {
  std::vector<Chosen> all{{}};
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    const KeyId key{k};
    if (predicate.own.contains(key) || is_list(history, key)) continue;
    const auto versions = row_versions(history, seen, orders, key);
    std::vector<Chosen> longer;
    for (const Chosen& chosen : all) {
      for (std::size_t i = 0; i < versions.size(); ++i) {
        const std::string word = told(history, predicate, key, versions[i]);
        const bool again = i > 0 && word == told(history, predicate, key, versions[i - 1]) &&
                           versions[i - 1].writer != predicate.reader;
        // A select tells rows apart.
        const bool row = history.op(predicate.op).kind == OpKind::Select && !word.empty();
        if ((again && !row) || versions[i].writer == predicate.reader) continue;
        longer.push_back(chosen);
        longer.back()[{predicate.op, key}] = i;
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Chosen& chosen) {
    Observed so = seen;
    so.chosen = chosen;
    return !fits(history, so, orders, predicate);
  });
  return all;
}

// Calls `visit` with everything that reads may have seen of which the history does not say it,
// until it returns true. Whether it did.
bool any_choice(const History& history, const Observed& seen, const VersionOrders& orders,
                const std::function<bool(const Observed&)>& visit) {
  std::vector<std::vector<Chosen>> all;
  for (const SeenPredicate& predicate : seen.predicates) {
    if (!is_unplaced(history, seen, predicate)) continue;
    all.push_back(choices_of(history, seen, orders, predicate));
    if (all.back().empty()) return false;
  }
  std::vector<std::size_t> next(all.size(), 0);
  for (;;) {
    Observed so = seen;
    for (std::size_t i = 0; i < all.size(); ++i) so.chosen.merge(Chosen(all[i][next[i]]));
    if (visit(so)) return true;
    std::size_t i = 0;
    while (i < all.size() && ++next[i] == all[i].size()) next[i++] = 0;
    if (i == all.size()) return false;
  }
}

Relations relations(const History& history, const Observed& seen, const Known& known,
                    const VersionOrders& orders) {
  const Relation none(seen.txns.size());
  Relations out{known, none, none, none};
  for (const auto& [key, order] : orders) {
    for (auto writer = order.begin(); writer != order.end(); ++writer) {
      out.ww.add(0, *writer);
      for (auto later = writer + 1; later != order.end(); ++later) out.ww.add(*writer, *later);
    }
  }
  for (std::size_t reader = 1; reader < seen.txns.size(); ++reader) {
    for (const ExternalRead& read : seen.txns[reader].reads) {
      const auto order = orders.find(read.key);
      if (order == orders.end()) continue;
      auto next = order->second.begin();
      if (read.from != 0) next = std::find(next, order->second.end(), read.from) + 1;
      for (; next != order->second.end(); ++next) {
        if (*next != reader) (read.absence ? out.phantom_rw : out.rw).add(reader, *next);
      }
    }
  }
  for (const SeenPredicate& predicate : seen.predicates) {
    add_predicate(history, seen, orders, predicate, out);
  }
  return out;
}

std::size_t begin_node(std::size_t txn) { return 2 * txn; }
std::size_t commit_node(std::size_t txn) { return 2 * txn + 1; }

// The graph of docs/levels.md, "In begins and commits": `see` are the edges that make a transaction
// visible to another, `commit_before` those that only order commits.
Relation begin_commit_graph(const Relation& see, const Relation& commit_before,
                            const Relation& rw) {
  const std::size_t n = rw.size();
  Relation graph(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    graph.add(begin_node(i), commit_node(i));
    for (std::size_t j = 0; j < n; ++j) {
      if (see.has(i, j)) graph.add(commit_node(i), begin_node(j));
      if (commit_before.has(i, j)) graph.add(commit_node(i), commit_node(j));
      if (rw.has(i, j)) graph.add(begin_node(i), commit_node(j));
    }
  }
  return graph;
}

PredicateAnswer ask_predicates(const History& history, const Observed& seen, const Known& known,
                               const VersionOrders& orders, const Relation& co) {
  PredicateAnswer answer;
  if (seen.predicates.empty()) return answer;
  answer = {false, false};
  any_choice(history, seen, orders, [&](const Observed& so) {
    const Relations r = relations(history, so, known, orders);
    if (!predicates_fit(history, so, orders) || !(r.known.wr | co).acyclic()) return false;
    answer.fits = true;
    answer.prefix = answer.prefix ||
                    begin_commit_graph(r.known.wr | r.known.so, co, r.rw | r.phantom_rw).acyclic();
    return answer.prefix;
  });
  return answer;
}

// The begin/commit graph of a level of the SI family.
Relation begin_commit_graph(const Relations& r, Level level) {
  const Relation none(r.ww.size());
  const Relation see = r.known.wr | r.ww;
  const Relation rw = r.rw | r.phantom_rw;
  switch (level) {
    case Level::SessionSi:
      return begin_commit_graph(see | r.known.so, none, rw);
    case Level::Gsi:
      return begin_commit_graph(see, r.known.commit_rt, rw | r.known.begin_rt);
    case Level::PrefixConsistentSi:
      return begin_commit_graph(see | r.known.so, r.known.commit_rt, rw | r.known.begin_rt);
    case Level::StrongSi:
      return begin_commit_graph(see | r.known.so | r.known.rt, r.known.commit_rt,
                                rw | r.known.begin_rt);
    default:
      return begin_commit_graph(see, none, rw);
  }
}

// What must be acyclic for a level of the serializable family.
Relation transaction_graph(const Relations& r, Level level) {
  const Relation dependencies = r.known.wr | r.ww | r.rw | r.phantom_rw;
  switch (level) {
    case Level::RepeatableRead:
      return r.known.wr | r.ww | r.rw;
    case Level::SessionSerializable:
      return dependencies | r.known.so;
    case Level::StrictSerializable:
      return dependencies | r.known.so | r.known.rt;
    default:
      return dependencies;
  }
}

bool satisfies(const Relations& r, Level level) {
  const Relation see = r.known.wr | r.ww;
  const Relation rw = r.rw | r.phantom_rw;
  switch (level) {
    case Level::ParallelSi:
      return ((see | r.known.so).closure() * rw.optional()).irreflexive();
    case Level::Si: {
      const bool holds = (see * rw.optional()).acyclic();
      require(holds == begin_commit_graph(r, level).acyclic(), "two definitions of si disagree");
      return holds;
    }
    case Level::SessionSi: {
      const bool holds = ((see | r.known.so) * rw.optional()).acyclic();
      require(holds == begin_commit_graph(r, level).acyclic(),
              "two definitions of session-si disagree");
      return holds;
    }
    case Level::Gsi:
    case Level::PrefixConsistentSi:
    case Level::StrongSi:
      return begin_commit_graph(r, level).acyclic();
    default:
      return transaction_graph(r, level).acyclic();
  }
}

constexpr Level kVersionOrderLevels[] = {Level::ParallelSi,          Level::Si,
                                         Level::SessionSi,           Level::Gsi,
                                         Level::PrefixConsistentSi,  Level::StrongSi,
                                         Level::RepeatableRead,      Level::Serializable,
                                         Level::SessionSerializable, Level::StrictSerializable};

bool is_version_order_level(Level level) {
  return std::find(std::begin(kVersionOrderLevels), std::end(kVersionOrderLevels), level) !=
         std::end(kVersionOrderLevels);
}

// Steps to the next combination of one permutation per key; false after the last.
bool next_combination(VersionOrders& orders) {
  for (auto& [key, order] : orders) {
    if (std::next_permutation(order.begin(), order.end())) return true;
  }
  return false;
}

void add_levels_of_all_version_orders(const History& history, const Observed& seen,
                                      const Known& known, const std::vector<Stated>& stated,
                                      LevelSet& levels) {
  Order all(seen.txns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  VersionOrders orders = version_orders(seen, all);  // Sorted: the first permutation of each.
  std::size_t open = std::size(kVersionOrderLevels);
  do {
    if (!explains_list_reads(seen, orders) || !agree(stated, orders)) continue;
    any_choice(history, seen, orders, [&](const Observed& so) {
      if (!predicates_fit(history, so, orders)) return false;
      const Relations r = relations(history, so, known, orders);
      for (const Level level : kVersionOrderLevels) {
        if (levels.has(level) || !satisfies(r, level)) continue;
        levels.add(level);
        --open;
      }
      return open == 0;
    });
  } while (open > 0 && next_combination(orders));
}

// ---- certificates ----

// `order` as transactions of `seen`, behind the initial one; empty if it does not have each once.
Order counted_order(const Observed& seen, std::span<const TxnId> order) {
  Order out{0};
  for (const TxnId txn : order) {
    const auto found = std::find_if(seen.txns.begin() + 1, seen.txns.end(),
                                    [txn](const CountedTxn& counted) { return counted.id == txn; });
    if (found == seen.txns.end()) return {};
    out.push_back(static_cast<std::size_t>(found - seen.txns.begin()));
  }
  Order sorted = out;
  std::sort(sorted.begin(), sorted.end());
  const bool once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  return once && out.size() == seen.txns.size() ? out : Order{};
}

bool agrees(const Order& order, const Relation& relation) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (relation.has(order[i], order[j])) return false;
    }
  }
  return true;
}

bool version_orders_prove(const Relations& r, Level level, const Order& order) {
  if (!satisfies(r, level)) return false;
  if (level == Level::ParallelSi) return agrees(order, r.known.so | r.known.wr | r.ww);
  if (is_serial_level(level)) return agrees(order, transaction_graph(r, level));
  Relation graph = begin_commit_graph(r, level);
  for (std::size_t i = 1; i < order.size(); ++i) {
    graph.add(commit_node(order[i - 1]), commit_node(order[i]));
  }
  return graph.acyclic();
}

bool proves_as_seen(const History& history, const Observed& seen, Level level,
                    std::span<const TxnId> order, const OracleOptions& options) {
  const auto stated = orders_to_keep(history, seen, options);
  const Order counted = counted_order(seen, order);
  if (seen.always_wrong() || !stated || counted.empty()) return false;
  const Known known = known_relations(history, seen, options);
  const VersionOrders orders = version_orders(seen, counted);
  if (!explains_list_reads(seen, orders) || !agree(*stated, orders)) return false;
  if (is_version_order_level(level)) {
    return any_choice(history, seen, orders, [&](const Observed& so) {
      return predicates_fit(history, so, orders) &&
             version_orders_prove(relations(history, so, known, orders), level, counted);
    });
  }
  if (!agrees(counted, known.so | known.wr)) return false;
  LevelSet levels;
  add_levels_of_commit_order(history, seen, known, *stated, counted, levels);
  return levels.has(level);
}

// The levels that allow the history if failed compare-and-sets read what `sources` say.
LevelSet allowed_with(const History& history, const Sources& sources,
                      const OracleOptions& options) {
  Observed seen = observe(history, options.evidence, sources);
  const auto stated = orders_to_keep(history, seen, options);
  LevelSet levels;
  if (seen.always_wrong() || !stated) return levels;
  const Known known = known_relations(history, seen, options);
  for (const bool at_commit : {false, true}) {
    seen.snapshots_at_commit = at_commit;
    add_levels_of_all_commit_orders(history, seen, known, *stated, levels);
    add_levels_of_all_version_orders(history, seen, known, *stated, levels);
    if (seen.predicates.empty()) break;
  }
  if (seen.anomalies.contains(AnomalyKind::NonRepeatableRead)) {
    for (const LevelInfo& level : ouro::levels()) {
      // At repeatable-read it may be a phantom: one of the reads left the row out.
      const bool may = level.level == Level::ReadCommitted || level.level == Level::RepeatableRead;
      require(may || !levels.has(level.level),
              "a level above read-committed allows a non-repeatable read");
    }
  }
  return levels;
}

}  // namespace

LevelSet allowed_levels(const History& history, const OracleOptions& options) {
  LevelSet levels;
  any_sources(history, options.evidence, [&](const Sources& sources) {
    const LevelSet some = allowed_with(history, sources, options);
    bool all = true;
    for (const LevelInfo& level : ouro::levels()) {
      if (some.has(level.level)) levels.add(level.level);
      all = all && levels.has(level.level);
    }
    return all;
  });
  return levels;
}

bool allowed(const History& history, Level level, const OracleOptions& options) {
  return allowed_levels(history, options).has(level);
}

std::set<AnomalyKind> plain_anomalies(const History& history) { return observe(history).anomalies; }

bool order_proves(const History& history, Level level, std::span<const TxnId> order,
                  const OracleOptions& options) {
  return any_sources(history, options.evidence, [&](const Sources& sources) {
    Observed seen = observe(history, options.evidence, sources);
    const auto proves = [&](bool at_commit) {
      seen.snapshots_at_commit = at_commit;
      return proves_as_seen(history, seen, level, order, options);
    };
    return proves(false) || proves(true);
  });
}

}  // namespace ouro::oracle
