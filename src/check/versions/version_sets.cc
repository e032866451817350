#include "check/versions/version_sets.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "check/versions/listed_versions.h"
#include "history/undone.h"

namespace ouro {
namespace {

// Judges one read after the other. One for each thread.
class VersionSetReader {
 public:
  VersionSetReader(const Observed& observed, const RowVersions& rows, SnapshotAt at, EdgesKept kept)
      : o_(observed),
        h_(observed.history()),
        rows_(rows),
        moments_(h_, at),
        kept_(kept),
        seen_(h_.key_count(), Seen{}),
        followed_(h_.txn_count()),
        preceded_(h_.txn_count()) {}

  void read(const PredicateReads::Seen& seen, VersionSetFindings& findings) {
    findings_ = &findings;
    const std::size_t links_before = findings.links.size();
    unclear_ = false;
    judge(seen);
    if (!unclear_) return;
    findings.unclear.push_back(seen.op);
    for (std::size_t i = links_before; i < findings.links.size(); ++i) {
      const PredicateEdge& link = findings.links[i];
      (link.overwrites ? preceded_ : followed_)[o_.txn(link.write).index()] = TxnId{};
    }
    findings.links.resize(links_before);
  }

 private:
  void judge(const PredicateReads::Seen& seen) {
    VersionSetFindings& findings = *findings_;
    const PredicateRead& read = h_.predicate_read(seen.op);
    note_own(seen.txn, seen.op);
    if (read.has_version_set) {
      note_version_set(seen.txn, seen.op, read);
    } else {
      snapshot_ = moments_.snapshot(seen.txn);
    }
    if (walk(seen.txn, seen.op, read)) return;
    rows_.select(read.predicate, matches_);
    findings.looked_at += matches_.size();
    if (read.column.valid()) {  // A version that matches may lack the column.
      std::erase_if(matches_, [&](const KeyPosition& at) { return !rows_.part(read, at).counts; });
    }
    for (std::size_t i = 0; i < matches_.size();) {
      std::size_t end = i;
      while (end < matches_.size() && matches_[end].key == matches_[i].key) ++end;
      row(seen.txn, seen.op, std::span(matches_).subspan(i, end - i));
      i = end;
    }
  }

  struct Seen {
    OpId read;  // The read that saw `position`.
    std::uint32_t position = 0;
  };
  using KeyPosition = RowVersions::KeyPosition;

  // Notes the own writes before the read: they are what it sees of their keys.
  void note_own(TxnId txn, OpId read) {
    own_.clear();
    for (OpId id = h_.first_op(txn); id < read; ++id.value) {
      const Op op = h_.op(id);
      if (is_own_write(h_, op, read)) own_.push_back(op);
    }
    std::stable_sort(own_.begin(), own_.end(),
                     [](const Op& a, const Op& b) { return a.key < b.key; });
    final_.clear();
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (!o_.items().is_write(i) || !o_.final(i) || rows_.of(o_.items().key(i)).empty()) continue;
      final_.push_back({o_.items().key(i), rows_.position(i)});
    }
  }
  // If the version that the read saw is behind the one that its own transaction wrote later, which
  // cannot be, the position behind that one: whoever wrote there precedes the read. Otherwise zero.
  [[nodiscard]] std::uint32_t behind_own(KeyId key, std::uint32_t seen) const {
    for (const KeyPosition& mine : final_) {
      if (mine.key == key && mine.position < seen) return mine.position + 1;
    }
    return 0;
  }
  // The last own write of `key` before the read; null if there is none.
  [[nodiscard]] const Op* own(KeyId key) const {
    const auto after = std::upper_bound(own_.begin(), own_.end(), key,
                                        [](KeyId k, const Op& op) { return k < op.key; });
    return after != own_.begin() && (after - 1)->key == key ? &*(after - 1) : nullptr;
  }

  // Notes which versions the version set lists, and reports those that the read cannot have seen.
  void note_version_set(TxnId txn, OpId id, const PredicateRead& read) {
    for (const KeyVersion& version : h_.version_set(read)) {
      if (own(version.key) != nullptr) continue;
      const std::uint32_t position = rows_.position(version.key, version.value);
      if (version.value.is_null()) continue;  // The same as not listed.
      seen_[version.key.index()] = {id, 0};   // Replaced below if it is right.
      if (position == RowVersions::kSeveral) {
        seen_[version.key.index()].position = place(id, version.key, version.value);
      } else if (position == RowVersions::kNone) {
        if (!returned(read, version.key)) flaw_of(txn, id, version);
      } else if (const ItemId write = rows_.of(version.key)[position].write;
                 write.valid() && o_.txn(write) == txn) {
        flaw(AnomalyKind::FutureRead, id, write);
      } else {
        seen_[version.key.index()] = {id, position};
      }
    }
  }

  // The position of the version that the read saw, if several have the value that the version set
  // lists, or null if it lists none; kSeveral if that does not say which.
  [[nodiscard]] std::uint32_t place(OpId id, KeyId key, Value listed) {
    findings_->looked_at += rows_.of(key).size();
    const std::uint32_t only = only_place(listed_versions(o_, rows_, id, key, listed));
    return only == RowVersions::kNone ? 0 : only;
  }

