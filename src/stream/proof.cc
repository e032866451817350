// StreamProof: the proof of a stream's verdict, for a certificate that is checked against the whole
// history.
//
// The checker forgets transactions that it needs no more, but a proof is about all of them. So this
// keeps, for each transaction, when it begins and commits and the number of its first operation.

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "base/column.h"
#include "base/level_rules.h"
#include "ouro/stream.h"
#include "stream/batch_reader.h"
#include "stream/moment.h"

namespace ouro {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// As many as HistoryBuilder takes.
constexpr std::uint64_t kMostOps = kNone - 1;
// How many violations are kept of a kind that is never withdrawn. From these the first ones on the
// timeline are chosen.
constexpr std::size_t kKept = 64;

// A violation. Transactions and operations are numbered as in the history of all batches; unused
// places are kNone.
struct Claim {
  std::uint64_t number = 0;  // StreamEvent::number.
  std::array<std::uint32_t, 3> txns{kNone, kNone, kNone};
  std::array<std::uint32_t, 3> ops{kNone, kNone, kNone};

  [[nodiscard]] bool stands() const { return txns[0] != kNone; }  // Whether it is not withdrawn.
};

bool is_withdrawable(AnomalyKind kind) {
  return kind == AnomalyKind::SnapshotMismatch || kind == AnomalyKind::ResultSetMismatch ||
         kind == AnomalyKind::RealTimeInversion || kind == AnomalyKind::SessionInversion ||
         kind == AnomalyKind::DuplicateTimestamp;
}

// The claims of one kind, in the order in which they were reported.
class Claims {
 public:
  [[nodiscard]] bool wants_more(AnomalyKind kind) const {
    return is_withdrawable(kind) || all_.size() < kKept;
  }
  void add(const Claim& claim) { all_.push_back(claim); }
  void withdraw(std::uint64_t number) {
    const auto at = std::lower_bound(
        all_.begin(), all_.end(), number,
        [](const Claim& claim, std::uint64_t wanted) { return claim.number < wanted; });
    if (at == all_.end() || at->number != number) return;
    *at = Claim{.number = number};
    if (++withdrawn_ < all_.size() / 2) return;
    std::erase_if(all_, [](const Claim& claim) { return !claim.stands(); });
    withdrawn_ = 0;
  }
  // The first `count` claims in the order of `less`.
  template <class Less>
  [[nodiscard]] std::vector<Claim> first(std::size_t count, const Less& less) {
    std::erase_if(all_, [](const Claim& claim) { return !claim.stands(); });
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(std::min(count, all_.size()));
    std::partial_sort(all_.begin(), end, all_.end(), less);
    return {all_.begin(), end};
  }

 private:
  std::vector<Claim> all_;
  std::size_t withdrawn_ = 0;
};

// When transactions begin and commit, by number.
class Moments {
 public:
  explicit Moments(const LevelRules& rules) : rules_(rules) {}

  void add(const History& batch) {
    for (std::size_t t = 0; t < batch.txn_count(); ++t) {
      const TxnMoments moments = stream::moments_of(batch, TxnId{t}, flags_.size(), rules_);
      const bool writes = moments.commit.tie() == Tie::Writer;
      if (rules_.begins_apart()) start_.push_back(moments.begin.physical);
      commit_.push_back(moments.commit.physical);
      count_ += moments.known() ? 1 : 0;
      add_logical(moments);
      flags_.push_back(
          static_cast<std::uint8_t>((moments.known() ? kKnown : 0) | (writes ? kWrites : 0)));
    }
  }

  // How many transactions there are, and for how many of them has() is true.
  [[nodiscard]] std::size_t size() const { return flags_.size(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has(std::size_t txn) const { return (flags_[txn] & kKnown) != 0; }
  // REQUIRES: has(txn).
  [[nodiscard]] Moment moment(std::size_t txn, bool commit) const {
    const auto logical = [&](const Column<std::uint32_t>& column) {
      return column.empty() ? 0 : std::int64_t{column[txn]};
    };
    const Timestamp end{commit_[txn], logical(commit_logical_)};
    const Timestamp start =
        rules_.begins_apart() ? Timestamp{start_[txn], logical(start_logical_)} : end;
    const Lifetime life = lifetime(start, end, (flags_[txn] & kWrites) != 0, txn);
    return commit ? life.commit : life.begin;
  }

 private:
  static constexpr std::uint8_t kKnown = 1;
  static constexpr std::uint8_t kWrites = 2;

  void add_logical(const TxnMoments& moments) {
    const bool any = moments.begin.logical != 0 || moments.commit.logical != 0;
    if (!any && commit_logical_.empty()) return;
    if (rules_.begins_apart()) {
      start_logical_.resize(flags_.size(), 0);
      start_logical_.push_back(stream::stored_logical(moments.begin));
    }
    commit_logical_.resize(flags_.size(), 0);
    commit_logical_.push_back(stream::stored_logical(moments.commit));
  }

  const LevelRules& rules_;
  // Columns by transaction; those of starts are empty unless the level has snapshots.
  Column<std::int64_t> start_;
  Column<std::int64_t> commit_;
  Column<std::uint32_t> start_logical_;   // Empty as long as all are zero.
  Column<std::uint32_t> commit_logical_;  // Empty as long as all are zero.
  Column<std::uint8_t> flags_;
  std::size_t count_ = 0;
};

}  // namespace

struct StreamProof::State {
  State(Level asked, std::size_t wanted)
      : level(asked), examples(wanted), rules(ouro::rules(asked)), moments(rules) {}

