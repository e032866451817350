#include "workload/level_conditions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ouro::workload {
namespace {

using Bits = std::bitset<kMostTxns>;

Relation empty_relation(std::size_t size) { return Relation(size); }

// For each value of a key: which transaction wrote it, and which version it is.
struct Catalogue {
  explicit Catalogue(const History& observed) : history(observed) {
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      const TxnId txn{t};
      for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
        const Op op = history.op(id);
        if (!is_write(op.kind)) continue;
        EXPECT_TRUE(writer.emplace(std::pair{op.key, op.value}, txn).second)
            << "value written twice";
        last[{txn, op.key}] = op.value;
      }
    }
    for (const VersionOrder& order : history.version_orders()) {
      EXPECT_TRUE(order.complete);
      int position = 0;
      for (const Value value : history.versions(order)) version[{order.key, value}] = ++position;
    }
  }

  // The value that identifies the version that a read returned: of a list, its last element.
  [[nodiscard]] Value identity(Value value) const {
    if (!value.is_list()) return value;
    const auto elements = history.list(value);
    return elements.empty() ? Value::null() : elements.back();
  }
  // The number of the version, from 1; 0 for the initial one, -1 if it never became a version.
  [[nodiscard]] int position(KeyId key, Value value) const {
    if (value.is_null()) return 0;
    const auto at = version.find({key, value});
    return at == version.end() ? -1 : at->second;
  }

  const History& history;
  std::map<std::pair<KeyId, Value>, TxnId> writer;
  std::map<std::pair<TxnId, KeyId>, Value> last;  // The last value that a transaction wrote to it.
  std::map<std::pair<KeyId, Value>, int> version;
};

// Which transactions count: committed ones, and unknown ones that a transaction which counts read
// from.
std::vector<bool> counted(const History& history, const Catalogue& catalogue) {
  std::vector<bool> counts(history.txn_count());
  for (std::size_t t = 0; t < counts.size(); ++t) {
    counts[t] = history.status(TxnId{t}) == TxnStatus::Committed;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t t = 0; t < counts.size(); ++t) {
      if (!counts[t]) continue;
      const TxnId txn{t};
      for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
        const Op op = history.op(id);
        if (op.kind != OpKind::Read) continue;
        const auto at = catalogue.writer.find({op.key, catalogue.identity(op.value)});
        if (at == catalogue.writer.end() || counts[at->second.index()]) continue;
        if (history.status(at->second) != TxnStatus::Unknown) continue;
        counts[at->second.index()] = true;
        changed = true;
      }
    }
  }
  return counts;
}

// Reads the operations of one transaction and reports what is wrong with its reads.
class TxnReader {
 public:
  TxnReader(const Catalogue& catalogue, const std::vector<bool>& counts, TxnId txn, Facts& facts)
      : catalogue_(catalogue), counts_(counts), txn_(txn), facts_(facts) {}

  void read_ops(const std::vector<int>& index_of, int self) {
    const History& history = catalogue_.history;
    for (OpId id = history.first_op(txn_); id < history.end_op(txn_); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      if (is_write(op.kind)) {
        own_[op.key].push_back(op.value);
        continue;
      }
      if (op.value.is_list()) check_list(op);
      const Value value = catalogue_.identity(op.value);
      if (const auto own = own_.find(op.key); own != own_.end()) {
        if (own->second.back() != value) wrong("internal");
        continue;
      }
      const auto [first, added] = first_read_.try_emplace(op.key, value);
      if (!added && first->second != value) wrong("non-repeatable");
      external(op.key, value, index_of, self);
    }
  }

 private:
  void wrong(const char* what) { facts_.wrong.emplace_back(what); }

  void external(KeyId key, Value value, const std::vector<int>& index_of, int self) {
    int writer = kInitialWriter;
    if (!value.is_null()) {
      const auto at = catalogue_.writer.find({key, value});
      if (at == catalogue_.writer.end()) return wrong("thin-air");
      if (at->second == txn_) return wrong("future");
      if (!counts_[at->second.index()]) return wrong("aborted");
      if (catalogue_.last.at({at->second, key}) != value) return wrong("intermediate");
      writer = index_of[at->second.index()];
    }
    facts_.reads.push_back({self, key, writer, value});
  }

  // A list must be a beginning of the true list, followed by what the transaction itself appended.
  void check_list(const Op& op) {
    const auto elements = catalogue_.history.list(op.value);
    if (std::set<Value>(elements.begin(), elements.end()).size() != elements.size()) {
      return wrong("duplicate");
    }
    int expected = 0;
    bool fits = true;
    for (const Value element : elements) {
      const int position = catalogue_.position(op.key, element);
      if (position > 0 && position != ++expected) fits = false;
    }
    if (!fits) wrong("incompatible");
  }

