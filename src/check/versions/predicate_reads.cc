#include "check/versions/predicate_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "check/aggregate.h"
#include "check/versions/row_versions.h"
#include "history/value_order.h"

namespace ouro {
namespace {

bool has_snapshot(const History& history, TxnId txn, const PredicateRead& read) {
  return read.has_version_set || history.start_ts(txn).has_value();
}

// Calls f(txn, op) for the selects and aggregates of transactions that count and whose snapshot is
// known. Scans are taken apart into reads of single keys.
template <class F>
void for_each_read(const Observed& observed, TxnId txn, const F& f) {
  const History& h = observed.history();
  if (!observed.counted(txn)) return;
  for (OpId id = h.first_op(txn); id < h.end_op(txn); ++id.value) {
    const Op op = h.op(id);
    if (op.kind != OpKind::Select && op.kind != OpKind::Aggregate) continue;
    if (has_snapshot(h, txn, h.predicate_read(id))) f(op);
  }
}

// Judges the predicate reads of one transaction after the other. One for each thread.
class Reader {
 public:
  Reader(const Observed& observed, const RowVersions& rows)
      : o_(observed),
        h_(observed.history()),
        rows_(rows),
        seen_(h_.key_count(), Seen{}),
        followed_(h_.txn_count()),
        preceded_(h_.txn_count()) {}

  void txn(TxnId txn, PredicateFindings& findings) {
    findings_ = &findings;
    for_each_read(o_, txn, [&](const Op& op) { read(txn, op); });
  }

 private:
  struct Seen {
    OpId read;  // For which `position` is.
    std::uint32_t position = 0;
  };
  using Place = RowVersions::Place;

  void read(TxnId txn, const Op& op) {
    const PredicateRead& read = h_.predicate_read(op.id);
    note_own(txn, op.id);
    if (read.has_version_set) note_version_set(txn, op.id, read);
    rows_.select(read.predicate, matches_);
    selected_.clear();
    for (std::size_t i = 0; i < matches_.size();) {
      std::size_t end = i;
      while (end < matches_.size() && matches_[end].key == matches_[i].key) ++end;
      row(txn, op.id, read, std::span(matches_).subspan(i, end - i));
      i = end;
    }
    if (!read.has_version_set) compare_result(op, read);
  }

  // Own writes before the read are what it sees of their keys.
  void note_own(TxnId txn, OpId read) {
    own_.clear();
    for (OpId id = h_.first_op(txn); id < read; ++id.value) {
      const Op op = h_.op(id);
      if (is_write(op.kind)) own_.push_back(op);
    }
    std::stable_sort(own_.begin(), own_.end(),
                     [](const Op& a, const Op& b) { return a.key < b.key; });
  }
  // The last one; null if there is none.
  [[nodiscard]] const Op* own(KeyId key) const {
    const auto after = std::upper_bound(own_.begin(), own_.end(), key,
                                        [](KeyId k, const Op& op) { return k < op.key; });
    return after != own_.begin() && (after - 1)->key == key ? &*(after - 1) : nullptr;
  }

  void note_version_set(TxnId txn, OpId id, const PredicateRead& read) {
    for (const KeyVersion& version : h_.version_set(read)) {
      if (own(version.key) != nullptr) continue;
      const std::uint32_t position = rows_.position(version.key, version.value);
      if (version.value.is_null()) continue;  // As if it were not listed.
      if (position == RowVersions::kNone) {
        if (!returned(read, version.key)) flaw_of(txn, id, version);
      } else if (const ItemId write = rows_.of(version.key)[position].write;
                 write.valid() && o_.txn(write) == txn) {
        flaw(AnomalyKind::FutureRead, id, write);
      } else {
        seen_[version.key.index()] = {id, position};
      }
    }
  }

  // Rows that came back are judged as reads of their keys.
  [[nodiscard]] bool returned(const PredicateRead& read, KeyId key) const {
    const auto rows = h_.rows(read);
    return std::any_of(rows.begin(), rows.end(),
                       [&](const KeyVersion& row) { return row.key == key; });
  }

