#include "stream/real_time.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "history/real_time.h"
#include "ouro/history.h"

namespace ouro::stream {

bool RealTime::complete(std::int64_t clock, const Moment& commit, Arrival txn) {
  changes_.clear();
  auto next = stairs_.upper_bound(clock);
  if (next != stairs_.begin() && commit < std::prev(next)->second.commit) return true;
  next = stairs_.lower_bound(clock);
  while (next != stairs_.end() && next->second.commit < commit) next = stairs_.erase(next);
  std::optional<std::int64_t> next_stair;
  if (next != stairs_.end()) next_stair = next->first;
  stairs_.insert({clock, {commit, txn}});
  const auto first = first_invoked_behind(clock, drift_);
  if (!first) return true;
  for (auto at = invoked_.lower_bound({*first, 0}); at != invoked_.end(); ++at) {
    if (next_stair && completed_before(*next_stair, at->first.first, drift_)) break;
    Invoked& invoked = at->second;
    if (commit < invoked.moment) continue;
    changes_.push_back({at->first.second, invoked.missed, txn});
    invoked.missed = txn;
  }
  return forgotten_invoked_ < *first;
}

Arrival RealTime::judge(std::int64_t clock, const Moment& moment) const {
  const auto last = last_completed_before(clock, drift_);
  if (!last) return kNobody;
  const auto behind = stairs_.upper_bound(*last);
  if (behind == stairs_.begin()) return kNobody;
  const Stair& latest = std::prev(behind)->second;
  return latest.commit < moment ? kNobody : latest.txn;
}

Arrival RealTime::invoke(std::int64_t clock, const Moment& moment, Arrival txn, bool& known) {
  const Arrival missed = judge(clock, moment);
  invoked_.insert({{clock, txn}, {moment, missed}});
  if (forgotten_stair_ != kNoClock && !completed_before(forgotten_stair_, clock, drift_)) {
    known = false;
  }
  return missed;
}

Arrival RealTime::missed_by(std::int64_t clock, Arrival txn) const {
  const auto found = invoked_.find({clock, txn});
  return found == invoked_.end() ? kNobody : found->second.missed;
}

void RealTime::forget_before(Arrival first) {
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (auto at = invoked_.begin(); at != invoked_.end();) {
    if (at->first.second >= first) {
      oldest = std::min(oldest, at->first.first);
      ++at;
      continue;
    }
    forgotten_invoked_ = std::max(forgotten_invoked_, at->first.first);
    at = invoked_.erase(at);
  }
  forget_stairs(oldest);
}

void RealTime::forget_settled(Arrival open, Arrival kept) {
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  bool counts = true;
  for (auto at = invoked_.begin(); at != invoked_.end();) {
    const auto [number, txn] = at->first;
    const bool begins = forgotten_invoked_ == kNoClock && number <= 1;
    counts = counts && (begins || number - 1 == forgotten_invoked_);
    if (txn >= (counts ? open : std::min(open, kept))) {
      oldest = std::min(oldest, number);
      counts = false;
      ++at;
      continue;
    }
    forgotten_invoked_ = std::max(forgotten_invoked_, number);
    at = invoked_.erase(at);
  }
  forget_stairs(oldest);
}

bool RealTime::invoked_at(std::int64_t clock) const {
  const auto found = invoked_.lower_bound({clock, 0});
  return found != invoked_.end() && found->first.first == clock;
}

void RealTime::forget_stairs(std::int64_t oldest) {
  while (stairs_.size() > 1 &&
         completed_before(std::next(stairs_.begin())->first, oldest, drift_)) {
    forgotten_stair_ = std::max(forgotten_stair_, stairs_.begin()->first);
    stairs_.erase(stairs_.begin());
  }
}

void RealTime::save(Encoder& out) const {
  out.number(forgotten_invoked_);
  out.number(forgotten_stair_);
  out.number<std::uint64_t>(stairs_.size());
  for (const auto& [clock, stair] : stairs_) {
    out.number(clock);
    out.number(stair);
  }
  out.number<std::uint64_t>(invoked_.size());
  for (const auto& [key, invoked] : invoked_) {
    out.number(key.first);
    out.number(key.second);
    out.number(invoked);
  }
}

void RealTime::restore(Decoder& in) {
  forgotten_invoked_ = in.number<std::int64_t>();
  forgotten_stair_ = in.number<std::int64_t>();
  const auto stairs = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < stairs && in.ok(); ++i) {
    const auto clock = in.number<std::int64_t>();
    stairs_.insert({clock, in.number<Stair>()});
  }
  const auto invoked = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < invoked && in.ok(); ++i) {
    const auto clock = in.number<std::int64_t>();
    const auto txn = in.number<Arrival>();
    invoked_.insert({{clock, txn}, in.number<Invoked>()});
  }
}

}  // namespace ouro::stream