  const Catalogue& catalogue_;
  const std::vector<bool>& counts_;
  TxnId txn_;
  Facts& facts_;
  std::map<KeyId, std::vector<Value>> own_;
  std::map<KeyId, Value> first_read_;
};

// T3 reads x from T1, and T2 writes x. The rules of the weak levels say when T2 must have committed
// before T1.
struct Triple {
  int t1 = 0;
  int t2 = 0;
  int t3 = 0;
  std::size_t read = 0;  // The read of x by T3, as an index into Facts::reads.
};

std::vector<Triple> triples(const Facts& facts) {
  std::vector<Triple> result;
  for (std::size_t r = 0; r < facts.reads.size(); ++r) {
    const ExternalRead& read = facts.reads[r];
    for (int t2 = 0; t2 < static_cast<int>(facts.txns.size()); ++t2) {
      if (t2 == read.writer || t2 == read.reader || !facts.writes(t2, read.key)) continue;
      result.push_back({read.writer, t2, read.reader, r});
    }
  }
  return result;
}

// Whether T3 read from T2 before it read x from T1.
bool read_earlier(const Facts& facts, const Triple& triple) {
  for (std::size_t r = 0; r < triple.read; ++r) {
    const ExternalRead& earlier = facts.reads[r];
    if (earlier.reader == triple.t3 && earlier.writer == triple.t2) return true;
  }
  return false;
}

// Whether T2 must commit before T1 by the rule of `level`. `causal` is the closure of so and wr.
bool premise(const Facts& facts, Level level, const Relation& causal, const Triple& triple) {
  const auto t2 = static_cast<std::size_t>(triple.t2);
  const auto t3 = static_cast<std::size_t>(triple.t3);
  switch (level) {
    case Level::ReadCommitted:
      return read_earlier(facts, triple);
    case Level::ReadAtomic:
      return facts.so[t2][t3] || facts.wr[t2][t3];
    case Level::Causal:
      return causal[t2][t3];
    default:
      break;
  }
  for (std::size_t t4 = 0; t4 < facts.txns.size(); ++t4) {  // Prefix.
    if ((facts.so[t4][t3] || facts.wr[t4][t3]) && facts.commit[t2] <= facts.commit[t4]) return true;
  }
  return false;
}

bool weak_holds(const Facts& facts, Level level) {
  for (std::size_t a = 0; a < facts.txns.size(); ++a) {
    for (std::size_t b = 0; b < facts.txns.size(); ++b) {
      if ((facts.so[a][b] || facts.wr[a][b]) && facts.commit[a] >= facts.commit[b]) return false;
    }
  }
  const Relation causal = closure(join(facts.so, facts.wr));
  const std::vector<Triple> all = triples(facts);
  return std::none_of(all.begin(), all.end(), [&](const Triple& triple) {
    if (!premise(facts, level, causal, triple)) return false;
    return triple.t1 == kInitialWriter || facts.commit[static_cast<std::size_t>(triple.t2)] >=
                                              facts.commit[static_cast<std::size_t>(triple.t1)];
  });
}

// The graph of begins and commits (docs/levels.md): node 2t is the begin of t, 2t + 1 its commit.
class BeginCommitGraph {
 public:
  explicit BeginCommitGraph(const Facts& facts) : size_(facts.txns.size()), arcs_(2 * size_) {
    for (std::size_t t = 0; t < size_; ++t) arcs_[2 * t].set(2 * t + 1);
  }
  void add(const Relation& relation, bool from_commit, bool to_commit) {
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b) {
        if (relation[a][b]) arcs_[2 * a + from_commit].set(2 * b + to_commit);
      }
    }
  }
  [[nodiscard]] bool is_acyclic() const { return acyclic(arcs_); }

 private:
  std::size_t size_;
  Relation arcs_;
};

bool real_time_si_holds(const Facts& facts, Level level) {
  BeginCommitGraph graph(facts);
  graph.add(facts.wr, true, false);
  graph.add(facts.ww, true, false);
  graph.add(facts.rw, false, true);
  graph.add(facts.rt, true, level != Level::StrongSi);
  if (level != Level::Gsi) graph.add(facts.so, true, false);
  return graph.is_acyclic();
}

}  // namespace

Relation join(const Relation& a, const Relation& b) {
  Relation result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] |= b[i];
  return result;
}

Relation compose(const Relation& a, const Relation& b) {
  Relation result = empty_relation(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (a[i][j]) result[i] |= b[j];
    }
  }
  return result;
}

Relation closure(Relation relation) {
  for (std::size_t via = 0; via < relation.size(); ++via) {
    for (Bits& row : relation) {
      if (row[via]) row |= relation[via];
    }
  }
  return relation;
}

