#include "stream/segment_facts.h"

#include <algorithm>

#include "history/real_time.h"

namespace ouro::segments {
namespace {

bool before(const SegmentFacts::Write& a, const SegmentFacts::Write& b) {
  return a.key != b.key ? a.key < b.key : a.txn < b.txn;
}

}  // namespace

SegmentFacts::SegmentFacts(const History& history, std::int64_t clock_drift,
                           const absl::flat_hash_set<TxnId>& late, const MayHold& may_hold)
    : h_(history),
      drift_(clock_drift),
      late_(late),
      counts_(history.txn_count()),
      latest_(history.key_count()) {
  find_operations();
  find_those_that_count(may_hold);
  find_latest_invocations();
}

void SegmentFacts::find_operations() {
  std::vector<std::uint32_t> wrote(h_.key_count(), TxnId::kNone);  // By key: who wrote it last,
  std::vector<std::size_t> place(h_.key_count());             // and where in writes_.
  for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    const bool aborted = h_.status(txn) == TxnStatus::Aborted;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (is_write(op.kind)) {
        const auto [at, added] = written_.try_emplace({op.key, op.value}, Writers{.last = txn});
        if (!added && at->second.last != txn) at->second = {.last = txn, .one = false};
        if (aborted) continue;
        if (wrote[op.key.index()] == t) {
          writes_[place[op.key.index()]].value = op.value;
        } else {
          wrote[op.key.index()] = t;
          place[op.key.index()] = writes_.size();
          writes_.push_back({op.key, op.value, txn});
        }
      } else if (!aborted && (is_read(op.kind) || is_open_read(op.kind)) &&
                 !op.value.is_unobserved() && wrote[op.key.index()] != t) {
        reads_.push_back({txn, op.key, op.value, is_open_read(op.kind)});
      }
    }
  }
  std::sort(writes_.begin(), writes_.end(), before);
}

// Reads come in the order of the transactions, so those of one are together.
void SegmentFacts::find_those_that_count(const MayHold& may_hold) {
  std::vector<std::size_t> first_read(h_.txn_count() + 1, reads_.size());
  for (std::size_t r = reads_.size(); r-- > 0;) first_read[reads_[r].txn.index()] = r;
  for (std::size_t t = h_.txn_count(); t-- > 0;) {
    first_read[t] = std::min(first_read[t], first_read[t + 1]);
  }
  std::vector<TxnId> todo;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(TxnId{t}) != TxnStatus::Committed) continue;
    counts_[t] = true;
    todo.emplace_back(t);
  }
  const auto wrote_it_too = [&](TxnId txn, KeyId key) {
    const Write wanted{.key = key, .value = {}, .txn = txn};
    return std::binary_search(writes_.begin(), writes_.end(), wanted, before);
  };
  while (!todo.empty()) {
    const TxnId reader = todo.back();
    todo.pop_back();
    for (std::size_t r = first_read[reader.index()]; r < first_read[reader.index() + 1]; ++r) {
      const Read& read = reads_[r];
      if (read.open) continue;
      const auto found = written_.find({read.key, read.value});
      if (found == written_.end()) continue;
      const TxnId writer = found->second.last;
      if (!found->second.one || may_hold(read.key, read.value) ||
          h_.status(writer) == TxnStatus::Aborted || writer == reader) {
        continue;
      }
      if (!counts_[writer.index()]) {
        counts_[writer.index()] = true;
        todo.push_back(writer);
      }
      if (!late_.contains(reader) && wrote_it_too(reader, read.key)) {
        replaced_.emplace(writer, read.key);
      }
    }
  }
  // Whose versions may have been read at all. Of a version that several wrote, by all of them.
  absl::flat_hash_set<Version> read_versions;
  bool open = false;
  for (const Read& read : reads_) {
    if (!read.open) read_versions.emplace(read.key, read.value);
    open = open || read.open;
  }
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(TxnId{t}) != TxnStatus::Unknown) continue;
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      const Op op = h_.op(id);
      if (is_write(op.kind) && (open || read_versions.contains({op.key, op.value}))) {
        maybe_read_.emplace(t);
      }
    }
  }
}

void SegmentFacts::find_latest_invocations() {
  for (const Write& write : writes_) {
    if (!is_here(write.txn)) continue;
    const std::int64_t invoked = h_.invoked(write.txn).value_or(kNoClock);
    Latest& latest = latest_[write.key.index()];
    if (!latest.txn.valid() || invoked > latest.invoked) {
      latest = {.txn = write.txn, .invoked = invoked, .others = latest.invoked};
    } else {
      latest.others = std::max(latest.others, invoked);
    }
  }
}

// By real time, by session order, or because a transaction read the version and replaced it.
bool SegmentFacts::is_overwritten(const Write& write) const {
  if (replaced_.contains({write.txn, write.key})) return true;
  const Latest& latest = latest_[write.key.index()];
  const std::int64_t invoked = latest.txn == write.txn ? latest.others : latest.invoked;
  const auto completed = h_.completed(write.txn);
  if (invoked == kNoClock) return false;
  return completed && completed_before(*completed, invoked, drift_);
}

}  // namespace ouro::segments
