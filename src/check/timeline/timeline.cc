#include "check/timeline/timeline.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "base/parallel.h"
#include "base/radix_sort.h"
#include "history/columns.h"
#include "history/moment.h"

namespace ouro {
namespace {

// Timestamps as numbers that order the same way, with two bits left below them for the tie.
class Ranks {
 public:
  void include(Timestamp ts) {
    low_.physical = std::min(low_.physical, ts.physical);
    high_.physical = std::max(high_.physical, ts.physical);
    low_.logical = std::min(low_.logical, ts.logical);
    high_.logical = std::max(high_.logical, ts.logical);
  }
  // Whether number() can do with the range of all timestamps; otherwise rank() must be called.
  // REQUIRES: all of them were included.
  [[nodiscard]] bool fit() {
    logical_bits_ = std::bit_width(distance(low_.logical, high_.logical));
    return std::bit_width(distance(low_.physical, high_.physical)) + logical_bits_ <= 62;
  }
  // Numbers the timestamps one by one.
  void rank(std::vector<Timestamp> all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all_ = std::move(all);
  }
  [[nodiscard]] std::uint64_t number(Timestamp ts) const {
    if (!all_.empty()) {
      return static_cast<std::uint64_t>(std::lower_bound(all_.begin(), all_.end(), ts) -
                                        all_.begin());
    }
    // This never shifts by 64 bits: such a range does not fit.
    return distance(low_.physical, ts.physical) << logical_bits_ |
           distance(low_.logical, ts.logical);
  }

 private:
  static std::uint64_t distance(std::int64_t low, std::int64_t high) {
    return high < low ? 0 : static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  }
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  Timestamp low_{kMost, kMost};
  Timestamp high_{kLeast, kLeast};
  std::size_t logical_bits_ = 0;
  std::vector<Timestamp> all_;
};

}  // namespace

// The timestamps at which each transaction begins and commits.
struct Timeline::Stamps {
  Stamps(const History& history, const LevelRules& rules, const std::vector<bool>& writes,
         Violations& violations)
      : start(history.txn_count(), kNoTimestamp), commit(history.txn_count(), kNoTimestamp) {
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      const TxnId txn{t};
      const TxnMoments moments = moments_of(history, txn, writes[t], t, rules.begins_apart());
      const auto wrong = [&](AnomalyKind kind) {
        if (violations.add(kind)) {
          violations.keep({.kind = kind, .at = txn.value, .txn = txn, .expected = {}});
        }
      };
      if (moments.missing) wrong(AnomalyKind::MissingTimestamp);
      if (moments.inverted) wrong(AnomalyKind::InvertedTimestamps);
      if (!moments.known()) continue;
      start[t] = moments.begin.timestamp();
      commit[t] = moments.commit.timestamp();
      ranks.include(start[t]);
      ranks.include(commit[t]);
    }
    if (ranks.fit()) return;
    std::vector<Timestamp> all;
    for (std::size_t t = 0; t < commit.size(); ++t) {
      if (commit[t] == kNoTimestamp) continue;
      all.push_back(start[t]);
      all.push_back(commit[t]);
    }
    ranks.rank(std::move(all));
  }

  std::vector<Timestamp> start;
  std::vector<Timestamp> commit;  // kNoTimestamp: it is left out.
  Ranks ranks;
};

Timeline::Timeline(const History& history, const LevelRules& rules, unsigned threads,
                   Violations& violations)
    : begin_(history.txn_count(), kNowhere),
      commit_(history.txn_count(), kNowhere),
      writes_(history.txn_count(), false),
      tied_(history.txn_count(), false) {
  find_writers(history);
  const Stamps stamps(history, rules, writes_, violations);
  order(history, stamps, threads);
  find_ties(stamps);
}

void Timeline::find_writers(const History& history) {
  const auto kinds = columns_of(history).op_kind;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const std::size_t end = history.end_op(TxnId{t}).index();
    for (std::size_t i = history.first_op(TxnId{t}).index(); i < end; ++i) {
      if (!is_write(kinds[i])) continue;
      writes_[t] = true;
      break;
    }
  }
}

void Timeline::order(const History& history, const Stamps& stamps, unsigned threads) {
  std::vector<RadixEntry> begins;   // All; also stands for the commit, if that is right then.
  std::vector<RadixEntry> commits;  // The commits of the others.
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (stamps.commit[t] == kNoTimestamp) continue;
    const Lifetime life = lifetime(stamps.start[t], stamps.commit[t], writes_[t], t);
    const auto key = [&](const Moment& moment) {
      return stamps.ranks.number(moment.timestamp()) << 2 |
             static_cast<std::uint64_t>(moment.tie());
    };
    const auto txn = static_cast<std::uint32_t>(t);
    begins.push_back({key(life.begin), txn});
    if (life.begin.tie() == Tie::Begin) commits.push_back({key(life.commit), txn});
  }
  const std::size_t parts = begins.size() < 10'000 ? 1 : std::min(2u, thread_count(threads));
  for_each_part(parts, [&](std::size_t part) {
    if (part == 0) radix_sort(begins);
    if (part == parts - 1) radix_sort(commits);
  });
  steps_.reserve(begins.size() * 2);
  const auto add = [&](std::uint32_t txn, bool commit) {
    (commit ? commit_ : begin_)[txn] = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(txn << 1 | (commit ? 1 : 0));
  };
  auto next = commits.begin();
  for (const RadixEntry& begin : begins) {
    for (; next != commits.end() && next->key < begin.key; ++next) add(next->value, true);
    add(begin.value, false);
    if ((begin.key & 3) != static_cast<std::uint64_t>(Tie::Begin)) add(begin.value, true);
  }
  for (; next != commits.end(); ++next) add(next->value, true);
}

// Fills tied_.
void Timeline::find_ties(const Stamps& stamps) {
  TxnId before;
  for (const std::uint32_t packed : steps_) {
    const TxnId txn{packed >> 1};
    if ((packed & 1) == 0 || !writes_[txn.index()]) continue;
    tied_[txn.index()] =
        before.valid() && stamps.commit[before.index()] == stamps.commit[txn.index()];
    before = txn;
  }
}

}  // namespace ouro
