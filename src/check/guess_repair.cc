#include "check/guess_repair.h"

#include <tuple>

namespace ouro {

GuessRepair::GuessRepair(const Observed& observed, const Positions& places,
                         std::vector<ReadSource>& guess)
    : observed_(observed), places_(places), guess_(guess), items_(guess.size()) {
  absl::flat_hash_map<std::pair<OpId, KeyId>, ItemId> open;
  for (const ItemId read : observed.open_reads()) {
    if (observed.items().is_summed(read)) continue;
    open.emplace(std::pair(observed.items().op(read), observed.items().key(read)), read);
  }
  for (std::uint32_t i = 0; i < guess_.size(); ++i) {
    const auto at = open.find(std::pair(guess_[i].read, guess_[i].key));
    if (guess_[i].element != 0 || at == open.end()) continue;
    items_[i] = at->second;
    entries_[guess_[i].read].push_back(i);
  }
}

bool GuessRepair::change(std::span<const Anomaly> wrong) {
  std::optional<Change> best;
  for (const Anomaly& anomaly : wrong) {
    for (const auto* edges : {&anomaly.edges, &anomaly.support}) {
      for (const Edge& edge : *edges) {
        for (const OpId op : {edge.from_op, edge.to_op, edge.read, edge.saw}) {
          if (op.valid()) consider(op, edge, best);
        }
      }
    }
  }
  if (!best) return false;
  TxnId& writer = guess_[best->entry].writer;
  ++tried_[{best->entry, writer}];
  ++tried_[{best->entry, best->writer}];
  writer = best->writer;
  return true;
}

// Looks for a change of what `read` is guessed to have returned. If it read many rows, each has an
// entry in the guess, and only the entries for the key and the transactions of `edge` may be
// changed.
void GuessRepair::consider(OpId read, const Edge& edge, std::optional<Change>& best) {
  const auto at = entries_.find(read);
  if (at == entries_.end()) return;
  for (const std::uint32_t entry : at->second) {
    const ReadSource& said = guess_[entry];
    const bool about = said.key == edge.key || said.writer == edge.from || said.writer == edge.to;
    if (about) consider(entry, best);
  }
}

void GuessRepair::consider(std::uint32_t entry, std::optional<Change>& best) {
  const std::uint32_t now = places_.begin[observed_.txn(items_[entry]).index()];
  for (const ItemId write : observed_.candidates(items_[entry])) {
    const TxnId writer = write.valid() ? observed_.txn(write) : kInitialTxn;
    if (writer == guess_[entry].writer) continue;
    const std::uint32_t at = write.valid() ? places_.commit[writer.index()] : 0;
    const Change change{entry, writer, tried(entry, writer),
                        at < now ? std::pair(0u, now - at) : std::pair(1u, at)};
    const auto order = [](const Change& each) { return std::tie(each.tried, each.rank); };
    if (!best || order(change) < order(*best)) best = change;
  }
}

std::uint32_t GuessRepair::tried(std::uint32_t entry, TxnId writer) const {
  const auto at = tried_.find({entry, writer});
  return at == tried_.end() ? 0 : at->second;
}

}  // namespace ouro
