#include "stream/floating.h"

#include <algorithm>

#include "stream/copier.h"

namespace ouro::segments {

using stream::Copier;

std::string session_text(const History& history, TxnId txn) {
  if (!history.has_session(txn)) return {};
  return history.text(history.session_name(history.session(txn)));
}

void Floating::add(const History& history, TxnId txn, std::uint64_t place, SegmentKeys& keys) {
  Copier copier;
  copier.add({std::make_shared<const History>(history), txn});
  auto alone = copier.freeze();
  if (!alone.ok()) return;  // A copy of what was read is never refused.
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const Op op = history.op(id);
    if (!is_write(op.kind)) continue;
    const KeyNumber key = keys.number(history, op.key);
    by_version_[{key, KeptValue(history, op.value)}].push_back(place);
    by_key_[key].push_back(place);
  }
  std::string session = session_text(history, txn);
  if (!session.empty()) by_session_[session].push_back(place);
  txns_[place] = {place, std::make_shared<const History>(*std::move(alone)), std::move(session)};
}

// A compare-and-set that failed may have read anything.
void Floating::find_read(const History& history, TxnId txn, SegmentKeys& keys,
                         std::vector<std::uint64_t>& found) const {
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const Op op = history.op(id);
    if (!is_read(op.kind) && !is_open_read(op.kind)) continue;
    const auto of_key = by_key_.find(keys.number(history, op.key));
    if (of_key == by_key_.end()) continue;
    if (is_open_read(op.kind)) {
      found.insert(found.end(), of_key->second.begin(), of_key->second.end());
      continue;
    }
    const auto written = by_version_.find({of_key->first, KeptValue(history, op.value)});
    if (written == by_version_.end()) continue;
    found.insert(found.end(), written->second.begin(), written->second.end());
  }
}

void Floating::find_session(const std::string& session, std::vector<std::uint64_t>& found) const {
  const auto of_session = by_session_.find(session);
  if (of_session == by_session_.end()) return;
  found.insert(found.end(), of_session->second.begin(), of_session->second.end());
}

Floating::Txn Floating::take_one(std::uint64_t place, SegmentKeys& keys) {
  const auto forget = [place](auto& places, const auto& of) {
    const auto found = places.find(of);
    if (found == places.end()) return;
    std::erase(found->second, place);
    if (found->second.empty()) places.erase(found);
  };
  Txn txn = std::move(txns_.extract(place).mapped());
  forget(by_session_, txn.session);
  const History& h = *txn.history;
  for (OpId id = h.first_op(TxnId{0}); id < h.end_op(TxnId{0}); ++id.value) {
    const Op op = h.op(id);
    if (!is_write(op.kind)) continue;
    const KeyNumber key = keys.number(h, op.key);
    forget(by_key_, key);
    forget(by_version_, Version(key, KeptValue(h, op.value)));
  }
  return txn;
}

std::vector<Floating::Txn> Floating::take(const std::vector<Source>& txns, SegmentKeys& keys) {
  std::vector<Txn> out;
  if (empty()) return out;
  std::vector<std::uint64_t> found;
  const auto take_found = [&] {
    for (const std::uint64_t place : found) {
      if (txns_.contains(place)) out.push_back(take_one(place, keys));
    }
    found.clear();
  };
  for (const auto& [history, txn] : txns) {
    if (history->status(txn) == TxnStatus::Aborted) continue;
    find_read(*history, txn, keys, found);
    if (!by_session_.empty()) find_session(session_text(*history, txn), found);
    if (!found.empty()) take_found();
  }
  for (std::size_t i = 0; i < out.size(); ++i) {  // What these read, in turn, and their sessions.
    const auto history = out[i].history;
    find_read(*history, TxnId{0}, keys, found);
    find_session(std::string(out[i].session), found);
    take_found();
  }
  std::sort(out.begin(), out.end(), [](const Txn& a, const Txn& b) { return a.place < b.place; });
  return out;
}

void Floating::clear() {
  txns_.clear();
  by_session_.clear();
  by_version_.clear();
  by_key_.clear();
}

}  // namespace ouro::segments