  [[nodiscard]] Claim claim_of(const StreamEvent& event) const {
    const Anomaly& anomaly = event.verdict.anomalies.front();
    const History& h = *event.history;
    const auto number_of = [&](TxnId txn) { return event.arrivals[txn.index()]; };
    Claim claim{.number = event.number};
    for (std::size_t i = 0; i < std::min(anomaly.txns.size(), claim.txns.size()); ++i) {
      claim.txns[i] = static_cast<std::uint32_t>(number_of(anomaly.txns[i]));
    }
    for (std::size_t i = 0; i < std::min(anomaly.ops.size(), claim.ops.size()); ++i) {
      const TxnId txn = h.txn_of(anomaly.ops[i]);
      claim.ops[i] = first_op[number_of(txn)] + (anomaly.ops[i].value - h.first_op(txn).value);
    }
    return claim;
  }

  // The moment on the timeline at which check() finds this violation.
  [[nodiscard]] Moment moment_of(AnomalyKind kind, const Claim& claim) const {
    const std::uint32_t txn = claim.txns[0];
    if (kind == AnomalyKind::MissingTimestamp || kind == AnomalyKind::InvertedTimestamps) {
      return {0, 0, txn};
    }
    const bool commit = kind == AnomalyKind::WriteConflict ||
                        kind == AnomalyKind::DuplicateTimestamp ||
                        (kind == AnomalyKind::RealTimeInversion && rules.time_to_commit());
    return moments.moment(txn, commit);
  }

  void add_anomalies(Verdict& verdict) {
    for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
      const auto kind = static_cast<AnomalyKind>(k);
      const auto less = [&](const Claim& a, const Claim& b) {
        return std::tuple(moment_of(kind, a), a.ops, a.txns) <
               std::tuple(moment_of(kind, b), b.ops, b.txns);
      };
      for (const Claim& claim : claims[k].first(examples, less)) {
        Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = {}};
        for (const std::uint32_t txn : claim.txns) {
          if (txn != kNone) anomaly.txns.emplace_back(txn);
        }
        for (const std::uint32_t op : claim.ops) {
          if (op != kNone) anomaly.ops.emplace_back(op);
        }
        verdict.anomalies.push_back(std::move(anomaly));
      }
    }
  }

  void add_order(Verdict& verdict) const {
    if (rules.begins_apart()) return add_schedule(verdict);
    verdict.order.reserve(moments.count());
    for (std::size_t t = 0; t < moments.size(); ++t) {
      if (moments.has(t)) verdict.order.emplace_back(t);
    }
    sort(verdict.order.begin(), verdict.order.end(),
         [&](TxnId txn) { return moments.moment(txn.index(), true); });
  }

  // Begins and commits are each nearly sorted already, so they are sorted apart and then merged.
  void add_schedule(Verdict& verdict) const {
    std::vector<Event>& all = verdict.schedule;
    all.reserve(2 * moments.count());
    for (const bool commit : {false, true}) {
      for (std::size_t t = 0; t < moments.size(); ++t) {
        if (moments.has(t)) all.push_back({TxnId{t}, commit});
      }
    }
    const auto moment = [&](const Event& event) {
      return moments.moment(event.txn.index(), event.commit);
    };
    const auto commits = all.begin() + static_cast<std::ptrdiff_t>(moments.count());
    sort(all.begin(), commits, moment);
    sort(commits, all.end(), moment);
    std::inplace_merge(all.begin(), commits, all.end(),
                       [&](const Event& a, const Event& b) { return moment(a) < moment(b); });
  }

  template <class Iterator, class When>
  static void sort(Iterator begin, Iterator end, const When& when) {
    const auto less = [&](const auto& a, const auto& b) { return when(a) < when(b); };
    if (!std::is_sorted(begin, end, less)) std::sort(begin, end, less);
  }

  Level level;
  std::size_t examples;
  const LevelRules& rules;
  Moments moments;
  Column<std::uint32_t> first_op;  // By transaction, in the history of all batches.
  std::uint64_t op_count = 0;      // In all batches.
  std::array<Claims, kAnomalyKindCount> claims;
};

StreamProof::StreamProof(Level level, std::size_t examples)
    : state_(std::make_unique<State>(level, examples)) {}
StreamProof::StreamProof(StreamProof&&) noexcept = default;
StreamProof& StreamProof::operator=(StreamProof&&) noexcept = default;
StreamProof::~StreamProof() = default;

Status StreamProof::add(const History& batch) {
  State& s = *state_;
  if (s.op_count + batch.op_count() > kMostOps || s.moments.size() + batch.txn_count() > kMostOps) {
    Error error;
    error.what =
        "more than 4294967294 operations, which nobody reads whole to check a certificate; leave "
        "out --certificate, or split the history";
    return error;
  }
  s.moments.add(batch);
  for (std::size_t t = 0; t < batch.txn_count(); ++t) {
    s.first_op.push_back(static_cast<std::uint32_t>(s.op_count) + batch.first_op(TxnId{t}).value);
  }
  s.op_count += batch.op_count();
  return {};
}

void StreamProof::add(std::span<const StreamEvent> events) {
  for (const StreamEvent& event : events) {
    Claims& claims = state_->claims[static_cast<std::size_t>(event.kind)];
    if (event.withdraws != 0) {
      claims.withdraw(event.withdraws);
    } else if (event.what == StreamEvent::What::Violation && claims.wants_more(event.kind)) {
      claims.add(state_->claim_of(event));
    }
  }
}

Verdict StreamProof::close(Outcome outcome) && {
  Verdict verdict{.level = state_->level, .evidence = Evidence::Timestamps, .outcome = outcome};
  if (outcome == Outcome::Violated) {
    state_->add_anomalies(verdict);
  } else {
    state_->claims = {};
    state_->first_op = {};
    state_->add_order(verdict);
  }
  state_ = nullptr;
  return verdict;
}

}  // namespace ouro