  // Whether the read returned a row of `key`. Then that is judged as a read of the key, elsewhere.
  [[nodiscard]] bool returned(const PredicateRead& read, KeyId key) const {
    const auto rows = h_.rows(read);
    return std::any_of(rows.begin(), rows.end(),
                       [&](const KeyVersion& row) { return row.key == key; });
  }

  // Reports a version that is no final write of a transaction that takes part.
  void flaw_of(TxnId txn, OpId id, const KeyVersion& version) {
    if (rows_.of(version.key).empty()) return;  // A list.
    AnomalyKind kind = AnomalyKind::ThinAirRead;
    ItemId write;
    bool unknown = false;  // Whether a transaction wrote it that may take part.
    for (const ItemId item : o_.items_of(version.key)) {
      if (!o_.items().is_write(item) || o_.items().value(item) != version.value) continue;
      const TxnId writer = o_.txn(item);
      const bool aborted = h_.status(writer) == TxnStatus::Aborted;
      unknown |= !aborted && !o_.counted(writer) && o_.final(item);
      if (!aborted && !o_.counted(writer)) continue;
      if (aborted && write.valid()) continue;
      write = item;
      kind = aborted         ? AnomalyKind::AbortedRead
             : writer == txn ? AnomalyKind::FutureRead
                             : AnomalyKind::IntermediateRead;
    }
    if (unknown && !write.valid() && !RowVersions::has_order(o_, version.key)) {
      unclear_ = true;
      return;
    }
    flaw(kind, id, write);
  }
  void flaw(AnomalyKind kind, OpId read, ItemId write) {
    findings_->flaws.push_back(
        {kind, read, write.valid() ? o_.items().op(write) : OpId{}, std::string()});
  }

  // The position of the version of `key` that the read saw. Reports it if that is impossible or
  // unclear.
  [[nodiscard]] std::uint32_t position(TxnId txn, OpId id, KeyId key) {
    if (!h_.predicate_read(id).has_version_set) return position_in_snapshot(key);
    Seen& seen = seen_[key.index()];
    if (seen.read != id) {
      const std::uint32_t absent = rows_.position(key, Value::null());
      if (absent == RowVersions::kNone) {
        // It is not listed, so it was absent; but it never was.
        flaw_of(txn, id, {key, Value::null()});
        return 0;
      }
      const bool several = absent == RowVersions::kSeveral;
      seen = {id, several ? place(id, key, Value::null()) : absent};
    }
    if (seen.position != RowVersions::kSeveral) return seen.position;
    unclear_ = true;
    return 0;
  }

  // Whether position() would report something, or may find that it is unclear.
  [[nodiscard]] bool is_unclear(OpId id, KeyId key) const {
    if (!h_.predicate_read(id).has_version_set) return false;
    const Seen& seen = seen_[key.index()];
    if (seen.read == id) return seen.position == RowVersions::kSeveral;
    const std::uint32_t absent = rows_.position(key, Value::null());
    return absent == RowVersions::kSeveral || absent == RowVersions::kNone;
  }

  [[nodiscard]] std::uint32_t position_in_snapshot(KeyId key) const {
    const auto versions = rows_.of(key);
    const auto after = std::partition_point(
        versions.begin() + 1, versions.end(),
        [&](const auto& version) { return moments_.commit(o_.txn(version.write)) < snapshot_; });
    return static_cast<std::uint32_t>(after - versions.begin() - 1);
  }

  // Whether walk() would hardly be the quicker way: if of n versions m may match, it looks at n / m
  // versions of each row, or more.
  static bool is_long_walk(const RowVersions::Scope& scope) {
    return scope.keys.size() * scope.versions > scope.cost * scope.cost;
  }

  // Finds the edges of a read by walking: for each row, from the version that it saw back and forth
  // to the next ones that are something else to the read (RowVersions::Part). Where rows change
  // often this is quicker than select(), as most of the history may have matched at some time.
  // False: it took longer than select(), which is to be used instead; it finds the same edges
  // again, and add() drops them.
  [[nodiscard]] bool walk(TxnId txn, OpId id, const PredicateRead& read) {
    const RowVersions::Scope scope = rows_.scope(read.predicate);
    if (is_long_walk(scope)) return false;
    findings_->looked_at += scope.keys.size();
    std::size_t left = scope.cost;
    for (const KeyId key : scope.keys) {
      if (own(key) != nullptr) continue;
      // This does not matter if the row never matches, as select() will tell.
      if (is_unclear(id, key)) return false;
      const auto versions = rows_.of(key);
      const std::uint32_t seen = position(txn, id, key);
      const RowVersions::Part part = rows_.part(read, {key, seen});
      const auto same = [&](std::uint32_t at) {
        if (left > 0) --left;
        return left > 0 && rows_.part(read, {key, at}) == part;
      };
      std::uint32_t first = seen;
      while (first > 0 && same(first - 1)) --first;
      std::uint32_t behind = seen + 1;
      while (behind < versions.size() && same(behind)) ++behind;
      if (left == 0) return false;
      const bool never = first == 0 && behind == versions.size() && !part.counts;
      if (!never) first = std::max(first, behind_own(key, seen));
      if (first > 0) follow(txn, id, versions[first].write);
      if (behind < versions.size()) precede(txn, id, versions[behind].write);
    }
    return true;
  }

