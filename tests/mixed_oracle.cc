#include "tests/mixed_oracle.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/relation.h"

namespace ouro::oracle {
namespace {

bool asks_for_sessions(Level level) {
  return level != Level::Si && level != Level::Gsi && level != Level::RepeatableRead &&
         level != Level::Serializable;
}
bool asks_for_time(Level level) {
  return level == Level::Gsi || level == Level::PrefixConsistentSi || level == Level::StrongSi ||
         level == Level::StrictSerializable;
}
bool forbids_lost_updates(Level level) {
  return level != Level::ReadCommitted && level != Level::ReadAtomic && level != Level::Causal &&
         level != Level::Prefix;
}

class Mixture {
 public:
  Mixture(const History& history, const Observed& seen, std::int64_t drift)
      : seen_(seen),
        n_(seen.txns.size()),
        levels_(n_, Level::Serializable),
        so_(n_),
        rt_(n_),
        wr_(n_),
        place_(n_, 0) {
    for (std::size_t t = 1; t < n_; ++t) {
      levels_[t] = history.level(seen.txns[t].id).value_or(Level::Serializable);
      for (const ExternalRead& read : seen.txns[t].reads) {
        if (read.from != t) wr_.add(read.from, t);
      }
    }
    for (std::size_t a = 1; a < n_; ++a) {
      for (std::size_t b = 1; b < n_; ++b) {
        const TxnId one = seen.txns[a].id;
        const TxnId two = seen.txns[b].id;
        const bool either = asks_for_sessions(levels_[a]) || asks_for_sessions(levels_[b]);
        if (history.session(one) == history.session(two) && one < two && either) so_.add(a, b);
        const bool timed = asks_for_time(levels_[a]) || asks_for_time(levels_[b]);
        if (a != b && timed && precedes_in_time(history, one, two, drift)) rt_.add(a, b);
      }
    }
  }

  // Whether some commit order will do.
  bool allowed() {
    std::vector<std::size_t> order{0};
    return extend(order);
  }

 private:
  bool extend(std::vector<std::size_t>& order) {
    if (order.size() == n_) return satisfied(order);
    for (std::size_t next = 1; next < n_; ++next) {
      if (std::find(order.begin(), order.end(), next) != order.end()) continue;
      bool ready = true;
      for (std::size_t before = 1; before < n_; ++before) {
        const bool must = so_.has(before, next) || rt_.has(before, next) || wr_.has(before, next);
        ready = ready && (!must || std::find(order.begin(), order.end(), before) != order.end());
      }
      if (!ready) continue;
      order.push_back(next);
      const bool found = extend(order);
      order.pop_back();
      if (found) return true;
    }
    return false;
  }

  bool satisfied(const std::vector<std::size_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    for (std::size_t t3 = 1; t3 < n_; ++t3) {
      for (const ExternalRead& read : seen_.txns[t3].reads) {
        if (levels_[t3] == Level::RepeatableRead && read.absence) continue;
        for (std::size_t t2 = 1; t2 < n_; ++t2) {
          if (t2 == read.from || t2 == t3 || !seen_.writes(t2, read.key)) continue;
          if (premise(t2, t3, read) && place_[t2] > place_[read.from]) return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] bool share_a_key(std::size_t a, std::size_t b) const {
    return std::any_of(seen_.txns[a].writes.begin(), seen_.txns[a].writes.end(),
                       [&](const auto& written) { return seen_.writes(b, written.first); });
  }

  // What a transaction sees directly.
  [[nodiscard]] bool sees(std::size_t t4, std::size_t t3) const {
    const Level level = levels_[t3];
    if (wr_.has(t4, t3) || (asks_for_sessions(level) && so_.has(t4, t3))) return true;
    if (level == Level::Prefix) return false;
    if (level == Level::StrongSi && rt_.has(t4, t3)) return true;
    return share_a_key(t4, t3) && place_[t4] < place_[t3];
  }

  [[nodiscard]] bool premise(std::size_t t2, std::size_t t3, const ExternalRead& read) const {
    switch (levels_[t3]) {
      case Level::ReadCommitted:
        return std::any_of(
            seen_.txns[t3].reads.begin(), seen_.txns[t3].reads.end(),
            [&](const ExternalRead& other) { return other.op < read.op && other.from == t2; });
      case Level::ReadAtomic:
        return so_.has(t2, t3) || wr_.has(t2, t3);
      case Level::Causal:
        return (so_ | wr_).closure().has(t2, t3);
      case Level::ParallelSi: {
        Relation ww(n_);
        for (std::size_t a = 1; a < n_; ++a) {
          for (std::size_t b = 1; b < n_; ++b) {
            const bool seen = place_[a] < place_[b] && forbids_lost_updates(levels_[b]);
            if (seen && share_a_key(a, b)) ww.add(a, b);
          }
        }
        return (so_ | wr_ | ww).closure().has(t2, t3);
      }
      case Level::Serializable:
      case Level::SessionSerializable:
      case Level::StrictSerializable:
      case Level::RepeatableRead:
        return place_[t2] < place_[t3];
      default:
        for (std::size_t t4 = 1; t4 < n_; ++t4) {
          if (t4 != t3 && sees(t4, t3) && place_[t2] <= place_[t4]) return true;
        }
        return false;
    }
  }

  const Observed& seen_;
  const std::size_t n_;
  std::vector<Level> levels_;
  Relation so_;  // Only where a level of either side asks for it, as rt_.
  Relation rt_;
  Relation wr_;
  std::vector<std::size_t> place_;  // In the order at hand.
};

}  // namespace

bool mixture_allowed(const History& history, std::int64_t clock_drift) {
  return any_sources(history, Evidence::Observed, [&](const Sources& sources) {
    const Observed seen = observe(history, Evidence::Observed, sources);
    return !seen.always_wrong() && Mixture(history, seen, clock_drift).allowed();
  });
}

}  // namespace ouro::oracle