  // The version is no last write of a transaction that counts.
  void flaw_of(TxnId txn, OpId id, const KeyVersion& version) {
    if (rows_.of(version.key).empty()) return;  // A list.
    AnomalyKind kind = AnomalyKind::ThinAirRead;
    ItemId write;
    for (const ItemId item : o_.items_of(version.key)) {
      if (!o_.items().is_write(item) || o_.items().value(item) != version.value) continue;
      const TxnId writer = o_.txn(item);
      const bool aborted = h_.status(writer) == TxnStatus::Aborted;
      if (!aborted && !o_.counted(writer)) continue;
      if (aborted && write.valid()) continue;
      write = item;
      kind = aborted         ? AnomalyKind::AbortedRead
             : writer == txn ? AnomalyKind::FutureRead
                             : AnomalyKind::IntermediateRead;
    }
    flaw(kind, id, write);
  }
  void flaw(AnomalyKind kind, OpId read, ItemId write) {
    findings_->flaws.push_back(
        {kind, read, write.valid() ? o_.items().op(write) : OpId{}, std::string()});
  }

  // The position of the version that the read saw.
  [[nodiscard]] std::uint32_t position(TxnId txn, OpId id, const PredicateRead& read, KeyId key) {
    if (read.has_version_set) {
      const Seen& seen = seen_[key.index()];
      if (seen.read == id) return seen.position;
      const std::uint32_t absent = rows_.position(key, Value::null());
      if (absent != RowVersions::kSeveral) return absent == RowVersions::kNone ? 0 : absent;
      if (!findings_->unclear.valid()) {
        findings_->unclear = id;
        findings_->unclear_key = key;
      }
      return 0;
    }
    const Timestamp start = *h_.start_ts(txn);
    const auto versions = rows_.of(key);
    const auto after =
        std::partition_point(versions.begin() + 1, versions.end(), [&](const auto& version) {
          return h_.commit_ts(o_.txn(version.write)).value_or(kNoTimestamp) <= start;
        });
    return static_cast<std::uint32_t>(after - versions.begin() - 1);
  }

  // One row, of which `matches` are all versions that match.
  void row(TxnId txn, OpId id, const PredicateRead& read, std::span<const Place> matches) {
    const KeyId key = matches.front().key;
    if (own(key) != nullptr) return;
    const std::uint32_t seen = position(txn, id, read, key);
    const auto at = std::lower_bound(matches.begin(), matches.end(), Place{key, seen});
    const auto versions = rows_.of(key);
    if (at != matches.end() && at->position == seen) {  // It matches: since when, and how long?
      selected_.push_back({key, versions[seen].value});
      auto first = at;
      while (first != matches.begin() && (first - 1)->position + 1 == first->position) --first;
      auto last = at;
      while (last + 1 != matches.end() && last->position + 1 == (last + 1)->position) ++last;
      if (first->position > 0) follow(txn, id, versions[first->position].write);
      if (last->position + 1 < versions.size()) {
        precede(txn, id, versions[last->position + 1].write);
      }
      return;
    }
    if (at != matches.begin()) follow(txn, id, versions[(at - 1)->position + 1].write);
    if (at != matches.end()) precede(txn, id, versions[at->position].write);
  }

  void follow(TxnId txn, OpId id, ItemId write) { add(txn, id, write, false, followed_); }
  void precede(TxnId txn, OpId id, ItemId write) { add(txn, id, write, true, preceded_); }
  void add(TxnId txn, OpId id, ItemId write, bool overwrites, std::vector<TxnId>& known) {
    const TxnId writer = o_.txn(write);
    if (writer == txn || known[writer.index()] == txn) return;
    known[writer.index()] = txn;
    findings_->edges.push_back({txn, id, write, overwrites});
  }

  // What the snapshot, with own writes, holds against what came back.
  void compare_result(const Op& op, const PredicateRead& read) {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (i + 1 < own_.size() && own_[i + 1].key == own_[i].key) continue;
      const bool alive = own_[i].kind == OpKind::Write && !own_[i].value.is_null();
      if (alive && evaluate(h_, read.predicate, own_[i].key, own_[i].value) == Truth::True) {
        selected_.push_back({own_[i].key, own_[i].value});
      }
    }
    std::string expected;
    if (op.kind == OpKind::Aggregate) {
      expected = aggregate(h_, read, selected_);
      if (read.result.is_unobserved() || expected == h_.text(read.result)) return;
    } else {
      std::sort(selected_.begin(), selected_.end());
      std::vector<KeyVersion> rows(h_.rows(read).begin(), h_.rows(read).end());
      std::erase_if(rows, [&](const KeyVersion& row) { return rows_.of(row.key).empty(); });
      std::sort(rows.begin(), rows.end());
      if (rows == selected_) return;
      for (const KeyVersion& row : selected_) {
        expected += fmt::format("{}[{},{}]", expected.empty() ? "[" : ",",
                                h_.text(h_.key_name(row.key)), h_.text(row.value));
      }
      expected = expected.empty() ? "[]" : expected + "]";
    }
    findings_->flaws.push_back({AnomalyKind::ResultSetMismatch, op.id, OpId{}, expected});
  }

