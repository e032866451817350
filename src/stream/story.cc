#include "stream/story.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "stream/copier.h"

namespace ouro::stream {
void tell(const StreamViolation& violation, Level level, Initials& initials, const FindTxn& find,
          StreamEvent& event) {
  const std::array all = {violation.txn, violation.other, violation.other_op.txn,
                          violation.source.txn};
  // By arrival, which is their order in a history of all transactions.
  std::map<Arrival, TxnId> known;
  for (const Arrival txn : all) {
    if (txn != kNobody) known.try_emplace(txn);
  }
  for (const Arrival txn : violation.witnesses) {
    if (txn != kNobody) known.try_emplace(txn);
  }
  Copier copier(&initials);
  std::size_t count = 0;
  for (auto& [arrival, txn] : known) {
    if (const auto source = find(arrival)) {
      copier.add(*source);
      event.arrivals.push_back(arrival);
      txn = TxnId{count++};
    }
  }
  auto frozen = copier.freeze();  // Fails only for billions of operations.
  event.history = std::make_shared<const History>(frozen.ok() ? *std::move(frozen) : History());
  event.kind = violation.kind;
  event.verdict.level = level;
  event.verdict.evidence = Evidence::Timestamps;
  event.verdict.outcome = Outcome::Violated;
  event.verdict.counts[static_cast<std::size_t>(violation.kind)] = 1;
  Anomaly anomaly{.kind = violation.kind, .txns = {}, .ops = {}, .edges = {}};
  anomaly.expected = violation.expected;
  for (const Arrival arrival : all) {
    const auto found = known.find(arrival);
    if (found == known.end() || !found->second.valid()) continue;
    if (std::find(anomaly.txns.begin(), anomaly.txns.end(), found->second) == anomaly.txns.end()) {
      anomaly.txns.push_back(found->second);
    }
  }
  for (const OpOf& op : {OpOf{violation.txn, violation.op}, violation.other_op, violation.source}) {
    const auto found = known.find(op.txn);
    if (op.op == OpOf::kNone || found == known.end() || !found->second.valid()) continue;
    anomaly.ops.push_back(OpId{event.history->first_op(found->second).index() + op.op});
  }
  event.verdict.anomalies.push_back(std::move(anomaly));
}

namespace {

template <class Wanted>
std::uint32_t find_write(const Source& txn, const Name& key, bool last, const Wanted& wanted) {
  const History& h = *txn.history;
  std::uint32_t found = OpOf::kNone;
  const OpId first = h.first_op(txn.txn);
  for (OpId id = first; id < h.end_op(txn.txn); ++id.value) {
    const Op op = h.op(id);
    if (!is_write(op.kind) || name_of(h, h.key_name(op.key)) != key || !wanted(op.value)) continue;
    found = id.value - first.value;
    if (!last) break;
  }
  return found;
}

}  // namespace

std::uint32_t first_write(const Source& txn, const Name& key) {
  return find_write(txn, key, false, [](Value) { return true; });
}

std::uint32_t last_write(const Source& txn, const Name& key) {
  return find_write(txn, key, true, [](Value) { return true; });
}

std::uint32_t write_of(const Source& txn, const Name& key, std::uint64_t value) {
  Fingerprints values;
  values.enter(*txn.history);
  return find_write(txn, key, false, [&](Value written) { return values.of(written) == value; });
}

}  // namespace ouro::stream