bool irreflexive(const Relation& relation) {
  for (std::size_t i = 0; i < relation.size(); ++i) {
    if (relation[i][i]) return false;
  }
  return true;
}

bool acyclic(const Relation& relation) { return irreflexive(closure(relation)); }

bool Facts::writes(int txn, KeyId key) const {
  const auto& keys = written[static_cast<std::size_t>(txn)];
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Facts::Facts(const History& history) {
  const Catalogue catalogue(history);
  const std::vector<bool> counts = counted(history, catalogue);
  std::vector<int> index_of(history.txn_count(), kInitialWriter);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (!counts[t]) continue;
    index_of[t] = static_cast<int>(txns.size());
    txns.emplace_back(t);
    commit.push_back(history.commit_ts(TxnId{t}).value());
  }
  const std::size_t size = txns.size();
  EXPECT_LE(2 * size, kMostTxns);
  so = wr = ww = rw = rt = empty_relation(size);
  written.resize(size);
  for (const auto& [where, value] : catalogue.last) {
    const int txn = index_of[where.first.index()];
    if (txn != kInitialWriter) written[static_cast<std::size_t>(txn)].push_back(where.second);
  }
  for (std::size_t t = 0; t < size; ++t) {
    TxnReader(catalogue, counts, txns[t], *this).read_ops(index_of, static_cast<int>(t));
  }
  const auto version_of = [&](std::size_t txn, KeyId key) {
    return catalogue.position(key, catalogue.last.at({txns[txn], key}));
  };
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      if (a == b) continue;
      if (history.session(txns[a]) == history.session(txns[b]) && a < b) so[a].set(b);
      const auto completed = history.completed(txns[a]);
      if (completed && *completed < history.invoked(txns[b]).value()) rt[a].set(b);
      for (const KeyId key : written[a]) {
        if (!writes(static_cast<int>(b), key)) continue;
        if (version_of(a, key) < version_of(b, key)) ww[a].set(b);
      }
    }
  }
  for (const ExternalRead& read : reads) {
    const auto reader = static_cast<std::size_t>(read.reader);
    if (read.writer != kInitialWriter) wr[static_cast<std::size_t>(read.writer)].set(reader);
    for (std::size_t b = 0; b < size; ++b) {
      if (b == reader || !writes(static_cast<int>(b), read.key)) continue;
      if (catalogue.position(read.key, read.value) < version_of(b, read.key)) rw[reader].set(b);
    }
  }
}

bool holds(const Facts& facts, Level level) {
  for (const std::string& what : facts.wrong) {
    if (what != "non-repeatable" || level != Level::ReadCommitted) return false;
  }
  const Relation dependencies = join(facts.wr, facts.ww);
  const Relation with_sessions = join(facts.so, dependencies);
  const auto maybe_rw = [&](const Relation& r) { return join(r, compose(r, facts.rw)); };
  switch (level) {
    case Level::ReadCommitted:
    case Level::ReadAtomic:
    case Level::Causal:
    case Level::Prefix:
      return weak_holds(facts, level);
    case Level::ParallelSi:
      return irreflexive(maybe_rw(closure(with_sessions)));
    case Level::Si:
      return acyclic(maybe_rw(dependencies));
    case Level::SessionSi:
      return acyclic(maybe_rw(with_sessions));
    case Level::Gsi:
    case Level::PrefixConsistentSi:
    case Level::StrongSi:
      return real_time_si_holds(facts, level);
    case Level::Serializable:
      return acyclic(join(dependencies, facts.rw));
    case Level::SessionSerializable:
      return acyclic(join(with_sessions, facts.rw));
    case Level::StrictSerializable:
      return acyclic(join(facts.rt, join(with_sessions, facts.rw)));
    case Level::RepeatableRead:
    case Level::Mixed:
      break;
  }
  ADD_FAILURE() << "no condition for this level";
  return false;
}

bool impossible(const Facts& facts, Level level) {
  Relation order = join(facts.so, facts.wr);
  const Relation causal = closure(order);
  for (const Triple& triple : triples(facts)) {
    if (!premise(facts, level, causal, triple)) continue;
    if (triple.t1 == kInitialWriter) return true;
    order[static_cast<std::size_t>(triple.t2)].set(static_cast<std::size_t>(triple.t1));
  }
  return !acyclic(order);
}

bool prefix_impossible(const Facts& facts) {
  BeginCommitGraph graph(facts);
  graph.add(facts.wr, true, false);
  graph.add(facts.so, true, false);
  graph.add(facts.ww, true, true);
  graph.add(facts.rw, false, true);
  return !graph.is_acyclic();
}

}  // namespace ouro::workload