  const Observed& o_;
  const History& h_;
  const RowVersions& rows_;
  PredicateFindings* findings_ = nullptr;
  std::vector<Seen> seen_;       // By key.
  std::vector<TxnId> followed_;  // By writer: the last reader that has an edge from it,
  std::vector<TxnId> preceded_;  // or to it.
  std::vector<Op> own_;          // By key.
  std::vector<Place> matches_;
  std::vector<KeyVersion> selected_;
};

Error unclear(const History& history, const PredicateFindings& findings) {
  return error_at(
      history, findings.unclear,
      fmt::format("the version set does not say which absence of {} the read saw: it was absent "
                  "more than once; give every delete a value of its own, and list it",
                  history.key_label(findings.unclear_key)));
}

Error incomplete(const History& history, KeyId key) {
  Error error;
  error.file = std::string(history.file());
  error.what = fmt::format(
      "predicate reads need the whole version order of every key, and that of {} is not complete; "
      "complete it, or check with --evidence observed",
      history.key_label(key));
  return error;
}

}  // namespace

bool explain_predicate(const Observed& observed, TxnId from, TxnId to, bool overwrites, Edge& out) {
  const std::vector<PredicateEdge>& edges = observed.predicates().edges;
  const TxnId reader = overwrites ? from : to;
  const TxnId writer = overwrites ? to : from;
  auto at = std::partition_point(edges.begin(), edges.end(),
                                 [&](const PredicateEdge& edge) { return edge.reader < reader; });
  for (; at != edges.end() && at->reader == reader; ++at) {
    if (at->overwrites != overwrites || observed.txn(at->write) != writer) continue;
    const OpId write = observed.items().op(at->write);
    out = {.from = from,
           .to = to,
           .kind = overwrites ? EdgeKind::ReadWrite : EdgeKind::WriteRead,
           .key = observed.items().key(at->write),
           .from_op = overwrites ? at->read : write,
           .to_op = overwrites ? write : at->read};
    return true;
  }
  return false;
}

Result<PredicateFindings> read_predicates(const Observed& observed, const Budget& budget,
                                          unsigned threads) {
  PredicateFindings all;
  const History& h = observed.history();
  std::vector<TxnId> txns;  // That have predicate reads.
  for (std::size_t t = 0; t < h.txn_count() && !h.columns().predicate_reads.empty(); ++t) {
    for_each_read(observed, TxnId{t}, [&](const Op&) {
      if (txns.empty() || txns.back().index() != t) txns.emplace_back(t);
    });
  }
  if (txns.empty()) return all;
  if (const KeyId key = RowVersions::missing_order(observed); key.valid()) {
    return incomplete(h, key);
  }
  RowVersions rows(observed);
  for (const TxnId txn : txns) {
    for_each_read(observed, txn,
                  [&](const Op& op) { rows.prepare(h.predicate_read(op.id).predicate); });
  }
  constexpr std::size_t kChunk = 64;
  const std::size_t chunks = (txns.size() + kChunk - 1) / kChunk;
  std::vector<PredicateFindings> found(chunks);
  std::atomic<std::size_t> next{0};
  for_each_part(chunks < 4 ? 1 : thread_count(threads), [&](std::size_t) {
    Reader reader(observed, rows);
    for (std::size_t chunk = next++; chunk < chunks && !budget.exhausted(); chunk = next++) {
      const std::size_t end = std::min(txns.size(), (chunk + 1) * kChunk);
      for (std::size_t i = chunk * kChunk; i < end; ++i) reader.txn(txns[i], found[chunk]);
    }
  });
  for (PredicateFindings& part : found) {
    all.edges.insert(all.edges.end(), part.edges.begin(), part.edges.end());
    std::move(part.flaws.begin(), part.flaws.end(), std::back_inserter(all.flaws));
    if (part.unclear.valid()) return unclear(h, part);
    part = {};
  }
  return all;
}

}  // namespace ouro