  // Adds the edges of one row. `matches` are all its versions that count, at least one.
  void row(TxnId txn, OpId id, std::span<const KeyPosition> matches) {
    const KeyId key = matches.front().key;
    if (own(key) != nullptr) return;
    const std::uint32_t seen = position(txn, id, key);
    const auto at = std::lower_bound(matches.begin(), matches.end(), KeyPosition{key, seen});
    const auto versions = rows_.of(key);
    // What was seen counts: find the first and last in a row that are the same to the read.
    if (at != matches.end() && at->position == seen) {
      const PredicateRead& read = h_.predicate_read(id);
      const RowVersions::Part part = rows_.part(read, *at);
      const auto same = [&](const KeyPosition& other, std::uint32_t position) {
        return other.position == position && rows_.part(read, other) == part;
      };
      auto first = at;
      while (first != matches.begin() && same(*(first - 1), first->position - 1)) --first;
      auto last = at;
      while (last + 1 != matches.end() && same(*(last + 1), last->position + 1)) ++last;
      const std::uint32_t since = std::max(first->position, behind_own(key, seen));
      if (since > 0) follow(txn, id, versions[since].write);
      if (last->position + 1 < versions.size()) {
        precede(txn, id, versions[last->position + 1].write);
      }
      return;
    }
    const std::uint32_t since =
        std::max(at == matches.begin() ? 0 : (at - 1)->position + 1, behind_own(key, seen));
    if (since > 0) follow(txn, id, versions[since].write);
    if (at != matches.end()) precede(txn, id, versions[at->position].write);
  }

  void follow(TxnId txn, OpId id, ItemId write) { add(txn, id, write, false, followed_); }
  void precede(TxnId txn, OpId id, ItemId write) { add(txn, id, write, true, preceded_); }
  // Adds an edge, unless there is one of its kind between the two transactions and that will do.
  void add(TxnId txn, OpId id, ItemId write, bool overwrites, std::vector<TxnId>& known) {
    const TxnId writer = o_.txn(write);
    if (writer == txn || (kept_ == EdgesKept::OfTxns && known[writer.index()] == txn)) return;
    known[writer.index()] = txn;
    findings_->links.push_back({txn, id, write, overwrites});
  }

  const Observed& o_;
  const History& h_;
  const RowVersions& rows_;
  const SnapshotMoments moments_;
  const EdgesKept kept_;
  Moment snapshot_;  // Of the read at hand, if it has no version set.
  VersionSetFindings* findings_ = nullptr;
  bool unclear_ = false;            // Whether the version set of the read at hand is.
  std::vector<Seen> seen_;          // By key: what the version set of a read lists.
  std::vector<TxnId> followed_;     // By writer: the last reader with an edge from it.
  std::vector<TxnId> preceded_;     // By writer: the last reader with an edge to it.
  std::vector<Op> own_;             // Own writes before the read at hand, sorted by key.
  std::vector<KeyPosition> final_;  // The versions that the transaction at hand wrote.
  std::vector<KeyPosition> matches_;
};

}  // namespace

VersionSetFindings judge_version_sets(const Observed& observed, const RowVersions& rows,
                                      SnapshotAt at, std::span<const PredicateReads::Seen> reads,
                                      const Budget& budget, unsigned threads, EdgesKept kept) {
  constexpr std::size_t kChunk = 64;
  const std::size_t chunks = (reads.size() + kChunk - 1) / kChunk;
  // All reads of a transaction are in one chunk: whether add() drops an edge does not depend on
  // threads.
  const auto first_of = [&](std::size_t chunk) {
    std::size_t i = std::min(reads.size(), chunk * kChunk);
    while (i > 0 && i < reads.size() && reads[i].txn == reads[i - 1].txn) ++i;
    return i;
  };
  std::vector<VersionSetFindings> found(chunks);
  std::atomic<std::size_t> next{0};
  for_each_part(chunks < 4 ? 1 : thread_count(threads), [&](std::size_t) {
    VersionSetReader reader(observed, rows, at, kept);
    for (std::size_t chunk = next++; chunk < chunks && !budget.exhausted(); chunk = next++) {
      const std::size_t end = first_of(chunk + 1);
      for (std::size_t i = first_of(chunk); i < end; ++i) reader.read(reads[i], found[chunk]);
    }
  });
  VersionSetFindings all;
  for (VersionSetFindings& part : found) {
    all.links.insert(all.links.end(), part.links.begin(), part.links.end());
    std::move(part.flaws.begin(), part.flaws.end(), std::back_inserter(all.flaws));
    all.looked_at += part.looked_at;
    all.unclear.insert(all.unclear.end(), part.unclear.begin(), part.unclear.end());
    part = {};
  }
  constexpr std::uint64_t kStepsPerVersion = 3;
  budget.charge(kStepsPerVersion * all.looked_at);
  return all;
}

}  // namespace ouro
