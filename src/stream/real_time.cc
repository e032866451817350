#include "stream/real_time.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "ouro/history.h"

namespace ouro::stream {

bool RealTime::complete(std::int64_t clock, const Moment& commit, Arrival txn) {
  changes_.clear();
  auto next = stairs_.upper_bound(clock);
  if (next != stairs_.begin() && commit < std::prev(next)->second.commit) return true;
  next = stairs_.lower_bound(clock);
  while (next != stairs_.end() && next->second.commit < commit) next = stairs_.erase(next);
  const bool last = next == stairs_.end();
  const Wide until = last ? 0 : Wide{next->first} + drift_;
  stairs_.insert({clock, {commit, txn}});
  const Wide from = Wide{clock} + drift_;  // It concerns transactions invoked after this.
  if (from >= std::numeric_limits<std::int64_t>::max()) return true;
  const auto first = static_cast<std::int64_t>(from) + 1;
  for (auto at = invoked_.lower_bound({first, 0}); at != invoked_.end(); ++at) {
    if (!last && at->first.first > until) break;
    Invoked& invoked = at->second;
    if (commit < invoked.place) continue;
    changes_.push_back({at->first.second, invoked.missed, txn});
    invoked.missed = txn;
  }
  return forgotten_invoked_ < first;
}

Arrival RealTime::judge(std::int64_t clock, const Moment& place) const {
  const Wide limit = Wide{clock} - drift_;  // Those that completed before this must have committed.
  if (limit <= std::numeric_limits<std::int64_t>::min()) return kNobody;
  const auto behind = stairs_.lower_bound(static_cast<std::int64_t>(limit));
  if (behind == stairs_.begin()) return kNobody;
  const Stair& latest = std::prev(behind)->second;
  return latest.commit < place ? kNobody : latest.txn;
}

Arrival RealTime::invoke(std::int64_t clock, const Moment& place, Arrival txn, bool& known) {
  const Arrival missed = judge(clock, place);
  invoked_.insert({{clock, txn}, {place, missed}});
  if (forgotten_stair_ != kNoClock && Wide{clock} - drift_ <= forgotten_stair_) known = false;
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
  // Of the stairs that completed before anything still waiting was invoked only the last matters.
  const Wide limit = Wide{oldest} - drift_;
  while (stairs_.size() > 1 && std::next(stairs_.begin())->first < limit) {
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
