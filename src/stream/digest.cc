// StreamDigest: a verdict on all that a stream found, with examples of each kind of anomaly.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "ouro/stream.h"
#include "stream/copier.h"

namespace ouro {
namespace {

// How many examples of a kind are kept beyond those wanted, in case some are withdrawn.
constexpr std::size_t kSpare = 16;

// Copies the transactions of several events into one history, each transaction once. Transactions
// are the same if they have the same place in a file.
class Merger {
 public:
  // Copies the transactions of `event`. Returns its anomaly in terms of the new history.
  Anomaly add(const StreamEvent& event) {
    const History& h = *event.history;
    std::vector<Copied> copied;
    for (std::size_t t = 0; t < h.txn_count(); ++t) copied.push_back(copy(event, TxnId{t}));
    Anomaly anomaly = event.verdict.anomalies.front();
    for (OpId& op : anomaly.ops) {
      const TxnId txn = h.txn_of(op);
      op = OpId{copied[txn.index()].first_op + (op.index() - h.first_op(txn).index())};
    }
    for (TxnId& txn : anomaly.txns) txn = copied[txn.index()].txn;
    return anomaly;
  }
  [[nodiscard]] History freeze() {
    auto frozen = copier_.freeze();  // Fails for billions of operations only.
    return frozen.ok() ? *std::move(frozen) : History();
  }

 private:
  struct Copied {
    TxnId txn;
    std::size_t first_op = 0;
  };
  Copied copy(const StreamEvent& event, TxnId txn) {
    const Place place = event.history->place(txn);
    const Copied next{TxnId{copier_.builder().txn_count()}, copier_.builder().op_count()};
    if (place.position > 0) {
      const auto [known, added] =
          known_.try_emplace({std::string(place.file), place.position}, next);
      if (!added) return known->second;
    }
    copier_.add({event.history, txn});
    return next;
  }

  stream::Copier copier_;
  std::map<std::pair<std::string, std::uint64_t>, Copied> known_;
};

}  // namespace

void StreamDigest::add(std::span<const StreamEvent> events) {
  for (const StreamEvent& event : events) {
    std::vector<StreamEvent>& kept = kept_[static_cast<std::size_t>(event.kind)];
    if (event.withdraws != 0) {
      std::erase_if(kept, [&](const StreamEvent& k) { return k.number == event.withdraws; });
    } else if (event.what == StreamEvent::What::Violation && kept.size() < examples_ + kSpare) {
      kept.push_back(event);
    }
  }
}

StreamDigest::Digest StreamDigest::close(const StreamSummary& summary) const {
  Digest out;
  out.verdict.level = level_;
  out.verdict.evidence = Evidence::Timestamps;
  out.verdict.counts = summary.counts;
  const bool none = std::all_of(summary.counts.begin(), summary.counts.end(),
                                [](std::uint64_t count) { return count == 0; });
  if (none && summary.lost_stragglers > 0) {
    out.verdict.reason = "transactions came after what they concern was forgotten";
  } else {
    out.verdict.outcome = none ? Outcome::Holds : Outcome::Violated;
  }
  Merger merger;
  for (const std::vector<StreamEvent>& kept : kept_) {
    for (std::size_t i = 0; i < std::min(kept.size(), examples_); ++i) {
      out.verdict.anomalies.push_back(merger.add(kept[i]));
    }
  }
  out.history = merger.freeze();
  return out;
}

}  // namespace ouro
