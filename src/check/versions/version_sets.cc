#include "check/versions/version_sets.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"

namespace ouro {
namespace {

// Judges one read after the other. One for each thread.
class VersionSetReader {
 public:
  VersionSetReader(const Observed& observed, const RowVersions& rows, SnapshotAt at)
      : o_(observed),
        h_(observed.history()),
        rows_(rows),
        moments_(h_, at),
        seen_(h_.key_count(), Seen{}),
        followed_(h_.txn_count()),
        preceded_(h_.txn_count()) {}

  void read(const PredicateReads::Seen& seen, VersionSetFindings& findings) {
    findings_ = &findings;
    const PredicateRead& read = h_.predicate_read(seen.op);
    note_own(seen.txn, seen.op);
    if (read.has_version_set) {
      note_version_set(seen.txn, seen.op, read);
    } else {
      snapshot_ = moments_.snapshot(seen.txn);
    }
    if (walk(seen.txn, seen.op, read.predicate)) return;
    rows_.select(read.predicate, matches_);
    for (std::size_t i = 0; i < matches_.size();) {
      std::size_t end = i;
      while (end < matches_.size() && matches_[end].key == matches_[i].key) ++end;
      row(seen.txn, seen.op, std::span(matches_).subspan(i, end - i));
      i = end;
    }
  }

 private:
  struct Seen {
    OpId read;  // For which `position` is.
    std::uint32_t position = 0;
  };
  using KeyPosition = RowVersions::KeyPosition;

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
      seen_[version.key.index()] = {id, 0};   // Whatever is wrong with it.
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
  [[nodiscard]] std::uint32_t position(TxnId txn, OpId id, KeyId key) {
    if (!h_.predicate_read(id).has_version_set) return position_in_snapshot(key);
    const Seen& seen = seen_[key.index()];
    if (seen.read == id) return seen.position;
    const std::uint32_t absent = rows_.position(key, Value::null());
    if (absent == RowVersions::kNone) {
      flaw_of(txn, id, {key, Value::null()});  // Not listed, so absent; but it never was.
      return 0;
    }
    if (absent != RowVersions::kSeveral) return absent;
    if (!findings_->unclear.valid()) {
      findings_->unclear = id;
      findings_->unclear_key = key;
    }
    return 0;
  }

  // Whether position() would find something wrong.
  [[nodiscard]] bool is_unclear(OpId id, KeyId key) const {
    if (!h_.predicate_read(id).has_version_set || seen_[key.index()].read == id) return false;
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

  // From the version of each row that the read saw to the next ones, back and forth, of which the
  // opposite is true. Rows that change often are quicker to walk than to look up: all that ever
  // matched may be most of the history. False: it took longer than to look them up, which is to be
  // done; what was found is found again.
  [[nodiscard]] bool walk(TxnId txn, OpId id, PredicateId predicate) {
    const RowVersions::Scope scope = rows_.scope(predicate);
    if (scope.keys.size() > scope.cost) return false;
    std::size_t left = scope.cost;
    for (const KeyId key : scope.keys) {
      if (own(key) != nullptr) continue;
      if (is_unclear(id, key)) return false;  // Which is no matter if it never matches.
      const auto versions = rows_.of(key);
      const std::uint32_t seen = position(txn, id, key);
      const bool matches = rows_.matches(predicate, {key, seen});
      const auto same = [&](std::uint32_t at) {
        if (left > 0) --left;
        return left > 0 && rows_.matches(predicate, {key, at}) == matches;
      };
      std::uint32_t first = seen;
      while (first > 0 && same(first - 1)) --first;
      std::uint32_t behind = seen + 1;
      while (behind < versions.size() && same(behind)) ++behind;
      if (left == 0) return false;
      if (first > 0) follow(txn, id, versions[first].write);
      if (behind < versions.size()) precede(txn, id, versions[behind].write);
    }
    return true;
  }

  // One row, of which `matches` are all versions that match.
  void row(TxnId txn, OpId id, std::span<const KeyPosition> matches) {
    const KeyId key = matches.front().key;
    if (own(key) != nullptr) return;
    const std::uint32_t seen = position(txn, id, key);
    const auto at = std::lower_bound(matches.begin(), matches.end(), KeyPosition{key, seen});
    const auto versions = rows_.of(key);
    if (at != matches.end() && at->position == seen) {  // It matches: since when, and how long?
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
    findings_->links.push_back({txn, id, write, overwrites});
  }

  const Observed& o_;
  const History& h_;
  const RowVersions& rows_;
  const SnapshotMoments moments_;
  Moment snapshot_;  // Of the read at hand, if it has no version set.
  VersionSetFindings* findings_ = nullptr;
  std::vector<Seen> seen_;       // By key.
  std::vector<TxnId> followed_;  // By writer: the last reader that has an edge from it,
  std::vector<TxnId> preceded_;  // or to it.
  std::vector<Op> own_;          // By key.
  std::vector<KeyPosition> matches_;
};

}  // namespace

VersionSetFindings judge_version_sets(const Observed& observed, const RowVersions& rows,
                                      SnapshotAt at, std::span<const PredicateReads::Seen> reads,
                                      const Budget& budget, unsigned threads) {
  constexpr std::size_t kChunk = 64;
  const std::size_t chunks = (reads.size() + kChunk - 1) / kChunk;
  std::vector<VersionSetFindings> found(chunks);
  std::atomic<std::size_t> next{0};
  for_each_part(chunks < 4 ? 1 : thread_count(threads), [&](std::size_t) {
    VersionSetReader reader(observed, rows, at);
    for (std::size_t chunk = next++; chunk < chunks && !budget.exhausted(); chunk = next++) {
      for (std::size_t i = chunk * kChunk; i < std::min(reads.size(), (chunk + 1) * kChunk); ++i) {
        reader.read(reads[i], found[chunk]);
      }
    }
  });
  VersionSetFindings all;
  for (VersionSetFindings& part : found) {
    all.links.insert(all.links.end(), part.links.begin(), part.links.end());
    std::move(part.flaws.begin(), part.flaws.end(), std::back_inserter(all.flaws));
    if (!all.unclear.valid()) {
      all.unclear = part.unclear;
      all.unclear_key = part.unclear_key;
    }
    part = {};
  }
  return all;
}

}  // namespace ouro
